/*
 * helper_private - what the two ends share: how they are connected.
 *
 * Private to executor/helper.
 */
#pragma once

#include <pthread.h>

#include "base/vec.h"
#include "executor/helper/helper.h"
#include "executor/helper/helper_calls.h"
#include "executor/helper/helper_codec.h"

enum {
    HELPER_EXIT_REFUSED = 3, /* a request broke the protocol */
    HELPER_POLL_MAX = 1024,  /* changes in one answer */
};

/* What each process has of the connections.  `wake_fd` is readable in front
 * when there are changes, or no helper any more. */
struct helper_fds {
    int calls_fd, logs_fd, wake_fd;
};

/* One connection of the front end; calls on it come one after the other. */
struct helper_channel {
    int fd;
    pthread_mutex_t lock;
    struct strbuf answer; /* guarded: payload of the last one */
    bool is_gone;         /* guarded: there is no helper any more */
};

/* The front end of a helper. */
struct helper {
    struct helper_options options;
    struct helper_channel calls, logs;
    int wake_fd;
    pid_t pid;
    bool is_lost;   /* the thread of the runtime's calls alone */
    bool has_ended; /* the same: it was waited for */
};

/* Serve until the other end is closed; the exit code of the process. */
int helper_serve(const struct helper_options *options,
                 const struct helper_fds *fds) must_check;

/* From now on, an answer has to come in time. */
void helper_set_deadlines(struct helper *helper);

/* Close the connection of the calls, and wait until the helper has ended; kill
 * it when it takes too long. */
void helper_end(struct helper *helper);

/* Ask; what the answer carries is in channel->answer, which stays locked until
 * helper_release().  The answer's code, 0 if there is none to be;
 * -ERR_UNAVAILABLE: no helper any more.
 */
int helper_ask(struct helper_channel *channel,
               const struct helper_request *request, struct str payload,
               struct err *err) must_check;
/* Ask nothing more: the helper takes it for the end of this process. */
void helper_break_off(struct helper_channel *channel);
/* Let others ask. */
void helper_release(struct helper_channel *channel);
