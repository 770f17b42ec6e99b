#include "executor/loop/exec_message.h"

#include "base/arena.h"
#include "berth/api.pb-c.h"
#include "wire/message/message.h"
#include "wire/text/utf8.h"

static bool take_size(const Berth__Api__ExecSize *message,
                      struct exec_size *ret_size)
{
    bool is_good = message && message->columns >= 1 &&
                   message->columns <= EXEC_SIDE_MAX && message->rows >= 1 &&
                   message->rows <= EXEC_SIDE_MAX;

    *ret_size = is_good ? (struct exec_size){(uint16_t)message->columns,
                                             (uint16_t)message->rows}
                        : (struct exec_size){80, 24};
    return is_good;
}

static int put_start(const Berth__Api__ExecStart *message,
                     struct strbuf *frames, struct err *err)
{
    struct exec_start start = {
        .container = message->container,
        .args = {.items = message->command, .count = message->n_command},
        .is_tty = message->tty,
        .has_input = message->input,
        .term = message->term,
        .time_ms_max =
            message->time_ms_max > 0 && message->time_ms_max < EXEC_TIME_MS_MAX
                ? message->time_ms_max
                : EXEC_TIME_MS_MAX,
    };

    (void)take_size(message->size, &start.size);
    return exec_start_put(frames, &start) == 0
               ? 0
               : err_set(err, -ERR_INVALID,
                         "a command has at most %d words with %d bytes",
                         EXEC_ARGS_MAX, EXEC_START_BYTES_MAX);
}

/* In pieces that a frame holds. */
static void put_input(struct str bytes, struct strbuf *frames)
{
    while (bytes.byte_count > 0) {
        size_t n = bytes.byte_count < EXEC_DATA_BYTES_MAX ? bytes.byte_count
                                                          : EXEC_DATA_BYTES_MAX;
        exec_frame_put(frames, EXEC_INPUT, str_make(bytes.p, n));
        bytes = str_make(bytes.p + n, bytes.byte_count - n);
    }
}

int exec_message_to_frames(struct str bytes, bool is_first,
                           struct strbuf *frames, struct err *err)
{
    auto_arena arena = {0};
    ProtobufCMessage *decoded;
    struct exec_size size;

    if (wire_decode(&berth__api__exec_input__descriptor, bytes,
                    &wire_request_limits, &arena, &decoded, err) < 0) {
        return -ERR_INVALID;
    }
    const Berth__Api__ExecInput *message = (const void *)decoded;
    if ((message->start != NULL) != is_first) {
        return err_set(err, -ERR_INVALID,
                       "`start` must be in the first message, and only there");
    }
    if (is_first) {
        return put_start(message->start, frames, err);
    }
    if (message->size && !take_size(message->size, &size)) {
        return err_set(err, -ERR_INVALID,
                       "a terminal has 1 to %d columns and rows",
                       EXEC_SIDE_MAX);
    }
    if (message->size) {
        exec_size_put(frames, size);
    }
    put_input(str_make(message->input.data, message->input.len), frames);
    if (message->input_end) {
        exec_frame_put(frames, EXEC_INPUT_END, STR(""));
    }
    return 0;
}

static void put_end(Berth__Api__ExecOutput *message, const struct exec_end *end,
                    struct strbuf *bytes)
{
    Berth__Api__ExecEnd inner = BERTH__API__EXEC_END__INIT;
    auto_arena arena = {0};

    inner.ending = (Berth__Api__ExecEnd__Ending)end->ending;
    inner.code = end->code;
    inner.reason = arena_strdup(&arena, end->reason);
    for (size_t at; (at = utf8_text_bytes(
                         str_make(inner.reason, end->reason.byte_count))) <
                    end->reason.byte_count;) {
        inner.reason[at] = '?'; /* or it was cut within a character */
    }
    message->end = &inner;
    wire_encode(&message->base, bytes);
}

int exec_message_of_frame(const struct exec_frame *frame, struct strbuf *bytes)
{
    Berth__Api__ExecOutput message = BERTH__API__EXEC_OUTPUT__INIT;
    ProtobufCBinaryData data = {frame->payload.byte_count,
                                (uint8_t *)(uintptr_t)frame->payload.p};
    struct exec_end end;

    switch (frame->kind) {
    case EXEC_STARTED:
        message.started = true;
        break;
    case EXEC_OUTPUT:
        message.output = data;
        break;
    case EXEC_ERROR_OUTPUT:
        message.error_output = data;
        break;
    case EXEC_END:
        if (exec_end_take(frame->payload, &end) < 0) {
            return -ERR_INVALID;
        }
        put_end(&message, &end, bytes);
        return 0;
    case EXEC_HELLO:
    case EXEC_START:
    case EXEC_INPUT:
    case EXEC_INPUT_END:
    case EXEC_SIZE:
        return -ERR_INVALID;
    }
    wire_encode(&message.base, bytes);
    return 0;
}

void exec_message_broken(const char *reason, struct strbuf *bytes)
{
    Berth__Api__ExecOutput message = BERTH__API__EXEC_OUTPUT__INIT;

    put_end(&message, &(struct exec_end){EXEC_BROKEN, 0, str_of(reason)},
            bytes);
}
