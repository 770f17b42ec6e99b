#include "sched/fairness/admitted.h"

#include "sched/fairness/usage_ledger.h"

static bool is_entry_of(const struct sched *sched, const struct admitted *entry,
                        uint32_t job)
{
    uint32_t gang = sched->jobs.items[job].gang;

    return entry->is_gang ? entry->item == gang
                          : entry->item == job && gang == NONE;
}

/* Whether the job, or its gang, is in any list; nearly none is. */
static bool is_admitted(const struct sched *sched, uint32_t job)
{
    uint32_t gang = sched->jobs.items[job].gang;

    return gang == NONE ? sched->job_flags.items[job] & JOB_ADMITTED
                        : sched->gangs.items[gang].is_admitted;
}

const struct admitted *admitted_find(const struct sched *sched, uint32_t pool,
                                     uint32_t job)
{
    if (!is_admitted(sched, job)) {
        return NULL;
    }
    for (size_t i = 0; i < sched->pools.items[pool].admitted.count; i++) {
        const struct admitted *entry =
            &sched->pools.items[pool].admitted.items[i];
        if (is_entry_of(sched, entry, job)) {
            return entry;
        }
    }
    return NULL;
}

const struct admitted *admitted_anywhere(const struct sched *sched,
                                         uint32_t job, uint32_t *ret_pool)
{
    const struct admitted *entry = NULL;

    if (!is_admitted(sched, job)) {
        return NULL;
    }
    for (uint32_t p = 0; !entry && p < sched->pools.count; p++) {
        entry = admitted_find(sched, p, job);
        *ret_pool = p;
    }
    return entry;
}

uint32_t admitted_job(const struct sched *sched,
                      const struct admitted *admitted)
{
    return admitted->is_gang ? sched->gangs.items[admitted->item].position
                             : admitted->item;
}

uint8_t admitted_level(const struct sched *sched,
                       const struct admitted *admitted)
{
    uint32_t list = admitted->is_gang ? sched->gangs.items[admitted->item].list
                                      : sched->jobs.items[admitted->item].list;

    return sched->lists.items[list].level;
}

void admitted_set_flag(struct sched *sched, const struct admitted *entry,
                       bool is_in)
{
    if (entry->is_gang) {
        sched->gangs.items[entry->item].is_admitted = is_in;
    } else if (is_in) {
        sched->job_flags.items[entry->item] |= JOB_ADMITTED;
    } else {
        sched->job_flags.items[entry->item] &= (uint8_t)~JOB_ADMITTED;
    }
}

static void add_member(const struct sched *sched, struct admitted *entry,
                       uint32_t job)
{
    const struct list *list = &sched->lists.items[sched->jobs.items[job].list];
    const struct class *class = &sched->classes.items[list->class_index];

    amounts_add(&entry->all, &class->request);
    if (class->lifetime_ms == LIFETIME_INFINITE) {
        amounts_add(&entry->infinite, &class->request);
    }
}

void admitted_count_entry(struct sched *sched, uint32_t pool,
                          struct admitted *entry)
{
    entry->is_counted = true;
    entry->all = entry->infinite = (struct resource_vec){0};
    if (!entry->is_gang) {
        add_member(sched, entry, entry->item);
    } else {
        const struct seq *waiting = &sched->gangs.items[entry->item].waiting;
        for (struct seq_cursor at = {0}; !seq_is_end(waiting, at);
             seq_next(waiting, &at)) {
            add_member(sched, entry, seq_get(waiting, at));
        }
    }
    usage_ledger_count(sched, entry->queue, pool, &entry->all, &entry->infinite,
                       1);
    usage_ledger_book(sched, entry->queue, pool, entry->charge);
}

static void uncount_entry(struct sched *sched, uint32_t pool,
                          struct admitted *entry)
{
    if (!entry->is_counted) {
        return;
    }
    entry->is_counted = false;
    usage_ledger_count(sched, entry->queue, pool, &entry->all, &entry->infinite,
                       -1);
    usage_ledger_book(sched, entry->queue, pool, -entry->charge);
}

void admitted_count_all(struct sched *sched, uint32_t p)
{
    for (size_t i = 0; i < sched->pools.items[p].admitted.count; i++) {
        admitted_count_entry(sched, p,
                             &sched->pools.items[p].admitted.items[i]);
    }
}

void admitted_let_go(struct sched *sched)
{
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; i < pool->admitted.count; i++) {
            uncount_entry(sched, p, &pool->admitted.items[i]);
        }
    }
}

/* Take out the entry at `at`; the order of the others stays. */
static void drop(struct sched *sched, struct pool *pool, size_t at)
{
    ASSERT(at < pool->admitted.count);
    admitted_set_flag(sched, &pool->admitted.items[at], false);
    uncount_entry(sched, (uint32_t)(pool - sched->pools.items),
                  &pool->admitted.items[at]);
    for (; at + 1 < pool->admitted.count; at++) {
        pool->admitted.items[at] = pool->admitted.items[at + 1];
    }
    pool->admitted.count--;
    sched->version++;
}

static void drop_item(struct sched *sched, uint32_t item, bool is_gang)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; i < pool->admitted.count; i++) {
            if (pool->admitted.items[i].item == item &&
                pool->admitted.items[i].is_gang == is_gang) {
                drop(sched, pool, i);
                return;
            }
        }
    }
}

bool admitted_is_any(const struct sched *sched)
{
    size_t count = 0;

    for (size_t p = 0; p < sched->pools.count; p++) {
        count += sched->pools.items[p].admitted.count;
    }
    return count > 0;
}

void admitted_leave(struct sched *sched, uint32_t job)
{
    uint32_t gang = sched->jobs.items[job].gang;

    if (is_admitted(sched, job)) {
        drop_item(sched, gang == NONE ? job : gang, gang != NONE);
    }
}

/* Members came or went: usage ledgers count what waits now. */
static void recount_gang(struct sched *sched, uint32_t gang)
{
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; i < pool->admitted.count; i++) {
            struct admitted *entry = &pool->admitted.items[i];
            if (entry->is_gang && entry->item == gang && entry->is_counted) {
                uncount_entry(sched, p, entry);
                admitted_count_entry(sched, p, entry);
            }
        }
    }
}

void admitted_check_gang(struct sched *sched, uint32_t index)
{
    const struct gang *gang = &sched->gangs.items[index];

    if (gang->is_admitted && gang->position == NONE) {
        drop_item(sched, index, true);
    } else if (gang->is_admitted) {
        recount_gang(sched, index);
    }
}

void admitted_unmark(struct sched *sched, uint32_t job)
{
    uint32_t gang = sched->jobs.items[job].gang, p;
    struct admitted entry = {
        .item = gang == NONE ? job : gang,
        .is_gang = gang != NONE,
    };

    if (!admitted_anywhere(sched, job, &p)) {
        admitted_set_flag(sched, &entry, false);
    }
}

void admitted_follow(struct sched *sched)
{
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        admitted_count_all(sched, p);
    }
    for (size_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        bool is_kept =
            pool->policy_index >= 0 &&
            sched->policy->pools[pool->policy_index].admitted_window > 0;
        while (!is_kept && pool->admitted.count) {
            drop(sched, pool, pool->admitted.count - 1);
        }
    }
}

/* Revocable runs. */

void admitted_fini(struct sched *sched)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        VEC_FREE(&sched->pools.items[p].admitted);
    }
    VEC_FREE(&sched->revocables);
}
