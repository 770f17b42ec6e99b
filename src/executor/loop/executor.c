#include <stdio.h>

#include "executor/loop/executor_private.h"
#include "wire/kube/pod.h"

enum {
    CHANGES_PER_POLL = 1024,
    PLAN_ROUNDS_MAX = 4,
    TEXT_BYTES_MAX = 8192,
};

void executor_options_default(struct executor_options *ret_options)
{
    *ret_options = (struct executor_options){
        .id = STR("local"),
        .pool = STR("default"),
        .has_held_stream = true,
        .lease_period_ms = 5000,
        .lease_retry_ms = 1000,
        .lease_timeout_ms = 30000,
        .held_silence_ms = 150000,
        .lease_max = 100,
        .held_lease_max = 4096,
        .create_max = 4096,
        .room_wait_ms_max = 600000,
        .report_events_max = 200,
        .held_report_events_max = 2000,
        .report_delay_ms = 2000,
        .held_report_delay_ms = 5,
        .report_retry_ms = 1000,
        .report_retry_ms_max = 30000,
        .alive_period_ms = 5000,
        .inventory_period_ms = 60000,
    };
}

static void take_change(struct executor *executor,
                        const struct runtime_change *change)
{
    uint32_t index;
    struct run *run = executor_find(executor, change->run, &index);

    if (!run ||
        reconcile_rank(change->phase) <= reconcile_rank(run->row.phase)) {
        return;
    }
    run->row.phase = change->phase;
    if (change->phase == RECONCILE_RUNNING) {
        run->started_ms = executor_wall_ms(executor);
    } else if (reconcile_is_ended(change->phase)) {
        room_drop(executor->room, &run->share);
        run->ended_ms = executor_wall_ms(executor);
    }
    executor_mark(executor, index);
}

static void take_changes(struct executor *executor)
{
    struct runtime_change changes[CHANGES_PER_POLL];
    uint32_t count;

    do {
        count = executor->runtime->ops->poll(executor->runtime, changes,
                                             CHANGES_PER_POLL);
        for (uint32_t i = 0; i < count; i++) {
            take_change(executor, &changes[i]);
        }
    } while (count == CHANGES_PER_POLL);
}

/* A pod that was there before us. */
static void adopt(void *ctx, const struct runtime_pod *pod)
{
    struct executor *executor = ctx;
    struct runtime_status status = {0};

    if (pod->phase == RECONCILE_FORGOTTEN) {
        executor_remember(executor, pod->run);
        return;
    }
    uint32_t index = executor_add(
        executor, pod->run, pod->job,
        (struct str[]){pod->queue, pod->job_set, pod->namespace_,
                       pod->node_name, executor->options.pool, STR("")});
    struct run *run = &executor->runs.items[index];
    run->row.phase = pod->phase;
    run->row.acked = pod->acked;
    run->row.is_foreign = pod->is_foreign;
    if (executor->runtime->ops->status(executor->runtime, pod->run,
                                       &executor->arena, &status)) {
        run->created_ms = status.created_ms;
        run->started_ms = status.started_ms;
        run->ended_ms = status.ended_ms;
    }
    run->created_ms =
        run->created_ms ? run->created_ms : executor_wall_ms(executor);
    run->ended_ms = run->ended_ms ? run->ended_ms : run->created_ms;
    arena_reset(&executor->arena);
}

static void set_refused(struct executor *executor, struct run *run, int rc,
                        const struct err *err)
{
    run->row.phase = RECONCILE_FAILED;
    run->ended_ms = executor_wall_ms(executor);
    if (rc == -ERR_CONFLICT) {
        /* It ran once and its pod is gone: never again. */
        run->row.phase = RECONCILE_LOST;
        return;
    }
    run->is_refused = rc == -ERR_INVALID;
    run->is_returned = !run->is_refused;
    run->text = mem_strdup(err->text);
    executor->stats.refuse_count += run->is_refused;
    executor->stats.return_count += run->is_returned;
}

