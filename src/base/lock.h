/*
 * lock - a file lock that says "this directory is mine", by flock(2).
 *
 * A child that is between clone and exec holds its parent's descriptors, and
 * with them the lock, for a moment longer than a parent that was killed just
 * then.  So a lock that is taken is asked for again for some time before it
 * counts as somebody's.
 *
 * Threads: any may take one, and waits for it; the lock then belongs to the
 * descriptor.
 */
#pragma once

#include "base/base.h"

/* Of a directory that nobody but one process locks. */
enum { LOCK_WAIT_MS = 1000 };

/* Lock the file behind `fd` for this open description alone.
 * -ERR_CONFLICT: another held it for `wait_ms`; -ERR_IO: errno says how. */
int lock_exclusive(int fd, int wait_ms) must_check;
