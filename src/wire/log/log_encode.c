#include "wire/log/log_codec.h"
#include "wire/log/log_layout.h"
#include "wire/log/log_records.h"
#include "wire/message/field.h"

enum { CREATED_FIELD = 18, SUBMIT_FIELD = 1, DIGEST_FIELD = 1000 };

/* What most lengths take: an event has some hundred bytes, and a sequence of
 * more than 16 KiB is not moved, which is what costs. */
enum { EVENT_LENGTH_BYTES = 2, SEQUENCE_LENGTH_BYTES = 3 };

static void put_layout(struct strbuf *buf, const struct layout *layout,
                       const struct event *event);

/* A message, left out when nothing in it is set, unless `is_kept`. */
static void put_message(struct strbuf *buf, const struct slot *slot,
                        const struct event *event, bool is_kept)
{
    size_t before = buf->byte_count;
    size_t begin = field_begin(buf, slot->number);

    put_layout(buf, slot->inner, event);
    if (is_kept || buf->byte_count > begin) {
        field_end(buf, begin);
    } else if (!buf->is_over) {
        buf->byte_count = before;
        buf->bytes[before] = '\0';
    }
}

static void put_list(struct strbuf *buf, const struct slot *slot,
                     const struct event *event)
{
    const struct str *const *items = slot_member_const(event, slot);
    const uint32_t *count =
        (const uint32_t *)(const void *)((const char *)event + slot->other);

    for (uint32_t i = 0; i < *count; i++) {
        field_put_bytes(buf, slot->number, (*items)[i]);
    }
}

/* States as a packed list of enum values, ascending. */
static void put_states(struct strbuf *buf, const struct slot *slot,
                       enum state_set states)
{
    char packed[4];
    size_t count = 0;
    bool is_api = slot->kind == SLOT_API_STATES;

    if (!is_api && states == STATE_SET_ALL) {
        return; /* no filter */
    }
    if (states & STATE_SET_QUEUED) {
        packed[count++] = 0;
    }
    if (states &
        (is_api ? STATE_SET_PENDING : STATE_SET_PENDING | STATE_SET_LEASED)) {
        packed[count++] = 1;
    }
    if (states & STATE_SET_RUNNING) {
        packed[count++] = 2;
    }
    if (is_api && states & STATE_SET_LEASED) {
        packed[count++] = 7;
    }
    field_put_set_bytes(buf, slot->number, str_make(packed, count));
}

static void put_job(struct strbuf *buf, uint32_t number, struct job_id id)
{
    char text[ID_TEXT_BYTES_MAX];

    if (!key128_is_none(id.v)) {
        field_put_bytes(buf, number,
                        str_make(job_id_format(id, text), JOB_ID_TEXT_BYTES));
    }
}

static void put_run(struct strbuf *buf, uint32_t number, struct run_id id)
{
    char text[ID_TEXT_BYTES_MAX];

    if (!key128_is_none(id.v)) {
        field_put_bytes(buf, number,
                        str_make(run_id_format(id, text), RUN_ID_TEXT_BYTES));
    }
}

static void put_slot(struct strbuf *buf, const struct slot *slot,
                     const struct event *event)
{
    const void *member = slot_member_const(event, slot);

    switch ((enum slot_kind)slot->kind) {
    case SLOT_STR:
        field_put_set_bytes(buf, slot->number, *(const struct str *)member);
        break;
    case SLOT_U32:
        field_put_set_u64(buf, slot->number, *(const uint32_t *)member);
        break;
    case SLOT_I32:
    case SLOT_ENUM:
        field_put_set_i64(buf, slot->number, *(const int32_t *)member);
        break;
    case SLOT_I64:
        field_put_set_i64(buf, slot->number, *(const int64_t *)member);
        break;
    case SLOT_BOOL:
        field_put_set_u64(buf, slot->number, *(const bool *)member);
        break;
    case SLOT_TRUE:
        field_put_u64(buf, slot->number, 1);
        break;
    case SLOT_JOB:
    case SLOT_JOB_MAYBE:
        put_job(buf, slot->number, *(const struct job_id *)member);
        break;
    case SLOT_RUN:
        put_run(buf, slot->number, *(const struct run_id *)member);
        break;
    case SLOT_LIST:
        put_list(buf, slot, event);
        break;
    case SLOT_SET_STATES:
    case SLOT_API_STATES:
        put_states(buf, slot, *(const enum state_set *)member);
        break;
    case SLOT_MESSAGE:
        put_message(buf, slot, event, false);
        break;
    case SLOT_CHOICE:
        if (*(const int32_t *)member == slot->number) {
            put_message(buf, slot, event, true);
        }
        break;
    case SLOT_WHOLE:
        break;
    }
}

