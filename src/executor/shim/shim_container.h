/*
 * shim_container - one container of a shim's pod: its first process, what it
 * prints, and how it ended.
 *
 * Whatever a container leaves behind when its first process ends goes with it,
 * as in a container with a process namespace of its own.
 *
 * Private to the shim; its one thread.
 */
#pragma once

#include "executor/files/cgroup.h"
#include "executor/files/run_file.h"
#include "executor/shim/shim_box.h"
#include "executor/shim/shim_log.h"

enum { SHIM_CGROUP_NAME_BYTES = 64 };

struct shim_container {
    const struct run_container *spec;
    const struct cgroup_layout *cgroups;
    struct shim_log log;
    pid_t pid;    /* 0: not running */
    int pipes[2]; /* read ends; -1: closed */
    bool is_started, is_ended;
    struct run_ended ended;
    char message[SHIM_LOG_TAIL_BYTES_MAX + ERR_TEXT_BYTES_MAX];
    char cgroup_name[SHIM_CGROUP_NAME_BYTES];
};

/* The container at `index` of a pod, in zeroed memory, with its log in
 * `log_dir_fd`; `spec` is borrowed.  -ERR_IO. */
int shim_container_open(struct shim_container *container,
                        const struct run_spec *spec, size_t index,
                        int log_dir_fd, struct err *err) must_check;
/* Start its process in the pod's box, in what the job sees of its run, open as
 * `dir_fd`; one that cannot be started has ended with
 * `StartError`. */
void shim_container_start(struct shim_container *container,
                          const struct shim_box *box,
                          const struct run_spec *pod, int dir_fd);
/* It cannot be started, for what `text` says. */
void shim_container_refuse(struct shim_container *container, const char *text);
/* Read what it printed on a stream.  Answers whether the pipe is still open. */
bool shim_container_take(struct shim_container *container, int stream);
/* Its process has ended with a status of waitpid(); what it left behind is
 * killed. */
void shim_container_exited(struct shim_container *container, int status);
/* Kill all that is in its group; without groups, all of a session (0: none). */
void shim_container_kill(struct shim_container *container, pid_t session);
/* Take what is left in its pipes, until they end or the time is over
 * (CLOCK_MONOTONIC), and close its log. */
void shim_container_drain(struct shim_container *container, int64_t until_ms);
