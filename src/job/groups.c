#include "job/groups.h"

#include <stdlib.h>

#include "job/jobs_private.h"

/* What the counts say of a group. */
enum verdict {
    VERDICT_NONE,
    VERDICT_SUCCEEDED,
    VERDICT_FAILED,     /* a member failed */
    VERDICT_ALL_FAILED, /* fault tolerant: all of them */
    VERDICT_CANCELLED,
    VERDICT_SHORT, /* a minimum is out of reach */
    VERDICT_BELOW, /* it is below its minimum for too long */
};

static struct group *group_of(const struct jobs *jobs, uint32_t job)
{
    uint32_t gang = jobs->rows.items[job].gang;

    return gang == JOBS_NONE ? NULL : jobs->gang_rows.items[gang].group;
}

/* Whether what has failed counts as ended and not as missing. */
static bool forgives(const struct group *group, uint32_t i)
{
    return group->kind == GANG_TRAINING_TOLERANT &&
           !group->parts[i].is_auxiliary;
}

/* Members of a sub-group that are there or have ended well enough. */
static uint32_t present_in(const struct group *group, uint32_t i)
{
    const struct group_count *count = &group->parts[i].count;

    return count->running + count->succeeded +
           (forgives(group, i) ? count->failed : 0);
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
            !part->is_auxiliary && present_in(group, i) < part->min_count;
    }
    return has_running && is_less;
}

/* Whether a sub-group can never have its minimum again. */
static bool is_short(const struct group *group, uint32_t i)
{
    const struct group_part *part = &group->parts[i];
    uint32_t lost =
        part->count.gone + (forgives(group, i) ? 0 : part->count.failed);

    return lost > part->max_count - part->min_count;
}

static enum verdict verdict_of(const struct group *group, int64_t now_ms)
{
    uint32_t running = 0, succeeded = 0, failed = 0;
    bool is_ended = true, can_go_on = true;

    for (uint32_t i = 0; i < group->part_count; i++) {
        const struct group_part *part = &group->parts[i];
        can_go_on &= !is_short(group, i);
        if (!part->is_auxiliary) {
            running += part->count.running;
            succeeded += part->count.succeeded;
            failed += part->count.failed;
            is_ended &= present_in(group, i) >= part->min_count;
        }
    }
    if (failed > 0 && group->kind != GANG_TRAINING_TOLERANT) {
        return VERDICT_FAILED;
    }
    if (running == 0 && is_ended && succeeded + failed > 0) {
        return succeeded > 0 ? VERDICT_SUCCEEDED : VERDICT_ALL_FAILED;
    }
    if (group->has_cancelled) {
        return VERDICT_CANCELLED;
    }
    if (!can_go_on) {
        return VERDICT_SHORT;
    }
    return group->below_since_ms > 0 &&
                   now_ms - group->below_since_ms >= group->replace_timeout_ms
               ? VERDICT_BELOW
               : VERDICT_NONE;
}

/* The fold. */

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

static struct group_part *part_of(const struct jobs *jobs, uint32_t job)
{
    struct group *group = group_of(jobs, job);
    uint32_t sub_group = row_sub_group(jobs, job);

    /* A foreign log may name one that is not there. */
    return &group->parts[sub_group < group->part_count ? sub_group : 0];
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
    if (from != to) {
        if (from) {
            (*from)--;
        }
        if (to) {
            (*to)++;
        }
        jobs_mark_group(jobs, jobs->rows.items[job].gang);
    }
}

/* Whether a sub-group has more pods than it may have, with what has become of
 * those that ended. */
static bool is_crowded(const struct group_part *part)
{
    const struct group_count *count = &part->count;

    return (uint64_t)count->waiting + count->running + count->succeeded +
               count->failed + count->gone >
           part->max_count;
}

void group_ended(struct jobs *jobs, uint32_t job, enum job_state after)
{
    struct group *group = group_of(jobs, job);

    if (!group) {
        return;
    }
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

    if (!group || is_below(group) == (group->below_since_ms > 0)) {
        return;
    }
    int64_t since_ms = now_ms > 0 ? now_ms : 1; /* a foreign log's */
    group->below_since_ms = group->below_since_ms > 0 ? 0 : since_ms;
    group_list_below(jobs, gang);
}

/* Reading. */

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

/* What is owed. */

/* Gangs that are below and still there; what is due is marked. */
static void scan_below(struct jobs *jobs, int64_t now_ms)
{
    size_t kept = 0;

    for (size_t i = 0; i < jobs->below_groups.count; i++) {
        uint32_t gang = jobs->below_groups.items[i];
        struct group *group = jobs->gang_rows.items[gang].group;
        if (!group || !group->is_listed_below) {
            continue; /* gone, or listed twice since its index was reused */
        }
        if (group->below_since_ms == 0) {
            group->is_listed_below = false;
            continue;
        }
        jobs->below_groups.items[kept++] = gang;
        if (verdict_of(group, now_ms) != VERDICT_NONE) {
            jobs_mark_group(jobs, gang);
        }
    }
    jobs->below_groups.count = kept;
}

/* A job, or a gang by its first job. */
struct member_order {
    struct job_id id;
    uint32_t index;
};

