#include "main/berthd/periodic.h"

#include <pthread.h>
#include <time.h>

enum { PERIOD_S = 1 };

struct periodic {
    struct api *api;
    pthread_mutex_t lock;
    pthread_cond_t stopped; /* on the clock that never goes back */
    bool is_stopping;
    pthread_t thread;
};

/* Wait for the next time; false: it is to stop. */
static bool pause_period(struct periodic *periodic)
{
    struct timespec until;
    int rc = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PERIOD_S;
    pthread_mutex_lock(&periodic->lock);
    while (!periodic->is_stopping && rc == 0) {
        rc =
            pthread_cond_timedwait(&periodic->stopped, &periodic->lock, &until);
    }
    bool is_stopping = periodic->is_stopping;
    pthread_mutex_unlock(&periodic->lock);
    return !is_stopping;
}

static void *run(void *ctx)
{
    struct periodic *periodic = ctx;

    while (pause_period(periodic)) {
        api_periodic_step(periodic->api);
    }
    return NULL;
}

static void free_it(struct periodic *periodic)
{
    (void)pthread_cond_destroy(&periodic->stopped);
    (void)pthread_mutex_destroy(&periodic->lock);
    mem_free(periodic);
}

struct periodic *periodic_start(struct api *api, struct err *err)
{
    struct periodic *periodic = mem_alloc(sizeof(*periodic));
    pthread_condattr_t attributes;

    periodic->api = api;
    (void)pthread_mutex_init(&periodic->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&periodic->stopped, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (pthread_create(&periodic->thread, NULL, run, periodic) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        free_it(periodic);
        return NULL;
    }
    return periodic;
}

void periodic_stop(struct periodic *periodic)
{
    if (!periodic) {
        return;
    }
    pthread_mutex_lock(&periodic->lock);
    periodic->is_stopping = true;
    pthread_cond_signal(&periodic->stopped);
    pthread_mutex_unlock(&periodic->lock);
    (void)pthread_join(periodic->thread, NULL);
    free_it(periodic);
}
