/* Plans a shard, and keeps the decisions that are still valid. */

#include "pools/plan/plan.h"

#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/jobs/quota.h"
#include "pools/nodes/nodes.h"
#include "pools/tables/classes.h"
#include "pools/tables/node_table.h"

struct sched *pools_plan_begin(struct pools *pools, uint32_t index)
{
    struct shard *shard = pools->shards.items[index];

    if (!pools->is_mapped) {
        return shard->sched;
    }
    ASSERT(shard && !shard->is_busy);
    pool_nodes_release(pools);
    pools_pending_settle(pools);
    quotas_settle(pools);
    sched_news_set(shard->sched, pools->news_count);
    for (int h = NODE_NORMAL + 1; h <= NODE_TRIAL; h++) {
        shard->health_counts[h] =
            sched_health_count(shard->sched, (enum node_health)h);
    }
    /* Nothing is kept for a shard that is not being planned. */
    ASSERT(shard->deltas.count == 0 && shard->retired_jobs.count == 0);
    ASSERT(shard->touched.count == 0 && shard->returning.count == 0);
    ASSERT_SLOW(shard_is_right(pools, shard));
    /* One that left may come again while the plan is being made. */
    borrowers_settle(pools, shard);
    shard->is_busy = true;
    shard->planned_borrower_count = (uint32_t)shard->borrowers.count;
    shard->planned_loss_count = pools->loss_count;
    pools->busy_count++;
    ASSERT(pools->busy_count <= pools->objects.count + 1);
    return shard->sched;
}

static bool is_touched(const struct shard *shard, uint32_t job)
{
    return job < shard->touched.count && shard->touched.items[job];
}

/* Whether a gang has changed since the plan began: members run in another
 * pool, or will once the plan that came back before this one is applied; or it
 * has minimums and has lost its last lease, which the plan counted on. */
static bool gang_differs(const struct pools *pools, const struct shard *shard,
                         const struct sched_decision *decision)
{
    uint32_t job = shard->jobs.items[decision->job];
    uint32_t gang = pools->jobs.items[job].gang;

    if (decision->action != SCHED_LEASE || gang == NONE) {
        return false;
    }
    const struct pool_gang *gang_row = &pools->gangs.items[gang];
    const struct shard *other =
        gang_row->choice ? pools->shards.items[gang_row->chosen_in] : NULL;
    return (gang_row->leased_count > 0 && job_home(pools, job) != shard) ||
           (other && other != shard && other->choice == gang_row->choice) ||
           (gang_row->has_terms && gang_row->leased_count == 0 &&
            gang_row->loss > shard->planned_loss_count);
}

static bool stands(const struct pools *pools, const struct shard *shard,
                   const struct sched_decision *decision)
{
    uint32_t node = node_back(shard, decision->node);

    return !is_touched(shard, decision->job) &&
           !gang_differs(pools, shard, decision) &&
           (decision->for_job == SCHED_NONE ||
            !is_touched(shard, decision->for_job)) &&
           (decision->revocable_for == SCHED_NONE ||
            !is_touched(shard, decision->revocable_for)) &&
           (node == NONE || (!pools->nodes.items[node].is_touched &&
                             pools->nodes.items[node].shard == shard->index));
}

/* What a group that goes was about is not what later ones took it for. */
static void spoil(struct pools *pools, struct shard *shard,
                  const struct sched_decision *decision)
{
    uint32_t node = node_back(shard, decision->node);

    if (node != NONE && !pools->nodes.items[node].is_touched) {
        pools->nodes.items[node].is_touched = true;
        VEC_PUSH(&shard->touched_nodes, node);
    }
}

static struct sched_decision translate(const struct pools *pools,
                                       const struct shard *shard,
                                       const struct sched_decision *from)
{
    struct sched_decision decision = *from;

    decision.job = job_back(shard, from->job);
    decision.for_job = job_back(shard, from->for_job);
    decision.revocable_for = job_back(shard, from->revocable_for);
    decision.node = node_back(shard, from->node);
    /* What stands is about jobs and nodes that are in the shard. */
    ASSERT(pools->jobs.items[decision.job].shard == shard->index);
    ASSERT(decision.node == NONE ||
           pools->nodes.items[decision.node].shard == shard->index);
    if (shard->name) {
        decision.pool_index = pools_shard_pool(pools, shard->index);
    }
    return decision;
}

void decisions_clear(struct pools *pools, struct shard *shard)
{
    for (size_t i = 0; i < shard->decisions.count; i++) {
        pools->jobs.items[shard->decisions.items[i].job].is_chosen = false;
    }
    shard->decisions.count = 0;
    shard->choice = 0;
}

/* If the plan stands, its lease comes next. */
static void choose(struct pools *pools, const struct shard *shard, uint32_t job)
{
    struct pool_job *row = &pools->jobs.items[job];

    ASSERT(row->node == NONE); /* a lease is for a job that waits */
    row->is_chosen = true;
    if (row->gang != NONE) {
        pools->gangs.items[row->gang].chosen_in = shard->index;
        pools->gangs.items[row->gang].choice = shard->choice;
    }
}

