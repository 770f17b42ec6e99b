#include "control/fold/run_times.h"

#include "base/hash.h"
#include "control/state/state.h"

/* What the run of a preempted or lost job, or of one whose pod was deleted,
 * would have taken is not known. */
static bool ended_by_itself(const struct control *c,
                            const struct jobs_change *change,
                            const struct event *event)
{
    return change->after == JOB_RUN_SUCCEEDED ||
           (change->after == JOB_RUN_FAILED &&
            event->type == EVENT_RUN_ERRORS &&
            !jobs_is_error_foreign(c->jobs, change->job) &&
            !str_equal(event->error.category, STR("internal")));
}

/* The index of a gang differs from leader to leader. */
static uint64_t hash_of_gang(const struct control *c,
                             const struct job_view *view, uint32_t job)
{
    struct job_digest digest;

    if (view->gang_index == JOBS_NONE) {
        return 0;
    }
    jobs_digest(c->jobs, job, &digest);
    return hash_bytes(digest.gang_id.p, digest.gang_id.byte_count, 1) | 1;
}

void run_times_fold(struct control *c, const struct jobs_change *change,
                    const struct event *event)
{
    struct job_view view;

    if (!ended_by_itself(c, change, event)) {
        return;
    }
    jobs_get(c->jobs, change->job, &view);
    if (view.run.started_ms > 0) {
        struct run_times_of of = {view.queue, view.user, view.class_key};
        run_times_note(c->run_times, &of, hash_of_gang(c, &view, change->job),
                       c->now_ms - view.run.started_ms);
    }
}
