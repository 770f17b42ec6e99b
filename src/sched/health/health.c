#include "sched/health/health.h"

#include "base/hash.h"
#include "sched/evict/cooldown.h"

enum { SWEEP_MS = 60000 };

const struct quarantine_policy *health_rules(const struct sched *sched)
{
    return &sched->policy->quarantine;
}

static void record_free(struct health_record *record)
{
    if (record) {
        mem_free(record->reason);
        mem_free(record);
    }
}

void health_init(struct sched *sched)
{
    sched->health = mem_alloc(sizeof(*sched->health));
    sched->health->window_ms = health_rules(sched)->window_ms;
}

void health_fini(struct sched *sched)
{
    struct health *health = sched->health;

    for (size_t i = 0; i < health->nodes.count; i++) {
        record_free(health->nodes.items[i]);
    }
    VEC_FREE(&health->nodes);
    VEC_FREE(&health->pools);
    VEC_FREE(&health->known);
    VEC_FREE(&health->held);
    VEC_FREE(&health->suspects);
    VEC_FREE(&health->changes);
    mem_free(health);
}

/* Records. */

struct health_record *health_find(const struct sched *sched, uint32_t node)
{
    return node < sched->health->nodes.count ? sched->health->nodes.items[node]
                                             : NULL;
}

static uint64_t hash_of_node(const struct sched *sched, uint32_t node)
{
    struct str executor = sched_node_executor(sched, node);
    struct str name = sched_node_name(sched, node);
    uint64_t seed = hash_bytes(executor.p, executor.byte_count, 0);

    return hash_bytes(name.p, name.byte_count, seed);
}

struct health_record *health_get(struct sched *sched, uint32_t node)
{
    struct health *health = sched->health;

    while (health->nodes.count <= node) {
        VEC_PUSH(&health->nodes, NULL);
    }
    if (!health->nodes.items[node]) {
        struct health_record *record = mem_alloc(sizeof(*record));
        ASSERT(!sched->nodes.items[node].has_health);
        record->pool = NONE;
        record->name = hash_of_node(sched, node);
        health->nodes.items[node] = record;
        sched->nodes.items[node].has_health = true;
        VEC_PUSH(&health->known, node);
    }
    return health->nodes.items[node];
}

struct quarantine_window *health_of_pool(struct sched *sched, uint32_t pool)
{
    struct health *health = sched->health;

    while (health->pools.count <= pool) {
        VEC_PUSH(&health->pools, (struct quarantine_window){0});
    }
    ASSERT(pool < sched->pools.count);
    return &health->pools.items[pool];
}

void health_clear_window(struct sched *sched, struct health_record *record)
{
    ASSERT(record->pool == NONE || record->pool < sched->pools.count);
    if (record->pool != NONE) {
        quarantine_window_subtract(health_of_pool(sched, record->pool),
                                   &record->quarantine.window);
    }
    record->quarantine.window = (struct quarantine_window){0};
    record->quarantine.failure_count = 0;
    record->is_due = false;
}

void health_follow(struct sched *sched)
{
    struct health *health = sched->health;

    health->has_news = true;
    if (health->window_ms == health_rules(sched)->window_ms) {
        return;
    }
    health->window_ms = health_rules(sched)->window_ms;
    /* What was counted by other slots cannot be told in these. */
    for (size_t i = 0; i < health->known.count; i++) {
        health_clear_window(sched, health_find(sched, health->known.items[i]));
    }
    health->pools.count = 0;
}

void health_sweep(struct sched *sched)
{
    struct health *health = sched->health;

    if (sched->now_ms - health->swept_ms < SWEEP_MS) {
        return;
    }
    health->swept_ms = sched->now_ms;
    for (size_t i = health->known.count; i > 0; i--) {
        uint32_t node = health->known.items[i - 1];
        ASSERT(sched->nodes.items[node].has_health);
        if (quarantine_is_empty(&health_find(sched, node)->quarantine,
                                health_rules(sched), sched->now_ms)) {
            record_free(health->nodes.items[node]);
            health->nodes.items[node] = NULL;
            sched->nodes.items[node].has_health = false;
            health->known.items[i - 1] =
                health->known.items[--health->known.count];
            node_touch(sched, node); /* its slot may be free now */
        }
    }
}

/* What has been decided. */

void health_hold(struct sched *sched, uint32_t node, bool is_held)
{
    struct health *health = sched->health;
    size_t at = 0;

    ASSERT(health->held.count <= health->known.count);
    while (at < health->held.count && health->held.items[at] != node) {
        at++;
    }
    if (is_held && at == health->held.count) {
        VEC_PUSH(&health->held, node);
    } else if (!is_held && at < health->held.count) {
        health->held.items[at] = health->held.items[--health->held.count];
    }
}

void health_show(struct sched *sched, uint32_t index, enum node_health health)
{
    sched->nodes.items[index].is_out = health == NODE_OUT;
    sched->nodes.items[index].is_on_trial = health == NODE_TRIAL;
    node_refresh(sched, index);
}

void sched_health_set(struct sched *sched, uint32_t node,
                      const struct sched_health *health)
{
    sched->version++;
    cooldown_news(sched);
    if (health->health == NODE_NORMAL && !health_find(sched, node)) {
        node_touch(sched, node); /* nobody may need its slot */
        return;
    }
    struct health_record *entry = health_get(sched, node);
    struct quarantine *record = &entry->quarantine;
    mem_free(entry->reason);
    entry->reason = str_dup(health->reason);
    record->health = health->health;
    record->is_pinned = health->is_pinned;
    record->since_ms = sched->now_ms;
    record->until_ms = health->health == NODE_OUT ? health->until_ms : 0;
    record->probation_ms = health->probation_ms;
    record->success_count = 0;
    record->has_failed = false;
    if (health->health == NODE_NORMAL) {
        health_clear_window(sched, entry);
    }
    /* Only a node that is out comes back by itself. */
    ASSERT(record->until_ms == 0 || record->health == NODE_OUT);
    health_hold(sched, node, health->health != NODE_NORMAL);
    health_show(sched, node, health->health);
    sched->health->has_news = true; /* a place may be free for another */
}

void sched_health_get(const struct sched *sched, uint32_t node, int64_t now_ms,
                      struct sched_health *ret_health)
{
    *ret_health = (struct sched_health){0};
    if (!health_find(sched, node)) {
        return;
    }
    const struct quarantine *record = &health_find(sched, node)->quarantine;
    struct quarantine_sums sums =
        quarantine_window_sums(&record->window, health_rules(sched), now_ms);
    ret_health->health = record->health;
    ret_health->is_pinned = record->is_pinned;
    ret_health->until_ms = record->until_ms;
    ret_health->probation_ms = record->probation_ms;
    ret_health->success_count = record->success_count;
    ret_health->reason = str_of(health_find(sched, node)->reason);
    ASSERT(sums.failed <= sums.ended); /* who failed has ended */
    ret_health->ended_count = sums.ended;
    ret_health->failed_count = sums.failed;
}

uint32_t sched_health_count(const struct sched *sched, enum node_health health)
{
    uint32_t count = 0;

    for (size_t i = 0; i < sched->health->held.count; i++) {
        uint32_t node = sched->health->held.items[i];
        count += health_find(sched, node)->quarantine.health == health &&
                 sched->nodes.items[node].record;
    }
    return count;
}
