/*
 * policy_rules - the parts of a policy's form that are rules of their own
 * (model.md 6.10b).  Internal to the policy codec.
 */
#pragma once

#include "wire/policy_codec.h"

/* The keys of nodeQuarantine. */
extern const struct settings policy_quarantine_table;

/* Write the rule as a form. */
void policy_quarantine_to_form(const struct quarantine_policy *rule,
                               struct policy_quarantine_form *ret_form);
/* Read it from one. */
struct quarantine_policy
policy_quarantine_from_form(const struct policy_quarantine_form *form);