/* Keep the groups that stand; how many decisions do not. */
static uint32_t sift(struct pools *pools, struct shard *shard,
                     const struct sched_plan *plan)
{
    uint32_t begin = 0, dropped = 0;
    bool has_quotas = quotas_begin(pools, shard);

    decisions_clear(pools, shard);
    shard->choice = ++pools->choice_count;
    while (begin < plan->decision_count) {
        uint32_t end = begin;
        bool is_good = true;
        uint32_t group = plan->decisions[begin].group;
        for (;
             end < plan->decision_count && plan->decisions[end].group == group;
             end++) {
            is_good &= stands(pools, shard, &plan->decisions[end]);
        }
        is_good =
            is_good &&
            (!has_quotas ||
             quotas_allow(pools, shard, &plan->decisions[begin], end - begin));
        for (; begin < end; begin++) {
            if (is_good) {
                struct sched_decision decision =
                    translate(pools, shard, &plan->decisions[begin]);
                VEC_PUSH(&shard->decisions, decision);
                if (decision.action == SCHED_LEASE) {
                    choose(pools, shard, decision.job);
                }
            } else {
                spoil(pools, shard, &plan->decisions[begin]);
                dropped++;
            }
        }
    }
    ASSERT(shard->decisions.count + dropped == plan->decision_count);
    return dropped;
}

static void keep_looked(struct shard *shard)
{
    uint32_t count;
    const struct sched_looked *looked = sched_looked(shard->sched, &count);

    shard->looked.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        VEC_PUSH(&shard->looked, looked[i]);
    }
}

uint32_t pools_plan_end(struct pools *pools, uint32_t index,
                        struct sched_plan *plan)
{
    struct shard *shard = pools->shards.items[index];

    if (!pools->is_mapped) {
        return 0;
    }
    ASSERT(shard->is_busy && pools->busy_count > 0);
    keep_looked(shard);
    uint32_t dropped = sift(pools, shard, plan);
    plan->decisions = shard->decisions.items;
    plan->decision_count = (uint32_t)shard->decisions.count;
    plan->is_truncated |= dropped > 0;
    shard->is_busy = false;
    pools->busy_count--;
    deltas_apply(pools, shard);
    classes_settle(pools);
    returning_settle(pools, shard);
    pool_nodes_settle(pools, shard);
    ASSERT_SLOW(shard_is_right(pools, shard));
    return dropped;
}

void pools_plan(struct pools *pools, uint32_t shard, int64_t now_ms,
                enum round_kind kind, uint32_t decision_count_max,
                struct sched_plan *ret_plan)
{
    struct sched *sched = pools_plan_begin(pools, shard);

    sched_plan(sched, now_ms, kind, decision_count_max, ret_plan);
    (void)pools_plan_end(pools, shard, ret_plan);
}

bool pools_take_news(struct pools *pools)
{
    bool has_moved = pools->has_moved;

    pools->has_moved = false;
    return has_moved;
}

bool pools_is_busy(const struct pools *pools, uint32_t shard)
{
    return pools->shards.items[shard]->is_busy;
}

bool pools_is_any_busy(const struct pools *pools)
{
    return pools->busy_count > 0;
}

bool pools_is_full(const struct pools *pools, uint32_t shard)
{
    const struct shard *full = pools->shards.items[shard];

    /* A record may say more than one thing of each of its jobs. */
    return full->deltas.count > POOLS_DELTAS_MAX / 4 ||
           full->delta_arena.byte_count > POOLS_DELTA_BYTES_MAX / 4;
}

static void apply_sweep(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    (void)pools;
    (void)delta;
    shard->asked_count = shard->asked_next = 0;
    sched_sweep_reset(shard->sched);
}

void pools_sweep_reset(struct pools *pools)
{
    struct delta delta = delta_of(apply_sweep);

    pools_borrowers_reset(pools);
    deliver_all(pools, &delta);
}

const struct sched_looked *pools_looked(struct pools *pools,
                                        uint32_t *ret_count)
{
    if (!pools->is_mapped) {
        return sched_looked(first_of(pools), ret_count);
    }
    pools->looked.count = 0;
    for (uint32_t p = 0; p < pools_pool_count(pools); p++) {
        const struct shard *shard =
            pools->shards.items[pools_pool_shard(pools, p)];
        for (size_t i = 0; i < shard->looked.count; i++) {
            struct sched_looked looked = shard->looked.items[i];
            if (shard->name || looked.pool_index == p) {
                looked.pool_index = p;
                VEC_PUSH(&pools->looked, looked);
            }
        }
    }
    *ret_count = (uint32_t)pools->looked.count;
    return pools->looked.items;
}
