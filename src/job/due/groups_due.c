/* Events that are due for gangs with terms: which have ended, which were below
 * their minimum for too long, and what happens to their members. */
#include <stdlib.h>

#include "base/time_add.h"
#include "job/table/gang_list.h"
#include "job/table/jobs_private.h"

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

/* Whether a sub-group can never have its minimum again. */
static bool is_short(const struct group *group, uint32_t i)
{
    const struct group_part *part = &group->parts[i];
    uint32_t lost =
        part->count.gone + (group_forgives(group, i) ? 0 : part->count.failed);

    ASSERT(part->min_count <= part->max_count);
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
            is_ended &= group_present(group, i) >= part->min_count;
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

uint32_t *jobs_take_groups(struct jobs *jobs, int64_t now_ms,
                           uint32_t *ret_count)
{
    uint32_t count = 0;

    scan_below(jobs, now_ms);
    auto_mem struct sort_item *orders =
        mem_alloc_array(jobs->dirty_groups.count + 1, sizeof(*orders));
    for (size_t i = 0; i < jobs->dirty_groups.count; i++) {
        uint32_t gang = jobs->dirty_groups.items[i];
        struct gang_row *row = &jobs->gang_rows.items[gang];
        if (!row->group || !row->group->is_dirty) {
            continue; /* gone, or listed twice since its index was reused */
        }
        ASSERT(row->members.count > 0); /* the last takes the group with it */
        row->group->is_dirty = false;
        if (verdict_of(row->group, now_ms) != VERDICT_NONE) {
            orders[count++] =
                (struct sort_item){gang_list_oldest(jobs, gang), gang};
        }
    }
    jobs->dirty_groups.count = 0;
    qsort(orders, count, sizeof(*orders), sort_item_compare);
    uint32_t *list = mem_alloc_array((size_t)count + 1, sizeof(*list));
    for (uint32_t i = 0; i < count; i++) {
        list[i] = orders[i].job;
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
        if (group && group->below_since_ms > 0) {
            int64_t end_ms = time_add_saturating(group->below_since_ms,
                                                 group->replace_timeout_ms);
            due_ms = end_ms < due_ms ? end_ms : due_ms;
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
        return STR(GANG_SUCCEEDED_REASON);
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
    struct sort_item *orders = arena_alloc_array(arena, count, sizeof(*orders));
    uint32_t listed = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t job = row->members.items[i];
        enum job_state state = (enum job_state)jobs->rows.items[job].state;
        ASSERT(state != JOB_NONE && !job_state_is_ended(state));
        if (job_state_has_run(state) || state == JOB_QUEUED) {
            orders[listed++] =
                (struct sort_item){jobs->rows.items[job].id, job};
        }
    }
    qsort(orders, listed, sizeof(*orders), sort_item_compare);
    ret_action->members =
        arena_alloc_array(arena, count, sizeof(*ret_action->members));
    for (uint32_t i = 0; i < listed; i++) {
        ret_action->members[i] = orders[i].job;
    }
    ret_action->member_count = listed;
}

void jobs_group_due(const struct jobs *jobs, uint32_t gang, int64_t now_ms,
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
