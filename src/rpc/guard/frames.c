#include "rpc/guard/frames.h"

/* Types and flags (RFC 9113 6). */
enum {
    DATA = 0,
    HEADERS = 1,
    PUSH_PROMISE = 5,
    GOAWAY = 7,
    WINDOW_UPDATE = 8,
    CONTINUATION = 9,
    END_HEADERS = 4,
    FLAGS_AT = 4,
    STREAM_AT = 5,
    MARK_PART_BYTES_MAX = 126, /* a length that fits the prefix */
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum { PREFACE_BYTES = sizeof(preface) - 1 };

static uint32_t length_of(const unsigned char *head)
{
    return (uint32_t)head[0] << 16 | (uint32_t)head[1] << 8 | head[2];
}

static uint32_t stream_of(const unsigned char *head)
{
    const unsigned char *p = head + STREAM_AT;

    return ((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
            p[3]) &
           0x7fffffff;
}

/* A frame that costs work and carries nothing. */
static bool is_control(const unsigned char *head)
{
    unsigned char type = head[3];

    return type == DATA ? length_of(head) == 0 && head[FLAGS_AT] == 0
                        : type != HEADERS && type != WINDOW_UPDATE &&
                              type != CONTINUATION && type != GOAWAY;
}

/* Part of a header block: the last part is not the end of it, the mark is. */
static enum frames_fault begin_block_part(struct frames *frames)
{
    frames->block_bytes += length_of(frames->head);
    frames->block_frames++;
    if (frames->block_bytes > FRAMES_HEADER_BYTES_MAX ||
        frames->block_frames > FRAMES_BLOCK_FRAMES_MAX) {
        return FRAMES_TOO_LARGE;
    }
    frames->is_in_block = true;
    frames->stream = stream_of(frames->head);
    frames->is_mark_due = (frames->head[FLAGS_AT] & END_HEADERS) != 0;
    frames->head[FLAGS_AT] &= (unsigned char)~END_HEADERS;
    return FRAMES_OK;
}

/* The head is complete. */
static enum frames_fault begin_frame(struct frames *frames)
{
    unsigned char type = frames->head[3];
    bool is_next =
        type == CONTINUATION && stream_of(frames->head) == frames->stream;

    frames->rest_count = length_of(frames->head);
    if (frames->is_in_block != (type == CONTINUATION) ||
        (frames->is_in_block && !is_next) || type == PUSH_PROMISE) {
        return FRAMES_OUT_OF_ORDER;
    }
    frames->control_count += is_control(frames->head);
    if (type == HEADERS) {
        frames->block_bytes = frames->block_frames = 0;
    }
    return type == HEADERS || type == CONTINUATION ? begin_block_part(frames)
                                                   : FRAMES_OK;
}

static void put_head(struct strbuf *out, uint32_t byte_count,
                     unsigned char type, unsigned char flags, uint32_t stream)
{
    const unsigned char head[FRAMES_HEAD_BYTES] = {
        (unsigned char)(byte_count >> 16),
        (unsigned char)(byte_count >> 8),
        (unsigned char)byte_count,
        type,
        flags,
        (unsigned char)(stream >> 24),
        (unsigned char)(stream >> 16),
        (unsigned char)(stream >> 8),
        (unsigned char)stream};

    strbuf_add(out, head, sizeof(head));
}

/* The payload is complete. */
static void end_frame(struct frames *frames, struct str mark,
                      struct strbuf *out)
{
    frames->head_count = 0;
    if (frames->is_mark_due) {
        put_head(out, (uint32_t)mark.byte_count, CONTINUATION, END_HEADERS,
                 frames->stream);
        strbuf_add_str(out, mark);
        frames->is_mark_due = frames->is_in_block = false;
        frames->request_count++;
    }
}

/* Take bytes of the preface, as many as there are: their count, or -1. */
static int64_t take_preface(struct frames *frames, struct str bytes,
                            struct strbuf *out)
{
    size_t count = PREFACE_BYTES - frames->preface_count;

    count = count < bytes.byte_count ? count : bytes.byte_count;
    if (memcmp(preface + frames->preface_count, bytes.p, count) != 0) {
        return -1;
    }
    frames->preface_count += (uint32_t)count;
    if (frames->preface_count == PREFACE_BYTES) {
        strbuf_add(out, preface, PREFACE_BYTES);
    }
    return (int64_t)count;
}

enum frames_fault frames_take(struct frames *frames, struct str bytes,
                              struct str mark, struct strbuf *out)
{
    size_t at = 0;

    ASSERT(mark.byte_count <= FRAMES_MARK_BYTES_MAX);
    if (frames->preface_count < PREFACE_BYTES && bytes.byte_count > 0) {
        int64_t taken = take_preface(frames, bytes, out);
        if (taken < 0) {
            return FRAMES_NOT_HTTP2;
        }
        at = (size_t)taken;
    }
    while (at < bytes.byte_count) {
        size_t left = bytes.byte_count - at;
        if (frames->head_count < FRAMES_HEAD_BYTES) {
            frames->head[frames->head_count++] = (unsigned char)bytes.p[at++];
            if (frames->head_count < FRAMES_HEAD_BYTES) {
                continue;
            }
            enum frames_fault fault = begin_frame(frames);
            if (fault != FRAMES_OK) {
                return fault;
            }
            strbuf_add(out, frames->head, FRAMES_HEAD_BYTES);
        } else {
            size_t count =
                left < frames->rest_count ? left : frames->rest_count;
            strbuf_add(out, bytes.p + at, count);
            frames->rest_count -= (uint32_t)count;
            at += count;
        }
        if (frames->rest_count == 0) {
            end_frame(frames, mark, out);
        }
    }
    return FRAMES_OK;
}

void frames_mark(struct str name, struct str value, struct strbuf *out)
{
    ASSERT(name.byte_count <= MARK_PART_BYTES_MAX &&
           value.byte_count <= MARK_PART_BYTES_MAX);
    strbuf_add_char(out, 0x10);
    strbuf_add_char(out, (char)name.byte_count);
    strbuf_add_str(out, name);
    strbuf_add_char(out, (char)value.byte_count);
    strbuf_add_str(out, value);
}

struct str frames_goaway(void)
{
    /* Of no stream, ENHANCE_YOUR_CALM. */
    static const char goaway[] = "\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x0b";

    return str_make(goaway, sizeof(goaway) - 1);
}
