#include "executor/loop/node_capacity.h"

#include "base/intern.h"

struct room_amount {
    uint32_t resource;
    int64_t milli;
};

/* What pods have of a resource of a node, in thousandths. */
struct room_sum {
    int64_t kept_milli;   /* by those that stay */
    int64_t ending_milli; /* by those that are being ended */
};

struct room {
    struct intern *names;     /* of nodes; owned */
    struct intern *resources; /* owned */
    struct map used;          /* (node, resource) to an index of `sums` */
    VEC(struct room_sum) sums;
    VEC(uint32_t) freed_counts; /* by node; a node beyond has none */
    /* Of the last look at the nodes: where a node is, by name; only a hint. */
    VEC(uint32_t) places;
    const struct node_record *nodes;
    uint32_t node_count;
};

struct room *room_create(void)
{
    struct room *room = mem_alloc(sizeof(*room));

    room->names = intern_create();
    room->resources = intern_create();
    return room;
}

void room_destroy(struct room *room)
{
    if (!room) {
        return;
    }
    intern_destroy(room->names);
    intern_destroy(room->resources);
    map_fini(&room->used);
    VEC_FREE(&room->sums);
    VEC_FREE(&room->freed_counts);
    VEC_FREE(&room->places);
    mem_free(room);
}

static struct key128 key_of(uint32_t node, uint32_t resource)
{
    return (struct key128){node, resource};
}

static struct room_sum *sum_of(struct room *room, uint32_t node,
                               uint32_t resource)
{
    struct key128 key = key_of(node, resource);
    uint32_t at = map_find(&room->used, key);

    if (at == MAP_NONE) {
        at = (uint32_t)room->sums.count;
        VEC_PUSH(&room->sums, (struct room_sum){0});
        (void)map_put(&room->used, key, at);
    }
    return &room->sums.items[at];
}

static struct room_sum sum_at(const struct room *room, uint32_t index,
                              struct str resource)
{
    uint32_t node = intern_find(room->names, room->nodes[index].name);
    uint32_t r = intern_find(room->resources, resource);
    uint32_t at = node == INTERN_NONE || r == INTERN_NONE
                      ? MAP_NONE
                      : map_find(&room->used, key_of(node, r));

    return at == MAP_NONE ? (struct room_sum){0} : room->sums.items[at];
}

static int64_t kept_of(void *ctx, uint32_t index, struct str resource)
{
    return sum_at(ctx, index, resource).kept_milli;
}

static int64_t used_of(void *ctx, uint32_t index, struct str resource)
{
    struct room_sum sum = sum_at(ctx, index, resource);

    return sum.kept_milli + sum.ending_milli;
}

static void note_places(struct room *room)
{
    for (uint32_t i = 0; i < room->node_count; i++) {
        uint32_t node = intern_add(room->names, room->nodes[i].name);
        while (room->places.count <= node) {
            VEC_PUSH(&room->places, REPACK_NONE);
        }
        room->places.items[node] = i;
    }
}

static uint32_t hint_of(const struct room *room, struct str name)
{
    uint32_t node = intern_find(room->names, name);
    uint32_t at = node != INTERN_NONE && node < room->places.count
                      ? room->places.items[node]
                      : REPACK_NONE;

    return at < room->node_count && str_equal(room->nodes[at].name, name)
               ? at
               : REPACK_NONE;
}

bool room_choose(struct room *room, const struct node_record *nodes,
                 uint32_t node_count, struct str name,
                 const struct resource_list *request, struct str *ret_name)
{
    struct repack repack = {nodes, node_count, kept_of, room};

    *ret_name = name;
    room->nodes = nodes;
    room->node_count = node_count;
    uint32_t at = hint_of(room, name);
    if (at == REPACK_NONE) {
        note_places(room);
        at = hint_of(room, name);
    }
    if (at == REPACK_NONE) {
        return true;
    }
    uint32_t chosen = repack_choose(&repack, at, request);
    if (chosen == REPACK_NONE) {
        return false;
    }
    *ret_name =
        intern_get(room->names, intern_add(room->names, nodes[chosen].name));
    return true;
}

void room_take(struct room *room, struct str name,
               const struct resource_list *request,
               struct room_share *ret_share)
{
    ret_share->node = intern_add(room->names, name);
    ret_share->amount_count = request->count;
    ret_share->amounts =
        mem_alloc_array(request->count + 1, sizeof(*ret_share->amounts));
    for (uint32_t i = 0; i < request->count; i++) {
        uint32_t resource = intern_add(room->resources, request->items[i].name);
        int64_t milli = request->items[i].milli;
        ret_share->amounts[i] = (struct room_amount){resource, milli};
        sum_of(room, ret_share->node, resource)->kept_milli += milli;
    }
}

bool room_is_free(struct room *room, struct str name,
                  const struct resource_list *request)
{
    struct repack repack = {room->nodes, room->node_count, used_of, room};
    uint32_t at = hint_of(room, name);

    return at == REPACK_NONE || repack_has_room(&repack, at, request);
}

void room_end(struct room *room, struct room_share *share)
{
    for (uint32_t i = 0; !share->is_ending && i < share->amount_count; i++) {
        const struct room_amount *amount = &share->amounts[i];
        struct room_sum *sum = sum_of(room, share->node, amount->resource);
        sum->kept_milli -= amount->milli;
        sum->ending_milli += amount->milli;
    }
    share->is_ending = share->amounts != NULL;
}

uint32_t room_node(struct room *room, struct str name)
{
    return intern_add(room->names, name);
}

uint32_t room_freed_count(const struct room *room, uint32_t node)
{
    return node < room->freed_counts.count ? room->freed_counts.items[node] : 0;
}

static void count_freed(struct room *room, uint32_t node)
{
    while (room->freed_counts.count <= node) {
        VEC_PUSH(&room->freed_counts, 0);
    }
    room->freed_counts.items[node]++;
}

void room_drop(struct room *room, struct room_share *share)
{
    for (uint32_t i = 0; i < share->amount_count; i++) {
        const struct room_amount *amount = &share->amounts[i];
        struct room_sum *sum = sum_of(room, share->node, amount->resource);
        *(share->is_ending ? &sum->ending_milli : &sum->kept_milli) -=
            amount->milli;
    }
    if (share->is_ending) {
        count_freed(room, share->node);
    }
    mem_free(share->amounts);
    *share = (struct room_share){0};
}
