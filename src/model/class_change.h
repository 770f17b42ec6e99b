/*
 * class_change - another priority of a priority class, or another limit of each
 * queue's jobs of it.
 *
 * Pure; the texts are borrowed, and outlive the policy that is changed.
 */
#pragma once

#include "model/policy.h"

struct class_change {
    struct str name;
    bool has_priority;
    int32_t priority;
    struct str resource; /* "": no limit is changed */
    int64_t fraction_ppm;
};

/* Change the class of that name.  -ERR_NOT_FOUND: there is none; -ERR_INVALID:
 * it has POLICY_FRACTIONS_MAX limits already. */
int policy_change_class(struct policy *policy,
                        const struct class_change *change,
                        struct err *err) must_check;
