#include "wire/log_records.h"

#include <math.h>
#include <stdlib.h>

#include "model/quantity.h"
#include "wire/field.h"
#include "wire/log_codec.h"

static int corrupt(struct err *err, const char *what)
{
    return err_set(err, -ERR_CORRUPT, "log record: %s", what);
}

uint32_t log_count_fields(struct str message, uint32_t number)
{
    struct field_cursor cursor = field_cursor_make(message);
    struct field field;
    uint32_t count = 0;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        count += field.number == number;
    }
    return count;
}

/* One entry of a protobuf map: key in field 1, value in field 2. */
struct entry {
    struct str key;
    struct field value; /* number 0: absent, which reads as zero or "" */
};

static bool read_entry(const struct field *from, struct entry *ret_entry)
{
    struct entry entry = {0};

    if (from->type != FIELD_BYTES) {
        return false;
    }
    struct field_cursor cursor = field_cursor_make(from->bytes);
    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return false;
        }
        if (field.number == 1 && field.type == FIELD_BYTES) {
            entry.key = field.bytes;
        } else if (field.number == 2) {
            entry.value = field;
        }
    }
    *ret_entry = entry;
    return true;
}

/* Queues. */

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

static int add_limit(struct queue_reader *reader, const struct entry *entry)
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
        struct entry entry;
        if (!field_read(&cursor, &field)) {
            return -ERR_CORRUPT;
        }
        if (field.number != 1 && field.number != 2) {
            continue;
        }
        if (!read_entry(&field, &entry)) {
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
    struct entry entry;
    int64_t milli;

    if (!read_entry(field, &entry)) {
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
    struct entry entry;

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
        if (!read_entry(field, &entry)) {
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
            return corrupt(err, "a queue is malformed");
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

/* Nodes. */

static int compare_labels(const void *a, const void *b)
{
    const struct label *left = a, *right = b;

    return str_compare(left->key, right->key);
}

/* Sort labels and keep each key once; the count that is left. */
static uint32_t order_labels(struct label *labels, uint32_t count)
{
    uint32_t kept = 0;

    if (count > 1) {
        qsort(labels, count, sizeof(*labels), compare_labels);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || !str_equal(labels[kept - 1].key, labels[i].key)) {
            labels[kept++] = labels[i];
        }
    }
    return kept;
}

static int read_taint(const struct field *from, struct taint *ret_taint)
{
    struct taint taint = {0};

    if (from->type != FIELD_BYTES) {
        return -ERR_CORRUPT;
    }
    struct field_cursor cursor = field_cursor_make(from->bytes);
    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return -ERR_CORRUPT;
        }
        if (field.number == 1 && field.type == FIELD_BYTES) {
            taint.key = field.bytes;
        } else if (field.number == 2 && field.type == FIELD_BYTES) {
            taint.value = field.bytes;
        } else if (field.number == 3 && field.value <= TAINT_NO_EXECUTE) {
            taint.effect = (enum taint_effect)field.value;
        }
    }
    *ret_taint = taint;
    return 0;
}

struct node_reader {
    struct node_record *record;
    struct label *labels;
    struct taint *taints;
};

static int read_amount(struct resource_list *list, const struct field *field)
{
    struct entry entry;

    return read_entry(field, &entry)
               ? resource_list_add(list, entry.key, (int64_t)entry.value.value)
               : -ERR_CORRUPT;
}

static int read_node_field(struct node_reader *reader,
                           const struct field *field)
{
    struct node_record *record = reader->record;
    struct entry entry;

    switch (field->number) {
    case 1:
        record->name = field->bytes;
        return 0;
    case 2:
        record->pool = field->bytes;
        return 0;
    case 3:
        if (!read_entry(field, &entry)) {
            return -ERR_CORRUPT;
        }
        reader->labels[record->label_count++] =
            (struct label){entry.key, entry.value.bytes};
        return 0;
    case 4:
        return read_taint(field, &reader->taints[record->taint_count++]);
    case 5:
        return read_amount(&record->total, field);
    case 6:
        return read_amount(&record->foreign, field);
    case 7:
        record->is_unschedulable = field->value != 0;
        return 0;
    case 8:
        record->node_type = field->bytes;
        return 0;
    default:
        return 0;
    }
}

