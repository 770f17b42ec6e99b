#include "wire/log/log_records.h"

#include <stdlib.h>

#include "wire/log/log_codec.h"
#include "wire/message/field.h"

int log_corrupt(struct err *err, const char *what)
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

bool log_read_entry(const struct field *from, struct log_entry *ret_entry)
{
    struct log_entry entry = {0};

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
    struct log_entry entry;

    return log_read_entry(field, &entry)
               ? resource_list_add(list, entry.key, (int64_t)entry.value.value)
               : -ERR_CORRUPT;
}

static int read_node_field(struct node_reader *reader,
                           const struct field *field)
{
    struct node_record *record = reader->record;
    struct log_entry entry;

    switch (field->number) {
    case 1:
        record->name = field->bytes;
        return 0;
    case 2:
        record->pool = field->bytes;
        return 0;
    case 3:
        if (!log_read_entry(field, &entry)) {
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
            return log_corrupt(err, "what is pending is malformed");
        }
        if (is_good && field.number != 3) {
            continue;
        }
        if (!is_good || field.type != FIELD_BYTES ||
            read_node(field.bytes, arena, &set[count++]) < 0) {
            return log_corrupt(err, "a node is malformed");
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
