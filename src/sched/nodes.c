#include <string.h>

#include "base/hash.h"
#include "sched/floating.h"
#include "sched/kinds.h"
#include "sched/reserve.h"
#include "sched/topology.h"
#include "sched/truce.h"

enum { NODES_MIN = 64, CHANGED_MAX = 1 << 16 };

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

/* A copy of a record in one block, without pool and type. */
static struct node_record *record_copy(const struct node_record *record)
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

uint32_t pool_get(struct sched *sched, struct str name)
{
    uint32_t pool = intern_add(sched->pool_names, name);

    while (sched->pools.count <= pool) {
        struct str fresh =
            intern_get(sched->pool_names, (uint32_t)sched->pools.count);
        struct pool record = {
            .policy_index = -1,
            .is_stale = true,
            .is_base_stale = true,
            .is_topology_stale = true,
        };
        for (uint32_t i = 0; i < sched->policy->pool_count; i++) {
            if (str_equal(sched->policy->pools[i].name, fresh)) {
                record.policy_index = (int)i;
            }
        }
        floating_set_totals(sched, &record);
        VEC_PUSH(&sched->pools, record);
    }
    return pool;
}

uint64_t pool_weigh(const struct pool *pool, const struct resource_vec *v)
{
    uint64_t sum = 0;

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        sum += v->v[r] > 0 ? pool->weights[r] * (uint64_t)v->v[r] : 0;
    }
    return sum;
}

static uint32_t executor_get(struct sched *sched, struct str name)
{
    uint32_t executor = intern_add(sched->executor_names, name);

    if (sched->executors.count <= executor) {
        VEC_PUSH(&sched->executors,
                 (struct executor){
                     .name = intern_get(sched->executor_names, executor),
                     .accepts = true,
                 });
    }
    return executor;
}

static struct str name_of(const struct node *node)
{
    return str_make(node->name, node->name_bytes);
}

static bool node_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;
    const struct node *x = &sched->nodes.items[a];
    const struct node *y = &sched->nodes.items[b];
    int c = str_compare(name_of(x), name_of(y));

    if (c == 0) {
        c = str_compare(sched->executors.items[x->executor].name,
                        sched->executors.items[y->executor].name);
    }
    return c < 0;
}

static struct key128 node_key(uint32_t executor, struct str name)
{
    return (struct key128){executor,
                           hash_bytes(name.p, name.byte_count, executor)};
}

static void grow_arrays(struct sched *sched)
{
    uint32_t capacity =
        sched->node_capacity ? sched->node_capacity * 2 : NODES_MIN;
    size_t row = sched->level_count * sizeof(struct resource_vec);

    sched->free = mem_grow_array(sched->free, capacity, sizeof(*sched->free));
    sched->preemptible = mem_grow_array(sched->preemptible, capacity, row);
    sched->ranks =
        mem_grow_array(sched->ranks, capacity, sizeof(*sched->ranks));
    sched->kinds_of =
        mem_grow_array(sched->kinds_of, capacity, sizeof(*sched->kinds_of));
    sched->change_counts = mem_grow_array(sched->change_counts, capacity,
                                          sizeof(*sched->change_counts));
    memset(sched->change_counts + sched->node_capacity, 0,
           (capacity - sched->node_capacity) * sizeof(*sched->change_counts));
    sched->free_words =
        mem_grow_array(sched->free_words, capacity, sizeof(*sched->free_words));
    sched->node_capacity = capacity;
    for (size_t i = 0; i < sched->pools.count; i++) {
        sched->pools.items[i].index.free = sched->free;
        sched->pools.items[i].index.ranks = sched->ranks;
        sched->pools.items[i].index.kinds = sched->kinds_of;
        sched->pools.items[i].index.node_words = sched->free_words;
    }
}

static uint32_t node_add(struct sched *sched, uint32_t executor,
                         struct str name)
{
    uint32_t node;

