/*
 * log_hub - asks executors for the logs and the files of their pods.
 *
 * An executor whose pods have logs holds a stream open (Berth.ServeLogs) on
 * which the server asks and the executor answers: a server cannot reach its
 * executors in any other way.  Each executor has one stream, the newest.  Each
 * question is answered once: by the executor, by the end of its stream, or by a
 * timeout.  So no caller waits forever for an executor that hangs.
 *
 * Threads: any; the hub has one of its own, which ends questions that take too
 * long.
 */
#pragma once

#include "api/core/api_call.h"

enum {
    LOG_QUESTIONS_MAX = 64, /* of one executor, that wait */
    /* Of these, from one caller who is no administrator: others come through
     * whatever it asks. */
    LOG_QUESTIONS_EACH_MAX = 16,
    LOG_SESSIONS_MAX = EXECUTORS_MAX,
    LOG_TIMEOUT_MS = 20000,
};

struct log_hub;

/* An empty hub.  NULL: no thread can be had. */
struct log_hub *log_hub_create(uint32_t timeout_ms, struct err *err) must_check;
/* Only when no call is left.  NULL is fine. */
void log_hub_destroy(struct log_hub *hub);

/* Told once what came of a question; ends the call.  `answer` is valid until
 * it returns.  rc: 0, or the code of `err`. */
typedef void log_answered_fn(struct api_call *call, int rc,
                             struct log_answer *answer, const struct err *err);

/* Ask an executor on behalf of a call.  0: `answered` will be called, on
 * another thread, unless the caller goes away before: then the call is ended.
 * -ERR_NOT_FOUND: it has no stream; -ERR_LIMIT: too many questions wait; the
 * call is then still the caller's. */
int log_hub_ask(struct log_hub *hub, struct str executor_id,
                const struct log_query *query, struct api_call *call,
                log_answered_fn *answered, struct err *err) must_check;

/* An executor comes to the session that question `number` asked it for: the
 * asker's call, with a reference to its `rpc`; NULL: nobody waits for it. */
struct api_call *log_hub_claim(struct log_hub *hub, struct str executor_id,
                               uint64_t number) must_check;
