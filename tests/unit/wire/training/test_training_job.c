/* Sentences of wire/training/training_job.h. */
#include "base/arena.h"
#include "k8s/core.pb-c.h"
#include "unit.h"
#include "wire/json/json.h"
#include "wire/kube/pod.h"
#include "wire/training/training_job.h"

static const char minimal[] = "apiVersion: paddlepaddle.org/v1\n"
                              "kind: TrainingJob\n"
                              "metadata: {name: small}\n"
                              "spec:\n"
                              "  trainer: {}\n";

static const char example[] =
    "apiVersion: paddlepaddle.org/v1\n"
    "kind: TrainingJob\n"
    "metadata: {name: ctr-7, namespace: team-a}\n"
    "spec:\n"
    "  image: registry.local/ctr:7\n"
    "  port: 7164\n"
    "  ports_num: 1\n"
    "  ports_num_for_sparse: 1\n"
    "  fault_tolerant: true\n"
    "  passes: 3\n"
    "  host_network: false\n"
    "  NodeSelector: {disk: ssd}\n"
    "  volumes: [{name: data, hostPath: {path: /data}}]\n"
    "  VolumeMounts: [{name: data, mountPath: /data}]\n"
    "  master: {resources: {requests: {cpu: 500m, memory: 600Mi}, "
    "limits: {cpu: \"1\", memory: 1Gi}}}\n"
    "  pserver: {min-instance: 2, max-instance: 2, "
    "resources: {requests: {cpu: 500m, memory: 600Mi}}}\n"
    "  trainer:\n"
    "    entrypoint: \"python train.py\"\n"
    "    workspace: /data\n"
    "    min-instance: 2\n"
    "    max-instance: 10\n"
    "    resources: {requests: {cpu: 200m, memory: 200Mi}}\n";

