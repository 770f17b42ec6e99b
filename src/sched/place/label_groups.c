/* The nodes of a pool by where a gang must stay together: one cluster
 * (model.md 6.8), and one value of its label if it names one. */
#include <string.h>

#include "sched/data/merge_sort.h"
#include "sched/order/round.h"
#include "sched/place/place.h"

/* Nodes that follow each other by name and are alike: names mostly follow
 * racks and clusters, so these are few. */
struct stretch {
    struct str value;
    uint32_t executor;
    uint32_t first, count; /* in the list of nodes */
};

static struct str name_of(const struct sched *sched, uint32_t executor)
{
    return sched->executors.items[executor].name;
}

static bool is_alike(const struct stretch *a, const struct stretch *b)
{
    return a->executor == b->executor && str_equal(a->value, b->value);
}

/* By value, then by the executor's name. */
static bool is_before(const struct sched *sched, const struct stretch *a,
                      const struct stretch *b)
{
    int c = str_compare(a->value, b->value);

    if (c == 0 && a->executor != b->executor) {
        c = str_compare(name_of(sched, a->executor),
                        name_of(sched, b->executor));
    }
    return c < 0;
}

/* Nodes stay in their order. */
static struct stretch *sort_stretches(const struct sched *sched,
                                      struct stretch *items,
                                      struct stretch *spare, uint32_t count)
{
#define IS_BEFORE(b, a) is_before(sched, b, a)
    return MERGE_SORT(items, spare, count, IS_BEFORE);
#undef IS_BEFORE
}

/* The nodes that have the label (all, when there is none to have), in their
 * order; returns the number of stretches. */
static uint32_t collect(const struct round *round, struct str key,
                        uint32_t *nodes, struct stretch *items)
{
    const struct sched *sched = round->sched;
    const struct label none = {{0}, {0}};
    uint32_t count = 0, node_count = 0;

    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t i = seq_get(&sched->nodes_by_name, at);
        const struct node *node = &sched->nodes.items[i];
        if (!node->is_accepting || node->pool != round->p) {
            continue;
        }
        const struct label *label =
            key.byte_count ? label_find(node->record->labels,
                                        node->record->label_count, key)
                           : &none;
        if (!label) {
            continue;
        }
        struct stretch one = {label->value, node->executor, node_count, 1};
        nodes[node_count++] = i;
        if (count && is_alike(&items[count - 1], &one)) {
            items[count - 1].count++;
        } else {
            items[count++] = one;
        }
    }
    return count;
}

/* The index of a label, in `arena`. */
static struct label_index *build(struct round *round, struct str key,
                                 struct arena *arena)
{
    size_t n = round->sched->nodes_by_name.count;
    struct arena *scratch = round->arena;
    struct stretch *items = arena_alloc_array(scratch, n, sizeof(*items));
    struct stretch *spare = arena_alloc_array(scratch, n, sizeof(*items));
    uint32_t *in_order = arena_alloc_array(scratch, n, sizeof(*in_order));
    uint32_t *nodes = arena_alloc_array(arena, n, sizeof(*nodes));
    struct label_index *index = arena_alloc(arena, sizeof(*index));
    uint32_t count = collect(round, key, in_order, items);

    items = sort_stretches(round->sched, items, spare, count);
    index->key = arena_str(arena, key);
    index->groups = arena_alloc_array(arena, count, sizeof(*index->groups));
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || !is_alike(&items[i], &items[i - 1])) {
            index->groups[index->group_count++] = (struct label_group){
                arena_str(arena, items[i].value), items[i].executor, nodes, 0};
        }
        memcpy(nodes, in_order + items[i].first,
               items[i].count * sizeof(*nodes));
        nodes += items[i].count;
        index->groups[index->group_count - 1].count += items[i].count;
    }
    return index;
}

static struct label_memory *recall(struct round *round)
{
    struct pool *pool = round->pool;
    uint64_t layout_count = round->sched->layout_count;

    if (pool->labels && pool->labels->layout_count != layout_count) {
        labels_forget(pool);
    }
    if (!pool->labels) {
        pool->labels = mem_alloc(sizeof(*pool->labels));
        pool->labels->layout_count = layout_count;
    }
    return pool->labels;
}

static const struct label_index *find(const struct label_index *index,
                                      struct str key)
{
    while (index && !str_equal(index->key, key)) {
        index = index->next;
    }
    return index;
}

/* Gangs may name any label: this number of labels is remembered, and the
 * groups of others are made for the round. */
enum { LABELS_REMEMBERED_MAX = 8 };

const struct label_index *place_labels(struct round *round, struct str key)
{
    struct label_memory *memory = recall(round);
    const struct label_index *known = find(memory->indexes, key);
    bool is_kept = memory->count < LABELS_REMEMBERED_MAX;
    struct label_index **list = is_kept ? &memory->indexes : &round->labels;

    known = known ? known : find(round->labels, key);
    if (!known) {
        struct label_index *fresh =
            build(round, key, is_kept ? &memory->arena : round->arena);
        memory->count += is_kept;
        fresh->next = *list;
        *list = fresh;
        known = fresh;
    }
    return known;
}

/* Whether a gang may be on any node of an index of clusters: there is but one,
 * and what runs of the gang is there and not where all nodes are closed. */
static bool is_anywhere(const struct round *round, const struct gang *gang,
                        const struct label_index *index)
{
    return index->group_count == 0 ||
           (index->group_count == 1 &&
            place_is_open(round, gang, &index->groups[0]));
}

const struct label_index *place_groups(struct round *round,
                                       const struct gang *gang)
{
    struct str key = str_of(gang->uniformity);

    if (key.byte_count == 0 &&
        intern_live_count(round->sched->executor_names) == 1) {
        return NULL; /* the common case; and the rest costs a look at nodes */
    }
    const struct label_index *index = place_labels(round, key);
    return key.byte_count == 0 && is_anywhere(round, gang, index) ? NULL
                                                                  : index;
}

const struct label_group *place_group_of(const struct sched *sched,
                                         const struct label_index *index,
                                         const struct node *node)
{
    const struct label none = {{0}, {0}};
    const struct node_record *record = node->record;
    const struct label *label = &none;
    uint32_t low = 0, high = index->group_count;

    ASSERT(index->group_count <= sched->nodes.count); /* none is empty */
    if (index->key.byte_count) {
        label =
            record ? label_find(record->labels, record->label_count, index->key)
                   : NULL;
    }
    if (!label) {
        return NULL;
    }
    struct stretch own = {.value = label->value, .executor = node->executor};
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct label_group *group = &index->groups[middle];
        struct stretch other = {.value = group->value,
                                .executor = group->executor};
        if (is_alike(&own, &other)) {
            return group;
        }
        if (is_before(sched, &other, &own)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

bool place_is_open(const struct round *round, const struct gang *gang,
                   const struct label_group *group)
{
    const struct sched *sched = round->sched;
    struct str key = str_of(gang->uniformity);

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t run = sched->jobs.items[seq_get(&gang->leased, at)].run;
        const struct node *node =
            &sched->nodes.items[sched->runs.items[run].node];
        if (sched->runs.items[run].state == RUN_PREEMPTED) {
            continue;
        }
        const struct label *label =
            key.byte_count && node->record
                ? label_find(node->record->labels, node->record->label_count,
                             key)
                : NULL;
        if (node->executor != group->executor) {
            return false;
        }
        if (label || key.byte_count == 0) {
            return !label || str_equal(label->value, group->value);
        }
    }
    return true;
}
