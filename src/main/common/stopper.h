/*
 * stopper - tells threads to stop, and lets one of them report that the
 * program cannot go on.
 *
 * It is a descriptor that stays readable from then on, so that a thread that
 * waits for something else can wait for it too.  Threads: any.
 */
#pragma once

#include "base/base.h"

struct stopper {
    int fd; /* eventfd; readable once somebody has stopped */
};

/* Make one.  -ERR_IO. */
int stopper_open(struct stopper *stopper, struct err *err) must_check;
void stopper_close(struct stopper *stopper);

/* Tell everybody who looks. */
void stopper_stop(struct stopper *stopper);

/* Whether it is over. */
bool stopper_is_stopped(const struct stopper *stopper);

/* Whether SIGTERM or SIGINT, which the program blocks, waits to be taken. */
bool stopper_is_signalled(void);

/* Wait until it is over or `timeout_ms` have passed; whether it is over. */
bool stopper_wait(const struct stopper *stopper, int timeout_ms);
