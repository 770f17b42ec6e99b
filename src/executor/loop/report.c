#include "armada/executorapi.pb-c.h"
#include "base/hash.h"
#include "executor/loop/report_private.h"
#include "wire/message/message.h"

enum { EVENT_BYTES_GUESS = 260, MS_PER_S = 1000, NS_PER_MS = 1000000 };

typedef report_event event_t;

struct report_sequence {
    struct str queue, job_set;
    event_t **events; /* in the arena */
    uint32_t event_count, event_capacity;
};

char *report_copy(struct report *report, struct str s)
{
    report->byte_count += s.byte_count;
    return arena_strdup(&report->arena, s);
}

/* Array of twice the size, in the arena, with the old contents. */
static void *grow(struct arena *arena, void *items, uint32_t count,
                  uint32_t *capacity, size_t size)
{
    uint32_t bigger = *capacity ? *capacity * 2 : 8;
    void *grown = arena_alloc_array(arena, bigger, size);

    if (count > 0) {
        memcpy(grown, items, count * size);
    }
    *capacity = bigger;
    return grown;
}

static struct report_sequence *sequence_of(struct report *report,
                                           const struct report_run *run)
{
    uint64_t hash = hash_bytes(run->queue.p, run->queue.byte_count, 1);
    struct key128 key = {
        hash, hash_bytes(run->job_set.p, run->job_set.byte_count, hash)};
    uint32_t index = map_find(&report->by_scope, key);

    if (index != MAP_NONE &&
        str_equal(report->sequences[index].queue, run->queue) &&
        str_equal(report->sequences[index].job_set, run->job_set)) {
        return &report->sequences[index];
    }
    if (report->sequence_count == report->sequence_capacity) {
        report->sequences =
            grow(&report->arena, report->sequences, report->sequence_count,
                 &report->sequence_capacity, sizeof(*report->sequences));
    }
    index = report->sequence_count++;
    report->sequences[index] = (struct report_sequence){
        .queue = arena_str(&report->arena, run->queue),
        .job_set = arena_str(&report->arena, run->job_set),
    };
    (void)map_put(&report->by_scope, key, index);
    report->byte_count += run->queue.byte_count + run->job_set.byte_count;
    return &report->sequences[index];
}

event_t *report_new_event(struct report *report, const struct report_run *run,
                          int64_t at_ms)
{
    struct report_sequence *sequence = sequence_of(report, run);
    event_t *event =
        NEW(&report->arena, event_t, armadaevents__event_sequence__event__init);

    event->created = NEW(&report->arena, Google__Protobuf__Timestamp,
                         google__protobuf__timestamp__init);
    event->created->seconds = at_ms / MS_PER_S;
    event->created->nanos = (int32_t)(at_ms % MS_PER_S) * NS_PER_MS;
    if (sequence->event_count == sequence->event_capacity) {
        sequence->events =
            grow(&report->arena, sequence->events, sequence->event_count,
                 &sequence->event_capacity, sizeof(*sequence->events));
    }
    sequence->events[sequence->event_count++] = event;
    report->event_count++;
    report->byte_count += EVENT_BYTES_GUESS;
    return event;
}

char *report_job_text(struct report *report, struct job_id job)
{
    char text[ID_TEXT_BYTES_MAX];

    return arena_strdup(&report->arena, str_of(job_id_format(job, text)));
}

char *report_run_text(struct report *report, struct run_id run)
{
    char text[ID_TEXT_BYTES_MAX];

    return arena_strdup(&report->arena, str_of(run_id_format(run, text)));
}

/* The pod that a run became. */
Armadaevents__ObjectMeta *report_pod_meta(struct report *report,
                                          const struct report_run *run)
{
    Armadaevents__ObjectMeta *meta =
        NEW(&report->arena, Armadaevents__ObjectMeta,
            armadaevents__object_meta__init);

    meta->executor_id = report_copy(report, run->executor_id);
    meta->namespace_ = report_copy(report, run->namespace_);
    meta->name = report_copy(report, run->pod_name);
    meta->kubernetes_id = report_run_text(report, run->run);
    return meta;
}

Armadaevents__KubernetesResourceInfo **
report_pod_infos(struct report *report, const struct report_run *run,
                 bool has_node)
{
    Armadaevents__KubernetesResourceInfo **infos =
        arena_alloc_array(&report->arena, 1, sizeof(*infos));
    Armadaevents__KubernetesResourceInfo *info =
        NEW(&report->arena, Armadaevents__KubernetesResourceInfo,
            armadaevents__kubernetes_resource_info__init);

    info->objectmeta = report_pod_meta(report, run);
    info->info_case = ARMADAEVENTS__KUBERNETES_RESOURCE_INFO__INFO_POD_INFO;
    info->podinfo = NEW(&report->arena, Armadaevents__PodInfo,
                        armadaevents__pod_info__init);
    if (has_node) {
        info->podinfo->node_name = report_copy(report, run->node_name);
    }
    infos[0] = info;
    return infos;
}

