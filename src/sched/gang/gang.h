/*
 * gang - many jobs placed as one: all of a gang, its minimum, or nothing.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

enum gang_outcome { GANG_PLACED, GANG_WAITS, GANG_CUT };

/* Start a gang, or nothing of it. */
enum gang_outcome gang_place(struct round *round, struct lane *lane,
                             uint32_t gang);
