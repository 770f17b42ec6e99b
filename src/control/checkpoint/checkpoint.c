/* Decides when to write a checkpoint, and how much of the log to prune after
 * it; gives the same bytes to who asks what would happen. */

#include "control/checkpoint/checkpoint.h"

#include "control/round/rounds.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

enum {
    US_NS = 1000,
    SNAPSHOT_JOBS = 8192, /* encoded in a step: about a millisecond */
};

int control_checkpoint(struct control *c, struct err *err)
{
    auto_strbuf bytes = strbuf_make(SIZE_MAX / 2);

    if (c->state != CONTROL_LEADING || c->checkpoint_seq == c->seq) {
        return 0;
    }
    rounds_abandon(c);
    checkpoint_abandon(c);
    checkpoint_encode(c, &bytes, true);
    int rc =
        elog_checkpoint_put(c->config.log, c->seq, CONTROL_CHECKPOINT_VERSION,
                            strbuf_str(&bytes), err);
    if (rc == 0) {
        c->checkpoint_seq = c->seq;
        c->events_since_checkpoint = 0;
    }
    return rc;
}

/* Begin one that is encoded while the leader goes on: what changes meanwhile
 * is written before it does. */
static void begin(struct control *c)
{
    ASSERT(!c->is_snapshot_open);
    c->snapshot = strbuf_make(SIZE_MAX / 2);
    c->is_snapshot_open = true;
    c->is_snapshot_for_what_if = false;
    c->snapshot_seq = c->seq;
    c->snapshot_pause_us = 0;
    checkpoint_encode_head(c, &c->snapshot, true);
    jobs_snapshot_begin(c->jobs, &c->snapshot);
}

void checkpoint_abandon(struct control *c)
{
    if (c->is_snapshot_open) {
        jobs_snapshot_end(c->jobs);
        strbuf_fini(&c->snapshot);
        c->is_snapshot_open = false;
    }
}

/* The newest record that is older than what is kept.  The log's time may be
 * ahead of the clock's, once that was: then the clock's counts. */
static void find_trim(struct control *c)
{
    const struct control_hooks *hooks = &c->config.hooks;
    int64_t wall_ms = c->config.clock->wall_ms(c->config.clock);
    int64_t now_ms = wall_ms < c->now_ms ? wall_ms : c->now_ms;
    size_t old_count = 0;

    if (c->config.retention_ms == 0 ||
        (hooks->may_trim && !hooks->may_trim(hooks->ctx))) {
        return;
    }
    while (old_count < c->marks.count && c->marks.items[old_count].time_ms <
                                             now_ms - c->config.retention_ms) {
        c->trim_seq = c->marks.items[old_count++].seq;
    }
    if (old_count > 1) { /* the last of them says where we are */
        c->marks.count -= old_count - 1;
        memmove(c->marks.items, c->marks.items + old_count - 1,
                c->marks.count * sizeof(*c->marks.items));
    }
}

static void trim_some(struct control *c)
{
    const struct control_hooks *hooks = &c->config.hooks;
    uint64_t before_seq = c->trim_seq;
    uint64_t first_seq;
    struct err err;

    ASSERT(before_seq <= c->checkpoint_seq); /* who starts needs the rest */
    if (hooks->stored_seq && hooks->stored_seq(hooks->ctx) < before_seq) {
        before_seq = hooks->stored_seq(hooks->ctx);
    }
    int rc = elog_trim(c->config.log, before_seq, &first_seq, &err);
    if (rc < 0 || first_seq >= before_seq || first_seq == c->trimmed_seq) {
        c->trim_seq = 0; /* until the next checkpoint */
    }
    c->trimmed_seq = rc < 0 ? 0 : first_seq;
}

/* Count the time since `began_ns` as a pause of the leader. */
static void note_pause(struct control *c, uint64_t began_ns)
{
    uint32_t us = (uint32_t)((control_mono_ns(c) - began_ns) / US_NS);

    c->snapshot_pause_us =
        us > c->snapshot_pause_us ? us : c->snapshot_pause_us;
}

/* Begin one for who waits for a state, unless another is being encoded, or the
 * planner's state is not the log's. */
static void begin_for_what_if(struct control *c)
{
    uint64_t began_ns = control_mono_ns(c);

    if (!c->what_if || c->is_snapshot_open || c->batch.is_in_flight) {
        return;
    }
    if (pools_is_any_busy(c->pools)) {
        c->holds_plans = true; /* it is made as soon as all are back */
        return;
    }
    begin(c);
    c->is_snapshot_for_what_if = true;
    c->snapshot_ms = control_now_ms(c);
    note_pause(c, began_ns);
}

