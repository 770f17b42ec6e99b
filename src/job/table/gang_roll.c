#include "job/table/gang_roll.h"

#include <stdlib.h>

#include "job/table/jobs_private.h"

static bool is_older(const struct jobs *jobs, uint32_t job, uint32_t than)
{
    return than == JOBS_NONE || key128_compare(jobs->rows.items[job].id.v,
                                               jobs->rows.items[than].id.v) < 0;
}

/* Whether a member counts: it is not about to be cancelled. */
static bool stays(const struct job_row *row)
{
    return !(row->flags & (JOB_FLAG_CANCEL | JOB_FLAG_CANCEL_SET));
}

static bool has_begun(const struct job_row *row)
{
    return row->state != JOB_QUEUED || row->run_count > 0;
}

/* The oldest member of a gang that stays, or JOBS_NONE. */
static uint32_t oldest_of(const struct jobs *jobs, uint32_t gang)
{
    const struct gang_row *row = &jobs->gang_rows.items[gang];
    uint32_t oldest = JOBS_NONE;

    for (size_t i = 0; i < row->members.count; i++) {
        uint32_t job = row->members.items[i];
        if (stays(&jobs->rows.items[job]) && is_older(jobs, job, oldest)) {
            oldest = job;
        }
    }
    return oldest;
}

/* The youngest of the first `limit` members that stay. */
static uint32_t last_within(const struct jobs *jobs, const struct gang_row *row,
                            uint32_t limit)
{
    auto_mem struct sort_item *items =
        mem_alloc_array(row->members.count + 1, sizeof(*items));
    size_t count = 0;

    for (size_t i = 0; i < row->members.count; i++) {
        uint32_t job = row->members.items[i];
        if (stays(&jobs->rows.items[job])) {
            items[count++] = (struct sort_item){jobs->rows.items[job].id, job};
        }
    }
    if (count <= limit || limit == 0) { /* 0: a foreign log's */
        return JOBS_NONE;
    }
    qsort(items, count, sizeof(*items), sort_item_compare);
    return items[limit - 1].job;
}

/* The oldest member of gangs of the same id that are older. */
static uint32_t elder_of(const struct jobs *jobs, uint32_t gang, uint32_t than,
                         size_t *look_count)
{
    uint32_t elder = JOBS_NONE;

    for (uint32_t same = jobs_gang_first_of_id(jobs, gang); same != JOBS_NONE;
         same = jobs->gang_rows.items[same].next_of_id) {
        ASSERT(jobs->gang_rows.items[same].of_id ==
               jobs->gang_rows.items[gang].of_id);
        uint32_t oldest = same == gang ? JOBS_NONE : oldest_of(jobs, same);
        *look_count += jobs->gang_rows.items[same].members.count;
        if (oldest != JOBS_NONE && is_older(jobs, oldest, than) &&
            is_older(jobs, oldest, elder)) {
            elder = oldest;
        }
    }
    return elder;
}

size_t gang_roll_call(const struct jobs *jobs, uint32_t gang,
                      struct gang_roll *ret_roll)
{
    const struct gang_row *row = &jobs->gang_rows.items[gang];
    struct job_digest digest = {0};
    struct gang_roll roll = {.gang = gang,
                             .oldest = oldest_of(jobs, gang),
                             .begun = JOBS_NONE,
                             .last = JOBS_NONE};
    size_t look_count = 0;

    ASSERT(row->members.count > 0);
    jobs_gang_get(jobs, gang, &digest);
    for (size_t i = 0; !row->group && i < row->members.count; i++) {
        uint32_t job = row->members.items[i];
        if (stays(&jobs->rows.items[job]) &&
            has_begun(&jobs->rows.items[job]) &&
            is_older(jobs, job, roll.begun)) {
            roll.begun = job;
        }
    }
    if (row->members.count > digest.gang_cardinality) {
        roll.last = last_within(jobs, row, digest.gang_cardinality);
    }
    roll.elder = elder_of(jobs, gang, roll.oldest, &look_count);
    *ret_roll = roll;
    return look_count;
}

/* What an older gang of the id says otherwise. */
static enum gang_fault compare_terms(const struct jobs *jobs,
                                     const struct job_digest *is,
                                     uint32_t elder,
                                     struct gang_fault_view *view)
{
    struct job_digest was = {0};

    jobs_gang_get(jobs, jobs->rows.items[elder].gang, &was);
    view->other = jobs->rows.items[elder].id;
    if (was.gang_cardinality != is->gang_cardinality) {
        view->expected_count = was.gang_cardinality;
        view->got_count = is->gang_cardinality;
        return GANG_FAULT_CARDINALITY;
    }
    if (was.gang_minimum != is->gang_minimum) {
        view->expected_count = was.gang_minimum;
        view->got_count = is->gang_minimum;
        return GANG_FAULT_MINIMUM;
    }
    if (!str_equal(was.gang_uniformity, is->gang_uniformity)) {
        view->expected = was.gang_uniformity;
        view->got = is->gang_uniformity;
        return GANG_FAULT_UNIFORMITY;
    }
    return GANG_FAULT_TERMS;
}

static struct str priority_class_of(const struct jobs *jobs, uint32_t job)
{
    return class_priority_class(
        intern_get(&jobs->classes, jobs->rows.items[job].class_index));
}

enum gang_fault gang_roll_check(const struct jobs *jobs,
                                const struct gang_roll *roll, uint32_t job,
                                struct gang_fault_view *ret_view)
{
    const struct job_row *row = &jobs->rows.items[job];
    struct job_digest digest = {0};

    ASSERT(row->gang == roll->gang && !has_begun(row));
    jobs_gang_get(jobs, roll->gang, &digest);
    *ret_view = (struct gang_fault_view){
        .queue = intern_get(&jobs->queues, set_queue(jobs, row->set)),
        .gang_id = digest.gang_id};
    if (!stays(row)) {
        return GANG_FAULT_NONE;
    }
    if (roll->elder != JOBS_NONE) {
        return compare_terms(jobs, &digest, roll->elder, ret_view);
    }
    if (roll->begun != JOBS_NONE) {
        ret_view->other = jobs->rows.items[roll->begun].id;
        return GANG_FAULT_BEGUN;
    }
    if (roll->last != JOBS_NONE && is_older(jobs, roll->last, job)) {
        ret_view->expected_count = digest.gang_cardinality;
        return GANG_FAULT_FULL;
    }
    struct str expected = priority_class_of(jobs, roll->oldest);
    struct str got = priority_class_of(jobs, job);
    if (str_equal(expected, got)) {
        return GANG_FAULT_NONE;
    }
    ret_view->other = jobs->rows.items[roll->oldest].id;
    ret_view->expected = expected;
    ret_view->got = got;
    return GANG_FAULT_CLASS;
}
