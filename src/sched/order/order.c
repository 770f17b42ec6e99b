#include "sched/order/order.h"

#include "sched/apps/apps.h"
#include "sched/state/what_if.h"

static struct queue *queue_of(const struct round *round,
                              const struct lane *lane)
{
    return &round->sched->queues.items[lane->queue];
}

static struct app *app_at(const struct sched *sched, uint32_t index)
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
    const struct app *app = app_at(round->sched, index);
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
         at = app_at(sched, at)->next) {
        count += is_starting(app_at(sched, at), now_ms);
    }
    return count;
}

/* How many run, for the limit of their queue. */
static uint32_t count_running(const struct app_queue *apps)
{
    return apps->count[SCHED_APP_STARTING] + apps->count[SCHED_APP_RUNNING];
}

/* The queue's applications; at the first look in a plan, as they are. */
static struct app_queue *apps_of(const struct round *round,
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
        apps->held_app = is_what_if(round->sched) ? apps->held_app : NONE;
    }
    return apps;
}

/* Whether so many of its applications are as many as may run. */
static bool is_full(const struct sched *sched, const struct queue *queue,
                    uint32_t running_count)
{
    return queue->running_apps_max &&
           running_count >= what_if_running_apps_max(sched, queue);
}

/* Ranks. */

static const struct app_rank *rank_make(struct round *round, uint32_t index)
{
    struct app *app = app_at(round->sched, index);
    const struct queue *queue = &round->sched->queues.items[app->queue];
    struct app_rank *rank = arena_alloc(round->arena, sizeof(*rank));

    *rank = (struct app_rank){.app = index};
    if (queue->ordering != QUEUE_BY_PRIORITY) {
        rank->is_level_ignored = queue->is_class_priority_ignored;
        rank->submitted_ms = app_submitted_ms(app);
    }
    if (queue->ordering == QUEUE_BY_FAIR) {
        static const struct resource_vec nothing;
        const struct resource_vec *used =
            app->used ? app->used : app_used(round->sched, index, round->p);
        rank->has_cost = true;
        rank->cost = cost_of(&round->pool->base, used ? used : &nothing, NULL,
                             PRIORITY_FACTOR_ONE_MICRO);
    }
    return rank;
}

/* The rank of an application in this round. */
static const struct app_rank *rank_of(struct round *round, uint32_t index)
{
    struct app *app = app_at(round->sched, index);

    if (app->stamp != round->sched->stamp) {
        app->stamp = round->sched->stamp;
        app->used = NULL;
        app->rank = rank_make(round, index);
    }
    return app->rank;
}

int order_compare(const struct round *round, const struct app_rank *a,
                  const struct app_rank *b)
{
    ASSERT(a->has_cost == b->has_cost); /* a queue has one order */
    if (a->has_cost) {
        int c = cost_compare(&round->pool->base, &a->cost, &b->cost);
        if (c != 0) {
            return c;
        }
    }
    return (a->submitted_ms > b->submitted_ms) -
           (a->submitted_ms < b->submitted_ms);
}

/* What a lane draws from. */

static void push_app(struct round *round, struct lane *lane, uint32_t index)
{
    const struct app_rank *rank = rank_of(round, index);
    const struct app *app = app_at(round->sched, index);

    ASSERT(app->queue == lane->queue);
    for (size_t i = 0; i < app->lists.count; i++) {
        lane_push_list(round, lane, app->lists.items[i], rank);
    }
}

static void push_all(struct round *round, struct lane *lane,
                     const struct seq *seq)
{
    for (struct seq_cursor at = {0}; !seq_is_end(seq, at); seq_next(seq, &at)) {
        push_app(round, lane, seq_get(seq, at));
    }
}

/* The applications that the plan chose so far, in order. */
static void push_chosen(struct round *round, struct lane *lane,
                        const struct app_queue *apps)
{
    struct seq_cursor at = {0};

    while (!seq_is_end(&apps->accepted, at)) {
        bool is_last = at.block == apps->chosen_at.block &&
                       at.offset == apps->chosen_at.offset;
        if (!is_last || apps->chosen != NONE) {
            push_app(round, lane, seq_get(&apps->accepted, at));
        }
        if (is_last) {
            break;
        }
        seq_next(&apps->accepted, &at);
    }
}

