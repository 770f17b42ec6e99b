/*
 * filter - denies system calls to a job.
 *
 * It denies calls that give a process more than its user has, or that have
 * often been used for that: mounts, namespaces, kernel modules, keys, tracing,
 * bpf, io_uring and their like.  They fail with EPERM; clone3, whose flags
 * cannot be looked at, with ENOSYS, so that libc falls back to clone.
 *
 * In the child, before exec.
 */
#pragma once

#include "base/base.h"

/* Filter the calling process and whatever it starts; it must have given up new
 * privileges.  A kernel without filters: 0, and nothing is kept out. -ERR_IO.
 */
int filter_enter_job(void) must_check;
