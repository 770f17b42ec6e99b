#include "sched/input/jobs.h"

#include "sched/evict/cooldown.h"
#include "sched/evict/losses.h"
#include "sched/fairness/admitted.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/state/borrowed.h"
#include "sched/state/sub_groups.h"

struct job *jobs_at(struct sched *sched, uint32_t index)
{
    ASSERT(index < sched->jobs.count);
    struct job *job = &sched->jobs.items[index];

    ASSERT(job->list != LIST_NONE);
    return job;
}

void jobs_mark_leased(struct sched *sched, struct job *job, bool was_leased)
{
    if (job->gang != NONE) {
        sched->gangs.items[job->gang].started_count +=
            (uint32_t)was_leased - job->was_leased;
    }
    job->was_leased = was_leased;
}

/* The application of a job that comes to wait, which hears of it. */
static uint32_t app_of_new(struct sched *sched, const struct job *job,
                           const struct sched_job *record)
{
    uint32_t app = app_get(sched, record->queue, record->application);

    if (record->is_borrowed) {
        app_count_borrower(sched, app, 1, job, record->has_stateaware_off);
    } else if (record->is_returning && sched->apps.items[app].lent_count > 0) {
        app_lend(sched, app, -1); /* it asked all the while */
    } else {
        app_count(sched, app, 1, 0, APP_ASKED);
        app_describe(sched, app, job, record->has_stateaware_off);
    }
    return app;
}

/* The row of a job that comes. */
static struct job *row_of(struct sched *sched, uint32_t index)
{
    while (sched->jobs.count <= index) {
        VEC_PUSH(&sched->jobs, (struct job){
                                   .list = LIST_NONE,
                                   .gang = NONE,
                                   .run = NONE,
                               });
    }
    while (sched->job_flags.count <= index) {
        VEC_PUSH(&sched->job_flags, 0);
    }
    ASSERT(sched->jobs.items[index].list == LIST_NONE);
    return &sched->jobs.items[index];
}

