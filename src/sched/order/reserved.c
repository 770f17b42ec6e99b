#include "sched/order/reserved.h"

#include "base/time_add.h"
#include "sched/order/round.h"

static struct reserved_node *find_node(const struct reservation *reservation,
                                       uint32_t node)
{
    uint32_t low = 0, high = reservation->node_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (reservation->nodes[middle].node < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    ASSERT(low == reservation->node_count ||
           reservation->nodes[low].node >= node);
    return low < reservation->node_count && reservation->nodes[low].node == node
               ? &reservation->nodes[low]
               : NULL;
}

/* What a class passes by. */
struct passer {
    const struct class *class;
    uint32_t level;
    int64_t lifetime_ms, now_ms;
    bool is_for_share; /* others lose places to it, since their queues have
                          more */
};

/* A class counts for nothing where its jobs are borrowed; and what gangs grow
 * by has no lifetime. */
static struct passer passer_of(const struct round *round,
                               const struct class *class)
{
    return (struct passer){
        .class = class,
        .level = round->is_lending ? 0 : class->level,
        .lifetime_ms = round->is_growing ? 0 : class->lifetime_ms,
        .now_ms = round->now_ms,
        .is_for_share = round->reserve.is_for_share,
    };
}

/* How it makes way in time, on whichever node; what is more urgent does not
 * yield. */
static enum pass pass_in_time(const struct reservation *reservation,
                              const struct passer *passer)
{
    int64_t start_ms = reservation->start_ms, now_ms = passer->now_ms;
    bool may_yield = !reservation->is_unlisted &&
                     passer->level <= reservation->level &&
                     (!reservation->is_priced || passer->is_for_share);

    if (start_ms == SCHED_START_UNKNOWN) {
        return may_yield && passer->lifetime_ms == 0 ? BACKFILL_REVOCABLE
                                                     : BACKFILL_NO;
    }
    if (time_add_saturating(now_ms, passer->class->deadline_ms) <= start_ms) {
        return BACKFILL_ENDS_IN_TIME;
    }
    return may_yield &&
                   time_add_saturating(now_ms, passer->lifetime_ms) <= start_ms
               ? BACKFILL_REVOCABLE
               : BACKFILL_NO;
}

static enum pass pass_at(const struct reservation *reservation,
                         const struct passer *passer, uint32_t node,
                         bool is_whole)
{
    const struct reserved_node *reserved = find_node(reservation, node);

    if (!reserved || passer->level > reservation->level) {
        return BACKFILL_BESIDE;
    }
    enum pass pass = pass_in_time(reservation, passer);
    if (pass == BACKFILL_NO && !is_whole &&
        amounts_fit(&passer->class->request, &reserved->extra)) {
        pass = BACKFILL_BESIDE;
    }
    return pass;
}

bool reserve_is_priced(const struct sched *sched, uint32_t p)
{
    int index = sched->pools.items[p].policy_index;

    return index >= 0 &&
           (sched->policy->pools[index].preemption_price_milli > 0 ||
            sched->policy->pools[index].loss_limit_milli > 0);
}

enum pass reserve_pass_at(const struct reservation *reservation,
                          const struct class *class, uint32_t node,
                          int64_t now_ms, bool is_whole)
{
    struct passer passer = {class, class->level, class->lifetime_ms, now_ms,
                            false};

    return pass_at(reservation, &passer, node, is_whole);
}

static enum pass pass_now(const struct round *round,
                          const struct reservation *reservation,
                          const struct class *class, uint32_t node,
                          bool is_whole)
{
    if (!reservation || !reserve_is_at(round->sched, node)) {
        return BACKFILL_BESIDE;
    }
    struct passer passer = passer_of(round, class);
    return pass_at(reservation, &passer, node, is_whole);
}

enum pass reserve_pass(const struct round *round,
                       const struct reservation *reservation,
                       const struct class *class, uint32_t node)
{
    return pass_now(round, reservation, class, node, false);
}

enum pass reserve_pass_for_share(const struct round *round,
                                 const struct reservation *reservation,
                                 const struct class *class, uint32_t node)
{
    if (!reservation || !reserve_is_at(round->sched, node)) {
        return BACKFILL_BESIDE;
    }
    struct passer passer = passer_of(round, class);
    passer.is_for_share = true;
    return pass_at(reservation, &passer, node, false);
}

enum pass reserve_pass_exclusive(const struct round *round,
                                 const struct reservation *reservation,
                                 const struct class *class, uint32_t node)
{
    return pass_now(round, reservation, class, node, true);
}

bool reserve_is_any_soon(const struct round *round, const struct class *class)
{
    const struct reservation *hold = round->reserve.hold;

    if (!hold ||
        time_add_saturating(round->now_ms, round->sched->policy->cooldown_ms) <=
            hold->fair_ms) {
        return false;
    }
    struct passer passer = passer_of(round, class);
    passer.is_for_share = true;
    return passer.level <= hold->level &&
           pass_in_time(hold, &passer) == BACKFILL_REVOCABLE &&
           !what_if_takes_reserved_soon(round->what_if, hold->job,
                                        hold->fair_ms);
}

bool reserve_is_soon(const struct round *round, const struct class *class,
                     uint32_t node)
{
    const struct sched *sched = round->sched;

    return sched->nodes.items[node].reserved_stamp == sched->stamp &&
           reserve_is_any_soon(round, class) &&
           find_node(round->reserve.hold, node);
}

uint32_t reserve_pass_count(const struct round *round,
                            const struct reservation *reservation,
                            const struct class *class, uint32_t node,
                            uint32_t count)
{
    if (!reservation || !reserve_is_at(round->sched, node)) {
        return count;
    }
    const struct reserved_node *reserved = find_node(reservation, node);
    struct passer passer = passer_of(round, class);
    if (!reserved || passer.level > reservation->level ||
        pass_in_time(reservation, &passer) != BACKFILL_NO) {
        return count;
    }
    uint32_t beside = amounts_times(&class->request, &reserved->extra);
    return beside < count ? beside : count;
}

void reserve_charge(const struct round *round, struct reservation *reservation,
                    const struct class *class, uint32_t node, int64_t count)
{
    struct reserved_node *reserved =
        reserve_is_at(round->sched, node) ? find_node(reservation, node) : NULL;

    if (!reserved) {
        return;
    }
    struct passer passer = passer_of(round, class);
    if (pass_in_time(reservation, &passer) == BACKFILL_NO) {
        amounts_add_times(&reserved->extra, &class->request, -count);
    }
}
