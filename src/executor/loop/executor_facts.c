/* Facts of pods that live, on their way to the server. */
#include "executor/loop/executor_private.h"

void executor_queue_facts(struct executor *executor, struct run_id id)
{
    uint32_t index;
    struct run *run = executor_find(executor, id, &index);

    if (!run || !run->has_pod || run->has_facts || run->row.is_foreign) {
        return;
    }
    if (executor->queued.count + executor->facts.count == 0) {
        executor->queued_since_ms = executor_now_ms(executor);
    }
    run->has_facts = true;
    VEC_PUSH(&executor->facts, id);
}

/* Add those of one run; what they are is asked for only now. */
static void add_facts(struct executor *executor, uint32_t index)
{
    const struct run *run = &executor->runs.items[index];
    struct runtime_status status;

    if (!executor->runtime->ops->status(executor->runtime, run->row.id,
                                        &executor->arena, &status)) {
        return;
    }
    struct report_run told = executor_told(executor, run);
    told.status = &status;
    report_add_facts(&executor->report, &told, executor_wall_ms(executor));
}

void executor_add_facts(struct executor *executor, uint32_t event_max)
{
    size_t taken = 0;

    ASSERT(executor->facts_flying.count == 0);
    for (; taken < executor->facts.count &&
           executor->report.event_count < event_max;
         taken++) {
        struct run_id id = executor->facts.items[taken];
        uint32_t index;
        struct run *run = executor_find(executor, id, &index);
        if (run && run->has_facts) {
            run->has_facts = false;
            add_facts(executor, index);
            VEC_PUSH(&executor->facts_flying, id);
        }
    }
    if (taken == 0) {
        return;
    }
    executor->facts.count -= taken;
    memmove(executor->facts.items, executor->facts.items + taken,
            executor->facts.count * sizeof(*executor->facts.items));
}

void executor_facts_done(struct executor *executor, bool is_ok)
{
    for (size_t i = 0; !is_ok && i < executor->facts_flying.count; i++) {
        executor_queue_facts(executor, executor->facts_flying.items[i]);
    }
    executor->facts_flying.count = 0;
}
