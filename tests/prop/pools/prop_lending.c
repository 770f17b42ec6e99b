/*
 * Several pools that lend, against the oracle of market.h: each plan of a pool
 * is, decision by decision, what the oracle of tests/prop/sched decides where
 * the others' work is foreign; and who goes to which lender, comes home, or is
 * asked to wait is what model.md 5.5 says.
 */
#include <stdio.h>
#include <stdlib.h>

#include "built.h"
#include "market.h"
#include "pools/pools.h"
#include "unit.h"

enum { STEPS_MAX = 12, NOW = 100 };

static const char *const NAMES[MARKET_POOLS] = {"", "p1", "p2", "p3"};

/* A router that was told a market. */
struct stall {
    struct policy *policy;
    struct pools *pools;
    uint32_t handles[INSTANCE_NODES_MAX];
    uint32_t classes[INSTANCE_JOBS_MAX]; /* by the first job that is of it */
};

static void tell_pool(struct stall *stall, const struct market *market, int p)
{
    const struct market_pool *pool = &market->pools[p];
    struct label label = {str_of(NAMES[p]), STR("yes")};
    struct str lenders[MARKET_POOLS];
    uint32_t count = 0;

    for (int l = 0; l < market->pool_count; l++) {
        if (pool->lenders >> l & 1) {
            lenders[count++] = l ? str_of(NAMES[l]) : POOL_DEFAULT_NAME;
        }
    }
    struct pool_record record = {
        .name = str_of(NAMES[p]),
        .has_selector = true,
        .labels = &label,
        .label_count = 1,
        .is_preemption_off = pool->is_preemption_off,
        .is_borrowing_off = pool->is_borrowing_off,
        .is_sharing_off = pool->is_sharing_off,
        .lenders = lenders,
        .lender_count = count,
        .preemption_order = pool->is_borrow_first ? BORROW_FIRST : 0,
    };
    if (pool->is_there) {
        pools_pool_set(stall->pools, &record);
    } else {
        pools_pool_delete(stall->pools, record.name);
    }
}

static void tell_node(struct stall *stall, const struct market *market, int n)
{
    const struct instance_node *node = &market->all.nodes[n];
    struct resource_amount amounts[] = {
        {STR("cpu"), node->capacity[0] * (int64_t)1000},
        {STR("memory"), node->capacity[1] * (int64_t)1000000000000},
    };
    struct label label = {str_of(NAMES[market->label[n]]), STR("yes")};
    char name[16];
    struct node_record record = {
        .labels = &label,
        .label_count = market->label[n] > 0,
        .total = {amounts, 2},
    };

    snprintf(name, sizeof(name), "n%d", n);
    record.name = str_of(name);
    stall->handles[n] =
        pools_node_set(stall->pools, STR("e"), &record, STR("default"));
}

static void tell_nodes(struct stall *stall, const struct market *market)
{
    for (int n = 0; n < market->all.node_count; n++) {
        tell_node(stall, market, n);
    }
}

static void tell_queues(struct stall *stall, const struct market *market)
{
    for (int q = 0; q < market->all.queue_count; q++) {
        char name[16];
        snprintf(name, sizeof(name), "q%d", q);
        struct queue_record record = queue_record_plain(str_of(name));
        record.priority_factor_micro = market->all.queues[q].factor_halves *
                                       (int64_t)(PRIORITY_FACTOR_ONE_MICRO / 2);
        record.is_cordoned = market->all.queues[q].is_cordoned;
        pools_queue_set(stall->pools, (uint32_t)q, &record);
    }
}

static uint32_t class_of(struct stall *stall, const struct market *market,
                         int index)
{
    const struct instance_job *job = &market->all.jobs[index];
    int first = 0;

    for (;; first++) {
        const struct instance_job *other = &market->all.jobs[first];
        if (other->priority_class == job->priority_class &&
            other->request[0] == job->request[0] &&
            other->request[1] == job->request[1]) {
            break;
        }
    }
    struct resource_amount amounts[] = {
        {STR("cpu"), job->request[0] * (int64_t)1000},
        {STR("memory"), job->request[1] * (int64_t)1000000000000},
    };
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = str_of(CLASSES[job->priority_class].name),
        .requests = {amounts, 2},
    };
    if (stall->classes[first] == SCHED_NONE) {
        stall->classes[first] = pools_class_add(stall->pools, &requirement);
    }
    return stall->classes[first];
}

