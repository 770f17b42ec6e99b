/*
 * shim_private - what the files of the shim share; for shim*.c only.
 *
 *     shim.c            a run's directory, opened and closed
 *     shim_pod.c        its pod, from the first container to the end
 *     shim_container.c  one container
 *     shim_box.c        the namespaces around it
 *     shim_view.c       what it sees of the machine's files
 *     shim_mirror.c     mount paths that the machine does not have
 *     shim_fence.c      the data directory kept from it without mounts
 *     shim_start.c      the start of its process
 *     shim_exec.c       users who are let in, each in a
 *     shim_session.c    session
 *     shim_tty.c        a terminal
 *     shim_tree.c       everything that it started
 *     shim_log.c        what it prints
 */
#pragma once

#include <time.h>

#include "executor/shim/shim.h"
#include "executor/shim/shim_container.h"
#include "executor/shim/shim_exec.h"

struct shim {
    int dir_fd, log_dir_fd, space_fd, signal_fd;
    struct run_spec spec;
    struct run_state state;
    struct shim_container *containers; /* owned, [container_count] */
    size_t container_count;
    enum run_cause stop_cause; /* NONE: nobody asked to stop */
    int64_t deadline_at_ms;    /* on the monotonic clock; INT64_MAX: none */
    int64_t kill_at_ms;        /* the same */
    struct shim_box box;
    struct shim_exec exec;
    bool has_box; /* it was opened, or is not to be had */
    bool has_main_started;
    bool has_lock_fd; /* SHIM_LOCK_FD was given to us */
};

/* What a clock says, in ms. */
static inline int64_t shim_clock_ms(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Run the pod of an opened run to its end; answers the process's exit code. */
int shim_pod_run(struct shim *shim) must_check;
