/*
 * retry - a retry policy: which failures of a job are tried again, and how
 * often (armada-api.md 1.6).
 *
 * Pure; strings and arrays are borrowed.
 */
#pragma once

#include "base/str.h"

enum { RETRY_EXIT_CODES_MAX = 256 }; /* of one rule */

/* A failure matches a rule that says nothing which contradicts it. */
struct retry_rule {
    bool is_retry;                    /* try again, or let it fail */
    bool avoids_node;                 /* not on the node where it failed */
    struct str category, subcategory; /* "": any */
    const int32_t *exit_codes;        /* any of these; none: any */
    uint32_t exit_code_count;
    struct str message_part; /* the failure's message contains it; "": any */
};

struct retry_policy {
    struct str name;
    uint32_t limit;        /* retries after the first failure */
    bool is_retry_default; /* for failures that match no rule */
    /* A retry waits so long, each time by the factor longer than the time
     * before, up to the longest; 0: not at all. */
    int64_t backoff_ms, backoff_max_ms;
    int64_t backoff_factor_milli;
    const struct retry_rule *rules;
    uint32_t rule_count;
};
