/*
 * watch_screen: what goes on stands first, and each drawing replaces the last.
 */
#include "cli/commands/watch_screen.h"
#include "unit.h"

enum { NOW_S = 1700000000 };

static int64_t wall_ms(const struct clock *clock)
{
    (void)clock;
    return (int64_t)NOW_S * 1000;
}

static const struct clock now = {NULL, wall_ms};

static struct watch_row row(char *job, const char *state, bool is_over)
{
    return (struct watch_row){.job_id = job,
                              .state = state,
                              .is_over = is_over,
                              .since_s = NOW_S - 90};
}

static void what_goes_on_stands_first_in_place_of_what_was_drawn(void **state)
{
    char *bytes = NULL, a[] = "a", b[] = "b", c[] = "c", node[] = "n";
    char why[] = "exit code 3\nand more";
    size_t byte_count = 0;
    struct cli_ports ports = {.out = open_memstream(&bytes, &byte_count),
                              .clock = &now,
                              .width = 60,
                              .height = 6};
    struct cli cli = {.ports = &ports};
    struct watch_screen screen = {.cli = &cli};
    struct watch_row failed = row(a, "failed", true);
    struct watch_row running = row(b, "running", false);
    struct watch_row queued = row(c, "queued", false);

    failed.reason = why;
    running.node = node;
    watch_screen_note(&screen, 1, &running);
    watch_screen_note(&screen, 0, &failed);
    assert_true(screen.is_stale);
    assert_int_equal(watch_screen_wait_ms(&screen), 50);
    assert_true(watch_screen_is_due(&screen));
    watch_screen_draw(&screen, "2 jobs");
    assert_false(screen.is_stale);
    assert_false(watch_screen_is_due(&screen));
    (void)fflush(ports.out);
    assert_string_equal(bytes, "2 jobs\n"
                               "JOB  STATE    FOR    NODE  REASON\n"
                               "b    running  1m30s  n     \n"
                               "a    failed   1m30s        exit code 3\n");
    size_t first = byte_count;
    watch_screen_note(&screen, 2, &queued);
    watch_screen_draw(&screen, "3 jobs");
    (void)fclose(ports.out);
    assert_string_equal(bytes + first, "\033[4A\r\033[J3 jobs\n"
                                       "JOB  STATE    FOR    NODE  REASON\n"
                                       "c    queued   1m30s        \n"
                                       "b    running  1m30s  n     \n"
                                       "and 1 more\n");
    assert_int_equal(screen.line_count, 5);
    watch_screen_fini(&screen);
    arena_fini(&cli.arena);
    free(bytes);
    (void)state;
}

static void a_table_wants_a_terminal_with_room(void **state)
{
    struct cli_ports ports = {.is_terminal = true, .width = 80, .height = 24};
    struct cli cli = {.ports = &ports};

    assert_true(watch_screen_fits(&cli));
    ports.height = 0;
    assert_false(watch_screen_fits(&cli));
    ports.height = 24;
    cli.output = CLI_OUTPUT_JSON;
    assert_false(watch_screen_fits(&cli));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_goes_on_stands_first_in_place_of_what_was_drawn),
        TEST(a_table_wants_a_terminal_with_room),
    };

    return RUN_TESTS(tests);
}
