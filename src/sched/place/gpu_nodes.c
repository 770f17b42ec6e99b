#include "sched/place/gpu_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "sched/fairness/class_limit.h"
#include "sched/fairness/quota.h"
#include "sched/state/borrowed.h"
#include "sched/state/cfs.h"
#include "sched/state/node_shapes.h"
#include "sched/state/windows.h"

enum verdict { VERDICT_UNKNOWN, VERDICT_KEPT, VERDICT_FREE };

/* A class, and which kinds of nodes it may use: two bits each, known and then
 * allowed (node_shapes.h). */
struct asker {
    uint32_t class_index;
    int16_t level;                   /* of a waiter: 1 + that of its class */
    struct requirement *requirement; /* NULL: not decoded yet */
    uint64_t *kinds;                 /* NULL: it asks about each node */
};

struct gpu_nodes {
    struct sched *sched;
    struct arena *arena;
    uint32_t pool;
    int64_t now_ms;
    bool is_always;
    bool is_known;         /* what follows is */
    struct asker *waiters; /* classes that ask for GPUs, each once, the most
                              urgent first */
    uint32_t waiter_count;
    uint64_t waiter_mark; /* of all of them: see gpu_nodes_mark() */
    int16_t *levels; /* by node: 1 + that of the most urgent waiter that could
                        have it; 0: none could; -1: nobody asked */
    int16_t *kind_levels; /* by kind / 2: likewise of a waiter that could have
                             each node of the kind */
    uint32_t *needed;     /* by class: members of the largest gang, at least 1;
                             NONE: it is not kept off */
    uint8_t *verdicts;    /* by class: enum verdict */
};

struct gpu_nodes *gpu_nodes_make(struct sched *sched, uint32_t pool,
                                 int64_t now_ms, struct arena *arena)
{
    const struct pool *record = &sched->pools.items[pool];

    if (record->policy_index < 0 || !cfs_has_gpus(sched, &record->total)) {
        return NULL;
    }
    enum gpu_keeping keeping =
        sched->policy->pools[record->policy_index].gpu_keeping;
    if (keeping == GPUS_KEPT_NEVER) {
        return NULL;
    }
    struct gpu_nodes *gpus = arena_alloc(arena, sizeof(*gpus));
    *gpus = (struct gpu_nodes){
        .sched = sched,
        .arena = arena,
        .pool = pool,
        .now_ms = now_ms,
        .is_always = keeping == GPUS_KEPT_ALWAYS,
    };
    return gpus;
}

/* Labels and taints. */

static bool is_static_match(struct gpu_nodes *gpus, struct asker *asker,
                            uint32_t node)
{
    if (!asker->requirement) {
        asker->requirement =
            class_decode(gpus->sched, asker->class_index, gpus->arena);
    }
    return match_static(gpus->sched, asker->requirement, node) ==
           SCHED_EXCLUSIONS;
}

static bool is_match(struct gpu_nodes *gpus, struct asker *asker, uint32_t node)
{
    const struct sched *sched = gpus->sched;
    const struct class *class = &sched->classes.items[asker->class_index];

    if (class->is_plain && !sched->nodes.items[node].taint_set) {
        return true;
    }
    if (class->asks_names) {
        return is_static_match(gpus, asker, node);
    }
    if (!asker->kinds) {
        asker->kinds = arena_alloc_array(
            gpus->arena, node_shapes_word_count(sched), sizeof(*asker->kinds));
    }
    uint32_t kind = sched->kinds_of[node], shift = kind % 32 * 2;
    uint64_t *word = &asker->kinds[kind / 32];
    if (!(*word >> shift & 1)) {
        *word |= (uint64_t)(is_static_match(gpus, asker, node) ? 3 : 1)
                 << shift;
    }
    return *word >> shift & 2;
}

/* How many jobs of a class a node could hold when empty; none that would run
 * into its maintenance window. */
