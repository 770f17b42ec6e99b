#include "executor/kubernetes/kube_pod.h"

#include "executor/kubernetes/kube_attached.h"
#include "executor/kubernetes/kube_object.h"
#include "k8s/core.pb-c.h"
#include "wire/kube/entries.h"
#include "wire/kube/pod.h"
#include "wire/message/message.h"

typedef K8s__Io__Api__Core__V1__Pod pod_message;
typedef K8s__Io__Api__Core__V1__PodStatus status_message;
typedef K8s__Io__Api__Core__V1__ContainerStatus container_message;

enum { MS_PER_S = 1000 };

/* What a Failed pod's reason, or that of its DisruptionTarget condition, says.
 * A name that ends in '*' stands for all that begin so. */
static const struct {
    const char *reason;
    enum runtime_cause cause;
} causes[] = {
    {"DeadlineExceeded", RUNTIME_CAUSE_DEADLINE},
    {"Evicted", RUNTIME_CAUSE_EVICTED},
    {"Preempting", RUNTIME_CAUSE_EVICTED},
    {"Terminated", RUNTIME_CAUSE_EVICTED}, /* its node is shut down */
    {"NodeShutdown", RUNTIME_CAUSE_EVICTED},
    {"EvictionByEvictionAPI", RUNTIME_CAUSE_EVICTED},
    {"PreemptionByScheduler", RUNTIME_CAUSE_EVICTED},
    {"DeletionByTaintManager", RUNTIME_CAUSE_EVICTED},
    {"TerminationByKubelet", RUNTIME_CAUSE_EVICTED},
    {"DeletionByPodGC", RUNTIME_CAUSE_NODE_LOST},
    {"NodeLost", RUNTIME_CAUSE_NODE_LOST},
    {"OutOf*", RUNTIME_CAUSE_REJECTED},
    {"NodeAffinity", RUNTIME_CAUSE_REJECTED},
    {"NodePorts", RUNTIME_CAUSE_REJECTED},
    {"TopologyAffinityError", RUNTIME_CAUSE_REJECTED},
    {"UnexpectedAdmissionError", RUNTIME_CAUSE_REJECTED},
};

static const char *const image_reasons[] = {
    "ErrImagePull",     "ImagePullBackOff",  "ErrImageNeverPull",
    "InvalidImageName", "ImageInspectError", "RegistryUnavailable",
};

static bool is_named(const char *pattern, struct str reason)
{
    size_t byte_count = strlen(pattern);

    if (pattern[byte_count - 1] != '*') {
        return str_equal(str_of(pattern), reason);
    }
    return reason.byte_count >= byte_count - 1 &&
           memcmp(pattern, reason.p, byte_count - 1) == 0;
}

static enum runtime_cause cause_by(struct str reason)
{
    for (size_t i = 0; reason.byte_count > 0 && i < ARRAY_COUNT(causes); i++) {
        if (is_named(causes[i].reason, reason)) {
            return causes[i].cause;
        }
    }
    return RUNTIME_CAUSE_NONE;
}

/* Whether a condition is True; its reason. */
static bool has_condition(const status_message *status, const char *type,
                          struct str *ret_reason)
{
    *ret_reason = STR("");
    for (size_t i = 0; i < status->n_conditions; i++) {
        const K8s__Io__Api__Core__V1__PodCondition *condition =
            status->conditions[i];
        if (str_equal(str_of(condition->type), str_of(type))) {
            *ret_reason = str_of(condition->reason);
            return str_equal(str_of(condition->status), STR("True"));
        }
    }
    return false;
}

/* Containers. */

static enum runtime_cause cause_of_container(
    const K8s__Io__Api__Core__V1__ContainerStateTerminated *ended)
{
    struct str reason = str_of(ended->reason);

    return ended->exitcode == 0                  ? RUNTIME_CAUSE_NONE
           : str_equal(reason, STR("OOMKilled")) ? RUNTIME_CAUSE_OOM
           : str_equal(reason, STR("StartError")) ||
                   str_equal(reason, STR("ContainerCannotRun"))
               ? RUNTIME_CAUSE_START
               : RUNTIME_CAUSE_ERROR;
}

/* The first of two moments that there was. */
static int64_t first_of(int64_t a_ms, int64_t b_ms)
{
    return a_ms == 0 || (b_ms != 0 && b_ms < a_ms) ? b_ms : a_ms;
}

static void
take_ended(const container_message *container,
           const K8s__Io__Api__Core__V1__ContainerStateTerminated *ended,
           struct runtime_status *status)
{
    int64_t ended_ms = kube_time_ms(ended->finishedat);

