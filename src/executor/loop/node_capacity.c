#include "executor/loop/node_capacity.h"

#include "base/intern.h"

struct node_capacity_amount {
    uint32_t resource;
    int64_t milli;
};

/* What pods have of a resource of a node, in thousandths. */
struct node_capacity_sum {
    int64_t kept_milli;   /* by those that stay */
    int64_t ending_milli; /* by those that are being ended */
};

struct node_capacity {
    struct intern *names;     /* of nodes; owned */
    struct intern *resources; /* owned */
    struct map used;          /* (node, resource) to an index of `sums` */
    VEC(struct node_capacity_sum) sums;
    VEC(uint32_t) freed_counts; /* by node; a node beyond has none */
    /* Of the last look at the nodes: where a node is, by name; only a hint. */
    VEC(uint32_t) places;
    const struct node_record *nodes;
    uint32_t node_count;
};

struct node_capacity *node_capacity_create(void)
{
    struct node_capacity *capacity = mem_alloc(sizeof(*capacity));

    capacity->names = intern_create();
    capacity->resources = intern_create();
    return capacity;
}

void node_capacity_destroy(struct node_capacity *capacity)
{
    if (!capacity) {
        return;
    }
    intern_destroy(capacity->names);
    intern_destroy(capacity->resources);
    map_fini(&capacity->used);
    VEC_FREE(&capacity->sums);
    VEC_FREE(&capacity->freed_counts);
    VEC_FREE(&capacity->places);
    mem_free(capacity);
}

static struct key128 key_of(uint32_t node, uint32_t resource)
{
    return (struct key128){node, resource};
}

static struct node_capacity_sum *sum_of(struct node_capacity *capacity,
                                        uint32_t node, uint32_t resource)
{
    struct key128 key = key_of(node, resource);
    uint32_t at = map_find(&capacity->used, key);

    if (at == MAP_NONE) {
        at = (uint32_t)capacity->sums.count;
        VEC_PUSH(&capacity->sums, (struct node_capacity_sum){0});
        (void)map_put(&capacity->used, key, at);
    }
    return &capacity->sums.items[at];
}

static struct node_capacity_sum sum_at(const struct node_capacity *capacity,
                                       uint32_t index, struct str resource)
{
    uint32_t node = intern_find(capacity->names, capacity->nodes[index].name);
    uint32_t r = intern_find(capacity->resources, resource);
    uint32_t at = node == INTERN_NONE || r == INTERN_NONE
                      ? MAP_NONE
                      : map_find(&capacity->used, key_of(node, r));

    return at == MAP_NONE ? (struct node_capacity_sum){0}
                          : capacity->sums.items[at];
}

static int64_t kept_of(void *ctx, uint32_t index, struct str resource)
{
    return sum_at(ctx, index, resource).kept_milli;
}

static int64_t used_of(void *ctx, uint32_t index, struct str resource)
{
    struct node_capacity_sum sum = sum_at(ctx, index, resource);

    return sum.kept_milli + sum.ending_milli;
}

static void note_places(struct node_capacity *capacity)
{
    for (uint32_t i = 0; i < capacity->node_count; i++) {
        uint32_t node = intern_add(capacity->names, capacity->nodes[i].name);
        while (capacity->places.count <= node) {
            VEC_PUSH(&capacity->places, REPACK_NONE);
        }
        capacity->places.items[node] = i;
    }
}

static uint32_t hint_of(const struct node_capacity *capacity, struct str name)
{
    uint32_t node = intern_find(capacity->names, name);
    uint32_t at = node != INTERN_NONE && node < capacity->places.count
                      ? capacity->places.items[node]
                      : REPACK_NONE;

    return at < capacity->node_count &&
                   str_equal(capacity->nodes[at].name, name)
               ? at
               : REPACK_NONE;
}

bool node_capacity_choose(struct node_capacity *capacity,
                          const struct node_record *nodes, uint32_t node_count,
                          struct str name, const struct resource_list *request,
                          struct str *ret_name)
{
    struct repack repack = {nodes, node_count, kept_of, capacity};

    *ret_name = name;
    capacity->nodes = nodes;
    capacity->node_count = node_count;
    uint32_t at = hint_of(capacity, name);
    if (at == REPACK_NONE) {
        note_places(capacity);
        at = hint_of(capacity, name);
    }
    if (at == REPACK_NONE) {
        return true;
    }
    uint32_t chosen = repack_choose(&repack, at, request);
    if (chosen == REPACK_NONE) {
        return false;
    }
    *ret_name = intern_get(capacity->names,
                           intern_add(capacity->names, nodes[chosen].name));
    return true;
}

void node_capacity_take(struct node_capacity *capacity, struct str name,
                        const struct resource_list *request,
                        struct node_capacity_share *ret_share)
{
    ret_share->node = intern_add(capacity->names, name);
    ret_share->amount_count = request->count;
    ret_share->amounts =
        mem_alloc_array(request->count + 1, sizeof(*ret_share->amounts));
    for (uint32_t i = 0; i < request->count; i++) {
        uint32_t resource =
            intern_add(capacity->resources, request->items[i].name);
        int64_t milli = request->items[i].milli;
        ret_share->amounts[i] = (struct node_capacity_amount){resource, milli};
        sum_of(capacity, ret_share->node, resource)->kept_milli += milli;
    }
}

bool node_capacity_is_free(struct node_capacity *capacity, struct str name,
                           const struct resource_list *request)
{
    struct repack repack = {capacity->nodes, capacity->node_count, used_of,
                            capacity};
    uint32_t at = hint_of(capacity, name);

    return at == REPACK_NONE || repack_has_room(&repack, at, request);
}

void node_capacity_end(struct node_capacity *capacity,
                       struct node_capacity_share *share)
{
    for (uint32_t i = 0; !share->is_ending && i < share->amount_count; i++) {
        const struct node_capacity_amount *amount = &share->amounts[i];
        struct node_capacity_sum *sum =
            sum_of(capacity, share->node, amount->resource);
        sum->kept_milli -= amount->milli;
        sum->ending_milli += amount->milli;
    }
    share->is_ending = share->amounts != NULL;
}

uint32_t node_capacity_node(struct node_capacity *capacity, struct str name)
{
    return intern_add(capacity->names, name);
}

uint32_t node_capacity_freed_count(const struct node_capacity *capacity,
                                   uint32_t node)
{
    return node < capacity->freed_counts.count
               ? capacity->freed_counts.items[node]
               : 0;
}

static void count_freed(struct node_capacity *capacity, uint32_t node)
{
    while (capacity->freed_counts.count <= node) {
        VEC_PUSH(&capacity->freed_counts, 0);
    }
    capacity->freed_counts.items[node]++;
}

void node_capacity_drop(struct node_capacity *capacity,
                        struct node_capacity_share *share)
{
    for (uint32_t i = 0; i < share->amount_count; i++) {
        const struct node_capacity_amount *amount = &share->amounts[i];
        struct node_capacity_sum *sum =
            sum_of(capacity, share->node, amount->resource);
        *(share->is_ending ? &sum->ending_milli : &sum->kept_milli) -=
            amount->milli;
    }
    if (share->is_ending) {
        count_freed(capacity, share->node);
    }
    mem_free(share->amounts);
    *share = (struct node_capacity_share){0};
}
