/*
 * peer_process - whether a connection over loopback belongs to a process that
 * runs outside of jobs.
 *
 * Jobs of an executor that is not root have its user, and so sockets of that
 * user.  Their processes are known by a mark that the shim (executor/shim) puts
 * on them and that they cannot take off: a hard limit of RLIMIT_LOCKS, which
 * the kernel does not use, below that of who started them.
 *
 * Cost: a walk through /proc, newest process first; of jobs only the limits are
 * read.
 *
 * Threads: any.
 */
#pragma once

#include "base/base.h"

/* Whether some process of the user holds the socket of that inode and has at
 * least our own limit.  False where that cannot be told. */
bool peer_process_is_outside_jobs(uint32_t user_id, uint32_t inode) must_check;
