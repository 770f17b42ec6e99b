/* Ranks the applications of a queue for its lane; draws from their lists. */
#include "sched/apps/apps.h"
#include "sched/order/order.h"
#include "sched/order/order_private.h"

struct app_rank order_rank(const struct sched *sched, uint32_t index,
                           uint32_t pool, const struct resource_vec *used)
{
    static const struct resource_vec nothing;
    struct app *app = order_app_at(sched, index);
    const struct queue *queue = &sched->queues.items[app->queue];
    struct app_rank rank = {.app = index};

    if (queue->ordering != QUEUE_BY_PRIORITY) {
        rank.is_level_ignored = queue->is_class_priority_ignored;
        rank.submitted_ms = app_submitted_ms(app);
    }
    if (queue->ordering == QUEUE_BY_FAIR) {
        rank.has_cost = true;
        rank.cost =
            cost_of(&sched->pools.items[pool].base, used ? used : &nothing,
                    NULL, PRIORITY_FACTOR_ONE_MICRO);
    }
    return rank;
}

static const struct app_rank *rank_make(struct round *round, uint32_t index)
{
    const struct app *app = order_app_at(round->sched, index);
    struct app_rank *rank = arena_alloc(round->arena, sizeof(*rank));

    *rank = order_rank(round->sched, index, round->p,
                       app->used ? app->used
                                 : app_used(round->sched, index, round->p));
    return rank;
}

/* The rank of an application in this round. */
static const struct app_rank *rank_of(struct round *round, uint32_t index)
{
    struct app *app = order_app_at(round->sched, index);

    if (app->stamp != round->sched->stamp) {
        app->stamp = round->sched->stamp;
        app->used = NULL;
        app->rank = rank_make(round, index);
    }
    return app->rank;
}

int order_compare(const struct cost_base *base, const struct app_rank *a,
                  const struct app_rank *b)
{
    ASSERT(a->has_cost == b->has_cost); /* a queue has one order */
    if (a->has_cost) {
        int c = cost_compare(base, &a->cost, &b->cost);
        if (c != 0) {
            return c;
        }
    }
    return (a->submitted_ms > b->submitted_ms) -
           (a->submitted_ms < b->submitted_ms);
}

static void push_app(struct round *round, struct lane *lane, uint32_t index)
{
    const struct app_rank *rank = rank_of(round, index);
    const struct app *app = order_app_at(round->sched, index);

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
    struct app_queue *apps = order_apps(round, queue);
    bool is_next = apps->chosen == NONE ||
                   order_state(round, apps->chosen) != SCHED_APP_ACCEPTED;

    ASSERT(queue->ordering == QUEUE_BY_STATEAWARE);
    if (apps->starting_count > 0 || order_is_full(round->sched, round->what_if,
                                                  queue, apps->running_count)) {
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
    const struct queue *queue = order_queue(round, lane);
    const struct app_queue *apps = order_apps(round, queue);
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
           order_apps(round, queue)->starting_count > 0 &&
           order_state(round, head->rank->app) == SCHED_APP_ACCEPTED;
}

void order_settle(struct round *round, struct lane *lane)
{
    const struct queue *queue = order_queue(round, lane);
    const struct app_queue *apps = order_apps(round, queue);

    if (queue->ordering == QUEUE_BY_STATEAWARE) {
        choose(round, lane, queue);
    }
    while (lane->head_count) {
        struct head *head = lane_first(lane);
        const struct app_rank *rank =
            order_app_at(round->sched, head->rank->app)->rank;
        if (order_is_full(round->sched, round->what_if, queue,
                          apps->running_count) &&
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

/* What the application has, with what is planned. */
static void add_used(struct round *round, uint32_t index,
                     const struct resource_vec *request)
{
    struct app *app = order_app_at(round->sched, index);

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
    struct app *app = order_app_at(sched, index);

    order_plan_app(round, index, 1, 0);
    if (sched->queues.items[app->queue].ordering == QUEUE_BY_FAIR) {
        (void)rank_of(round, index);
        add_used(round, index,
                 &class_at(round, class_of_job(sched, job))->request);
        app->rank = rank_make(round, index);
    }
}
