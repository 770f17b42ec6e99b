#include "job/table/groups.h"

#include "job/table/jobs_private.h"

static struct group *group_of(const struct jobs *jobs, uint32_t job)
{
    uint32_t gang = jobs->rows.items[job].gang;

    return gang == JOBS_NONE ? NULL : jobs->gang_rows.items[gang].group;
}

static bool has_running(const struct group *group)
{
    for (uint32_t i = 0; i < group->part_count; i++) {
        if (group->parts[i].count.running > 0) {
            return true;
        }
    }
    return false;
}

static bool is_below(const struct group *group)
{
    bool has_running = false, is_less = false;

    for (uint32_t i = 0; i < group->part_count; i++) {
        const struct group_part *part = &group->parts[i];
        has_running |= part->count.running > 0;
        is_less |=
            !part->is_auxiliary && group_present(group, i) < part->min_count;
    }
    return has_running && is_less;
}

void jobs_mark_group(struct jobs *jobs, uint32_t gang)
{
    struct group *group = jobs->gang_rows.items[gang].group;

    if (group && !group->is_dirty) {
        group->is_dirty = true;
        VEC_PUSH(&jobs->dirty_groups, gang);
    }
}

void group_mark_of(struct jobs *jobs, uint32_t job)
{
    if (group_of(jobs, job)) {
        jobs_mark_group(jobs, jobs->rows.items[job].gang);
    }
}

struct group *group_create(struct str terms)
{
    struct gang_terms read;

    if (gang_terms_unpack(terms, &read) < 0) {
        return NULL; /* none, or a foreign log's */
    }
    struct group *group = mem_alloc(sizeof(*group));
    *group = (struct group){
        .kind = read.kind,
        .name = JOBS_NONE,
        .replace_timeout_ms = read.replace_timeout_ms,
        .part_count = read.sub_group_count,
    };
    for (uint32_t i = 0; i < read.sub_group_count; i++) {
        group->parts[i] = (struct group_part){
            .min_count = read.sub_groups[i].min_count,
            .max_count = read.sub_groups[i].max_count,
            .is_auxiliary = read.sub_groups[i].is_auxiliary,
        };
    }
    return group;
}

/* The count that a job of a state is part of, or NULL. */
static uint32_t *count_of(struct group_part *part, enum job_state state)
{
    if (state == JOB_NONE || job_state_is_ended(state)) {
        return NULL;
    }
    return state == JOB_QUEUED ? &part->count.waiting : &part->count.running;
}

/* The sub-group of a job's group; a foreign log may name one that is not
 * there. */
static uint32_t part_index(const struct jobs *jobs, uint32_t job)
{
    uint32_t sub_group = row_sub_group(jobs, job);

    return sub_group < group_of(jobs, job)->part_count ? sub_group : 0;
}

static struct group_part *part_of(const struct jobs *jobs, uint32_t job)
{
    return &group_of(jobs, job)->parts[part_index(jobs, job)];
}

static bool is_starting(enum job_state state)
{
    return state == JOB_LEASED || state == JOB_PENDING;
}

static bool is_ending(enum job_state state)
{
    return state > JOB_RUNNING && !job_state_is_ended(state);
}

void group_moved(struct jobs *jobs, uint32_t job, enum job_state before,
                 enum job_state after)
{
    if (!group_of(jobs, job)) {
        return;
    }
    struct group_part *part = part_of(jobs, job);
    uint32_t *from = count_of(part, before);
    uint32_t *to = count_of(part, after);

    part->count.starting += is_starting(after) - is_starting(before);
    part->count.ending += is_ending(after) - is_ending(before);
    named_group_touch(jobs, group_of(jobs, job));
    if (from != to) {
        if (from) {
            ASSERT(*from > 0); /* it was counted when it came */
            (*from)--;
        }
        if (to) {
            (*to)++;
        }
        jobs_mark_group(jobs, jobs->rows.items[job].gang);
    }
}

/* Whether a sub-group has more pods than it may have, counting the pods that
 * ended. */
static bool is_crowded(const struct group_part *part)
{
    const struct group_count *count = &part->count;

    return (uint64_t)count->waiting + count->running + count->succeeded +
               count->failed + count->gone >
           part->max_count;
}

void group_ended(struct jobs *jobs, uint32_t job, enum job_state after,
                 struct str message)
{
    struct group *group = group_of(jobs, job);

