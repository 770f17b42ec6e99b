/* Converts a job for its `submitted` event. */
#include "api/events/event_convert_private.h"
#include "api/submit/pod_resources.h"
#include "k8s/networking.pb-c.h"

static K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta *
make_meta(struct arena *arena, const Armadaevents__ObjectMeta *from)
{
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta *meta = message_new(
        arena,
        &k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__descriptor);

    if (!from) {
        return meta;
    }
    meta->name = from->name;
    meta->namespace_ = from->namespace_;
    COPY_MAP(
        arena, meta, from, annotations, annotations,
        k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__annotations_entry);
    COPY_MAP(
        arena, meta, from, labels, labels,
        k8s__io__apimachinery__pkg__apis__meta__v1__object_meta__labels_entry);
    return meta;
}

static void add_service(struct arena *arena, Api__Job *job,
                        const Armadaevents__KubernetesObject *object)
{
    K8s__Io__Api__Core__V1__Service *service =
        message_new(arena, &k8s__io__api__core__v1__service__descriptor);

    service->metadata = make_meta(arena, object->objectmeta);
    service->spec = object->service;
    job->k8s_service[job->n_k8s_service++] = service;
}

static void add_ingress(struct arena *arena, Api__Job *job,
                        const Armadaevents__KubernetesObject *object)
{
    K8s__Io__Api__Networking__V1__Ingress *ingress =
        message_new(arena, &k8s__io__api__networking__v1__ingress__descriptor);

    ingress->metadata = make_meta(arena, object->objectmeta);
    ingress->spec = object->ingress;
    job->k8s_ingress[job->n_k8s_ingress++] = ingress;
}

static void add_objects(struct arena *arena, Api__Job *job,
                        const Armadaevents__SubmitJob *submit)
{
    job->k8s_service = arena_alloc_array(arena, submit->n_objects,
                                         sizeof(job->k8s_service[0]));
    job->k8s_ingress = arena_alloc_array(arena, submit->n_objects,
                                         sizeof(job->k8s_ingress[0]));
    for (size_t i = 0; i < submit->n_objects; i++) {
        const Armadaevents__KubernetesObject *object = submit->objects[i];
        if (object->object_case ==
            ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_SERVICE) {
            add_service(arena, job, object);
        } else if (object->object_case ==
                   ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_INGRESS) {
            add_ingress(arena, job, object);
        }
    }
}

/* Clients read the field that the proto calls deprecated (trap 8). */
static void add_pod(struct arena *arena, Api__Job *job,
                    const Armadaevents__SubmitJob *submit)
{
    const Armadaevents__KubernetesMainObject *main = submit->mainobject;

    if (main &&
        main->object_case ==
            ARMADAEVENTS__KUBERNETES_MAIN_OBJECT__OBJECT_POD_SPEC &&
        main->pod_spec->pod_spec) {
        job->pod_spec = main->pod_spec->pod_spec;
        job->scheduling_resource_requirements =
            pod_resources(job->pod_spec, arena);
    }
}

Api__Job *event_convert_job(const Armadaevents__SubmitJob *submit,
                            const struct event_scope *scope, int64_t created_ms,
                            struct arena *arena)
{
    Api__Job *job = message_new(arena, &api__job__descriptor);

    job->id = submit->job_id;
    job->client_id = submit->deduplication_id;
    job->queue = message_copy(arena, scope->queue);
    job->job_set_id = message_copy(arena, scope->job_set);
    job->owner = message_copy(arena, scope->user);
    job->priority = submit->priority;
    job->created = message_time(arena, created_ms);
    if (submit->objectmeta) {
        job->namespace_ = submit->objectmeta->namespace_;
        COPY_MAP(arena, job, submit->objectmeta, labels, labels,
                 api__job__labels_entry);
        COPY_MAP(arena, job, submit->objectmeta, annotations, annotations,
                 api__job__annotations_entry);
    }
    add_pod(arena, job, submit);
    add_objects(arena, job, submit);
    return job;
}
