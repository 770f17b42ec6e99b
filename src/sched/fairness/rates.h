/*
 * rates - the limits on starts: their rules from the policy, and their state
 * in checkpoints.  The buckets themselves are in bucket.h.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/history.h"

/* The limits on starts in a pool as rules of buckets; size 0: no limit. */
struct start_rules {
    struct bucket_rule all, queue;
    struct bucket_rule columns[RESOURCE_COLUMNS_MAX]; /* of the pool (AR-11) */
    bool has_columns;
};

/* Jobs that would start, all of one queue. */
struct start_question {
    uint32_t queue, pool, count;
    const struct resource_vec *request; /* in all */
    int64_t now_ms;
};

/* Which limit refuses a start. */
enum start_answer {
    START_MAY,
    START_NOT_ANY,      /* nobody may: the limit of all queues */
    START_NOT_OF_QUEUE, /* nobody of the queue */
    START_NOT_OF_POOL,  /* so much of a resource of the pool; see columns */
};

struct start_refusal {
    enum start_answer why;
    int64_t until_ms; /* of the first two: then it would be let go */
    uint32_t columns; /* of the last: bits, of those that refuse */
};

/* Whether any limit counts what starts in a pool. */
bool start_is_limited(const struct sched *sched, uint32_t pool);
/* The rules of the policy; in no pool (NONE) those of all pools. */
struct start_rules start_rules_of(const struct sched *sched, uint32_t pool);
/* Whether the limits let them start. */
struct start_refusal start_ask(const struct sched *sched,
                               const struct start_rules *rules,
                               const struct start_question *question);
/* When the limit of a column lets them go. */
int64_t start_when(const struct sched *sched, const struct start_rules *rules,
                   const struct start_question *question, uint32_t column);
/* They start. */
void start_take(struct sched *sched, const struct start_rules *rules,
                const struct start_question *question);

/* The state of all limits on starts; see history.h. */
void rates_pack(const struct sched *sched, struct strbuf *buf);
/* Take it back. */
void rates_unpack(struct sched *sched, struct history_reader *reader);
