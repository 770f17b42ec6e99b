/* The table of executors. */

#include "control/fold/executors.h"

#include "control/state/state.h"

struct control_executor *control_find_executor(const struct control *c,
                                               struct str id)
{
    uint32_t index = intern_find(&c->executor_names, id);

    return index == INTERN_NONE ? NULL : c->executors.items[index];
}

uint32_t executor_index(const struct control *c,
                        const struct control_executor *executor)
{
    uint32_t index = intern_find(&c->executor_names, executor->id);

    ASSERT(c->executors.items[index] == executor); /* one of each name */
    return index;
}

struct control_executor *executor_get(struct control *c, struct str id)
{
    struct control_executor *executor = control_find_executor(c, id);

    if (executor) {
        return executor;
    }
    uint32_t index = intern_add(&c->executor_names, id);
    while (c->executors.count <= index) {
        VEC_PUSH(&c->executors, NULL);
    }
    executor = mem_alloc(sizeof(*executor));
    executor->id = intern_get(&c->executor_names, index);
    executor->accepts = true; /* as the scheduler takes it */
    executor->heard_ns = control_mono_ns(c);
    c->executors.items[index] = executor;
    return executor;
}

int64_t executor_silent_ms(const struct control *c,
                           const struct control_executor *executor)
{
    return (int64_t)((control_mono_ns(c) - executor->heard_ns) / NS_PER_MS);
}

bool executor_is_silent(const struct control *c,
                        const struct control_executor *executor)
{
    int64_t beat_ms = (int64_t)(executor->gap_ns / NS_PER_MS);

    beat_ms = beat_ms > EXECUTOR_BEAT_MS ? beat_ms : EXECUTOR_BEAT_MS;
    return executor_silent_ms(c, executor) >= EXECUTOR_BEATS_MISSED * beat_ms;
}

static void executor_free(struct control_executor *executor)
{
    for (size_t k = 0; k < executor->nodes.count; k++) {
        mem_free(executor->nodes.items[k].bytes);
    }
    intern_fini(&executor->node_names);
    VEC_FREE(&executor->nodes);
    VEC_FREE(&executor->unsent);
    VEC_FREE(&executor->cancels);
    mem_free(executor->cordon_reason);
    mem_free(executor->pool);
    mem_free(executor->pending.bytes);
    mem_free(executor->protected.bytes);
    mem_free(executor);
}

void executor_drop_if_unused(struct control *c,
                             struct control_executor *executor)
{
    uint32_t index = executor_index(c, executor);

    if (executor->is_known || executor->has_settings || executor->is_in_batch ||
        executor->session || executor->unacknowledged_count > 0 ||
        !executor->accepts ||
        jobs_next_on_executor(c->jobs, executor->id, JOBS_NONE) != JOBS_NONE) {
        return;
    }
    ASSERT(executor->node_count == 0); /* without a record it has none */
    executor_free(executor);
    c->executors.items[index] = NULL;
    intern_unref(&c->executor_names, index);
}

void executors_fini(struct control *c)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            executor_free(c->executors.items[i]);
        }
    }
    VEC_FREE(&c->executors);
    intern_fini(&c->executor_names);
    c->metrics.node_count = 0;
    c->conflict_count = 0;
    memset(c->window_table.node_counts, 0, sizeof(c->window_table.node_counts));
}

/* An executor at its limit of unacknowledged leases is closed until a quarter
 * of them is acknowledged: to open and close costs the scheduler a look at
 * all of its nodes. */
static bool has_room(const struct control *c,
                     const struct control_executor *executor)
{
    uint32_t max = c->policy->policy.unacknowledged_max;

    return max == 0 || executor->unacknowledged_count <
                           (executor->accepts ? max : max - max / 4);
}

void executor_sync(struct control *c, struct control_executor *executor)
{
    bool accepts = executor->state == EXECUTOR_LIVE && !executor->is_cordoned &&
                   has_room(c, executor);

    if (accepts != executor->accepts) {
        executor->accepts = accepts;
        pools_executor_set(c->pools, executor->id, accepts);
        c->is_plan_wanted |= accepts;
        c->is_balance_wanted |= accepts;
    }
}
