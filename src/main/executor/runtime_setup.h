/*
 * runtime_setup - makes the parts of an executor from the configuration: its
 * runtime and its channel to the server.
 */
#pragma once

#include "executor/runtime.h"
#include "main/executor/executor_thread.h"
#include "rpc/rpc_channel.h"

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
