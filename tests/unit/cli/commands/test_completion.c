/*
 * completion: what may follow the words that were typed.
 */
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "unit.h"

static void assert_follows(struct run_result result, const char *word,
                           bool is_expected)
{
    char line[64];

    (void)snprintf(line, sizeof(line), "%s\n", word);
    const char *at = strstr(result.out, line);
    assert_int_equal(result.code, CLI_OK);
    assert_int_equal(at != NULL && (at == result.out || at[-1] == '\n'),
                     is_expected);
    free(result.out);
    free(result.err);
}

static void words_follow_the_commands(void **state)
{
    (void)state;
    assert_follows(RUN("", "completion", "words"), "submit", true);
    assert_follows(RUN("", "completion", "words"), "jobs", false);
    assert_follows(RUN("", "completion", "words", "get"), "jobs", true);
    assert_follows(RUN("", "completion", "words", "get"), "--queue", false);
    assert_follows(RUN("", "completion", "words", "get", "jobs"), "--queue",
                   true);
    assert_follows(RUN("", "completion", "words", "wait", "x", "--me"),
                   "--timeout", true);
    assert_follows(RUN("", "completion", "words", "wait"), "--output", true);
}

static void each_shell_has_its_script(void **state)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(shells); i++) {
        struct run_result result = RUN("", "completion", shells[i]);
        assert_int_equal(result.code, CLI_OK);
        assert_non_null(strstr(result.out, "berthctl completion words"));
        free(result.out);
        free(result.err);
    }
    struct run_result result = RUN("", "completion", "csh");
    assert_int_equal(result.code, CLI_USAGE);
    free(result.out);
    free(result.err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(words_follow_the_commands),
        TEST(each_shell_has_its_script),
    };
    return RUN_TESTS(tests);
}
