/* Queues with their limits, in the log. */
#include <math.h>

#include "model/quantity.h"
#include "wire/log/log_codec.h"
#include "wire/log/log_records.h"
#include "wire/message/field.h"

struct queue_reader {
    struct arena *arena;
    struct queue_limit *limits;
    uint32_t limit_count;
    struct str priority_class; /* where the walk stands */
    struct str pool;
};

/* A double, times `scale`, as a whole number within 0..10^15. */
static int64_t scaled(uint64_t bits, double scale)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    value *= scale;
    return !(value > 0) ? 0 : value > 1e15 ? (int64_t)1e15 : llround(value);
}

static int add_limit(struct queue_reader *reader, const struct log_entry *entry)
{
    if (reader->limit_count == QUEUE_LIMITS_MAX) {
        return -ERR_LIMIT;
    }
    if (!reader->limits) {
        reader->limits = arena_alloc_array(reader->arena, QUEUE_LIMITS_MAX,
                                           sizeof(*reader->limits));
    }
    reader->limits[reader->limit_count++] = (struct queue_limit){
        .priority_class = reader->priority_class,
        .pool = reader->pool,
        .resource = entry->key,
        .fraction_ppm = scaled(entry->value.value, FRACTION_ONE_PPM),
    };
    return 0;
}

/* PriorityClassResourceLimits, or PriorityClassPoolResourceLimits, which has
 * the same field 1 and no field 2. */
static int read_limits(struct queue_reader *reader, struct str message)
{
    struct field_cursor cursor = field_cursor_make(message);
    int rc = 0;

    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct field field;
        struct log_entry entry;
        if (!field_read(&cursor, &field)) {
            return -ERR_CORRUPT;
        }
        if (field.number != 1 && field.number != 2) {
            continue;
        }
        if (!log_read_entry(&field, &entry)) {
            return -ERR_CORRUPT;
        }
        if (field.number == 1) {
            rc = add_limit(reader, &entry);
        } else if (reader->pool.byte_count == 0 && entry.key.byte_count) {
            reader->pool = entry.key;
            rc = read_limits(reader, entry.value.bytes);
            reader->pool = STR("");
        }
    }
    return rc;
}

/* google.protobuf.DoubleValue as thousandths or millionths; negative: no
 * limit. */
static int64_t read_limit_value(struct str message, double scale)
{
    struct field_cursor cursor = field_cursor_make(message);
    struct field field;
    double value = 0;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == 1 && field.type == FIELD_FIXED64) {
            memcpy(&value, &field.value, sizeof(value));
        }
    }
    if (value < 0) {
        return INT64_MAX;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return scaled(bits, scale);
}

enum queue_ordering log_queue_ordering(struct str word)
{
    static const char *const words[] = {"priority", "fifo", "fair",
                                        "stateaware", "cfs"};

    for (unsigned i = 0; i < ARRAY_COUNT(words); i++) {
        if (str_equal(word, str_of(words[i]))) {
            return (enum queue_ordering)i;
        }
    }
    return word.byte_count ? QUEUE_ORDERINGS : QUEUE_BY_PRIORITY;
}

/* An entry of the quota; the last of a name counts.  What is not a quantity
 * was refused before it was logged. */
static int read_quota(const struct field *field, struct arena *arena,
                      struct resource_list *quota)
{
    struct log_entry entry;
    int64_t milli;

    if (!log_read_entry(field, &entry)) {
        return -ERR_CORRUPT;
    }
    if (entry.key.byte_count == 0 ||
        quantity_parse(entry.value.bytes, &milli) < 0 || milli < 0) {
        return 0;
    }
    if (!quota->items) {
        quota->items =
            arena_alloc_array(arena, RESOURCE_LIST_MAX, sizeof(*quota->items));
    }
    for (uint32_t i = 0; i < quota->count; i++) {
        if (str_equal(quota->items[i].name, entry.key)) {
            quota->items[i].milli = milli;
            return 0;
        }
    }
    return resource_list_add(quota, entry.key, milli);
}

/* QueueScheduling; what it does not know it passes over. */
static int read_scheduling(struct str message, struct arena *arena,
                           struct queue_record *record)
{
    struct field_cursor cursor = field_cursor_make(message);
    struct field field;

    while (!field_cursor_is_done(&cursor)) {
        if (!field_read(&cursor, &field)) {
            return -ERR_CORRUPT;
        }
        if (field.number == 1 && field.type == FIELD_BYTES) {
            enum queue_ordering ordering = log_queue_ordering(field.bytes);
            record->ordering =
                ordering < QUEUE_ORDERINGS ? ordering : QUEUE_BY_PRIORITY;
        } else if (field.number == 2 && field.type == FIELD_VARINT) {
            record->is_class_priority_ignored = field.value != 0;
        } else if (field.number == 3 && field.type == FIELD_VARINT) {
            record->allows_stateaware_off = field.value != 0;
        } else if (field.number == 4 && field.type == FIELD_VARINT) {
            record->running_apps_max = (uint32_t)field.value;
        } else if (field.number == 5 && field.type == FIELD_BYTES) {
            record->over_share_ppm =
                read_limit_value(field.bytes, FRACTION_ONE_PPM);
        } else if (field.number == 6 && field.type == FIELD_BYTES) {
            record->excess_budget_milli = read_limit_value(field.bytes, 1000);
        } else if (field.number == 7 && field.type == FIELD_BYTES) {
            int rc = read_quota(&field, arena, &record->quota);
            if (rc < 0) {
                return rc;
            }
        }
    }
    return 0;
}

enum { QUEUE_SCHEDULING = 1000 };

static int read_queue_field(struct queue_reader *reader,
                            const struct field *field,
                            struct queue_record *record)
{
    struct log_entry entry;

    if (field->number == 1 && field->type == FIELD_BYTES) {
        record->name = field->bytes;
    } else if (field->number == 2 && field->type == FIELD_FIXED64) {
        record->priority_factor_micro =
            scaled(field->value, PRIORITY_FACTOR_ONE_MICRO);
    } else if (field->number == 8 && field->type == FIELD_VARINT) {
        record->is_cordoned = field->value != 0;
    } else if (field->number == QUEUE_SCHEDULING &&
               field->type == FIELD_BYTES) {
        return read_scheduling(field->bytes, reader->arena, record);
    } else if (field->number == 7) {
        if (!log_read_entry(field, &entry)) {
            return -ERR_CORRUPT;
        }
        reader->priority_class = entry.key;
        return read_limits(reader, entry.value.bytes);
    }
    return 0;
}

int log_decode_queue(struct str encoded, struct arena *arena,
                     struct queue_record *ret_record, struct err *err)
{
    struct queue_reader reader = {.arena = arena};
    struct field_cursor cursor = field_cursor_make(encoded);
    struct queue_record record = {
        .over_share_ppm = QUEUE_LIMIT_BY_POOL,
        .excess_budget_milli = QUEUE_LIMIT_BY_POOL,
    };

    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        int rc = field_read(&cursor, &field)
                     ? read_queue_field(&reader, &field, &record)
                     : -ERR_CORRUPT;
        if (rc == -ERR_LIMIT) {
            return err_set(err, rc, "queue: more than %d resource limits",
                           QUEUE_LIMITS_MAX);
        }
        if (rc < 0) {
            return log_corrupt(err, "a queue is malformed");
        }
    }
    if (record.priority_factor_micro < PRIORITY_FACTOR_ONE_MICRO) {
        record.priority_factor_micro = PRIORITY_FACTOR_ONE_MICRO;
    }
    record.limits = reader.limits;
    record.limit_count = reader.limit_count;
    *ret_record = record;
    return 0;
}
