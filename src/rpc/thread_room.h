/*
 * thread_room - whether this process may start the threads that gRPC needs.
 *
 * gRPC does not look whether its threads start.  Where they cannot, since
 * memory or processes are limited, as in a small job, it waits for ever for
 * what they should have done.
 */
#pragma once

#include "base/base.h"

/* -ERR_IO and what to do about it in `err` if too few threads can be started
 * now.  Starts and ends that many: about 0.3 ms.  Any thread; the caller has
 * blocked signals. */
int thread_room_check(struct err *err) must_check;
