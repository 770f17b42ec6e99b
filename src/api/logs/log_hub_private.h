/*
 * log_hub_private - questions for logs and the streams that they go out on; for
 * log_hub.c, which asks, and log_session.c, which has the executors' streams.
 *
 * Locks.  One mutex guards who is connected and what is asked; no callback
 * and no rpc_call_*() is made with it held.  Whoever takes a question out
 * under it answers it: so each is answered once.
 *
 * Memory.  A session lives in its stream's call, a question in the asker's;
 * both calls live until they are finished and nobody holds them.
 */
#pragma once

#include <pthread.h>
#include <sys/queue.h>
#include <time.h>

#include "api/logs/log_hub.h"

/* What an executor is asked on behalf of a call. */
struct question {
    TAILQ_ENTRY(question) of_session, of_hub;
    struct session *session; /* NULL: it was taken out */
    struct api_call *call;
    log_answered_fn *answered;
    void (*gone)(struct api_call *call); /* of the query */
    struct timespec deadline;
    uint64_t number;
    struct str bytes; /* encoded */
    bool is_sent;
};

/* Some of them, in an order. */
TAILQ_HEAD(questions, question);

/* An executor's stream. */
struct session {
    TAILQ_ENTRY(session) link;
    struct log_hub *hub;
    struct api_call *call;
    struct str executor_id;
    struct questions questions; /* oldest first */
    uint32_t question_count;
    bool is_sending, is_over;
};

struct log_hub {
    pthread_mutex_t mutex; /* of all that follows, and what it leads to */
    pthread_cond_t changed;
    pthread_t thread;
    TAILQ_HEAD(, session) sessions;
    uint32_t session_count;
    struct questions questions; /* all, the first to time out first */
    uint64_t number;            /* of the last question */
    uint32_t timeout_ms;
    bool is_stopping;
};

/* With the mutex: the caller must answer it. */
void log_question_take_out(struct log_hub *hub, struct question *question);
/* Answer one that was taken out: -ERR_UNAVAILABLE. */
void log_question_fail(struct question *question, const char *text);
/* The session of an executor, or NULL.  With the mutex. */
struct session *log_session_find(struct log_hub *hub, struct str executor_id);
/* Send the oldest question that was not, unless one is on its way. */
void log_session_send(struct session *session);
