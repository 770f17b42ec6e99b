/* Counts a queue's runs in a pool by the states of their jobs, kept up to date
 * so that a query for shares need not walk all jobs. */
#include "job/table/jobs_private.h"

/* Where runs of jobs in a state are counted, or NULL: nowhere. */
static uint32_t *slot_of(struct tally_row *tally, enum job_state state)
{
    if (state == JOB_LEASED) {
        return &tally->counts.leased_count;
    }
    if (state == JOB_PENDING) {
        return &tally->counts.pending_count;
    }
    return state == JOB_RUNNING ? &tally->counts.running_count : NULL;
}

/* The runs of a row that its states count; runs that have just ended are not in
 * it. */
static uint32_t counted_in(const struct tally_row *tally)
{
    return tally->counts.leased_count + tally->counts.pending_count +
           tally->counts.running_count;
}

static struct key128 key_of(uint32_t queue, uint32_t pool)
{
    return (struct key128){queue, pool};
}

void tally_enter(struct jobs *jobs, uint32_t run)
{
    struct run_row *row = &jobs->runs.items[run];
    uint32_t queue = set_queue(jobs, jobs->rows.items[row->job].set);
    struct key128 key = key_of(queue, row->pool);

    row->tally = map_find(&jobs->tally_of, key);
    ASSERT_SLOW(row->tally == MAP_NONE ||
                (jobs->tallies.items[row->tally].queue == queue &&
                 jobs->tallies.items[row->tally].pool == row->pool));
    if (row->tally == MAP_NONE) {
        row->tally = SLOTS_TAKE(&jobs->tallies);
        jobs->tallies.items[row->tally] =
            (struct tally_row){.queue = queue, .pool = row->pool};
        map_put(&jobs->tally_of, key, row->tally);
    }
    jobs->tallies.items[row->tally].run_count++;
    row->tallied_as = JOB_NONE;
    tally_move(jobs, run);
}

void tally_move(struct jobs *jobs, uint32_t run)
{
    struct run_row *row = &jobs->runs.items[run];
    struct tally_row *tally = &jobs->tallies.items[row->tally];
    uint8_t state = jobs->rows.items[row->job].state;
    uint32_t *before = slot_of(tally, (enum job_state)row->tallied_as);
    uint32_t *after = slot_of(tally, (enum job_state)state);

    ASSERT(tally->run_count > 0); /* this run is one of them */
    ASSERT(!before || *before > 0);
    if (before) {
        --*before;
    }
    if (after) {
        ++*after;
    }
    row->tallied_as = state;
}

void tally_leave(struct jobs *jobs, uint32_t run)
{
    struct run_row *row = &jobs->runs.items[run];
    struct tally_row *tally = &jobs->tallies.items[row->tally];
    uint32_t *before = slot_of(tally, (enum job_state)row->tallied_as);

    ASSERT(!before || *before > 0);
    if (before) {
        --*before;
    }
    ASSERT(counted_in(tally) < tally->run_count);
    if (--tally->run_count == 0) {
        map_remove(&jobs->tally_of, key_of(tally->queue, tally->pool));
        SLOTS_GIVE(&jobs->tallies, row->tally);
    }
}

struct jobs_run_counts jobs_run_counts(const struct jobs *jobs,
                                       struct str queue, struct str pool)
{
    uint32_t q = intern_find(&jobs->queues, queue);
    uint32_t p = intern_find(&jobs->strings, pool);
    uint32_t tally = q == INTERN_NONE || p == INTERN_NONE
                         ? MAP_NONE
                         : map_find(&jobs->tally_of, key_of(q, p));

    ASSERT(tally == MAP_NONE || counted_in(&jobs->tallies.items[tally]) <=
                                    jobs->tallies.items[tally].run_count);
    return tally == MAP_NONE ? (struct jobs_run_counts){0}
                             : jobs->tallies.items[tally].counts;
}