static uint32_t count_on(struct gpu_nodes *gpus, struct asker *asker,
                         uint32_t index)
{
    const struct node *node = &gpus->sched->nodes.items[index];
    const struct class *class = &gpus->sched->classes.items[asker->class_index];

    if (!node->is_accepting || node->pool != gpus->pool ||
        windows_bar(gpus->sched, class, index, gpus->now_ms)) {
        return 0;
    }
    uint32_t count = amounts_times(&class->request, &node->capacity);
    return count && is_match(gpus, asker, index) ? count : 0;
}

/* What waits. */

/* Whether limits of its queue refuse a job for what runs already. */
static bool is_limited(const struct gpu_nodes *gpus, const struct list *list,
                       uint32_t class_index)
{
    const struct sched *sched = gpus->sched;
    const struct class *class = &sched->classes.items[class_index];
    const struct resource_vec *request = &class->request;
    struct usage usage = class_limit_usage(sched, NULL, list->queue, gpus->pool,
                                           class->priority_class);
    bool may_recall = borrowed_gives_way(sched);
    int64_t used;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (class_limit_refuses(&usage, may_recall, request, r)) {
            return true;
        }
    }
    return quota_short_of(sched, list->queue, request, &used) >= 0;
}

/* Whether the jobs of a list ask for GPUs, and wait for room. */
static bool is_waiting_for_gpus(const struct gpu_nodes *gpus,
                                const struct list *list)
{
    const struct class *class = &gpus->sched->classes.items[list->class_index];

    return !list->is_borrowed && !class->is_impossible &&
           cfs_has_gpus(gpus->sched, &class->request) &&
           !is_limited(gpus, list, list->class_index);
}

static void add_waiter(struct gpu_nodes *gpus, uint32_t class_index,
                       bool *is_waiting)
{
    if (!is_waiting[class_index]) {
        const struct class *class = &gpus->sched->classes.items[class_index];
        is_waiting[class_index] = true;
        gpus->waiters[gpus->waiter_count++] = (struct asker){
            .class_index = class_index, .level = 1 + class->level};
        gpus->waiter_mark += hash_mix(class->serial);
    }
}

/* A gang that asks for no GPU: its members are kept off only where nodes
 * without GPUs could hold them all. */
static void note_gang(struct gpu_nodes *gpus, const struct gang *gang)
{
    const struct sched *sched = gpus->sched;
    bool is_bound = gang_has_terms(gang) || *gang->uniformity;

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        uint32_t *needed =
            &gpus->needed[class_of_job(sched, seq_get(&gang->waiting, at))];
        if (is_bound) {
            *needed = NONE;
        } else if (*needed < gang->waiting.count) {
            *needed = gang->waiting.count;
        }
    }
}

/* A gang that asks for GPUs: those of its classes that do, wait. */
static void add_gang(struct gpu_nodes *gpus, const struct list *list,
                     const struct gang *gang, bool *is_waiting)
{
    const struct sched *sched = gpus->sched;

    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        uint32_t class_index = class_of_job(sched, seq_get(&gang->waiting, at));
        const struct class *class = &sched->classes.items[class_index];
        if (!is_waiting[class_index] && !class->is_impossible &&
            cfs_has_gpus(sched, &class->request) &&
            !is_limited(gpus, list, class_index)) {
            add_waiter(gpus, class_index, is_waiting);
        }
    }
}

static void note_gangs(struct gpu_nodes *gpus, const struct list *list,
                       bool *is_waiting, uint64_t *looks)
{
    const struct sched *sched = gpus->sched;

    for (struct seq_cursor at = {0}; !seq_is_end(&list->seq, at);
         seq_next(&list->seq, &at)) {
        const struct gang *gang = &sched->gangs.items[seq_get(&list->seq, at)];
        uint32_t pool = gang_pool(sched, gang);
        ++*looks;
        if (pool != NONE && pool != gpus->pool) {
            continue;
        }
        *looks += gang->waiting.count;
        if (!cfs_has_gpus(sched, &gang->waiting_sum)) {
            note_gang(gpus, gang);
        } else if (!list->is_borrowed) {
            add_gang(gpus, list, gang, is_waiting);
        }
    }
}

