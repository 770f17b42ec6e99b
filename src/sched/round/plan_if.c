/* A trial plan for explanations; one place undoes all its effects. */
#include <string.h>

#include "sched/order/round.h"
#include "sched/reserve/reserve.h"
#include "sched/round/plan.h"

/* What a plan leaves behind, as it was. */
struct left_behind {
    uint64_t version, settled_version[2];
    int64_t settled_until_ms[2];
    struct sched_looked *looked;
    size_t looked_count;
    struct kept_reservation *kept;     /* by pool; owned */
    struct profile_memories *profiles; /* likewise */
};

static void save(const struct sched *sched, struct left_behind *saved)
{
    *saved = (struct left_behind){.version = sched->version,
                                  .looked_count = sched->looked.count};
    memcpy(saved->settled_version, sched->settled_version,
           sizeof(saved->settled_version));
    memcpy(saved->settled_until_ms, sched->settled_until_ms,
           sizeof(saved->settled_until_ms));
    saved->looked =
        mem_alloc_array(saved->looked_count + 1, sizeof(*saved->looked));
    if (saved->looked_count) {
        memcpy(saved->looked, sched->looked.items,
               saved->looked_count * sizeof(*saved->looked));
    }
    saved->kept = mem_alloc_array(sched->pools.count + 1, sizeof(*saved->kept));
    saved->profiles =
        mem_alloc_array(sched->pools.count + 1, sizeof(*saved->profiles));
    for (size_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        saved->kept[p] = pool->kept;
        saved->profiles[p] = pool->profiles;
        pool->kept = (struct kept_reservation){.job = NONE};
        pool->profiles = (struct profile_memories){.turn = 0};
    }
}

static void restore(struct sched *sched, struct left_behind *saved)
{
    sched->version = saved->version;
    memcpy(sched->settled_version, saved->settled_version,
           sizeof(saved->settled_version));
    memcpy(sched->settled_until_ms, saved->settled_until_ms,
           sizeof(saved->settled_until_ms));
    sched->looked.count = 0;
    for (size_t i = 0; i < saved->looked_count; i++) {
        VEC_PUSH(&sched->looked, saved->looked[i]);
    }
    for (size_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        VEC_FREE(&pool->kept.nodes);
        reserve_forget(pool);
        pool->kept = saved->kept[p];
        pool->profiles = saved->profiles[p];
    }
    mem_free(saved->looked);
    mem_free(saved->kept);
    mem_free(saved->profiles);
}

/* What costs, indexes and free room are reckoned from has to be there in the
 * state while the plan is made: room of a node, and what is of no node. */
static void change_total(struct sched *sched, const struct what_if_more *more,
                         int sign)
{
    uint32_t p = more->pool;

    if (more->kind == WHAT_IF_ROOM) {
        struct node *node = &sched->nodes.items[more->node];
        amounts_add_times(&node->capacity, &more->amount, sign);
        amounts_add_times(&sched->free[more->node], &more->amount, sign);
        p = node->pool;
    } else if (more->kind != WHAT_IF_FLOATING) {
        return;
    }
    struct pool *pool = &sched->pools.items[p];
    if (more->kind == WHAT_IF_FLOATING ||
        node_is_in_total(&sched->nodes.items[more->node])) {
        amounts_add_times(&pool->total, &more->amount, sign);
    }
    /* Costs and the order of nodes go by the pool's total. */
    pool->is_stale = pool->is_base_stale = true;
}

void plan_if(struct sched *sched, int64_t now_ms, const struct what_if *what_if,
             struct sched_plan *ret_plan)
{
    struct left_behind saved;

    save(sched, &saved);
    change_total(sched, &what_if->more, 1);
    sched->version++;
    sched->what_if = what_if;
    sched_plan(sched, now_ms, ROUND_BALANCE, SCHED_DECISIONS_MAX, ret_plan);
    sched->what_if = NULL;
    change_total(sched, &what_if->more, -1);
    restore(sched, &saved);
}
