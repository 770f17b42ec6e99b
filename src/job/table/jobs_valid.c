/* Checks the invariants of the table. */
#include "job/table/jobs_private.h"

/* Runs are counted by the tallies as the jobs' states count them; the number
 * of runs. */
static uint32_t check_tallies(const struct jobs *jobs)
{
    uint32_t leased = 0, pending = 0, running = 0, tallied = 0;

    for (size_t i = 0; i < jobs->tallies.count; i++) {
        const struct tally_row *tally = &jobs->tallies.items[i];
        tallied += tally->run_count;
        leased += tally->counts.leased_count;
        pending += tally->counts.pending_count;
        running += tally->counts.running_count;
    }
    ASSERT(leased == jobs->counts.by_state[JOB_LEASED]);
    ASSERT(pending == jobs->counts.by_state[JOB_PENDING]);
    ASSERT(running == jobs->counts.by_state[JOB_RUNNING]);
    return tallied;
}

static void check_run(const struct jobs *jobs, uint32_t job)
{
    const struct job_row *row = &jobs->rows.items[job];
    const struct run_row *run = &jobs->runs.items[row->run];

    ASSERT(run->job == job && run->tallied_as == row->state);
    ASSERT(run->is_listed == job_state_has_run((enum job_state)row->state));
    ASSERT(jobs_find_run(jobs, run->id) == job);
}

/* What is held waits, and says what holds it. */
static void check_holds(const struct jobs *jobs, const struct job_row *row)
{
    uint32_t holds =
        row->extra == JOBS_NONE ? 0 : jobs->extras.items[row->extra].holds;

    ASSERT((holds != 0) == ((row->flags & JOB_FLAG_HELD) != 0));
    ASSERT(holds == 0 || (row->state == JOB_QUEUED && row->gang == JOBS_NONE));
}

/* A group with a name is that of its gang as long as the gang is there. */
static void check_named(const struct jobs *jobs)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < jobs->named.rows.count; i++) {
        const struct named_group *row = &jobs->named.rows.items[i];
        count += row->queue != NULL;
        if (row->queue && row->gang != JOBS_NONE) {
            ASSERT(row->group == jobs->gang_rows.items[row->gang].group);
            ASSERT(row->group->name == i);
        }
    }
    ASSERT(count == jobs->named.count);
}

void jobs_assert_valid(const struct jobs *jobs)
{
    uint32_t live = 0, with_run = 0;

    for (uint32_t job = 0; job < jobs->rows.count; job++) {
        const struct job_row *row = &jobs->rows.items[job];
        if (row->state == JOB_NONE) {
            continue;
        }
        live++;
        ASSERT(!job_state_is_ended((enum job_state)row->state));
        ASSERT(jobs_find(jobs, row->id) == job);
        ASSERT((row->state == JOB_QUEUED) == (row->run == JOBS_NONE));
        check_holds(jobs, row);
        if (row->run != JOBS_NONE) {
            with_run++;
            check_run(jobs, job);
        }
    }
    ASSERT(live == jobs->count && jobs->by_id.count == live);
    ASSERT(jobs->by_run.count == with_run && check_tallies(jobs) == with_run);
    check_named(jobs);
    turns_assert_valid(jobs);
}