    if (!group) {
        return;
    }
    /* A member ends once, and is counted as waiting or running until then. */
    ASSERT(job_state_is_ended(after));
    ASSERT(!job_state_is_ended((enum job_state)jobs->rows.items[job].state));
    struct group_count *count = &part_of(jobs, job)->count;
    if (after == JOB_REJECTED && is_crowded(part_of(jobs, job))) {
        return; /* one too many; it says nothing of the others */
    }
    switch ((int)after) {
    case JOB_SUCCEEDED:
        count->succeeded++;
        break;
    case JOB_FAILED:
    case JOB_REJECTED:
        count->failed++;
        if (key128_is_none(group->failed_job.v)) {
            group->failed_job = jobs->rows.items[job].id;
        }
        named_group_failed(jobs, group, part_index(jobs, job),
                           jobs->rows.items[job].id, message);
        break;
    case JOB_PREEMPTED:
        count->gone++;
        named_group_failed(jobs, group, part_index(jobs, job),
                           jobs->rows.items[job].id, message);
        break;
    default:
        count->gone++;
        group->has_cancelled |=
            after == JOB_CANCELLED &&
            (jobs->rows.items[job].state != JOB_QUEUED || !has_running(group));
        break;
    }
    jobs_mark_group(jobs, jobs->rows.items[job].gang);
}

void group_take_ended(struct group *group, const struct group *from)
{
    for (uint32_t i = 0; i < group->part_count && i < from->part_count; i++) {
        group->parts[i].count.succeeded = from->parts[i].count.succeeded;
        group->parts[i].count.failed = from->parts[i].count.failed;
        group->parts[i].count.gone = from->parts[i].count.gone;
    }
}

/* Whether each sub-group counts its members as they stand. */
static bool counts_members(const struct jobs *jobs, uint32_t gang)
{
    const struct gang_row *row = &jobs->gang_rows.items[gang];
    uint32_t waiting = 0, running = 0;

    for (size_t i = 0; i < row->members.count; i++) {
        const struct job_row *member = &jobs->rows.items[row->members.items[i]];
        waiting += member->state == JOB_QUEUED;
        running += member->state != JOB_QUEUED;
    }
    for (uint32_t i = 0; i < row->group->part_count; i++) {
        waiting -= row->group->parts[i].count.waiting;
        running -= row->group->parts[i].count.running;
    }
    return waiting == 0 && running == 0;
}

void group_will_change(struct jobs *jobs, uint32_t gang)
{
    struct gang_row *row = &jobs->gang_rows.items[gang];

    if (row->group && snapshot_lacks_gang(jobs, gang) &&
        row->group->snapshot_no != jobs->snapshot_no) {
        /* It is written with the first of its jobs. */
        row->group->snapshot_no = jobs->snapshot_no;
        for (size_t i = 0;
             i < row->members.count && snapshot_lacks_gang(jobs, gang); i++) {
            row_will_change(jobs, row->members.items[i]);
        }
    }
}

void group_list_below(struct jobs *jobs, uint32_t gang)
{
    struct group *group = jobs->gang_rows.items[gang].group;

    if (group->below_since_ms > 0 && !group->is_listed_below) {
        group->is_listed_below = true;
        VEC_PUSH(&jobs->below_groups, gang);
    }
}

void group_refresh(struct jobs *jobs, uint32_t gang, int64_t now_ms)
{
    struct group *group = jobs->gang_rows.items[gang].group;

    ASSERT_SLOW(!group || counts_members(jobs, gang));
    if (!group || is_below(group) == (group->below_since_ms > 0)) {
        return;
    }
    int64_t since_ms = now_ms > 0 ? now_ms : 1; /* a foreign log's */
    group->below_since_ms = group->below_since_ms > 0 ? 0 : since_ms;
    group_list_below(jobs, gang);
}

bool jobs_group(const struct jobs *jobs, uint32_t gang,
                struct group_view *ret_view)
{
    struct job_digest digest = {0};

    if (gang >= jobs->gang_rows.count || !jobs->gang_rows.items[gang].group) {
        return false;
    }
    const struct group *group = jobs->gang_rows.items[gang].group;
    jobs_gang_get(jobs, gang, &digest);
    ret_view->gang_id = digest.gang_id;
    int rc = gang_terms_unpack(digest.gang_terms, &ret_view->terms);
    ASSERT(rc == 0);
    for (uint32_t i = 0; i < group->part_count; i++) {
        ret_view->counts[i] = group->parts[i].count;
    }
    ret_view->below_since_ms = group->below_since_ms;
    return true;
}
