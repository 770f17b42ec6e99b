#include "sched/state/away_variants.h"

#include <string.h>

static const struct node_type *type_of(const struct sched *sched,
                                       const struct class *class)
{
    const struct priority_class *priority_class =
        &sched->policy->classes[class->priority_class];

    return &sched->policy
                ->node_types[priority_class->away[class->away].type_index];
}

void away_drop(struct sched *sched, uint32_t class_index)
{
    uint32_t variant = sched->classes.items[class_index].variant;

    while (variant != NONE) {
        uint32_t next = sched->classes.items[variant].variant;
        sched->classes.items[variant] = (struct class){0};
        SLOTS_GIVE(&sched->classes, variant);
        variant = next;
    }
    sched->classes.items[class_index].variant = NONE;
}

void away_resolve(struct sched *sched, uint32_t class_index)
{
    const struct priority_class *priority_class =
        &sched->policy
             ->classes[sched->classes.items[class_index].priority_class];
    uint32_t last = class_index;

    away_drop(sched, class_index);
    for (uint32_t i = 0; i < priority_class->away_count; i++) {
        uint32_t at = class_take(sched);
        struct class *variant = &sched->classes.items[at];
        *variant = sched->classes.items[class_index];
        variant->packed = NULL;
        variant->packed_bytes = 0;
        variant->list_count = 0;
        variant->is_live = false;
        variant->is_away = true;
        variant->base = class_index;
        variant->away = (uint8_t)i;
        variant->level =
            (uint8_t)level_of(sched, priority_class->away[i].priority);
        variant->variant = NONE;
        sched->classes.items[last].variant = at;
        last = at;
    }
}

/* A taint of a type and one of a node; a type's value `*` is any. */
static bool is_same_taint(const struct taint *wanted, const struct taint *taint)
{
    return str_equal(wanted->key, taint->key) &&
           (str_equal(wanted->value, STR("*")) ||
            str_equal(wanted->value, taint->value)) &&
           (wanted->effect == TAINT_ANY || wanted->effect == taint->effect);
}

static bool is_tainted(const struct node_record *record,
                       const struct taint *wanted)
{
    for (uint32_t i = 0; i < record->taint_count; i++) {
        /* Those that only advise are not in a node's taint set. */
        if (record->taints[i].effect != TAINT_PREFER_NO_SCHEDULE &&
            is_same_taint(wanted, &record->taints[i])) {
            return true;
        }
    }
    return false;
}

bool away_is_of_type(const struct sched *sched, const struct class *class,
                     uint32_t node)
{
    const struct node_type *type = type_of(sched, class);
    const struct node_record *record = sched->nodes.items[node].record;

    for (uint32_t i = 0; record && i < type->taint_count; i++) {
        if (!is_tainted(record, &type->taints[i])) {
            return false;
        }
    }
    return record != NULL;
}

void away_extend(const struct sched *sched, const struct class *class,
                 struct requirement *requirement, struct arena *arena)
{
    const struct node_type *type = type_of(sched, class);
    uint32_t count = requirement->toleration_count;
    struct toleration *tolerations = arena_alloc_array(
        arena, (size_t)count + type->taint_count, sizeof(*tolerations));

    if (count) {
        memcpy(tolerations, requirement->tolerations,
               count * sizeof(*tolerations));
    }
    for (uint32_t i = 0; i < type->taint_count; i++) {
        tolerations[count++] = (struct toleration){
            .key = type->taints[i].key,
            .value = type->taints[i].value,
            .effect = type->taints[i].effect,
            .is_exists = str_equal(type->taints[i].value, STR("*")),
        };
    }
    requirement->tolerations = tolerations;
    requirement->toleration_count = count;
}
