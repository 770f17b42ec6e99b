#include "sched/fairness/usage_ledger.h"

#include "sched/fairness/admitted.h"
#include "sched/fairness/usage_ledger_hold.h"

static bool has_knobs(const struct pool_policy *pool)
{
    return pool->half_time_ms > 0 || pool->over_share_ppm != POLICY_OFF ||
           pool->excess_budget_minutes != POLICY_OFF;
}

static bool are_wanted(const struct sched *sched)
{
    for (uint32_t i = 0; i < sched->policy->pool_count; i++) {
        if (has_knobs(&sched->policy->pools[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sched->queues.count; i++) {
        const struct queue *queue = &sched->queues.items[i];
        if (queue->name && queue_has_own_limits(queue)) {
            return true;
        }
    }
    return false;
}

int64_t pool_half_time_ms(const struct sched *sched, uint32_t pool)
{
    int index = sched->pools.items[pool].policy_index;

    return index < 0 ? 0 : sched->policy->pools[index].half_time_ms;
}

const struct usage_ledger *usage_ledger_find(const struct sched *sched,
                                             uint32_t queue, uint32_t pool)
{
    if (!sched->keeps_usage_ledgers) {
        return NULL;
    }
    uint32_t at = sched->queues.items[queue].usage_ledger_first;
    while (at != NONE && sched->usage_ledgers.items[at].pool != pool) {
        at = sched->usage_ledgers.items[at].next;
    }
    return at == NONE ? NULL : &sched->usage_ledgers.items[at];
}

static struct usage_ledger *usage_ledger_get(struct sched *sched,
                                             uint32_t queue, uint32_t pool)
{
    uint32_t *first = &sched->queues.items[queue].usage_ledger_first;
    uint32_t at = *first;

    while (at != NONE && sched->usage_ledgers.items[at].pool != pool) {
        at = sched->usage_ledgers.items[at].next;
    }
    if (at == NONE) {
        at = SLOTS_TAKE(&sched->usage_ledgers);
        sched->usage_ledgers.items[at] =
            (struct usage_ledger){.queue = queue, .pool = pool, .next = *first};
        *first = at;
    }
    return &sched->usage_ledgers.items[at];
}

/* Change one of the sums and the flow that goes by it. */
static void change(struct sched *sched, struct usage_ledger *usage_ledger,
                   struct resource_vec *sum, struct flow *flow,
                   const struct resource_vec *request, int sign)
{
    int64_t half_ms = pool_half_time_ms(sched, usage_ledger->pool);

    ASSERT(sign == 1 || sign == -1); /* what is counted once goes once */
    if (half_ms <= 0 || sched->is_relinking ||
        usage_ledger_hold(sched, usage_ledger)) {
        amounts_add_times(sum, request, sign);
        return;
    }
    struct pool *pool = &sched->pools.items[usage_ledger->pool];
    pool_sync_base(sched, pool);
    double before = cost_fraction(&pool->base, sum);
    amounts_add_times(sum, request, sign);
    flow_change(flow, half_ms, sched->now_ms, before,
                cost_fraction(&pool->base, sum));
}

void usage_ledger_count(struct sched *sched, uint32_t queue, uint32_t pool,
                        const struct resource_vec *all,
                        const struct resource_vec *infinite, int sign)
{
    if (!sched->keeps_usage_ledgers || pool == NONE) {
        return;
    }
    struct usage_ledger *usage_ledger = usage_ledger_get(sched, queue, pool);

    change(sched, usage_ledger, &usage_ledger->all, &usage_ledger->flow, all,
           sign);
    if (infinite) {
        change(sched, usage_ledger, &usage_ledger->infinite,
               &usage_ledger->infinite_flow, infinite, sign);
    }
}

void usage_ledger_change(struct sched *sched, uint32_t index, uint32_t pool,
                         int sign)
{
    if (!sched->keeps_usage_ledgers) {
        return;
    }
    const struct list *list = &sched->lists.items[index];
    const struct class *class = &sched->classes.items[list->class_index];
    bool is_infinite =
        !list->is_borrowed && class->lifetime_ms == LIFETIME_INFINITE;

    usage_ledger_count(sched, list->queue, pool, &class->request,
                       is_infinite ? &class->request : NULL, sign);
}

void usage_ledger_note(struct sched *sched, uint32_t queue, uint32_t pool)
{
    if (sched->keeps_usage_ledgers && pool != NONE) {
        (void)usage_ledger_hold(sched, usage_ledger_get(sched, queue, pool));
    }
}

static uint32_t queue_of_job(const struct sched *sched, uint32_t job)
{
    return sched->lists.items[sched->jobs.items[job].list].queue;
}

void usage_ledger_book(struct sched *sched, uint32_t queue, uint32_t pool,
                       int64_t amount)
{
    if (sched->keeps_usage_ledgers && amount != 0) {
        /* Sums of absurd charges wrap, and unwrap. */
        int64_t *charged = &usage_ledger_get(sched, queue, pool)->charged;
        *charged = (int64_t)((uint64_t)*charged + (uint64_t)amount);
    }
}

static void drop_all(struct sched *sched)
{
    for (size_t i = 0; i < sched->queues.count; i++) {
        usage_ledgers_remove(sched, (uint32_t)i);
    }
}

/* Make the sums from what runs and is admitted, and what that is charged. */
static void make_all(struct sched *sched)
{
    sched->is_relinking = true;
    for (uint32_t i = 0; i < sched->jobs.count; i++) {
        const struct job *job = &sched->jobs.items[i];
        if (charge_of(sched, i)) {
            const struct charge *charge =
                &sched->charges
                     .items[map_find(&sched->charge_map, key_of_u64(i))];
            usage_ledger_book(sched, queue_of_job(sched, i), charge->pool,
                              charge->amount);
        }
        if (job->list != LIST_NONE && job->run != NONE) {
            const struct run *run = &sched->runs.items[job->run];
            usage_ledger_change(sched, job->list,
                                sched->accounts.items[run->account].pool, 1);
        }
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        admitted_count_all(sched, p);
    }
    sched->is_relinking = false;
}

void usage_ledgers_sync(struct sched *sched)
{
    bool is_wanted = are_wanted(sched);

    if (is_wanted == sched->keeps_usage_ledgers) {
        return;
    }
    sched->keeps_usage_ledgers = is_wanted;
    if (is_wanted) {
        make_all(sched);
    } else {
        drop_all(sched);
    }
}

void usage_ledger_set_flows(struct sched *sched, uint32_t queue, uint32_t pool,
                            struct flow flow, struct flow infinite_flow)
{
    if (sched->keeps_usage_ledgers) {
        struct usage_ledger *usage_ledger =
            usage_ledger_get(sched, queue, pool);
        usage_ledger->flow = flow;
        usage_ledger->infinite_flow = infinite_flow;
    }
}

static void settle(struct flow *flow, int64_t half_ms, int64_t now_ms)
{
    flow->excess = flow_excess(flow, half_ms, now_ms);
    flow->at_ms = now_ms;
}

void usage_ledgers_settle(struct sched *sched)
{
    for (size_t i = 0; i < sched->usage_ledgers.count; i++) {
        struct usage_ledger *usage_ledger = &sched->usage_ledgers.items[i];
        int64_t half_ms = pool_half_time_ms(sched, usage_ledger->pool);
        settle(&usage_ledger->flow, half_ms, sched->now_ms);
        settle(&usage_ledger->infinite_flow, half_ms, sched->now_ms);
    }
}

void usage_ledgers_remove(struct sched *sched, uint32_t index)
{
    struct queue *queue = &sched->queues.items[index];

    while (queue->usage_ledger_first != NONE) {
        uint32_t at = queue->usage_ledger_first;
        queue->usage_ledger_first = sched->usage_ledgers.items[at].next;
        sched->usage_ledgers.items[at] = (struct usage_ledger){.queue = NONE};
        SLOTS_GIVE(&sched->usage_ledgers, at);
    }
}

void usage_ledgers_fini(struct sched *sched)
{
    usage_ledger_hold_fini(sched);
    SLOTS_FREE(&sched->usage_ledgers);
    SLOTS_FREE(&sched->charges);
    map_fini(&sched->charge_map);
}

/* Charges. */

int64_t charge_of(const struct sched *sched, uint32_t job)
{
    if (!(sched->job_flags.items[job] & JOB_CHARGED)) {
        return 0;
    }
    uint32_t at = map_find(&sched->charge_map, key_of_u64(job));
    ASSERT(at != MAP_NONE); /* a job with the flag has its charge */
    ASSERT(sched->charges.items[at].amount > 0);
    return sched->charges.items[at].amount;
}

void charge_refund(struct sched *sched, uint32_t job)
{
    if (!(sched->job_flags.items[job] & JOB_CHARGED)) {
        return;
    }
    uint32_t at = map_remove(&sched->charge_map, key_of_u64(job));

    ASSERT(at != MAP_NONE && sched->charges.items[at].amount > 0);
    usage_ledger_book(sched, queue_of_job(sched, job),
                      sched->charges.items[at].pool,
                      -sched->charges.items[at].amount);
    SLOTS_GIVE(&sched->charges, at);
    sched->job_flags.items[job] &= (uint8_t)~JOB_CHARGED;
}

static void charge_put(struct sched *sched, uint32_t job, uint32_t pool,
                       int64_t amount)
{
    uint32_t at;

    charge_refund(sched, job);
    if (amount <= 0) {
        return;
    }
    at = SLOTS_TAKE(&sched->charges);
    sched->charges.items[at] = (struct charge){amount, pool};
    uint32_t before = map_put(&sched->charge_map, key_of_u64(job), at);
    ASSERT(before == MAP_NONE); /* a job is charged once */
    sched->job_flags.items[job] |= JOB_CHARGED;
    usage_ledger_book(sched, queue_of_job(sched, job), pool, amount);
}

void sched_job_charge(struct sched *sched, uint32_t job, struct str pool,
                      int64_t charge)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    sched->version++;
    charge_put(sched, job, pool_get(sched, pool), charge);
}
