/* Decodes one event of a record by the tables of log_layout. */
#include "wire/kube/pool_codec.h"
#include "wire/kube/window_codec.h"
#include "wire/log/log_codec.h"
#include "wire/log/log_layout.h"
#include "wire/log/log_records.h"
#include "wire/message/field.h"

enum { CREATED_FIELD = 18, SLOTS_MAX = 32 };

/* A clock may say anything; what is beyond the year 9999 is cut to it. */
#define TIME_S_MAX INT64_C(253402300799)

/* A name more in an array that is made at its first. */
static int add_to_list(struct event *event, const struct slot *slot,
                       struct str message, struct str name, struct arena *arena)
{
    const struct str **items = slot_member(event, slot);
    uint32_t *count = (uint32_t *)(void *)((char *)event + slot->other);

    if (!*items) {
        uint32_t total = log_count_fields(message, slot->number);
        if (total > LOG_LIST_ITEMS_MAX) {
            return -ERR_CORRUPT;
        }
        *items = arena_alloc_array(arena, total, sizeof(**items));
    }
    /* The array is our own, fresh from the arena. */
    ((struct str *)(uintptr_t)*items)[(*count)++] = name;
    return 0;
}

static unsigned set_state_bits(uint64_t state)
{
    return state == 0   ? STATE_SET_QUEUED
           : state == 1 ? STATE_SET_LEASED | STATE_SET_PENDING
           : state == 2 ? STATE_SET_RUNNING
                        : 0;
}

static unsigned api_state_bits(uint64_t state)
{
    return state == 0   ? STATE_SET_QUEUED
           : state == 1 ? STATE_SET_PENDING
           : state == 2 ? STATE_SET_RUNNING
           : state == 7 ? STATE_SET_LEASED
                        : 0;
}

/* Add the states of a field, packed or not, to the member. */
static int add_states(enum state_set *states, const struct slot *slot,
                      const struct field *field)
{
    unsigned (*bits_of)(uint64_t) =
        slot->kind == SLOT_SET_STATES ? set_state_bits : api_state_bits;

    if (field->type == FIELD_VARINT) {
        *states |= bits_of(field->value);
        return 0;
    }
    struct field_cursor cursor = field_cursor_make(field->bytes);
    while (!field_cursor_is_done(&cursor)) {
        uint64_t state;
        if (!field_read_varint(&cursor, &state)) {
            return -ERR_CORRUPT;
        }
        *states |= bits_of(state);
    }
    return 0;
}

static void read_number(void *member, const struct slot *slot, uint64_t value)
{
    enum slot_kind kind = slot->kind;

    if (kind == SLOT_ENUM) {
        *(int32_t *)member = value <= slot->other ? (int32_t)value : 0;
    } else if (kind == SLOT_I64) {
        *(int64_t *)member = (int64_t)value;
    } else if (kind == SLOT_BOOL) {
        *(bool *)member = value != 0;
    } else if (kind == SLOT_U32) {
        *(uint32_t *)member = (uint32_t)value;
    } else {
        *(int32_t *)member = (int32_t)(uint32_t)value;
    }
}

/* A text that does not read as an id leaves none. */
static void read_text(void *member, enum slot_kind kind, struct str text)
{
    if (kind == SLOT_STR) {
        *(struct str *)member = text;
    } else if (kind == SLOT_RUN) {
        (void)!run_id_parse(text, (struct run_id *)member);
    } else {
        (void)!job_id_parse(text, (struct job_id *)member);
    }
}

static int read_layout(const struct layout *layout, struct str message,
                       struct arena *arena, struct event *event);

static int read_slot(const struct slot *slot, const struct field *field,
                     struct str message, struct arena *arena,
                     struct event *event)
{
    bool is_bytes = field->type == FIELD_BYTES;
    void *member = slot_member(event, slot);

    switch ((enum slot_kind)slot->kind) {
    case SLOT_U32:
    case SLOT_I32:
    case SLOT_ENUM:
    case SLOT_I64:
    case SLOT_BOOL:
        if (is_bytes) {
            return -ERR_CORRUPT;
        }
        read_number(member, slot, field->value);
        return 0;
    case SLOT_STR:
    case SLOT_JOB:
    case SLOT_RUN:
    case SLOT_JOB_MAYBE:
        if (!is_bytes) {
            return -ERR_CORRUPT;
        }
        read_text(member, slot->kind, field->bytes);
        return 0;
    case SLOT_LIST:
        return is_bytes ? add_to_list(event, slot, message, field->bytes, arena)
                        : -ERR_CORRUPT;
    case SLOT_SET_STATES:
    case SLOT_API_STATES:
        return add_states(member, slot, field);
    case SLOT_CHOICE:
        *(int32_t *)member = slot->number;
        return is_bytes ? read_layout(slot->inner, field->bytes, arena, event)
                        : -ERR_CORRUPT;
    case SLOT_MESSAGE:
        return is_bytes ? read_layout(slot->inner, field->bytes, arena, event)
                        : -ERR_CORRUPT;
    case SLOT_TRUE:
    case SLOT_WHOLE:
        return 0;
    }
    return 0;
}