static void add_assigned(struct report *report, const struct report_run *run)
{
    event_t *event = report_new_event(report, run, run->created_ms);
    Armadaevents__JobRunAssigned *assigned =
        NEW(&report->arena, Armadaevents__JobRunAssigned,
            armadaevents__job_run_assigned__init);

    assigned->n_resourceinfos = 1;
    assigned->resourceinfos = report_pod_infos(report, run, run->is_repacked);
    assigned->job_id = report_job_text(report, run->job);
    assigned->run_id = report_run_text(report, run->run);
    assigned->pool = report_copy(report, run->pool);
    event->event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_ASSIGNED;
    event->jobrunassigned = assigned;
}

static void add_running(struct report *report, const struct report_run *run)
{
    event_t *event = report_new_event(report, run, run->started_ms);
    Armadaevents__JobRunRunning *running =
        NEW(&report->arena, Armadaevents__JobRunRunning,
            armadaevents__job_run_running__init);

    running->n_resourceinfos = 1;
    running->resourceinfos = report_pod_infos(report, run, true);
    running->job_id = report_job_text(report, run->job);
    running->run_id = report_run_text(report, run->run);
    running->pool = report_copy(report, run->pool);
    event->event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_RUNNING;
    event->jobrunrunning = running;
}

static void add_succeeded(struct report *report, const struct report_run *run)
{
    event_t *event = report_new_event(report, run, run->ended_ms);
    Armadaevents__JobRunSucceeded *succeeded =
        NEW(&report->arena, Armadaevents__JobRunSucceeded,
            armadaevents__job_run_succeeded__init);

    succeeded->n_resourceinfos = 1;
    succeeded->resourceinfos = report_pod_infos(report, run, true);
    succeeded->job_id = report_job_text(report, run->job);
    succeeded->run_id = report_run_text(report, run->run);
    event->event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_SUCCEEDED;
    event->jobrunsucceeded = succeeded;
}

static void add_warnings(struct report *report, const struct report_run *run)
{
    event_t *event = report_new_event(report, run, run->created_ms);
    Armadaevents__JobRunTerminatedDebugInfo *debug =
        NEW(&report->arena, Armadaevents__JobRunTerminatedDebugInfo,
            armadaevents__job_run_terminated_debug_info__init);

    debug->job_id = report_job_text(report, run->job);
    debug->run_id = report_run_text(report, run->run);
    debug->debugmessage = report_copy(report, run->warnings);
    event->event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_TERMINATED_DEBUG_INFO;
    event->jobrunterminateddebuginfo = debug;
}

static void add_preempted(struct report *report, const struct report_run *run)
{
    event_t *event = report_new_event(report, run, run->ended_ms);
    Armadaevents__JobRunPreempted *preempted =
        NEW(&report->arena, Armadaevents__JobRunPreempted,
            armadaevents__job_run_preempted__init);

    preempted->preempted_job_id = report_job_text(report, run->job);
    preempted->preempted_run_id = report_run_text(report, run->run);
    event->event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_PREEMPTED;
    event->jobrunpreempted = preempted;
}

static Armadaevents__KubernetesReason reason_of(enum runtime_cause cause)
{
    switch (cause) {
    case RUNTIME_CAUSE_OOM:
        return ARMADAEVENTS__KUBERNETES_REASON__OOM;
    case RUNTIME_CAUSE_DEADLINE:
        return ARMADAEVENTS__KUBERNETES_REASON__DeadlineExceeded;
    case RUNTIME_CAUSE_EVICTED:
        return ARMADAEVENTS__KUBERNETES_REASON__Evicted;
    case RUNTIME_CAUSE_NONE:
    case RUNTIME_CAUSE_ERROR:
    case RUNTIME_CAUSE_STOPPED:
    case RUNTIME_CAUSE_LOST:
    case RUNTIME_CAUSE_START:
    case RUNTIME_CAUSE_REFUSED:
    case RUNTIME_CAUSE_NODE_LOST:
    case RUNTIME_CAUSE_REJECTED:
    case RUNTIME_CAUSE_IMAGE:
    case RUNTIME_CAUSE_STUCK:
        break;
    }
    return ARMADAEVENTS__KUBERNETES_REASON__AppError;
}

