/* Jobs become borrowed, or return home; and whether jobs of a pool may be
 * preempted at all. */
#include "sched/state/borrowed.h"

#include "sched/apps/apps.h"
#include "sched/evict/cooldown.h"
#include "sched/fairness/admitted.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/reserve/reserve.h"

/* Put a job into the list for what it is now. */
static void move_list(struct sched *sched, uint32_t index, bool is_borrowed)
{
    struct job *job = &sched->jobs.items[index];
    struct list list = sched->lists.items[job->list];

    list.is_borrowed = is_borrowed;
    uint32_t to = list_get(sched, list.queue, list.class_index,
                           list_level(&list), list.pool, list.app);
    list_put(sched, job->list);
    job->list = to & LIST_NONE;
}

/* Likewise the gang that it belongs to. */
static void move_gang(struct sched *sched, struct gang *gang, bool is_borrowed)
{
    struct list list = sched->lists.items[gang->list];

    if (list.is_borrowed != is_borrowed) {
        list.is_borrowed = is_borrowed;
        uint32_t to = list_get(sched, list.queue, NONE, list_level(&list),
                               list.pool, list.app);
        list_put(sched, gang->list);
        gang->list = to;
    }
}

/* A job that waits becomes a borrower of its application, or none any more. */
static void ask_anew(struct sched *sched, const struct job *job,
                     bool is_borrower)
{
    uint32_t app = sched->lists.items[job->list].app;

    if (app == NONE) {
        return;
    }
    if (is_borrower) {
        app_count_borrower(sched, app, 1, job, job->is_opted_out);
        app_count(sched, app, -1, 0, APP_RELEASED);
    } else {
        app_count(sched, app, 1, 0, APP_ASKED);
        app_describe(sched, app, job, job->is_opted_out);
        app_count_borrower(sched, app, -1, job, false);
    }
}

/* Move a job to the list that it belongs in now, with its run or with its place
 * among those that wait. */
static void relist(struct sched *sched, uint32_t index, bool is_borrowed)
{
    const struct job *job = &sched->jobs.items[index];

    sched->is_relinking = true;
    if (job->run != NONE) {
        run_unlink(sched, job->run);
    } else {
        job_unwait(sched, index);
    }
    move_list(sched, index, is_borrowed);
    if (job->run != NONE) {
        run_link(sched, job->run);
    } else {
        job_wait(sched, index);
    }
    sched->is_relinking = false;
}

void sched_job_borrowed_set(struct sched *sched, uint32_t index,
                            bool is_borrowed)
{
    ASSERT(index < sched->jobs.count);
    struct job *job = &sched->jobs.items[index];

    ASSERT(job->list != LIST_NONE);
    if (borrowed_has(sched, index) == is_borrowed) {
        return;
    }
    sched->version++;
    cooldown_news(sched);
    if (is_borrowed) {
        admitted_leave(sched, index);
    }
    if (job->gang != NONE) {
        struct gang *gang = &sched->gangs.items[job->gang];
        gang_detach(sched, job->gang);
        if (!is_borrowed || job->run != NONE || gang->leased.count == 0) {
            move_gang(sched, gang, is_borrowed); /* it is what runs of it */
        }
    }
    if (job->run != NONE) { /* what it was goes by the flows that are held */
        usage_ledger_note(
            sched, sched->lists.items[job->list].queue,
            sched->accounts.items[sched->runs.items[job->run].account].pool);
    }
    relist(sched, index, is_borrowed);
    if (job->run == NONE) {
        ask_anew(sched, job, is_borrowed);
    }
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

void sched_preemption_set(struct sched *sched, bool is_off)
{
    sched->is_pool_object = true;
    if (sched->is_preemption_off != is_off) {
        sched->version++;
        sched->is_preemption_off = is_off;
        reserve_fini(sched); /* what goes when is another */
    }
}

void sched_foreign_pending_set(struct sched *sched, struct str name,
                               const struct resource_vec *amounts)
{
    struct pool *pool = &sched->pools.items[pool_get(sched, name)];

    if (memcmp(&pool->foreign_pending, amounts, sizeof(*amounts)) != 0) {
        pool->foreign_pending = *amounts;
        sched->version++;
        cooldown_news(sched);
    }
}
