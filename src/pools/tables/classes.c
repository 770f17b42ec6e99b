/* Adds a class to a shard with the first of its jobs there. */
#include "pools/tables/classes.h"

uint32_t pools_class_add(struct pools *pools,
                         const struct requirement *requirement)
{
    auto_strbuf buf = {0};
    uint32_t index;

    if (!pools->is_mapped) {
        return sched_class_add(first_of(pools), requirement);
    }
    requirement_pack(&buf, requirement);
    index = SLOTS_TAKE(&pools->classes);
    ASSERT(!pools->classes.items[index].packed); /* no class has it */
    pools->classes.items[index] = (struct pool_class){
        .packed = mem_dup(buf.bytes, buf.byte_count),
        .packed_bytes = (uint32_t)buf.byte_count,
    };
    return index;
}

static void forget(struct pools *pools, uint32_t index)
{
    struct pool_class *row = &pools->classes.items[index];

    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (shard && index < shard->classes.count &&
            shard->classes.items[index] != NONE) {
            sched_class_remove(shard->sched, shard->classes.items[index]);
            shard->classes.items[index] = NONE;
        }
    }
    mem_free(row->packed);
    mem_free(row->request);
    *row = (struct pool_class){0};
    SLOTS_GIVE(&pools->classes, index);
}

static bool is_known_to_busy(const struct pools *pools, uint32_t index)
{
    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        if (shard && shard->is_busy && index < shard->classes.count &&
            shard->classes.items[index] != NONE) {
            return true;
        }
    }
    return false;
}

/* Those that went while a shard that knows them was being planned. */
static void forget_retired(struct pools *pools)
{
    size_t left = 0;

    for (size_t i = 0; i < pools->retired_classes.count; i++) {
        uint32_t index = pools->retired_classes.items[i];
        if (pools->classes.items[index].pin_count == 0 &&
            !is_known_to_busy(pools, index)) {
            forget(pools, index);
        } else {
            pools->retired_classes.items[left++] = index;
        }
    }
    pools->retired_classes.count = left;
}

void pools_class_remove(struct pools *pools, uint32_t class_index)
{
    if (!pools->is_mapped) {
        sched_class_remove(first_of(pools), class_index);
        return;
    }
    ASSERT(pools->classes.items[class_index].packed_bytes >
           0); /* retired once */
    VEC_PUSH(&pools->retired_classes, class_index);
    forget_retired(pools);
}

void class_unpin(struct pools *pools, uint32_t class_index)
{
    ASSERT(pools->classes.items[class_index].pin_count > 0);
    pools->classes.items[class_index].pin_count--;
}

void classes_settle(struct pools *pools)
{
    if (pools->retired_classes.count) {
        forget_retired(pools);
    }
}

uint32_t shard_class(struct pools *pools, struct shard *shard,
                     uint32_t class_index)
{
    auto_arena arena = {0};
    struct requirement requirement;
    const struct pool_class *row = &pools->classes.items[class_index];

    while (shard->classes.count <= class_index) {
        VEC_PUSH(&shard->classes, NONE);
    }
    if (shard->classes.items[class_index] == NONE) {
        int rc = requirement_unpack(str_make(row->packed, row->packed_bytes),
                                    &arena, &requirement);
        ASSERT(rc == 0); /* we packed it */
        uint32_t local = sched_class_add(shard->sched, &requirement);
        shard->classes.items[class_index] = local;
        while (shard->class_back.count <= local) {
            VEC_PUSH(&shard->class_back, NONE);
        }
        shard->class_back.items[local] = class_index;
    }
    return shard->classes.items[class_index];
}

uint32_t class_back(const struct shard *shard, uint32_t local)
{
    /* The two indexes agree. */
    ASSERT(shard->classes.items[shard->class_back.items[local]] == local);
    return shard->class_back.items[local];
}

void classes_adopt(struct pools *pools)
{
    struct shard *shard = pools->shards.items[POOLS_DEFAULT];
    uint32_t end = sched_classes_end(shard->sched);

    for (uint32_t i = 0; i < end; i++) {
        struct str packed = sched_class_packed(shard->sched, i);
        bool is_live = packed.byte_count > 0;
        VEC_PUSH(
            &pools->classes,
            (struct pool_class){
                .packed = is_live ? mem_dup(packed.p, packed.byte_count) : NULL,
                .packed_bytes = (uint32_t)packed.byte_count,
            });
        VEC_PUSH(&shard->classes, is_live ? i : NONE);
        VEC_PUSH(&shard->class_back, is_live ? i : NONE);
        if (!is_live) {
            SLOTS_GIVE(&pools->classes, i);
        }
    }
}

void pool_classes_fini(struct pools *pools)
{
    for (size_t i = 0; i < pools->classes.count; i++) {
        mem_free(pools->classes.items[i].packed);
        mem_free(pools->classes.items[i].request);
    }
    SLOTS_FREE(&pools->classes);
    VEC_FREE(&pools->retired_classes);
}
