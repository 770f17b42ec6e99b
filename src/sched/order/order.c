/* Which applications of a queue may start: their states within a plan. */
#include "sched/order/order.h"

#include "sched/apps/apps.h"
#include "sched/order/order_private.h"

struct queue *order_queue(const struct round *round, const struct lane *lane)
{
    return &round->sched->queues.items[lane->queue];
}

struct app *order_app_at(const struct sched *sched, uint32_t index)
{
    return &sched->apps.items[index];
}

/* The state of an application, were nothing planned. */
static enum sched_app_state state_now(const struct app *app, int64_t now_ms)
{
    int64_t since_ms;

    return app_state_shown(app, app_state_at(app, now_ms, &since_ms));
}

enum sched_app_state order_state(const struct round *round, uint32_t index)
{
    const struct app *app = order_app_at(round->sched, index);
    bool is_planned = app->planned == round->sched->plan_count;
    uint32_t planned_count = is_planned ? app->planned_count : 0;
    enum sched_app_state state = state_now(app, round->now_ms);

    if (state == SCHED_APP_STARTING && planned_count && app->lost_count) {
        planned_count--; /* it starts with that one anew */
    }
    for (uint32_t i = 0; i < planned_count && i < 2; i++) {
        state = app_state_after(state, APP_ALLOCATED, 1, 1);
    }
    return state;
}

/* Whether an application starts, and keeps others of its queue from it. */
static bool is_starting(const struct app *app, int64_t now_ms)
{
    int64_t since_ms;

    return app_state_at(app, now_ms, &since_ms) == SCHED_APP_STARTING;
}

static uint32_t count_starting(const struct sched *sched,
                               const struct app_queue *apps, int64_t now_ms)
{
    uint32_t count = 0;

    for (uint32_t at = apps->first[SCHED_APP_STARTING]; at != NONE;
         at = order_app_at(sched, at)->next) {
        count += is_starting(order_app_at(sched, at), now_ms);
    }
    return count;
}

/* How many run, for the limit of their queue. */
static uint32_t count_running(const struct app_queue *apps)
{
    return apps->count[SCHED_APP_STARTING] + apps->count[SCHED_APP_RUNNING];
}

struct app_queue *order_apps(const struct round *round,
                             const struct queue *queue)
{
    struct app_queue *apps = queue->apps;

    if (apps->planned != round->sched->plan_count) {
        apps->planned = round->sched->plan_count;
        apps->running_count = count_running(apps);
        apps->starting_count =
            queue->ordering == QUEUE_BY_STATEAWARE
                ? count_starting(round->sched, apps, round->now_ms)
                : 0;
        ASSERT(apps->starting_count <= apps->count[SCHED_APP_STARTING]);
        apps->chosen = NONE;
        apps->chosen_at = (struct seq_cursor){0};
        apps->held_app = round_is_what_if(round) ? apps->held_app : NONE;
    }
    return apps;
}

bool order_is_full(const struct sched *sched, const struct what_if *what_if,
                   const struct queue *queue, uint32_t running_count)
{
    return queue->running_apps_max &&
           running_count >= what_if_running_apps_max(what_if, sched, queue);
}

/* What a lane draws from. */

void order_plan_app(struct round *round, uint32_t index, int leased, int lost)
{
    struct sched *sched = round->sched;
    struct app *app = order_app_at(sched, index);
    const struct queue *queue = &sched->queues.items[app->queue];
    struct app_queue *apps = order_apps(round, queue);
    enum sched_app_state before = order_state(round, index);

    ASSERT(before != SCHED_APP_STARTING ||
           queue->ordering != QUEUE_BY_STATEAWARE || apps->starting_count > 0);
    if (app->planned != sched->plan_count) {
        app->planned = sched->plan_count;
        app->planned_count = app->lost_count = 0;
    }
    app->planned_count += (uint32_t)leased;
    app->lost_count += (uint32_t)lost;
    enum sched_app_state after = order_state(round, index);
    apps->running_count +=
        before == SCHED_APP_ACCEPTED && after != SCHED_APP_ACCEPTED;
    if (queue->ordering == QUEUE_BY_STATEAWARE) {
        apps->starting_count += (uint32_t)(after == SCHED_APP_STARTING) -
                                (before == SCHED_APP_STARTING);
    }
}

void order_lost(struct round *round, uint32_t job, int count)
{
    const struct sched *sched = round->sched;
    uint32_t app = sched->lists.items[sched->jobs.items[job].list].app;

    if (app != NONE) {
        order_plan_app(round, app, 0, count);
    }
}

bool order_allows(struct round *round, const struct lane *lane, uint32_t list)
{
    const struct queue *queue = order_queue(round, lane);
    uint32_t app = round->sched->lists.items[list].app;

    if (!lane->is_stepwise || order_state(round, app) != SCHED_APP_ACCEPTED) {
        return true;
    }
    const struct app_queue *apps = order_apps(round, queue);
    return !order_is_full(round->sched, round->what_if, queue,
                          apps->running_count) &&
           (queue->ordering != QUEUE_BY_STATEAWARE ||
            (apps->chosen == app && apps->starting_count == 0));
}

