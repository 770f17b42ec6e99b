/*
 * periodic - a thread that submits the runs of periodic jobs about once a
 * second, while the clock is believed.
 */
#pragma once

#include "api/api.h"
#include "main/berthd/jump_watch.h"

struct periodic;

/* Start it; both outlive it.  NULL: no thread can be had. */
struct periodic *periodic_start(struct api *api, struct jump_watch *jumps,
                                struct err *err) must_check;
/* Stop it.  NULL is fine.  The leader must still answer. */
void periodic_stop(struct periodic *periodic);
