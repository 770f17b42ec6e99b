/*
 * state_links - how the tables of the state are linked.
 */
#pragma once

#include "sched/sched.h"

enum {
    NONE = UINT32_MAX,
    LEVELS_MAX = POLICY_LEVELS_MAX,
    CLASSES_MAX = (1 + POLICY_AWAY_MAX) * SCHED_CLASSES_MAX
};
