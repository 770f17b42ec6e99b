/*
 * kubernetes_setup - makes the runtime kubernetes from the configuration.
 *
 *     kubernetes_setup_check()   for --check-config and each start
 *     kubernetes_setup_read()    while the program still may read the files
 *     kubernetes_setup_attempts()
 *     (give up rights)
 *     kubernetes_setup_open()
 *     kubernetes_setup_free()    after the executor has stopped
 *
 * Threads: before others are started.
 */
#pragma once

#include "executor/runtime.h"
#include "main/executor/executor_thread.h"

/* Note what is wrong with the kubeconfig, if the runtime is kubernetes: also an
 * exec plugin where the filter of system calls denies programs. */
void kubernetes_setup_check(const struct config *config,
                            struct config_findings *findings);

/* Read it.  0 with NULL: the configuration names another runtime.  Else as
 * kube_config_load(). */
int kubernetes_setup_read(const struct config_executor *config,
                          struct kube_config **ret_kube,
                          struct err *err) must_check;

/* A file that must stay readable: a token that is replaced now and then; "". */
struct str kubernetes_setup_token_file(const struct kube_config *kube);

/* Make and open the folder of the record of jobs that crash the executor, in
 * the data directory (made as data_dir.h does), until the program ends.  -1:
 * the runtime is another one, or the folder cannot be made, which is said. */
int kubernetes_setup_attempts(const struct config_executor *config,
                              const char *data_dir) must_check;

/* Open the runtime. */
int kubernetes_setup_open(const struct executor_thread_options *options,
                          struct runtime **ret_runtime,
                          struct err *err) must_check;

/* Free what was read; NULL is fine. */
void kubernetes_setup_free(struct kube_config *kube);