/* When the last application that starts ceases to, in time. */
static int64_t starting_until(const struct round *round,
                              const struct queue *queue)
{
    const struct sched *sched = round->sched;
    const struct app_queue *apps = queue->apps;
    int64_t until_ms = 0;

    for (uint32_t at = apps->first[SCHED_APP_STARTING]; at != NONE;
         at = order_app_at(sched, at)->next) {
        int64_t end_ms = order_app_at(sched, at)->since_ms + APP_STARTING_MS;
        if (order_state(round, at) == SCHED_APP_STARTING && end_ms > until_ms) {
            until_ms = end_ms;
        }
    }
    if (apps->chosen != NONE &&
        order_state(round, apps->chosen) == SCHED_APP_STARTING) {
        bool is_brief = queue->allows_stateaware_off &&
                        order_app_at(sched, apps->chosen)->is_opted_out;
        int64_t end_ms = round->now_ms + (is_brief ? 0 : APP_STARTING_MS);
        until_ms = end_ms > until_ms ? end_ms : until_ms;
    }
    return until_ms;
}

void order_wake(struct round *round)
{
    for (uint32_t i = 0; i < round->lane_count; i++) {
        const struct lane *lane = &round->lanes[i];
        const struct queue *queue = order_queue(round, lane);
        if (!lane->is_stepwise || queue->ordering != QUEUE_BY_STATEAWARE) {
            continue;
        }
        const struct app_queue *apps = order_apps(round, queue);
        if (apps->starting_count > 0 && apps->accepted.count > 0) {
            int64_t until_ms = starting_until(round, queue);
            round->wake_ms =
                until_ms < round->wake_ms ? until_ms : round->wake_ms;
        }
    }
}

/* Why a job waits. */

static bool is_before(const struct sched *sched, uint32_t a, uint32_t b)
{
    return b == NONE || app_less(sched, a, b);
}

/* The application that starts and keeps others back the longest, or NONE. */
static uint32_t last_starting(const struct sched *sched,
                              const struct app_queue *apps, int64_t now_ms)
{
    uint32_t last = NONE;

    for (uint32_t at = apps->first[SCHED_APP_STARTING]; at != NONE;
         at = order_app_at(sched, at)->next) {
        const struct app *app = order_app_at(sched, at);
        if (!is_starting(app, now_ms)) {
            continue;
        }
        if (last == NONE ||
            app->since_ms > order_app_at(sched, last)->since_ms ||
            (app->since_ms == order_app_at(sched, last)->since_ms &&
             is_before(sched, at, last))) {
            last = at;
        }
    }
    return last;
}

static void name_app(const struct sched *sched, uint32_t index,
                     struct sched_explanation *answer)
{
    const struct app *app = order_app_at(sched, index);

    answer->application = str_make(app->id, app->id_bytes);
    answer->since_ms = app->since_ms;
}

/* Whether the last plan kept an application back for a job that still
 * waits. */
static bool is_held(const struct sched *sched, const struct app_queue *apps,
                    uint32_t app)
{
    if (apps->held_app != app || apps->held_for >= sched->jobs.count) {
        return false;
    }
    const struct job *job = &sched->jobs.items[apps->held_for];
    return job->list != LIST_NONE && job->run == NONE &&
           sched->lists.items[job->list].app != NONE &&
           key128_compare(job->id.v, apps->held_for_id.v) == 0;
}

/* Why an accepted application does not start, where one starts at a time. */
static bool explain_turn(const struct sched *sched,
                         const struct app_queue *apps, uint32_t app,
                         int64_t now_ms, struct sched_explanation *answer)
{
    uint32_t starting = last_starting(sched, apps, now_ms);

    if (starting != NONE) {
        answer->wait = SCHED_WAIT_APP_STARTING;
        name_app(sched, starting, answer);
        answer->until_ms = answer->since_ms + APP_STARTING_MS;
        return true;
    }
    if (is_held(sched, apps, app) && answer->wait == SCHED_WAIT_TURN) {
        uint32_t needs = sched->jobs.items[apps->held_for].list;
        answer->wait = SCHED_WAIT_APP_NEED;
        name_app(sched, sched->lists.items[needs].app, answer);
        return true;
    }
    uint32_t first = apps->accepted.count
                         ? seq_get(&apps->accepted, (struct seq_cursor){0})
                         : NONE;
    if (first == NONE || first == app) {
        return false;
    }
    answer->wait = SCHED_WAIT_APP_TURN;
    name_app(sched, first, answer);
    return true;
}

bool order_explain(const struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *answer)
{
    const struct list *list = &sched->lists.items[sched->jobs.items[job].list];
    const struct queue *queue = &sched->queues.items[list->queue];
    const struct app_queue *apps = queue->apps;

    if (!apps) {
        return false;
    }
    const struct app *app = order_app_at(sched, list->app);
    if (state_now(app, now_ms) != SCHED_APP_ACCEPTED) {
        return false;
    }
    uint32_t running_count = count_running(apps);
    if (order_is_full(sched, NULL, queue, running_count)) {
        answer->wait = SCHED_WAIT_APP_LIMIT;
        answer->limit = queue->running_apps_max;
        answer->used = running_count;
        return true;
    }
    return queue->ordering == QUEUE_BY_STATEAWARE &&
           explain_turn(sched, apps, list->app, now_ms, answer);
}
