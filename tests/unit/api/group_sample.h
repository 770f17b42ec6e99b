/*
 * group_sample - groups of pods to bend, and the jobs that they become.
 */
#pragma once

#include "berth/submission.pb-c.h"
#include "control/command/command.h"

/* An item with a group of sub-groups `ps` (2..2, auxiliary) and `worker`
 * (4..8). */
Berth__Submission__Item *group_item(struct arena *arena);

/* A number field. */
Google__Protobuf__UInt32Value *group_number(struct arena *arena,
                                            uint32_t value);

/* Build the jobs of a request of these items; the text of a refusal, or "". */
const char *group_build(Berth__Submission__Item **items, size_t count,
                        struct command *command, struct arena *arena);

/* The text with which a request of this item is refused, or "". */
const char *group_refusal(Berth__Submission__Item *item, struct arena *arena);
