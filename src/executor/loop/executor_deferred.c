/* Leases that wait until pods that are being stopped have left their node. */
#include "executor/loop/executor_private.h"

bool executor_defer(struct executor *executor, uint32_t index,
                    struct str node_name)
{
    struct run *run = &executor->runs.items[index];
    int64_t now_ms = executor_now_ms(executor);
    uint32_t node = node_capacity_node(executor->capacity, node_name);

    ASSERT(run->lease && !run->is_deferred);
    if (run->deferred_until_ms == 0) {
        run->deferred_until_ms = now_ms + executor->options.room_wait_ms_max;
    }
    if (now_ms >= run->deferred_until_ms) {
        return false;
    }
    run->is_deferred = true;
    executor->deferred_count++;
    VEC_PUSH(&executor->deferred,
             (struct deferred_run){
                 run->row.id, run->deferred_until_ms, node,
                 node_capacity_freed_count(executor->capacity, node)});
    return true;
}

void executor_undefer(struct executor *executor, struct run *run)
{
    if (run->is_deferred) {
        ASSERT(executor->deferred_count > 0);
        executor->deferred_count--;
        run->is_deferred = false;
    }
}

int64_t executor_deferred_due_ms(const struct executor *executor)
{
    int64_t at_ms = INT64_MAX;

    for (size_t i = 0; i < executor->deferred.count; i++) {
        int64_t until_ms = executor->deferred.items[i].until_ms;
        at_ms = until_ms < at_ms ? until_ms : at_ms;
    }
    return at_ms;
}

/* Whether there is reason to try again. */
static bool is_due(const struct executor *executor,
                   const struct deferred_run *deferred)
{
    return deferred->until_ms <= executor_now_ms(executor) ||
           deferred->freed_count !=
               node_capacity_freed_count(executor->capacity, deferred->node);
}

void executor_try_deferred(struct executor *executor)
{
    size_t kept = 0;

    for (size_t i = 0; i < executor->deferred.count; i++) {
        struct deferred_run deferred = executor->deferred.items[i];
        uint32_t index;
        if (!is_due(executor, &deferred)) {
            executor->deferred.items[kept++] = deferred;
            continue;
        }
        struct run *run = executor_find(executor, deferred.id, &index);
        if (run && run->is_deferred) { /* its lease is not gone meanwhile */
            executor_undefer(executor, run);
            executor_mark(executor, index);
        }
    }
    executor->deferred.count = kept;
}
