#include "api/events/event_buffer.h"

#include "api/core/view.h"
#include "api/events/event_convert.h"
#include "wire/log/log_codec.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

enum {
    STREAM_MESSAGE_ID = 1,
    STREAM_MESSAGE_MESSAGE = 2,
    LENGTH_BYTES = 4, /* before each message of the buffer */
    STOP = 1,         /* a walk ends early: the buffer is full */
};

/* One record on its way into the buffer. */
struct filling {
    struct event_buffer *buffer;
    const struct event_scope *of;
    struct arena arena; /* of one fact's conversion */
    struct err *err;
    int64_t time_ms;
    uint64_t seq;
    uint32_t count;            /* events of the job set so far */
    uint32_t skip_count;       /* that were shown before */
    uint32_t item_count;       /* facts of the job set so far */
    uint32_t item_skip_count;  /* that were shown before */
    uint32_t item_event_count; /* `count` before the present one */
    struct strbuf held; /* the last one, until it is known to be the last */
    bool has_held;
};

/* Append the held event to the buffer. */
static void release(struct filling *filling, bool is_last)
{
    struct event_id id = {filling->time_ms, filling->seq, filling->count - 1,
                          is_last};
    struct strbuf *out = &filling->buffer->out;
    char text[EVENT_ID_TEXT_BYTES_MAX];
    size_t begin = out->byte_count;

    strbuf_add(out, "\0\0\0\0", LENGTH_BYTES);
    field_put_bytes(out, STREAM_MESSAGE_ID, str_of(event_id_format(&id, text)));
    field_put_bytes(out, STREAM_MESSAGE_MESSAGE, strbuf_str(&filling->held));
    uint32_t byte_count = (uint32_t)(out->byte_count - begin - LENGTH_BYTES);
    memcpy(out->bytes + begin, &byte_count, LENGTH_BYTES);
    filling->has_held = false;
}

/* Whether this fact shows a job of which the reader may not see all. */
static bool is_redacted(const struct filling *filling,
                        const Api__EventMessage *message)
{
    const struct event_buffer *buffer = filling->buffer;

    return buffer->is_redacted &&
           message->events_case == API__EVENT_MESSAGE__EVENTS_SUBMITTED &&
           message->submitted->job &&
           (buffer->viewer.byte_count == 0 ||
            !str_equal(str_of(message->submitted->job->owner), buffer->viewer));
}

/* Takes one event of the job set. */
static int take_event(void *ctx, const Api__EventMessage *message)
{
    struct filling *filling = ctx;

    if (filling->has_held) {
        release(filling, false);
        if (filling->buffer->out.byte_count >= EVENT_BUFFER_BYTES_MAX) {
            return STOP;
        }
    }
    if (filling->count++ < filling->skip_count) {
        return 0;
    }
    if (is_redacted(filling, message)) {
        view_redact(message->submitted->job->pod_spec);
    }
    strbuf_clear(&filling->held);
    wire_encode(&message->base, &filling->held);
    filling->has_held = true;
    return 0;
}

/* Takes one fact of the job set. */
static int take_item(const struct event_scope *scope, struct str encoded,
                     void *ctx)
{
    struct filling *filling = ctx;

    if (filling->item_count++ < filling->item_skip_count) {
        return 0;
    }
    filling->item_event_count = filling->count;
    arena_reset(&filling->arena);
    int rc = event_convert(encoded, scope, &filling->arena, take_event, filling,
                           filling->err);
    /* What does not convert is passed over: it would end the stream of
     * everybody else for ever. */
    return rc == -ERR_CORRUPT ? 0 : rc;
}

static void record_is_done(struct event_buffer *buffer, uint64_t seq)
{
    buffer->done_seq = seq;
    buffer->part_seq = 0;
    buffer->done_item_count = buffer->done_item_event_count = 0;
}

/* Takes the record. */
static int take_record(void *ctx, const struct elog_record *record)
{
    struct filling *filling = ctx;
    struct event_buffer *buffer = filling->buffer;

    filling->seq = record->seq;
    filling->time_ms = record->time_ms;
    if (record->seq == buffer->part_seq) {
        filling->skip_count = buffer->done_count;
        filling->item_skip_count = buffer->done_item_count;
        filling->count = buffer->done_item_event_count;
    }
    int rc = log_walk_job_set(record->payload, filling->of->queue,
                              filling->of->job_set, take_item, filling,
                              filling->err);
    if (rc < 0) {
        return rc;
    }
    if (rc == STOP) {
        buffer->part_seq = record->seq;
        buffer->done_count = filling->count;
        buffer->done_item_count = filling->item_count - 1;
        buffer->done_item_event_count = filling->item_event_count;
        return 1;
    }
    if (filling->has_held) {
        release(filling, true);
    }
    record_is_done(buffer, record->seq);
    return 1;
}

int event_buffer_fill(struct event_buffer *buffer, struct elog_reader *log,
                      const struct event_scope *of, uint64_t seq,
                      struct err *err)
{
    struct filling filling = {.buffer = buffer, .of = of, .err = err};
    struct elog_range range = {.from_seq = seq, .record_count_max = 1};
    int rc = elog_read(log, &range, take_record, &filling, err);

    arena_fini(&filling.arena);
    strbuf_fini(&filling.held);
    if (rc == -ERR_NOT_FOUND) {
        /* Trimmed away: what it said is beyond retention. */
        record_is_done(buffer, seq);
        rc = 0;
    }
    return rc < 0 ? rc : 0;
}

void event_buffer_begin(struct event_buffer *buffer,
                        const struct event_id *from)
{
    if (from->is_last) {
        buffer->done_seq = from->seq;
    } else {
        buffer->done_seq = from->seq ? from->seq - 1 : 0;
        buffer->part_seq = from->seq;
        buffer->done_count = from->index + 1;
    }
}

bool event_buffer_has_more(const struct event_buffer *buffer)
{
    return buffer->out_at < buffer->out.byte_count;
}

struct str event_buffer_next(struct event_buffer *buffer)
{
    const char *at = buffer->out.bytes + buffer->out_at;
    uint32_t byte_count;

    ASSERT(event_buffer_has_more(buffer));
    memcpy(&byte_count, at, LENGTH_BYTES);
    buffer->out_at += LENGTH_BYTES + byte_count;
    return str_make(at + LENGTH_BYTES, byte_count);
}

void event_buffer_clear(struct event_buffer *buffer)
{
    strbuf_clear(&buffer->out);
    buffer->out_at = 0;
}

void event_buffer_fini(struct event_buffer *buffer)
{
    strbuf_fini(&buffer->out);
    buffer->out_at = 0;
}
