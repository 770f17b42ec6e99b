/* What is due to a job becomes events of the batch. */
#include "control/decide/decide.h"
#include "control/state/state.h"

void batch_add_decisions(struct batch *batch,
                         const struct job_decisions *decisions)
{
    ASSERT(!batch->is_in_flight); /* what is in flight is decided */
    for (uint32_t i = 0; i < decisions->event_count; i++) {
        ASSERT(decisions->events[i].created_ms == batch->time_ms);
        log_batch_add(&batch->log, &decisions->scope, &decisions->events[i]);
    }
    batch->decision_count += decisions->event_count > 0;
}

bool batch_add_due(struct control *c, uint32_t job)
{
    struct job_rules rules = {
        .retries_max = c->policy->policy.retries_max,
        .now_ms = c->batch.time_ms,
    };
    struct job_decisions decisions;

    /* A run that ends in the batch decides first. */
    ASSERT(!batch_is_touched(&c->batch, job));
    job_due(c->jobs, job, &rules, &c->batch.arena, &decisions);
    if (decisions.event_count == 0) {
        return false;
    }
    batch_add_decisions(&c->batch, &decisions);
    VEC_PUSH(&c->batch.due, job);
    if (decisions.events[decisions.event_count - 1].type !=
        EVENT_REPRIORITISED) {
        batch_touch(&c->batch, job);
    }
    if (decisions.events[0].type == EVENT_RUN_PREEMPTED) {
        struct job_view view;
        jobs_get(c->jobs, job, &view);
        batch_leave(c, view.gang_index);
    }
    return true;
}
