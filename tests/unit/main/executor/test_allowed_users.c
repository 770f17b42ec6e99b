/*
 * allowed_users: entries that are no account of this machine are noted.
 */
#include "main/executor/allowed_users.h"
#include "unit.h"

static uint32_t count_noted(const char *runtime, const char *entry)
{
    auto_arena arena = {0};
    struct config_findings findings = {.arena = &arena};
    struct str items[] = {str_of(entry)};
    struct config_executor executor = {
        .runtime = str_of(runtime),
        .process.allowed_users = {.items = items, .count = 1},
    };

    allowed_users_check(&executor, &findings);
    return findings.texts.count;
}

static void what_is_no_account_is_noted(void **state)
{
    static const char *const bad[] = {
        "no-such-user-here",    "4294967295", "-1",
        "99999999999999999999", "0x",         ""};

    (void)state;
    assert_int_equal(count_noted("process", "root"), 0);
    assert_int_equal(count_noted("process", "0"), 0);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        if (count_noted("process", bad[i]) != 1) {
            fail_msg("%s", bad[i]);
        }
    }
    /* Where no process is started, there may be no accounts. */
    assert_int_equal(count_noted("fake", bad[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_account_is_noted),
    };

    return RUN_TESTS(tests);
}
