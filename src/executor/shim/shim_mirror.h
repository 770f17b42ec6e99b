/*
 * shim_mirror - mount paths that the machine does not have.
 *
 * Nothing is made on the machine: in the container's own mount namespace the
 * nearest directory that exists is replaced by one in memory that shows the
 * same, and in that one the missing path is made; in /tmp and other directories
 * that are the pod's own it is made itself.
 *
 * Private to the shim; in the child, in a mount namespace of its own.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

enum {
    SHIM_MIRRORS_MAX = 8,          /* directories that are replaced */
    SHIM_MIRROR_ENTRIES_MAX = 512, /* of one of them */
};

/* Which directories of a container have been replaced. */
struct shim_mirrors {
    struct {
        dev_t device;
        int fd; /* of its root */
    } items[SHIM_MIRRORS_MAX];
    size_t count;
};

/* What shim_mirror_existing() answers where it may not look. */
#define SHIM_MIRROR_DENIED SIZE_MAX

/* Whether what is open is the kernel's own: /proc, /sys, /dev and their like.
 */
bool shim_mirror_is_kernels(int fd) must_check;
/* The byte count of the longest part of a path that exists; 0: "/"; or
 * SHIM_MIRROR_DENIED with errno. */
size_t shim_mirror_existing(const char *target) must_check;
/* Make `target`, an absolute path of which `found` bytes exist, as a directory
 * or a file, if it is not there.  -ERR_LIMIT: too many or too big ones would be
 * replaced; -ERR_IO; both with errno. */
int shim_mirror_make(struct shim_mirrors *mirrors, const char *target,
                     size_t found, bool is_dir) must_check;
/* Nothing more is made: whoever writes there is told, instead of losing it.
 * -ERR_IO with errno. */
int shim_mirror_close(const struct shim_mirrors *mirrors) must_check;
