/*
 * pattern: POSIX extended regular expressions, and the refusal of what would
 * be misunderstood.
 */
#include "unit.h"
#include "wire/text/pattern.h"

static bool matches(const char *pattern, const char *text)
{
    regex_t compiled;
    struct err err = {""};

    int rc = pattern_compile(str_of(pattern), &compiled, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    bool is_match = pattern_matches(&compiled, str_of(text));
    regfree(&compiled);
    return is_match;
}

static void a_part_of_the_text_matches(void **state)
{
    (void)state;
    assert_true(matches("CUDA.*error", "a CUDA out-of-memory error occurred"));
    assert_false(matches("CUDA.*error", "a cuda error"));
    assert_true(matches("(?i)cuda.*ERROR$", "one\na CUDA error"));
    assert_true(matches("^exit [0-9]+$", "exit 17"));
    assert_true(matches("\\bdisk\\b\\.", "full disk."));
    assert_false(matches("x", ""));
}

static void what_would_be_misunderstood_is_refused(void **state)
{
    static const char *const bad[] = {"",       "\\d+",   "(?:a|b)",
                                      "a(?i)b", "\\pL",   "(open",
                                      "[a-z",   "a{2,1}", "tail\\"};
    char longest[PATTERN_BYTES_MAX + 2];

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        regex_t compiled;
        struct err err = {""};
        assert_int_equal(pattern_compile(str_of(bad[i]), &compiled, &err),
                         -ERR_INVALID);
        assert_true(err.text[0] != '\0');
    }
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    regex_t compiled;
    struct err err;
    assert_int_equal(pattern_compile(str_of(longest), &compiled, &err),
                     -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_the_text_matches),
        cmocka_unit_test(what_would_be_misunderstood_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