static void tell_job(struct stall *stall, const struct market *market,
                     int index)
{
    const struct instance_job *job = &market->all.jobs[index];
    char gang[16];

    snprintf(gang, sizeof(gang), "g%d", job->gang);
    struct sched_job record = {
        .queue = (uint32_t)job->queue,
        .pool = str_of(NAMES[market->named[index]]),
        .class_index = class_of(stall, market, index),
        .priority = (uint32_t)job->priority,
        .submitted_ms = job->submitted,
        .id = {{1, (uint64_t)index}},
        .gang_id = job->gang ? str_of(gang) : STR(""),
        .gang_cardinality = (uint32_t)job->cardinality,
        .gang_minimum = (uint32_t)job->minimum,
        .was_leased = job->was_leased,
    };

    pools_job_add(stall->pools, (uint32_t)index, &record);
    if (job->node != NO_NODE) {
        pools_job_lease(
            stall->pools, (uint32_t)index, stall->handles[job->node],
            CLASSES[job->priority_class].priority, job->leased, false);
    }
}

static void stall_init(struct stall *stall, const struct market *market)
{
    *stall = (struct stall){.policy = mem_alloc(sizeof(*stall->policy))};
    built_make_policy(&market->all, stall->policy);
    for (int c = 0; c < CLASS_COUNT; c++) {
        stall->policy->classes[c].may_borrow = market_may_borrow(c);
    }
    memset(stall->classes, 0xff, sizeof(stall->classes));
    stall->pools = pools_create(stall->policy);
    for (int p = 1; p < market->pool_count; p++) {
        tell_pool(stall, market, p);
    }
    tell_nodes(stall, market);
    tell_queues(stall, market);
    for (int j = 0; j < market->all.job_count; j++) {
        tell_job(stall, market, j);
    }
}

static void stall_fini(struct stall *stall)
{
    pools_destroy(stall->pools);
    mem_free(stall->policy);
}

static int node_of(const struct stall *stall, uint32_t handle)
{
    for (int n = 0; n < INSTANCE_NODES_MAX; n++) {
        if (handle != SCHED_NONE && stall->handles[n] == handle) {
            return n;
        }
    }
    return NO_NODE;
}

static int pool_of(const struct stall *stall, uint32_t shard)
{
    const struct pool_record *record = pools_shard_record(stall->pools, shard);
    int pool = 0;

    for (int p = 1; record && p < MARKET_POOLS; p++) {
        pool = str_equal(record->name, str_of(NAMES[p])) ? p : pool;
    }
    return pool;
}

static uint32_t shard_of(const struct stall *stall, int pool)
{
    uint32_t at = 0;

    if (pool == 0) {
        return POOLS_DEFAULT;
    }
    while (
        !str_equal(pools_object(stall->pools, at)->name, str_of(NAMES[pool]))) {
        at++;
    }
    return pools_object_shard(stall->pools, at);
}

