/*
 * server - berthd put together: log, store, leader, projector, API, ports and,
 * if wanted, an executor.
 *
 *     data dir -> log -> leader ---------+
 *                  \--> projector -> store -> API -> gRPC, HTTP
 *                                              \---- executor
 *
 * The parts start in that order and stop in reverse, so that no part calls one
 * that has stopped.
 *
 * Threads: one, which starts and stops it.
 */
#pragma once

#include "executor/helper/helper.h"
#include "main/config/config.h"
#include "notify/runner.h"

enum {
    SERVER_ADDRESS_BYTES_MAX = 300,
    SERVER_STOP_GRACE_MS = 1000, /* for calls under way */
    SERVER_JOBS_GRACE_MS = 3000, /* with --stop-jobs */
    SERVER_READY_MS_MAX = 600000,
};

struct server;

/* Everything that a start wants; borrowed until server_stop(). */
struct server_options {
    const struct config *config;
    struct helper *helper; /* of the runtime process; NULL: none */
    /* Whom to tell of ends: config_notify_count() of them. */
    const struct notify_target *notify_targets;
    struct runner *runner;          /* of commands; NULL: there are none */
    const struct kube_config *kube; /* of the runtime kubernetes; NULL */
    int attempts_fd;                /* of that runtime; -1 */
    uint32_t own_user_id; /* whose programs are administrators, as root's */
    bool ends_jobs;       /* at the stop */
    bool accepts_loss;    /* of records of the log */
    /* Told from any thread when it cannot go on; may be told more than
     * once. */
    void (*failed)(void *ctx);
    void *ctx;
};

/* Start, and return when calls are served.  NULL with `err` set. */
struct server *server_start(const struct server_options *options,
                            struct err *err) must_check;

/* Where it serves ("127.0.0.1:50051"); borrowed. */
const char *server_grpc(const struct server *server);
const char *server_http(const struct server *server);

/* Take up the scheduling policy of `config`, and say in the log which other
 * keys have changed, which takes a restart.  -ERR_INVALID, -ERR_UNAVAILABLE. */
int server_reload(struct server *server, const struct config *config,
                  struct err *err) must_check;

/* Stop and free; within a few seconds.  NULL is fine. */
void server_stop(struct server *server);