    if (sched->spare_nodes.count) {
        node = sched->spare_nodes.items[--sched->spare_nodes.count];
    } else {
        node = (uint32_t)sched->nodes.count;
        VEC_PUSH(&sched->nodes, (struct node){0});
        VEC_PUSH(&sched->node_next, NONE);
    }
    if (node >= sched->node_capacity) {
        grow_arrays(sched);
    }
    sched->nodes.items[node] = (struct node){
        .name = str_dup(name),
        .name_bytes = (uint32_t)name.byte_count,
        .executor = executor,
        .pool = NONE,
        .run_first = NONE,
    };
    sched->free[node] = (struct resource_vec){0};
    sched->free_words[node] = 0;
    node_count_change(sched, node);
    memset(&sched->preemptible[(size_t)node * sched->level_count], 0,
           sched->level_count * sizeof(struct resource_vec));
    uint32_t old = map_put(&sched->node_map, node_key(executor, name), node);
    sched->node_next.items[node] = old;
    seq_insert(&sched->nodes_by_name, node, node_less, sched);
    sched->are_node_ranks_stale = true;
    return node;
}

uint32_t sched_node_index(struct sched *sched, struct str executor,
                          struct str name)
{
    uint32_t e = executor_get(sched, executor);
    uint32_t node = map_find(&sched->node_map, node_key(e, name));

    while (node != MAP_NONE) {
        if (sched->nodes.items[node].executor == e &&
            str_equal(name_of(&sched->nodes.items[node]), name)) {
            return node;
        }
        node = sched->node_next.items[node];
    }
    return node_add(sched, e, name);
}

void node_release(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (node->record || node->run_count || node->avoid_count ||
        node->is_indexed || node->is_dirty || health_is_kept(sched, index)) {
        return;
    }
    struct key128 key = node_key(node->executor, name_of(node));
    uint32_t first = map_find(&sched->node_map, key);
    if (first != index) {
        while (sched->node_next.items[first] != index) {
            first = sched->node_next.items[first];
        }
        sched->node_next.items[first] = sched->node_next.items[index];
    } else if (sched->node_next.items[index] != NONE) {
        map_put(&sched->node_map, key, sched->node_next.items[index]);
    } else {
        map_remove(&sched->node_map, key);
    }
    seq_remove(&sched->nodes_by_name, index, node_less, sched);
    mem_free(node->name);
    node->name = NULL;
    VEC_PUSH(&sched->spare_nodes, index);
}

void node_index_later(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (!node->is_dirty) {
        node->is_dirty = true;
        VEC_PUSH(&sched->dirty, index);
    }
}

void node_count_change(struct sched *sched, uint32_t index)
{
    sched->change_counts[index]++;
    if (sched->changed.count == CHANGED_MAX) {
        sched->changed_base += CHANGED_MAX;
        sched->changed.count = 0;
    }
    VEC_PUSH(&sched->changed, index);
}

void node_touch(struct sched *sched, uint32_t index)
{
    node_count_change(sched, index);
    node_index_later(sched, index);
}

bool node_is_in_total(const struct node *node)
{
    return node->record && !node->record->is_unschedulable;
}

/* Count a present node in (+1) or out (-1) of its pool. */
static void pool_count(struct sched *sched, const struct node *node, int sign)
{
    struct pool *pool = &sched->pools.items[node->pool];

    struct resource_vec capacity = node->capacity;

    floating_strip(sched, &capacity);
    pool->node_count += (uint32_t)sign;
    if (node_is_in_total(node)) {
        amounts_add_times(&pool->total, &capacity, sign);
    }
    pool->is_stale = pool->is_base_stale = true;
    pool->is_foreign_known = false;
}

static struct resource_vec capacity_of(const struct sched *sched,
                                       const struct node_record *record)
{
    struct resource_vec capacity =
        resource_capacity(&sched->policy->schema, &record->total);
    struct resource_vec foreign;

    (void)!resource_request(&sched->policy->schema, &record->foreign, &foreign);
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t left = capacity.v[r] - foreign.v[r];
        capacity.v[r] = left > 0 ? left : 0;
    }
    amounts_clamp(&capacity);
    floating_make_room(sched, &capacity);
    return capacity;
}