/* Whether a list has work that may go to the pool, and waits. */
static bool is_of_pool(const struct gpu_nodes *gpus, const struct list *list)
{
    return list->use_count && list->seq.count &&
           (list->pool == NONE || list->pool == gpus->pool) &&
           !gpus->sched->queues.items[list->queue].is_cordoned;
}

static int by_urgency(const void *a, const void *b)
{
    const struct asker *one = a, *other = b;

    return one->level != other->level
               ? (one->level < other->level ? 1 : -1)
               : (one->class_index > other->class_index) -
                     (one->class_index < other->class_index);
}

/* What waits in the pool, by class.  Adds the lists, gangs and members that it
 * looks at to `looks`. */
static void gather_waiters(struct gpu_nodes *gpus, bool *is_waiting,
                           uint64_t *looks)
{
    const struct sched *sched = gpus->sched;

    *looks += sched->lists.count;
    for (size_t i = 0; i < sched->lists.count; i++) {
        const struct list *list = &sched->lists.items[i];
        if (!is_of_pool(gpus, list)) {
            continue;
        }
        if (list->class_index == NONE) {
            note_gangs(gpus, list, is_waiting, looks);
        } else if (!is_waiting[list->class_index] &&
                   is_waiting_for_gpus(gpus, list)) {
            add_waiter(gpus, list->class_index, is_waiting);
        }
    }
    if (gpus->waiter_count > 1) {
        qsort(gpus->waiters, gpus->waiter_count, sizeof(*gpus->waiters),
              by_urgency);
    }
}

static void gather(struct gpu_nodes *gpus, uint64_t *looks)
{
    const struct sched *sched = gpus->sched;
    size_t class_count = sched->classes.count;
    bool *is_waiting =
        arena_alloc_array(gpus->arena, class_count, sizeof(*is_waiting));

    node_shapes_sync(gpus->sched);
    gpus->is_known = true;
    gpus->waiters =
        arena_alloc_array(gpus->arena, class_count, sizeof(*gpus->waiters));
    gpus->needed =
        arena_alloc_array(gpus->arena, class_count, sizeof(*gpus->needed));
    gpus->verdicts = arena_alloc_array(gpus->arena, class_count, 1);
    gpus->levels = arena_alloc_array(gpus->arena, sched->nodes.count,
                                     sizeof(*gpus->levels));
    memset(gpus->levels, 0xff, sched->nodes.count * sizeof(*gpus->levels));
    gpus->kind_levels = arena_alloc_array(gpus->arena, sched->kind_least.count,
                                          sizeof(*gpus->kind_levels));
    memset(gpus->kind_levels, 0xff,
           sched->kind_least.count * sizeof(*gpus->kind_levels));
    for (size_t i = 0; i < class_count; i++) {
        gpus->needed[i] = 1;
    }
    gather_waiters(gpus, is_waiting, looks);
}

/* What is kept. */

/* Whether nodes without GPUs could hold the jobs of a class. */
static enum verdict find_verdict(struct gpu_nodes *gpus, uint32_t class_index,
                                 uint64_t *looks)
{
    const struct sched *sched = gpus->sched;
    struct asker asker = {.class_index = class_index};
    uint32_t left = gpus->needed[class_index];

    for (uint32_t i = 0; i < sched->nodes.count && left != NONE; i++) {
        ++*looks;
        if (sched->nodes.items[i].pool != gpus->pool ||
            cfs_has_gpus(sched, &sched->nodes.items[i].capacity)) {
            continue;
        }
        uint32_t count = count_on(gpus, &asker, i);
        if (count >= left) {
            return VERDICT_KEPT;
        }
        left -= count;
    }
    return VERDICT_FREE;
}