static void show(const struct market *market, const struct stall *stall,
                 const struct sched_plan *plan, const struct oracle_plan *want)
{
    if (!getenv("PROP_SHOW")) {
        return;
    }
    for (int p = 0; p < market->pool_count; p++) {
        const struct market_pool *pool = &market->pools[p];
        fprintf(stderr,
                "pool %d: there %d off: preemption %d borrowing %d sharing %d, "
                "borrow "
                "first %d, lenders %x\n",
                p, pool->is_there, pool->is_preemption_off,
                pool->is_borrowing_off, pool->is_sharing_off,
                pool->is_borrow_first, pool->lenders);
    }
    for (int n = 0; n < market->all.node_count; n++) {
        const struct instance_node *node = &market->all.nodes[n];
        fprintf(stderr, "node %d: %d/%d pool %d\n", n, node->capacity[0],
                node->capacity[1], node->pool);
    }
    for (int j = 0; j < market->all.job_count; j++) {
        const struct instance_job *job = &market->all.jobs[j];
        if (job->is_there) {
            fprintf(stderr,
                    "job %d gang %d: q%d %s %d/%d prio %d sub %d home %d at %d "
                    "node %d "
                    "leased %d tries %d; router: %d node %d\n",
                    j, job->gang, job->queue, CLASSES[job->priority_class].name,
                    job->request[0], job->request[1], job->priority,
                    job->submitted, market->home[j], market->at[j], job->node,
                    job->leased, market->tries[j],
                    pool_of(stall, pools_job_shard(stall->pools, (uint32_t)j)),
                    node_of(stall, pools_job_node(stall->pools, (uint32_t)j)));
        }
    }
    for (uint32_t i = 0; plan && i < plan->decision_count; i++) {
        const struct sched_decision *d = &plan->decisions[i];
        fprintf(stderr, "core   %d %d job %d node %d for %d\n", d->action,
                d->preemption, (int)d->job, node_of(stall, d->node),
                (int)d->for_job);
    }
    for (int i = 0; want && i < want->count; i++) {
        const struct oracle_decision *d = &want->decisions[i];
        fprintf(stderr, "oracle %d %d job %d node %d for %d\n", d->action,
                d->preemption, d->job, d->node, d->for_job);
    }
}

static bool is_same_plan(const struct stall *stall,
                         const struct sched_plan *plan,
                         const struct oracle_plan *want)
{
    bool is_same = plan->decision_count == (uint32_t)want->count;

    for (int i = 0; is_same && i < want->count; i++) {
        const struct sched_decision *a = &plan->decisions[i];
        const struct oracle_decision *b = &want->decisions[i];
        int for_job = a->for_job == SCHED_NONE ? NO_NODE : (int)a->for_job;
        is_same = a->action == b->action && (int)a->job == b->job &&
                  a->preemption == b->preemption && for_job == b->for_job &&
                  node_of(stall, a->node) == b->node &&
                  (a->action != SCHED_LEASE || a->priority == b->level);
    }
    return is_same;
}

/* Whether every job is where the oracle has it, and is as foreign there. */
static bool is_same_market(const struct stall *stall,
                           const struct market *market)
{
    for (int j = 0; j < market->all.job_count; j++) {
        const struct instance_job *job = &market->all.jobs[j];
        uint32_t index = (uint32_t)j;
        if (!job->is_there) {
            continue;
        }
        int pool = job->node == NO_NODE ? market->at[j]
                                        : market->all.nodes[job->node].pool;
        if (pool_of(stall, pools_job_shard(stall->pools, index)) != pool ||
            node_of(stall, pools_job_node(stall->pools, index)) != job->node ||
            pools_job_is_borrowed(stall->pools, index) !=
                (pool != market->home[j])) {
            return false;
        }
    }
    return true;
}

/* Plan a pool; what that decides happens. */
static bool plan_pool(struct stall *stall, struct market *market, int pool,
                      enum round_kind kind, int now)
{
    uint32_t shard = shard_of(stall, pool);
    struct instance part;
    struct oracle_plan want;
    struct sched_plan plan;

    market_part(market, pool, &part);
    oracle_plan(&part, kind, now, &want);
    pools_plan(stall->pools, shard, now, kind, SCHED_DECISIONS_MAX, &plan);
    if (!is_same_plan(stall, &plan, &want)) {
        show(market, stall, &plan, &want);
        return false;
    }
    (void)pools_borrow(stall->pools, shard, kind, &plan);
    market_lend(market, pool, kind, &want);
    for (int i = 0; i < want.count; i++) {
        const struct oracle_decision *decision = &want.decisions[i];
        uint32_t job = (uint32_t)decision->job;
        market_apply(market, decision, now);
        if (decision->action == SCHED_LEASE) {
            pools_job_lease(stall->pools, job, stall->handles[decision->node],
                            decision->level, now, true);
        } else {
            pools_job_requeue(stall->pools, job, SCHED_NONE);
        }
    }
    (void)pools_plan_commit(stall->pools, shard);
    if (!is_same_market(stall, market)) {
        show(market, stall, NULL, &want);
        return false;
    }
    return pools_is_consistent(stall->pools);
}