/* What the pod of a lease asks for; false: that does not read, and the
 * runtime will say so. */
static bool request_of(struct executor *executor, const struct run *run,
                       struct resource_list *ret_request)
{
    const Armadaevents__KubernetesMainObject *main =
        run->lease->job->mainobject;
    struct requirement requirement;
    struct err err;

    if (!main ||
        main->object_case !=
            ARMADAEVENTS__KUBERNETES_MAIN_OBJECT__OBJECT_POD_SPEC ||
        !main->pod_spec->pod_spec ||
        pod_requirement(main->pod_spec->pod_spec, &executor->arena,
                        &requirement, &err) < 0) {
        return false;
    }
    *ret_request = requirement.requests;
    return true;
}

/* Find the pod a node that has room for it: that of the lease, or an equal
 * one.  1: it will have, and the lease waits. */
static int find_room(struct executor *executor, uint32_t index, struct err *err)
{
    struct run *run = &executor->runs.items[index];
    struct resource_list request;
    struct str node_name;
    uint32_t node_count;

    if (!run->node_name.byte_count || !request_of(executor, run, &request)) {
        return 0;
    }
    const struct node_record *nodes =
        executor->runtime->ops->nodes(executor->runtime, &node_count);
    if (!room_choose(executor->room, nodes, node_count, run->node_name,
                     &request, &node_name)) {
        return err_set(
            err, -ERR_UNAVAILABLE,
            "node %.*s no longer has room for the pod, and no equal node has",
            STR_ARG(run->node_name));
    }
    if (!room_is_free(executor->room, node_name, &request)) {
        return executor_defer(executor, index, node_name)
                   ? 1
                   : err_set(err, -ERR_UNAVAILABLE,
                             "pods that were told to end still have the room "
                             "on node %.*s",
                             STR_ARG(node_name));
    }
    run->is_repacked = !str_equal(node_name, run->node_name);
    run->node_name = node_name;
    executor->stats.repack_count += run->is_repacked;
    room_take(executor->room, node_name, &request, &run->share);
    return 0;
}

static void do_create(struct executor *executor, uint32_t index)
{
    struct run *run = &executor->runs.items[index];
    auto_strbuf warnings = strbuf_make(TEXT_BYTES_MAX);
    struct err err = {""};
    char job[ID_TEXT_BYTES_MAX];
    char pod_name[ID_TEXT_BYTES_MAX + 16];
    int n = snprintf(pod_name, sizeof(pod_name), "armada-%s-0",
                     job_id_format(run->job, job));

    ASSERT(run->lease);
    int rc = find_room(executor, index, &err);
    if (rc > 0) {
        return;
    }
    struct runtime_run asked = {
        .run = run->row.id,
        .job = run->job,
        .queue = run->queue,
        .job_set = run->job_set,
        .user = run->user,
        .namespace_ = run->namespace_,
        .pod_name = str_make(pod_name, (size_t)n),
        .node_name = run->node_name,
        .submit = run->lease->job,
    };
    if (rc == 0) {
        rc = executor->runtime->ops->create(executor->runtime, &asked,
                                            &warnings, &err);
    }
    run->created_ms = executor_wall_ms(executor);
    if (warnings.byte_count > 0) {
        run->warnings = strbuf_steal(&warnings);
    }
    if (rc < 0) {
        room_drop(executor->room, &run->share);
        set_refused(executor, run, rc, &err);
    } else {
        run->row.phase = RECONCILE_PENDING;
        executor->stats.create_count++;
    }
    executor_drop_lease(executor, run);
    executor_mark(executor, index);
}

static void do_forget(struct executor *executor, uint32_t index)
{
    struct run *run = &executor->runs.items[index];

    if (run->row.phase != RECONCILE_NEVER) {
        executor->runtime->ops->forget(executor->runtime, run->row.id);
        executor_remember(executor, run->row.id);
    }
    executor_remove(executor, index);
}

