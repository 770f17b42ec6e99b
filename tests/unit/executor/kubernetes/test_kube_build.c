/*
 * kube_build: the Pod that a leased run becomes.
 */
#include "executor/kubernetes/kube_build.h"
#include "executor/kubernetes/kube_object.h"
#include "k8s/core.pb-c.h"
#include "kube/api/envelope.h"
#include "support.h"
#include "unit.h"
#include "wire/json/json.h"
#include "wire/message/message.h"

typedef K8s__Io__Api__Core__V1__PodSpec spec_message;

static const char spec_text[] =
    "{\"priorityClassName\":\"own\",\"priority\":7,"
    "\"serviceAccountName\":\"builder\","
    "\"imagePullSecrets\":[{\"name\":\"key\"},{\"name\":\"others\"}],"
    "\"initContainers\":[{\"name\":\"i\",\"envFrom\":["
    "{\"secretRef\":{\"name\":\"key\"}},"
    "{\"configMapRef\":{\"name\":\"map\"}},"
    "{\"configMapRef\":{\"name\":\"key\"}}]}],"
    "\"containers\":[{\"name\":\"c\",\"env\":[{\"name\":\"E\",\"valueFrom\":"
    "{\"secretKeyRef\":{\"name\":\"key\",\"key\":\"k\"}}}]}],"
    "\"volumes\":[{\"name\":\"s\",\"secret\":{\"secretName\":\"key\"}},"
    "{\"name\":\"c\",\"persistentVolumeClaim\":{\"claimName\":\"disk\"}},"
    "{\"name\":\"p\",\"projected\":{\"sources\":["
    "{\"secret\":{\"name\":\"key\"}},{\"configMap\":{\"name\":\"map\"}}]}}]}";

static void set_up_job(struct job *job)
{
    static const char *const args[] = {"true", NULL};
    auto_json_t *json = json_loads(spec_text, 0, NULL);
    ProtobufCMessage *message = NULL;
    struct err err;

    assert_non_null(json);
    job_make(job, 1, args);
    assert_int_equal(
        wire_json_read(&k8s__io__api__core__v1__pod_spec__descriptor, json,
                       WIRE_JSON_STRICT, &job->arena, &message, &err),
        0);
    job->submit->mainobject->pod_spec->pod_spec = (spec_message *)message;
    job->run.node_name = STR("n1");
    job->run.namespace_ = STR("jobs");
    job->run.pod_name = STR("armada-x-0");
}

static spec_message *build(struct job *job, struct str priority_class)
{
    auto_strbuf body = strbuf_make(0);
    struct envelope envelope;
    ProtobufCMessage *pod;
    struct err err = {""};

    if (kube_build_pod(&job->run, STR("k"), priority_class, &job->arena, &body,
                       &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(envelope_read(strbuf_str(&body), &envelope), 0);
    assert_int_equal(
        kube_object_decode(&k8s__io__api__core__v1__pod__descriptor,
                           envelope.object, &job->arena, &pod, &err),
        0);
    return ((K8s__Io__Api__Core__V1__Pod *)pod)->spec;
}

static void the_job_keeps_its_class_and_account(void **state)
{
    struct job job;

    (void)state;
    set_up_job(&job);
    spec_message *spec = build(&job, STR(""));
    assert_string_equal(spec->priorityclassname, "own");
    assert_int_equal(spec->priority, 7);
    assert_string_equal(spec->serviceaccountname, "builder");
    assert_string_equal(spec->imagepullsecrets[0]->name, "key");
    assert_string_equal(spec->nodename, "n1");
    job_free(&job);
}

static void the_operator_may_set_the_class(void **state)
{
    struct job job;

    (void)state;
    set_up_job(&job);
    spec_message *spec = build(&job, STR("batch"));
    assert_string_equal(spec->priorityclassname, "batch");
    /* The cluster refuses one that is not the class's. */
    assert_false(spec->has_priority);
    job_free(&job);
}

static void add_object(struct job *job, const char *kind, const char *name)
{
    Armadaevents__KubernetesObject *object = job_object(job, name);

    object->object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST;
    object->manifest = wire_new(&berth__api__manifest__descriptor, &job->arena);
    object->manifest->api_version = arena_strdup(&job->arena, STR("v1"));
    object->manifest->kind = arena_strdup(&job->arena, str_of(kind));
    object->manifest->json = arena_strdup(&job->arena, STR("{}"));
}

static void the_jobs_own_objects_get_their_names_everywhere(void **state)
{
    struct job job;

    (void)state;
    set_up_job(&job);
    add_object(&job, "Secret", "key");
    add_object(&job, "ConfigMap", "map");
    add_object(&job, "PersistentVolumeClaim", "disk");
    spec_message *spec = build(&job, STR(""));
    K8s__Io__Api__Core__V1__EnvFromSource **from =
        spec->initcontainers[0]->envfrom;
    K8s__Io__Api__Core__V1__Container *container = spec->containers[0];

    assert_string_equal(spec->imagepullsecrets[0]->name, "armada-x-0-key");
    assert_string_equal(spec->imagepullsecrets[1]->name, "others");
    assert_string_equal(from[0]->secretref->localobjectreference->name,
                        "armada-x-0-key");
    assert_string_equal(from[1]->configmapref->localobjectreference->name,
                        "armada-x-0-map");
    /* The job has no config map of this name. */
    assert_string_equal(from[2]->configmapref->localobjectreference->name,
                        "key");
    assert_string_equal(
        container->env[container->n_env - 1]
            ->valuefrom->secretkeyref->localobjectreference->name,
        "armada-x-0-key");
    assert_string_equal(spec->volumes[0]->volumesource->secret->secretname,
                        "armada-x-0-key");
    assert_string_equal(
        spec->volumes[1]->volumesource->persistentvolumeclaim->claimname,
        "armada-x-0-disk");
    assert_string_equal(spec->volumes[2]
                            ->volumesource->projected->sources[0]
                            ->secret->localobjectreference->name,
                        "armada-x-0-key");
    assert_string_equal(spec->volumes[2]
                            ->volumesource->projected->sources[1]
                            ->configmap->localobjectreference->name,
                        "armada-x-0-map");
    /* The lease stays as it was. */
    assert_string_equal(
        job.submit->mainobject->pod_spec->pod_spec->imagepullsecrets[0]->name,
        "key");
    job_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_job_keeps_its_class_and_account),
        cmocka_unit_test(the_operator_may_set_the_class),
        cmocka_unit_test(the_jobs_own_objects_get_their_names_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
