#include "sched/apps.h"

#include "base/hash.h"

/* The state machine. */

enum sched_app_state app_state_after(enum sched_app_state state,
                                     enum app_event event, uint32_t ask_count,
                                     uint32_t allocation_count)
{
    bool is_empty = ask_count == 0 && allocation_count == 0;

    switch (state) {
    case SCHED_APP_NEW:
        return event == APP_ASKED ? SCHED_APP_ACCEPTED : state;
    case SCHED_APP_ACCEPTED:
        if (event == APP_ALLOCATED) {
            return SCHED_APP_STARTING;
        }
        return is_empty ? SCHED_APP_COMPLETING : state;
    case SCHED_APP_STARTING:
        if (event == APP_ALLOCATED || event == APP_TIMED_OUT) {
            return SCHED_APP_RUNNING;
        }
        /* What lost its only allocation and asks again starts anew, and
         * keeps nobody from starting. */
        return is_empty                ? SCHED_APP_COMPLETING
               : allocation_count == 0 ? SCHED_APP_ACCEPTED
                                       : state;
    case SCHED_APP_RUNNING:
        return is_empty ? SCHED_APP_COMPLETING : state;
    case SCHED_APP_COMPLETING:
        return event == APP_ASKED       ? SCHED_APP_RUNNING
               : event == APP_TIMED_OUT ? SCHED_APP_COMPLETED
                                        : state;
    case SCHED_APP_COMPLETED:
        return event == APP_ASKED       ? SCHED_APP_ACCEPTED
               : event == APP_TIMED_OUT ? SCHED_APP_EXPIRED
                                        : state;
    case SCHED_APP_EXPIRED:
    case SCHED_APP_STATES:
        break;
    }
    return state;
}

int64_t app_state_lasts_ms(enum sched_app_state state)
{
    return state == SCHED_APP_STARTING     ? APP_STARTING_MS
           : state == SCHED_APP_COMPLETING ? APP_COMPLETING_MS
           : state == SCHED_APP_COMPLETED  ? APP_KEPT_MS
                                           : INT64_MAX;
}

enum sched_app_state app_state_at(const struct app *app, int64_t now_ms,
                                  int64_t *ret_since_ms)
{
    enum sched_app_state state = app->state;
    int64_t since_ms = app->since_ms;

    while (app_state_lasts_ms(state) != INT64_MAX &&
           now_ms - since_ms >= app_state_lasts_ms(state)) {
        since_ms += app_state_lasts_ms(state);
        state = app_state_after(state, APP_TIMED_OUT, app->ask_count,
                                app->allocation_count);
    }
    *ret_since_ms = since_ms;
    return state;
}

/* Finding them. */

static struct app *app_at(const struct sched *sched, uint32_t index)
{
    return &sched->apps.items[index];
}

static struct app_queue *queue_of(const struct sched *sched,
                                  const struct app *app)
{
    return sched->queues.items[app->queue].apps;
}

static struct str id_of(const struct app *app)
{
    return str_make(app->id, app->id_bytes);
}

static struct key128 app_key(uint32_t queue, struct str id)
{
    return (struct key128){queue, hash_bytes(id.p, id.byte_count, queue)};
}

static uint32_t app_find(const struct sched *sched, uint32_t queue,
                         struct str id)
{
    uint32_t at = map_find(&sched->app_map, app_key(queue, id));

    while (at != MAP_NONE && (app_at(sched, at)->queue != queue ||
                              !str_equal(id_of(app_at(sched, at)), id))) {
        at = app_at(sched, at)->same_hash_next;
    }
    return at;
}

/* Guests. */

enum sched_app_state app_state_shown(const struct app *app,
                                     enum sched_app_state state)
{
    bool is_at_rest = state == SCHED_APP_NEW || state == SCHED_APP_COMPLETING ||
                      state == SCHED_APP_COMPLETED;

    return app->guests.count && is_at_rest
               ? app_state_after(state, APP_ASKED, 1, 0)
               : state; /* others do not change as somebody asks */
}

/* Whether it begins anew with its guests. */
static bool is_theirs(const struct app *app)
{
    return app->guests.count > 0 &&
           (app->state == SCHED_APP_NEW || app->state == SCHED_APP_COMPLETED);
}

int64_t app_submitted_ms(const struct app *app)
{
    return is_theirs(app) ? app->guest_submitted_ms : app->submitted_ms;
}

