/*
 * retry_validate - the rules that a retry policy must keep (armada-api.md
 * 1.6).
 */
#pragma once

#include "api/core/refusal.h"
#include "armada/retry.pb-c.h"

enum { RETRY_POLICY_NAME_BYTES_MAX = 63, RETRY_RULES_MAX = 1000 };

/* -ERR_INVALID with the rule that is broken. */
int retry_policy_validate(const Api__RetryPolicy *policy,
                          struct refusal *refusal) must_check;
