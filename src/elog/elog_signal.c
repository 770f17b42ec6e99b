#include "elog/elog_signal.h"

#include <errno.h>
#include <time.h>

void elog_signal_init(struct elog_signal *signal)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&signal->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&signal->cond, &attr);
    pthread_condattr_destroy(&attr);
    signal->generation = 0;
}

void elog_signal_fini(struct elog_signal *signal)
{
    pthread_cond_destroy(&signal->cond);
    pthread_mutex_destroy(&signal->mutex);
}

void elog_signal_wake(struct elog_signal *signal)
{
    pthread_mutex_lock(&signal->mutex);
    signal->generation++;
    pthread_cond_broadcast(&signal->cond);
    pthread_mutex_unlock(&signal->mutex);
}

void elog_signal_interrupt(struct elog_signal *signal, bool *is_interrupted)
{
    pthread_mutex_lock(&signal->mutex);
    *is_interrupted = true;
    pthread_cond_broadcast(&signal->cond);
    pthread_mutex_unlock(&signal->mutex);
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait for a wake after `generation`, at most until `until_ms`. */
static void wait_for_wake(struct elog_signal *signal,
                          const struct elog_signal_wait *wait,
                          uint64_t generation, int64_t until_ms)
{
    struct timespec until = {until_ms / 1000, (until_ms % 1000) * 1000000};

    pthread_mutex_lock(&signal->mutex);
    int rc = 0;
    while (signal->generation == generation && !*wait->is_interrupted &&
           rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait(&signal->cond, &signal->mutex, &until);
    }
    pthread_mutex_unlock(&signal->mutex);
}

int elog_signal_wait(struct elog_signal *signal,
                     const struct elog_signal_wait *wait)
{
    int64_t deadline_ms = now_ms() + wait->timeout_ms;

    for (;;) {
        pthread_mutex_lock(&signal->mutex);
        uint64_t generation = signal->generation;
        bool is_interrupted = *wait->is_interrupted;
        *wait->is_interrupted = false;
        pthread_mutex_unlock(&signal->mutex);
        int answer = is_interrupted ? 0 : wait->is_ready(wait->ctx);
        if (is_interrupted || answer) {
            return answer;
        }
        int64_t until_ms = now_ms();
        if (until_ms >= deadline_ms) {
            return 0;
        }
        until_ms += wait->recheck_ms;
        if (wait->recheck_ms == 0 || until_ms > deadline_ms) {
            until_ms = deadline_ms;
        }
        wait_for_wake(signal, wait, generation, until_ms);
    }
}
