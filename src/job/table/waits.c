/* Jobs that wait for others to end.  The waiting jobs of a job are found by its
 * id, so the end of a job without any costs one look-up, or none. */
#include "job/table/jobs_private.h"

static void join(struct jobs *jobs, uint32_t job, struct job_id on)
{
    uint32_t row = SLOTS_TAKE(&jobs->waiters);
    uint32_t first = map_find(&jobs->waited_for, on.v);

    jobs->waiters.items[row] = (struct waiter_row){
        .job = job,
        .next = first == MAP_NONE ? JOBS_NONE : first,
        .id = jobs->rows.items[job].id,
    };
    map_put(&jobs->waited_for, on.v, row);
}

void waits_restore(struct jobs *jobs, uint32_t job)
{
    const struct extra_row *extra =
        &jobs->extras.items[jobs->rows.items[job].extra];

    for (uint32_t i = 0; i < extra->wait_count; i++) {
        join(jobs, job, extra->waits[i].on);
    }
}

static void break_wait(struct extra_row *extra, struct job_wait wait,
                       enum job_state as)
{
    if (extra->broken_as == JOB_NONE) {
        extra->broken = wait;
        extra->broken_as = as;
    }
}

bool waits_begin(struct jobs *jobs, uint32_t job, struct str packed)
{
    struct job_wait waits[JOB_WAITS_MAX];
    int count = packed.byte_count ? job_waits_unpack(packed, waits) : 0;

    if (count <= 0) {
        return false;
    }
    struct extra_row *extra = extra_of(jobs, job);
    extra->waits = mem_dup(waits, (size_t)count * sizeof(*waits));
    extra->wait_count = (uint32_t)count;
    for (int i = 0; i < count; i++) {
        if (jobs_find(jobs, waits[i].on) == JOBS_NONE) {
            /* The leader takes no such job; a foreign log may have one. */
            break_wait(extra, waits[i], JOB_REJECTED);
            jobs_mark_dirty(jobs, job);
        }
    }
    waits_restore(jobs, job);
    return true;
}

static bool is_met(enum job_want want, enum job_state as)
{
    return want == JOB_WANT_ENDED ||
           (want == JOB_WANT_SUCCEEDED) == (as == JOB_SUCCEEDED);
}

/* One that `job` waits for has ended. */
static void tell(struct jobs *jobs, uint32_t job, struct job_id id,
                 enum job_state as)
{
    struct extra_row *extra = extra_of(jobs, job);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < extra->wait_count; i++) {
        if (key128_compare(extra->waits[i].on.v, id.v) != 0) {
            extra->waits[kept++] = extra->waits[i];
        } else if (!is_met(extra->waits[i].want, as)) {
            break_wait(extra, extra->waits[i], as);
        }
    }
    extra->wait_count = kept;
    if (kept == 0 || extra->broken_as != JOB_NONE) {
        jobs_mark_dirty(jobs, job);
    }
}

void waits_end(struct jobs *jobs, struct job_id id, enum job_state after)
{
    uint32_t row = jobs->waited_for.count > 0
                       ? map_find(&jobs->waited_for, id.v)
                       : MAP_NONE;

    if (row == MAP_NONE) {
        return;
    }
    (void)map_remove(&jobs->waited_for, id.v);
    while (row != JOBS_NONE) {
        struct waiter_row waiter = jobs->waiters.items[row];
        SLOTS_GIVE(&jobs->waiters, row);
        if (jobs_is_live(jobs, waiter.job) &&
            jobs_has_id(jobs, waiter.job, waiter.id) &&
            jobs->rows.items[waiter.job].extra != JOBS_NONE) {
            tell(jobs, waiter.job, id, after);
        }
        row = waiter.next;
    }
}

void waits_fini(struct jobs *jobs)
{
    SLOTS_FREE(&jobs->waiters);
    map_fini(&jobs->waited_for);
}
