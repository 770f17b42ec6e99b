/* What the runtime says of pods, and how a lease becomes one. */
#include <stdio.h>

#include "executor/loop/executor_private.h"
#include "wire/kube/pod.h"

enum { CHANGES_PER_POLL = 1024, POD_MILLI = 1000 };

/* Making pods. */

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

/* A node that says how many pods it takes has room for this one among them. */
static void add_pod(const struct node_record *node,
                    struct resource_list *request)
{
    if (node && resource_list_get(&node->total, STR("pods")) > 0) {
        /* Of a pod with RESOURCE_LIST_MAX others it is not counted. */
        (void)!resource_list_add(request, STR("pods"), POD_MILLI);
    }
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
    const struct node_record *nodes = node_set_all(
        executor->runtime->ops->nodes(executor->runtime), &node_count);
    add_pod(node_set_find(executor->runtime->ops->nodes(executor->runtime),
                          run->node_name),
            &request);
    if (!node_capacity_choose(executor->capacity, nodes, node_count,
                              run->node_name, &request, &node_name)) {
        return err_set(
            err, -ERR_UNAVAILABLE,
            "node %.*s no longer has room for the pod, and no equal node has",
            STR_ARG(run->node_name));
    }
    if (!node_capacity_is_free(executor->capacity, node_name, &request)) {
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
    node_capacity_take(executor->capacity, node_name, &request, &run->share);
    return 0;
}

/* The lease ends without a pod. */
static void end_lease(struct executor *executor, struct run *run,
                      enum reconcile_phase phase)
{
    node_capacity_drop(executor->capacity, &run->share);
    run->row.is_creating = false;
    run->row.phase = phase;
    run->created_ms = run->ended_ms = executor_wall_ms(executor);
    executor_drop_lease(executor, run);
}

static void return_lease(struct executor *executor, struct run *run,
                         struct str text)
{
    end_lease(executor, run, RECONCILE_FAILED);
    run->is_returned = true;
    run->text = str_dup(text);
    executor->stats.return_count++;
}

void executor_begin(struct executor *executor, uint32_t index)
{
    struct run *run = &executor->runs.items[index];
    struct err err = {""};

    ASSERT(run->lease && !run->row.is_creating);
    int rc = find_room(executor, index, &err);
    if (rc > 0) {
        return;
    }
    if (rc < 0) {
        return_lease(executor, run, str_of(err.text));
        executor_mark(executor, index);
        return;
    }
    struct runtime_run asked = {
        .run = run->row.id,
        .job = run->job,
        .queue = run->queue,
        .job_set = run->job_set,
        .user = run->user,
        .namespace_ = run->namespace_,
        .pod_name = run->pod_name,
        .node_name = run->node_name,
        .submit = run->lease->job,
    };
    run->row.is_creating = true;
    executor->may_have_changes = true;
    executor->runtime->ops->create(executor->runtime, &asked);
}

static void set_created(struct executor *executor, struct run *run,
                        struct str warnings)
{
    run->has_pod = true;
    run->row.is_creating = false;
    run->row.phase = RECONCILE_PENDING;
    run->created_ms = executor_wall_ms(executor);
    if (warnings.byte_count > 0) {
        run->warnings = str_dup(warnings);
    }
    executor->stats.create_count++;
    executor_drop_lease(executor, run);
    if (executor->is_ending) {
        run->row.want = RECONCILE_WANT_STOP;
    }
}

/* Its creation has ended; nothing happens to what was not being created. */
static void take_end_of_creation(struct executor *executor,
                                 const struct runtime_change *change)
{
    uint32_t index;
    struct run *run = executor_find(executor, change->run, &index);

    if (!run || !run->row.is_creating) {
        return;
    }
    switch ((int)change->kind) {
    case RUNTIME_CREATED:
        set_created(executor, run, change->text);
        break;
    case RUNTIME_KNOWN:
        /* It ran once and its pod is gone: never again. */
        end_lease(executor, run, RECONCILE_LOST);
        break;
    case RUNTIME_RETURNED:
        return_lease(executor, run, change->text);
        break;
    default:
        end_lease(executor, run, RECONCILE_FAILED);
        run->is_refused = true;
        run->text = str_dup(change->text);
        executor->stats.refuse_count++;
        break;
    }
    executor_mark(executor, index);
}

/* What becomes of pods. */

/* When a pod began that ended before anybody saw it run; 0: it never did. */
static int64_t began_ms(struct executor *executor, const struct run *run)
{
    struct runtime_status status;

    return executor->runtime->ops->status(executor->runtime, run->row.id,
                                          &executor->arena, &status)
               ? status.started_ms
               : 0;
}

static void take_phase(struct executor *executor,
                       const struct runtime_change *change)
{
    uint32_t index;
    struct run *run = executor_find(executor, change->run, &index);

    if (!run || !run->has_pod ||
        reconcile_rank(change->phase) <= reconcile_rank(run->row.phase)) {
        return;
    }
    run->row.phase = change->phase;
    if (change->phase == RECONCILE_RUNNING) {
        run->started_ms = executor_wall_ms(executor);
    } else if (reconcile_is_ended(change->phase)) {
        node_capacity_drop(executor->capacity, &run->share);
        run->ended_ms = executor_wall_ms(executor);
        run->started_ms =
            run->started_ms ? run->started_ms : began_ms(executor, run);
    }
    executor_mark(executor, index);
}

static void take_forgotten(struct executor *executor, struct run_id id)
{
    uint32_t index;
    struct run *run = executor_find(executor, id, &index);

    if (run && run->row.is_forgetting) {
        executor_remember(executor, id);
        executor_remove(executor, index);
    }
}

static void set_times(struct executor *executor, struct run *run)
{
    struct runtime_status status = {0};

    if (executor->runtime->ops->status(executor->runtime, run->row.id,
                                       &executor->arena, &status)) {
        run->created_ms = status.created_ms;
        run->started_ms = status.started_ms;
        run->ended_ms = status.ended_ms;
    }
    run->created_ms =
        run->created_ms ? run->created_ms : executor_wall_ms(executor);
    run->ended_ms = run->ended_ms ? run->ended_ms : run->created_ms;
}

/* A pod of a run that we have without one: its lease waits, or it went back
 * because nobody could tell whether there is a pod.  Then its end was told, and
 * it is given up. */
static void meet_pod(struct executor *executor, struct run *run,
                     const struct runtime_pod *pod)
{
    run->has_pod = true;
    if (run->row.phase != RECONCILE_NEVER) {
        return;
    }
    run->row.is_creating = false;
    run->row.phase = pod->phase;
    executor_drop_lease(executor, run);
    set_times(executor, run);
}

/* A pod that was there before us, or that we did not expect. */
static void adopt(void *ctx, const struct runtime_pod *pod)
{
    struct executor *executor = ctx;
    uint32_t index;
    struct run *run = executor_find(executor, pod->run, &index);

    if (pod->phase == RECONCILE_FORGOTTEN) {
        executor_remember(executor, pod->run);
        return;
    }
    if (run) {
        meet_pod(executor, run, pod);
        executor_mark(executor, index);
        return;
    }
    index = executor_add(executor, pod->run, pod->job,
                         (const struct str[RUN_TEXTS]){
                             [RUN_QUEUE] = pod->queue,
                             [RUN_JOB_SET] = pod->job_set,
                             [RUN_NAMESPACE] = pod->namespace_,
                             [RUN_POD_NAME] = pod->pod_name,
                             [RUN_NODE_NAME] = pod->node_name,
                             [RUN_POOL] = executor->options.pool,
                         });
    run = &executor->runs.items[index];
    run->has_pod = true;
    run->row.phase = pod->phase;
    run->row.acked = pod->acked;
    run->row.is_foreign = pod->is_foreign;
    if (map_find(&executor->is_forgotten, pod->run.v) != MAP_NONE) {
        run->row.want = RECONCILE_WANT_STOP;
    }
    set_times(executor, run);
}

static void take_change(struct executor *executor,
                        const struct runtime_change *change)
{
    switch (change->kind) {
    case RUNTIME_LISTED:
        executor->is_listed = true;
        executor->runtime->ops->list(executor->runtime, adopt, executor);
        break;
    case RUNTIME_APPEARED:
        adopt(executor, change->pod);
        break;
    case RUNTIME_CREATED:
    case RUNTIME_KNOWN:
    case RUNTIME_RETURNED:
    case RUNTIME_REFUSED:
        take_end_of_creation(executor, change);
        break;
    case RUNTIME_PHASE:
        take_phase(executor, change);
        break;
    case RUNTIME_FACTS:
        executor_queue_facts(executor, change->run);
        break;
    case RUNTIME_FORGOTTEN:
        take_forgotten(executor, change->run);
        break;
    }
}

void executor_take_changes(struct executor *executor)
{
    struct runtime_change changes[CHANGES_PER_POLL];
    uint32_t count;

    executor->may_have_changes = false;
    do {
        count = executor->runtime->ops->poll(executor->runtime, changes,
                                             CHANGES_PER_POLL);
        for (uint32_t i = 0; i < count; i++) {
            take_change(executor, &changes[i]);
        }
    } while (count == CHANGES_PER_POLL);
}
