#include <string.h>

#include "sched/state/away_variants.h"
#include "sched/state/extras.h"
#include "sched/state/node_shapes.h"

enum { MATCH_PER_LOOK = 4 };

static bool is_tolerated(const struct requirement *requirement,
                         const struct taint *taint)
{
    for (uint32_t i = 0; i < requirement->toleration_count; i++) {
        if (toleration_matches(&requirement->tolerations[i], taint)) {
            return true;
        }
    }
    return taint->effect == TAINT_PREFER_NO_SCHEDULE;
}

static bool affinity_matches(const struct requirement *requirement,
                             const struct node_record *record)
{
    for (uint32_t i = 0; i < requirement->term_count; i++) {
        if (affinity_term_matches(&requirement->terms[i], record->labels,
                                  record->label_count, record->name)) {
            return true;
        }
    }
    return !requirement->has_affinity;
}

static bool selector_matches(const struct requirement *requirement,
                             const struct node_record *record)
{
    for (uint32_t i = 0; i < requirement->selector_count; i++) {
        const struct label *want = &requirement->selector[i];
        const struct label *have =
            label_find(record->labels, record->label_count, want->key);
        if (!have || !str_equal(have->value, want->value)) {
            return false;
        }
    }
    return true;
}

enum sched_exclusion match_static(const struct sched *sched,
                                  const struct requirement *requirement,
                                  uint32_t node)
{
    const struct node_record *record = sched->nodes.items[node].record;

    if (!record) {
        return SCHED_EXCLUDED_UNSCHEDULABLE;
    }
    for (uint32_t i = 0; i < record->taint_count; i++) {
        if (!is_tolerated(requirement, &record->taints[i])) {
            return SCHED_EXCLUDED_TAINT;
        }
    }
    if (!selector_matches(requirement, record)) {
        return SCHED_EXCLUDED_SELECTOR;
    }
    return affinity_matches(requirement, record) ? SCHED_EXCLUSIONS
                                                 : SCHED_EXCLUDED_AFFINITY;
}

struct requirement *class_decode(const struct sched *sched,
                                 uint32_t class_index, struct arena *arena)
{
    const struct class *variant = &sched->classes.items[class_index];
    const struct class *class =
        variant->is_away ? &sched->classes.items[variant->base] : variant;
    struct requirement *requirement = arena_alloc(arena, sizeof(*requirement));
    int rc = requirement_unpack(str_make(class->packed, class->packed_bytes),
                                arena, requirement);

    ASSERT(rc == 0);
    if (variant->is_away) {
        away_extend(sched, variant, requirement, arena);
    }
    return requirement;
}

/* What a full check of a node costs, in nodes that are only passed over. */
static uint32_t match_work_of(const struct requirement *requirement)
{
    uint32_t count = requirement->selector_count +
                     requirement->toleration_count / MATCH_PER_LOOK;

    for (uint32_t i = 0; i < requirement->term_count; i++) {
        count += requirement->terms[i].expression_count;
    }
    return count / MATCH_PER_LOOK;
}

void class_resolve(struct sched *sched, uint32_t class_index)
{
    auto_arena arena = {0};
    struct class *class = &sched->classes.items[class_index];
    const struct requirement *requirement =
        class_decode(sched, class_index, &arena);

    bool is_of_columns = resource_request(
        &sched->policy->schema, &requirement->requests, &class->request);
    class->is_impossible =
        !extras_resolve(sched, class, requirement) && !is_of_columns;
    amounts_clamp(&class->request);
    class->priority_class =
        (uint8_t)policy_class_index(sched->policy, requirement->priority_class);
    class->level = sched->class_level[class->priority_class];
    class->is_plain =
        requirement->selector_count == 0 && !requirement->has_affinity;
    class->never_preempts = requirement->never_preempts;
    class->has_wishes = requirement->preference_count > 0;
    class->asks_names = node_shapes_note_class(sched, requirement);
    class->match_work = match_work_of(requirement);
    class->lifetime_ms = requirement->lifetime_ms;
    if (class->lifetime_ms == LIFETIME_BY_CLASS) {
        const struct priority_class *priority_class =
            &sched->policy->classes[class->priority_class];
        class->lifetime_ms = priority_class->is_preemptible
                                 ? priority_class->default_lifetime_ms
                                 : LIFETIME_INFINITE;
    }
    class->deadline_ms =
        requirement->deadline_ms > 0 ? requirement->deadline_ms : INT64_MAX;
    class->stamp = 0;
    away_resolve(sched, class_index);
}

uint32_t class_take(struct sched *sched)
{
    uint32_t index = SLOTS_TAKE(&sched->classes);

    ASSERT(index < CLASSES_MAX);
    return index;
}

uint32_t sched_class_add(struct sched *sched,
                         const struct requirement *requirement)
{
    auto_strbuf buf = {0};

    requirement_pack(&buf, requirement);
    ASSERT(!buf.is_over);
    uint32_t index = class_take(sched);
    sched->classes.items[index] = (struct class){
        .packed = mem_dup(buf.bytes, buf.byte_count),
        .packed_bytes = (uint32_t)buf.byte_count,
        .serial = ++sched->class_serial,
        .is_live = true,
        .variant = NONE,
    };
    class_resolve(sched, index);
    sched->limited_class_count +=
        class_is_limited(&sched->classes.items[index]);
    return index;
}

void sched_class_remove(struct sched *sched, uint32_t class_index)
{
    ASSERT(class_index < sched->classes.count);
    struct class *class = &sched->classes.items[class_index];

    ASSERT(class->is_live && class->list_count == 0);
    sched->limited_class_count -= class_is_limited(class);
    mem_free(class->packed);
    extras_drop(sched, class);
    away_drop(sched, class_index);
    *class = (struct class){0};
    SLOTS_GIVE(&sched->classes, class_index);
}

void classes_fini(struct sched *sched)
{
    for (size_t i = 0; i < sched->classes.count; i++) {
        mem_free(sched->classes.items[i].packed);
        if (!sched->classes.items[i].is_away) {
            mem_free(sched->classes.items[i].extras);
        }
    }
    SLOTS_FREE(&sched->classes);
}

bool job_avoids(const struct sched *sched, uint32_t job, uint32_t node)
{
    if (!(sched->job_flags.items[job] & JOB_AVOIDS)) {
        return false;
    }
    uint32_t at = map_find(&sched->avoid_map, key_of_u64(job));
    const struct avoid_list *avoid = &sched->avoids.items[at];

    for (uint32_t i = 0; i < avoid->count; i++) {
        if (avoid->nodes[i] == node) {
            return true;
        }
    }
    return false;
}
