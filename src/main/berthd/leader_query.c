#include "main/berthd/leader_query.h"

#include <pthread.h>
#include <time.h>

/* Shared by who waits and who answers; the last one out frees it. */
struct wait {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    struct command *answer; /* owned, once there */
    bool is_abandoned;
    bool is_answered;
};

static void release(struct wait *wait)
{
    command_destroy(wait->answer);
    (void)pthread_cond_destroy(&wait->answered);
    (void)pthread_mutex_destroy(&wait->lock);
    mem_free(wait);
}

static void done(struct command *command, void *ctx)
{
    struct wait *wait = ctx;

    pthread_mutex_lock(&wait->lock);
    bool is_last = wait->is_abandoned;
    wait->answer = command;
    wait->is_answered = true;
    pthread_cond_signal(&wait->answered);
    pthread_mutex_unlock(&wait->lock);
    if (is_last) {
        release(wait);
    }
}

static struct wait *make_wait(void)
{
    struct wait *wait = mem_alloc(sizeof(*wait));
    pthread_condattr_t attributes;

    (void)pthread_mutex_init(&wait->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&wait->answered, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return wait;
}

struct command *leader_query(struct inbox *inbox, enum command_kind kind,
                             int timeout_ms)
{
    return leader_ask(inbox, command_create(kind), timeout_ms);
}

struct command *leader_ask(struct inbox *inbox, struct command *command,
                           int timeout_ms)
{
    struct wait *wait = make_wait();
    struct timespec until;

    command->done = done;
    command->ctx = wait;
    if (inbox_post(inbox, command) < 0) {
        command_destroy(command);
        release(wait);
        return NULL;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    pthread_mutex_lock(&wait->lock);
    while (!wait->is_answered &&
           pthread_cond_timedwait(&wait->answered, &wait->lock, &until) == 0) {
    }
    wait->is_abandoned = !wait->is_answered;
    bool is_ours = wait->is_answered;
    pthread_mutex_unlock(&wait->lock);
    if (!is_ours) {
        return NULL;
    }
    command = steal_ptr(wait->answer);
    release(wait);
    if (command->result != COMMAND_OK) {
        command_destroy(command);
        return NULL;
    }
    return command;
}
