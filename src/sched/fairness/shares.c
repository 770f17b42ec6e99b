#include "sched/data/merge_sort.h"
#include "sched/state/state.h"

/* An excess of one part in 10^9 is none: shares come out of divisions, and a
 * queue that has exactly its share is not over it. */
static const double SLACK = 1e-9;

/* Demand of one account within its queue's limits. */
static void add_demand(uint32_t pool, const struct account *account,
                       struct resource_vec *want)
{
    if (account->pool == NONE || account->pool == pool) {
        amounts_add(&want[account->priority_class], &account->queued);
    }
    if (account->pool == pool) {
        amounts_add(&want[account->priority_class], &account->allocated);
    }
}

static void cap_demand(const struct sched *sched, const struct what_if *what_if,
                       uint32_t queue, uint32_t pool, uint32_t priority_class,
                       struct resource_vec *want)
{
    if (!queue_has_limits(sched, queue, priority_class)) {
        return;
    }
    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        int64_t limit =
            queue_limit_of(sched, what_if, queue, pool, priority_class, r);
        want->v[r] = want->v[r] < limit ? want->v[r] : limit;
    }
}

/* Add what an account has in a pool and would have there; whether that makes
 * its queue active. */
static bool add_account(uint32_t pool, const struct account *account,
                        bool is_cordoned, struct share *share,
                        struct resource_vec *want)
{
    bool is_here = account->pool == pool;

    if (is_here) {
        amounts_add(&share->allocated, &account->allocated);
        share->leased_count += account->leased_count;
    }
    if (!is_cordoned) {
        add_demand(pool, account, want);
    } else if (is_here) {
        amounts_add(&want[account->priority_class], &account->allocated);
    }
    return (is_here && account->leased_count > 0) ||
           (!is_cordoned && (is_here || account->pool == NONE) &&
            account->queued_count > 0);
}

static bool measure(const struct sched *sched, const struct what_if *what_if,
                    uint32_t pool, uint32_t index, struct share *share)
{
    const struct queue *queue = &sched->queues.items[index];
    const struct cost_base *base = &sched->pools.items[pool].base;
    struct resource_vec want[POLICY_CLASSES_MAX];
    uint64_t used = 0; /* priority classes, as bits */
    bool is_active = false;

    *share = (struct share){.queue = index};
    for (uint32_t at = queue->account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        uint64_t bit = (uint64_t)1 << account->priority_class;
        if (!(used & bit)) {
            want[account->priority_class] = (struct resource_vec){0};
            used |= bit;
        }
        is_active |=
            add_account(pool, account, queue->is_cordoned, share, want);
    }
    for (uint32_t c = 0; c < sched->policy->class_count; c++) {
        if (used >> c & 1) {
            cap_demand(sched, what_if, index, pool, c, &want[c]);
            amounts_add(&share->wanted, &want[c]);
        }
    }
    share->weight =
        (double)PRIORITY_FACTOR_ONE_MICRO / (double)queue->factor_micro;
    share->actual = cost_of(base, &share->allocated, NULL, 1).approx;
    share->demand = cost_of(base, &share->wanted, NULL, 1).approx;
    return is_active;
}

/* Before in the order of water-filling: sooner satisfied. */
static bool is_sooner(const struct sched *sched, const struct share *a,
                      const struct share *b)
{
    double x = a->demand / a->weight, y = b->demand / b->weight;

    if (x != y) {
        return x < y;
    }
    return sched->queues.items[a->queue].rank <
           sched->queues.items[b->queue].rank;
}

static struct share **sort_shares(const struct sched *sched,
                                  struct share **items, struct share **spare,
                                  uint32_t count)
{
#define IS_SOONER(b, a) is_sooner(sched, *(b), *(a))
    return MERGE_SORT(items, spare, count, IS_SOONER);
#undef IS_SOONER
}

/* What undemanding queues leave goes to the others by weight: exact, since
 * whoever is satisfied soonest is settled first. */
static void fill(const struct sched *sched, struct share *shares,
                 uint32_t count, struct arena *arena)
{
    struct share **order = arena_alloc_array(arena, count, sizeof(*order));
    struct share **spare = arena_alloc_array(arena, count, sizeof(*spare));
    double *weights = arena_alloc_array(arena, count + 1, sizeof(*weights));
    double rest = 1;

    for (uint32_t i = 0; i < count; i++) {
        order[i] = &shares[i];
    }
    order = sort_shares(sched, order, spare, count);
    for (uint32_t i = count; i > 0; i--) {
        weights[i - 1] = weights[i] + order[i - 1]->weight;
    }
    for (uint32_t i = 0; i < count; i++) {
        /* No queue is without weight, and none is given what is not there. */
        ASSERT(order[i]->weight > 0 && rest >= -SLACK);
        double even = order[i]->weight * (rest / weights[i]);
        order[i]->fair = order[i]->weight / weights[0];
        if (order[i]->demand <= even) {
            order[i]->adjusted = order[i]->demand;
            rest -= order[i]->demand;
        } else {
            /* So it is for all that follow: their level is the same. */
            for (uint32_t k = i; k < count; k++) {
                order[k]->fair = order[k]->weight / weights[0];
                order[k]->adjusted = order[k]->weight * (rest / weights[i]);
            }
            break;
        }
    }
}

struct share *shares_of(struct sched *sched, const struct what_if *what_if,
                        uint32_t pool, struct arena *arena, uint32_t *ret_count)
{
    struct share *shares =
        arena_alloc_array(arena, sched->active.count, sizeof(*shares));
    uint32_t count = 0;

    for (size_t i = 0; i < sched->active.count; i++) {
        if (measure(sched, what_if, pool, sched->active.items[i],
                    &shares[count])) {
            count++;
        }
    }
    fill(sched, shares, count, arena);
    *ret_count = count;
    return shares;
}

double share_kept(const struct sched *sched, uint32_t pool,
                  const struct share *share)
{
    int index = sched->pools.items[pool].policy_index;
    double protected_fraction =
        index < 0 ? 1
                  : (double)sched->policy->pools[index].protected_fraction_ppm /
                        FRACTION_ONE_PPM;
    double due = share->fair > share->adjusted ? share->fair : share->adjusted;

    return protected_fraction * due;
}

bool share_is_over(const struct sched *sched, uint32_t pool,
                   const struct share *share)
{
    return share->actual > share_kept(sched, pool, share) * (1 + SLACK);
}
