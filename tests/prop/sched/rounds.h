/*
 * rounds - some rounds of a planner and of the oracle, at times apart.
 *
 * Between them plans happen, and what runs starts, ends or waits again.
 */
#pragma once

#include "instance.h"

/* Whether both decide the same, from INSTANCE_GROUPS_NOW on. */
bool rounds_agree(struct tape *tape, const struct instance *start);