static struct key128 first_of(const struct app *app)
{
    return is_theirs(app) ? app->guest_first.v : app->first.v;
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

/* Take an application out of the seqs and chains of its queue while it
 * changes, and put it back. */
static void app_detach(struct sched *sched, uint32_t index)
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

static void app_attach(struct sched *sched, uint32_t index)
{
    struct app *app = app_at(sched, index);
    struct app_queue *queue = queue_of(sched, app);

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
    if (sched->spare_apps.count) {
        at = sched->spare_apps.items[--sched->spare_apps.count];
    } else {
        at = (uint32_t)sched->apps.count;
        VEC_PUSH(&sched->apps, (struct app){0});
    }
    sched->apps.items[at] = (struct app){
        .id = str_dup(id),
        .id_bytes = (uint32_t)id.byte_count,
        .queue = queue,
        .state = SCHED_APP_NEW,
        .since_ms = sched->now_ms,
        .submitted_ms = INT64_MAX,
        .use_first = NONE,
    };
    sched->apps.items[at].same_hash_next =
        map_put(&sched->app_map, app_key(queue, id), at);
    app_attach(sched, at);
    return at;
}

static void app_unmap(struct sched *sched, uint32_t at)
{
    const struct app *app = app_at(sched, at);
    struct key128 key = app_key(app->queue, id_of(app));
    uint32_t first = map_find(&sched->app_map, key);

    if (first != at) {
        while (app_at(sched, first)->same_hash_next != at) {
            first = app_at(sched, first)->same_hash_next;
        }
        app_at(sched, first)->same_hash_next = app->same_hash_next;
    } else if (app->same_hash_next != NONE) {
        map_put(&sched->app_map, key, app->same_hash_next);
    } else {
        map_remove(&sched->app_map, key);
    }
}

static void app_free(struct sched *sched, uint32_t at)
{
    struct app *app = app_at(sched, at);

    ASSERT(app->ask_count == 0 && app->allocation_count == 0);
    app_detach(sched, at);
    app_unmap(sched, at);
    while (app->use_first != NONE) {
        uint32_t use = app->use_first;
        app->use_first = sched->app_uses.items[use].next;
        VEC_PUSH(&sched->spare_app_uses, use);
    }
    mem_free(app->id);
    VEC_FREE(&app->lists);
    seq_fini(&app->guests);
    *app = (struct app){0};
    VEC_PUSH(&sched->spare_apps, at);
}

/* What happens to them. */

/* It is as if it had never been, but for its guests. */
static void app_expire(struct sched *sched, uint32_t index)
{
    struct app *app = app_at(sched, index);

    if (app->guests.count == 0) {
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
           app->guests.count == 0;
}

/* The order of a seq of guests. */
static bool guest_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;
    const struct job *x = &sched->jobs.items[a], *y = &sched->jobs.items[b];

    return x->submitted_ms != y->submitted_ms
               ? x->submitted_ms < y->submitted_ms
               : key128_compare(x->id.v, y->id.v) < 0;
}

void app_guest(struct sched *sched, uint32_t index, int sign,
               const struct job *job, bool is_opted_out)
{
    struct app *app = app_at(sched, index);
    uint32_t guest = (uint32_t)(job - sched->jobs.items);

    ASSERT(guest < sched->jobs.count);
    app_detach(sched, index);
    if (app->guests.count == 0) {
        app->is_guest_opted_out = false;
    }
    if (sign > 0) {
        seq_insert(&app->guests, guest, guest_less, sched);
    } else {
        seq_remove(&app->guests, guest, guest_less, sched);
    }
    if (app->guests.count) {
        uint32_t first = seq_get(&app->guests, (struct seq_cursor){0});
        app->guest_submitted_ms = sched->jobs.items[first].submitted_ms;
        app->guest_first = sched->jobs.items[first].id;
    }
    app->is_guest_opted_out |= is_opted_out;
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

void app_list(struct sched *sched, uint32_t index, uint32_t list, bool is_in)
{
    struct app *app = app_at(sched, index);
    uint32_t *place = &sched->lists.items[list].place;
    bool changes = is_in ? app->lists.count == 0 : app->lists.count == 1;

    if (changes) {
        app_detach(sched, index);
    }
    if (is_in) {
        *place = (uint32_t)app->lists.count;
        VEC_PUSH(&app->lists, list);
    } else {
        uint32_t last = app->lists.items[--app->lists.count];
        app->lists.items[*place] = last;
        sched->lists.items[last].place = *place;
        *place = NONE;
    }
    if (changes) {
        app_attach(sched, index);
    }
}

void app_use(struct sched *sched, uint32_t index, uint32_t pool,
             const struct resource_vec *amounts, int sign)
{
    struct app *app = app_at(sched, index);
    uint32_t at = app->use_first;

    while (at != NONE && sched->app_uses.items[at].pool != pool) {
        at = sched->app_uses.items[at].next;
    }
    if (at == NONE) {
        if (sched->spare_app_uses.count) {
            at = sched->spare_app_uses.items[--sched->spare_app_uses.count];
        } else {
            at = (uint32_t)sched->app_uses.count;
            VEC_PUSH(&sched->app_uses, (struct app_use){0});
        }
        sched->app_uses.items[at] = (struct app_use){
            .pool = pool,
            .next = app->use_first,
        };
        app->use_first = at;
    }
    amounts_add_times(&sched->app_uses.items[at].allocated, amounts, sign);
}

const struct resource_vec *app_used(const struct sched *sched, uint32_t index,
                                    uint32_t pool)
{
    for (uint32_t at = app_at(sched, index)->use_first; at != NONE;
         at = sched->app_uses.items[at].next) {
        if (sched->app_uses.items[at].pool == pool) {
            return &sched->app_uses.items[at].allocated;
        }
    }
    return NULL;
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
            app->ask_count -= app->lent_count; /* who is out asks elsewhere */
            app_free(sched, apps->first[state]);
        }
    }
    seq_fini(&apps->accepted);
    seq_fini(&apps->going);
    mem_free(apps);
    sched->queues.items[queue].apps = NULL;
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
        seq_fini(&sched->apps.items[i].guests);
    }
    for (size_t i = 0; i < sched->queues.count; i++) {
        struct app_queue *apps = sched->queues.items[i].apps;
        if (apps) {
            seq_fini(&apps->accepted);
            seq_fini(&apps->going);
            mem_free(apps);
        }
    }
    VEC_FREE(&sched->apps);
    VEC_FREE(&sched->spare_apps);
    VEC_FREE(&sched->app_uses);
    VEC_FREE(&sched->spare_app_uses);
    map_fini(&sched->app_map);
}
