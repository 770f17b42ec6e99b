#include <string.h>

#include "sched/fairness/admitted.h"
#include "sched/order/round.h"
#include "sched/order/sweep.h"
#include "sched/order/sweep_undo.h"
#include "sched/place/place.h"
#include "sched/reserve/admission_private.h"
#include "sched/reserve/reserve.h"
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

static void note_looked(const struct round *round)
{
    struct sched *sched = round->sched;

    for (uint32_t i = 0; i < round->lane_count && !round_is_what_if(round);
         i++) {
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

/* One pool's part of a plan, the policy's pool `index`; the first that has
 * nodes is where a sweep goes on. */
static void plan_pool(struct round *proto, uint32_t index, bool *is_resumed,
                      struct sched_plan *plan)
{
    struct sched *sched = proto->sched;
    struct reserve_memory trial = {.kept.job = NONE};
    struct round round = *proto;

    round.p = pool_get(sched, sched->policy->pools[index].name);
    round.pool = &sched->pools.items[round.p];
    round.memory = proto->what_if ? &trial : &round.pool->memory;
    if (round.pool->node_count == 0) {
        let_go(&round);
    } else {
        sweep_begin_pool(&round, *is_resumed);
        *is_resumed = false;
        round_plan(&round);
        sweep_end_pool(&round, index);
        note_looked(&round);
    }
    reserve_memory_fini(&trial);
    proto->group = round.group;
    plan->is_truncated |= round.is_truncated || round.is_spent;
    plan->is_spent |= round.is_spent;
    if (round.wake_ms < plan->next_wake_ms) {
        plan->next_wake_ms = round.wake_ms;
    }
}

/* All pools, one after the other; a sweep goes on where it was left. */
static void plan_pools(struct round *proto, struct sched_plan *plan)
{
    struct sched *sched = proto->sched;
    uint32_t first = 0;

    if (!round_is_what_if(proto)) {
        first = sweep_open(sched, proto->kind, &plan->is_resumed);
    }
    bool is_resumed = plan->is_resumed;
    for (uint32_t i = first; i < sched->policy->pool_count; i++) {
        plan_pool(proto, i, &is_resumed, plan);
        if (plan->is_truncated) {
            return;
        }
    }
    if (!round_is_what_if(proto)) {
        bool is_same = sweep_close(sched, proto->kind);
        plan->is_truncated = plan->is_resumed && !is_same;
    }
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

void plan_make(const struct round *asked, struct sched_plan *ret_plan)
{
    struct sched *sched = asked->sched;
    struct sched_plan plan = {.next_wake_ms = INT64_MAX};
    struct round proto = *asked;
    struct saved_limits saved;

    ASSERT(asked->decision_max > 0);
    sched->plan_count++;
    sched->plan_now_ms = asked->now_ms;
    arena_reset(&sched->arena);
    nodes_sync(sched);
    queues_sync(sched);
    sched->decisions.count = 0;
    sched->journal.count = 0;
    save_limits(sched, &saved);
    proto.arena = &sched->arena;
    proto.counters = &plan.counters;
    proto.wake_ms = INT64_MAX;
    plan_pools(&proto, &plan);
    place_undo(sched);
    restore_limits(sched, &saved);
    take_decisions(sched, &plan);
    *ret_plan = plan;
}

void sched_plan(struct sched *sched, int64_t now_ms, enum round_kind kind,
                uint32_t decision_count_max, struct sched_plan *ret_plan)
{
    int64_t until_ms;

    ASSERT(decision_count_max > 0);
    sweep_undo_clear(sched);
    if (is_settled(sched, kind, now_ms, &until_ms)) {
        sched->decisions.count = 0; /* not those of a trial since */
        *ret_plan = (struct sched_plan){.next_wake_ms = until_ms};
        return;
    }
    sched->looked.count = 0;
    plan_make(
        &(struct round){.sched = sched,
                        .kind = kind,
                        .now_ms = now_ms,
                        .decision_max = decision_count_max < SCHED_DECISIONS_MAX
                                            ? decision_count_max
                                            : SCHED_DECISIONS_MAX},
        ret_plan);
    if (ret_plan->decision_count == 0 && !ret_plan->is_truncated) {
        sched->settled_version[kind] = sched->version;
        sched->settled_until_ms[kind] = ret_plan->next_wake_ms;
    }
}
