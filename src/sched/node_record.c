#include "sched/node_record.h"

#include <string.h>

/* Where the parts of a copied record go. */
struct copier {
    char *at;
};

static void *take(struct copier *copier, size_t byte_count)
{
    void *place = copier->at;

    copier->at += (byte_count + 7) & ~(size_t)7;
    return place;
}

static struct str take_str(struct copier *copier, struct str s)
{
    char *copy = copier->at;

    if (s.byte_count) {
        memcpy(copy, s.p, s.byte_count);
    }
    copier->at += s.byte_count;
    return str_make(copy, s.byte_count);
}

static size_t strings_bytes(const struct node_record *record)
{
    size_t n = record->name.byte_count;

    for (uint32_t i = 0; i < record->label_count; i++) {
        n += record->labels[i].key.byte_count +
             record->labels[i].value.byte_count;
    }
    for (uint32_t i = 0; i < record->taint_count; i++) {
        n += record->taints[i].key.byte_count +
             record->taints[i].value.byte_count;
    }
    for (uint32_t i = 0; i < record->total.count; i++) {
        n += record->total.items[i].name.byte_count;
    }
    for (uint32_t i = 0; i < record->foreign.count; i++) {
        n += record->foreign.items[i].name.byte_count;
    }
    return n;
}

static void copy_amounts(struct copier *strings, struct resource_amount *items,
                         struct resource_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        items[i].name = take_str(strings, items[i].name);
    }
    list->items = items;
}

struct node_record *node_record_copy(const struct node_record *record)
{
    size_t labels_bytes = record->label_count * sizeof(struct label);
    size_t taints_bytes = record->taint_count * sizeof(struct taint);
    size_t amounts_bytes = (record->total.count + record->foreign.count) *
                           sizeof(struct resource_amount);
    struct node_record *copy =
        mem_alloc(sizeof(*copy) + labels_bytes + taints_bytes + amounts_bytes +
                  strings_bytes(record) + 32);
    struct copier copier = {(char *)copy};

    (void)take(&copier, sizeof(*copy));
    struct label *labels = take(&copier, labels_bytes);
    struct taint *taints = take(&copier, taints_bytes);
    struct resource_amount *amounts = take(&copier, amounts_bytes);
    *copy = *record;
    copy->name = take_str(&copier, record->name);
    copy->pool = copy->node_type = str_make(NULL, 0);
    for (uint32_t i = 0; i < record->label_count; i++) {
        labels[i].key = take_str(&copier, record->labels[i].key);
        labels[i].value = take_str(&copier, record->labels[i].value);
    }
    for (uint32_t i = 0; i < record->taint_count; i++) {
        taints[i].key = take_str(&copier, record->taints[i].key);
        taints[i].value = take_str(&copier, record->taints[i].value);
        taints[i].effect = record->taints[i].effect;
    }
    copy->labels = labels;
    copy->taints = taints;
    copy_amounts(&copier, amounts, &copy->total);
    copy_amounts(&copier, amounts + record->total.count, &copy->foreign);
    return copy;
}
