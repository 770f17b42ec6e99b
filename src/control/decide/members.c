/* Rejects new members that cannot belong to the gang that they name, before any
 * plan is made with them. */
#include "control/decide/decide.h"
#include "control/explain/explain.h"
#include "control/state/state.h"

enum {
    ROLLS_MAX = 64,      /* gangs whose rolls are kept in a batch */
    LOOKS_MAX = 1 << 20, /* at members, in one batch */
};

/* Rolls of gangs on the state that a batch is formed on. */
struct rolls {
    struct gang_roll items[ROLLS_MAX];
    bool is_made[ROLLS_MAX];
    size_t look_count;
};

static const struct gang_roll *roll_of(struct control *c, struct rolls *rolls,
                                       uint32_t gang)
{
    uint32_t at = gang % ROLLS_MAX;

    if (!rolls->is_made[at] || rolls->items[at].gang != gang) {
        rolls->look_count += gang_roll_call(c->jobs, gang, &rolls->items[at]);
        rolls->is_made[at] = true;
    }
    return &rolls->items[at];
}

static void check(struct control *c, struct rolls *rolls, uint32_t job)
{
    struct gang_fault_view fault_view;
    struct job_decisions decisions;
    struct job_view view;

    if (!jobs_is_live(c->jobs, job) || batch_is_touched(&c->batch, job)) {
        return;
    }
    jobs_get(c->jobs, job, &view);
    if (view.gang_index == JOBS_NONE || view.state != JOB_QUEUED ||
        view.run_count > 0) {
        return;
    }
    enum gang_fault fault = gang_roll_check(
        c->jobs, roll_of(c, rolls, view.gang_index), job, &fault_view);
    if (fault == GANG_FAULT_NONE) {
        return;
    }
    job_refuse(c->jobs, job, ERROR_REJECTED,
               report_member_rejection(fault, &fault_view, &c->batch.arena),
               c->batch.time_ms, &decisions);
    batch_add_decisions(&c->batch, &decisions);
    batch_touch(&c->batch, job);
    VEC_PUSH(&c->batch.due, job);
}

void batch_check_member(struct control *c, uint32_t job)
{
    struct rolls rolls = {.look_count = 0};

    check(c, &rolls, job);
}

void batch_end_members(struct control *c)
{
    struct rolls rolls = {.look_count = 0};
    size_t done = 0, kept = 0, end = c->fresh_members.count;
    uint32_t *jobs = c->fresh_members.items;

    for (; done < end && rolls.look_count < LOOKS_MAX; done++) {
        check(c, &rolls, jobs[done]);
        if (batch_is_touched(&c->batch, jobs[done])) {
            jobs[kept++] = jobs[done]; /* the append may fail */
        }
    }
    while (done < end) {
        jobs[kept++] = jobs[done++];
    }
    c->fresh_members.count = kept;
}
