/*
 * policy_event - applies a policy as an event of the log, so that a replay
 * decides by the policy of that time.
 */
#pragma once

#include "base/clock.h"
#include "control/command/command.h"

/* Ask the leader to log `yaml` as the policy; returns once it is asked.  What
 * becomes of it is said on standard error.  -ERR_UNAVAILABLE, -ERR_LIMIT. */
int policy_event_post(struct inbox *inbox, struct str yaml,
                      const struct clock *clock, struct err *err) must_check;