static void give_what_if(struct control *c)
{
    const struct control_hooks *hooks = &c->config.hooks;
    size_t byte_count = c->snapshot.byte_count;

    c->metrics.what_if_count++;
    c->metrics.what_if_pause_us_last = c->snapshot_pause_us;
    hooks->what_if(hooks->ctx, steal_ptr(c->what_if),
                   strbuf_steal(&c->snapshot), byte_count, c->snapshot_ms);
}

/* Whether `command` has to give way to what is asked already. */
static bool is_second(const struct control *c, const struct command *command)
{
    return c->what_if &&
           (command->what_if.is_forecast || !c->what_if->what_if.is_forecast);
}

void what_if_take(struct control *c, struct command *command)
{
    if (!c->config.hooks.what_if) {
        command_answer(command, COMMAND_UNAVAILABLE,
                       "nobody answers such questions here");
    } else if (is_second(c, command)) {
        command_answer(command, COMMAND_OVERLOADED,
                       "another what-if is being answered; try again");
    } else if (jobs_count(c->jobs) > WHAT_IF_JOBS_MAX) {
        command_answer_full(command, WHAT_IF_JOBS_MAX, "jobs of a what-if");
    } else if (command->what_if.is_forecast &&
               jobs_counts(c->jobs).by_state[JOB_QUEUED] == 0) {
        command_answer(command, COMMAND_NOT_FOUND, "no job waits");
    } else {
        /* A state that is being made for a forecast serves it as well. */
        what_if_refuse(c, "a what-if goes before it");
        c->what_if = command;
    }
}

void what_if_refuse(struct control *c, const char *text)
{
    command_answer_all(steal_ptr(c->what_if), COMMAND_UNAVAILABLE, text);
}

static void finish(struct control *c)
{
    c->metrics.checkpoint_count++;
    c->metrics.checkpoint_pause_us_last = c->snapshot_pause_us;
    find_trim(c);
}

void checkpoint_go_on(struct control *c)
{
    const struct control_hooks *hooks = &c->config.hooks;
    uint64_t began_ns = control_mono_ns(c);

    if (!c->is_snapshot_open) {
        begin_for_what_if(c);
        return;
    }
    bool is_whole = jobs_snapshot_write(c->jobs, SNAPSHOT_JOBS);
    note_pause(c, began_ns);
    if (is_whole) {
        size_t byte_count = c->snapshot.byte_count;
        jobs_snapshot_end(c->jobs);
        c->is_snapshot_open = false;
        if (c->is_snapshot_for_what_if) {
            give_what_if(c);
            return;
        }
        ASSERT(c->snapshot_seq > c->checkpoint_seq);
        /* Should it not be stored, the log still goes by the one before: what
         * is trimmed is covered by a checkpoint that is there. */
        c->checkpoint_seq = c->snapshot_seq;
        hooks->checkpoint(hooks->ctx, c->snapshot_seq,
                          strbuf_steal(&c->snapshot), byte_count);
        finish(c);
    }
}

static bool is_due(const struct control *c)
{
    const struct control_hooks *hooks = &c->config.hooks;

    return c->state == CONTROL_LEADING && !c->is_snapshot_open &&
           c->events_since_checkpoint >= c->config.checkpoint_events &&
           (!hooks->may_checkpoint || hooks->may_checkpoint(hooks->ctx));
}

void checkpoint_if_due(struct control *c)
{
    struct err err;

    if (c->trim_seq) {
        trim_some(c);
    }
    begin_for_what_if(c);
    if (!is_due(c)) {
        return;
    }
    if (pools_is_any_busy(c->pools)) {
        c->holds_plans = true; /* it is made as soon as all are back */
        return;
    }
    uint64_t began_ns = control_mono_ns(c);
    if (c->config.hooks.checkpoint) {
        ASSERT(c->seq > c->checkpoint_seq); /* there is news since the last */
        begin(c);
        c->events_since_checkpoint = 0;
        note_pause(c, began_ns);
        return;
    }
    c->snapshot_pause_us = 0;
    if (control_checkpoint(c, &err) < 0) {
        /* The log goes on without; try again after as many events. */
        c->events_since_checkpoint = 0;
        return;
    }
    note_pause(c, began_ns);
    finish(c);
}
