/*
 * take - preempts the victims on a node: records the decisions, removes the
 * runs from their nodes, and updates the lanes that lost work.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/place/place.h"
#include "sched/victims/victims.h"

/* Preempt what must go for the job to have room on a node, which there is if
 * it does (asserted). */
void victims_take_room(const struct search *search, uint32_t node,
                       const struct victim_rules *rules);
/* Preempt all that runs on a node; false: some of it may not go. */
bool victims_clear(const struct search *search, uint32_t node);
