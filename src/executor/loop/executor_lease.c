#include <stdio.h>

#include "base/intern.h"
#include "executor/loop/executor_private.h"
#include "executor/loop/lease_request.h"
#include "wire/message/message.h"

enum { HELD_REQUEST_GAP_MS = 5, HELD_REOPEN_MS = 100, NODE_NONE = UINT32_MAX };

static const char hostname_label[] = "kubernetes.io/hostname";
static const char pool_annotation[] = "armadaproject.io/pool";

static struct str field(const char *text)
{
    return str_of(text);
}

/* The node that the scheduler pinned the pod to. */
static struct str lease_node(const Executorapi__JobRunLease *lease)
{
    const Armadaevents__KubernetesMainObject *main = lease->job->mainobject;
    const K8s__Io__Api__Core__V1__PodSpec *spec =
        main && main->object_case ==
                    ARMADAEVENTS__KUBERNETES_MAIN_OBJECT__OBJECT_POD_SPEC
            ? main->pod_spec->pod_spec
            : NULL;

    for (size_t i = 0; spec && i < spec->n_nodeselector; i++) {
        if (spec->nodeselector[i]->key &&
            strcmp(spec->nodeselector[i]->key, hostname_label) == 0) {
            return field(spec->nodeselector[i]->value);
        }
    }
    return STR("");
}

static struct str lease_pool(const struct executor *executor,
                             const Executorapi__JobRunLease *lease)
{
    const Armadaevents__ObjectMeta *meta = lease->job->objectmeta;

    for (size_t i = 0; meta && i < meta->n_annotations; i++) {
        if (strcmp(meta->annotations[i]->key, pool_annotation) == 0) {
            return field(meta->annotations[i]->value);
        }
    }
    return executor->options.pool;
}

/* Whether a run that we do not hold is known to have had a pod, which is then
 * gone: what its row says of that, or NEVER. */
static enum reconcile_phase past_of(const struct executor *executor,
                                    const Executorapi__JobRunLease *lease,
                                    struct run_id id)
{
    if (map_find(&executor->is_forgotten, id.v) != MAP_NONE) {
        return RECONCILE_FORGOTTEN;
    }
    return lease->was_reported ? RECONCILE_LOST : RECONCILE_NEVER;
}

/* The row of a lease; its pod is named as all Armada programs know it. */
static uint32_t add_leased(struct executor *executor,
                           const Executorapi__JobRunLease *lease,
                           struct run_id id, struct job_id job)
{
    const Armadaevents__ObjectMeta *meta = lease->job->objectmeta;
    char text[ID_TEXT_BYTES_MAX], pod_name[ID_TEXT_BYTES_MAX + 16];

    (void)snprintf(pod_name, sizeof(pod_name), "armada-%s-0",
                   job_id_format(job, text));
    return executor_add(
        executor, id, job,
        (const struct str[RUN_TEXTS]){
            [RUN_QUEUE] = field(lease->queue),
            [RUN_JOB_SET] = field(lease->jobset),
            [RUN_NAMESPACE] = field(meta ? meta->namespace_ : ""),
            [RUN_POD_NAME] = str_of(pod_name),
            [RUN_NODE_NAME] = lease_node(lease),
            [RUN_POOL] = lease_pool(executor, lease),
            [RUN_USER] = field(lease->user),
        });
}

/* A new run, or one that had a pod before: then the server is told that there
 * is no such pod any more. */
static void take_lease(struct executor *executor,
                       const Executorapi__JobRunLease *lease,
                       struct arena *arena)
{
    struct run_id id;
    struct job_id job;
    uint32_t index;