/* The taints that keep pods away, as a number; 0 for none. */
static uint32_t taint_set_of(struct sched *sched,
                             const struct node_record *record)
{
    auto_strbuf buf = {0};

    for (uint32_t i = 0; i < record->taint_count; i++) {
        if (record->taints[i].effect != TAINT_PREFER_NO_SCHEDULE) {
            pack_u64(&buf, record->taints[i].effect);
            pack_str(&buf, record->taints[i].key);
            pack_str(&buf, record->taints[i].value);
        }
    }
    return intern_add(sched->taint_sets, strbuf_str(&buf));
}

void node_refresh(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];
    bool is_accepting = node->record && !node->record->is_unschedulable &&
                        sched->executors.items[node->executor].accepts &&
                        !node->is_out &&
                        !(node->is_on_trial && node->run_count > 0);

    if (is_accepting != node->is_accepting) {
        sched->layout_count++;
        node->is_accepting = is_accepting;
        node_touch(sched, index);
    }
}

/* Take the node's index entry out before its pool changes. */
static void leave_index(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (node->is_indexed) {
        struct pool *pool = &sched->pools.items[node->pool];
        if (!pool->is_stale && !sched->are_node_ranks_stale) {
            node_index_remove(&pool->index, index, node->key);
        } else {
            pool->is_stale = true;
        }
        node->is_indexed = false;
        pool->indexed_count--;
    }
}

static void relink_runs(struct sched *sched, uint32_t index, uint32_t pool)
{
    VEC(uint32_t) runs = {0};

    for (uint32_t run = sched->nodes.items[index].run_first; run != NONE;
         run = sched->runs.items[run].node_next) {
        VEC_PUSH(&runs, run);
    }
    for (size_t i = 0; i < runs.count; i++) {
        run_unlink(sched, runs.items[i]);
    }
    leave_index(sched, index);
    sched->nodes.items[index].pool = pool;
    for (size_t i = 0; i < runs.count; i++) {
        run_link(sched, runs.items[i]);
    }
    VEC_FREE(&runs);
}

static bool has_labels_of(const struct node *node,
                          const struct node_record *record)
{
    const struct node_record *known = node->record;
    bool is_same = known->label_count == record->label_count;

    for (uint32_t i = 0; is_same && i < record->label_count; i++) {
        is_same = str_equal(known->labels[i].key, record->labels[i].key) &&
                  str_equal(known->labels[i].value, record->labels[i].value);
    }
    return is_same;
}

uint32_t sched_node_set(struct sched *sched, struct str executor,
                        const struct node_record *record, struct str pool)
{
    uint32_t index = sched_node_index(sched, executor, record->name);
    uint32_t p = pool_get(sched, record->pool.byte_count ? record->pool : pool);
    struct node *node = &sched->nodes.items[index];
    struct resource_vec capacity = capacity_of(sched, record);
    uint32_t taint_set = taint_set_of(sched, record);

    /* Most reports repeat what is known, and shares and keys with it. */
    bool is_same = node->record && node->pool == p &&
                   node->record->is_unschedulable == record->is_unschedulable &&
                   memcmp(&capacity, &node->capacity, sizeof(capacity)) == 0;

    bool is_moved = !node->record || node->pool != p ||
                    !has_labels_of(node, record) ||
                    node->taint_set != taint_set;

    sched->version++;
    sched->layout_count += is_moved;
    topology_note(sched, index, p, record);
    if (node->record && !is_same) {
        pool_count(sched, node, -1);
    }
    if (node->pool != p) {
        relink_runs(sched, index, p);
        node = &sched->nodes.items[index];
    }
    mem_free(node->record);
    node->record = record_copy(record);
    if (!is_same || is_moved) {
        truce_news(sched);
    }
    node->taint_set = taint_set;
    kinds_note_node(sched, index);
    amounts_subtract(&sched->free[index], &node->capacity);
    amounts_add(&sched->free[index], &capacity);
    node->capacity = capacity;
    if (!is_same) {
        pool_count(sched, node, 1);
    }
    node_touch(sched, index);
    node_refresh(sched, index);
    return index;
}

