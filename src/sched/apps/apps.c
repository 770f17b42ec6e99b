#include "sched/apps/apps.h"

#include "sched/apps/app_table.h"

/* Forget it, but for borrowers that wait. */
static void app_expire(struct sched *sched, uint32_t index)
{
    struct app *app = app_at(sched, index);

    if (app->borrowers.count == 0) {
        app_free(sched, index);
        return;
    }
    app_detach(sched, index);
    app->state = SCHED_APP_NEW;
    app->submitted_ms = INT64_MAX;
    app->is_opted_out = false;
    app_attach(sched, index);
}

static void app_enter(struct sched *sched, uint32_t index,
                      enum sched_app_state state, int64_t when_ms)
{
    struct app *app = app_at(sched, index);
    struct app_timers *completed = &sched->app_timers[SCHED_APP_COMPLETED];

    if (state == app->state) {
        return;
    }
    if (state == SCHED_APP_EXPIRED) {
        app_expire(sched, index);
        return;
    }
    app_detach(sched, index);
    if (app->state == SCHED_APP_COMPLETED) {
        /* It comes back as a new one. */
        app->submitted_ms = INT64_MAX;
        app->is_opted_out = false;
    }
    app->state = state;
    app->since_ms = when_ms;
    app_attach(sched, index);
    if (completed->count > APPS_COMPLETED_MAX) {
        app_expire(sched, completed->oldest);
    }
}

void app_count(struct sched *sched, uint32_t index, int asks, int allocations,
               enum app_event event)
{
    struct app *app = app_at(sched, index);

    app->ask_count += (uint32_t)asks;
    app->allocation_count += (uint32_t)allocations;
    /* Who is lent out asks, too. */
    ASSERT(app->lent_count <= app->ask_count || asks < 0);
    enum sched_app_state state = app_state_after(
        app->state, event, app->ask_count, app->allocation_count);
    if (state == SCHED_APP_STARTING && app->state != state &&
        app->is_opted_out &&
        sched->queues.items[app->queue].allows_stateaware_off) {
        state = SCHED_APP_RUNNING;
    }
    app_enter(sched, index, state, sched->now_ms);
}

void app_describe(struct sched *sched, uint32_t index, const struct job *job,
                  bool is_opted_out)
{
    struct app *app = app_at(sched, index);

    app->is_opted_out |= is_opted_out;
    if (job->submitted_ms < app->submitted_ms ||
        (job->submitted_ms == app->submitted_ms &&
         key128_compare(job->id.v, app->first.v) < 0)) {
        app_detach(sched, index);
        app->submitted_ms = job->submitted_ms;
        app->first = job->id;
        app_attach(sched, index);
    }
}

static bool has_nothing(const struct app *app)
{
    return app->ask_count == 0 && app->allocation_count == 0 &&
           app->borrowers.count == 0;
}

/* The order of an application's borrowers. */
static bool borrower_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;
    const struct job *x = &sched->jobs.items[a], *y = &sched->jobs.items[b];

    return x->submitted_ms != y->submitted_ms
               ? x->submitted_ms < y->submitted_ms
               : key128_compare(x->id.v, y->id.v) < 0;
}

void app_count_borrower(struct sched *sched, uint32_t index, int sign,
                        const struct job *job, bool is_opted_out)
{
    struct app *app = app_at(sched, index);
    uint32_t borrower = (uint32_t)(job - sched->jobs.items);

    ASSERT(borrower < sched->jobs.count);
    app_detach(sched, index);
    if (app->borrowers.count == 0) {
        app->is_borrower_opted_out = false;
    }
    if (sign > 0) {
        seq_insert(&app->borrowers, borrower, borrower_less, sched);
    } else {
        seq_remove(&app->borrowers, borrower, borrower_less, sched);
    }
    if (app->borrowers.count) {
        uint32_t first = seq_get(&app->borrowers, (struct seq_cursor){0});
        app->borrower_submitted_ms = sched->jobs.items[first].submitted_ms;
        app->borrower_first = sched->jobs.items[first].id;
    }
    app->is_borrower_opted_out |= is_opted_out;
    app_attach(sched, index);
}

