/* Plays a course from moment to moment. */
#include "control/state/state.h"
#include "control/what_if/private.h"

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
    ASSERT(past_ms >= 0 && pause_ms <= WHAT_IF_SPAN_MS_MAX);
    return pause_ms > 1 ? pause_ms : 1; /* time goes on */
}

static int play_moments(struct what_if *what_if, int64_t span_ms,
                        bool *ret_has_first, struct err *err)
{
    int64_t pause_ms = 0;

    for (;;) {
        int rc = play_moment(what_if, &pause_ms, err);
        if (rc == 0 && !*ret_has_first) {
            *ret_has_first = true;
            rc = what_if_explain_submitted(what_if, err);
        }
        if (rc < 0) {
            return rc;
        }
        what_if->span_ms = what_if->now_ms - what_if->began_ms;
        if (what_if->span_ms >= span_ms ||
            (what_if->is_for_waiting && what_if->unstarted_count == 0)) {
            return 0;
        }
        rc = what_if_check(what_if, err);
        if (rc < 0) {
            return rc;
        }
        what_if_move(what_if, pause_until(what_if, pause_ms, span_ms));
    }
}

int what_if_play(struct what_if *what_if, int64_t span_ms, struct err *err)
{
    bool has_first = false;

    ASSERT(span_ms >= 0 && span_ms <= WHAT_IF_SPAN_MS_MAX);
    int rc = play_moments(what_if, span_ms, &has_first, err);
    if (rc == -ERR_LIMIT && what_if->is_cut && has_first) {
        rc = 0; /* the moment that it was cut in is after span_ms */
    }
    ASSERT(rc < 0 || what_if->is_cut || what_if->is_for_waiting ||
           what_if->span_ms >= span_ms);
    return rc < 0 ? rc : what_if_note_last(what_if, err);
}

int what_if_play_waiting(struct what_if *what_if, int64_t span_ms,
                         struct err *err)
{
    what_if->is_for_waiting = true;
    return what_if_play(what_if, span_ms, err);
}