/* A job, or all of a gang, ends. */
static void end(struct stall *stall, struct market *market, int job)
{
    for (int j = 0; j < market->all.job_count; j++) {
        if (market_is_of(market, job, j)) {
            market->all.jobs[j].is_there = false;
            market->all.jobs[j].node = NO_NODE;
            pools_job_remove(stall->pools, (uint32_t)j);
        }
    }
}

/* It comes, or comes again. */
static void come(struct stall *stall, struct market *market, int job)
{
    for (int j = 0; j < market->all.job_count; j++) {
        if (market_is_of(market, job, j)) {
            market->all.jobs[j].is_there = true;
            market->all.jobs[j].was_leased = false;
            market->at[j] = market->home[j];
            market->tries[j] = 0;
            tell_job(stall, market, j);
        }
    }
}

/* Jobs end, and others come. */
static void pass(struct tape *tape, struct stall *stall, struct market *market)
{
    for (int j = 0; j < market->all.job_count; j++) {
        struct instance_job *job = &market->all.jobs[j];
        if (job->gang && job->gang != j + 1) {
            continue;
        }
        if (!job->is_there && draw(tape, 0, 3) == 3) {
            come(stall, market, j);
        } else if (job->is_there && job->node != NO_NODE &&
                   draw(tape, 0, 5) == 5) {
            end(stall, market, j);
        }
    }
}

/* A node moves to another pool, or a pool is edited, made or deleted: what runs
 * goes on, and whose it is is another question now (5.3). */
static void change(struct tape *tape, struct stall *stall,
                   struct market *market)
{
    int node = (int)draw(tape, 0, (uint64_t)market->all.node_count - 1);
    int pool = (int)draw(tape, 0, (uint64_t)market->pool_count - 1);

    if (draw(tape, 0, 1)) {
        market_move(market, node, pool);
        tell_node(stall, market, node);
    } else if (pool > 0) {
        bool was_there = market->pools[pool].is_there;
        market_draw_pool(tape, market, pool);
        if (was_there || market->pools[pool].is_there) {
            market_settle(market);
            tell_pool(stall, market, pool);
            tell_nodes(stall, market);
        }
    }
}

static bool agrees(struct tape *tape, bool has_gangs)
{
    struct market market;
    struct stall stall;
    bool holds = true;

    market_draw(tape, &market, has_gangs);
    stall_init(&stall, &market);
    holds = is_same_market(&stall, &market);
    uint64_t steps = draw(tape, 1, STEPS_MAX);
    for (uint64_t s = 0; holds && s < steps; s++) {
        int pool = (int)draw(tape, 0, (uint64_t)market.pool_count - 1);
        enum round_kind kind =
            draw(tape, 0, 3) == 3 ? ROUND_FAST : ROUND_BALANCE;
        if (market.pools[pool].is_there) {
            holds = plan_pool(&stall, &market, pool, kind, NOW + (int)s);
        }
        pass(tape, &stall, &market);
        if (!has_gangs && draw(tape, 0, 3) == 3) {
            change(tape, &stall, &market);
        }
        if (holds && !is_same_market(&stall, &market)) {
            show(&market, &stall, NULL, NULL);
            holds = false;
        }
    }
    stall_fini(&stall);
    return holds;
}

/* Jobs that run alone, while nodes move and pools change. */
static bool agrees_on_lending(struct tape *tape)
{
    return agrees(tape, false);
}

/* Gangs go, run and come back as a whole. */
static bool agrees_on_lending_gangs(struct tape *tape)
{
    return agrees(tape, true);
}

int main(void)
{
    bool holds = prop_check("agrees_on_lending", agrees_on_lending, 3000, 0);

    holds &=
        prop_check("agrees_on_lending_gangs", agrees_on_lending_gangs, 3000, 0);
    return holds ? 0 : 1;
}