/* While none is starting, the oldest accepted one may start. */
static void choose(struct round *round, struct lane *lane,
                   const struct queue *queue)
{
    struct app_queue *apps = apps_of(round, queue);
    bool is_next = apps->chosen == NONE ||
                   order_state(round, apps->chosen) != SCHED_APP_ACCEPTED;

    ASSERT(queue->ordering == QUEUE_BY_STATEAWARE);
    if (apps->starting_count > 0 ||
        is_full(round->sched, queue, apps->running_count)) {
        return;
    }
    if (!is_next) {
        lane_take_up(round, lane);
        return;
    }
    if (apps->chosen != NONE) {
        seq_next(&apps->accepted, &apps->chosen_at);
    }
    apps->chosen = NONE;
    if (!seq_is_end(&apps->accepted, apps->chosen_at)) {
        apps->chosen = seq_get(&apps->accepted, apps->chosen_at);
        push_app(round, lane, apps->chosen);
    }
}

void order_fill(struct round *round, struct lane *lane)
{
    const struct queue *queue = queue_of(round, lane);
    const struct app_queue *apps = apps_of(round, queue);
    bool is_by_state = queue->ordering == QUEUE_BY_STATEAWARE;

    lane->is_by_apps = true;
    lane->is_stepwise = is_by_state || queue->ordering == QUEUE_BY_FAIR ||
                        queue->running_apps_max > 0;
    push_all(round, lane, &apps->going);
    if (is_by_state) {
        push_chosen(round, lane, apps);
        choose(round, lane, queue);
    } else {
        push_all(round, lane, &apps->accepted);
    }
}

/* Whether a list is of an application that was chosen to start, but another
 * starts: one that the plan took its only lease from. */
static bool is_late(const struct round *round, const struct queue *queue,
                    const struct head *head)
{
    return queue->ordering == QUEUE_BY_STATEAWARE &&
           apps_of(round, queue)->starting_count > 0 &&
           order_state(round, head->rank->app) == SCHED_APP_ACCEPTED;
}

void order_settle(struct round *round, struct lane *lane)
{
    const struct queue *queue = queue_of(round, lane);
    const struct app_queue *apps = apps_of(round, queue);

    if (queue->ordering == QUEUE_BY_STATEAWARE) {
        choose(round, lane, queue);
    }
    while (lane->head_count) {
        struct head *head = lane_first(lane);
        const struct app_rank *rank =
            app_at(round->sched, head->rank->app)->rank;
        if (is_full(round->sched, queue, apps->running_count) &&
            order_state(round, rank->app) == SCHED_APP_ACCEPTED) {
            lane_drop_list(round, lane);
        } else if (!lane->is_in_turn && is_late(round, queue, head)) {
            lane_put_off(round, lane);
        } else if (head->rank != rank) {
            head->rank = rank;
            lane_sink_first(round, lane);
        } else {
            break;
        }
    }
}

/* The plan leases to an application, or takes from it. */
static void plan_app(struct round *round, uint32_t index, int leased, int lost)
{
    struct sched *sched = round->sched;
    struct app *app = app_at(sched, index);
    const struct queue *queue = &sched->queues.items[app->queue];
    struct app_queue *apps = apps_of(round, queue);
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
        plan_app(round, app, 0, count);
    }
}

/* What the application has, with what is planned. */
static void add_used(struct round *round, uint32_t index,
                     const struct resource_vec *request)
{
    struct app *app = app_at(round->sched, index);

    if (!app->used) {
        const struct resource_vec *used =
            app_used(round->sched, index, round->p);
        app->used = arena_alloc(round->arena, sizeof(*app->used));
        if (used) {
            *app->used = *used;
        }
    }
    amounts_add(app->used, request);
}

