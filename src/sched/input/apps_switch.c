/* A queue starts or stops being ordered by applications. */
#include "sched/apps/apps.h"

/* Put a job among the lists of another application (or NONE).  What happened
 * to either is the caller's to say. */
static void move_job(struct sched *sched, uint32_t index, uint32_t app)
{
    struct job *job = &sched->jobs.items[index];
    const struct list *old = &sched->lists.items[job->list];

    if (job->gang != NONE) {
        gang_detach(sched, job->gang);
    }
    if (job->run != NONE) {
        run_unlink(sched, job->run);
    } else {
        job_unwait(sched, index);
    }
    uint32_t list = list_get(sched, old->queue, old->class_index,
                             list_level(old), old->pool, app);
    list_put(sched, job->list);
    job->list = list & LIST_NONE;
    if (job->run != NONE) {
        run_link(sched, job->run);
    } else {
        job_wait(sched, index);
    }
    if (job->gang != NONE) {
        gang_attach(sched, job->gang);
    }
}

void sched_job_application(struct sched *sched, uint32_t index, struct str id,
                           bool is_opted_out)
{
    ASSERT(index < sched->jobs.count &&
           sched->jobs.items[index].list != LIST_NONE);
    struct job *job = &sched->jobs.items[index];
    uint32_t queue = sched->lists.items[job->list].queue;
    uint32_t from = sched->lists.items[job->list].app;

    if (!sched->queues.items[queue].apps) {
        return;
    }
    job->is_opted_out = is_opted_out;
    uint32_t app = app_get(sched, queue, id);
    if (app == from) {
        return;
    }
    bool is_borrower = job->run == NONE && sched_job_is_borrowed(sched, index);
    sched->version++;
    if (is_borrower) {
        app_count_borrower(sched, app, 1, job, is_opted_out);
    } else {
        app_count(sched, app, 1, 0, APP_ASKED);
        app_describe(sched, app, job, is_opted_out);
    }
    if (job->run != NONE) {
        app_count(sched, app, -1, 1, APP_ALLOCATED);
    }
    move_job(sched, index, app);
    if (from != NONE && is_borrower) {
        app_count_borrower(sched, from, -1, job, false);
        app_drop_new(sched, from);
    } else if (from != NONE) {
        app_leave(sched, from, job->run != NONE);
    }
}

static void switch_on(struct sched *sched, uint32_t queue)
{
    struct app_queue *apps = mem_alloc(sizeof(*apps));

    for (int state = 0; state < SCHED_APP_STATES; state++) {
        apps->first[state] = NONE;
    }
    apps->chosen = apps->held_app = NONE;
    sched->queues.items[queue].apps = apps;
}

void apps_switch(struct sched *sched, uint32_t queue, bool is_on)
{
    if (is_on == (sched->queues.items[queue].apps != NULL)) {
        return;
    }
    if (is_on) {
        switch_on(sched, queue);
    }
    for (uint32_t i = 0; i < sched->jobs.count; i++) {
        const struct job *job = &sched->jobs.items[i];
        if (job->list == LIST_NONE ||
            sched->lists.items[job->list].queue != queue) {
            continue;
        }
        if (is_on) {
            sched_job_application(sched, i, STR(""), false);
        } else {
            uint32_t from = sched->lists.items[job->list].app;
            bool is_borrower =
                job->run == NONE && sched_job_is_borrowed(sched, i);
            move_job(sched, i, NONE);
            if (is_borrower) {
                app_count_borrower(sched, from, -1, job, false);
                app_drop_new(sched, from);
            } else {
                app_leave(sched, from, job->run != NONE);
            }
        }
    }
    if (!is_on) {
        apps_forget(sched, queue);
    }
}

bool sched_queue_has_applications(const struct sched *sched, uint32_t queue)
{
    return queue < sched->queues.count && sched->queues.items[queue].apps;
}
