/* Changes of the list of admitted work that the caller reports. */
#include "base/time_add.h"
#include "sched/fairness/admitted.h"
#include "sched/fairness/usage_ledger.h"

void admitted_charge(struct sched *sched, uint32_t job, int64_t charge)
{
    uint32_t p;
    const struct admitted *entry = admitted_anywhere(sched, job, &p);

    if (entry) {
        struct pool *pool = &sched->pools.items[p];
        usage_ledger_book(sched, entry->queue, p, charge - entry->charge);
        pool->admitted.items[entry - pool->admitted.items].charge = charge;
    }
}

void admitted_date(struct sched *sched, uint32_t job, int64_t since_ms)
{
    uint32_t p;
    const struct admitted *entry = admitted_anywhere(sched, job, &p);

    if (entry) {
        struct pool *pool = &sched->pools.items[p];
        pool->admitted.items[entry - pool->admitted.items].since_ms = since_ms;
    }
}

void sched_job_admit(struct sched *sched, uint32_t job, struct str pool_name,
                     int64_t start_ms, int64_t charge)
{
    uint32_t gang = sched->jobs.items[job].gang;
    uint32_t p = pool_get(sched, pool_name), was_in;
    struct pool *pool = &sched->pools.items[p];
    const struct admitted *entry = admitted_anywhere(sched, job, &was_in);

    ASSERT(sched->jobs.items[job].list != LIST_NONE);
    sched->version++;
    if (entry && was_in == p) {
        pool->admitted.items[entry - pool->admitted.items].start_ms = start_ms;
        return;
    }
    bool is_whole = gang == NONE || sched->gangs.items[gang].position != NONE;
    if (entry || sched->jobs.items[job].run != NONE || !is_whole ||
        pool->admitted.count >= ADMITTED_MAX) {
        return;
    }
    struct admitted fresh = {
        .item = gang == NONE ? job : gang,
        .queue = sched->lists.items[sched->jobs.items[job].list].queue,
        .serial = ++sched->admission_count,
        .is_gang = gang != NONE,
        .start_ms = start_ms,
        .since_ms = sched->now_ms,
        .charge = charge > 0 ? charge : 0,
    };
    /* Who was let in earlier stands before it. */
    ASSERT(pool->admitted.count == 0 ||
           pool->admitted.items[pool->admitted.count - 1].serial <
               fresh.serial);
    admitted_count_entry(sched, p, &fresh);
    VEC_PUSH(&pool->admitted, fresh);
    admitted_set_flag(sched, &fresh, true);
}

void sched_job_dismiss(struct sched *sched, uint32_t job)
{
    admitted_leave(sched, job);
}

static int64_t reservation_delay_ms(const struct sched *sched, uint32_t pool)
{
    int index = sched->pools.items[pool].policy_index;

    return index < 0 ? 0 : sched->policy->pools[index].reservation_delay_ms;
}

bool sched_job_admission(const struct sched *sched, uint32_t job,
                         struct sched_admission *ret_admission)
{
    uint32_t p;

    if (job >= sched->jobs.count || sched->jobs.items[job].list == LIST_NONE) {
        return false;
    }
    const struct admitted *entry = admitted_anywhere(sched, job, &p);
    if (!entry) {
        return false;
    }
    *ret_admission = (struct sched_admission){
        .pool = intern_get(sched->pool_names, p),
        .ahead = (uint32_t)(entry - sched->pools.items[p].admitted.items),
        .start_ms = entry->start_ms,
        .reserved_from_ms = time_add_saturating(entry->since_ms,
                                                reservation_delay_ms(sched, p)),
    };
    return true;
}

void sched_job_yield(struct sched *sched, uint32_t job, uint32_t for_job,
                     bool is_at_once, int64_t from_ms)
{
    uint32_t p, index = sched->jobs.items[job].run;
    const struct admitted *entry =
        for_job < sched->jobs.count &&
                sched->jobs.items[for_job].list != LIST_NONE
            ? admitted_anywhere(sched, for_job, &p)
            : NULL;

    ASSERT(index != NONE);
    if (!entry || sched->runs.items[index].revocable_for) {
        return;
    }
    admitted_note_revocable(sched, index, entry->serial, is_at_once, from_ms);
}

void admitted_note_revocable(struct sched *sched, uint32_t index,
                             uint32_t serial, bool is_at_once, int64_t from_ms)
{
    struct run *run = &sched->runs.items[index];

    ASSERT(run->revocable_for == 0 && serial != 0);
    sched->version++;
    run->revocable_for = serial;
    run->yields_at_once = is_at_once;
    run->yields_from_ms = from_ms;
    node_count_change(sched, run->node);
    run->revocable_place = (uint32_t)sched->revocables.count;
    VEC_PUSH(&sched->revocables, index);
}

void admitted_forget_revocable(struct sched *sched, uint32_t index)
{
    struct run *run = &sched->runs.items[index];

    if (run->revocable_for == 0) {
        return;
    }
    ASSERT(run->revocable_place <
           sched->revocables.count); /* it stands there */
    ASSERT(sched->revocables.items[run->revocable_place] == index);
    uint32_t last = sched->revocables.items[--sched->revocables.count];
    sched->revocables.items[run->revocable_place] = last;
    sched->runs.items[last].revocable_place = run->revocable_place;
    run->revocable_for = 0;
    run->yields_at_once = false;
    run->yields_from_ms = 0;
    node_count_change(sched, run->node);
}
