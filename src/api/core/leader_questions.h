/*
 * leader_questions - who has how many questions before the leader, which
 * answers one after the other: of one caller only so many wait at once, so that
 * the others come through whatever it asks.
 *
 * Threads: any.
 */
#pragma once

#include <pthread.h>
#include <sys/queue.h>

#include "base/str.h"

enum { QUESTIONS_EACH_MAX = 16 };

/* Of a call, which has one at a time.  Zeroed it is none. */
struct leader_question {
    LIST_ENTRY(leader_question) entry;
    struct str caller; /* borrowed while it waits; p NULL: it does not */
};

struct leader_questions {
    pthread_mutex_t lock;
    LIST_HEAD(, leader_question) waiting;
};

/* An empty list. */
void leader_questions_init(struct leader_questions *questions);
/* Only when none waits. */
void leader_questions_fini(struct leader_questions *questions);

/* Count a question of that caller until it is left; one that waits already is
 * counted once.  False: the caller has as many as it may. */
bool leader_questions_enter(struct leader_questions *questions,
                            struct leader_question *question,
                            struct str caller) must_check;
/* One that does not wait may be left, too. */
void leader_questions_leave(struct leader_questions *questions,
                            struct leader_question *question);
