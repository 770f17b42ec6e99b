#include "pools/posts.h"
#include "pools/router.h"

/* What the plan in the making may have taken for granted. */
static void touch(struct pools *pools, struct shard *shard,
                  const struct delta *delta)
{
    if (delta->job != NONE) {
        while (shard->touched.count <= delta->job) {
            VEC_PUSH(&shard->touched, 0);
        }
        shard->touched.items[delta->job] = 1;
    }
    if (delta->node != NONE && !pools->posts.items[delta->node].is_touched) {
        pools->posts.items[delta->node].is_touched = true;
        VEC_PUSH(&shard->touched_posts, delta->node);
    }
}

static void keep(struct pools *pools, struct shard *shard,
                 const struct delta *delta)
{
    struct delta kept = *delta;

    ASSERT(shard->deltas.count < POOLS_DELTAS_MAX);
    ASSERT(shard->delta_arena.byte_count < POOLS_DELTA_BYTES_MAX);
    if (delta->text.byte_count) {
        kept.text = arena_str(&shard->delta_arena, delta->text);
    }
    if (delta->record) {
        kept.record = delta->copy(delta->record, &shard->delta_arena);
    }
    if (delta->node != NONE) {
        post_use(pools, delta->node, 1);
    }
    if (delta->class_index != NONE) {
        pools->kinds.items[delta->class_index].pin_count++;
    }
    touch(pools, shard, delta);
    VEC_PUSH(&shard->deltas, kept);
}

void deliver(struct pools *pools, struct shard *shard,
             const struct delta *delta)
{
    if (shard->is_busy) {
        keep(pools, shard, delta);
    } else {
        delta->apply(pools, shard, delta);
    }
}

void deliver_all(struct pools *pools, const struct delta *delta)
{
    for (size_t i = 0; i < pools->shards.count; i++) {
        if (pools->shards.items[i]) {
            deliver(pools, pools->shards.items[i], delta);
        }
    }
}

void deltas_apply(struct pools *pools, struct shard *shard)
{
    ASSERT(!shard->is_busy);
    for (size_t i = 0; i < shard->deltas.count; i++) {
        const struct delta *delta = &shard->deltas.items[i];
        delta->apply(pools, shard, delta);
        if (delta->node != NONE) {
            post_use(pools, delta->node, -1);
        }
        if (delta->class_index != NONE) {
            class_unpin(pools, delta->class_index);
        }
    }
    shard->deltas.count = 0;
    arena_reset(&shard->delta_arena);
    for (size_t i = 0; i < shard->touched_posts.count; i++) {
        pools->posts.items[shard->touched_posts.items[i]].is_touched = false;
    }
    shard->touched_posts.count = 0;
    shard->touched.count = 0;
    for (size_t i = 0; i < shard->limbo.count; i++) {
        VEC_PUSH(&shard->spare_jobs, shard->limbo.items[i]);
    }
    shard->limbo.count = 0;
}

void deltas_fini(struct shard *shard)
{
    VEC_FREE(&shard->deltas);
    VEC_FREE(&shard->touched);
    VEC_FREE(&shard->touched_posts);
    VEC_FREE(&shard->limbo);
    VEC_FREE(&shard->strays);
    arena_fini(&shard->delta_arena);
}
