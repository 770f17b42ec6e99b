/*
 * what_if - plays a course of events on a copy of the leader, and compares two
 * (control/command/what_if.h).
 *
 * A course begins with the bytes of a checkpoint and runs the leader's own
 * step over a log in memory, on a clock of its own that jumps from one moment
 * at which something is to be done to the next.  It knows the leader that it is
 * a copy of by those bytes alone, so it may be played by any thread.
 *
 * Threads: each course has one owner.
 */
#pragma once

#include "base/clock.h"
#include "control/command/command.h"
#include "control/command/forecasts.h"

struct what_if;

/* How long jobs are taken to run: job/run_times/run_times.h. */
enum what_if_run_times {
    WHAT_IF_P50,
    WHAT_IF_P90,
};

/* The state of a moment, as control_hooks.what_if gives it. */
struct what_if_state {
    struct str bytes;
    int64_t now_ms; /* wall time */
    enum what_if_run_times run_times;
};

/* How long the work on a course may go on.  Both outlive the course. */
struct what_if_bounds {
    const struct clock *clock; /* of the work; NULL: it has no bound */
    const bool *is_stopping;   /* read atomically; NULL: nobody stops it */
    int64_t work_ms_max;       /* since it was made; 0: WHAT_IF_WORK_MS_MAX */
};

/* A course that has not been played, with `changes` made; NULL: with none.
 * The submission of `changes` is taken.  0, or -ERR_INVALID or -ERR_NOT_FOUND
 * say which change cannot be made; -ERR_CORRUPT, -ERR_VERSION are those of the
 * bytes; -ERR_LIMIT: it takes more work than the bounds allow;
 * -ERR_UNAVAILABLE: `is_stopping`. */
int what_if_create(const struct what_if_state *state,
                   struct what_if_changes *changes,
                   const struct what_if_bounds *bounds,
                   struct what_if **ret_what_if, struct err *err) must_check;
/* NULL is fine. */
void what_if_destroy(struct what_if *what_if);
DEFINE_AUTO(what_if, what_if_destroy)

/* Play it for `span_ms`, at most WHAT_IF_SPAN_MS_MAX; -ERR_UNAVAILABLE:
 * `is_stopping`.  A course that has no more time to work in is cut, which is no
 * error, unless not even its first moment was played: -ERR_LIMIT. */
int what_if_play(struct what_if *what_if, int64_t span_ms,
                 struct err *err) must_check;

/* The same until no job waits any more that waited at the beginning, if that is
 * sooner. */
int what_if_play_waiting(struct what_if *what_if, int64_t span_ms,
                         struct err *err) must_check;

/* When jobs start by two courses without changes, by p50 and by p90, that were
 * played by what_if_play_waiting(): those that start in the first, in order of
 * id, in an array that the caller frees with mem_free(); `*ret_count` of them,
 * at most FORECASTS_MAX, the first to start. */
struct forecast *what_if_forecasts(const struct what_if *by_p50,
                                   const struct what_if *by_p90,
                                   uint32_t *ret_count) must_check;

/* Hold two courses that were played against each other; all that the answer
 * points to is in the arena.  -ERR_UNAVAILABLE: `is_stopping` of the second. */
int what_if_compare(const struct what_if *as_is, const struct what_if *what_if,
                    struct arena *arena, struct what_if_answer *ret_answer,
                    struct err *err) must_check;

/* What became of a job; false: nothing did.  The texts are borrowed. */
bool what_if_outcome_of(const struct what_if *what_if, struct job_id job,
                        struct what_if_outcome *ret_outcome);

/* Told a fact; borrowed until the return. */
typedef void what_if_fact_fn(void *ctx, const struct event *event);

/* Tell the facts that a state consists of, but for jobs, as the events that set
 * them: the policy, queues, pools, and all nodes, one an event. */
int what_if_tell(struct what_if *what_if, what_if_fact_fn *fn, void *ctx,
                 struct err *err) must_check;
