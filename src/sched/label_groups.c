/* The nodes of a pool by where a gang must stay together: one cluster
 * (model.md 6.8), and one value of its label if it names one. */
#include "sched/round.h"

struct labelled {
    struct str value;
    uint32_t executor, node;
};

static struct str name_of(const struct sched *sched, uint32_t executor)
{
    return sched->executors.items[executor].name;
}

/* By value, then by the executor's name; then in the order of nodes. */
static bool is_before(const struct sched *sched, const struct labelled *a,
                      const struct labelled *b)
{
    int c = str_compare(a->value, b->value);

    if (c == 0 && a->executor != b->executor) {
        c = str_compare(name_of(sched, a->executor),
                        name_of(sched, b->executor));
    }
    return c ? c < 0 : sched->ranks[a->node] < sched->ranks[b->node];
}

static struct labelled *sort_labelled(const struct sched *sched,
                                      struct labelled *items,
                                      struct labelled *spare, uint32_t count)
{
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t low = 0; low < count; low += 2 * width) {
            uint32_t middle = low + width < count ? low + width : count;
            uint32_t high = low + 2 * width < count ? low + 2 * width : count;
            uint32_t a = low, b = middle;
            for (uint32_t to = low; to < high; to++) {
                bool is_left =
                    b >= high ||
                    (a < middle && !is_before(sched, &items[b], &items[a]));
                spare[to] = is_left ? items[a++] : items[b++];
            }
        }
        struct labelled *swap = items;
        items = spare;
        spare = swap;
    }
    return items;
}

/* The nodes that have the label (all, when there is none to have). */
static uint32_t collect(const struct round *round, struct str key,
                        struct labelled *items)
{
    const struct sched *sched = round->sched;
    uint32_t count = 0;

    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        const struct node *node = &sched->nodes.items[i];
        if (!node->name || !node->is_accepting || node->pool != round->p) {
            continue;
        }
        const struct label none = {{0}, {0}};
        const struct label *label =
            key.byte_count ? label_find(node->record->labels,
                                        node->record->label_count, key)
                           : &none;
        if (label) {
            items[count++] = (struct labelled){label->value, node->executor, i};
        }
    }
    return count;
}

static struct label_index *build(struct round *round, struct str key)
{
    const struct sched *sched = round->sched;
    size_t n = sched->nodes.count;
    struct labelled *items = arena_alloc_array(round->arena, n, sizeof(*items));
    struct labelled *spare = arena_alloc_array(round->arena, n, sizeof(*items));
    struct label_index *index = arena_alloc(round->arena, sizeof(*index));
    uint32_t count = collect(round, key, items);

    items = sort_labelled(sched, items, spare, count);
    index->key = arena_str(round->arena, key);
    index->groups =
        arena_alloc_array(round->arena, count, sizeof(*index->groups));
    uint32_t *nodes = arena_alloc_array(round->arena, count, sizeof(*nodes));
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = items[i].node;
        if (i == 0 || items[i].executor != items[i - 1].executor ||
            !str_equal(items[i].value, items[i - 1].value)) {
            index->groups[index->group_count++] = (struct label_group){
                items[i].value, items[i].executor, &nodes[i], 0};
        }
        index->groups[index->group_count - 1].count++;
    }
    return index;
}

const struct label_index *place_labels(struct round *round, struct str key)
{
    for (struct label_index *index = round->labels; index;
         index = index->next) {
        if (str_equal(index->key, key)) {
            return index;
        }
    }
    struct label_index *fresh = build(round, key);
    fresh->next = round->labels;
    round->labels = fresh;
    return fresh;
}

const struct label_index *place_groups(struct round *round,
                                       const struct gang *gang)
{
    struct str key = str_of(gang->uniformity);

    if (key.byte_count == 0 && round->sched->executors.count == 1) {
        return NULL; /* the common case; and the rest costs a look at nodes */
    }
    const struct label_index *index = place_labels(round, key);
    return key.byte_count == 0 && index->group_count <= 1 ? NULL : index;
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