void sched_node_remove(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    ASSERT(index < sched->nodes.count && node->name);
    if (!node->record) {
        return;
    }
    sched->version++;
    truce_news(sched);
    topology_note(sched, index, node->pool, NULL);
    pool_count(sched, node, -1);
    amounts_subtract(&sched->free[index], &node->capacity);
    node->capacity = (struct resource_vec){0};
    mem_free(node->record);
    node->record = NULL;
    node_refresh(sched, index);
    leave_index(sched, index);
    node_touch(sched, index);
}

void sched_executor_set(struct sched *sched, struct str executor,
                        bool accepts_new_leases)
{
    uint32_t e = executor_get(sched, executor);

    if (sched->executors.items[e].accepts == accepts_new_leases) {
        return;
    }
    sched->version++;
    truce_news(sched);
    sched->executors.items[e].accepts = accepts_new_leases;
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].name && sched->nodes.items[i].executor == e) {
            node_refresh(sched, i);
        }
    }
}

struct str sched_node_name(const struct sched *sched, uint32_t node)
{
    ASSERT(node < sched->nodes.count);
    return name_of(&sched->nodes.items[node]);
}

struct str sched_node_executor(const struct sched *sched, uint32_t node)
{
    ASSERT(node < sched->nodes.count);
    return sched->executors.items[sched->nodes.items[node].executor].name;
}

struct str sched_node_pool(const struct sched *sched, uint32_t node)
{
    ASSERT(node < sched->nodes.count);
    uint32_t pool = sched->nodes.items[node].pool;

    return pool == NONE ? str_make(NULL, 0)
                        : intern_get(sched->pool_names, pool);
}

void sched_node_stats(const struct sched *sched, uint32_t node,
                      struct sched_node_stats *ret_stats)
{
    ASSERT(node < sched->nodes.count);
    *ret_stats = (struct sched_node_stats){
        .capacity = sched->nodes.items[node].capacity,
        .free = sched->free[node],
        .run_count = sched->nodes.items[node].run_count,
        .is_open =
            sched->nodes.items[node].record &&
            sched->nodes.items[node].is_accepting &&
            sched->executors.items[sched->nodes.items[node].executor].accepts,
    };
    floating_strip(sched, &ret_stats->capacity);
    floating_strip(sched, &ret_stats->free);
}

/* Whether more than its level says when a run would make room: it must end, or
 * may be preempted only when it is old enough. */
static bool is_held(const struct run *run, const struct class *class)
{
    return class->deadline_ms != INT64_MAX ||
           (!run->is_preemptible && class->lifetime_ms != LIFETIME_INFINITE);
}

