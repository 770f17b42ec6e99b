/* Retry policies as they are logged: api.RetryPolicy. */
#include "armada/retry.pb-c.h"
#include "wire/log/log_codec.h"
#include "wire/log/log_records.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

enum { QUEUE_RETRY_POLICIES = 11 }; /* a field of api.Queue */

struct str log_queue_retry_policy(struct str encoded)
{
    struct field_cursor cursor = field_cursor_make(encoded);
    struct field field;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == QUEUE_RETRY_POLICIES && field.type == FIELD_BYTES) {
            return field.bytes;
        }
    }
    return (struct str){0};
}

static struct retry_rule read_rule(const Api__RetryRule *rule)
{
    const Api__RetryMutation *mutate = rule->mutate;
    const Api__RetryMatch *match = rule->match;

    return (struct retry_rule){
        .is_retry = rule->action == API__RETRY_ACTION__RETRY_ACTION_RETRY,
        .avoids_node =
            mutate && mutate->affinity && mutate->affinity->avoid_same_node,
        .category = str_of(rule->on_category),
        .subcategory = str_of(rule->on_subcategory),
        .exit_codes = match ? match->exit_codes : NULL,
        .exit_code_count = match ? (uint32_t)match->n_exit_codes : 0,
        .message_part = match ? str_of(match->message) : STR(""),
    };
}

static void read_backoff(const Api__RetryBackoff *backoff,
                         struct retry_policy *policy)
{
    enum { MS_PER_S = 1000, MAX_S_DEFAULT = 3600, FACTOR_MAX = 1000 };
    double factor = backoff->factor >= 1 ? backoff->factor : 2;

    policy->backoff_ms = (int64_t)backoff->initial_seconds * MS_PER_S;
    policy->backoff_max_ms =
        (int64_t)(backoff->max_seconds ? backoff->max_seconds : MAX_S_DEFAULT) *
        MS_PER_S;
    policy->backoff_factor_milli =
        (int64_t)((factor < FACTOR_MAX ? factor : FACTOR_MAX) * 1000);
}

int log_decode_retry_policy(struct str encoded, struct arena *arena,
                            struct retry_policy *ret_policy, struct err *err)
{
    ProtobufCMessage *message;

    if (wire_decode(&api__retry_policy__descriptor, encoded,
                    &wire_request_limits, arena, &message, NULL) < 0) {
        return log_corrupt(err, "a retry policy is malformed");
    }
    const Api__RetryPolicy *policy = (const void *)message;
    struct retry_rule *rules =
        arena_alloc_array(arena, policy->n_rules, sizeof(*rules));
    for (size_t i = 0; i < policy->n_rules; i++) {
        rules[i] = read_rule(policy->rules[i]);
    }
    *ret_policy = (struct retry_policy){
        .name = str_of(policy->name),
        .limit = policy->retry_limit,
        .is_retry_default =
            policy->default_action == API__RETRY_ACTION__RETRY_ACTION_RETRY,
        .rules = rules,
        .rule_count = (uint32_t)policy->n_rules,
    };
    if (policy->backoff) {
        read_backoff(policy->backoff, ret_policy);
    }
    return 0;
}
