#include "executor/files/exec_frame.h"

#include "executor/files/kv.h"

enum { SIZE_BYTES = 4, END_HEAD_BYTES = 5 };

/* What each kind may hold; the other way it may hold nothing. */
static const struct {
    bool is_known, is_to_shim;
    uint32_t byte_count_max;
} kinds[] = {
    [EXEC_HELLO] = {true, true, EXEC_TOKEN_BYTES_MAX},
    [EXEC_START] = {true, true, EXEC_START_BYTES_MAX},
    [EXEC_INPUT] = {true, true, EXEC_DATA_BYTES_MAX},
    [EXEC_INPUT_END] = {true, true, 0},
    [EXEC_SIZE] = {true, true, SIZE_BYTES},
    [EXEC_STARTED] = {true, false, 0},
    [EXEC_OUTPUT] = {true, false, EXEC_DATA_BYTES_MAX},
    [EXEC_ERROR_OUTPUT] = {true, false, EXEC_DATA_BYTES_MAX},
    [EXEC_END] = {true, false, END_HEAD_BYTES + EXEC_REASON_BYTES_MAX},
};

static void put_number(char *bytes, uint32_t number, size_t byte_count)
{
    for (size_t i = 0; i < byte_count; i++) {
        bytes[i] = (char)(number >> (8 * i));
    }
}

static uint32_t take_number(const char *bytes, size_t byte_count)
{
    uint32_t number = 0;

    for (size_t i = 0; i < byte_count; i++) {
        number |= (uint32_t)(uint8_t)bytes[i] << (8 * i);
    }
    return number;
}

void exec_frame_put(struct strbuf *buf, enum exec_kind kind, struct str payload)
{
    char head[EXEC_HEAD_BYTES] = {(char)kind};

    ASSERT(payload.byte_count <= kinds[kind].byte_count_max);
    put_number(head + 1, (uint32_t)payload.byte_count, sizeof(uint32_t));
    strbuf_add(buf, head, sizeof(head));
    strbuf_add_str(buf, payload);
}

int exec_frame_take(struct str bytes, bool is_to_shim,
                    struct exec_frame *ret_frame, size_t *ret_byte_count)
{
    if (bytes.byte_count < EXEC_HEAD_BYTES) {
        return 0;
    }
    uint8_t kind = (uint8_t)bytes.p[0];
    uint32_t byte_count = take_number(bytes.p + 1, sizeof(uint32_t));
    if (kind >= ARRAY_COUNT(kinds) || !kinds[kind].is_known ||
        kinds[kind].is_to_shim != is_to_shim ||
        byte_count > kinds[kind].byte_count_max) {
        return -ERR_CORRUPT;
    }
    if (bytes.byte_count - EXEC_HEAD_BYTES < byte_count) {
        return 0;
    }
    ret_frame->kind = (enum exec_kind)kind;
    ret_frame->payload = str_make(bytes.p + EXEC_HEAD_BYTES, byte_count);
    *ret_byte_count = EXEC_HEAD_BYTES + byte_count;
    return 1;
}

/* The start. */

static bool is_side(int64_t side)
{
    return side >= 1 && side <= EXEC_SIDE_MAX;
}

int exec_start_put(struct strbuf *buf, const struct exec_start *start)
{
    auto_strbuf payload = strbuf_make(EXEC_START_BYTES_MAX);

    kv_add_text(&payload, "container", start->container);
    kv_add_text(&payload, "term", start->term);
    kv_add_int(&payload, "tty", start->is_tty);
    kv_add_int(&payload, "input", start->has_input);
    kv_add_int(&payload, "columns", start->size.columns);
    kv_add_int(&payload, "rows", start->size.rows);
    kv_add_int(&payload, "time_ms_max", start->time_ms_max);
    for (size_t i = 0; i < start->args.count; i++) {
        kv_add_text(&payload, "arg", start->args.items[i]);
    }
    if (payload.is_over || start->args.count > EXEC_ARGS_MAX) {
        return -ERR_LIMIT;
    }
    exec_frame_put(buf, EXEC_START, strbuf_str(&payload));
    return 0;
}

