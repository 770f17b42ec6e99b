/*
 * periodic - a thread that submits the runs of periodic jobs about once a
 * second.
 */
#pragma once

#include "api/api.h"

struct periodic;

/* Start it; the API outlives it.  NULL: no thread can be had. */
struct periodic *periodic_start(struct api *api, struct err *err) must_check;
/* Stop it.  NULL is fine.  The leader must still answer. */
void periodic_stop(struct periodic *periodic);