static int read_layout(const struct layout *layout, struct str message,
                       struct arena *arena, struct event *event)
{
    struct field_cursor cursor = field_cursor_make(message);
    const struct slot *slots = layout->slots;
    uint32_t seen = 0;

    ASSERT(layout->slot_count <= SLOTS_MAX);
    if (layout->slot_count && slots[0].kind == SLOT_WHOLE) {
        *(struct str *)slot_member(event, &slots[0]) = message;
    }
    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        uint32_t i = 0;

        if (!field_read(&cursor, &field)) {
            return -ERR_CORRUPT;
        }
        while (i < layout->slot_count && slots[i].number != field.number) {
            i++;
        }
        bool is_repeat = i < layout->slot_count && (seen >> i & 1);
        if (i == layout->slot_count ||
            (is_repeat && slots[i].kind == SLOT_MESSAGE)) {
            continue; /* unknown, or not the first of many */
        }
        seen |= 1u << i;
        int rc = read_slot(&slots[i], &field, message, arena, event);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* What a table cannot say, once the table has been followed. */
static int complete(struct event *event, struct str body, struct arena *arena,
                    struct err *err)
{
    if (event->type == EVENT_CANCEL_SET && event->cancel.states == 0) {
        event->cancel.states = STATE_SET_ALL;
    } else if (event->type == EVENT_QUEUE_SET) {
        return log_decode_queue(body, arena, &event->queue.record, err);
    } else if (event->type == EVENT_EXECUTOR_NODES) {
        return log_decode_nodes(body, arena, event, err);
    } else if (event->type == EVENT_POOL_SET) {
        return pool_decode(event->pool.encoded, arena, &event->pool.record,
                           err);
    } else if (event->type == EVENT_WINDOW_SET) {
        return window_decode(event->window.encoded, arena,
                             &event->window.record, err);
    }
    return 0;
}

/* Whether the event has the ids without which it means nothing. */
static bool has_ids(const struct event *event, const struct layout *layout)
{
    for (uint32_t i = 0; i < layout->slot_count; i++) {
        if ((layout->slots[i].kind == SLOT_JOB &&
             key128_is_none(event->job.v)) ||
            (layout->slots[i].kind == SLOT_RUN &&
             key128_is_none(event->run.v))) {
            return false;
        }
    }
    return true;
}

static int read_body(uint32_t number, struct str body, struct arena *arena,
                     struct event *event, struct err *err)
{
    const struct layout *layout = layout_of(number);

    *event = (struct event){0};
    if (!layout) {
        return 0; /* of a newer release, or nothing that we use */
    }
    event->type = (enum event_type)number;
    if (read_layout(layout, body, arena, event) < 0) {
        return log_corrupt(err, "an event is malformed");
    }
    if (!has_ids(event, layout)) {
        *event = (struct event){0};
        return 0;
    }
    return complete(event, body, arena, err);
}

static int read_created(struct str timestamp, int64_t *ret_ms)
{
    struct field_cursor cursor = field_cursor_make(timestamp);
    int64_t seconds = 0, nanos = 0;

    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return -ERR_CORRUPT;
        }
        if (field.number == 1) {
            seconds = (int64_t)field.value;
        } else if (field.number == 2) {
            nanos = (int32_t)field.value;
        }
    }
    seconds = seconds > TIME_S_MAX    ? TIME_S_MAX
              : seconds < -TIME_S_MAX ? -TIME_S_MAX
                                      : seconds;
    *ret_ms = seconds * 1000 + nanos / 1000000;
    return 0;
}

int log_decode_event(struct str encoded, struct arena *arena,
                     struct event *ret_event, struct err *err)
{
    struct field_cursor cursor = field_cursor_make(encoded);
    int64_t created_ms = 0;
    bool has_body = false;
    int rc = 0;

    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return log_corrupt(err, "an event is malformed");
        }
        if (field.type != FIELD_BYTES) {
            continue;
        }
        if (field.number != CREATED_FIELD) {
            has_body = true;
            rc = read_body(field.number, field.bytes, arena, ret_event, err);
        } else if (read_created(field.bytes, &created_ms) < 0) {
            rc = log_corrupt(err, "a time is malformed");
        }
    }
    if (!has_body) {
        *ret_event = (struct event){0};
    }
    ret_event->created_ms = created_ms;
    return rc;
}
