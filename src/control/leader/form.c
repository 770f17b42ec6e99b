/* Forms the next batch on the state after the last, in this order: commands,
 * silence, due events, the scheduler's plan. */
#include "control/decide/decide.h"
#include "control/leader/leader.h"
#include "control/round/rounds.h"
#include "control/state/state.h"

static void add_due(struct control *c)
{
    uint32_t count;

    jobs_expire(c->jobs, c->batch.time_ms);
    auto_mem uint32_t *dirty =
        jobs_take_dirty(c->jobs, CONTROL_DECISIONS_MAX, &count);

    for (uint32_t i = 0; i < count; i++) {
        /* A run that ends in this batch decides first; errors are long. */
        if (batch_is_touched(&c->batch, dirty[i]) ||
            log_batch_bytes(&c->batch.log) > 2 * CONTROL_BATCH_BYTES) {
            jobs_mark_dirty(c->jobs, dirty[i]);
        } else {
            batch_add_due(c, dirty[i]);
        }
    }
}

bool batch_form(struct control *c)
{
    struct batch *batch = &c->batch;

    /* The next is decided on the state after the last. */
    ASSERT(!batch->is_in_flight && c->state == CONTROL_LEADING);
    batch_clear(batch);
    c->form_no++;
    batch->log.buf.byte_count_max = CONTROL_BATCH_BYTES_MAX;
    batch->on_seq = c->seq;
    batch->time_ms = control_now_ms(c);
    ASSERT(batch->time_ms >= c->now_ms); /* records do not go back */
    round_log_open(c);
    batch_take_commands(c);
    if (control_mono_ns(c) >= c->retry_ns) {
        batch_add_silence(c);
        add_due(c);
        batch_add_groups(c);
        batch_end_members(c);
        batch_end_unschedulable(c);
        /* Plans are for nodes as they will be, and in the pools in which. */
        bool has_ended = !batch->changes_windows && batch_add_windows(c);
        bool may_plan =
            !batch_add_health(c) && !has_ended && !batch->moves_nodes;
        if (may_plan && (!c->config.plans_alone || round_log_is_all(c))) {
            rounds_add(c);
        }
    }
    ASSERT(batch->quiet_count <= batch->log.event_count);
    if (round_log_is_all(c)) {
        ASSERT(!batch->first); /* who waits for it, waits for a record */
        round_log_defer(c);
        return false;
    }
    return true;
}
