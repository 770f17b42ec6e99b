/*
 * Retry policies against a search that writes the rules out.
 *
 *   - the first rule of which nothing contradicts the failure decides, else
 *     the default
 *   - it is a retry only if fewer runs have failed before than either limit
 *   - a rule that is added behind the one that decides changes nothing
 */
#include <string.h>

#include "job/due/retry.h"
#include "prop.h"
#include "unit.h"

enum { RULES_MAX = 5, WORDS = 3 };

static const char *const words[WORDS] = {"", "a", "ab"};

struct world {
    int32_t codes[RULES_MAX][2];
    struct retry_rule rules[RULES_MAX];
    struct retry_policy policy;
    struct retry_failure failure;
    uint32_t global_max;
};

static struct str word(struct tape *tape)
{
    return str_of(words[pick(tape, 0, WORDS - 1)]);
}

static void make_rule(struct world *world, struct tape *tape, uint32_t at)
{
    uint32_t code_count = (uint32_t)pick(tape, 0, 2);

    for (uint32_t i = 0; i < code_count; i++) {
        world->codes[at][i] = pick(tape, 0, 3);
    }
    world->rules[at] = (struct retry_rule){
        .is_retry = once_in(tape, 2),
        .avoids_node = once_in(tape, 2),
        .category = word(tape),
        .subcategory = word(tape),
        .exit_codes = world->codes[at],
        .exit_code_count = code_count,
        .message_part = word(tape),
    };
}

static void make(struct world *world, struct tape *tape)
{
    world->policy = (struct retry_policy){
        .limit = (uint32_t)pick(tape, 0, 4),
        .is_retry_default = once_in(tape, 2),
        .rules = world->rules,
        .rule_count = (uint32_t)pick(tape, 0, RULES_MAX),
    };
    for (uint32_t i = 0; i < world->policy.rule_count; i++) {
        make_rule(world, tape, i);
    }
    world->global_max = (uint32_t)pick(tape, 0, 4);
    world->failure = (struct retry_failure){
        .category = word(tape),
        .subcategory = word(tape),
        .message = word(tape),
        .exit_code = pick(tape, 0, 3),
        .failure_count = (uint32_t)pick(tape, 1, 6),
    };
}

/* What contradicts the failure; 0: nothing does. */
static int contradictions(const struct retry_rule *rule,
                          const struct retry_failure *failure)
{
    int count = 0;
    bool has_code = false;

    if (rule->category.byte_count) {
        count += !str_equal(rule->category, failure->category);
    }
    if (rule->subcategory.byte_count) {
        count += !str_equal(rule->subcategory, failure->subcategory);
    }
    for (uint32_t i = 0; i < rule->exit_code_count; i++) {
        has_code |= rule->exit_codes[i] == failure->exit_code;
    }
    count += rule->exit_code_count > 0 && !has_code;
    return count + !strstr(failure->message.p, rule->message_part.p);
}

static bool policies_agree_with_their_rules(struct tape *tape)
{
    struct world world = {0};
    uint32_t at = 0;

    make(&world, tape);
    const struct retry_policy *policy = &world.policy;
    struct retry_answer answer =
        retry_decide(policy, world.global_max, &world.failure);
    while (at < policy->rule_count &&
           contradictions(&policy->rules[at], &world.failure) > 0) {
        at++;
    }
    bool is_found = at < policy->rule_count;
    bool wants =
        is_found ? policy->rules[at].is_retry : policy->is_retry_default;
    uint32_t retries = world.failure.failure_count - 1;
    bool may = retries < policy->limit && retries < world.global_max;
    if (answer.is_retry != (wants && may) ||
        answer.rule != (is_found ? at : RETRY_RULE_NONE)) {
        return false;
    }
    if (is_found && at + 1 < policy->rule_count) {
        world.policy.rule_count = at + 1;
        struct retry_answer less =
            retry_decide(policy, world.global_max, &world.failure);
        return less.is_retry == answer.is_retry && less.rule == answer.rule &&
               less.avoids_node == answer.avoids_node;
    }
    return true;
}

static void retry_policies(void **state)
{
    (void)state;
    assert_true(prop_check("policies_agree_with_their_rules",
                           policies_agree_with_their_rules, 20000, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(retry_policies)};

    return RUN_TESTS(tests);
}
