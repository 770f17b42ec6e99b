/*
 * retry - what a retry policy decides about a failure.
 *
 * The first rule that matches decides, else the policy's default; a job is
 * retried only while both limits allow it.  Pure.
 */
#pragma once

#include "model/retry.h"

enum { RETRY_RULE_NONE = UINT32_MAX };

/* One failure of a run. */
struct retry_failure {
    struct str category, subcategory, message;
    int32_t exit_code;
    uint32_t failure_count; /* of the job's runs, this one included */
};

/* Why it is tried again or not. */
enum retry_cause {
    RETRY_BY_RULE,
    RETRY_BY_DEFAULT,
    RETRY_LIMIT,        /* of the policy */
    RETRY_GLOBAL_LIMIT, /* of all policies */
};

struct retry_answer {
    bool is_retry;
    bool avoids_node;
    enum retry_cause cause;
    uint32_t rule;    /* that matched, or RETRY_RULE_NONE */
    int64_t delay_ms; /* of the retry */
};

/* Whether a failure matches a rule. */
bool retry_matches(const struct retry_rule *rule,
                   const struct retry_failure *failure) must_check;

/* What becomes of a failure; `global_max` retries are the most whatever the
 * policy says. */
struct retry_answer retry_decide(const struct retry_policy *policy,
                                 uint32_t global_max,
                                 const struct retry_failure *failure);