static void put_layout(struct strbuf *buf, const struct layout *layout,
                       const struct event *event)
{
    if (layout->slot_count && layout->slots[0].kind == SLOT_WHOLE) {
        const struct str *whole = slot_member_const(event, &layout->slots[0]);
        if (whole->byte_count) {
            strbuf_add_str(buf, *whole);
            return;
        }
    }
    for (uint32_t i = 0; i < layout->slot_count; i++) {
        put_slot(buf, &layout->slots[i], event);
    }
}

static void put_nodes(struct strbuf *buf, const struct event *event)
{
    for (uint32_t i = 0; i < event->nodes.set_count; i++) {
        size_t begin = field_begin(buf, 3);
        log_encode_node(buf, &event->nodes.set[i]);
        field_end(buf, begin);
    }
    log_encode_amounts(buf, 6, &event->nodes.pending);
}

static void put_created(struct strbuf *buf, int64_t created_ms)
{
    int64_t seconds = created_ms / 1000, rest_ms = created_ms % 1000;

    if (rest_ms < 0) { /* a timestamp's nanos are never negative */
        rest_ms += 1000;
        seconds--;
    }
    size_t begin = field_begin(buf, CREATED_FIELD);
    field_put_set_i64(buf, 1, seconds);
    field_put_set_i64(buf, 2, rest_ms * 1000000);
    field_end(buf, begin);
}

void log_encode_event(struct strbuf *buf, const struct event *event)
{
    const struct layout *layout = layout_of(event->type);

    ASSERT(layout);
    put_created(buf, event->created_ms);
    size_t begin = field_begin_wide(buf, event->type, EVENT_LENGTH_BYTES);
    put_layout(buf, layout, event);
    if (event->type == EVENT_EXECUTOR_NODES) {
        put_nodes(buf, event);
    }
    field_end_wide(buf, begin, EVENT_LENGTH_BYTES);
}

void log_put_submit(struct strbuf *buf, int64_t created_ms,
                    struct str submit_job, struct str digest)
{
    put_created(buf, created_ms);
    size_t begin = field_begin_wide(buf, SUBMIT_FIELD, EVENT_LENGTH_BYTES);
    strbuf_add_str(buf, submit_job);
    field_put_bytes(buf, DIGEST_FIELD, digest);
    field_end_wide(buf, begin, EVENT_LENGTH_BYTES);
}

void log_batch_fini(struct log_batch *batch)
{
    strbuf_fini(&batch->buf);
    strbuf_fini(&batch->scope);
    strbuf_fini(&batch->scratch);
    batch->sequence_begin = 0;
    batch->event_count = 0;
}

void log_batch_clear(struct log_batch *batch)
{
    strbuf_clear(&batch->buf);
    strbuf_clear(&batch->scope);
    batch->sequence_begin = 0;
    batch->event_count = 0;
}

static void end_sequence(struct log_batch *batch)
{
    if (batch->sequence_begin) {
        field_end_wide(&batch->buf, batch->sequence_begin,
                       SEQUENCE_LENGTH_BYTES);
        batch->sequence_begin = 0;
    }
}

/* See to it that the open sequence has this scope. */
static void open_sequence(struct log_batch *batch,
                          const struct event_scope *scope)
{
    struct strbuf *next = &batch->scratch;

    strbuf_clear(next);
    field_put_set_bytes(next, 1, scope->queue);
    field_put_set_bytes(next, 2, scope->job_set);
    field_put_set_bytes(next, 3, scope->user);
    if (batch->sequence_begin &&
        str_equal(strbuf_str(next), strbuf_str(&batch->scope))) {
        return;
    }
    end_sequence(batch);
    batch->sequence_begin =
        field_begin_wide(&batch->buf, 1, SEQUENCE_LENGTH_BYTES);
    strbuf_add_str(&batch->buf, strbuf_str(next));
    struct strbuf old = batch->scope;
    batch->scope = batch->scratch;
    batch->scratch = old;
}

void log_batch_add(struct log_batch *batch, const struct event_scope *scope,
                   const struct event *event)
{
    open_sequence(batch, scope);
    size_t begin = field_begin_wide(&batch->buf, 5, EVENT_LENGTH_BYTES);
    log_encode_event(&batch->buf, event);
    field_end_wide(&batch->buf, begin, EVENT_LENGTH_BYTES);
    batch->event_count++;
}

void log_batch_add_encoded(struct log_batch *batch,
                           const struct event_scope *scope, struct str encoded)
{
    open_sequence(batch, scope);
    field_put_bytes(&batch->buf, 5, encoded);
    batch->event_count++;
}

void log_batch_add_sequence(struct log_batch *batch, struct str sequence,
                            uint32_t event_count)
{
    end_sequence(batch);
    field_put_bytes(&batch->buf, 1, sequence);
    batch->event_count += event_count;
}

struct str log_batch_finish(struct log_batch *batch)
{
    end_sequence(batch);
    return strbuf_str(&batch->buf);
}
