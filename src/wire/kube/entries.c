#include "wire/kube/entries.h"

#include <stdlib.h>

#include "k8s/resource.pb-c.h"
#include "model/quantity.h"
#include "wire/kube/kube_name.h"
#include "wire/message/message.h"

typedef K8s__Io__Apimachinery__Pkg__Api__Resource__Quantity quantity_message;

/* What every entry with a text key and a pointer value looks like. */
struct text_entry {
    ProtobufCMessage base;
    char *key;
    void *value;
};

static void assert_entry(const ProtobufCMessageDescriptor *type)
{
    ASSERT(type->n_fields == 2);
    ASSERT(type->fields[0].offset == offsetof(struct text_entry, key));
    ASSERT(type->fields[1].offset == offsetof(struct text_entry, value));
}

static const struct text_entry *entry_at(const void *entries, size_t index)
{
    const struct text_entry *entry =
        ((const struct text_entry *const *)entries)[index];

    assert_entry(entry->base.descriptor);
    return entry;
}

/* A label and where it stood, so that the sort keeps equal keys in order. */
struct placed_label {
    struct label label;
    size_t index;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed_label *left = a, *right = b;
    int c = str_compare(left->label.key, right->label.key);

    return c ? c : left->index < right->index ? -1 : 1;
}

struct label *entries_labels(const void *entries, size_t entry_count,
                             struct arena *arena, uint32_t *ret_count)
{
    struct placed_label *placed =
        arena_alloc_array(arena, entry_count, sizeof(*placed));
    struct label *labels =
        arena_alloc_array(arena, entry_count, sizeof(*labels));
    uint32_t count = 0;

    ASSERT(entry_count <= UINT32_MAX);
    for (size_t i = 0; i < entry_count; i++) {
        const struct text_entry *entry = entry_at(entries, i);
        placed[i].index = i;
        placed[i].label =
            (struct label){str_of(entry->key), str_of(entry->value)};
    }
    if (entry_count > 1) {
        qsort(placed, entry_count, sizeof(*placed), compare_placed);
    }
    for (size_t i = 0; i < entry_count; i++) {
        bool is_again =
            count && str_equal(labels[count - 1].key, placed[i].label.key);
        labels[is_again ? count - 1 : count++] = placed[i].label;
    }
    *ret_count = count;
    return labels;
}

static int read_quantity(const struct text_entry *entry, int64_t *ret_milli,
                         struct err *err)
{
    const quantity_message *quantity = entry->value;
    struct str text = str_of(quantity ? quantity->string : NULL);
    const char *name = entry->key ? entry->key : "";

    if (text.byte_count == 0) {
        *ret_milli = 0;
        return 0;
    }
    int rc = quantity_parse(text, ret_milli);
    if (rc < 0) {
        return err_set(err, rc, "%.100s: %.100s is %s", name, text.p,
                       rc == -ERR_LIMIT ? "too large" : "not a quantity");
    }
    return 0;
}

/* Whether a later entry has the same key. */
static bool is_superseded(const void *entries, size_t entry_count, size_t index)
{
    struct str key = str_of(entry_at(entries, index)->key);

    for (size_t i = index + 1; i < entry_count; i++) {
        if (str_equal(key, str_of(entry_at(entries, i)->key))) {
            return true;
        }
    }
    return false;
}

static int compare_strs(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

struct str *entries_names(char *const *texts, size_t count, struct arena *arena)
{
    struct str *items = arena_alloc_array(arena, count, sizeof(*items));

    for (size_t i = 0; i < count; i++) {
        items[i] = str_of(texts[i]);
    }
    if (count) {
        qsort(items, count, sizeof(*items), compare_strs);
    }
    return items;
}

int entries_amounts(const void *entries, size_t entry_count,
                    struct resource_list *list, struct err *err)
{
    if (entry_count > RESOURCE_LIST_MAX) {
        return err_set(err, -ERR_LIMIT, "more than %d kinds of resources",
                       RESOURCE_LIST_MAX);
    }
    for (size_t i = 0; i < entry_count; i++) {
        const struct text_entry *entry = entry_at(entries, i);
        int64_t milli;

        int rc = read_quantity(entry, &milli, err);
        if (rc == 0 && !is_superseded(entries, entry_count, i)) {
            rc = resource_list_add(list, str_of(entry->key), milli);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static struct text_entry *make_entry(const ProtobufCMessageDescriptor *type,
                                     struct str key, struct arena *arena)
{
    assert_entry(type);
    struct text_entry *entry = wire_new(type, arena);

    entry->key = arena_strdup(arena, key);
    return entry;
}

void *entries_make_labels(const struct label *labels, size_t count,
                          const ProtobufCMessageDescriptor *type,
                          struct arena *arena)
{
    struct text_entry **entries =
        arena_alloc_array(arena, count, sizeof(*entries));

    for (size_t i = 0; i < count; i++) {
        entries[i] = make_entry(type, labels[i].key, arena);
        entries[i]->value = arena_strdup(arena, labels[i].value);
    }
    return entries;
}

void *entries_make_amounts(const struct resource_list *list,
                           const ProtobufCMessageDescriptor *type,
                           struct arena *arena)
{
    struct text_entry **entries =
        arena_alloc_array(arena, list->count, sizeof(*entries));

    for (uint32_t i = 0; i < list->count; i++) {
        const struct resource_amount *amount = &list->items[i];
        bool is_binary = str_equal(amount->name, STR("memory")) ||
                         str_equal(amount->name, STR("ephemeral-storage"));
        quantity_message *quantity = wire_new(
            &k8s__io__apimachinery__pkg__api__resource__quantity__descriptor,
            arena);

        quantity->string =
            quantity_format(amount->milli, is_binary,
                            arena_alloc(arena, QUANTITY_TEXT_BYTES_MAX));
        entries[i] = make_entry(type, amount->name, arena);
        entries[i]->value = quantity;
    }
    return entries;
}

static const char *const effect_names[] = {
    [TAINT_ANY] = "",
    [TAINT_NO_SCHEDULE] = "NoSchedule",
    [TAINT_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
    [TAINT_NO_EXECUTE] = "NoExecute",
};

int effect_parse(struct str text)
{
    for (size_t i = 0; i < ARRAY_COUNT(effect_names); i++) {
        if (str_equal(text, str_of(effect_names[i]))) {
            return (int)i;
        }
    }
    return -ERR_INVALID;
}

const char *effect_name(enum taint_effect effect)
{
    ASSERT((size_t)effect < ARRAY_COUNT(effect_names));
    return effect_names[effect];
}

int taint_from_text(struct str text, struct taint *ret_taint)
{
    const char *colon =
        text.byte_count ? memrchr(text.p, ':', text.byte_count) : NULL;
    size_t length = colon ? (size_t)(colon - text.p) : 0;
    const char *equals = length ? memchr(text.p, '=', length) : NULL;
    size_t key_length = equals ? (size_t)(equals - text.p) : length;

    if (key_length == 0) {
        return -ERR_INVALID;
    }
    int effect =
        effect_parse(str_make(colon + 1, text.byte_count - length - 1));
    *ret_taint = (struct taint){
        .key = str_make(text.p, key_length),
        .value =
            equals ? str_make(equals + 1, length - key_length - 1) : STR(""),
        .effect = effect > TAINT_ANY ? (enum taint_effect)effect : TAINT_ANY,
    };
    return effect > TAINT_ANY && kube_is_label_key(ret_taint->key) &&
                   kube_is_label_value(ret_taint->value)
               ? 0
               : -ERR_INVALID;
}
