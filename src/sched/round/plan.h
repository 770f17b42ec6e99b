/*
 * plan - a plan that is made only to explain by (state/what_if.h).  The plans
 * that are carried out are sched_plan()'s.  Private to src/sched.
 */
#pragma once

#include "sched/state/what_if.h"

/* What a full round would decide now, if there were more, or a rule did not
 * hold; decisions are valid until the next plan of any kind.  When this
 * returns, all that later plans go by is as it was. */
void plan_if(struct sched *sched, int64_t now_ms, const struct what_if *what_if,
             struct sched_plan *ret_plan);
