/* TrainingJobs, as YAML, and the pods they are made of. */
#include "fuzz.h"
#include "k8s/core.pb-c.h"
#include "wire/json/json.h"
#include "wire/training/training_job.h"

static void check_pod(const struct training_job *job,
                      const struct training_rules *rules,
                      enum training_component component)
{
    auto_arena arena = {0};
    auto_json_t *pod = training_job_pod(job, rules, component);
    ProtobufCMessage *message;
    struct err err;

    ASSERT(pod);
    int rc = wire_json_read(&k8s__io__api__core__v1__pod_spec__descriptor, pod,
                            WIRE_JSON_STRICT, &arena, &message, &err);
    ASSERT(rc == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    auto_training_job job = {0};
    struct training_rules rules;
    struct err err = {{0}};

    training_rules_defaults(&rules);
    if (training_job_read(str_make(bytes, byte_count), &rules, &job, &err) <
        0) {
        ASSERT(err.text[0]);
        return 0;
    }
    for (enum training_component i = 0; i < TRAINING_COMPONENTS; i++) {
        if (job.replicas[i].max_count > 0) {
            check_pod(&job, &rules, i);
        }
    }
    auto_json_t *annotations = training_job_annotations(&job);
    auto_json_t *labels = training_job_labels(&job);
    ASSERT(annotations && labels);
    return 0;
}
