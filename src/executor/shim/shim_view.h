/*
 * shim_view - what a pod sees of the machine's files.
 *
 * /tmp, /var/tmp, /dev/shm and their like are its own and go with it; of the
 * data directory there is only what is its own, below the same paths; /proc
 * shows its own processes, if it has a namespace of them.
 *
 * Private to the shim; in the keeper (shim_box.h).
 */
#pragma once

#include "executor/files/run_file.h"

/* Make a mount namespace that looks so, and enter it.  -ERR_IO. */
int shim_view_make(const struct run_spec *spec, struct err *err) must_check;
/* The directory that is the pod's own, as /tmp, in which an absolute path lies;
 * NULL: in none. */
const char *shim_view_own(const char *path) must_check;
/* Add MS_RDONLY, MS_NOSUID, MS_NODEV to what is mounted at `target`, keeping
 * what is forbidden there already. -ERR_IO with errno. */
int shim_view_forbid(const char *target, unsigned long flags) must_check;
/* Bind what is open as `fd` to `target`.  -ERR_IO with errno. */
int shim_view_bind(int fd, const char *target, unsigned long flags) must_check;
