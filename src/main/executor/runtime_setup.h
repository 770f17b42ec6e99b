/*
 * runtime_setup - makes the parts of an executor from the configuration: its
 * runtime and its channel to the server.
 *
 * Threads: main sets up the helper and the filters before there are others.
 * Who starts an executor makes its runtime and channels, which its threads use.
 */
#pragma once

#include "executor/helper/helper.h"
#include "executor/runtime.h"
#include "main/executor/executor_thread.h"
#include "main/executor/privileges.h"
#include "rpc/rpc_channel.h"

/* What runtimes need to know before rights are given up. */
struct runtime_setup_process {
    const struct config_executor *config;
    const struct config_hardening *hardening;
    const char *jobs_dir;
    const char *data_dir; /* what jobs shall not see, which that lies in */
    int attempts_fd;      /* of kubernetes_setup_attempts(): handed over; -1 */
    int64_t reserved_user, reserved_group; /* whom no job may run as */
    const struct clock *clock;
    void (*lost)(void *ctx); /* the helper has ended unasked */
    void *ctx;
};

/* Start the helper that has the runtime process, before there are threads.  0
 * with NULL: the configuration names another runtime.  -ERR_IO. */
int runtime_setup_helper(const struct runtime_setup_process *setup,
                         struct helper **ret_helper,
                         struct err *err) must_check;

/* The same, and then give up what only the helper needs (privileges.h).
 * `setup.config` NULL: there is no executor, and no helper.  Whom no job may
 * run as, and `hardening`, are set here.  The errors of both. */
int runtime_setup_confine(const struct config_hardening *hardening,
                          const struct privileges_needs *needs,
                          struct runtime_setup_process *setup,
                          struct privileges *ret_plan,
                          struct helper **ret_helper,
                          struct err *err) must_check;

/* Open the runtime that the configuration names, and say what it offers. */
int runtime_setup_open(const struct executor_thread_options *options,
                       struct runtime **ret_runtime,
                       struct err *err) must_check;

/* A channel to the server; NULL with `err` set. */
struct rpc_channel *
runtime_setup_channel(const struct executor_thread_options *options,
                      struct arena *arena, struct err *err) must_check;

/* The header of basic authentication. */
char *runtime_setup_basic(const char *user_name, const char *password,
                          struct arena *arena) must_check;
