#include "sched/gang/fit_groups.h"

#include "base/hash.h"
#include "sched/gang/cap_fit.h"
#include "sched/state/extras.h"
#include "sched/state/floating.h"
#include "sched/state/nodes.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/away.h"

void fit_collect_kinds(struct fitting *f)
{
    f->kinds =
        arena_alloc_array(&f->arena, f->gang->waiting.count, sizeof(*f->kinds));
    for (struct seq_cursor at = {0}; !seq_is_end(&f->gang->waiting, at);
         seq_next(&f->gang->waiting, &at)) {
        uint32_t job = seq_get(&f->gang->waiting, at);
        uint32_t list = f->home->jobs.items[job].list;
        uint32_t c = f->home->lists.items[list].class_index;
        if (f->there) {
            c = f->there->class_of(f->there->context, c);
        }
        uint32_t kind = map_find(&f->kind_map, key_of_u64(c));
        if (kind == MAP_NONE) {
            kind = f->kind_count++;
            f->kinds[kind] =
                (struct fit_kind){c, 0, class_decode(f->sched, c, &f->arena)};
            map_put(&f->kind_map, key_of_u64(c), kind);
        }
        f->kinds[kind].count++;
        if (f->caps.count) {
            cap_fit_note(&f->caps, sub_group_of(f->home, job), kind);
        }
    }
    ASSERT(f->kind_count <= f->gang->waiting.count);
    cap_fit_prepare(&f->caps);
}

/* The group that a node belongs to, made when new. */
static struct fit_group *group_of(struct fitting *f, const struct node *node,
                                  struct str value)
{
    struct key128 key = {
        (uint64_t)node->pool << 32 | node->executor,
        hash_bytes(value.p, value.byte_count, 0),
    };
    uint32_t first = map_find(&f->group_map, key);

    for (uint32_t at = first; at != MAP_NONE; at = f->groups.items[at].next) {
        if (str_equal(f->groups.items[at].value, value)) {
            return &f->groups.items[at];
        }
    }
    struct fit_group fresh = {
        .pool = node->pool,
        .executor = node->executor,
        .next = first,
        .value = value,
        .by_kind =
            arena_alloc_array(&f->arena, f->kind_count, sizeof(*fresh.by_kind)),
    };
    if (f->caps.count) {
        fresh.near = arena_alloc_array(&f->arena, 1, sizeof(*fresh.near));
    }
    map_put(&f->group_map, key, (uint32_t)f->groups.count);
    VEC_PUSH(&f->groups, fresh);
    return &f->groups.items[f->groups.count - 1];
}

/* How many of a class an empty node holds. */
static uint32_t count_on(const struct sched *sched, const struct class *class,
                         uint32_t index)
{
    uint32_t count =
        amounts_times(&class->request, &sched->nodes.items[index].capacity);

    return class->is_impossible
               ? 0
               : extras_times_empty(sched, index, class, count);
}

static bool allows(const struct fitting *f, const struct fit_kind *kind,
                   uint32_t node)
{
    return away_match(f->sched, kind->requirement, kind->class_index, node) ==
           SCHED_EXCLUSIONS;
}

static void count_node(struct fitting *f, struct fit_group *group,
                       uint32_t index)
{
    const struct node *node = &f->sched->nodes.items[index];

    amounts_add(&group->capacity, &node->capacity);
    for (uint32_t k = 0; k < f->kind_count; k++) {
        const struct fit_kind *kind = &f->kinds[k];
        const struct class *class = &f->sched->classes.items[kind->class_index];
        ASSERT(group->by_kind[k] <= kind->count); /* none counts twice */
        uint32_t missing = kind->count - group->by_kind[k];
        uint32_t here = count_on(f->sched, class, index);
        uint32_t taken = here < missing ? here : missing;
        bool is_capped = here > 0 && cap_fit_asks(&f->caps, k);
        if ((taken > 0 || is_capped) && allows(f, kind, index)) {
            group->by_kind[k] += taken;
            group->count += taken;
            if (is_capped) {
                cap_fit_add(&f->caps, group->near,
                            (uint32_t)(group - f->groups.items), index, k,
                            here);
            }
        }
    }
}