void order_leased(struct round *round, uint32_t job)
{
    const struct sched *sched = round->sched;
    uint32_t index = sched->lists.items[sched->jobs.items[job].list].app;
    struct app *app = app_at(sched, index);

    plan_app(round, index, 1, 0);
    if (sched->queues.items[app->queue].ordering == QUEUE_BY_FAIR) {
        (void)rank_of(round, index);
        add_used(round, index,
                 &class_at(round, class_of_job(sched, job))->request);
        app->rank = rank_make(round, index);
    }
}

bool order_allows(struct round *round, const struct lane *lane, uint32_t list)
{
    const struct queue *queue = queue_of(round, lane);
    uint32_t app = round->sched->lists.items[list].app;

    if (!lane->is_stepwise || order_state(round, app) != SCHED_APP_ACCEPTED) {
        return true;
    }
    const struct app_queue *apps = apps_of(round, queue);
    return !is_full(round->sched, queue, apps->running_count) &&
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
         at = app_at(sched, at)->next) {
        int64_t end_ms = app_at(sched, at)->since_ms + APP_STARTING_MS;
        if (order_state(round, at) == SCHED_APP_STARTING && end_ms > until_ms) {
            until_ms = end_ms;
        }
    }
    if (apps->chosen != NONE &&
        order_state(round, apps->chosen) == SCHED_APP_STARTING) {
        bool is_brief = queue->allows_stateaware_off &&
                        app_at(sched, apps->chosen)->is_opted_out;
        int64_t end_ms = round->now_ms + (is_brief ? 0 : APP_STARTING_MS);
        until_ms = end_ms > until_ms ? end_ms : until_ms;
    }
    return until_ms;
}

void order_wake(struct round *round)
{
    for (uint32_t i = 0; i < round->lane_count; i++) {
        const struct lane *lane = &round->lanes[i];
        const struct queue *queue = queue_of(round, lane);
        if (!lane->is_stepwise || queue->ordering != QUEUE_BY_STATEAWARE) {
            continue;
        }
        const struct app_queue *apps = apps_of(round, queue);
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
         at = app_at(sched, at)->next) {
        const struct app *app = app_at(sched, at);
        if (!is_starting(app, now_ms)) {
            continue;
        }
        if (last == NONE || app->since_ms > app_at(sched, last)->since_ms ||
            (app->since_ms == app_at(sched, last)->since_ms &&
             is_before(sched, at, last))) {
            last = at;
        }
    }
    return last;
}

static void name_app(const struct sched *sched, uint32_t index,
                     struct sched_explanation *answer)
{
    const struct app *app = app_at(sched, index);

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

bool order_explain(const struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *answer)
{
    const struct list *list = &sched->lists.items[sched->jobs.items[job].list];
    const struct queue *queue = &sched->queues.items[list->queue];
    const struct app_queue *apps = queue->apps;

    if (!apps) {
        return false;
    }
    const struct app *app = app_at(sched, list->app);
    if (state_now(app, now_ms) != SCHED_APP_ACCEPTED) {
        return false;
    }
    uint32_t running_count = count_running(apps);
    if (is_full(sched, queue, running_count)) {
        answer->wait = SCHED_WAIT_APP_LIMIT;
        answer->limit = queue->running_apps_max;
        answer->used = running_count;
        return true;
    }
    if (queue->ordering != QUEUE_BY_STATEAWARE) {
        return false;
    }
    uint32_t starting = last_starting(sched, apps, now_ms);
    if (starting != NONE) {
        answer->wait = SCHED_WAIT_APP_STARTING;
        name_app(sched, starting, answer);
        answer->until_ms = answer->since_ms + APP_STARTING_MS;
        return true;
    }
    uint32_t first = apps->accepted.count
                         ? seq_get(&apps->accepted, (struct seq_cursor){0})
                         : NONE;
    if (is_held(sched, apps, list->app) && answer->wait == SCHED_WAIT_TURN) {
        uint32_t needs = sched->jobs.items[apps->held_for].list;
        answer->wait = SCHED_WAIT_APP_NEED;
        name_app(sched, sched->lists.items[needs].app, answer);
        return true;
    }
    if (first == NONE || first == list->app) {
        return false;
    }
    answer->wait = SCHED_WAIT_APP_TURN;
    name_app(sched, first, answer);
    return true;
}
