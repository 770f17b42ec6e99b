/*
 * log_readers - threads that answer questions, each one at a time, so that a
 * slow answer delays no other.
 *
 * Questions and answers are bytes.  Answers come in the order in which they are
 * ready, and wait until they are taken.
 *
 * Threads: some of its own; `answer` and `wake` are called by them, with no
 * lock held.  All functions are for one other.
 */
#pragma once

#include "base/strbuf.h"

enum {
    LOG_READERS = 8,
    /* Questions whose answers were not taken: as many as a server asks of one
     * executor (LOG_QUESTIONS_MAX of api/logs). */
    LOG_READERS_ASKED_MAX = 64,
};

struct log_readers;

struct log_readers_options {
    /* Append the answer to a question; nothing: there is none. */
    void (*answer)(void *ctx, struct str question, struct strbuf *answer);
    void (*wake)(void *ctx); /* an answer can be taken */
    void *ctx;
};

/* NULL: not one thread can be had; with fewer than LOG_READERS it goes on. */
struct log_readers *log_readers_start(const struct log_readers_options *options,
                                      struct err *err) must_check;
/* Ask; the question is copied.  False: too many answers were not taken. */
bool log_readers_ask(struct log_readers *readers,
                     struct str question) must_check;
/* Take an answer into the buffer, which is replaced; false: none is ready. */
bool log_readers_take(struct log_readers *readers,
                      struct strbuf *ret_answer) must_check;
/* Forget all that was asked; waits for what is being answered. */
void log_readers_clear(struct log_readers *readers);
/* Clear, and end.  NULL is fine. */
void log_readers_stop(struct log_readers *readers);
DEFINE_AUTO(log_readers, log_readers_stop)