void sched_job_add(struct sched *sched, uint32_t index,
                   const struct sched_job *record)
{
    ASSERT(index < SCHED_JOBS_MAX && record->queue < sched->queues.count);
    ASSERT(sched->queues.items[record->queue].name);
    struct job *job = row_of(sched, index);
    uint32_t pool =
        record->pool.byte_count ? pool_get(sched, record->pool) : NONE;
    uint32_t level = sched->classes.items[record->class_index].level |
                     (record->is_borrowed ? (uint32_t)LIST_BORROWED : 0);
    uint32_t app = NONE;

    sched->version++;
    cooldown_news(sched);
    *job = (struct job){
        .id = record->id,
        .submitted_ms = record->submitted_ms,
        .priority = record->priority,
        .is_opted_out = record->has_stateaware_off,
        .gang = NONE,
        .run = NONE,
    };
    if (sched->queues.items[record->queue].apps) {
        app = app_of_new(sched, job, record);
    }
    job->list =
        list_get(sched, record->queue, record->class_index, level, pool, app) &
        LIST_NONE;
    if (record->gang_id.byte_count &&
        (record->gang_cardinality > 1 || record->gang_terms.byte_count)) {
        job->gang = gang_get(sched, record, level, pool);
        gang_detach(sched, job->gang);
        if (sub_groups_is_member(sched, index)) {
            sub_groups_join(sched, index, record->sub_group);
        }
    }
    job_wait(sched, index);
    jobs_mark_leased(sched, job, record->was_leased);
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

void jobs_tell_app(struct sched *sched, const struct job *job, int asks,
                   int allocations, enum app_event event)
{
    uint32_t app = sched->lists.items[job->list].app;
    bool is_borrower = borrowed_has(sched, (uint32_t)(job - sched->jobs.items));

    if (app == NONE) {
        return;
    }
    if (is_borrower && event == APP_ALLOCATED) {
        app_count(sched, app, 1, 0, APP_ASKED);
        app_describe(sched, app, job, job->is_opted_out);
        app_count(sched, app, -1, 1, APP_ALLOCATED);
        app_count_borrower(sched, app, -1, job, false);
        return;
    }
    if (allocations || !is_borrower) {
        app_count(sched, app, is_borrower ? 0 : asks, allocations, event);
    }
    if (is_borrower && asks) {
        app_count_borrower(sched, app, asks, job, false);
    }
}

static void job_remove(struct sched *sched, uint32_t index, bool is_lent)
{
    struct job *job = jobs_at(sched, index);
    uint32_t app = sched->lists.items[job->list].app;

    sched->version++;
    cooldown_forget(sched, index, false);
    losses_forget(sched, index);
    cooldown_news(sched);
    charge_refund(sched, index);
    if (job->gang == NONE) {
        admitted_leave(sched, index);
    } else {
        gang_detach(sched, job->gang);
    }
    bool was_leased = job->run != NONE;
    if (was_leased) {
        jobs_drop_run(sched, job);
    } else {
        job_unwait(sched, index);
    }
    if (!is_lent) {
        jobs_tell_app(sched, job, -!was_leased, -was_leased, APP_RELEASED);
    } else if (app != NONE) {
        app_lend(sched, app, 1);
    }
    jobs_mark_leased(sched, job, false);
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
    jobs_forget_avoided(sched, index);
    /* Whoever has the number next was not missed. */
    sched->job_flags.items[index] &=
        (uint8_t) ~(JOB_SWEPT_FAST | JOB_SWEPT_BALANCE);
    list_put(sched, job->list);
    *job = (struct job){.list = LIST_NONE, .gang = NONE, .run = NONE};
    if (app != NONE) {
        app_drop_new(sched, app);
    }
}

void sched_job_remove(struct sched *sched, uint32_t index)
{
    job_remove(sched, index, false);
}

void sched_job_lend(struct sched *sched, uint32_t index)
{
    ASSERT(jobs_at(sched, index)->run == NONE &&
           !sched_job_is_borrowed(sched, index));
    job_remove(sched, index, true);
}

void sched_job_reprioritise(struct sched *sched, uint32_t index,
                            uint32_t priority)
{
    struct job *job = jobs_at(sched, index);

    sched->version++;
    cooldown_news(sched);
    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
    }
    if (job->run == NONE) {
        job_unwait(sched, index);
        job->priority = priority;
        job_wait(sched, index);
    } else {
        sched->is_relinking = true;
        run_unlink(sched, job->run);
        job->priority = priority;
        run_link(sched, job->run);
        sched->is_relinking = false;
    }
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

void sched_job_fetch(const struct sched *sched, uint32_t index, bool is_run)
{
    if (index >= sched->jobs.count) {
        return;
    }
    const struct job *job = &sched->jobs.items[index];
    if (!is_run) {
        __builtin_prefetch(job, 1);
        __builtin_prefetch(&job->run, 1);
        __builtin_prefetch(&sched->job_flags.items[index], 1);
    } else if (job->run != NONE) {
        __builtin_prefetch(&sched->runs.items[job->run], 1);
        __builtin_prefetch(&sched->runs.items[job->run].evicted_run, 1);
    }
}

uint32_t sched_job_node(const struct sched *sched, uint32_t index)
{
    if (index >= sched->jobs.count ||
        sched->jobs.items[index].list == LIST_NONE ||
        sched->jobs.items[index].run == NONE) {
        return NONE;
    }
    return sched->runs.items[sched->jobs.items[index].run].node;
}

struct resource_vec sched_job_request(const struct sched *sched, uint32_t index)
{
    ASSERT(index < sched->jobs.count &&
           sched->jobs.items[index].list != LIST_NONE);
    uint32_t list = sched->jobs.items[index].list;

    return sched->classes.items[sched->lists.items[list].class_index].request;
}

uint32_t sched_job_class(const struct sched *sched, uint32_t index)
{
    ASSERT(index < sched->jobs.count &&
           sched->jobs.items[index].list != LIST_NONE);

    return sched->lists.items[sched->jobs.items[index].list].class_index;
}

void jobs_fini(struct sched *sched)
{
    for (size_t i = 0; i < sched->lists.count; i++) {
        seq_fini(&sched->lists.items[i].seq);
    }
    for (size_t i = 0; i < sched->gangs.count; i++) {
        seq_fini(&sched->gangs.items[i].waiting);
        seq_fini(&sched->gangs.items[i].leased);
        mem_free(sched->gangs.items[i].id);
        mem_free(sched->gangs.items[i].uniformity);
        sub_groups_destroy(sched->gangs.items[i].subs);
    }
    VEC_FREE(&sched->jobs);
    VEC_FREE(&sched->job_flags);
    VEC_FREE(&sched->sub_groups);
    SLOTS_FREE(&sched->lists);
    SLOTS_FREE(&sched->gangs);
    SLOTS_FREE(&sched->runs);
    SLOTS_FREE(&sched->avoids);
    map_fini(&sched->list_map);
    names_fini(&sched->gang_names);
    map_fini(&sched->avoid_map);
}
