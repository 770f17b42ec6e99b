#include "api/core/event_hub.h"

#include <pthread.h>

#include "base/hash.h"

enum { BUCKET_COUNT = 8192 };

struct event_hub {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* something is ready, or it stops */
    pthread_t thread;
    struct hub_watcher *buckets[BUCKET_COUNT];
    struct hub_watcher *ready, **ready_end; /* to be woken, oldest first */
    uint32_t watcher_count, watcher_count_max;
    bool is_stopping;
};

static struct hub_watcher **bucket_of(struct event_hub *hub, struct str queue,
                                      struct str job_set)
{
    uint64_t hash = hash_bytes(queue.p, queue.byte_count, 0);

    hash = hash_bytes(job_set.p, job_set.byte_count, hash);
    return &hub->buckets[hash % BUCKET_COUNT];
}

/* Take the oldest ready watcher into the caller's hand. */
static struct hub_watcher *take_ready(struct event_hub *hub)
{
    struct hub_watcher *watcher = hub->ready;

    hub->ready = watcher->next_ready;
    if (!hub->ready) {
        hub->ready_end = &hub->ready;
    }
    watcher->is_ready = false;
    watcher->is_waiting = false;
    return watcher;
}

static void *run(void *ctx)
{
    struct event_hub *hub = ctx;

    pthread_mutex_lock(&hub->mutex);
    while (true) {
        while (!hub->ready && !hub->is_stopping) {
            pthread_cond_wait(&hub->changed, &hub->mutex);
        }
        if (!hub->ready) {
            break;
        }
        struct hub_watcher *watcher = take_ready(hub);
        watcher->is_dirty = false;
        pthread_mutex_unlock(&hub->mutex);
        watcher->wake(watcher);
        pthread_mutex_lock(&hub->mutex);
    }
    pthread_mutex_unlock(&hub->mutex);
    return NULL;
}

static void hub_free(struct event_hub *hub)
{
    pthread_cond_destroy(&hub->changed);
    pthread_mutex_destroy(&hub->mutex);
    mem_free(hub);
}

struct event_hub *event_hub_create(uint32_t watcher_count_max, struct err *err)
{
    struct event_hub *hub = mem_alloc(sizeof(*hub));

    hub->watcher_count_max = watcher_count_max;
    hub->ready_end = &hub->ready;
    pthread_mutex_init(&hub->mutex, NULL);
    pthread_cond_init(&hub->changed, NULL);
    if (pthread_create(&hub->thread, NULL, run, hub) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        hub_free(hub);
        return NULL;
    }
    return hub;
}

void event_hub_destroy(struct event_hub *hub)
{
    if (!hub) {
        return;
    }
    pthread_mutex_lock(&hub->mutex);
    hub->is_stopping = true;
    pthread_cond_signal(&hub->changed);
    pthread_mutex_unlock(&hub->mutex);
    pthread_join(hub->thread, NULL);
    ASSERT(hub->watcher_count == 0);
    hub_free(hub);
}

int event_hub_add(struct event_hub *hub, struct hub_watcher *watcher)
{
    int rc = 0;

    ASSERT(watcher->wake);
    pthread_mutex_lock(&hub->mutex);
    if (hub->watcher_count == hub->watcher_count_max) {
        rc = -ERR_LIMIT;
    } else {
        struct hub_watcher **link =
            bucket_of(hub, watcher->queue, watcher->job_set);
        watcher->next = *link;
        watcher->link = link;
        if (watcher->next) {
            watcher->next->link = &watcher->next;
        }
        *link = watcher;
        hub->watcher_count++;
    }
    pthread_mutex_unlock(&hub->mutex);
    return rc;
}

void event_hub_remove(struct event_hub *hub, struct hub_watcher *watcher)
{
    pthread_mutex_lock(&hub->mutex);
    ASSERT(!watcher->is_waiting && !watcher->is_ready);
    *watcher->link = watcher->next;
    if (watcher->next) {
        watcher->next->link = watcher->link;
    }
    watcher->link = NULL;
    hub->watcher_count--;
    pthread_mutex_unlock(&hub->mutex);
}

bool event_hub_wait(struct event_hub *hub, struct hub_watcher *watcher)
{
    pthread_mutex_lock(&hub->mutex);
    bool may_wait = !watcher->is_dirty && !watcher->is_cancelled;
    watcher->is_dirty = false;
    watcher->is_waiting = may_wait;
    pthread_mutex_unlock(&hub->mutex);
    return may_wait;
}

bool event_hub_is_cancelled(struct event_hub *hub, struct hub_watcher *watcher)
{
    pthread_mutex_lock(&hub->mutex);
    bool is_cancelled = watcher->is_cancelled;
    pthread_mutex_unlock(&hub->mutex);
    return is_cancelled;
}

/* Whoever is ready waits for the hub's thread, which will see the cancel. */
bool event_hub_cancel(struct event_hub *hub, struct hub_watcher *watcher)
{
    pthread_mutex_lock(&hub->mutex);
    bool is_mine = watcher->is_waiting && !watcher->is_ready;
    watcher->is_cancelled = true;
    watcher->is_waiting &= !is_mine;
    pthread_mutex_unlock(&hub->mutex);
    return is_mine;
}

static void make_ready(struct event_hub *hub, struct hub_watcher *watcher)
{
    watcher->is_dirty = true;
    if (!watcher->is_waiting || watcher->is_ready) {
        return;
    }
    watcher->is_ready = true;
    watcher->next_ready = NULL;
    *hub->ready_end = watcher;
    hub->ready_end = &watcher->next_ready;
    pthread_cond_signal(&hub->changed);
}

void event_hub_notify(struct event_hub *hub, struct str queue,
                      struct str job_set)
{
    pthread_mutex_lock(&hub->mutex);
    for (struct hub_watcher *watcher = *bucket_of(hub, queue, job_set); watcher;
         watcher = watcher->next) {
        if (str_equal(watcher->queue, queue) &&
            str_equal(watcher->job_set, job_set)) {
            make_ready(hub, watcher);
        }
    }
    pthread_mutex_unlock(&hub->mutex);
}

void event_hub_wake(struct event_hub *hub, struct hub_watcher *watcher)
{
    pthread_mutex_lock(&hub->mutex);
    if (watcher->link) {
        make_ready(hub, watcher);
    }
    pthread_mutex_unlock(&hub->mutex);
}

uint32_t event_hub_count(struct event_hub *hub)
{
    pthread_mutex_lock(&hub->mutex);
    uint32_t count = hub->watcher_count;
    pthread_mutex_unlock(&hub->mutex);
    return count;
}
