/*
 * shim_box - isolates a pod from the machine and from other pods.
 *
 * A pod has namespaces of its own, by the layers of its spec (run_file.h).  Its
 * keeper is the first process of the pid namespace: it reaps what is left
 * without a parent, and when it ends, the kernel ends everything in there.  It
 * ends with the shim.  The network is the machine's.
 *
 * Private to the shim; its one thread.
 */
#pragma once

#include <sys/types.h>

#include "executor/files/run_file.h"

struct shim_box {
    pid_t keeper; /* 0: there is none, or it has been reaped */
    int mount_fd; /* of the mount namespace, owned; -1: the shim's own */
    bool has_pids;
};

/* A box without any layer. */
#define SHIM_BOX_NONE ((struct shim_box){0, -1, false})

/* Make the namespaces.  The shim's own next children are in those of users,
 * processes and IPC; shim_box_enter() takes them to what they shall see.
 * -ERR_IO: a layer that the spec asks for is not to be had. */
int shim_box_open(const struct run_spec *spec, struct shim_box *ret_box,
                  struct err *err) must_check;
/* In a child: see what the pod shall see.  Its working directory is then the
 * root. -ERR_IO with errno. */
int shim_box_enter(const struct shim_box *box) must_check;
/* Kill the keeper, which the caller reaps: it takes all of its namespace with
 * it, once the caller has reaped those that are its own children. */
void shim_box_kill(const struct shim_box *box);
/* Let go of a box whose keeper has been reaped. */
void shim_box_close(struct shim_box *box);
