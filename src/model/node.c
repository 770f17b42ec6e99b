#include "model/node.h"

#include <string.h>

/* Where the parts of a copy go: arrays first, then texts. */
struct copier {
    char *at;
};

static void *take_array(struct copier *copier, size_t byte_count)
{
    void *array = copier->at;

    copier->at += byte_count;
    return array;
}

static struct str take_text(struct copier *copier, struct str text)
{
    char *copy = copier->at;

    if (text.byte_count) {
        memcpy(copy, text.p, text.byte_count);
    }
    copier->at += text.byte_count;
    return str_make(copy, text.byte_count);
}

static size_t array_bytes(const struct node_record *record)
{
    return record->label_count * sizeof(struct label) +
           record->taint_count * sizeof(struct taint) +
           ((size_t)record->total.count + record->foreign.count) *
               sizeof(struct resource_amount);
}

static size_t name_bytes(const struct resource_list *list)
{
    size_t n = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        n += list->items[i].name.byte_count;
    }
    return n;
}

size_t node_record_bytes(const struct node_record *record)
{
    size_t n = array_bytes(record) + record->name.byte_count +
               record->pool.byte_count + record->node_type.byte_count +
               name_bytes(&record->total) + name_bytes(&record->foreign);

    for (uint32_t i = 0; i < record->label_count; i++) {
        n += record->labels[i].key.byte_count +
             record->labels[i].value.byte_count;
    }
    for (uint32_t i = 0; i < record->taint_count; i++) {
        n += record->taints[i].key.byte_count +
             record->taints[i].value.byte_count;
    }
    return n;
}

static void copy_amounts(struct copier *copier, struct resource_amount *items,
                         struct resource_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        items[i].name = take_text(copier, items[i].name);
    }
    list->items = items;
}

void node_record_copy(const struct node_record *record, void *memory,
                      struct node_record *ret_record)
{
    struct copier copier = {memory};
    struct node_record copy = *record;
    struct label *labels =
        take_array(&copier, record->label_count * sizeof(*labels));
    struct taint *taints =
        take_array(&copier, record->taint_count * sizeof(*taints));
    struct resource_amount *total =
        take_array(&copier, record->total.count * sizeof(*total));
    struct resource_amount *foreign =
        take_array(&copier, record->foreign.count * sizeof(*foreign));

    copy.name = take_text(&copier, record->name);
    copy.pool = take_text(&copier, record->pool);
    copy.node_type = take_text(&copier, record->node_type);
    for (uint32_t i = 0; i < record->label_count; i++) {
        labels[i].key = take_text(&copier, record->labels[i].key);
        labels[i].value = take_text(&copier, record->labels[i].value);
    }
    for (uint32_t i = 0; i < record->taint_count; i++) {
        taints[i] = record->taints[i];
        taints[i].key = take_text(&copier, record->taints[i].key);
        taints[i].value = take_text(&copier, record->taints[i].value);
    }
    copy.labels = labels;
    copy.taints = taints;
    copy_amounts(&copier, total, &copy.total);
    copy_amounts(&copier, foreign, &copy.foreign);
    *ret_record = copy;
}

static bool are_labels_equal(const struct node_record *a,
                             const struct node_record *b)
{
    bool is_equal = a->label_count == b->label_count;

    for (uint32_t i = 0; is_equal && i < a->label_count; i++) {
        is_equal = str_equal(a->labels[i].key, b->labels[i].key) &&
                   str_equal(a->labels[i].value, b->labels[i].value);
    }
    return is_equal;
}

static bool are_taints_equal(const struct node_record *a,
                             const struct node_record *b)
{
    bool is_equal = a->taint_count == b->taint_count;

    for (uint32_t i = 0; is_equal && i < a->taint_count; i++) {
        is_equal = str_equal(a->taints[i].key, b->taints[i].key) &&
                   str_equal(a->taints[i].value, b->taints[i].value) &&
                   a->taints[i].effect == b->taints[i].effect;
    }
    return is_equal;
}

static bool are_amounts_equal(const struct resource_list *a,
                              const struct resource_list *b)
{
    bool is_equal = a->count == b->count;

    for (uint32_t i = 0; is_equal && i < a->count; i++) {
        is_equal = str_equal(a->items[i].name, b->items[i].name) &&
                   a->items[i].milli == b->items[i].milli;
    }
    return is_equal;
}

bool node_record_equal(const struct node_record *a, const struct node_record *b)
{
    return str_equal(a->name, b->name) && str_equal(a->pool, b->pool) &&
           str_equal(a->node_type, b->node_type) &&
           a->is_unschedulable == b->is_unschedulable &&
           a->closes_ms == b->closes_ms &&
           a->endless_closes_ms == b->endless_closes_ms &&
           are_labels_equal(a, b) && are_taints_equal(a, b) &&
           are_amounts_equal(&a->total, &b->total) &&
           are_amounts_equal(&a->foreign, &b->foreign);
}