static void do_action(struct executor *executor,
                      const struct reconcile_action *action)
{
    uint32_t index = executor->plan_indexes.items[action->row_index];
    struct run *run = &executor->runs.items[index];

    switch (action->kind) {
    case RECONCILE_STOP:
        run->row.is_stopping = true;
        executor->stats.stop_count++;
        executor->runtime->ops->stop(executor->runtime, run->row.id, -1);
        break;
    case RECONCILE_REPORT:
        executor_queue_note(executor, index, action->phase);
        break;
    case RECONCILE_FORGET:
        do_forget(executor, index);
        break;
    case RECONCILE_CREATE:
        do_create(executor, index);
        break;
    case RECONCILE_ACTION_KINDS:
        ASSERT(false);
    }
}

/* Rows that nobody wants anything of any more, with no pod of their own. */
static bool is_spent(const struct reconcile_row *row)
{
    return row->want == RECONCILE_WANT_NONE &&
           (row->phase == RECONCILE_NEVER || row->phase == RECONCILE_FORGOTTEN);
}

/* Plan for the touched rows and do it.  Rows that wait to be created for want
 * of `create_max` stay touched. */
static void plan_once(struct executor *executor)
{
    uint32_t runtime_max = executor->runtime->create_max;
    uint32_t creates_left = executor->options.create_max;

    if (runtime_max > 0 && runtime_max < creates_left) {
        creates_left = runtime_max;
    }
    executor->plan_rows.count = executor->plan_indexes.count = 0;
    for (size_t i = 0; i < executor->dirty.count; i++) {
        uint32_t index = executor->dirty.items[i];
        struct run *run = &executor->runs.items[index];
        if (!run->is_used || !run->is_dirty) {
            continue;
        }
        run->is_dirty = false;
        if (is_spent(&run->row)) {
            executor_remove(executor, index);
            continue;
        }
        VEC_PUSH(&executor->plan_rows, run->row);
        VEC_PUSH(&executor->plan_indexes, index);
    }
    executor->dirty.count = 0;
    uint32_t row_count = (uint32_t)executor->plan_rows.count;
    VEC_RESERVE(&executor->plan, 2 * (size_t)row_count);
    uint32_t count = reconcile_plan(executor->plan_rows.items, row_count,
                                    creates_left, executor->plan.items);
    for (uint32_t a = 0; a < count; a++) {
        creates_left -= executor->plan.items[a].kind == RECONCILE_CREATE;
        do_action(executor, &executor->plan.items[a]);
    }
    for (uint32_t i = 0; creates_left == 0 && i < row_count; i++) {
        uint32_t index = executor->plan_indexes.items[i];
        const struct run *run = &executor->runs.items[index];
        if (run->lease && !run->is_deferred) {
            executor_mark(executor, index);
        }
    }
}

/* The step. */

/* Answers whether there may be more. */
static bool take_arrivals(struct executor *executor)
{
    struct executor_arrival arrival;

    for (int i = 0; i < EXECUTOR_LEASES_PER_STEP_MAX; i++) {
        if (!executor->transport->next(executor->transport, &arrival)) {
            return false;
        }
        switch (arrival.kind) {
        case EXECUTOR_LEASE_MESSAGE:
            executor->last_arrival_ms = executor_now_ms(executor);
            executor_take_message(executor, arrival.bytes);
            break;
        case EXECUTOR_LEASE_ENDED:
            executor_exchange_ended(executor, &arrival);
            break;
        case EXECUTOR_REPORT_DONE:
            executor_report_done(executor, &arrival);
            break;
        }
    }
    return true;
}