/* Whether jobs of a class are kept off anything. */
static bool is_kept_off(struct gpu_nodes *gpus, uint32_t class_index,
                        uint64_t *looks)
{
    if (!gpus->is_known) {
        gather(gpus, looks);
    }
    if (gpus->waiter_count == 0) {
        return false;
    }
    if (gpus->verdicts[class_index] == VERDICT_UNKNOWN) {
        gpus->verdicts[class_index] =
            (uint8_t)find_verdict(gpus, class_index, looks);
    }
    return gpus->verdicts[class_index] == VERDICT_KEPT;
}

/* How urgent the most urgent waiter is that could have a node. */
static int16_t level_on(struct gpu_nodes *gpus, uint32_t node, uint64_t *looks)
{
    int16_t best = gpus->levels[node];

    if (best >= 0) {
        return best;
    }
    best = 0;
    for (uint32_t i = 0; i < gpus->waiter_count && best == 0; i++) {
        struct asker *waiter = &gpus->waiters[i];
        ++*looks;
        if (count_on(gpus, waiter, node)) {
            best = waiter->level;
        }
    }
    gpus->levels[node] = best;
    return best;
}

/* How urgent the most urgent waiter is that could have each node of the kind of
 * one: what is in its way is not a window, nor a name that it asks for. */
static int16_t level_on_kind(struct gpu_nodes *gpus, uint32_t node,
                             uint64_t *looks)
{
    const struct sched *sched = gpus->sched;
    uint32_t kind = sched->kinds_of[node];
    const struct resource_vec *least = node_shapes_least(sched, kind);
    int16_t best = gpus->kind_levels[kind / 2];

    if (best >= 0) {
        return best;
    }
    best = 0;
    for (uint32_t i = 0; i < gpus->waiter_count && best == 0; i++) {
        struct asker *waiter = &gpus->waiters[i];
        const struct class *class = &sched->classes.items[waiter->class_index];
        ++*looks;
        if (!class->asks_names && amounts_fit(&class->request, least) &&
            is_match(gpus, waiter, node)) {
            best = waiter->level;
        }
    }
    gpus->kind_levels[kind / 2] = best;
    return best;
}

/* A variant of a class, which runs away, is kept off as the class is. */
static uint32_t class_at_home(const struct gpu_nodes *gpus,
                              uint32_t class_index)
{
    const struct class *class = &gpus->sched->classes.items[class_index];

    return class->is_away ? class->base : class_index;
}

bool gpu_nodes_keep(struct gpu_nodes *gpus, uint32_t class_index, uint32_t node,
                    uint64_t *looks)
{
    const struct sched *sched = gpus->sched;
    uint32_t home = class_at_home(gpus, class_index);
    const struct class *class = &sched->classes.items[home];

    if (cfs_has_gpus(sched, &class->request) ||
        !cfs_has_gpus(sched, &sched->nodes.items[node].capacity)) {
        return false;
    }
    return gpus->is_always || (is_kept_off(gpus, home, looks) &&
                               level_on(gpus, node, looks) > class->level);
}

bool gpu_nodes_keep_kind(struct gpu_nodes *gpus, uint32_t class_index,
                         uint32_t node, uint64_t *looks)
{
    const struct sched *sched = gpus->sched;
    uint32_t home = class_at_home(gpus, class_index);
    const struct class *class = &sched->classes.items[home];

    if (windows_are_any(sched) || cfs_has_gpus(sched, &class->request) ||
        !cfs_has_gpus(sched, node_shapes_least(sched, sched->kinds_of[node]))) {
        return false;
    }
    return gpus->is_always || (is_kept_off(gpus, home, looks) &&
                               level_on_kind(gpus, node, looks) > class->level);
}

uint64_t gpu_nodes_mark(struct gpu_nodes *gpus, uint32_t class_index,
                        uint64_t *looks)
{
    const struct sched *sched = gpus->sched;
    uint32_t home = class_at_home(gpus, class_index);

    if (cfs_has_gpus(sched, &sched->classes.items[home].request) ||
        !(gpus->is_always || is_kept_off(gpus, home, looks))) {
        return 0;
    }
    return 1 + gpus->waiter_mark;
}
