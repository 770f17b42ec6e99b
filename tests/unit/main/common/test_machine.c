/*
 * machine, stopper, data_dir, say: what programs have of the outside.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "main/berthd/data_dir.h"
#include "main/common/machine.h"
#include "main/common/say.h"
#include "main/common/stopper.h"
#include "unit.h"

static void clocks_go_on(void **state)
{
    (void)state;
    uint64_t before_ns = machine_clock.mono_ns(&machine_clock);

    assert_true(machine_clock.mono_ns(&machine_clock) >= before_ns);
    assert_true(machine_clock.wall_ms(&machine_clock) > 1700000000000);
}

static void randomness_differs(void **state)
{
    (void)state;
    uint8_t a[16] = {0}, b[16] = {0};

    machine_rng.fill(&machine_rng, a, sizeof(a));
    machine_rng.fill(&machine_rng, b, sizeof(b));

    assert_memory_not_equal(a, b, sizeof(a));
}

static void stopper_is_seen_by_everybody_from_then_on(void **state)
{
    (void)state;
    struct stopper stopper;
    struct err err;

    assert_int_equal(stopper_open(&stopper, &err), 0);
    assert_false(stopper_is_stopped(&stopper));
    assert_false(stopper_wait(&stopper, 1));
    stopper_stop(&stopper);
    stopper_stop(&stopper);
    assert_true(stopper_is_stopped(&stopper));
    assert_true(stopper_wait(&stopper, 10000));
    stopper_close(&stopper);
}

static void data_directory_is_made_and_named_absolutely(void **state)
{
    (void)state;
    char folder[] = "/tmp/berth-test-XXXXXX", path[64];
    auto_arena arena = {0};
    struct data_dir dir;
    struct stat about;
    struct err err;

    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/data", folder);
    assert_int_equal(data_dir_open(path, &arena, &dir, &err), 0);
    assert_int_equal(data_dir_open(path, &arena, &dir, &err), 0);

    assert_string_equal(dir.path, path);
    assert_int_equal(strncmp(dir.log, path, strlen(path)), 0);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 077, 011);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(data_dir_open("/proc/nowhere", &arena, &dir, &err),
                     -ERR_IO);
    assert_int_equal(rmdir(folder), 0);
}

enum { LINE_BYTES_MAX = 1024 };

/* What say() writes to standard error. */
static void read_line(char line[LINE_BYTES_MAX])
{
    int ends[2], old = dup(STDERR_FILENO);

    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    say(SAY_DEBUG, "not.said", say_int("count", 1));
    say(SAY_WARN, "disk.full", say_text("path", "/x"), say_int("left", 3));
    assert_true(dup2(old, STDERR_FILENO) >= 0);
    ssize_t length = read(ends[0], line, LINE_BYTES_MAX - 1);
    assert_true(length > 0);
    line[length] = '\0';
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(old);
}

static void event_is_one_line(void **state)
{
    (void)state;
    char line[LINE_BYTES_MAX];

    read_line(line);

    assert_int_equal(strncmp(line, "time=20", 7), 0);
    const char *rest = strchr(line, ' ');
    assert_int_equal(rest[-1], 'Z');
    assert_string_equal(rest, " level=warn event=disk.full path=/x left=3\n");
}

static void check_line(enum say_format format, struct str value,
                       const char *wanted)
{
    const struct say_field fields[] = {say_str("a", value), say_int("n", -7),
                                       say_end()};
    auto_strbuf line = {0};

    say_line(format, 1700000000123, SAY_INFO, "x.y", fields, &line);
    assert_string_equal(strbuf_text(&line), wanted);
}

#define LOGFMT "time=2023-11-14T22:13:20.123Z level=info event=x.y a="
#define JSON                                                     \
    "{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"info\"," \
    "\"event\":\"x.y\",\"a\":"

static void values_are_quoted_where_parsers_need_it(void **state)
{
    (void)state;
    check_line(SAY_LOGFMT, STR("plain:1.2/3"), LOGFMT "plain:1.2/3 n=-7\n");
    check_line(SAY_LOGFMT, STR(""), LOGFMT "\"\" n=-7\n");
    check_line(SAY_LOGFMT, STR("a b"), LOGFMT "\"a b\" n=-7\n");
    check_line(SAY_LOGFMT, STR("a=b"), LOGFMT "\"a=b\" n=-7\n");
    check_line(SAY_LOGFMT, STR("\"\\\n\t\x1b"),
               LOGFMT "\"\\\"\\\\\\n\\t\\u001b\" n=-7\n");
    check_line(SAY_LOGFMT, STR("\xc3\xa9"), LOGFMT "\"\xc3\xa9\" n=-7\n");
    check_line(SAY_JSON, STR("plain"), JSON "\"plain\",\"n\":-7}\n");
}

static void what_is_no_text_is_replaced(void **state)
{
    (void)state;
    check_line(SAY_JSON, STR("a\xff\xc3"),
               JSON "\"a\xef\xbf\xbd\xef\xbf\xbd\",\"n\":-7}\n");
    check_line(SAY_JSON, STR("\xc2\x9b"), JSON "\"\\u009b\",\"n\":-7}\n");
    check_line(SAY_JSON, STR("\xe2\x80\xae\xf3\xa0\x80\x81"),
               JSON "\"\\u202e\\udb40\\udc01\",\"n\":-7}\n");
    check_line(SAY_LOGFMT, STR("\xe2\x80\xae"), LOGFMT "\"\\u202e\" n=-7\n");
}

static void levels_are_set_by_their_names(void **state)
{
    (void)state;
    assert_true(say_is_on(SAY_INFO));
    assert_false(say_is_on(SAY_DEBUG));
    say_set_by_name(STR("debug"), STR("logfmt"));
    assert_true(say_is_on(SAY_DEBUG));
    say_set_by_name(STR("error"), STR("logfmt"));
    assert_false(say_is_on(SAY_WARN));
    say_set_by_name(STR("info"), STR("logfmt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(clocks_go_on),
        TEST(randomness_differs),
        TEST(stopper_is_seen_by_everybody_from_then_on),
        TEST(data_directory_is_made_and_named_absolutely),
        TEST(event_is_one_line),
        TEST(values_are_quoted_where_parsers_need_it),
        TEST(what_is_no_text_is_replaced),
        TEST(levels_are_set_by_their_names),
    };
    return RUN_TESTS(tests);
}
