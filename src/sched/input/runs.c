/* Counts a lease on its node, in its account and in its gang. */
#include "sched/apps/apps.h"
#include "sched/evict/evictable.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/input/jobs.h"
#include "sched/state/borrowed.h"
#include "sched/state/sub_groups.h"

uint32_t account_get(struct sched *sched, uint32_t queue, uint32_t pool,
                     uint32_t priority_class)
{
    struct queue *q = &sched->queues.items[queue];
    uint32_t at = q->account_first;

    for (; at != NONE; at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        if (account->pool == pool &&
            account->priority_class == priority_class) {
            return at;
        }
    }
    at = SLOTS_TAKE(&sched->accounts);
    sched->accounts.items[at] = (struct account){
        .queue = queue,
        .pool = pool,
        .next = q->account_first,
        .run_first = NONE,
        .priority_class = (uint8_t)priority_class,
    };
    q->account_first = at;
    return at;
}

/* Chain a run into its account, or take it out. */
static void chain_account(struct sched *sched, uint32_t index, int sign)
{
    struct run *run = &sched->runs.items[index];
    struct account *account = &sched->accounts.items[run->account];

    if (sign > 0) {
        run->account_next = account->run_first;
        run->account_previous = NONE;
        if (account->run_first != NONE) {
            sched->runs.items[account->run_first].account_previous = index;
        }
        account->run_first = index;
    } else {
        /* Only the first run of an account has none before it. */
        ASSERT((run->account_previous == NONE) ==
               (account->run_first == index));
        if (run->account_next != NONE) {
            sched->runs.items[run->account_next].account_previous =
                run->account_previous;
        }
        if (run->account_previous != NONE) {
            sched->runs.items[run->account_previous].account_next =
                run->account_next;
        } else {
            account->run_first = run->account_next;
        }
    }
}

void run_count_protected(struct sched *sched, const struct run *run, int sign)
{
    uint32_t pool = sched->accounts.items[run->account].pool;

    ASSERT(sign > 0 || sched->pools.items[pool].protected_run_count > 0);
    sched->protected_run_count += (uint32_t)sign;
    sched->pools.items[pool].protected_run_count += (uint32_t)sign;
    ASSERT(sched->pools.items[pool].protected_run_count <=
           sched->protected_run_count); /* a pool has a part of all */
}

static void count_run(struct sched *sched, uint32_t index, int sign)
{
    struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];
    struct account *account = &sched->accounts.items[run->account];

    ASSERT(sign > 0 || account->leased_count > 0); /* it was counted here */
    amounts_count(&account->allocated, &jobs_class(sched, job)->request, sign);
    account->leased_count += (uint32_t)sign;
    ASSERT_SLOW(account->leased_count > 0 || /* no lease, nothing held */
                amounts_are_none(&account->allocated));
    jobs_count_of_queue(sched, account->queue,
                        &sched->queues.items[account->queue].leased_count,
                        sign);
    uint32_t app = sched->lists.items[job->list].app;
    if (app != NONE) {
        app_use(sched, app, account->pool, &jobs_class(sched, job)->request,
                sign);
    }
    usage_ledger_change(sched, job->list, account->pool, sign);
    chain_account(sched, index, sign);
    evictable_note_run(sched, index, sign);
    borrowed_count_run(sched, run, sign);
    if (run->is_protected) {
        run_count_protected(sched, run, sign);
    }
    node_add_run(sched, index, sign);
}

void run_link(struct sched *sched, uint32_t index)
{
    struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];
    const struct class *class = jobs_class(sched, job);

    run->level = (uint8_t)level_of(sched, run->priority);
    run->is_urgency_preemptible =
        !sched->policy->classes[class->priority_class].is_kept_from_urgency;
    if (borrowed_has(sched, run->job)) { /* whatever its class is at home */
        run->level = 0;
        run->is_urgency_preemptible = true;
    }
    ASSERT(run->level < sched->level_count); /* some class has that priority */
    run->account =
        account_get(sched, sched->lists.items[job->list].queue,
                    sched->nodes.items[run->node].pool, class->priority_class);
    count_run(sched, index, 1);
    if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        seq_insert(&gang->leased, run->job, job_less, sched);
        sub_groups_run(sched, run->job, 1);
    }
}

void run_unlink(struct sched *sched, uint32_t index)
{
    const struct run *run = &sched->runs.items[index];
    const struct job *job = &sched->jobs.items[run->job];

    count_run(sched, index, -1);
    if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        seq_remove(&gang->leased, run->job, job_less, sched);
        sub_groups_run(sched, run->job, -1);
    }
}
