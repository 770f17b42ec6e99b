/*
 * filter - denies system calls, for good, to the calling process and to all
 * that it starts.
 *
 * It denies calls that give a process more than its user has, or that have
 * often been used for that: mounts, namespaces, kernel modules, keys, tracing,
 * bpf, io_uring and their like.  They fail with EPERM, as they would without
 * the right to use them; clone3, whose flags cannot be looked at, with ENOSYS,
 * so that libc falls back to clone; sockets but of AF_UNIX, AF_INET, AF_INET6
 * and AF_NETLINK with EAFNOSUPPORT, as where the kernel has no others.
 *
 * docs/decisions/0036 says why calls are denied by name, and why they fail
 * instead of ending the process.
 *
 * Threads: each function says whether it binds its own thread or all of them.
 */
#pragma once

#include "base/base.h"

/* For a job: in the child, before exec.  It must have given up new privileges.
 * A kernel without filters: 0, and nothing is kept out.  -ERR_IO. */
int filter_enter_job(void) must_check;

/* For the helper, in all of its threads: as for a job, but mounts and
 * namespaces, which the shims that it starts make for pods.  It gives up new
 * privileges.  -ERR_UNAVAILABLE: nothing was changed, and the text says why. */
int filter_enter_helper(struct err *err) must_check;

/* For a server, in all of its threads: as for a job, and it gives up new
 * privileges, other users, other programs, other processes than itself, and
 * memory that is written and executed.  -ERR_UNAVAILABLE: the same. */
int filter_enter_server(struct err *err) must_check;