/* Room for as many as the message has, or NULL for none. */
static void *make_room(struct str message, uint32_t number, size_t size,
                       struct arena *arena)
{
    uint32_t count = log_count_fields(message, number);

    return count ? arena_alloc_array(arena, count, size) : NULL;
}

static struct resource_amount *make_amounts(struct str message, uint32_t number,
                                            struct arena *arena)
{
    uint32_t count = log_count_fields(message, number);

    count = count < RESOURCE_LIST_MAX ? count : RESOURCE_LIST_MAX;
    return count
               ? arena_alloc_array(arena, count, sizeof(struct resource_amount))
               : NULL;
}

static int read_node(struct str message, struct arena *arena,
                     struct node_record *record)
{
    struct field_cursor cursor = field_cursor_make(message);
    struct node_reader reader = {
        .record = record,
        .labels = make_room(message, 3, sizeof(struct label), arena),
        .taints = make_room(message, 4, sizeof(struct taint), arena),
    };

    record->total.items = make_amounts(message, 5, arena);
    record->foreign.items = make_amounts(message, 6, arena);
    while (!field_cursor_is_done(&cursor)) {
        struct field field = {0};
        if (!field_read(&cursor, &field) ||
            read_node_field(&reader, &field) < 0) {
            return -ERR_CORRUPT;
        }
    }
    record->label_count = order_labels(reader.labels, record->label_count);
    record->labels = reader.labels;
    record->taints = reader.taints;
    return 0;
}

int log_decode_nodes(struct str encoded, struct arena *arena,
                     struct event *event, struct err *err)
{
    struct field_cursor cursor = field_cursor_make(encoded);
    struct node_record *set =
        make_room(encoded, 3, sizeof(struct node_record), arena);
    uint32_t count = 0;

    event->nodes.pending =
        (struct resource_list){make_amounts(encoded, 6, arena), 0};
    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        bool is_good = field_read(&cursor, &field);
        if (is_good && field.number == 6 &&
            read_amount(&event->nodes.pending, &field) < 0) {
            return corrupt(err, "what is pending is malformed");
        }
        if (is_good && field.number != 3) {
            continue;
        }
        if (!is_good || field.type != FIELD_BYTES ||
            read_node(field.bytes, arena, &set[count++]) < 0) {
            return corrupt(err, "a node is malformed");
        }
    }
    event->nodes.set = set;
    event->nodes.set_count = count;
    return 0;
}

void log_encode_amounts(struct strbuf *buf, uint32_t number,
                        const struct resource_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        size_t begin = field_begin(buf, number);
        field_put_set_bytes(buf, 1, list->items[i].name);
        field_put_set_i64(buf, 2, list->items[i].milli);
        field_end(buf, begin);
    }
}

static void put_labels(struct strbuf *buf, const struct node_record *node)
{
    for (uint32_t i = 0; i < node->label_count; i++) {
        size_t begin = field_begin(buf, 3);
        field_put_set_bytes(buf, 1, node->labels[i].key);
        field_put_set_bytes(buf, 2, node->labels[i].value);
        field_end(buf, begin);
    }
}

static void put_taints(struct strbuf *buf, const struct node_record *node)
{
    for (uint32_t i = 0; i < node->taint_count; i++) {
        size_t begin = field_begin(buf, 4);
        field_put_set_bytes(buf, 1, node->taints[i].key);
        field_put_set_bytes(buf, 2, node->taints[i].value);
        field_put_set_u64(buf, 3, node->taints[i].effect);
        field_end(buf, begin);
    }
}

void log_encode_node(struct strbuf *buf, const struct node_record *node)
{
    field_put_set_bytes(buf, 1, node->name);
    field_put_set_bytes(buf, 2, node->pool);
    put_labels(buf, node);
    put_taints(buf, node);
    log_encode_amounts(buf, 5, &node->total);
    log_encode_amounts(buf, 6, &node->foreign);
    field_put_set_u64(buf, 7, node->is_unschedulable);
    field_put_set_bytes(buf, 8, node->node_type);
}
