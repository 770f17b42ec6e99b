/*
 * load - a client that submits many jobs and watches what becomes of them.
 *
 * It speaks Armada's API over one channel, as any client: requests are
 * encoded once, several are in flight at a time, and one stream per job set
 * is watched by a thread of its own.
 *
 * Times are milliseconds of the monotonic clock of this process.
 */
#pragma once

#include <stdatomic.h>

#include "model/id.h"
#include "rpc/rpc_channel.h"

enum { LOAD_SUBMITTED_MAX = 1 << 22 };

/* When something happened to a job. */
struct load_time {
    struct job_id job;
    double at_ms;
};

/* What has been seen of one job set. */
struct load_watch {
    struct rpc_channel *channel;
    const char *queue, *job_set;
    _Atomic uint32_t leased_count, succeeded_count, failed_count;
    struct load_time *leased; /* owned; in order of arrival */
    uint32_t leased_capacity;
    _Atomic bool is_stopped;
    unsigned long thread;
};

/* The clock of all times here. */
double load_now_ms(void);

/* Make a queue of weight 1; aborts with a message when refused. */
void load_create_queue(struct rpc_channel *channel, const char *queue);

/* Encode a JobSubmitRequest of `job_count` equal small jobs that run true
 * (a fake runtime does not look).  The caller frees `ret_request`. */
void load_encode_request(const char *queue, const char *job_set,
                         uint32_t job_count, struct strbuf *ret_request);

struct load_plan {
    struct rpc_channel *channel;
    const struct strbuf *requests; /* sent in turn */
    uint32_t request_kind_count;
    uint32_t request_count;
    uint32_t jobs_per_request;
    uint32_t in_flight_max;
    double pace_ms; /* between the starts of two requests; 0: none */
};

/* Send all requests of a plan and wait for the answers; aborts with a message
 * if one is refused.  With `ret_sent` ([request_count * jobs_per_request]) it
 * says when each job's request was sent.  Returns the ms it took. */
double load_submit(const struct load_plan *plan, struct load_time *ret_sent);

/* Begin to watch; `leased_capacity` times are kept. */
void load_watch_start(struct load_watch *watch, struct rpc_channel *channel,
                      const char *queue, const char *job_set,
                      uint32_t leased_capacity);
/* End the watching and free what it holds. */
void load_watch_stop(struct load_watch *watch);
