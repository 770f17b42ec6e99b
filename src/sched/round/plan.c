#include <string.h>

#include "sched/fairness/admitted.h"
#include "sched/order/round.h"
#include "sched/order/sweep.h"
#include "sched/order/sweep_undo.h"
#include "sched/place/place.h"
#include "sched/reserve/admission_private.h"
#include "sched/round/private.h"

/* Rate limits as they were, to be put back. */
struct saved_limits {
    struct bucket all;
    struct bucket *queues;
    struct bucket (*pools)[RESOURCE_COLUMNS_MAX];
};

static void save_limits(struct sched *sched, struct saved_limits *saved)
{
    saved->all = sched->bucket;
    saved->queues = NULL;
    if (sched->policy->rate_per_queue.rate_milli_per_s > 0) {
        saved->queues = arena_alloc_array(&sched->arena, sched->queues.count,
                                          sizeof(*saved->queues));
        for (size_t i = 0; i < sched->queues.count; i++) {
            saved->queues[i] = sched->queues.items[i].bucket;
        }
    }
    saved->pools = arena_alloc_array(&sched->arena, sched->pools.count,
                                     sizeof(*saved->pools));
    for (size_t i = 0; i < sched->pools.count; i++) {
        memcpy(saved->pools[i], sched->pools.items[i].start,
               sizeof(saved->pools[i]));
    }
}

static void restore_limits(struct sched *sched,
                           const struct saved_limits *saved)
{
    sched->bucket = saved->all;
    for (size_t i = 0; saved->queues && i < sched->queues.count; i++) {
        sched->queues.items[i].bucket = saved->queues[i];
    }
    for (size_t i = 0; i < sched->pools.count; i++) {
        memcpy(sched->pools.items[i].start, saved->pools[i],
               sizeof(saved->pools[i]));
    }
}

/* A full round that found nothing to do speaks for fast ones too. */
static bool is_settled(const struct sched *sched, enum round_kind kind,
                       int64_t now_ms, int64_t *ret_until_ms)
{
    for (int k = (int)kind; k <= (int)ROUND_BALANCE; k++) {
        if (sched->settled_version[k] == sched->version &&
            now_ms < sched->settled_until_ms[k]) {
            *ret_until_ms = sched->settled_until_ms[k];
            return true;
        }
    }
    return false;
}

static void note_looked(struct sched *sched, const struct round *round)
{
    for (uint32_t i = 0; i < round->lane_count; i++) {
        const struct lane *lane = &round->lanes[i];
        if (lane->looked_count) {
            struct sched_looked looked = {lane->queue,
                                          (uint32_t)round->pool->policy_index,
                                          lane->looked_count};
            VEC_PUSH(&sched->looked, looked);
        }
    }
}

const struct sched_looked *sched_looked(const struct sched *sched,
                                        uint32_t *ret_count)
{
    *ret_count = (uint32_t)sched->looked.count;
    return sched->looked.items;
}

/* A pool without nodes starts nothing: it dismisses the work that it has
 * admitted, even with a promised start. */
static void let_go(struct round *round)
{
    const struct sched *sched = round->sched;

    for (size_t i = 0; i < round->pool->admitted.count; i++) {
        uint32_t job = admitted_job(sched, &round->pool->admitted.items[i]);
        if (job == NONE || (sched->job_flags.items[job] & JOB_PLANNED)) {
            continue;
        }
        if (sched->decisions.count &&
            sched->decisions.count >= round->decision_max) {
            round->is_truncated = true;
            return;
        }
        admission_decide(round, SCHED_DISMISS, job, SCHED_START_UNKNOWN);
    }
}

static void plan_pools(struct sched *sched, struct round *proto,
                       struct sched_plan *plan)
{
    uint32_t i = sweep_open(sched, proto->kind, &plan->is_resumed);
    bool is_resumed = plan->is_resumed;

    for (; i < sched->policy->pool_count; i++) {
        struct round round = *proto;
        round.p = pool_get(sched, sched->policy->pools[i].name);
        round.pool = &sched->pools.items[round.p];
        round.group = proto->group;
        if (round.pool->node_count == 0) {
            let_go(&round);
            proto->group = round.group;
            plan->is_truncated |= round.is_truncated;
            if (plan->is_truncated) {
                return;
            }
            continue;
        }
        sweep_begin_pool(&round, is_resumed);
        is_resumed = false;
        round_plan(&round);
        sweep_end_pool(&round, i);
        note_looked(sched, &round);
        proto->group = round.group;
        plan->is_truncated |= round.is_truncated || round.is_spent;
        plan->is_spent |= round.is_spent;
        if (round.wake_ms < plan->next_wake_ms) {
            plan->next_wake_ms = round.wake_ms;
        }
        if (plan->is_truncated) {
            return;
        }
    }
    bool is_same = sweep_close(sched, proto->kind);
    plan->is_truncated = plan->is_resumed && !is_same;
}

/* Hand over what was decided, and leave no mark of it in the tables. */
static void take_decisions(struct sched *sched, struct sched_plan *plan)
{
    plan->decisions = sched->decisions.items;
    plan->decision_count = (uint32_t)sched->decisions.count;
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        const struct sched_decision *decision = &plan->decisions[i];
        sched->job_flags.items[decision->job] &= (uint8_t)~JOB_PLANNED;
        if (decision->action == SCHED_ADMIT) {
            admitted_unmark(sched, decision->job);
        }
        plan->counters.preemptions += decision->action == SCHED_PREEMPT;
    }
}

void sched_plan(struct sched *sched, int64_t now_ms, enum round_kind kind,
                uint32_t decision_count_max, struct sched_plan *ret_plan)
{
    struct sched_plan plan = {.next_wake_ms = INT64_MAX};
    struct saved_limits saved;

    ASSERT(decision_count_max > 0);
    sweep_undo_clear(sched);
    if (is_settled(sched, kind, now_ms, &plan.next_wake_ms)) {
        sched->decisions.count = 0; /* not those of a trial since */
        *ret_plan = plan;
        return;
    }
    sched->plan_count++;
    sched->plan_now_ms = now_ms;
    arena_reset(&sched->arena);
    nodes_sync(sched);
    queues_sync(sched);
    sched->decisions.count = 0;
    sched->looked.count = 0;
    sched->journal.count = 0;
    save_limits(sched, &saved);
    struct round proto = {
        .sched = sched,
        .arena = &sched->arena,
        .kind = kind,
        .now_ms = now_ms,
        .decision_max = decision_count_max < SCHED_DECISIONS_MAX
                            ? decision_count_max
                            : SCHED_DECISIONS_MAX,
        .counters = &plan.counters,
        .wake_ms = INT64_MAX,
    };
    plan_pools(sched, &proto, &plan);
    place_undo(sched);
    restore_limits(sched, &saved);
    take_decisions(sched, &plan);
    if (plan.decision_count == 0 && !plan.is_truncated) {
        sched->settled_version[kind] = sched->version;
        sched->settled_until_ms[kind] = plan.next_wake_ms;
    }
    *ret_plan = plan;
}
