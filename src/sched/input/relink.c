#include "sched/input/relink.h"

#include "sched/state/borrowed.h"
#include "sched/state/extras.h"

/* Whether more than sums knows of a run. */
static bool is_known_elsewhere(const struct sched *sched, const struct job *job)
{
    return job->gang != NONE || sched->keeps_usage_ledgers ||
           sched->lists.items[job->list].app != NONE;
}

/* No run counts anywhere; what they are chained by is made anew. */
static void forget_runs(struct sched *sched)
{
    for (size_t i = 0; i < sched->accounts.count; i++) {
        struct account *account = &sched->accounts.items[i];
        account->allocated = account->borrowed = (struct resource_vec){0};
        account->leased_count = 0;
        account->run_first = NONE;
    }
    /* Queues stay among those that have jobs. */
    for (size_t i = 0; i < sched->queues.count; i++) {
        sched->queues.items[i].leased_count = 0;
    }
    for (size_t i = 0; i < sched->nodes.count; i++) {
        struct node *node = &sched->nodes.items[i];
        node->run_first = NONE;
        node->run_count = node->held_count = 0;
    }
    borrowed_forget_runs(sched);
    extras_forget(sched);
    sched->protected_run_count = 0;
    for (size_t i = 0; i < sched->pools.count; i++) {
        sched->pools.items[i].protected_run_count = 0;
    }
}

void relink_take_off(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->gangs.count; i++) {
        if (sched->gangs.items[i].is_live) {
            gang_detach(sched, i);
        }
    }
    for (uint32_t i = 0; i < sched->jobs.count; i++) {
        const struct job *job = &sched->jobs.items[i];
        if (job->list == LIST_NONE) {
            continue;
        }
        if (job->run == NONE) {
            job_unwait(sched, i);
        } else if (is_known_elsewhere(sched, job)) {
            run_unlink(sched, job->run);
        }
    }
    forget_runs(sched);
}

/* A gang has the level of its members' class. */
static void move_gang(struct sched *sched, const struct job *job)
{
    struct gang *gang = &sched->gangs.items[job->gang];
    const struct list *own = &sched->lists.items[job->list];
    uint32_t level = list_level(own);

    if (list_level(&sched->lists.items[gang->list]) != level) {
        uint32_t list = list_get(sched, gang->queue, NONE, level, own->pool,
                                 sched->lists.items[gang->list].app);
        list_put(sched, gang->list);
        gang->list = list;
    }
}

void relink_put_on(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->jobs.count; i++) {
        const struct job *job = &sched->jobs.items[i];
        if (job->list == LIST_NONE) {
            continue;
        }
        if (job->gang != NONE) {
            move_gang(sched, job);
        }
        if (job->run != NONE) {
            run_link(sched, job->run);
        } else {
            job_wait(sched, i);
        }
    }
    for (uint32_t i = 0; i < sched->gangs.count; i++) {
        if (sched->gangs.items[i].is_live) {
            gang_attach(sched, i);
        }
    }
}
