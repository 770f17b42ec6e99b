#include "api/objects/retry_validate.h"

#include "model/quantity.h"
#include "model/retry.h"
#include "wire/kube/kube_name.h"

static bool is_action(int action)
{
    return action == API__RETRY_ACTION__RETRY_ACTION_FAIL ||
           action == API__RETRY_ACTION__RETRY_ACTION_RETRY;
}

static int check_memory(const Api__RetryResourceBump *memory,
                        struct refusal *refusal)
{
    bool has_static = *memory->static_ != '\0';
    bool has_factor = memory->factor != 0;
    int64_t milli = 0;

    if (has_static == has_factor) {
        return refusal_set(refusal, "a memory change must set exactly one of "
                                    "static and factor");
    }
    if (has_static &&
        (quantity_parse(str_of(memory->static_), &milli) < 0 || milli <= 0)) {
        return refusal_set(refusal,
                           "memory static must be a positive "
                           "quantity, not \"%s\"",
                           memory->static_);
    }
    if (has_factor && !(memory->factor > 1.0)) {
        return refusal_set(refusal, "memory factor must be greater than 1.0");
    }
    return 0;
}

static int check_rule(const Api__RetryRule *rule, struct refusal *refusal)
{
    const Api__RetryMutation *mutate = rule->mutate;

    if (!is_action((int)rule->action)) {
        return refusal_set(refusal, "a rule's action must be Fail or Retry");
    }
    if (!*rule->on_category && !rule->match) {
        return refusal_set(refusal, "a rule must name on_category");
    }
    if (rule->match && rule->match->n_exit_codes > RETRY_EXIT_CODES_MAX) {
        return refusal_set(refusal, "a rule names more than %d exit codes",
                           RETRY_EXIT_CODES_MAX);
    }
    if (!mutate) {
        return 0;
    }
    if (rule->action != API__RETRY_ACTION__RETRY_ACTION_RETRY) {
        return refusal_set(refusal, "only a rule whose action is Retry may "
                                    "mutate");
    }
    return mutate->resources && mutate->resources->memory
               ? check_memory(mutate->resources->memory, refusal)
               : 0;
}

static int check_backoff(const Api__RetryBackoff *backoff,
                         struct refusal *refusal)
{
    if (backoff->factor != 0 && !(backoff->factor >= 1)) {
        return refusal_set(refusal, "backoff factor must be 1 or more");
    }
    return 0;
}

int retry_policy_validate(const Api__RetryPolicy *policy,
                          struct refusal *refusal)
{
    int rc = 0;

    if (!kube_is_dns_label(str_of(policy->name))) {
        return refusal_set(refusal,
                           "name \"%s\" must be an RFC 1123 label of at most "
                           "%d characters",
                           policy->name, RETRY_POLICY_NAME_BYTES_MAX);
    }
    if (!is_action((int)policy->default_action)) {
        return refusal_set(refusal, "default_action must be Fail or Retry");
    }
    if (policy->n_rules > RETRY_RULES_MAX) {
        return refusal_set(refusal, "more than %d rules", RETRY_RULES_MAX);
    }
    if (protobuf_c_message_get_packed_size(&policy->base) > OBJECT_BYTES_MAX) {
        return refusal_set(refusal, "it may have %d bytes", OBJECT_BYTES_MAX);
    }
    if (policy->backoff) {
        rc = check_backoff(policy->backoff, refusal);
    }
    for (size_t i = 0; i < policy->n_rules && rc == 0; i++) {
        rc = check_rule(policy->rules[i], refusal);
    }
    return rc;
}
