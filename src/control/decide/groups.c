/* Groups of pods: adds the events that are due for a group as a whole, when its
 * outcome is known or it was below its minimum for too long. */
#include "job/table/groups.h"

#include "control/decide/decide.h"
#include "control/state/state.h"
#include "job/table/gang_list.h"

/* Whether a member has nothing to lose: it is only not to be started in this
 * batch. */
static bool is_at_rest(const struct control *c,
                       const struct group_action *action, uint32_t job)
{
    return action->kind == GROUP_PREEMPT &&
           jobs_state(c->jobs, job) == JOB_QUEUED;
}

bool batch_group_is_silent(struct control *c, uint32_t gang)
{
    struct group_action action;
    bool is_silent = true;

    jobs_group_due(c->jobs, gang, c->batch.time_ms, &c->batch.arena, &action);
    for (uint32_t i = 0; i < action.member_count; i++) {
        uint32_t job = action.members[i];
        is_silent &=
            batch_is_touched(&c->batch, job) || is_at_rest(c, &action, job);
    }
    return is_silent;
}

bool batch_add_group(struct control *c, uint32_t gang)
{
    struct group_action action;
    struct job_decisions decisions;
    bool is_some = false;

    jobs_group_due(c->jobs, gang, c->batch.time_ms, &c->batch.arena, &action);
    for (uint32_t i = 0; i < action.member_count; i++) {
        uint32_t job = action.members[i];
        if (batch_is_touched(&c->batch, job)) {
            continue; /* its run ends in this batch: that is decided first */
        }
        ASSERT(
            jobs_is_live(c->jobs, job)); /* a gang is of what is left of it */
        batch_touch(&c->batch, job);
        if (is_at_rest(c, &action, job)) {
            continue; /* touched, so that no plan starts it in this batch */
        }
        if (action.kind == GROUP_PREEMPT) {
            job_preempt(c->jobs, job, action.reason, (struct job_id){0},
                        c->batch.time_ms, &decisions);
        } else {
            job_end(c->jobs, job, action.reason, c->batch.time_ms, &decisions);
        }
        batch_add_decisions(&c->batch, &decisions);
        VEC_PUSH(&c->batch.due, job);
        is_some = true;
    }
    return is_some;
}

void batch_add_groups(struct control *c)
{
    uint32_t count;
    auto_mem uint32_t *gangs =
        jobs_take_groups(c->jobs, c->batch.time_ms, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (log_batch_bytes(&c->batch.log) > 2 * CONTROL_BATCH_BYTES) {
            jobs_mark_group(c->jobs, gangs[i]);
        } else {
            batch_add_group(c, gangs[i]);
        }
    }
}

void batch_leave(struct control *c, uint32_t gang)
{
    struct job_id *members;

    if (gang == JOBS_NONE) {
        return;
    }
    for (size_t i = c->batch.leaving.count; i > 0; i--) {
        if (c->batch.leaving.items[i - 1] == gang) {
            return;
        }
    }
    VEC_PUSH(&c->batch.leaving, gang);
    uint32_t count =
        gang_list_members(c->jobs, gang, &c->batch.arena, &members);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = jobs_find(c->jobs, members[i]);
        ASSERT(job != JOBS_NONE); /* a gang lists jobs of the table */
        if (jobs_state(c->jobs, job) == JOB_QUEUED &&
            !batch_is_touched(&c->batch, job)) {
            batch_touch(&c->batch, job);
        }
    }
}
