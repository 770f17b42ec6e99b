/*
 * shim_binds - mounts volumes in a container.
 *
 * What is mounted may lead anywhere: a job fills its volumes with links.  So
 * the sources of all mounts are copied by descriptors before the first is made,
 * no path is looked up for root that a job could have made, and nothing of what
 * the kernel shows of itself (/proc, /sys, /dev) is covered.
 *
 * Private to the shim; in the child, in a mount namespace of its own.
 */
#pragma once

#include "executor/files/run_file.h"

struct shim_binds {
    const struct run_container *container;
    int fds[RUN_BINDS_MAX]; /* copies of the sources, mounted nowhere yet */
    const char *step;       /* of what failed */
    const char *path;       /* the mount path of the same */
};

/* Copy the sources, which lie in `space_dir` or are the machine's.  -ERR_IO
 * with errno, `step` and `path`. */
int shim_binds_take(struct shim_binds *binds,
                    const struct run_container *container,
                    const char *space_dir) must_check;
/* Make the mount paths that the machine does not have.  The same errors. */
int shim_binds_make_targets(struct shim_binds *binds) must_check;
/* Mount them, one after the other.  The same errors. */
int shim_binds_mount(struct shim_binds *binds) must_check;
