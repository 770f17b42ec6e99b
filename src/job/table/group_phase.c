/* The phase of a named group, from the states of its pods. */
#include "job/table/jobs_private.h"
#include "job/table/named_groups.h"

const char *group_phase_name(enum group_phase phase)
{
    static const char *const names[] = {
        [PHASE_NEW] = "",
        [PHASE_CREATING] = "creating",
        [PHASE_RUNNING] = "running",
        [PHASE_SCALING] = "scaling",
        [PHASE_SUCCEEDED] = "succeeded",
        [PHASE_FAILED] = "failed",
    };

    return names[phase];
}

/* Pods of a sub-group that have ended for good. */
static uint32_t ended_in(const struct group_count *count)
{
    return count->succeeded + count->failed + count->gone;
}

/* How the group has ended, or PHASE_NEW while it has not.  Pods that have not
 * come yet will. */
static enum group_phase outcome_of(const struct group *group)
{
    bool is_tolerant = group->kind == GANG_TRAINING_TOLERANT;
    uint32_t succeeded = 0, failed = 0, gone = 0;
    bool has_ended = true;

    for (uint32_t i = 0; i < group->part_count; i++) {
        const struct group_part *part = &group->parts[i];
        if (!part->is_auxiliary) {
            succeeded += part->count.succeeded;
            failed += part->count.failed;
            gone += part->count.gone;
            has_ended &= ended_in(&part->count) >= part->max_count;
        }
    }
    if (!is_tolerant && failed > 0) {
        return PHASE_FAILED;
    }
    if (!has_ended) {
        return PHASE_NEW;
    }
    return succeeded > 0 && (is_tolerant || gone == 0) ? PHASE_SUCCEEDED
                                                       : PHASE_FAILED;
}

/* Whether a sub-group has what it needs: what has ended is not missed, but
 * for a failure that the whole does not survive. */
static bool is_ready(const struct named_group *row, uint32_t i)
{
    const struct group_part *part = &row->group->parts[i];
    uint32_t unsure = row->started_ms ? 0 : part->count.ending;

    ASSERT(part->count.running >= part->count.starting + part->count.ending);
    return group_present(row->group, i) - part->count.starting - unsure >=
           part->min_count;
}

enum group_phase named_group_phase(const struct named_group *row)
{
    bool is_whole = true, is_new = true, is_starting = false;

    if (row->reason[0]) {
        return PHASE_FAILED;
    }
    if (!row->group) {
        return PHASE_NEW;
    }
    enum group_phase outcome = outcome_of(row->group);
    if (outcome != PHASE_NEW) {
        return outcome;
    }
    for (uint32_t i = 0; i < row->group->part_count; i++) {
        const struct group_count *count = &row->group->parts[i].count;
        is_whole &= is_ready(row, i);
        is_new &= count->running == 0 && ended_in(count) == 0;
        is_starting |= count->starting > 0;
    }
    if (is_new) {
        return PHASE_NEW;
    }
    if (!is_whole) {
        return PHASE_CREATING;
    }
    return row->is_scaling && is_starting ? PHASE_SCALING : PHASE_RUNNING;
}
