/* Forming the next batch, on the state after the last: commands, silence,
 * what is owed, the scheduler's plan; in this order. */
#include "control/decide/batch.h"

#include "control/fold/executors.h"
#include "control/fold/health.h"
#include "control/round/rounds.h"
#include "control/state/state.h"

bool batch_is_touched(const struct batch *batch, uint32_t job)
{
    return job / 64 < batch->touched.count &&
           (batch->touched.items[job / 64] >> (job % 64) & 1);
}

void batch_touch(struct batch *batch, uint32_t job)
{
    while (batch->touched.count <= job / 64) {
        VEC_PUSH(&batch->touched, 0);
    }
    batch->touched.items[job / 64] |= (uint64_t)1 << (job % 64);
    VEC_PUSH(&batch->touched_jobs, job);
}

void batch_clear(struct batch *batch)
{
    for (size_t i = 0; i < batch->touched_jobs.count; i++) {
        batch->touched.items[batch->touched_jobs.items[i] / 64] = 0;
    }
    batch->touched_jobs.count = 0;
    batch->leaving.count = 0;
    batch->owed.count = 0;
    batch->planned.count = 0;
    batch->quiet_count = 0;
    batch->fresh.count = 0;
    map_fini(&batch->fresh_by_key);
    log_batch_clear(&batch->log);
    arena_reset(&batch->arena);
    batch->first = batch->last = NULL;
    batch->decision_count = 0;
    batch->submit_count = 0;
    batch->fresh_node_count = 0;
    batch->is_in_flight = batch->is_told = batch->is_announcement = false;
    batch->changes_pools = batch->moves_nodes = batch->is_counted = false;
    batch->deletes_a_queue = batch->has_training = false;
}

void batch_keep(struct batch *batch, struct command *command)
{
    command->next = NULL;
    if (batch->last) {
        batch->last->next = command;
    } else {
        batch->first = command;
    }
    batch->last = command;
}

void batch_add_decisions(struct batch *batch,
                         const struct job_decisions *decisions)
{
    for (uint32_t i = 0; i < decisions->event_count; i++) {
        log_batch_add(&batch->log, &decisions->scope, &decisions->events[i]);
    }
    batch->decision_count += decisions->event_count > 0;
}

bool batch_add_owed(struct control *c, uint32_t job)
{
    struct job_rules rules = {
        .retries_max = c->policy->policy.retries_max,
        .now_ms = c->batch.time_ms,
    };
    struct job_decisions decisions;

    job_owed(c->jobs, job, &rules, &c->batch.arena, &decisions);
    if (decisions.event_count == 0) {
        return false;
    }
    batch_add_decisions(&c->batch, &decisions);
    VEC_PUSH(&c->batch.owed, job);
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

static void add_owed(struct control *c)
{
    uint32_t count;
    auto_mem uint32_t *dirty =
        jobs_take_dirty(c->jobs, CONTROL_DECISIONS_MAX, &count);

    for (uint32_t i = 0; i < count; i++) {
        /* A run that ends in this batch decides first; errors are long. */
        if (batch_is_touched(&c->batch, dirty[i]) ||
            log_batch_bytes(&c->batch.log) > 2 * CONTROL_BATCH_BYTES) {
            jobs_mark_dirty(c->jobs, dirty[i]);
        } else {
            batch_add_owed(c, dirty[i]);
        }
    }
}

bool batch_form(struct control *c)
{
    struct batch *batch = &c->batch;

    batch_clear(batch);
    c->form_no++;
    batch->log.buf.byte_count_max = CONTROL_BATCH_BYTES_MAX;
    batch->time_ms = control_now_ms(c);
    facts_open(c);
    batch_take_commands(c);
    if (control_mono_ns(c) >= c->retry_ns) {
        batch_add_silence(c);
        add_owed(c);
        batch_add_groups(c);
        batch_end_members(c);
        batch_end_unschedulable(c);
        /* Plans are for nodes as they will be, and in the pools in which. */
        bool may_plan = !batch_add_health(c) && !batch->moves_nodes;
        if (may_plan && (!c->config.plans_alone || facts_are_all(c))) {
            rounds_add(c);
        }
    }
    if (facts_are_all(c)) {
        facts_pass(c);
        return false;
    }
    return true;
}