/* Whether a group has room for all, wherever in it. */
static bool is_large_enough(const struct fitting *f,
                            const struct fit_group *group)
{
    return group->count >= f->needed &&
           (!f->is_all_needed ||
            (amounts_fit(&f->gang->waiting_sum, &group->capacity) &&
             floating_may_fit(f->sched, group->pool, &f->gang->waiting_sum)));
}

static bool is_enough(const struct fitting *f, const struct fit_group *group)
{
    return is_large_enough(f, group) &&
           (!group->near || group->near->met_count == f->caps.count);
}

bool fit_find_group(struct fitting *f, uint32_t *ret_looks)
{
    struct str key = str_of(f->gang->uniformity);

    for (uint32_t i = 0; i < f->sched->nodes.count; i++) {
        const struct node *node = &f->sched->nodes.items[i];
        const struct label none = {{0}, {0}};
        const struct label *label = &none;
        if (!node->record || !pool_is_for(f->sched, node->pool, f->pool)) {
            continue;
        }
        f->has_nodes = true;
        *ret_looks += f->kind_count;
        if (key.byte_count) {
            label = label_find(node->record->labels, node->record->label_count,
                               key);
        }
        if (label) {
            struct fit_group *group = group_of(f, node, label->value);
            count_node(f, group, i);
            if (is_enough(f, group)) {
                return true;
            }
        }
    }
    return false;
}

/* The group that is large enough, or else holds most; equals by name. */
static const struct fit_group *best_of(const struct fitting *f)
{
    const struct fit_group *best = NULL;

    /* Before the first node of the pools was seen there is no group. */
    ASSERT(f->has_nodes || f->groups.count == 0);
    for (size_t i = 0; i < f->groups.count; i++) {
        const struct fit_group *group = &f->groups.items[i];
        int c =
            !best ? -1
                  : str_compare(f->sched->executors.items[group->executor].name,
                                f->sched->executors.items[best->executor].name);
        c = c == 0 ? str_compare(group->value, best->value) : c;
        bool is_large = is_large_enough(f, group);
        bool was_large = best && is_large_enough(f, best);
        if (!best || is_large > was_large ||
            (is_large == was_large &&
             (group->count > best->count ||
              (group->count == best->count && c < 0)))) {
            best = group;
        }
    }
    return best;
}

void fit_fill_miss(const struct fitting *f, struct sched_gang_miss *ret_miss)
{
    const struct fit_group *best = best_of(f);

    /* A gang is told what it misses only where no group holds it. */
    ASSERT(!best || !is_enough(f, best));
    *ret_miss = (struct sched_gang_miss){
        .needed = f->needed,
        .resource = -1,
        .label = str_of(f->gang->uniformity),
    };
    if (!best) {
        return;
    }
    ret_miss->count = (uint32_t)best->count;
    ret_miss->executor = f->sched->executors.items[best->executor].name;
    ret_miss->pool = intern_get(f->sched->pool_names, best->pool);
    ret_miss->value = best->value; /* of the node's record */
    if (best->near && is_large_enough(f, best) &&
        cap_fit_miss(&f->caps, best->near, (uint32_t)(best - f->groups.items),
                     best->pool, ret_miss)) {
        return;
    }
    for (int r = 0; best->count >= f->needed && r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t has = f->sched->policy->is_floating[r]
                          ? f->sched->pools.items[best->pool].total.v[r]
                          : best->capacity.v[r];
        if (f->gang->waiting_sum.v[r] > has) {
            ret_miss->resource = r;
            ret_miss->asked = f->gang->waiting_sum.v[r];
            ret_miss->has = has;
        }
    }
}