void node_add_run(struct sched *sched, uint32_t index, int sign)
{
    struct run *run = &sched->runs.items[index];
    struct node *node = &sched->nodes.items[run->node];
    uint32_t list = sched->jobs.items[run->job].list;
    uint32_t c = sched->lists.items[list].class_index;
    const struct resource_vec *request = &sched->classes.items[c].request;

    if (sign > 0) {
        run->is_held = is_held(run, &sched->classes.items[c]);
    }
    if (node->pool != NONE && sched->pools.items[node->pool].ready.turn) {
        reserve_note_run(sched, run, &sched->classes.items[c], sign);
    }
    node->held_count += run->is_held ? (uint32_t)sign : 0;
    floating_count(sched, node->pool, request, sign);
    amounts_count(&sched->free[run->node], request, -sign);
    if (run->is_preemptible) {
        amounts_count(
            &sched->preemptible[(size_t)run->node * sched->level_count +
                                run->level],
            request, sign);
        sched->preemptible_count[run->level] += (uint32_t)sign;
    }
    if (sign > 0) {
        run->node_next = node->run_first;
        run->node_previous = NONE;
        if (node->run_first != NONE) {
            sched->runs.items[node->run_first].node_previous = index;
        }
        node->run_first = index;
    } else {
        if (run->node_next != NONE) {
            sched->runs.items[run->node_next].node_previous =
                run->node_previous;
        }
        if (run->node_previous != NONE) {
            sched->runs.items[run->node_previous].node_next = run->node_next;
        } else {
            node->run_first = run->node_next;
        }
    }
    node->run_count += (uint32_t)sign;
    if (node->is_on_trial) {
        node_refresh(sched, run->node);
    }
    node_touch(sched, run->node);
}

/* Weights such that a whole pool weighs less than 2^62. */
static void set_weights(const struct sched *sched, struct pool *pool)
{
    int64_t ppm[RESOURCE_COLUMNS_MAX] = {0};
    int64_t sum = 0;

    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        if (pool->policy_index >= 0) {
            ppm[r] =
                sched->policy->pools[pool->policy_index].packing_weights_ppm[r];
        }
        ppm[r] = ppm[r] > 0 ? ppm[r] : 0;
        sum += ppm[r];
    }
    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        ppm[r] = sum ? ppm[r] : 1;
    }
    sum = sum ? sum : RESOURCE_COLUMNS_MAX;
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        u128 one = (u128)1 << 62;
        pool->weights[r] =
            pool->total.v[r] > 0 && !sched->policy->is_floating[r]
                ? (uint64_t)(one * (uint64_t)ppm[r] / (uint64_t)sum /
                             (uint64_t)pool->total.v[r])
                : 0;
    }
}

void pool_sync_base(const struct sched *sched, struct pool *pool)
{
    if (pool->is_base_stale) {
        cost_base_set_by(&pool->base, &pool->total, sched->policy,
                         pool->policy_index < 0
                             ? NULL
                             : &sched->policy->pools[pool->policy_index]);
        pool->is_base_stale = false;
    }
}

static void raise_largest(struct resource_vec *largest,
                          const struct resource_vec *v)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        largest->v[r] = v->v[r] > largest->v[r] ? v->v[r] : largest->v[r];
    }
}

static void pool_reindex(struct sched *sched, uint32_t p)
{
    struct pool *pool = &sched->pools.items[p];
    size_t n = sched->nodes_by_name.count;
    struct node_index_entry *entries =
        arena_alloc_array(&sched->arena, n, sizeof(*entries));
    struct node_index_entry *spare =
        arena_alloc_array(&sched->arena, n, sizeof(*spare));
    struct resource_vec largest = {0};
    uint32_t count = 0;

    pool_sync_base(sched, pool);
    set_weights(sched, pool);
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t i = seq_get(&sched->nodes_by_name, at);
        struct node *node = &sched->nodes.items[i];
        if (node->pool != p) {
            continue;
        }
        node->is_indexed = node->is_accepting;
        if (node->is_accepting) {
            node->key = pool_weigh(pool, &sched->free[i]);
            entries[count++] = (struct node_index_entry){node->key, i};
            raise_largest(&largest, &node->capacity);
        }
    }
    pool->index.free = sched->free;
    pool->index.ranks = sched->ranks;
    pool->index.kinds = sched->kinds_of;
    pool->index.node_words = sched->free_words;
    node_index_clear(&pool->index);
    pool->index.scale = packed_scale_for(&largest);
    node_index_fill(&pool->index, entries, spare, count);
    pool->indexed_count = count;
    pool->is_stale = false;
}

