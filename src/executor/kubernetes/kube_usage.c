#include "executor/kubernetes/kube_usage.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/vec.h"

/* A pod: where it is, what it asks for, and in which list it was seen last. */
struct usage_pod {
    struct key128 key; /* of its uid */
    uint32_t node, shape;
    uint32_t list;
    bool is_used;
};

/* An amount of a shape; shapes are interned as arrays of these, which have no
 * padding. */
struct shape_amount {
    uint64_t resource;
    int64_t milli;
};

struct node_amount {
    uint32_t resource;
    int64_t milli;
};

struct usage_node {
    VEC(struct node_amount) amounts;
    bool is_changed;
};

struct kube_usage {
    struct intern *names, *resources, *shapes; /* owned */
    SLOTS(struct usage_pod) pods;
    struct map by_uid;
    VEC(struct usage_node) nodes; /* by name */
    VEC(uint32_t) changed;        /* names */
    uint32_t list;
};

struct kube_usage *kube_usage_create(void)
{
    struct kube_usage *usage = mem_alloc(sizeof(*usage));

    usage->names = intern_create();
    usage->resources = intern_create();
    usage->shapes = intern_create();
    return usage;
}

void kube_usage_destroy(struct kube_usage *usage)
{
    if (!usage) {
        return;
    }
    for (size_t i = 0; i < usage->nodes.count; i++) {
        VEC_FREE(&usage->nodes.items[i].amounts);
    }
    VEC_FREE(&usage->nodes);
    VEC_FREE(&usage->changed);
    SLOTS_FREE(&usage->pods);
    map_fini(&usage->by_uid);
    intern_destroy(usage->names);
    intern_destroy(usage->resources);
    intern_destroy(usage->shapes);
    mem_free(usage);
}

static struct key128 key_of(struct str uid)
{
    uint64_t first = hash_bytes(uid.p, uid.byte_count, 1);

    return (struct key128){first, hash_bytes(uid.p, uid.byte_count, first | 1)};
}

static uint32_t shape_of(struct kube_usage *usage,
                         const struct resource_list *requests)
{
    struct shape_amount amounts[RESOURCE_LIST_MAX] = {{0}};

    ASSERT(requests->count <= RESOURCE_LIST_MAX);
    for (uint32_t i = 0; i < requests->count; i++) {
        amounts[i] = (struct shape_amount){
            intern_add(usage->resources, requests->items[i].name),
            requests->items[i].milli};
    }
    return intern_add(usage->shapes,
                      str_make(amounts, requests->count * sizeof(*amounts)));
}

static void add_amount(struct usage_node *node, uint32_t resource,
                       int64_t milli)
{
    for (size_t i = 0; i < node->amounts.count; i++) {
        if (node->amounts.items[i].resource == resource) {
            node->amounts.items[i].milli += milli;
            return;
        }
    }
    VEC_PUSH(&node->amounts, (struct node_amount){resource, milli});
}

/* Add what a shape asks for to a node, or take it away. */
static void count(struct kube_usage *usage, uint32_t name, uint32_t shape,
                  int sign)
{
    struct str bytes = intern_get(usage->shapes, shape);
    struct shape_amount amounts[RESOURCE_LIST_MAX];

    while (usage->nodes.count <= name) {
        VEC_PUSH(&usage->nodes, (struct usage_node){.is_changed = false});
    }
    if (bytes.byte_count > 0) {
        memcpy(amounts, bytes.p, bytes.byte_count);
    }
    struct usage_node *node = &usage->nodes.items[name];
    for (size_t i = 0; i < bytes.byte_count / sizeof(*amounts); i++) {
        /* Sums of 2^63 thousandths are beyond every node. */
        int64_t bounded = amounts[i].milli < (INT64_MAX >> 24)
                              ? amounts[i].milli
                              : INT64_MAX >> 24;
        add_amount(node, (uint32_t)amounts[i].resource, sign * bounded);
    }
    if (!node->is_changed) {
        node->is_changed = true;
        VEC_PUSH(&usage->changed, name);
    }
}

static void remove_pod(struct kube_usage *usage, uint32_t index)
{
    struct usage_pod *pod = &usage->pods.items[index];

    count(usage, pod->node, pod->shape, -1);
    intern_unref(usage->shapes, pod->shape);
    (void)map_remove(&usage->by_uid, pod->key);
    *pod = (struct usage_pod){.is_used = false};
    SLOTS_GIVE(&usage->pods, index);
}

void kube_usage_put(struct kube_usage *usage, struct str uid, struct str node,
                    const struct resource_list *requests)
{
    struct key128 key = key_of(uid);
    uint32_t index = map_find(&usage->by_uid, key);
    uint32_t name = intern_add(usage->names, node);
    uint32_t shape = shape_of(usage, requests);

    if (index != MAP_NONE) {
        struct usage_pod *pod = &usage->pods.items[index];
        pod->list = usage->list;
        if (pod->node == name && pod->shape == shape) {
            intern_unref(usage->shapes, shape);
            return;
        }
        remove_pod(usage, index);
    }
    index = SLOTS_TAKE(&usage->pods);
    usage->pods.items[index] =
        (struct usage_pod){key, name, shape, usage->list, true};
    (void)map_put(&usage->by_uid, key, index);
    count(usage, name, shape, 1);
}

void kube_usage_remove(struct kube_usage *usage, struct str uid)
{
    uint32_t index = map_find(&usage->by_uid, key_of(uid));

    if (index != MAP_NONE) {
        remove_pod(usage, index);
    }
}

void kube_usage_begin_list(struct kube_usage *usage)
{
    usage->list++;
}

void kube_usage_end_list(struct kube_usage *usage)
{
    for (uint32_t i = 0; i < usage->pods.count; i++) {
        const struct usage_pod *pod = &usage->pods.items[i];
        if (pod->is_used && pod->list != usage->list) {
            remove_pod(usage, i);
        }
    }
}

struct resource_list kube_usage_of(const struct kube_usage *usage,
                                   struct str node, struct arena *arena)
{
    uint32_t name = intern_find(usage->names, node);
    struct resource_list list = {
        arena_alloc_array(arena, RESOURCE_LIST_MAX, sizeof(*list.items)), 0};

    if (name == INTERN_NONE || name >= usage->nodes.count) {
        return list;
    }
    const struct usage_node *of = &usage->nodes.items[name];
    for (size_t i = 0; i < of->amounts.count; i++) {
        if (of->amounts.items[i].milli > 0) {
            /* What is beyond the bound of a list is not counted. */
            (void)!resource_list_add(
                &list,
                intern_get(usage->resources, of->amounts.items[i].resource),
                of->amounts.items[i].milli);
        }
    }
    return list;
}

bool kube_usage_next_changed(struct kube_usage *usage, struct str *ret_node)
{
    if (usage->changed.count == 0) {
        return false;
    }
    uint32_t name = usage->changed.items[--usage->changed.count];
    usage->nodes.items[name].is_changed = false;
    *ret_node = intern_get(usage->names, name);
    return true;
}