void app_drop_new(struct sched *sched, uint32_t index)
{
    const struct app *app = app_at(sched, index);

    if (app->state == SCHED_APP_NEW && has_nothing(app)) {
        app_free(sched, index);
    }
}

void app_lend(struct sched *sched, uint32_t index, int sign)
{
    app_at(sched, index)->lent_count += (uint32_t)sign;
}

void app_restore(struct sched *sched, uint32_t index, const struct app *as)
{
    struct app *app = app_at(sched, index);

    app_detach(sched, index);
    app->state = as->state;
    app->since_ms = as->since_ms;
    app->submitted_ms = as->submitted_ms;
    app->first = as->first;
    app->is_opted_out = as->is_opted_out;
    app->is_restored = true;
    app_attach(sched, index);
}

void apps_advance(struct sched *sched, int64_t now_ms)
{
    for (int state = 0; state < SCHED_APP_STATES; state++) {
        int64_t lasts_ms = app_state_lasts_ms((enum sched_app_state)state);
        uint32_t at = sched->app_timers[state].oldest;
        while (at != NONE && lasts_ms != INT64_MAX) {
            struct app *app = app_at(sched, at);
            if (now_ms - app->since_ms < lasts_ms) {
                break;
            }
            app_enter(sched, at,
                      app_state_after(app->state, APP_TIMED_OUT, app->ask_count,
                                      app->allocation_count),
                      app->since_ms + lasts_ms);
            at = sched->app_timers[state].oldest;
            sched->version++;
        }
    }
}

void app_leave(struct sched *sched, uint32_t index, bool was_leased)
{
    struct app *app = app_at(sched, index);

    ASSERT(was_leased ? app->allocation_count > 0 : app->ask_count > 0);
    app->ask_count -= !was_leased;
    app->allocation_count -= was_leased;
    if (app->ask_count == 0 && app->allocation_count == 0) {
        app_expire(sched, index);
    }
}

void apps_restored(struct sched *sched)
{
    for (uint32_t i = 0; i < sched->apps.count; i++) {
        struct app *app = app_at(sched, i);
        bool is_known = app->is_restored || !app->id;
        app->is_restored = false;
        if (!is_known && app->ask_count == 0 && app->allocation_count == 0) {
            app_expire(sched, i);
        }
    }
}

void sched_application_ask(struct sched *sched, uint32_t queue, struct str id,
                           const struct sched_job *record)
{
    const struct job job = {
        .id = record->id,
        .submitted_ms = record->submitted_ms,
    };

    if (sched->queues.items[queue].apps) {
        uint32_t app = app_get(sched, queue, id);
        app_count(sched, app, 1, 0, APP_ASKED);
        app_describe(sched, app, &job, record->has_stateaware_off);
        app_lend(sched, app, 1);
    }
}

void sched_application_release(struct sched *sched, uint32_t queue,
                               struct str id)
{
    uint32_t app =
        sched->queues.items[queue].apps ? app_find(sched, queue, id) : NONE;

    if (app != NONE && app_at(sched, app)->lent_count > 0) {
        sched->version++;
        app_lend(sched, app, -1);
        app_count(sched, app, -1, 0, APP_RELEASED);
    }
}

void apps_forget(struct sched *sched, uint32_t queue)
{
    struct app_queue *apps = sched->queues.items[queue].apps;

    if (!apps) {
        return;
    }
    for (int state = 0; state < SCHED_APP_STATES; state++) {
        while (apps->first[state] != NONE) {
            struct app *app = app_at(sched, apps->first[state]);
            ASSERT(app->queue == queue && app->lent_count <= app->ask_count);
            app->ask_count -= app->lent_count; /* who is out asks elsewhere */
            app_free(sched, apps->first[state]);
        }
    }
    seq_fini(&apps->accepted);
    seq_fini(&apps->going);
    mem_free(apps);
    sched->queues.items[queue].apps = NULL;
}