void node_reindex(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (node->pool == NONE) {
        return;
    }
    struct pool *pool = &sched->pools.items[node->pool];
    uint64_t key = pool_weigh(pool, &sched->free[index]);
    if (node->is_indexed && node->is_accepting) {
        node_index_move(&pool->index, index, node->key, key);
        node->key = key;
        return;
    }
    if (node->is_indexed) {
        node_index_remove(&pool->index, index, node->key);
        pool->indexed_count--;
    }
    node->key = key;
    node->is_indexed = node->is_accepting;
    if (node->is_accepting) {
        node_index_insert(&pool->index, index, key);
        pool->indexed_count++;
    }
}

static void rank_nodes(struct sched *sched)
{
    uint32_t rank = 0;

    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        sched->ranks[seq_get(&sched->nodes_by_name, at)] = rank++;
    }
    sched->are_node_ranks_stale = false;
}

void nodes_sync(struct sched *sched)
{
    kinds_sync(sched);
    /* Ranks of nodes in an index keep their order, so it stays sorted. */
    if (sched->are_node_ranks_stale) {
        rank_nodes(sched);
    }
    for (uint32_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        topology_sync(sched, p);
        if (!pool->is_stale) {
            continue;
        }
        pool_reindex(sched, p);
    }
    for (size_t i = 0; i < sched->dirty.count; i++) {
        uint32_t index = sched->dirty.items[i];
        sched->nodes.items[index].is_dirty = false;
        node_reindex(sched, index);
        node_release(sched, index);
    }
    sched->dirty.count = 0;
}

void nodes_rebuild(struct sched *sched)
{
    size_t row = sched->level_count * sizeof(struct resource_vec);

    memset(sched->preemptible_count, 0, sizeof(sched->preemptible_count));
    for (size_t p = 0; p < sched->pools.count; p++) {
        sched->pools.items[p].total = (struct resource_vec){0};
        sched->pools.items[p].used = (struct resource_vec){0};
        floating_set_totals(sched, &sched->pools.items[p]);
        sched->pools.items[p].is_stale = true;
        sched->pools.items[p].is_base_stale = true;
        sched->pools.items[p].is_foreign_known = false;
    }
    mem_free(sched->preemptible);
    sched->preemptible =
        mem_alloc_array(sched->node_capacity ? sched->node_capacity : 1, row);
    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        struct node *node = &sched->nodes.items[i];
        if (node->name && node->record) {
            struct pool *pool = &sched->pools.items[node->pool];
            node->capacity = capacity_of(sched, node->record);
            sched->free[i] = node->capacity;
            struct resource_vec capacity = node->capacity;
            floating_strip(sched, &capacity);
            if (node_is_in_total(node)) {
                amounts_add(&pool->total, &capacity);
            }
        } else {
            sched->free[i] = (struct resource_vec){0};
        }
    }
}

void nodes_fini(struct sched *sched)
{
    for (size_t i = 0; i < sched->nodes.count; i++) {
        mem_free(sched->nodes.items[i].name);
        mem_free(sched->nodes.items[i].record);
    }
    for (size_t i = 0; i < sched->pools.count; i++) {
        node_index_fini(&sched->pools.items[i].index);
        labels_forget(&sched->pools.items[i]);
        topology_forget(&sched->pools.items[i]);
    }
    VEC_FREE(&sched->nodes);
    VEC_FREE(&sched->spare_nodes);
    VEC_FREE(&sched->node_next);
    VEC_FREE(&sched->executors);
    VEC_FREE(&sched->pools);
    VEC_FREE(&sched->dirty);
    map_fini(&sched->node_map);
    seq_fini(&sched->nodes_by_name);
    mem_free(sched->free);
    mem_free(sched->preemptible);
    mem_free(sched->ranks);
    mem_free(sched->kinds_of);
    mem_free(sched->free_words);
    mem_free(sched->change_counts);
    VEC_FREE(&sched->changed);
    intern_destroy(sched->pool_names);
    intern_destroy(sched->executor_names);
    intern_destroy(sched->taint_sets);
}