    if (executor->is_ending) {
        return;
    }
    if (!lease->job || !*lease->queue || !*lease->jobset ||
        run_id_parse(field(lease->job_run_id), &id) < 0 ||
        job_id_parse(field(lease->job->job_id), &job) < 0 ||
        key128_is_none(id.v) || key128_is_none(job.v)) {
        return; /* armada-api.md 6.5: passed over */
    }
    executor->stats.lease_count++;
    struct run *run = executor_find(executor, id, &index);
    if (run || executor->stats.run_count >= EXECUTOR_RUNS_MAX) {
        return; /* known already: a lease may come any number of times */
    }
    index = add_leased(executor, lease, id, job);
    run = &executor->runs.items[index];
    run->row.want = RECONCILE_WANT_RUN;
    run->row.phase = past_of(executor, lease, id);
    if (run->row.phase != RECONCILE_NEVER) {
        run->row.acked =
            lease->was_reported ? RECONCILE_PENDING : RECONCILE_NEVER;
        run->ended_ms = executor_wall_ms(executor);
        return;
    }
    run->lease_arena = mem_alloc(sizeof(*run->lease_arena));
    *run->lease_arena = *arena;
    *arena = (struct arena){0};
    run->lease = lease;
    executor->waiting_count++;
}

static void take_ids(struct executor *executor, char **ids, size_t count,
                     enum reconcile_want want)
{
    for (size_t i = 0; i < count; i++) {
        struct run_id id;
        uint32_t index;
        struct run *run = run_id_parse(field(ids[i]), &id) < 0
                              ? NULL
                              : executor_find(executor, id, &index);
        if (run && run->row.want != RECONCILE_WANT_STOP) {
            run->row.want = want;
            /* The server counts its room as free from now on. */
            node_capacity_end(executor->capacity, &run->share);
            executor_mark(executor, index);
        }
    }
}

void executor_take_message(struct executor *executor, struct str bytes)
{
    auto_arena arena = {0};
    struct wire_limits limits = wire_request_limits;
    ProtobufCMessage *base;
    struct err err;

    limits.byte_count_max = EXECUTOR_MESSAGE_BYTES_MAX;
    if (wire_decode(&executorapi__lease_stream_message__descriptor, bytes,
                    &limits, &arena, &base, &err) < 0) {
        executor->stats.last_failure = err;
        return;
    }
    const Executorapi__LeaseStreamMessage *message =
        (const Executorapi__LeaseStreamMessage *)base;
    switch (message->event_case) {
    case EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE:
        executor->credit -= executor->credit > 0;
        take_lease(executor, message->lease, &arena);
        break;
    case EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_CANCEL_RUNS:
        take_ids(executor, message->cancel_runs->job_run_ids_to_cancel,
                 message->cancel_runs->n_job_run_ids_to_cancel,
                 RECONCILE_WANT_STOP);
        break;
    case EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_PREEMPT_RUNS:
        take_ids(executor, message->preempt_runs->job_run_ids_to_preempt,
                 message->preempt_runs->n_job_run_ids_to_preempt,
                 RECONCILE_WANT_PREEMPT);
        break;
    case EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT:
        if (executor->exchange == EXCHANGE_OPEN) {
            executor->exchange = EXCHANGE_HELD;
            executor->stats.is_held = executor->stats.is_connected = true;
        }
        break;
    case EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_END:
    case EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT__NOT_SET:
    default:
        break;
    }
}

void executor_exchange_ended(struct executor *executor,
                             const struct executor_arrival *arrival)
{
    bool was_held = executor->exchange == EXCHANGE_HELD;

    executor->exchange = EXCHANGE_NONE;
    executor->stats.is_held = false;
    executor->stats.is_connected = arrival->is_ok && !was_held;
    executor->stats.exchange_failed_count += !arrival->is_ok;
    if (!arrival->is_ok) {
        (void)snprintf(executor->stats.last_failure.text, ERR_TEXT_BYTES_MAX,
                       "%.*s", STR_ARG(arrival->text));
    }
    /* A stream that lasted is opened anew almost at once; one that did not,
     * as any exchange that failed. */
    int64_t period_ms = arrival->is_ok && !was_held
                            ? executor->options.lease_period_ms
                            : executor->options.lease_retry_ms;
    int64_t soon_ms = executor_now_ms(executor) + HELD_REOPEN_MS;
    executor->exchange_next_ms = executor->exchange_started_ms + period_ms;
    if (executor->exchange_next_ms < soon_ms && was_held) {
        executor->exchange_next_ms = soon_ms;
    }
}

