/*
 * frames: HTTP/2 is passed on as it came, marked after each header block, and
 * what has no end is ended.
 */
#include "rpc/guard/frames.h"
#include "unit.h"

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
static const struct str mark = {"MARK", 4};

enum { HEADERS = 1, PING = 6, CONTINUATION = 9, END_HEADERS = 4 };

static void put_frame(struct strbuf *out, unsigned char type,
                      unsigned char flags, uint32_t stream, struct str payload)
{
    size_t count = payload.byte_count;
    const unsigned char head[FRAMES_HEAD_BYTES] = {
        (unsigned char)(count >> 16),
        (unsigned char)(count >> 8),
        (unsigned char)count,
        type,
        flags,
        (unsigned char)(stream >> 24),
        (unsigned char)(stream >> 16),
        (unsigned char)(stream >> 8),
        (unsigned char)stream};

    strbuf_add(out, head, sizeof(head));
    strbuf_add_str(out, payload);
}

/* Two requests, one of them in three parts, and data. */
static void put_sample(struct strbuf *in, struct strbuf *expected)
{
    strbuf_add_text(in, preface);
    put_frame(in, 4, 0, 0, STR(""));
    strbuf_add_str(expected, strbuf_str(in));
    put_frame(in, HEADERS, END_HEADERS, 1, STR("one"));
    put_frame(expected, HEADERS, 0, 1, STR("one"));
    put_frame(expected, CONTINUATION, END_HEADERS, 1, mark);
    for (int i = 0; i < 2; i++) {
        put_frame(i ? expected : in, 0, 1, 1, STR("data"));
        put_frame(i ? expected : in, HEADERS, 1, 0x7ffffffd, STR("a"));
        put_frame(i ? expected : in, CONTINUATION, 0, 0x7ffffffd, STR(""));
    }
    put_frame(in, CONTINUATION, END_HEADERS, 0x7ffffffd, STR("b"));
    put_frame(expected, CONTINUATION, 0, 0x7ffffffd, STR("b"));
    put_frame(expected, CONTINUATION, END_HEADERS, 0x7ffffffd, mark);
}

/* However the bytes come. */
static void each_request_is_marked(void **state)
{
    auto_strbuf in = {0}, expected = {0};

    (void)state;
    put_sample(&in, &expected);
    for (size_t step = 1; step <= in.byte_count; step++) {
        auto_strbuf out = {0};
        struct frames frames = {0};
        for (size_t at = 0; at < in.byte_count; at += step) {
            size_t left = in.byte_count - at;
            assert_int_equal(
                frames_take(&frames,
                            str_make(in.bytes + at, left < step ? left : step),
                            mark, &out),
                FRAMES_OK);
        }
        assert_int_equal(out.byte_count, expected.byte_count);
        assert_memory_equal(out.bytes, expected.bytes, out.byte_count);
        assert_int_equal(frames.request_count, 2);
    }
}

/* Take the preface and one frame after the other; the fault of the last. */
static enum frames_fault take(struct frames *frames, struct str bytes)
{
    auto_strbuf out = {0};

    return frames_take(frames, bytes, mark, &out);
}

static void begin(struct frames *frames)
{
    *frames = (struct frames){0};
    assert_int_equal(take(frames, str_of(preface)), FRAMES_OK);
}

static void header_blocks_have_an_end(void **state)
{
    static char zeros[16384];
    auto_strbuf part = {0}, empty = {0}, first = {0};
    struct frames frames;
    uint64_t taken = 0;

    (void)state;
    put_frame(&first, HEADERS, 0, 1, STR("x"));
    put_frame(&part, CONTINUATION, 0, 1, str_make(zeros, sizeof(zeros)));
    put_frame(&empty, CONTINUATION, 0, 1, STR(""));
    begin(&frames);
    assert_int_equal(take(&frames, strbuf_str(&first)), FRAMES_OK);
    while (take(&frames, strbuf_str(&part)) == FRAMES_OK) {
        taken += sizeof(zeros);
        assert_true(taken <= FRAMES_HEADER_BYTES_MAX);
    }
    begin(&frames);
    assert_int_equal(take(&frames, strbuf_str(&first)), FRAMES_OK);
    for (taken = 1; take(&frames, strbuf_str(&empty)) == FRAMES_OK; taken++) {
        assert_true(taken < FRAMES_BLOCK_FRAMES_MAX);
    }
    /* By its head alone: its bytes are not waited for. */
    begin(&frames);
    assert_int_equal(take(&frames, STR("\xff\xff\xff\x01\x04\0\0\0\x01")),
                     FRAMES_TOO_LARGE);
}

static void only_a_continuation_continues(void **state)
{
    auto_strbuf first = {0}, ping = {0}, other = {0}, alone = {0}, push = {0};
    struct frames frames;

    (void)state;
    put_frame(&first, HEADERS, 0, 1, STR("x"));
    put_frame(&ping, PING, 0, 0, STR("12345678"));
    put_frame(&other, CONTINUATION, END_HEADERS, 3, STR("x"));
    put_frame(&alone, CONTINUATION, END_HEADERS, 1, STR("x"));
    put_frame(&push, 5, 0, 1, STR("1234"));
    struct str seconds[] = {strbuf_str(&ping), strbuf_str(&other),
                            strbuf_str(&first)};
    for (size_t i = 0; i < ARRAY_COUNT(seconds); i++) {
        begin(&frames);
        assert_int_equal(take(&frames, strbuf_str(&first)), FRAMES_OK);
        assert_int_equal(take(&frames, seconds[i]), FRAMES_OUT_OF_ORDER);
    }
    begin(&frames);
    assert_int_equal(take(&frames, strbuf_str(&alone)), FRAMES_OUT_OF_ORDER);
    begin(&frames);
    assert_int_equal(take(&frames, strbuf_str(&push)), FRAMES_OUT_OF_ORDER);
}

static void what_is_not_http2_is_told_at_once(void **state)
{
    struct frames frames = {0};

    (void)state;
    assert_int_equal(take(&frames, STR("PRI ")), FRAMES_OK);
    assert_int_equal(take(&frames, STR("GET")), FRAMES_NOT_HTTP2);
}

/* Frames that carry nothing are counted; those of requests are not. */
static void control_frames_are_counted(void **state)
{
    auto_strbuf in = {0};
    struct frames frames;

    (void)state;
    begin(&frames);
    put_frame(&in, PING, 0, 0, STR("12345678"));
    put_frame(&in, 4, 0, 0, STR(""));
    put_frame(&in, 3, 0, 1, STR("1234"));
    put_frame(&in, 0, 0, 1, STR(""));
    put_frame(&in, 8, 0, 1, STR("1234"));
    put_frame(&in, 0, 1, 1, STR(""));
    put_frame(&in, HEADERS, END_HEADERS, 1, STR("x"));
    assert_int_equal(take(&frames, strbuf_str(&in)), FRAMES_OK);
    assert_int_equal(frames.control_count, 4);
}

static void a_mark_is_a_literal_header(void **state)
{
    auto_strbuf out = {0};

    (void)state;
    frames_mark(STR("ab"), STR("xyz"), &out);
    assert_int_equal(out.byte_count, 8);
    assert_memory_equal(out.bytes,
                        "\x10\x02"
                        "ab\x03xyz",
                        8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_request_is_marked),
        TEST(header_blocks_have_an_end),
        TEST(only_a_continuation_continues),
        TEST(what_is_not_http2_is_told_at_once),
        TEST(control_frames_are_counted),
        TEST(a_mark_is_a_literal_header),
    };

    return RUN_TESTS(tests);
}
