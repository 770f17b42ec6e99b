/* What a retry policy says to a failure, by example. */
#include "job/due/retry.h"
#include "unit.h"

static const int32_t codes[] = {3, 137};
static const struct retry_rule rules[] = {
    {.is_retry = false, .category = {"user_error", 10}},
    {.is_retry = true,
     .avoids_node = true,
     .category = {"infra", 5},
     .subcategory = {"disk", 4}},
    {.is_retry = true, .exit_codes = codes, .exit_code_count = 2},
    {.is_retry = true, .message_part = {"NCCL", 4}},
};
static const struct retry_policy policy = {
    .name = {"p", 1}, .limit = 2, .rules = rules, .rule_count = 4};

static struct retry_answer ask(struct retry_failure failure)
{
    failure.failure_count = failure.failure_count ? failure.failure_count : 1;
    return retry_decide(&policy, 5, &failure);
}

static void first_rule_that_matches_decides(void **state)
{
    (void)state;
    struct retry_answer answer = ask(
        (struct retry_failure){.category = STR("user_error"), .exit_code = 3});
    assert_false(answer.is_retry);
    assert_int_equal(answer.rule, 0);
    answer = ask((struct retry_failure){.category = STR("infra"),
                                        .subcategory = STR("disk")});
    assert_true(answer.is_retry && answer.avoids_node);
    assert_false(ask((struct retry_failure){.category = STR("infra")})
                     .is_retry); /* both must match */
    assert_true(ask((struct retry_failure){.exit_code = 137}).is_retry);
    assert_true(
        ask((struct retry_failure){.message = STR("an NCCL error")}).is_retry);
    answer = ask((struct retry_failure){.exit_code = 1});
    assert_false(answer.is_retry);
    assert_int_equal(answer.cause, RETRY_BY_DEFAULT);
    assert_int_equal(answer.rule, RETRY_RULE_NONE);
}

static void limits_count_retries_after_the_first_failure(void **state)
{
    struct retry_policy generous = {.limit = 9, .is_retry_default = true};
    struct retry_failure failure = {.exit_code = 3};

    (void)state;
    for (failure.failure_count = 1; failure.failure_count <= 2;
         failure.failure_count++) {
        assert_true(retry_decide(&policy, 5, &failure).is_retry);
    }
    assert_int_equal(retry_decide(&policy, 5, &failure).cause, RETRY_LIMIT);
    failure.failure_count = 5;
    assert_true(retry_decide(&generous, 5, &failure).is_retry);
    failure.failure_count = 6;
    assert_int_equal(retry_decide(&generous, 5, &failure).cause,
                     RETRY_GLOBAL_LIMIT);
}

static void retries_wait_longer_and_longer(void **state)
{
    struct retry_policy patient = {.limit = 9,
                                   .is_retry_default = true,
                                   .backoff_ms = 1000,
                                   .backoff_max_ms = 5000,
                                   .backoff_factor_milli = 1500};
    static const int64_t expected[] = {1000, 1500, 2250, 3375, 5000, 5000};
    struct retry_failure failure = {.exit_code = 1};

    (void)state;
    for (uint32_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        failure.failure_count = i + 1;
        assert_int_equal(retry_decide(&patient, 9, &failure).delay_ms,
                         expected[i]);
    }
    patient.backoff_max_ms = INT64_MAX; /* and without an overflow */
    patient.limit = failure.failure_count = 1000;
    assert_true(retry_decide(&patient, 9999, &failure).delay_ms > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_rule_that_matches_decides),
        cmocka_unit_test(limits_count_retries_after_the_first_failure),
        cmocka_unit_test(retries_wait_longer_and_longer),
    };
    return RUN_TESTS(tests);
}
