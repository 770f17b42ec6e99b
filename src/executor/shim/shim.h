/*
 * shim - the small process that runs one pod and outlives its executor.
 *
 * It gets the directory of a run (run_file.h), runs the containers of the
 * spec, keeps their logs, enforces deadline and grace, ends whatever they
 * leave behind, and records how the run went.  It never starts a run that has
 * a state already.  SIGTERM asks it to end the run: the containers' first
 * processes get SIGTERM, and after the grace (that of the file `stop`, else
 * the spec's) the whole tree gets SIGKILL.
 *
 * The lock on the file `lock` comes with descriptor SHIM_LOCK_FD from the
 * executor, so that there is no moment at which a run that may start looks
 * dead.
 *
 * Threads: one; the process has no other.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

enum { SHIM_LOCK_FD = 3, SHIM_GRACE_MS_MAX = 3600 * 1000 };

struct exec_size;
struct run_container;
struct cgroup_layout;
struct run_spec;
struct shim_box;

/* Run the pod of `run_dir` to its end.  Returns the exit code of the process:
 * 0 when the end was recorded, whatever it was. */
int shim_run(const char *run_dir) must_check;

/* What it takes to start one container. */
struct shim_start {
    const struct run_container *container;
    const struct run_spec *spec;
    const struct shim_box *box;
    const struct cgroup_layout *cgroups;
    const char *cgroup_name;
    const char *space_dir; /* of what the job sees; absolute */
    int dir_fd;            /* of the same; its work directory is the default */
    int input_fd;          /* standard input; borrowed; -1: there is none */
    int output_fds[2];     /* standard output and error; borrowed */
    char **args, **envs;   /* ended by NULL; NULL: the container's own */
    /* A terminal in place of all three, which the process makes for itself;
     * NULL: none. */
    const struct exec_size *tty;
    int *ret_tty_fd; /* its other end, the caller's; with `tty` only */
};

/* Start a container's process.  On failure `err` says why in the words of
 * the step that failed and `*ret_exit_code` is 126 to 128, as a shell has
 * it. */
int shim_start(const struct shim_start *start, pid_t *ret_pid,
               int *ret_exit_code, struct err *err) must_check;

/* SIGKILL every descendant of this process whose session is `session` (0:
 * every one), again and again until none is left (bounded).  They are left to
 * be reaped.  Returns how many there were at first. */
int shim_tree_kill(pid_t session);
/* SIGKILL the children of this process, once and at once; how many there were
 * that had not ended.  0 also where the kernel does not list them. */
int shim_tree_kill_children(void);