static int take_record(struct exec_start *start, const struct kv_reader *reader)
{
    int64_t number = kv_int(reader);

    if (kv_is(reader, "arg")) {
        if (start->args.count >= EXEC_ARGS_MAX) {
            return -ERR_CORRUPT;
        }
        /* Our strings point into bytes that we own. */
        VEC_PUSH(&start->args, (char *)(uintptr_t)reader->value);
    } else if (kv_is(reader, "container")) {
        start->container = reader->value;
    } else if (kv_is(reader, "term")) {
        start->term = reader->value;
    } else if (kv_is(reader, "tty")) {
        start->is_tty = number != 0;
    } else if (kv_is(reader, "input")) {
        start->has_input = number != 0;
    } else if (kv_is(reader, "columns")) {
        start->size.columns = is_side(number) ? (uint16_t)number : 0;
    } else if (kv_is(reader, "rows")) {
        start->size.rows = is_side(number) ? (uint16_t)number : 0;
    } else if (kv_is(reader, "time_ms_max")) {
        start->time_ms_max = number;
    }
    return 0;
}

static bool is_good(const struct exec_start *start)
{
    return strlen(start->container) <= EXEC_TEXT_BYTES_MAX &&
           strlen(start->term) <= EXEC_TEXT_BYTES_MAX &&
           start->time_ms_max >= 1 && start->time_ms_max <= EXEC_TIME_MS_MAX &&
           (!start->is_tty ||
            (start->size.columns > 0 && start->size.rows > 0));
}

int exec_start_take(struct str payload, struct exec_start *ret)
{
    int rc;

    *ret = (struct exec_start){.container = "", .term = ""};
    if (payload.byte_count > EXEC_START_BYTES_MAX) {
        return -ERR_CORRUPT;
    }
    strbuf_add_str(&ret->bytes, payload);
    struct kv_reader reader = {.rest = strbuf_str(&ret->bytes)};
    while ((rc = kv_next(&reader)) == 1 && take_record(ret, &reader) == 0) {
    }
    if (rc != 0 || !is_good(ret)) {
        exec_start_fini(ret);
        return -ERR_CORRUPT;
    }
    if (ret->args.count > 0) {
        VEC_RESERVE(&ret->args, 1);
        ret->args.items[ret->args.count] = NULL;
    }
    return 0;
}

void exec_start_fini(struct exec_start *start)
{
    VEC_FREE(&start->args);
    strbuf_fini(&start->bytes);
}

/* The size. */

void exec_size_put(struct strbuf *buf, struct exec_size size)
{
    char bytes[SIZE_BYTES];

    put_number(bytes, size.columns, sizeof(uint16_t));
    put_number(bytes + sizeof(uint16_t), size.rows, sizeof(uint16_t));
    exec_frame_put(buf, EXEC_SIZE, str_make(bytes, sizeof(bytes)));
}

int exec_size_take(struct str payload, struct exec_size *ret_size)
{
    if (payload.byte_count != SIZE_BYTES) {
        return -ERR_CORRUPT;
    }
    ret_size->columns = (uint16_t)take_number(payload.p, sizeof(uint16_t));
    ret_size->rows =
        (uint16_t)take_number(payload.p + sizeof(uint16_t), sizeof(uint16_t));
    return is_side(ret_size->columns) && is_side(ret_size->rows) ? 0
                                                                 : -ERR_CORRUPT;
}

/* The end. */

void exec_end_put(struct strbuf *buf, const struct exec_end *end)
{
    char bytes[END_HEAD_BYTES + EXEC_REASON_BYTES_MAX];
    size_t n = end->reason.byte_count < EXEC_REASON_BYTES_MAX
                   ? end->reason.byte_count
                   : EXEC_REASON_BYTES_MAX;

    bytes[0] = (char)end->ending;
    put_number(bytes + 1, (uint32_t)end->code, sizeof(uint32_t));
    if (n > 0) {
        memcpy(bytes + END_HEAD_BYTES, end->reason.p, n);
    }
    exec_frame_put(buf, EXEC_END, str_make(bytes, END_HEAD_BYTES + n));
}

int exec_end_take(struct str payload, struct exec_end *ret_end)
{
    if (payload.byte_count < END_HEAD_BYTES ||
        (uint8_t)payload.p[0] >= EXEC_ENDINGS) {
        return -ERR_CORRUPT;
    }
    ret_end->ending = (enum exec_ending)payload.p[0];
    ret_end->code = (int32_t)take_number(payload.p + 1, sizeof(uint32_t));
    ret_end->reason = str_make(payload.p + END_HEAD_BYTES,
                               payload.byte_count - END_HEAD_BYTES);
    return 0;
}