static uint32_t lease_credit(const struct executor *executor, bool is_held)
{
    uint32_t max = is_held ? executor->options.held_lease_max
                           : executor->options.lease_max;

    /* What waits for room must not keep others from theirs. */
    uint32_t waiting_count = executor->waiting_count - executor->deferred_count;

    if (!is_held) {
        return waiting_count == 0 ? max : 0;
    }
    return max > waiting_count ? max - waiting_count : 0;
}

static void fill_runs(struct executor *executor, struct lease_request *request,
                      const struct intern *names)
{
    struct lease_request_run *runs = arena_alloc_array(
        &executor->arena, executor->stats.run_count + 1, sizeof(*runs));

    for (uint32_t i = 0; i < executor->runs.count; i++) {
        const struct run *run = &executor->runs.items[i];
        if (run->is_used && !run->row.is_foreign) {
            uint32_t node = run->row.phase == RECONCILE_NEVER
                                ? NODE_NONE
                                : intern_find(names, run->node_name);
            runs[request->run_count++] =
                (struct lease_request_run){run->row.id, node, run->row.phase};
        }
    }
    request->runs = runs;
}

/* What goes with an inventory. */
static void add_inventory(struct executor *executor,
                          struct lease_request *request)
{
    struct runtime *runtime = executor->runtime;

    request->nodes =
        node_set_all(runtime->ops->nodes(runtime), &request->node_count);
    request->says_pending = runtime->ops->pending != NULL;
    if (request->says_pending) {
        request->pending = *runtime->ops->pending(runtime);
    }
    request->says_protected = runtime->ops->protected_runs != NULL;
    if (request->says_protected) {
        request->protected_runs =
            runtime->ops->protected_runs(runtime, &request->protected_count);
    }
}

static uint64_t nodes_version(const struct executor *executor)
{
    return node_set_version(executor->runtime->ops->nodes(executor->runtime));
}

static void open_exchange(struct executor *executor)
{
    auto_ptr(intern) names = intern_create();
    struct lease_request request = {
        .executor_id = executor->options.id,
        .pool = executor->options.pool,
        .is_held = executor->options.has_held_stream,
        .instance = executor->options.instance,
        /* Whether the stream is held shows only in the answer; a delta then
         * raises the credit. */
        .lease_max = lease_credit(executor, false),
    };

    add_inventory(executor, &request);
    for (uint32_t n = 0; n < request.node_count; n++) {
        (void)intern_add(names, request.nodes[n].name);
    }
    fill_runs(executor, &request, names);
    strbuf_clear(&executor->out);
    lease_request_encode(&request, &executor->arena, &executor->out);
    executor->added.count = executor->removed.count = 0;
    executor->credit = request.lease_max;
    executor->exchange = EXCHANGE_OPEN;
    executor->exchange_started_ms = executor->last_arrival_ms =
        executor->request_sent_ms = executor->nodes_sent_ms =
            executor->inventory_sent_ms = executor_now_ms(executor);
    executor->nodes_version = nodes_version(executor);
    executor->stats.exchange_count++;
    executor->transport->lease_open(executor->transport,
                                    strbuf_str(&executor->out));
}

/* Whether a held stream has something to hear from us, and when. */
static int64_t delta_due_ms(const struct executor *executor)
{
    const struct executor_options *options = &executor->options;
    bool is_low = executor->credit <= options->held_lease_max / 2 &&
                  executor->credit < lease_credit(executor, true);

    int64_t gap_ms = executor->request_sent_ms + HELD_REQUEST_GAP_MS;
    int64_t nodes_ms =
        nodes_version(executor) != executor->nodes_version
            ? executor->nodes_sent_ms + options->nodes_gap_ms
            : executor->inventory_sent_ms + options->inventory_period_ms;
    int64_t alive_ms = executor->request_sent_ms + options->alive_period_ms;
    int64_t quiet_ms = nodes_ms < alive_ms ? nodes_ms : alive_ms;

    if (executor->added.count > 0 || executor->removed.count > 0 || is_low) {
        return gap_ms;
    }
    return quiet_ms > gap_ms ? quiet_ms : gap_ms;
}

