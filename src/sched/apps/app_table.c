#include "sched/apps/app_table.h"

static struct app_queue *queue_of(const struct sched *sched,
                                  const struct app *app)
{
    return sched->queues.items[app->queue].apps;
}

static struct str id_of(const struct app *app)
{
    return str_make(app->id, app->id_bytes);
}

uint32_t app_find(const struct sched *sched, uint32_t queue, struct str id)
{
    uint32_t at = names_first(&sched->app_names, queue, id);

    while (at != NAMES_NONE && (app_at(sched, at)->queue != queue ||
                                !str_equal(id_of(app_at(sched, at)), id))) {
        at = names_next(&sched->app_names, at);
    }
    return at;
}

/* Whether it has nothing else, so that its borrowers order it. */
static bool is_of_borrowers(const struct app *app)
{
    return app->borrowers.count > 0 &&
           (app->state == SCHED_APP_NEW || app->state == SCHED_APP_COMPLETED);
}

int64_t app_submitted_ms(const struct app *app)
{
    return is_of_borrowers(app) ? app->borrower_submitted_ms
                                : app->submitted_ms;
}

static struct key128 first_of(const struct app *app)
{
    return is_of_borrowers(app) ? app->borrower_first.v : app->first.v;
}

bool app_less(const void *context, uint32_t a, uint32_t b)
{
    const struct app *x = app_at(context, a);
    const struct app *y = app_at(context, b);

    if (app_submitted_ms(x) != app_submitted_ms(y)) {
        return app_submitted_ms(x) < app_submitted_ms(y);
    }
    int c = key128_compare(first_of(x), first_of(y));
    return c != 0 ? c < 0 : str_compare(id_of(x), id_of(y)) < 0;
}

/* The chains: of a queue's applications in one state, and of all in a state
 * that ends by itself, the oldest first. */

static void chain_state(struct sched *sched, uint32_t index)
{
    struct app *app = app_at(sched, index);
    struct app_queue *queue = queue_of(sched, app);

    ASSERT(app->state < SCHED_APP_EXPIRED); /* what expires is forgotten */
    app->previous = NONE;
    app->next = queue->first[app->state];
    if (app->next != NONE) {
        app_at(sched, app->next)->previous = index;
    }
    queue->first[app->state] = index;
    queue->count[app->state]++;
}

static void unchain_state(struct sched *sched, uint32_t index)
{
    const struct app *app = app_at(sched, index);
    struct app_queue *queue = queue_of(sched, app);

    ASSERT(queue->count[app->state] > 0);
    if (app->previous == NONE) {
        queue->first[app->state] = app->next;
    } else {
        app_at(sched, app->previous)->next = app->next;
    }
    if (app->next != NONE) {
        app_at(sched, app->next)->previous = app->previous;
    }
    queue->count[app->state]--;
}

static void chain_timer(struct sched *sched, uint32_t index)
{
    struct app *app = app_at(sched, index);
    struct app_timers *timers = &sched->app_timers[app->state];
    uint32_t older = timers->youngest;

    if (app_state_lasts_ms(app->state) == INT64_MAX) {
        return;
    }
    /* Times never fall, but for a checkpoint that is read back. */
    while (older != NONE && app_at(sched, older)->since_ms > app->since_ms) {
        older = app_at(sched, older)->older;
    }
    ASSERT(timers->oldest != NONE || timers->count == 0);
    app->older = older;
    app->younger =
        older == NONE ? timers->oldest : app_at(sched, older)->younger;
    *(older == NONE ? &timers->oldest : &app_at(sched, older)->younger) = index;
    *(app->younger == NONE ? &timers->youngest
                           : &app_at(sched, app->younger)->older) = index;
    timers->count++;
}

static void unchain_timer(struct sched *sched, uint32_t index)
{
    const struct app *app = app_at(sched, index);
    struct app_timers *timers = &sched->app_timers[app->state];

    if (app_state_lasts_ms(app->state) == INT64_MAX) {
        return;
    }
    ASSERT(timers->count > 0);
    *(app->older == NONE ? &timers->oldest
                         : &app_at(sched, app->older)->younger) = app->younger;
    *(app->younger == NONE ? &timers->youngest
                           : &app_at(sched, app->younger)->older) = app->older;
    timers->count--;
}

static struct seq *ready_seq(struct app_queue *queue, const struct app *app)
{
    return app_state_shown(app, app->state) == SCHED_APP_ACCEPTED
               ? &queue->accepted
               : &queue->going;
}

void app_detach(struct sched *sched, uint32_t index)
{
    struct app *app = app_at(sched, index);
    struct app_queue *queue = queue_of(sched, app);

    if (app->is_ready) {
        seq_remove(ready_seq(queue, app), index, app_less, sched);
        app->is_ready = false;
    }
    unchain_state(sched, index);
    unchain_timer(sched, index);
}

void app_attach(struct sched *sched, uint32_t index)
{
    struct app *app = app_at(sched, index);
    struct app_queue *queue = queue_of(sched, app);

    ASSERT(!app->is_ready); /* it is in one order at a time */
    if (app->lists.count) {
        seq_insert(ready_seq(queue, app), index, app_less, sched);
        app->is_ready = true;
    }
    chain_state(sched, index);
    chain_timer(sched, index);
}

/* Making and forgetting them. */

uint32_t app_get(struct sched *sched, uint32_t queue, struct str id)
{
    uint32_t at = app_find(sched, queue, id);

    ASSERT(sched->queues.items[queue].apps);
    if (at != NONE) {
        return at;
    }
    at = SLOTS_TAKE(&sched->apps);
    sched->apps.items[at] = (struct app){
        .id = str_dup(id),
        .id_bytes = (uint32_t)id.byte_count,
        .queue = queue,
        .state = SCHED_APP_NEW,
        .since_ms = sched->now_ms,
        .submitted_ms = INT64_MAX,
        .use_first = NONE,
    };
    names_put(&sched->app_names, queue, id, at);
    app_attach(sched, at);
    return at;
}

void app_free(struct sched *sched, uint32_t at)
{
    struct app *app = app_at(sched, at);

    ASSERT(app->ask_count == 0 && app->allocation_count == 0);
    app_detach(sched, at);
    names_remove(&sched->app_names, app->queue, id_of(app), at);
    while (app->use_first != NONE) {
        uint32_t use = app->use_first;
        app->use_first = sched->app_uses.items[use].next;
        SLOTS_GIVE(&sched->app_uses, use);
    }
    mem_free(app->id);
    VEC_FREE(&app->lists);
    seq_fini(&app->borrowers);
    *app = (struct app){0};
    SLOTS_GIVE(&sched->apps, at);
}

void apps_init(struct sched *sched)
{
    for (int state = 0; state < SCHED_APP_STATES; state++) {
        sched->app_timers[state].oldest = NONE;
        sched->app_timers[state].youngest = NONE;
    }
}

void apps_fini(struct sched *sched)
{
    for (size_t i = 0; i < sched->apps.count; i++) {
        mem_free(sched->apps.items[i].id);
        VEC_FREE(&sched->apps.items[i].lists);
        seq_fini(&sched->apps.items[i].borrowers);
    }
    for (size_t i = 0; i < sched->queues.count; i++) {
        struct app_queue *apps = sched->queues.items[i].apps;
        if (apps) {
            seq_fini(&apps->accepted);
            seq_fini(&apps->going);
            mem_free(apps);
        }
    }
    SLOTS_FREE(&sched->apps);
    SLOTS_FREE(&sched->app_uses);
    names_fini(&sched->app_names);
}