    status->ended[status->ended_count++] = (struct runtime_ended){
        .name = str_of(container->name),
        .reason = kube_text(ended->reason),
        .message = kube_text(ended->message),
        .exit_code = ended->exitcode,
        .cause = cause_of_container(ended),
    };
    status->started_ms =
        first_of(status->started_ms, kube_time_ms(ended->startedat));
    status->ended_ms =
        ended_ms > status->ended_ms ? ended_ms : status->ended_ms;
}

static void take_waiting(const K8s__Io__Api__Core__V1__ContainerStateWaiting *w,
                         struct kube_pod *pod)
{
    bool is_image = false;

    for (size_t i = 0; i < ARRAY_COUNT(image_reasons); i++) {
        is_image |= str_equal(str_of(w->reason), str_of(image_reasons[i]));
    }
    if (pod->waiting.byte_count == 0 || (is_image && !pod->has_no_image)) {
        pod->waiting = kube_text(w->reason);
        pod->waiting_text = kube_text(w->message);
    }
    pod->has_no_image |= is_image;
}

static void take_container(const container_message *container,
                           struct kube_pod *pod)
{
    const K8s__Io__Api__Core__V1__ContainerState *state = container->state;

    if (state && state->terminated &&
        pod->status.ended_count < RUNTIME_CONTAINERS_MAX) {
        take_ended(container, state->terminated, &pod->status);
    } else if (state && state->running) {
        pod->status.started_ms = first_of(
            pod->status.started_ms, kube_time_ms(state->running->startedat));
    } else if (state && state->waiting) {
        take_waiting(state->waiting, pod);
    }
}

static void take_containers(const status_message *status, struct arena *arena,
                            struct kube_pod *pod)
{
    pod->status.ended = arena_alloc_array(arena, RUNTIME_CONTAINERS_MAX,
                                          sizeof(*pod->status.ended));
    for (size_t i = 0; i < status->n_initcontainerstatuses; i++) {
        const container_message *container = status->initcontainerstatuses[i];
        take_container(container, pod);
        pod->is_initializing |= container->state && container->state->running;
    }
    /* A pod has started when a main container has. */
    pod->status.started_ms = 0;
    for (size_t i = 0; i < status->n_containerstatuses; i++) {
        take_container(status->containerstatuses[i], pod);
    }
}

/* How far it is. */

static enum reconcile_phase phase_of(struct str phase)
{
    return str_equal(phase, STR("Running"))     ? RECONCILE_RUNNING
           : str_equal(phase, STR("Succeeded")) ? RECONCILE_SUCCEEDED
           : str_equal(phase, STR("Failed"))    ? RECONCILE_FAILED
                                                : RECONCILE_PENDING;
}

/* The worst that its containers say. */
static enum runtime_cause
cause_of_containers(const struct runtime_status *status)
{
    enum runtime_cause cause = RUNTIME_CAUSE_ERROR;

    for (uint32_t i = 0; i < status->ended_count; i++) {
        if (status->ended[i].cause == RUNTIME_CAUSE_OOM) {
            return RUNTIME_CAUSE_OOM;
        }
        if (status->ended[i].cause == RUNTIME_CAUSE_START) {
            cause = RUNTIME_CAUSE_START;
        }
    }
    return cause;
}

static enum runtime_cause cause_of(const status_message *status,
                                   const struct kube_pod *pod)
{
    struct str disrupted;
    enum runtime_cause cause = cause_by(str_of(status->reason));
    bool has_target = has_condition(status, "DisruptionTarget", &disrupted);

    if (cause == RUNTIME_CAUSE_NONE && has_target) {
        cause = cause_by(disrupted);
    }
    /* Who has run was not turned away. */
    if (cause == RUNTIME_CAUSE_REJECTED && pod->status.started_ms > 0) {
        cause = RUNTIME_CAUSE_NONE;
    }
    if (cause != RUNTIME_CAUSE_NONE) {
        return cause;
    }
    return pod->is_ending ? RUNTIME_CAUSE_STOPPED
                          : cause_of_containers(&pod->status);
}

static void take_status(const status_message *status, struct arena *arena,
                        struct kube_pod *pod)
{
    struct str reason;

    take_containers(status, arena, pod);
    pod->pod.phase = phase_of(str_of(status->phase));
    pod->ip = str_of(status->podip);
    pod->host_ip = str_of(status->hostip);
    pod->is_ready = has_condition(status, "Ready", &reason);
    pod->status.message = kube_text(status->message);
    if (pod->pod.phase == RECONCILE_FAILED) {
        pod->status.cause = cause_of(status, pod);
    }
}