static int compare_orders(const void *a, const void *b)
{
    const struct member_order *x = a;
    const struct member_order *y = b;

    return key128_compare(x->id.v, y->id.v);
}

static struct job_id first_member(const struct jobs *jobs, uint32_t gang)
{
    const struct gang_row *row = &jobs->gang_rows.items[gang];
    struct job_id first = jobs->rows.items[row->members.items[0]].id;

    for (size_t i = 1; i < row->members.count; i++) {
        struct job_id id = jobs->rows.items[row->members.items[i]].id;
        if (key128_compare(id.v, first.v) < 0) {
            first = id;
        }
    }
    return first;
}

uint32_t *jobs_take_groups(struct jobs *jobs, int64_t now_ms,
                           uint32_t *ret_count)
{
    uint32_t count = 0;

    scan_below(jobs, now_ms);
    auto_mem struct member_order *orders =
        mem_alloc_array(jobs->dirty_groups.count + 1, sizeof(*orders));
    for (size_t i = 0; i < jobs->dirty_groups.count; i++) {
        uint32_t gang = jobs->dirty_groups.items[i];
        struct gang_row *row = &jobs->gang_rows.items[gang];
        if (!row->group || !row->group->is_dirty) {
            continue; /* gone, or listed twice since its index was reused */
        }
        row->group->is_dirty = false;
        if (verdict_of(row->group, now_ms) != VERDICT_NONE) {
            orders[count++] =
                (struct member_order){first_member(jobs, gang), gang};
        }
    }
    jobs->dirty_groups.count = 0;
    qsort(orders, count, sizeof(*orders), compare_orders);
    uint32_t *list = mem_alloc_array((size_t)count + 1, sizeof(*list));
    for (uint32_t i = 0; i < count; i++) {
        list[i] = orders[i].index;
    }
    *ret_count = count;
    return list;
}

int64_t jobs_groups_due_ms(const struct jobs *jobs)
{
    int64_t due_ms = INT64_MAX;

    for (size_t i = 0; i < jobs->below_groups.count; i++) {
        const struct group *group =
            jobs->gang_rows.items[jobs->below_groups.items[i]].group;
        if (group && group->below_since_ms > 0 &&
            group->below_since_ms + group->replace_timeout_ms < due_ms) {
            due_ms = group->below_since_ms + group->replace_timeout_ms;
        }
    }
    return due_ms;
}

static struct str reason_of(const struct group *group, enum verdict verdict,
                            int64_t now_ms, struct arena *arena)
{
    auto_strbuf text = {0};
    char id[ID_TEXT_BYTES_MAX];

    switch (verdict) {
    case VERDICT_SUCCEEDED:
        return STR("The group has succeeded");
    case VERDICT_FAILED:
        strbuf_addf(&text, "Job %s of the group failed",
                    job_id_format(group->failed_job, id));
        break;
    case VERDICT_ALL_FAILED:
        return STR("All of the group that started failed");
    case VERDICT_CANCELLED:
        return STR("A job of the group was cancelled");
    case VERDICT_SHORT:
        return STR("So many jobs of the group are gone that it can never have "
                   "its minimum again");
    case VERDICT_BELOW:
        strbuf_addf(&text,
                    "Preempted - its group has been below its minimum for %lld "
                    "s, and nothing replaced what it lost",
                    (long long)(now_ms - group->below_since_ms) / 1000);
        break;
    case VERDICT_NONE:
        break;
    }
    return arena_str(arena, strbuf_str(&text));
}

/* The members that wait or run, in order of their ids. */
static void list_members(const struct jobs *jobs, const struct gang_row *row,
                         struct arena *arena, struct group_action *ret_action)
{
    size_t count = row->members.count;
    struct member_order *orders =
        arena_alloc_array(arena, count, sizeof(*orders));
    uint32_t listed = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t job = row->members.items[i];
        enum job_state state = (enum job_state)jobs->rows.items[job].state;
        if (job_state_has_run(state) || state == JOB_QUEUED) {
            orders[listed++] =
                (struct member_order){jobs->rows.items[job].id, job};
        }
    }
    qsort(orders, listed, sizeof(*orders), compare_orders);
    ret_action->members =
        arena_alloc_array(arena, count, sizeof(*ret_action->members));
    for (uint32_t i = 0; i < listed; i++) {
        ret_action->members[i] = orders[i].index;
    }
    ret_action->member_count = listed;
}

void jobs_group_owed(const struct jobs *jobs, uint32_t gang, int64_t now_ms,
                     struct arena *arena, struct group_action *ret_action)
{
    const struct gang_row *row = &jobs->gang_rows.items[gang];
    enum verdict verdict = verdict_of(row->group, now_ms);

    *ret_action = (struct group_action){.kind = GROUP_GOES_ON};
    if (verdict == VERDICT_NONE) {
        return;
    }
    ret_action->kind = verdict == VERDICT_BELOW ? GROUP_PREEMPT : GROUP_CANCEL;
    ret_action->reason = reason_of(row->group, verdict, now_ms, arena);
    list_members(jobs, row, arena, ret_action);
}
