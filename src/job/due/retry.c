#include "job/due/retry.h"

#include <string.h>

static bool has_code(const struct retry_rule *rule, int32_t code)
{
    bool has = rule->exit_code_count == 0;

    for (uint32_t i = 0; i < rule->exit_code_count && !has; i++) {
        has = rule->exit_codes[i] == code;
    }
    return has;
}

static bool is_said(struct str wanted, struct str said)
{
    return wanted.byte_count == 0 || str_equal(wanted, said);
}

static bool contains(struct str text, struct str part)
{
    return part.byte_count == 0 ||
           (text.byte_count > 0 &&
            memmem(text.p, text.byte_count, part.p, part.byte_count));
}

bool retry_matches(const struct retry_rule *rule,
                   const struct retry_failure *failure)
{
    return is_said(rule->category, failure->category) &&
           is_said(rule->subcategory, failure->subcategory) &&
           has_code(rule, failure->exit_code) &&
           contains(failure->message, rule->message_part);
}

/* How long a retry waits after this number of failures. */
static int64_t delay_after(const struct retry_policy *policy,
                           uint32_t failure_count)
{
    int64_t delay_ms = policy->backoff_ms;

    for (uint32_t i = 1;
         i < failure_count && delay_ms > 0 && delay_ms < policy->backoff_max_ms;
         i++) {
        if (__builtin_mul_overflow(delay_ms, policy->backoff_factor_milli,
                                   &delay_ms)) {
            return policy->backoff_max_ms;
        }
        delay_ms /= 1000;
    }
    return delay_ms < policy->backoff_max_ms ? delay_ms
                                             : policy->backoff_max_ms;
}

struct retry_answer retry_decide(const struct retry_policy *policy,
                                 uint32_t global_max,
                                 const struct retry_failure *failure)
{
    struct retry_answer answer = {.is_retry = policy->is_retry_default,
                                  .cause = RETRY_BY_DEFAULT,
                                  .rule = RETRY_RULE_NONE};

    ASSERT(failure->failure_count > 0); /* it is one of them */
    for (uint32_t i = 0; i < policy->rule_count; i++) {
        if (retry_matches(&policy->rules[i], failure)) {
            answer = (struct retry_answer){policy->rules[i].is_retry,
                                           policy->rules[i].avoids_node,
                                           RETRY_BY_RULE, i, 0};
            break;
        }
    }
    if (answer.is_retry && failure->failure_count > policy->limit) {
        answer.is_retry = false;
        answer.cause = RETRY_LIMIT;
    } else if (answer.is_retry && failure->failure_count > global_max) {
        answer.is_retry = false;
        answer.cause = RETRY_GLOBAL_LIMIT;
    }
    answer.delay_ms =
        answer.is_retry ? delay_after(policy, failure->failure_count) : 0;
    return answer;
}