/* Whose it is. */

static struct str text_in(const struct label *labels, uint32_t count,
                          struct str key)
{
    const struct label *label = label_find(labels, count, key);

    return label ? label->value : STR("");
}

static void
take_owner(const K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta *meta,
           struct arena *arena, struct kube_pod *pod)
{
    uint32_t label_count, annotation_count;
    const struct label *labels =
        entries_labels(meta->labels, meta->n_labels, arena, &label_count);
    const struct label *annotations = entries_labels(
        meta->annotations, meta->n_annotations, arena, &annotation_count);

    pod->pod.queue = text_in(labels, label_count, STR(KUBE_QUEUE_LABEL));
    pod->pod.job_set =
        text_in(annotations, annotation_count, STR(KUBE_JOB_SET_ANNOTATION));
    pod->objects =
        text_in(annotations, annotation_count, STR(KUBE_OBJECTS_ANNOTATION));
    pod->executor = text_in(labels, label_count, STR(KUBE_EXECUTOR_LABEL));
    pod->is_ours =
        job_id_parse(text_in(labels, label_count, STR(KUBE_JOB_LABEL)),
                     &pod->pod.job) == 0 &&
        run_id_parse(text_in(labels, label_count, STR(KUBE_RUN_LABEL)),
                     &pod->pod.run) == 0 &&
        pod->pod.queue.byte_count > 0 && pod->pod.job_set.byte_count > 0;
}

static int take_spec(const K8s__Io__Api__Core__V1__PodSpec *spec,
                     struct arena *arena, struct kube_pod *pod, struct err *err)
{
    struct requirement requirement;
    int rc = pod_requirement(spec, arena, &requirement, err);

    if (rc == 0) {
        pod->requests = requirement.requests;
        pod->pod.node_name = str_of(spec->nodename);
        pod->container = spec->n_containers > 0
                             ? str_of(spec->containers[0]->name)
                             : STR("");
    }
    return rc;
}

int kube_pod_read(struct str object, struct arena *arena,
                  struct kube_pod *ret_pod, struct err *err)
{
    struct kube_pod pod = {.pod.phase = RECONCILE_PENDING};
    ProtobufCMessage *base;

    int rc = kube_object_decode(&k8s__io__api__core__v1__pod__descriptor,
                                object, arena, &base, err);
    if (rc < 0) {
        return rc;
    }
    const pod_message *message = (const pod_message *)base;
    if (!message->metadata || !message->metadata->name || !message->spec) {
        return err_set(err, -ERR_CORRUPT, "a pod without name or spec");
    }
    pod.pod.pod_name = str_of(message->metadata->name);
    pod.pod.namespace_ = str_of(message->metadata->namespace_);
    pod.uid = str_of(message->metadata->uid);
    pod.is_ending = message->metadata->deletiontimestamp != NULL;
    pod.grace_ms = message->metadata->deletiongraceperiodseconds * MS_PER_S;
    pod.status.created_ms = kube_time_ms(message->metadata->creationtimestamp);
    take_owner(message->metadata, arena, &pod);
    rc = take_spec(message->spec, arena, &pod, err);
    if (rc == 0 && message->status) {
        take_status(message->status, arena, &pod);
    }
    *ret_pod = pod;
    return rc;
}

int kube_pod_shorten(struct str object, struct strbuf *buf, struct err *err)
{
    K8s__Io__Apimachinery__Pkg__Apis__Meta__V1__ObjectMeta meta =
        K8S__IO__APIMACHINERY__PKG__APIS__META__V1__OBJECT_META__INIT;
    K8s__Io__Api__Core__V1__PodSpec spec =
        K8S__IO__API__CORE__V1__POD_SPEC__INIT;
    pod_message kept = K8S__IO__API__CORE__V1__POD__INIT;
    auto_arena arena = {0};
    ProtobufCMessage *base;

    int rc = kube_object_decode(&k8s__io__api__core__v1__pod__descriptor,
                                object, &arena, &base, err);
    if (rc < 0) {
        return rc;
    }
    const pod_message *all = (const pod_message *)base;
    if (!all->metadata) {
        return err_set(err, -ERR_CORRUPT, "a pod without metadata");
    }
    meta.name = all->metadata->name;
    meta.creationtimestamp = all->metadata->creationtimestamp;
    meta.deletiontimestamp = all->metadata->deletiontimestamp;
    kept.metadata = &meta;
    kept.spec = &spec;
    kept.status = all->status;
    wire_encode(&kept.base, buf);
    return 0;
}