/* Failures that are not the program's own doing, in Armada's words where it has
 * one. */
static const char *subcategory_of(enum runtime_cause cause)
{
    switch (cause) {
    case RUNTIME_CAUSE_DEADLINE:
        return "active-deadline";
    case RUNTIME_CAUSE_STOPPED:
        return "externally-deleted";
    case RUNTIME_CAUSE_LOST:
    case RUNTIME_CAUSE_NODE_LOST:
        return "pod-missing";
    case RUNTIME_CAUSE_REFUSED:
        return "job-creation-failed";
    case RUNTIME_CAUSE_EVICTED:
        return "evicted";
    case RUNTIME_CAUSE_IMAGE:
        return "image";
    case RUNTIME_CAUSE_STUCK:
        return "stuck-terminating";
    case RUNTIME_CAUSE_NONE:
    case RUNTIME_CAUSE_ERROR:
    case RUNTIME_CAUSE_OOM:
    case RUNTIME_CAUSE_START:
    case RUNTIME_CAUSE_REJECTED: /* no failure, but a lease that goes back */
        break;
    }
    return NULL;
}

static void set_container(struct report *report,
                          const struct runtime_ended *ended,
                          Armadaevents__ContainerError *error)
{
    error->objectmeta = NEW(&report->arena, Armadaevents__ObjectMeta,
                            armadaevents__object_meta__init);
    error->objectmeta->name = report_copy(report, ended->name);
    error->exit_code = ended->exit_code;
    error->message = report_copy(report, ended->message);
    error->reason = report_copy(report, ended->reason);
    error->kubernetes_reason = reason_of(ended->cause);
}

static void set_containers(struct report *report,
                           const struct runtime_status *status,
                           Armadaevents__PodError *error)
{
    error->containererrors =
        arena_alloc_array(&report->arena, status->ended_count + 1,
                          sizeof(*error->containererrors));
    for (uint32_t i = 0; i < status->ended_count; i++) {
        Armadaevents__ContainerError *container =
            NEW(&report->arena, Armadaevents__ContainerError,
                armadaevents__container_error__init);
        if (status->ended[i].exit_code == 0) {
            continue;
        }
        set_container(report, &status->ended[i], container);
        error->containererrors[error->n_containererrors++] = container;
    }
}

/* A line per failed container, as Armada's executor words it. */
static char *failure_text(struct report *report,
                          const struct runtime_status *status)
{
    auto_strbuf text = strbuf_make(RUNTIME_CONTAINERS_MAX * 8192);

    strbuf_add_str(&text, status->message);
    for (uint32_t i = 0; i < status->ended_count; i++) {
        const struct runtime_ended *ended = &status->ended[i];
        if (ended->exit_code == 0) {
            continue;
        }
        strbuf_addf(&text,
                    "%sContainer %.*s failed with exit code %d because %.*s",
                    text.byte_count > 0 ? "\n" : "", STR_ARG(ended->name),
                    ended->exit_code, STR_ARG(ended->reason));
        if (ended->message.byte_count > 0) {
            strbuf_addf(&text, ": %.*s", STR_ARG(ended->message));
        }
    }
    struct str kept = strbuf_str(&text);
    if (kept.byte_count > REPORT_TEXT_BYTES_MAX) {
        kept.byte_count = REPORT_TEXT_BYTES_MAX;
    }
    return report_copy(report, kept);
}

/* A rule of the executor names it better than the cause alone; a default does
 * not. */
static void set_category(struct report *report, const struct report_run *run,
                         enum runtime_cause cause, Armadaevents__Error *error)
{
    const char *subcategory = subcategory_of(cause);
    struct failure_class class = {0};
    bool is_classified = run->status && !run->is_refused &&
                         failure_classify(report->classes, run->status, &class);

    if (subcategory && !(is_classified && !class.is_default)) {
        class.category = STR("internal");
        class.subcategory = str_of(subcategory);
    } else if (!is_classified) {
        return;
    }
    error->failure_category = report_copy(report, class.category);
    error->failure_subcategory = report_copy(report, class.subcategory);
}

