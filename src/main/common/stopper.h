/*
 * stopper - how threads are told that it is over, and how one of them says
 * that the program cannot go on.
 *
 * A descriptor that is readable from then on, so that whoever waits for
 * something else can wait for this as well.  Threads: any.
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

/* Wait until it is over or `timeout_ms` have passed; whether it is over. */
bool stopper_wait(const struct stopper *stopper, int timeout_ms);
