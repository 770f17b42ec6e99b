/* Why waiting jobs are held, and the times at which holds and waits end. */
#include "base/heap.h"
#include "job/table/jobs_private.h"

enum { STALE_TIMERS_MAX = 1024 }; /* beyond two for each job */

static bool is_sooner(const struct jobs *jobs, const struct timer_row *a,
                      const struct timer_row *b)
{
    (void)jobs;
    return a->at_ms < b->at_ms;
}

DEFINE_HEAP(timers, struct timer_row, 2, const struct jobs *, is_sooner,
            HEAP_PLAIN);

/* Whether a timer is still one of its job's. */
static bool is_fresh(const struct jobs *jobs, const struct timer_row *timer)
{
    uint32_t extra = timer->job < jobs->rows.count
                         ? jobs->rows.items[timer->job].extra
                         : JOBS_NONE;

    if (extra == JOBS_NONE ||
        jobs->rows.items[timer->job].state != JOB_QUEUED) {
        return false;
    }
    const struct extra_row *row = &jobs->extras.items[extra];
    return ((row->holds & JOB_HOLD_UNTIL) && row->begin_ms == timer->at_ms) ||
           row->wait_until_ms == timer->at_ms;
}

/* Jobs may end long before their times: those are forgotten now and then. */
static void drop_stale(struct jobs *jobs)
{
    size_t kept = 0;

    if (jobs->timers.count <= 2 * (size_t)jobs->count + STALE_TIMERS_MAX) {
        return;
    }
    for (size_t i = 0; i < jobs->timers.count; i++) {
        if (is_fresh(jobs, &jobs->timers.items[i])) {
            jobs->timers.items[kept++] = jobs->timers.items[i];
        }
    }
    jobs->timers.count = kept;
    timers_build(jobs, jobs->timers.items, kept);
}

static void await(struct jobs *jobs, uint32_t job, int64_t at_ms)
{
    struct timer_row timer = {at_ms, job};

    if (at_ms == 0) {
        return;
    }
    drop_stale(jobs);
    VEC_PUSH(&jobs->timers, timer);
    timers_rise(jobs, jobs->timers.items, jobs->timers.count - 1, timer);
}

void jobs_expire(struct jobs *jobs, int64_t now_ms)
{
    while (jobs->timers.count > 0 && jobs->timers.items[0].at_ms <= now_ms) {
        struct timer_row timer = jobs->timers.items[0];
        timers_remove(jobs, jobs->timers.items, --jobs->timers.count, 0);
        if (is_fresh(jobs, &timer)) {
            jobs_mark_dirty(jobs, timer.job);
        }
    }
}

int64_t jobs_expire_due_ms(const struct jobs *jobs)
{
    return jobs->timers.count > 0 ? jobs->timers.items[0].at_ms : INT64_MAX;
}

static void set_holds(struct jobs *jobs, uint32_t job, uint32_t holds)
{
    struct job_row *row = &jobs->rows.items[job];

    jobs->extras.items[row->extra].holds = holds;
    row->flags = (uint16_t)(holds ? row->flags | JOB_FLAG_HELD
                                  : row->flags & ~(uint32_t)JOB_FLAG_HELD);
}

void held_begin(struct jobs *jobs, uint32_t job,
                const struct job_digest *digest, int64_t submitted_ms)
{
    bool is_later = digest->begin_ms > submitted_ms;
    uint32_t holds = (digest->is_held ? JOB_HOLD_BY_USER : 0) |
                     (is_later ? JOB_HOLD_UNTIL : 0);

    if (digest->gang_id.byte_count) {
        return;
    }
    if (digest->retry_policy.byte_count) {
        extra_set(jobs, &extra_of(jobs, job)->retry_policy,
                  digest->retry_policy);
    }
    if (waits_begin(jobs, job, digest->waits)) {
        holds |= JOB_HOLD_FOR_JOBS;
    }
    if (turns_begin(jobs, job, digest)) {
        holds |= JOB_HOLD_FOR_TURN;
    }
    if (!holds && !digest->wait_ms_max) {
        return;
    }
    struct extra_row *extra = extra_of(jobs, job);
    extra->begin_ms = is_later ? digest->begin_ms : 0;
    extra->wait_until_ms =
        digest->wait_ms_max ? submitted_ms + digest->wait_ms_max : 0;
    set_holds(jobs, job, holds);
    held_restore(jobs, job);
}

void held_change(struct jobs *jobs, uint32_t job, const struct event *event)
{
    struct extra_row *extra = extra_of(jobs, job);
    /* Only its submission makes a job wait for others. */
    uint32_t holds =
        (extra->holds & ~event->hold.cleared) |
        (event->hold.set & ~(uint32_t)(JOB_HOLD_FOR_JOBS | JOB_HOLD_FOR_TURN));

    if (event->hold.set & JOB_HOLD_BY_USER) {
        extra_set(jobs, &extra->hold_user, event->hold.user);
    }
    if (event->hold.set & JOB_HOLD_UNTIL) {
        extra->begin_ms = event->hold.begin_ms;
        await(jobs, job, extra->begin_ms);
    }
    set_holds(jobs, job, holds & JOB_HOLD_ALL);
}

void held_restore(struct jobs *jobs, uint32_t job)
{
    const struct job_row *row = &jobs->rows.items[job];
    const struct extra_row *extra = &jobs->extras.items[row->extra];

    if (extra->holds & JOB_HOLD_UNTIL) {
        await(jobs, job, extra->begin_ms);
    }
    await(jobs, job, extra->wait_until_ms);
}

void jobs_held(const struct jobs *jobs, uint32_t job, struct job_held *ret_held)
{
    uint32_t extra = jobs->rows.items[job].extra;

    *ret_held = (struct job_held){0};
    if (extra != JOBS_NONE) {
        const struct extra_row *row = &jobs->extras.items[extra];
        *ret_held = (struct job_held){
            .holds = row->holds,
            .begin_ms = row->begin_ms,
            .user = intern_get(&jobs->strings, row->hold_user),
            .wait_until_ms = row->wait_until_ms,
            .waits = row->waits,
            .wait_count = row->wait_count,
            .is_broken = row->broken_as != JOB_NONE,
            .broken = row->broken,
            .broken_as = (enum job_state)row->broken_as,
            .has_turn = row->has_turn,
        };
        if (row->turn != JOBS_NONE) {
            ret_held->turn_group =
                turns_group(jobs, row->turn, &ret_held->turn_limit);
        }
    }
}

bool jobs_is_held(const struct jobs *jobs, uint32_t job)
{
    return jobs->rows.items[job].flags & JOB_FLAG_HELD;
}

struct str jobs_retry_policy(const struct jobs *jobs, uint32_t job)
{
    uint32_t extra = jobs->rows.items[job].extra;

    return extra == JOBS_NONE
               ? (struct str){0}
               : intern_get(&jobs->strings,
                            jobs->extras.items[extra].retry_policy);
}
