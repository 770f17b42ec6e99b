/*
 * progress: a bar of what is done, on terminals only.
 */
#include <stdlib.h>

#include "cli/shared/progress.h"
#include "unit.h"

static void a_bar_is_as_full_as_what_is_done(void **state)
{
    static const struct {
        uint64_t done, total;
        const char *bar;
    } cases[] = {
        {0, 8, "[>                       ]   0%"},
        {1, 2, "[============>           ]  50%"},
        {199, 200, "[=======================>]  99%"},
        {3, 3, "[========================] 100%"},
        {0, 0, "[========================] 100%"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_strbuf text = {0};
        progress_put(&text, cases[i].done, cases[i].total);
        assert_string_equal(strbuf_text(&text), cases[i].bar);
    }
    (void)state;
}

static void only_a_terminal_shows_it(void **state)
{
    char *bytes = NULL;
    size_t byte_count = 0;
    struct cli_ports ports = {.err = open_memstream(&bytes, &byte_count)};

    progress_show(&ports, 1, 2, "jobs");
    progress_end(&ports);
    (void)fflush(ports.err);
    assert_int_equal(byte_count, 0);
    ports.is_terminal = true;
    progress_show(&ports, 1, 2, "jobs");
    progress_end(&ports);
    (void)fclose(ports.err);
    assert_string_equal(bytes,
                        "\r[============>           ]  50% jobs\033[K\n");
    free(bytes);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bar_is_as_full_as_what_is_done),
        TEST(only_a_terminal_shows_it),
    };

    return RUN_TESTS(tests);
}
