/*
 * shim_filter - the system calls that a job does not get.
 *
 * Kept out is what gives a process more than its user has, or what has most
 * often been the way there: mounts, namespaces, kernel modules, keys, tracing,
 * bpf, io_uring and their like.  They fail with EPERM; clone3, whose flags
 * cannot be looked at, with ENOSYS, so that libc falls back to clone.
 *
 * Private to the shim; in the child, before exec.
 */
#pragma once

#include "base/base.h"

/* Filter the calling process and whatever it starts; it must have given up new
 * privileges.  A kernel without filters: 0, and nothing is kept out. -ERR_IO.
 */
int shim_filter_enter(void) must_check;