static int64_t wake_in_ms(struct executor *executor)
{
    int64_t report_at_ms;
    int64_t at_ms = executor_exchange_due_ms(executor);
    int64_t runtime_at_ms =
        executor->runtime->ops->next_wake_ms(executor->runtime);

    (void)executor_is_report_due(executor, &report_at_ms);
    at_ms = report_at_ms < at_ms ? report_at_ms : at_ms;
    at_ms = runtime_at_ms < at_ms ? runtime_at_ms : at_ms;
    int64_t deferred_at_ms = executor_deferred_due_ms(executor);
    at_ms = deferred_at_ms < at_ms ? deferred_at_ms : at_ms;
    int64_t left_ms = at_ms - executor_now_ms(executor);
    return left_ms < 0 ? 0 : left_ms;
}

int64_t executor_step(struct executor *executor)
{
    bool has_more = take_arrivals(executor);
    int64_t report_at_ms;

    take_changes(executor);
    executor_try_deferred(executor);
    for (int round = 0; round < PLAN_ROUNDS_MAX && executor->dirty.count > 0;
         round++) {
        plan_once(executor);
    }
    if (executor_is_report_due(executor, &report_at_ms)) {
        executor_send_report(executor);
    }
    executor_run_exchange(executor);
    arena_reset(&executor->arena);
    return has_more || executor->dirty.count > 0 ? 0 : wake_in_ms(executor);
}

void executor_stop_all(struct executor *executor, int64_t grace_ms)
{
    executor->is_ending = true;
    for (uint32_t i = 0; i < executor->runs.count; i++) {
        const struct run *run = &executor->runs.items[i];
        if (run->is_used && run->lease) {
            executor_remove(executor, i); /* it has no pod yet */
        } else if (run->is_used && !run->row.is_foreign &&
                   !reconcile_is_ended(run->row.phase)) {
            executor->runtime->ops->stop(executor->runtime, run->row.id,
                                         grace_ms);
        }
    }
}

const struct executor_stats *executor_stats(const struct executor *executor)
{
    return &executor->stats;
}

struct executor *executor_create(const struct executor_options *options,
                                 const struct clock *clock,
                                 struct executor_transport *transport,
                                 struct runtime *runtime)
{
    struct executor *executor = mem_alloc(sizeof(*executor));

    executor->options = *options;
    executor->id = str_dup(options->id);
    executor->pool = str_dup(options->pool);
    executor->options.id = str_of(executor->id);
    executor->options.pool = str_of(executor->pool);
    executor->clock = clock;
    executor->transport = transport;
    executor->runtime = runtime;
    executor->report.classes = options->classes;
    executor->room = room_create();
    executor->forgotten =
        mem_alloc_array(EXECUTOR_FORGOTTEN_MAX, sizeof(*executor->forgotten));
    executor->out = strbuf_make(EXECUTOR_MESSAGE_BYTES_MAX);
    executor->exchange_next_ms = INT64_MIN / 2;
    runtime->ops->list(runtime, adopt, executor);
    return executor;
}

void executor_destroy(struct executor *executor)
{
    if (!executor) {
        return;
    }
    for (uint32_t i = 0; i < executor->runs.count; i++) {
        if (executor->runs.items[i].is_used) {
            executor_remove(executor, i);
        }
    }
    SLOTS_FREE(&executor->runs);
    room_destroy(executor->room);
    map_fini(&executor->by_id);
    map_fini(&executor->is_forgotten);
    mem_free(executor->forgotten);
    VEC_FREE(&executor->deferred);
    VEC_FREE(&executor->dirty);
    VEC_FREE(&executor->plan_rows);
    VEC_FREE(&executor->plan_indexes);
    VEC_FREE(&executor->plan);
    VEC_FREE(&executor->queued);
    VEC_FREE(&executor->flying);
    VEC_FREE(&executor->added);
    VEC_FREE(&executor->removed);
    report_fini(&executor->report);
    arena_fini(&executor->arena);
    strbuf_fini(&executor->out);
    mem_free(executor->id);
    mem_free(executor->pool);
    mem_free(executor);
}
