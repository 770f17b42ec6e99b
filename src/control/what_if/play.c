/* Plays a course from moment to moment. */
#include "control/state/state.h"
#include "control/what_if/private.h"

/* What is left of the time to work in. */
struct effort {
    const struct what_if_bounds *bounds;
    uint64_t began_ns;
};

static bool is_stopped(const struct what_if_bounds *bounds)
{
    return bounds->is_stopping &&
           __atomic_load_n(bounds->is_stopping, __ATOMIC_RELAXED);
}

static bool is_spent(const struct effort *effort)
{
    const struct clock *clock = effort->bounds->clock;

    return clock && clock->mono_ns(clock) - effort->began_ns >
                        (uint64_t)WHAT_IF_WORK_MS_MAX * NS_PER_MS;
}

/* All that happens at this moment; when the leader has something to do next, in
 * ms from now. */
static int play_moment(struct what_if *what_if, int64_t *ret_pause_ms,
                       struct err *err)
{
    uint64_t due_ns;
    int rc = what_if_end_runs(what_if, err);
    bool has_news = true;

    while (rc == 0 && has_news) {
        rc = what_if_rest(what_if, &due_ns, err);
        if (rc == 0) {
            rc = what_if_note_news(what_if, err);
            has_news = rc == 1;
        }
        rc = rc < 0 ? rc : what_if_report(what_if, err);
    }
    if (rc == 0) {
        uint64_t pause_ms = due_ns / NS_PER_MS + (due_ns % NS_PER_MS != 0);
        *ret_pause_ms = pause_ms < WHAT_IF_SPAN_MS_MAX ? (int64_t)pause_ms
                                                       : WHAT_IF_SPAN_MS_MAX;
    }
    return rc;
}

/* How long nothing happens, at most to the end of the course. */
static int64_t pause_until(const struct what_if *what_if, int64_t pause_ms,
                           int64_t span_ms)
{
    int64_t past_ms = what_if->now_ms - what_if->began_ms;
    int64_t end_ms = what_if_next_end(what_if);

    if (end_ms != INT64_MAX && end_ms - past_ms < pause_ms) {
        pause_ms = end_ms - past_ms;
    }
    if (span_ms - past_ms < pause_ms) {
        pause_ms = span_ms - past_ms;
    }
    return pause_ms > 1 ? pause_ms : 1; /* time goes on */
}

int what_if_play(struct what_if *what_if, const struct what_if_bounds *bounds,
                 struct err *err)
{
    const struct clock *clock = bounds->clock;
    struct effort effort = {bounds, clock ? clock->mono_ns(clock) : 0};
    int64_t pause_ms = 0;

    ASSERT(bounds->span_ms >= 0 && bounds->span_ms <= WHAT_IF_SPAN_MS_MAX);
    for (;;) {
        if (is_stopped(bounds)) {
            return err_set(err, -ERR_UNAVAILABLE, "the server is stopping");
        }
        int rc = play_moment(what_if, &pause_ms, err);
        if (rc < 0) {
            return rc;
        }
        what_if->span_ms = what_if->now_ms - what_if->began_ms;
        if (what_if->span_ms >= bounds->span_ms) {
            break;
        }
        if (is_spent(&effort)) {
            what_if->is_cut = true;
            break;
        }
        what_if_move(what_if, pause_until(what_if, pause_ms, bounds->span_ms));
    }
    what_if_note_last(what_if);
    return 0;
}