/* What a delta says of nodes: what has changed, and now and then all.  False:
 * only a full request can tell which are gone. */
static bool add_nodes(struct executor *executor, struct lease_request *request)
{
    struct node_set_delta delta;
    bool is_inventory_due =
        executor_now_ms(executor) - executor->inventory_sent_ms >=
        executor->options.inventory_period_ms;

    if (!node_set_since(executor->runtime->ops->nodes(executor->runtime),
                        executor->nodes_version, &executor->arena, &delta)) {
        return false;
    }
    request->nodes = delta.changed;
    request->node_count = delta.changed_count;
    request->nodes_removed = delta.removed;
    request->nodes_removed_count = delta.removed_count;
    if (is_inventory_due) {
        add_inventory(executor, request);
    }
    return true;
}

/* A delta has gone out. */
static void note_sent(struct executor *executor,
                      const struct lease_request *request)
{
    int64_t now_ms = executor_now_ms(executor);

    executor->added.count = executor->removed.count = 0;
    executor->credit = request->lease_max;
    executor->nodes_version = nodes_version(executor);
    if (request->node_count > 0 || request->nodes_removed_count > 0) {
        executor->nodes_sent_ms = now_ms;
    }
    if (now_ms - executor->inventory_sent_ms >=
        executor->options.inventory_period_ms) {
        executor->inventory_sent_ms = now_ms;
    }
}

static void send_delta(struct executor *executor)
{
    executor->request_sent_ms = executor_now_ms(executor); /* or was tried */
    if (!executor->transport->lease_has_room(executor->transport)) {
        return; /* the delta grows meanwhile */
    }
    struct lease_request request = {
        .executor_id = executor->options.id,
        .pool = executor->options.pool,
        .is_held = true,
        .is_delta = true,
        .instance = executor->options.instance,
        .added = executor->added.items,
        .added_count = (uint32_t)executor->added.count,
        .removed = executor->removed.items,
        .removed_count = (uint32_t)executor->removed.count,
        .lease_max = lease_credit(executor, true),
    };

    if (!add_nodes(executor, &request)) {
        executor->transport->lease_cancel(executor->transport);
        return;
    }
    strbuf_clear(&executor->out);
    lease_request_encode(&request, &executor->arena, &executor->out);
    if (executor->transport->lease_send(executor->transport,
                                        strbuf_str(&executor->out))) {
        note_sent(executor, &request);
    }
}

void executor_run_exchange(struct executor *executor)
{
    const struct executor_options *options = &executor->options;
    int64_t now = executor_now_ms(executor);

    switch (executor->exchange) {
    case EXCHANGE_NONE:
        if (executor->is_listed && now >= executor->exchange_next_ms) {
            open_exchange(executor);
        }
        break;
    case EXCHANGE_OPEN:
        if (now - executor->exchange_started_ms >= options->lease_timeout_ms) {
            executor->transport->lease_cancel(executor->transport);
            executor->exchange_started_ms = now;
        }
        break;
    case EXCHANGE_HELD:
        if (now - executor->last_arrival_ms >= options->held_silence_ms) {
            executor->transport->lease_cancel(executor->transport);
            executor->last_arrival_ms = now;
        } else if (now >= delta_due_ms(executor)) {
            send_delta(executor);
        }
        break;
    }
}

int64_t executor_exchange_due_ms(const struct executor *executor)
{
    const struct executor_options *options = &executor->options;
    int64_t silence_ms, delta_ms;

    switch (executor->exchange) {
    case EXCHANGE_NONE:
        return executor->is_listed ? executor->exchange_next_ms : INT64_MAX;
    case EXCHANGE_OPEN:
        return executor->exchange_started_ms + options->lease_timeout_ms;
    case EXCHANGE_HELD:
        silence_ms = executor->last_arrival_ms + options->held_silence_ms;
        delta_ms = delta_due_ms(executor);
        return silence_ms < delta_ms ? silence_ms : delta_ms;
    }
    return INT64_MAX;
}
