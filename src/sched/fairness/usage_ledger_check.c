#include <string.h>

#include "sched/fairness/usage_ledger.h"
#include "sched/state/borrowed.h"

/* Recomputing what usage ledgers keep. */

/* The sum that is made for a usage ledger, NULL if there is none to check. */
static struct usage_ledger *sum_of(const struct sched *sched,
                                   struct usage_ledger *sums, uint32_t queue,
                                   uint32_t pool)
{
    const struct usage_ledger *usage_ledger =
        usage_ledger_find(sched, queue, pool);

    return usage_ledger ? &sums[usage_ledger - sched->usage_ledgers.items]
                        : NULL;
}

static void add(struct usage_ledger *sum, const struct class *class,
                bool is_borrowed)
{
    amounts_add(&sum->all, &class->request);
    if (!is_borrowed && class->lifetime_ms == LIFETIME_INFINITE) {
        amounts_add(&sum->infinite, &class->request);
    }
}

static const struct class *class_of(const struct sched *sched, uint32_t job)
{
    const struct list *list = &sched->lists.items[sched->jobs.items[job].list];

    return &sched->classes.items[list->class_index];
}

/* False when what a job has belongs to no usage ledger. */
static bool add_job(const struct sched *sched, struct usage_ledger *sums,
                    uint32_t index)
{
    const struct job *job = &sched->jobs.items[index];
    uint32_t queue = sched->lists.items[job->list].queue;

    if (job->run != NONE) {
        uint32_t account = sched->runs.items[job->run].account;
        uint32_t pool = sched->accounts.items[account].pool;
        struct usage_ledger *sum =
            pool == NONE ? NULL : sum_of(sched, sums, queue, pool);
        if (sum) {
            add(sum, class_of(sched, index), borrowed_has(sched, index));
        } else if (pool != NONE) {
            return false;
        }
    }
    if (charge_of(sched, index)) {
        const struct charge *charge =
            &sched->charges
                 .items[map_find(&sched->charge_map, key_of_u64(index))];
        struct usage_ledger *sum = sum_of(sched, sums, queue, charge->pool);
        if (!sum) {
            return false;
        }
        sum->charged += charge->amount;
    }
    return true;
}

static bool add_entry(const struct sched *sched, struct usage_ledger *sums,
                      uint32_t pool, const struct admitted *entry)
{
    struct usage_ledger *sum = sum_of(sched, sums, entry->queue, pool);

    if (!sum) {
        return false;
    }
    sum->charged += entry->charge;
    if (!entry->is_gang) {
        add(sum, class_of(sched, entry->item), false);
        return true;
    }
    const struct seq *waiting = &sched->gangs.items[entry->item].waiting;
    for (struct seq_cursor at = {0}; !seq_is_end(waiting, at);
         seq_next(waiting, &at)) {
        add(sum, class_of(sched, seq_get(waiting, at)), false);
    }
    return true;
}

static bool add_all(const struct sched *sched, struct usage_ledger *sums)
{
    for (uint32_t i = 0; i < sched->jobs.count; i++) {
        if (sched->jobs.items[i].list != LIST_NONE &&
            !add_job(sched, sums, i)) {
            return false;
        }
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; i < pool->admitted.count; i++) {
            if (!add_entry(sched, sums, p, &pool->admitted.items[i])) {
                return false;
            }
        }
    }
    return true;
}

bool usage_ledgers_are_right(const struct sched *sched, struct arena *arena)
{
    struct usage_ledger *sums =
        arena_alloc_array(arena, sched->usage_ledgers.count + 1, sizeof(*sums));

    if (!sched->keeps_usage_ledgers) {
        return true;
    }
    if (!add_all(sched, sums)) {
        return false;
    }
    for (size_t i = 0; i < sched->usage_ledgers.count; i++) {
        const struct usage_ledger *usage_ledger =
            &sched->usage_ledgers.items[i];
        if (usage_ledger->queue != NONE &&
            (memcmp(&sums[i].all, &usage_ledger->all, sizeof(sums[i].all)) !=
                 0 ||
             memcmp(&sums[i].infinite, &usage_ledger->infinite,
                    sizeof(sums[i].infinite)) != 0 ||
             sums[i].charged != usage_ledger->charged ||
             usage_ledger->flow.excess < 0 ||
             usage_ledger->infinite_flow.excess < 0)) {
            return false;
        }
    }
    return true;
}
