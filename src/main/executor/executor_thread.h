/*
 * executor_thread - an executor with its runtime and its connection to the
 * server, run by a thread of its own. berthd --standalone and berth-executor
 * both use it.
 *
 * Threads: start and stop from one.
 */
#pragma once

#include "executor/loop/executor.h"
#include "main/config/config.h"

struct executor_thread;

/* All is copied or only read during the start, but the clock. */
struct executor_thread_options {
    const struct config_executor *config;
    const struct config_tls *tls; /* how to reach the server; NULL: plain */
    const char *server;           /* host:port */
    const char *user_name;        /* NULL: anonymous */
    const char *password;
    struct helper *helper; /* that has the runtime process; borrowed; NULL with
                            * others */
    const struct kube_config *kube; /* of the runtime kubernetes; borrowed
                                     * until the stop */
    int attempts_fd; /* of kubernetes_setup_attempts(); borrowed likewise; -1 */
    const struct clock *clock;
};

/* Open the runtime, take up what runs in it, and begin to ask for work.  NULL
 * with `err` set. */
struct executor_thread *
executor_thread_start(const struct executor_thread_options *options,
                      struct err *err) must_check;

/* Stop and free.  Pods go on, unless `ends_jobs`: then they are asked to end,
 * for up to `grace_ms`.  NULL is fine. */
void executor_thread_stop(struct executor_thread *thread, bool ends_jobs,
                          int64_t grace_ms);

/* Counters as of the last step; from any thread. */
struct executor_stats executor_thread_stats(struct executor_thread *thread);
