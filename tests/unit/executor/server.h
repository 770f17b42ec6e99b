/*
 * server - a server of a few lines behind the executor's transport port, on a
 * clock that the test moves: it leases what the test says until it is
 * reported, and keeps a list of what it was told.
 */
#pragma once

#include "armada/executorapi.pb-c.h"
#include "base/clock.h"
#include "base/vec.h"
#include "executor/loop/executor.h"

/* A clock that stands still until it is moved. */
struct test_clock {
    struct clock clock;
    int64_t now_ms;
};

/* A job on offer, and what was heard of it. */
struct server_job {
    struct run_id run;
    struct job_id job;
    char events[64]; /* a letter for each event: see server.c */
    char subcategory[64];
    char node[64]; /* that it was last told to be on; "": not told */
    char address[64], used[64]; /* "port=address", "resource=amount" */
    bool is_cancelled;
    bool is_ended;
    bool was_reported; /* as the lease says */
    bool is_sent;      /* on this stream */
    bool is_held;      /* in the last full request */
};

/* Something on its way to the executor. */
struct server_item {
    struct executor_arrival arrival;
    char *bytes; /* owned */
};

struct server {
    struct executor_transport port;
    struct test_clock *clock;
    VEC(struct server_job) jobs;
    struct map by_run;
    VEC(struct server_item) queue;
    size_t queue_first;
    char *handed; /* owned: bytes of the last arrival */
    bool is_away; /* every call fails */
    bool is_deaf; /* reports are not answered at all */
    bool is_full; /* deltas are not taken now */
    bool agrees_to_hold;
    bool is_open; /* a held exchange */
    int open_count, delta_count, report_count, cancel_count;
    size_t report_event_count_max;
    uint32_t credit, held_run_count, node_count;
    uint32_t last_lease_max;
    uint32_t protected_count; /* that it last said */
    char last_node[64];
    uint32_t changed_node_count, removed_node_count; /* in deltas, in all */
    char last_removed[64];
    const char *cpu; /* that the jobs on offer ask for; NULL: nothing */
};

/* A server on `clock`. */
void server_init(struct server *server, struct test_clock *clock);
/* Free it. */
void server_fini(struct server *server);
/* Offer a job number `number`; its index in `jobs`. */
uint32_t server_offer(struct server *server, int number);
/* Push what is on offer to a held stream. */
void server_push(struct server *server);
/* End the held stream from the server's side. */
void server_hang_up(struct server *server);
/* A clock that shows 1,000,000 ms. */
void test_clock_init(struct test_clock *clock);
