/* Records the decisions of a round, and undoes them. */
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"

/* How a lease is let past what waits for its node, as urgent as it is there. */
static void note_pass(const struct round *round,
                      struct sched_decision *decision)
{
    const struct reservation *hold = round->reserve.hold;
    const struct reservation *own = round->reserve.own;

    if ((!hold && !own) || !reserve_is_at(round->sched, decision->node)) {
        return; /* and the decision's job need not be fetched */
    }
    const struct class *class =
        class_at(round, class_of_job(round->sched, decision->job));
    struct class away;
    uint32_t level = level_of(round->sched, decision->priority);
    if (class->level != level) {
        away = *class;
        away.level = (uint8_t)level;
        class = &away;
    }
    ASSERT(class->level == level); /* as urgent as it is there */
    enum pass pass = reserve_pass(round, hold, class, decision->node);
    decision->is_backfilled =
        pass == BACKFILL_ENDS_IN_TIME || pass == BACKFILL_REVOCABLE;
    if (pass == BACKFILL_REVOCABLE) {
        decision->revocable_for = hold->job;
        decision->yields_at_once = round->is_growing;
    }
    if (hold && round->reserve.owing == decision->job &&
        round->sched->policy->rules_revision >= POLICY_RULES_YIELD) {
        decision->is_backfilled = true;
        decision->revocable_for = hold->job;
    }
    if (own && decision->revocable_for == NONE &&
        reserve_pass(round, own, class, decision->node) == BACKFILL_REVOCABLE) {
        decision->is_backfilled = true;
        decision->revocable_for = own->job;
    }
}

void round_decide(struct round *round, struct sched_decision decision)
{
    const struct sched *sched = round->sched;

    /* What is decided is about a job that is there. */
    ASSERT(decision.job < sched->jobs.count &&
           sched->jobs.items[decision.job].list != LIST_NONE);
    ASSERT(decision.action != SCHED_PREEMPT ||
           decision.for_job != decision.job);
    decision.group = round->group;
    decision.revocable_for = NONE;
    if (decision.action == SCHED_LEASE) {
        note_pass(round, &decision);
    }
    VEC_PUSH(&round->sched->decisions, decision);
    if (decision.action == SCHED_LEASE || decision.action == SCHED_FAIL) {
        round->sched->job_flags.items[decision.job] |= JOB_PLANNED;
    }
}

void round_decide_lease(struct round *round, uint32_t job, uint32_t node,
                        const struct class *class, int64_t charge)
{
    struct sched *sched = round->sched;

    ASSERT(sched->nodes.items[node].pool == round->p);
    ASSERT_SLOW(sched->jobs.items[job].run == NONE); /* it waits */
    /* Where it is to stay: see cost_set(). */
    VEC_PUSH(&sched->decisions,
             (struct sched_decision){
                 .action = SCHED_LEASE,
                 .job = job,
                 .node = node,
                 .priority = sched->level_priority[class->level],
                 .charge = charge,
                 .for_job = NONE,
                 .group = round->group,
                 .revocable_for = NONE,
             });
    note_pass(round, &sched->decisions.items[sched->decisions.count - 1]);
    sched->job_flags.items[job] |= JOB_PLANNED;
}

void round_undecide(struct round *round, size_t mark)
{
    struct sched *sched = round->sched;

    ASSERT(mark <= sched->decisions.count);
    for (size_t i = mark; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        uint32_t list = sched->jobs.items[decision->job].list;
        uint32_t lane = round->lane_of_queue[sched->lists.items[list].queue];
        if (decision->charge && lane != NONE && !round->reserve.asking) {
            share_give_back(&round->lanes[lane], decision->charge);
        }
    }
    sched->decisions.count = mark;
}

void round_settle_gangs(struct round *round, size_t first)
{
    struct sched *sched = round->sched;

    ASSERT(first <= sched->decisions.count);
    for (size_t i = first; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        const struct job *job = &sched->jobs.items[decision->job];
        if (decision->action != SCHED_PREEMPT || job->gang == NONE) {
            continue;
        }
        struct gang *gang = &sched->gangs.items[job->gang];
        uint32_t lane = round->lane_of_queue[gang->queue];
        ASSERT(gang->is_live);
        gang->planned = sched->plan_count;
        if (lane != NONE) {
            lane_refresh_new(round, &round->lanes[lane]);
        }
    }
}
