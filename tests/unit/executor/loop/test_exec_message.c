/*
 * exec_message: messages of a session become frames and the other way round,
 * and neither is believed.
 */
#include "berth/api.pb-c.h"
#include "executor/loop/exec_message.h"
#include "field.h"
#include "unit.h"
#include "wire/message/message.h"

static int convert(const Berth__Api__ExecInput *message, bool is_first,
                   struct strbuf *frames)
{
    auto_strbuf bytes = {0};
    struct err err;

    wire_encode(&message->base, &bytes);
    return exec_message_to_frames(strbuf_str(&bytes), is_first, frames, &err);
}

static void input_is_cut_into_frames(void **state)
{
    static uint8_t typed[3 * EXEC_DATA_BYTES_MAX + 1];
    Berth__Api__ExecInput message = BERTH__API__EXEC_INPUT__INIT;
    auto_strbuf frames = {0};
    struct exec_frame frame;
    size_t byte_count, at = 0, total = 0, count = 0;

    (void)state;
    message.input.data = typed;
    message.input.len = sizeof(typed);
    message.input_end = true;
    assert_int_equal(convert(&message, false, &frames), 0);
    while (exec_frame_take(str_make(frames.bytes + at, frames.byte_count - at),
                           true, &frame, &byte_count) == 1) {
        at += byte_count;
        total += frame.payload.byte_count;
        count++;
    }
    assert_int_equal(at, frames.byte_count);
    assert_int_equal(total, sizeof(typed));
    assert_int_equal(count, 5);
    assert_int_equal(frame.kind, EXEC_INPUT_END);
}

static void only_the_first_message_starts(void **state)
{
    Berth__Api__ExecInput message = BERTH__API__EXEC_INPUT__INIT;
    Berth__Api__ExecStart start = BERTH__API__EXEC_START__INIT;
    char *words[] = {field("ls")};
    auto_strbuf frames = {0};
    struct exec_frame frame;
    struct exec_start taken;
    size_t byte_count;

    (void)state;
    assert_int_equal(convert(&message, true, &frames), -ERR_INVALID);
    start.command = words;
    start.n_command = 1;
    start.time_ms_max = INT64_MAX;
    start.tty = true;
    message.start = &start;
    assert_int_equal(convert(&message, false, &frames), -ERR_INVALID);
    assert_int_equal(frames.byte_count, 0);
    assert_int_equal(convert(&message, true, &frames), 0);
    assert_int_equal(
        exec_frame_take(strbuf_str(&frames), true, &frame, &byte_count), 1);
    assert_int_equal(exec_start_take(frame.payload, &taken), 0);
    assert_int_equal(taken.time_ms_max, EXEC_TIME_MS_MAX);
    assert_int_equal(taken.size.columns, 80);
    assert_int_equal(taken.size.rows, 24);
    assert_string_equal(taken.args.items[0], "ls");
    exec_start_fini(&taken);
}

static void a_size_out_of_bounds_is_refused(void **state)
{
    Berth__Api__ExecInput message = BERTH__API__EXEC_INPUT__INIT;
    Berth__Api__ExecSize size = BERTH__API__EXEC_SIZE__INIT;
    auto_strbuf frames = {0};

    (void)state;
    message.size = &size;
    assert_int_equal(convert(&message, false, &frames), -ERR_INVALID);
    size.columns = 65536 + 80;
    size.rows = 24;
    assert_int_equal(convert(&message, false, &frames), -ERR_INVALID);
    size.columns = 80;
    assert_int_equal(convert(&message, false, &frames), 0);
}

static void what_is_no_message_is_refused(void **state)
{
    auto_strbuf frames = {0};
    struct err err;

    (void)state;
    assert_int_equal(
        exec_message_to_frames(STR("\xff\xff"), false, &frames, &err),
        -ERR_INVALID);
}

/* A shim that was taken over says what it likes. */
static void a_reason_becomes_text(void **state)
{
    auto_strbuf frames = {0}, bytes = {0};
    auto_arena arena = {0};
    struct exec_frame frame;
    ProtobufCMessage *decoded;
    struct err err;
    size_t byte_count;

    (void)state;
    exec_end_put(&frames, &(struct exec_end){EXEC_EXITED, 3,
                                             STR("a\xff"
                                                 "b")});
    assert_int_equal(
        exec_frame_take(strbuf_str(&frames), false, &frame, &byte_count), 1);
    assert_int_equal(exec_message_of_frame(&frame, &bytes), 0);
    assert_int_equal(wire_decode(&berth__api__exec_output__descriptor,
                                 strbuf_str(&bytes), &wire_request_limits,
                                 &arena, &decoded, &err),
                     0);
    const Berth__Api__ExecOutput *message = (const void *)decoded;
    assert_string_equal(message->end->reason, "a?b");
    assert_int_equal(message->end->code, 3);
    frame = (struct exec_frame){EXEC_START, STR("")};
    assert_int_equal(exec_message_of_frame(&frame, &bytes), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(input_is_cut_into_frames),
        TEST(only_the_first_message_starts),
        TEST(a_size_out_of_bounds_is_refused),
        TEST(what_is_no_message_is_refused),
        TEST(a_reason_becomes_text),
    };
    return RUN_TESTS(tests);
}
