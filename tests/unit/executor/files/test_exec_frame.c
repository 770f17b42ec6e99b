/*
 * exec_frame: what is put is taken, a piece at a time, and nothing that is out
 * of its bounds is believed.
 */
#include "executor/files/exec_frame.h"
#include "executor/files/kv.h"
#include "unit.h"

static void a_frame_is_taken_once_it_is_whole(void **state)
{
    auto_strbuf bytes = {0};
    struct exec_frame frame;
    size_t byte_count = 0;

    (void)state;
    exec_frame_put(&bytes, EXEC_INPUT, STR("hello"));
    exec_frame_put(&bytes, EXEC_INPUT_END, STR(""));
    size_t first = EXEC_HEAD_BYTES + 5;
    for (size_t n = 0; n < first; n++) {
        assert_int_equal(exec_frame_take(str_make(bytes.bytes, n), true, &frame,
                                         &byte_count),
                         0);
    }
    assert_int_equal(
        exec_frame_take(strbuf_str(&bytes), true, &frame, &byte_count), 1);
    assert_int_equal(frame.kind, EXEC_INPUT);
    assert_true(str_equal(frame.payload, STR("hello")));
    assert_int_equal(byte_count, first);
    assert_int_equal(
        exec_frame_take(str_make(bytes.bytes + first, bytes.byte_count - first),
                        true, &frame, &byte_count),
        1);
    assert_int_equal(frame.kind, EXEC_INPUT_END);
}

/* By its head alone, before a byte of the rest has come. */
static void what_is_out_of_bounds_is_not_waited_for(void **state)
{
    static const struct {
        uint8_t kind;
        bool is_to_shim;
        uint32_t byte_count;
        int rc;
    } cases[] = {
        {EXEC_INPUT, true, EXEC_DATA_BYTES_MAX, 0},
        {EXEC_INPUT, true, EXEC_DATA_BYTES_MAX + 1, -ERR_CORRUPT},
        {EXEC_INPUT, true, UINT32_MAX, -ERR_CORRUPT},
        {EXEC_INPUT, false, 1, -ERR_CORRUPT},
        {EXEC_OUTPUT, false, EXEC_DATA_BYTES_MAX, 0},
        {EXEC_OUTPUT, false, EXEC_DATA_BYTES_MAX + 1, -ERR_CORRUPT},
        {EXEC_OUTPUT, true, 1, -ERR_CORRUPT},
        {EXEC_START, true, EXEC_START_BYTES_MAX, 0},
        {EXEC_START, true, EXEC_START_BYTES_MAX + 1, -ERR_CORRUPT},
        {EXEC_HELLO, true, EXEC_TOKEN_BYTES_MAX + 1, -ERR_CORRUPT},
        {EXEC_SIZE, true, 5, -ERR_CORRUPT},
        {EXEC_INPUT_END, true, 1, -ERR_CORRUPT},
        {EXEC_STARTED, false, 1, -ERR_CORRUPT},
        {EXEC_END, false, 6 + EXEC_REASON_BYTES_MAX, -ERR_CORRUPT},
        {0, true, 0, -ERR_CORRUPT},
        {6, true, 0, -ERR_CORRUPT},
        {255, false, 0, -ERR_CORRUPT},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char head[EXEC_HEAD_BYTES] = {(char)cases[i].kind};
        struct exec_frame frame;
        size_t byte_count;
        for (int b = 0; b < 4; b++) {
            head[1 + b] = (char)(cases[i].byte_count >> (8 * b));
        }
        assert_int_equal(exec_frame_take(str_make(head, sizeof(head)),
                                         cases[i].is_to_shim, &frame,
                                         &byte_count),
                         cases[i].rc);
    }
}

static struct exec_start sample_start(char **args, size_t count)
{
    return (struct exec_start){
        .container = "main",
        .args = {.items = args, .count = count},
        .is_tty = true,
        .has_input = true,
        .size = {132, 43},
        .term = "xterm",
        .time_ms_max = 5000,
    };
}

static void a_start_is_taken_as_it_was_put(void **state)
{
    char words[][8] = {"sh", "-c", ""};
    char *args[] = {words[0], words[1], words[2]};
    struct exec_start wanted = sample_start(args, 3), start;
    auto_strbuf bytes = {0};
    struct exec_frame frame;
    size_t byte_count;

    (void)state;
    assert_int_equal(exec_start_put(&bytes, &wanted), 0);
    assert_int_equal(
        exec_frame_take(strbuf_str(&bytes), true, &frame, &byte_count), 1);
    assert_int_equal(exec_start_take(frame.payload, &start), 0);
    assert_string_equal(start.container, "main");
    assert_string_equal(start.term, "xterm");
    assert_true(start.is_tty && start.has_input);
    assert_int_equal(start.size.columns, 132);
    assert_int_equal(start.size.rows, 43);
    assert_int_equal(start.time_ms_max, 5000);
    assert_int_equal(start.args.count, 3);
    assert_string_equal(start.args.items[1], "-c");
    assert_string_equal(start.args.items[2], "");
    assert_null(start.args.items[3]);
    exec_start_fini(&start);
}

