#include "sched/state/node_shapes.h"

#include "sched/state/cfs.h"

enum { KINDS_SPARE = 1024 };

void node_shapes_init(struct sched *sched)
{
    sched->kinds = intern_create();
    sched->label_keys = intern_create();
}

void node_shapes_fini(struct sched *sched)
{
    intern_destroy(sched->kinds);
    intern_destroy(sched->label_keys);
    VEC_FREE(&sched->asked_keys);
    VEC_FREE(&sched->kind_least);
}

/* A class asks about a label; new to us only if a node has it. */
static void note_key(struct sched *sched, struct str key)
{
    uint32_t index = intern_find(sched->label_keys, key);

    if (index != INTERN_NONE && !sched->asked_keys.items[index]) {
        sched->asked_keys.items[index] = true;
        sched->are_kinds_stale = true;
    }
}

/* Whether it asks for names. */
static bool note_term(struct sched *sched, const struct affinity_term *term)
{
    bool asks_names = false;

    for (uint32_t k = 0; k < term->expression_count; k++) {
        asks_names |= term->expressions[k].is_field;
        note_key(sched, term->expressions[k].key);
    }
    return asks_names;
}

bool node_shapes_note_class(struct sched *sched,
                            const struct requirement *requirement)
{
    bool asks_names = false;

    for (uint32_t i = 0; i < requirement->selector_count; i++) {
        note_key(sched, requirement->selector[i].key);
    }
    for (uint32_t i = 0; i < requirement->term_count; i++) {
        asks_names |= note_term(sched, &requirement->terms[i]);
    }
    for (uint32_t i = 0; i < requirement->preference_count; i++) {
        asks_names |= note_term(sched, &requirement->preferences[i].term);
    }
    return asks_names;
}

/* A node of this kind has so much. */
static void lower_least(struct sched *sched, uint32_t number,
                        const struct resource_vec *capacity)
{
    if (number == sched->kind_least.count) {
        VEC_PUSH(&sched->kind_least, *capacity);
    }
    ASSERT(number < sched->kind_least.count); /* numbers are given in order */
    struct resource_vec *least = &sched->kind_least.items[number];
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        least->v[r] =
            capacity->v[r] < least->v[r] ? capacity->v[r] : least->v[r];
    }
}

static void set_kind(struct sched *sched, uint32_t index)
{
    auto_strbuf buf = {0};
    const struct node *node = &sched->nodes.items[index];
    const struct node_record *record = node->record;
    bool has_gpus = cfs_has_gpus(sched, &node->capacity);

    pack_u64(&buf, node->taint_set);
    pack_u64(&buf, node->soft_taint_set);
    pack_u64(&buf, has_gpus);
    for (uint32_t i = 0; i < record->label_count; i++) {
        uint32_t key = intern_find(sched->label_keys, record->labels[i].key);
        if (key != INTERN_NONE && sched->asked_keys.items[key]) {
            pack_u64(&buf, key);
            pack_str(&buf, record->labels[i].value);
        }
    }
    uint32_t number = intern_add(sched->kinds, strbuf_str(&buf));
    lower_least(sched, number, &node->capacity);
    sched->kinds_of[index] = number * 2 + (node->taint_set || has_gpus);
}

void node_shapes_note_node(struct sched *sched, uint32_t index)
{
    const struct node_record *record = sched->nodes.items[index].record;

    for (uint32_t i = 0; i < record->label_count; i++) {
        if (intern_add(sched->label_keys, record->labels[i].key) ==
            sched->asked_keys.count) {
            VEC_PUSH(&sched->asked_keys, false);
            sched->are_keys_stale = true;
        }
    }
    if (!sched->are_kinds_stale) {
        set_kind(sched, index);
    }
}

size_t node_shapes_count(const struct sched *sched)
{
    return (size_t)intern_count(sched->kinds) * 2;
}

size_t node_shapes_word_count(const struct sched *sched)
{
    return (size_t)intern_count(sched->kinds) / 16 + 1;
}

void node_shapes_sync(struct sched *sched)
{
    for (uint32_t i = 0; sched->are_keys_stale && i < sched->classes.count;
         i++) {
        auto_arena arena = {0};
        if (sched->classes.items[i].is_live &&
            (!sched->classes.items[i].is_plain ||
             sched->classes.items[i].has_wishes)) {
            (void)node_shapes_note_class(sched, class_decode(sched, i, &arena));
        }
    }
    sched->are_keys_stale = false;
    if (!sched->are_kinds_stale &&
        intern_count(sched->kinds) < 2 * sched->nodes.count + KINDS_SPARE) {
        return;
    }
    intern_destroy(sched->kinds);
    sched->kinds = intern_create();
    sched->kind_least.count = 0;
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].record) {
            set_kind(sched, i);
        }
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        sched->pools.items[p].is_stale = true; /* its index knows kinds */
    }
    sched->are_kinds_stale = false;
}