static void set_pod_error(struct report *report, const struct report_run *run,
                          Armadaevents__Error *error)
{
    Armadaevents__PodError *pod = NEW(&report->arena, Armadaevents__PodError,
                                      armadaevents__pod_error__init);
    bool has_cause = run->status && run->status->cause != RUNTIME_CAUSE_NONE;
    enum runtime_cause cause = run->is_refused ? RUNTIME_CAUSE_REFUSED
                               : has_cause     ? run->status->cause
                                               : RUNTIME_CAUSE_LOST;

    pod->objectmeta = report_pod_meta(report, run);
    pod->node_name = report_copy(report, run->node_name);
    pod->kubernetes_reason = reason_of(cause);
    if (run->is_refused) {
        pod->message = report_copy(report, run->text);
    } else if (has_cause) {
        pod->message = failure_text(report, run->status);
        set_containers(report, run->status, pod);
    } else {
        pod->message = report_copy(report, STR("The pod of this run is gone"));
    }
    set_category(report, run, cause, error);
    error->reason_case = ARMADAEVENTS__ERROR__REASON_POD_ERROR;
    error->poderror = pod;
}

static void set_returned(struct report *report, const struct report_run *run,
                         Armadaevents__Error *error)
{
    Armadaevents__PodLeaseReturned *returned =
        NEW(&report->arena, Armadaevents__PodLeaseReturned,
            armadaevents__pod_lease_returned__init);

    returned->objectmeta = report_pod_meta(report, run);
    returned->message = report_copy(report, run->text);
    returned->run_attempted = true;
    error->reason_case = ARMADAEVENTS__ERROR__REASON_POD_LEASE_RETURNED;
    error->podleasereturned = returned;
}

static void add_failed(struct report *report, const struct report_run *run)
{
    event_t *event = report_new_event(report, run, run->ended_ms);
    Armadaevents__JobRunErrors *errors =
        NEW(&report->arena, Armadaevents__JobRunErrors,
            armadaevents__job_run_errors__init);
    Armadaevents__Error *error =
        NEW(&report->arena, Armadaevents__Error, armadaevents__error__init);

    errors->job_id = report_job_text(report, run->job);
    errors->run_id = report_run_text(report, run->run);
    errors->n_errors = 1;
    errors->errors = arena_alloc_array(&report->arena, 1, sizeof(error));
    errors->errors[0] = error;
    error->terminal = true;
    if (run->is_preempted) {
        error->reason_case =
            ARMADAEVENTS__ERROR__REASON_JOB_RUN_PREEMPTED_ERROR;
        error->jobrunpreemptederror =
            NEW(&report->arena, Armadaevents__JobRunPreemptedError,
                armadaevents__job_run_preempted_error__init);
    } else if (run->is_returned) {
        set_returned(report, run, error);
    } else {
        set_pod_error(report, run, error);
    }
    event->event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_ERRORS;
    event->jobrunerrors = errors;
}

void report_add(struct report *report, const struct report_run *run)
{
    int from = reconcile_rank(run->from);
    int to = reconcile_rank(run->to);
    bool has_pod =
        !run->is_refused && !run->is_returned && run->to != RECONCILE_FORGOTTEN;

    ASSERT(from < to);
    if (run->warnings.byte_count > 0) {
        add_warnings(report, run);
    }
    if (from < reconcile_rank(RECONCILE_PENDING) && has_pod) {
        add_assigned(report, run);
    }
    if (from < reconcile_rank(RECONCILE_RUNNING) && has_pod &&
        to >= reconcile_rank(RECONCILE_RUNNING) && run->has_started) {
        add_running(report, run);
    }
    if (!reconcile_is_ended(run->to)) {
        return;
    }
    if (run->to == RECONCILE_SUCCEEDED) {
        add_succeeded(report, run);
        return;
    }
    if (run->is_preempted) {
        add_preempted(report, run);
    }
    add_failed(report, run);
}

void report_encode(struct report *report, struct strbuf *buf)
{
    Executorapi__EventList list = EXECUTORAPI__EVENT_LIST__INIT;

    list.n_events = report->sequence_count;
    list.events = arena_alloc_array(&report->arena, report->sequence_count + 1,
                                    sizeof(*list.events));
    for (uint32_t i = 0; i < report->sequence_count; i++) {
        const struct report_sequence *from = &report->sequences[i];
        Armadaevents__EventSequence *sequence =
            NEW(&report->arena, Armadaevents__EventSequence,
                armadaevents__event_sequence__init);
        sequence->queue = arena_strdup(&report->arena, from->queue);
        sequence->job_set_name = arena_strdup(&report->arena, from->job_set);
        sequence->n_events = from->event_count;
        sequence->events = from->events;
        list.events[i] = sequence;
    }
    wire_encode(&list.base, buf);
}

void report_clear(struct report *report)
{
    arena_reset(&report->arena);
    map_fini(&report->by_scope);
    report->sequences = NULL;
    report->sequence_count = report->sequence_capacity = 0;
    report->event_count = 0;
    report->byte_count = 0;
}

void report_fini(struct report *report)
{
    report_clear(report);
    arena_fini(&report->arena);
}