static void a_start_that_makes_no_sense_is_refused(void **state)
{
    static const struct {
        const char *key, *value;
        int rc;
    } cases[] = {
        {"rows", "24", 0},
        {"rows", "0", -ERR_CORRUPT},
        {"rows", "-1", -ERR_CORRUPT},
        {"columns", "10001", -ERR_CORRUPT},
        {"time_ms_max", "0", -ERR_CORRUPT},
        {"time_ms_max", "86400001", -ERR_CORRUPT},
        {"time_ms_max", "99999999999999999999", -ERR_CORRUPT},
        {"of_a_later_release", "x", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_strbuf payload = {0};
        struct exec_start start;
        kv_add_int(&payload, "tty", 1);
        kv_add_int(&payload, "columns", 80);
        kv_add_int(&payload, "rows", 24);
        kv_add_int(&payload, "time_ms_max", 1);
        kv_add_text(&payload, cases[i].key, cases[i].value);
        assert_int_equal(exec_start_take(strbuf_str(&payload), &start),
                         cases[i].rc);
        if (cases[i].rc == 0) {
            exec_start_fini(&start);
        }
    }
}

static void a_start_has_a_bound_of_words_and_bytes(void **state)
{
    static char *args[EXEC_ARGS_MAX + 1];
    static char word[] = "x", large[EXEC_START_BYTES_MAX];
    struct exec_start wanted;
    auto_strbuf bytes = {0}, payload = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(args); i++) {
        args[i] = word;
    }
    wanted = sample_start(args, EXEC_ARGS_MAX);
    assert_int_equal(exec_start_put(&bytes, &wanted), 0);
    wanted = sample_start(args, EXEC_ARGS_MAX + 1);
    assert_int_equal(exec_start_put(&bytes, &wanted), -ERR_LIMIT);
    memset(large, 'x', sizeof(large) - 1);
    args[0] = large;
    wanted = sample_start(args, 1);
    assert_int_equal(exec_start_put(&bytes, &wanted), -ERR_LIMIT);
    kv_add_int(&payload, "time_ms_max", 1);
    for (size_t i = 0; i <= EXEC_ARGS_MAX; i++) {
        kv_add_text(&payload, "arg", "x");
    }
    struct exec_start start;
    assert_int_equal(exec_start_take(strbuf_str(&payload), &start),
                     -ERR_CORRUPT);
}

static void sizes_are_within_sides(void **state)
{
    auto_strbuf bytes = {0};
    struct exec_frame frame;
    struct exec_size size;
    size_t byte_count;

    (void)state;
    exec_size_put(&bytes, (struct exec_size){EXEC_SIDE_MAX, 1});
    assert_int_equal(
        exec_frame_take(strbuf_str(&bytes), true, &frame, &byte_count), 1);
    assert_int_equal(exec_size_take(frame.payload, &size), 0);
    assert_int_equal(size.columns, EXEC_SIDE_MAX);
    assert_int_equal(size.rows, 1);
    assert_int_equal(exec_size_take(STR("\0\0\1\0"), &size), -ERR_CORRUPT);
    assert_int_equal(exec_size_take(STR("\1\0\xff\xff"), &size), -ERR_CORRUPT);
    assert_int_equal(exec_size_take(STR("\1\0\1"), &size), -ERR_CORRUPT);
}

static void an_end_is_taken_as_it_was_put_and_cut(void **state)
{
    static char reason[EXEC_REASON_BYTES_MAX + 10];
    auto_strbuf bytes = {0};
    struct exec_frame frame;
    struct exec_end end;
    size_t byte_count;

    (void)state;
    memset(reason, 'r', sizeof(reason));
    exec_end_put(&bytes, &(struct exec_end){EXEC_TIMED_OUT, 137,
                                            str_make(reason, sizeof(reason))});
    assert_int_equal(
        exec_frame_take(strbuf_str(&bytes), false, &frame, &byte_count), 1);
    assert_int_equal(exec_end_take(frame.payload, &end), 0);
    assert_int_equal(end.ending, EXEC_TIMED_OUT);
    assert_int_equal(end.code, 137);
    assert_int_equal(end.reason.byte_count, EXEC_REASON_BYTES_MAX);
    assert_int_equal(exec_end_take(STR("\x06\0\0\0\0"), &end), -ERR_CORRUPT);
    assert_int_equal(exec_end_take(STR("\0\0\0\0"), &end), -ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_frame_is_taken_once_it_is_whole),
        TEST(what_is_out_of_bounds_is_not_waited_for),
        TEST(a_start_is_taken_as_it_was_put),
        TEST(a_start_that_makes_no_sense_is_refused),
        TEST(a_start_has_a_bound_of_words_and_bytes),
        TEST(sizes_are_within_sides),
        TEST(an_end_is_taken_as_it_was_put_and_cut),
    };
    return RUN_TESTS(tests);
}