static void read_job(const char *text, struct training_job *ret_job)
{
    struct training_rules rules;
    struct err err = {{0}};

    training_rules_defaults(&rules);
    if (training_job_read(str_of(text), &rules, ret_job, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void assert_refused(const char *text, const char *why)
{
    auto_training_job job = {0};
    struct training_rules rules;
    struct err err = {{0}};

    training_rules_defaults(&rules);
    assert_true(training_job_read(str_of(text), &rules, &job, &err) < 0);
    assert_string_equal(err.text, why);
}

/* The minimal job with other lines of its spec. */
static void assert_spec_refused(const char *spec, const char *why)
{
    char text[2048];

    (void)snprintf(text, sizeof(text),
                   "apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n"
                   "metadata: {name: small}\nspec: {%s}\n",
                   spec);
    assert_refused(text, why);
}

/* A component's pod spec, in the arena. */
static const K8s__Io__Api__Core__V1__PodSpec *
pod_of(const struct training_job *job, enum training_component component,
       struct arena *arena)
{
    struct training_rules rules;
    ProtobufCMessage *message;
    struct err err = {{0}};

    training_rules_defaults(&rules);
    auto_json_t *json = training_job_pod(job, &rules, component);
    assert_non_null(json);
    if (wire_json_read(&k8s__io__api__core__v1__pod_spec__descriptor, json,
                       WIRE_JSON_STRICT, arena, &message, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return (const K8s__Io__Api__Core__V1__PodSpec *)message;
}

static const char *env_of(const K8s__Io__Api__Core__V1__PodSpec *pod,
                          const char *name)
{
    const K8s__Io__Api__Core__V1__Container *container = pod->containers[0];

    for (size_t i = 0; i < container->n_env; i++) {
        if (strcmp(container->env[i]->name, name) == 0) {
            return container->env[i]->value ? container->env[i]->value : "";
        }
    }
    return NULL;
}

static void test_tj_01_a_minimal_spec_is_completed(void **state)
{
    (void)state;
    auto_training_job job = {0};
    auto_arena arena = {0};

    read_job(minimal, &job);
    assert_int_equal(job.port, 7164);
    assert_int_equal(job.dense_port_count, 1);
    assert_int_equal(job.port_count, 2);
    assert_int_equal(job.passes, 1);
    assert_true(str_equal(job.image, STR("paddlepaddle/paddlecloud-job")));
    assert_false(job.is_fault_tolerant);
    assert_true(str_equal(job.priority_class, STR("normal")));
    assert_true(str_equal(job.namespace_, STR("default")));
    assert_int_equal(job.replicas[TRAINING_TRAINER].min_count, 1);
    assert_int_equal(job.replicas[TRAINING_TRAINER].max_count, 1);
    assert_int_equal(job.freezing_window_ms, 300000);
    const K8s__Io__Api__Core__V1__Container *container =
        pod_of(&job, TRAINING_TRAINER, &arena)->containers[0];
    assert_int_equal(container->n_ports, 2);
    assert_string_equal(container->ports[0]->name, "jobport-7164");
    assert_string_equal(container->ports[1]->name, "jobport-7165");
    assert_int_equal(container->ports[1]->containerport, 7165);
    /* The defaults are in the resource that is kept. */
    const json_t *spec = json_object_get(job.resource, "spec");
    assert_int_equal(json_integer_value(json_object_get(spec, "port")), 7164);
    assert_int_equal(json_integer_value(json_object_get(spec, "passes")), 1);
    assert_string_equal(json_string_value(json_object_get(spec, "image")),
                        "paddlepaddle/paddlecloud-job");
}

static void test_tj_02_max_must_be_min_without_fault_tolerance(void **state)
{
    (void)state;
    auto_training_job job = {0};

    read_job("apiVersion: paddlepaddle.org/v1alpha1\nkind: TrainingJob\n"
             "metadata: {name: a}\n"
             "spec: {trainer: {min-instance: 2, max-instance: 6}}\n",
             &job);
    assert_non_null(strstr(job.reason.p, "max must equal min"));
}

/* What all pods of the minimum ask for. */
static void sum_minimum(const struct training_job *job, uint32_t *ret_pods,
                        int64_t *ret_cpu, int64_t *ret_memory)
{
    *ret_pods = 0;
    *ret_cpu = *ret_memory = 0;
    for (enum training_component i = 0; i < TRAINING_COMPONENTS; i++) {
        auto_arena arena = {0};
        struct requirement requirement;
        struct err err;
        uint32_t count = job->replicas[i].min_count;
        if (count == 0) {
            continue;
        }
        assert_int_equal(
            pod_requirement(pod_of(job, i, &arena), &arena, &requirement, &err),
            0);
        *ret_pods += count;
        for (uint32_t k = 0; k < requirement.requests.count; k++) {
            const struct resource_amount *amount =
                &requirement.requests.items[k];
            *(str_equal(amount->name, STR("cpu")) ? ret_cpu : ret_memory) +=
                count * amount->milli;
        }
    }
}

static void test_tj_03_the_minimum_of_the_example(void **state)
{
    (void)state;
    auto_training_job job = {0};
    uint32_t pods;
    int64_t cpu, memory;

    read_job(example, &job);
    sum_minimum(&job, &pods, &cpu, &memory);
    assert_int_equal(pods, 6);
    assert_int_equal(cpu, 2000);
    assert_int_equal(memory / 1000, INT64_C(2328) << 20);
}

static void test_the_example_is_read_as_it_stands(void **state)
{
    (void)state;
    auto_training_job job = {0};
    auto_arena arena = {0};

    read_job(example, &job);
    assert_true(str_equal(job.name, STR("ctr-7")));
    assert_true(str_equal(job.namespace_, STR("team-a")));
    assert_int_equal(job.replicas[TRAINING_TRAINER].max_count, 10);
    const K8s__Io__Api__Core__V1__PodSpec *trainer =
        pod_of(&job, TRAINING_TRAINER, &arena);
    assert_string_equal(trainer->nodeselector[0]->key, "disk");
    assert_string_equal(trainer->volumes[0]->name, "data");
    assert_string_equal(trainer->containers[0]->volumemounts[0]->mountpath,
                        "/data");
    assert_string_equal(trainer->containers[0]->command[1],
                        "start_new_trainer");
    assert_string_equal(env_of(trainer, "ENTRY"), "python train.py");
    assert_string_equal(env_of(trainer, "TRAINERS"), "2");
    assert_string_equal(env_of(trainer, "PSERVERS"), "2");
    assert_string_equal(env_of(trainer, "PADDLE_INIT_NUM_PASSES"), "3");
    assert_string_equal(env_of(trainer, "PADDLE_INIT_USE_GPU"), "0");
    const K8s__Io__Api__Core__V1__PodSpec *pserver =
        pod_of(&job, TRAINING_PSERVER, &arena);
    assert_int_equal(pserver->containers[0]->n_volumemounts, 0);
    assert_string_equal(pserver->containers[0]->command[1],
                        "start_new_pserver");
    const K8s__Io__Api__Core__V1__PodSpec *etcd =
        pod_of(&job, TRAINING_ETCD, &arena);
    assert_int_equal(etcd->containers[0]->ports[0]->containerport, 2379);
    const K8s__Io__Api__Core__V1__PodSpec *master =
        pod_of(&job, TRAINING_MASTER, &arena);
    assert_int_equal(master->containers[0]->ports[0]->containerport, 8080);
    assert_int_equal(master->containers[0]->n_volumemounts, 1);
    assert_string_equal(training_component_label(TRAINING_TRAINER),
                        "paddle-job");
    assert_string_equal(training_component_label(TRAINING_MASTER),
                        "paddle-job-master");
}

static void test_an_etcd_that_is_given_is_not_made(void **state)
{
    (void)state;
    auto_training_job job = {0};

    read_job("apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n"
             "metadata: {name: a}\nspec:\n  fault_tolerant: true\n"
             "  master: {etcd-endpoint: 'etcd:2379'}\n"
             "  trainer: {min-instance: 1, max-instance: 2}\n",
             &job);
    assert_int_equal(job.replicas[TRAINING_ETCD].min_count, 0);
    assert_int_equal(job.replicas[TRAINING_MASTER].min_count, 1);
}

static void test_without_fault_tolerance_there_is_no_master(void **state)
{
    (void)state;
    auto_training_job job = {0};
    auto_arena arena = {0};

    read_job(minimal, &job);
    assert_int_equal(job.replicas[TRAINING_MASTER].min_count, 0);
    assert_int_equal(job.replicas[TRAINING_ETCD].min_count, 0);
    const K8s__Io__Api__Core__V1__Container *container =
        pod_of(&job, TRAINING_TRAINER, &arena)->containers[0];
    assert_int_equal(container->n_command, 3);
    assert_string_equal(container->command[0], "paddle_k8s");
    assert_string_equal(container->command[1], "start_trainer");
    assert_string_equal(container->command[2], "v2");
}

static void
test_annotations_say_what_the_resource_has_no_field_for(void **state)
{
    (void)state;
    auto_training_job job = {0};

    read_job("apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n"
             "metadata:\n  name: a\n  annotations:\n"
             "    armadaproject.io/queue: red\n"
             "    armadaproject.io/jobSet: set-1\n"
             "    armadaproject.io/priorityClassName: offline\n"
             "    armadaproject.io/freezingWindowSeconds: 60\n"
             "    armadaproject.io/maxHops: '4'\n"
             "    armadaproject.io/onPreemption: fail\n"
             "    resource.aibee.cn/pool: gpu\n"
             "    team: seven\n"
             "spec: {trainer: {}, host_network: true}\n",
             &job);
    assert_true(str_equal(job.queue, STR("red")));
    assert_true(str_equal(job.job_set, STR("set-1")));
    assert_true(str_equal(job.priority_class, STR("offline")));
    assert_int_equal(job.freezing_window_ms, 60000);
    assert_int_equal(job.hops_max, 4);
    auto_json_t *annotations = training_job_annotations(&job);
    auto_json_t *wanted =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "team", "seven",
                  "armadaproject.io/onPreemption", "fail",
                  "resource.aibee.cn/pool", "gpu", "armadaproject.io/pool",
                  "gpu", "port-manager/hostnetwork", "true");
    assert_true(json_equal(annotations, wanted));
}

/* Of both spellings ours counts, and neither goes to the pods. */
static void test_own_annotations_have_two_spellings(void **state)
{
    (void)state;
    auto_training_job job = {0};

    read_job("apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n"
             "metadata:\n  name: a\n  annotations:\n"
             "    berth.dev/freezingWindowSeconds: 31622400\n"
             "    armadaproject.io/freezingWindowSeconds: 60\n"
             "    berth.dev/maxHops: '4'\n"
             "spec: {trainer: {}}\n",
             &job);
    assert_int_equal(job.freezing_window_ms, INT64_C(31622400000));
    assert_int_equal(job.hops_max, 4);
    auto_json_t *annotations = training_job_annotations(&job);
    assert_int_equal(json_object_size(annotations), 0);
    assert_refused("apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n"
                   "metadata: {name: a, annotations: "
                   "{berth.dev/freezingWindowSeconds: 31622401}}\n"
                   "spec: {trainer: {}}\n",
                   "metadata.annotations.berth.dev/freezingWindowSeconds: "
                   "must be a number from 0 to 31622400, not \"31622401\"");
    assert_refused("apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n"
                   "metadata: {name: a, annotations: "
                   "{berth.dev/nodeReservation: Whole}}\n"
                   "spec: {trainer: {}}\n",
                   "metadata.annotations.berth.dev/nodeReservation: the pods "
                   "of a TrainingJob share nodes");
}

static void test_gpus_have_two_names(void **state)
{
    (void)state;
    auto_training_job job = {0};
    auto_arena arena = {0};

    read_job("apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n"
             "metadata: {name: a}\nspec:\n  trainer:\n    resources:\n"
             "      requests: {cpu: 2, memory: 1Gi}\n"
             "      limits: {alpha.kubernetes.io/nvidia-gpu: 2}\n",
             &job);
    assert_int_equal(job.gpus_milli, 2000);
    assert_string_equal(env_of(pod_of(&job, TRAINING_TRAINER, &arena),
                               "PADDLE_INIT_TRAINER_COUNT"),
                        "2");
    assert_string_equal(
        env_of(pod_of(&job, TRAINING_TRAINER, &arena), "PADDLE_INIT_USE_GPU"),
        "1");
    assert_spec_refused(
        "trainer: {resources: {limits: {nvidia.com/gpu: 1, "
        "alpha.kubernetes.io/nvidia-gpu: 1}}}",
        "spec.trainer.resources.limits.alpha.kubernetes.io/nvidia-gpu: is "
        "another name of nvidia.com/gpu, which is there too");
}

static void test_gpus_need_cores_to_feed_them(void **state)
{
    (void)state;
    assert_spec_refused("trainer: {resources: {requests: {cpu: 1500m, "
                        "nvidia.com/gpu: 2}}}",
                        "spec.trainer.resources.requests.cpu: 2 gpus need at "
                        "least 2 cpu, not 1500m");
    assert_spec_refused("trainer: {resources: {requests: {cpu: 2, "
                        "nvidia.com/gpu: 500m}}}",
                        "spec.trainer.resources.requests.nvidia.com/gpu: must "
                        "be a whole number");
    assert_spec_refused("trainer: {}, pserver: {resources: {requests: "
                        "{cpu: 1, nvidia.com/gpu: 2}}}",
                        "spec.pserver.resources.requests.cpu: 2 gpus need at "
                        "least 2 cpu, not 1");
}

static void test_a_refusal_names_the_field(void **state)
{
    (void)state;
    assert_refused("[1]", "a TrainingJob must be a map");
    assert_refused("kind: Pod\napiVersion: v1\n", "kind: must be TrainingJob");
    assert_refused("kind: TrainingJob\napiVersion: v1\n",
                   "apiVersion: must be paddlepaddle.org/v1 or "
                   "paddlepaddle.org/v1alpha1");
    assert_refused("kind: TrainingJob\napiVersion: paddlepaddle.org/v1\n"
                   "metadata: {name: 7}\n",
                   "metadata.name: must be a text: write it in quotes");
    assert_refused("kind: TrainingJob\napiVersion: paddlepaddle.org/v1\n"
                   "metadata: {name: a}\nspec: [1]\n",
                   "spec: must be an object");
    assert_refused("kind: TrainingJob\napiVersion: paddlepaddle.org/v1\n"
                   "metadata: {name: a.b}\n",
                   "metadata.name: may have small letters, digits and, "
                   "inside, \"-\", no \".\" or \"_\": not \"a.b\"");
    assert_refused("kind: TrainingJob\napiVersion: paddlepaddle.org/v1\n"
                   "metadata: {name: a_b}\n",
                   "metadata.name: may have small letters, digits and, "
                   "inside, \"-\", no \".\" or \"_\": not \"a_b\"");
    assert_spec_refused("ports_num: 0, trainer: {}",
                        "spec.ports_num: must be from 1 to 1024, not 0");
    assert_refused("apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n"
                   "metadata: {name: small, namespace: Bad NS}\n"
                   "spec: {trainer: {}}\n",
                   "metadata.namespace: must be small letters, digits and, "
                   "inside, dashes, at most 63");
    assert_spec_refused("", "spec.trainer: is required");
    assert_spec_refused("trainer: {min-instance: 0}",
                        "spec.trainer.min-instance: must be from 1 to 20000, "
                        "not 0");
    assert_spec_refused("trainer: {min-instance: 4, max-instance: 2}",
                        "spec.trainer.max-instance: must be at least "
                        "min-instance, which is 4, not 2");
    assert_spec_refused("trainer: {min_instance: 4}",
                        "spec.trainer.min_instance: unknown field");
    assert_spec_refused("trainer: {}, port: 65535",
                        "spec.port: 2 ports from 65535 on go beyond 65535");
    assert_spec_refused("trainer: {resources: {requests: {cpu: many}}}",
                        "spec.trainer.resources.requests.cpu: must be an "
                        "amount, such as 500m, not \"many\"");
    assert_spec_refused(
        "trainer: {resources: {requests: {cpu: 2}, limits: {cpu: 1}}}",
        "spec.trainer.resources.limits.cpu: must be at least the request, "
        "which is 2, not 1");
    assert_spec_refused("trainer: {}, VolumeMounts: [{name: a, mountPath: /a}]",
                        "spec.VolumeMounts[0].name: there is no volume \"a\"");
    assert_spec_refused("trainer: {}, fault_tolerant: 1",
                        "spec.fault_tolerant: must be true or false");
    assert_spec_refused("fault_tolerant: true, trainer: {max-instance: 20000}",
                        "spec.trainer.max-instance: there may be 20000 pods "
                        "in all, not 20002");
}

static void test_aliases_do_not_fill_the_memory(void **state)
{
    auto_strbuf text = {0};

    (void)state;
    strbuf_add_text(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 5; i++) {
        strbuf_addf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) {
            strbuf_addf(&text, "%s*a%d", k ? ", " : "", i - 1);
        }
        strbuf_add_text(&text, "]\n");
    }
    assert_refused(strbuf_text(&text),
                   "a TrainingJob may have 65536 values, aliases included");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_tj_01_a_minimal_spec_is_completed),
        TEST(test_tj_02_max_must_be_min_without_fault_tolerance),
        TEST(test_tj_03_the_minimum_of_the_example),
        TEST(test_the_example_is_read_as_it_stands),
        TEST(test_an_etcd_that_is_given_is_not_made),
        TEST(test_without_fault_tolerance_there_is_no_master),
        TEST(test_annotations_say_what_the_resource_has_no_field_for),
        TEST(test_own_annotations_have_two_spellings),
        TEST(test_gpus_have_two_names),
        TEST(test_gpus_need_cores_to_feed_them),
        TEST(test_a_refusal_names_the_field),
        TEST(test_aliases_do_not_fill_the_memory),
    };

    return RUN_TESTS(tests);
}
