/* Which nodes to quarantine, and which to release. */
#include "sched/health/health.h"
#include "sched/health/quarantine.h"
#include "sched/state/state.h"

static const struct quarantine_policy *rules_of(const struct sched *sched)
{
    return &sched->policy->quarantine;
}

static void propose(struct sched *sched, uint32_t index,
                    enum node_health health, int64_t now_ms)
{
    const struct quarantine *record = &health_find(sched, index)->quarantine;
    struct sched_health_change change = {.node = index};

    sched_health_get(sched, index, now_ms, &change.health);
    change.health.health = health;
    change.health.until_ms = 0;
    if (health == NODE_OUT) {
        change.health.probation_ms =
            quarantine_next_probation(record, rules_of(sched));
        change.health.until_ms = now_ms + change.health.probation_ms;
    } else if (health == NODE_NORMAL) {
        change.health.probation_ms = 0;
    }
    VEC_PUSH(&sched->health->changes, change);
}

/* How many nodes of each pool are held and there, by pool. */
static uint32_t *count_held(const struct sched *sched)
{
    uint32_t *counts = mem_alloc_array(sched->pools.count + 1, sizeof(*counts));

    for (size_t i = 0; i < sched->health->held.count; i++) {
        const struct node *node =
            &sched->nodes.items[sched->health->held.items[i]];
        if (node->record) {
            counts[node->pool]++;
        }
    }
    return counts;
}

static struct quarantine_sums sums_of(const struct sched *sched, uint32_t node,
                                      int64_t now_ms)
{
    return quarantine_window_sums(&health_find(sched, node)->quarantine.window,
                                  rules_of(sched), now_ms);
}

/* The higher rate first, then the more failures, then the name. */
static bool is_worse(const struct sched *sched, uint32_t a, uint32_t b,
                     int64_t now_ms)
{
    struct quarantine_sums x = sums_of(sched, a, now_ms);
    struct quarantine_sums y = sums_of(sched, b, now_ms);
    i128 left = (i128)x.failed * (i128)y.ended;
    i128 right = (i128)y.failed * (i128)x.ended;

    if (left != right) {
        return left > right;
    }
    return x.failed != y.failed ? x.failed > y.failed
                                : sched->ranks[a] < sched->ranks[b];
}

bool health_is_due(struct sched *sched, uint32_t index, int64_t now_ms)
{
    const struct health_record *record = health_find(sched, index);
    const struct node *node = &sched->nodes.items[index];

    if (!record || !node->record || record->pool != node->pool ||
        record->quarantine.failure_count < rules_of(sched)->job_sets_min) {
        return false;
    }
    struct quarantine_sums rest = quarantine_window_sums(
        health_of_pool(sched, node->pool), rules_of(sched), now_ms);
    struct quarantine_sums own = sums_of(sched, index, now_ms);
    rest.ended -= own.ended < rest.ended ? own.ended : rest.ended;
    rest.failed -= own.failed < rest.failed ? own.failed : rest.failed;
    return quarantine_is_due(&record->quarantine, rules_of(sched), rest,
                             now_ms);
}

/* Leave only the suspects whose last failure made them due. */
static void sift(struct sched *sched)
{
    struct health *health = sched->health;
    size_t count = 0;

    for (size_t i = 0; i < health->suspects.count; i++) {
        uint32_t node = health->suspects.items[i];
        struct health_record *record = health_find(sched, node);
        if (record && record->is_due) {
            health->suspects.items[count++] = node;
        } else if (record) {
            record->is_listed = false;
        }
    }
    health->suspects.count = count;
}

static void sort_suspects(struct sched *sched, int64_t now_ms)
{
    uint32_t *items = sched->health->suspects.items;

    for (size_t i = 1; i < sched->health->suspects.count; i++) {
        uint32_t item = items[i];
        size_t at = i;
        while (at > 0 && is_worse(sched, item, items[at - 1], now_ms)) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = item;
    }
}

/* The worst nodes first, as many as their pools may spare. */
static void propose_suspects(struct sched *sched, int64_t now_ms)
{
    struct health *health = sched->health;
    auto_mem uint32_t *held = count_held(sched);

    sift(sched);
    sort_suspects(sched, now_ms);
    for (size_t i = 0; i < health->suspects.count; i++) {
        uint32_t node = health->suspects.items[i];
        if (!health_is_due(sched, node, now_ms)) {
            continue;
        }
        uint32_t p = sched->nodes.items[node].pool;
        i128 most = (i128)sched->pools.items[p].node_count *
                    rules_of(sched)->nodes_max_ppm;
        if ((i128)(held[p] + 1) * FRACTION_ONE_PPM <= most) {
            held[p]++;
            propose(sched, node, NODE_OUT, now_ms);
        }
    }
}

static enum node_health next_of(const struct sched *sched, uint32_t node,
                                int64_t now_ms)
{
    const struct quarantine *record = &health_find(sched, node)->quarantine;

    if (rules_of(sched)->is_off && !record->is_pinned) {
        return NODE_NORMAL;
    }
    return quarantine_next(record, rules_of(sched), now_ms);
}

static int compare_changes(const struct sched *sched,
                           const struct sched_health_change *a,
                           const struct sched_health_change *b)
{
    return sched->ranks[a->node] < sched->ranks[b->node] ? -1 : 1;
}

static void sort_changes(struct sched *sched)
{
    struct sched_health_change *items = sched->health->changes.items;

    for (size_t i = 1; i < sched->health->changes.count; i++) {
        struct sched_health_change item = items[i];
        size_t at = i;
        while (at > 0 && compare_changes(sched, &item, &items[at - 1]) < 0) {
            items[at] = items[at - 1];
            at--;
        }
        items[at] = item;
    }
}

uint32_t sched_health_plan(struct sched *sched, int64_t now_ms,
                           const struct sched_health_change **ret_changes)
{
    struct health *health = sched->health;

    health->changes.count = 0;
    *ret_changes = NULL;
    if (now_ms < sched_health_wake_ms(sched)) {
        return 0;
    }
    nodes_sync(sched);
    for (size_t i = 0; i < health->held.count; i++) {
        uint32_t node = health->held.items[i];
        enum node_health next = next_of(sched, node, now_ms);
        if (next != health_find(sched, node)->quarantine.health) {
            propose(sched, node, next, now_ms);
        }
    }
    if (!rules_of(sched)->is_off) {
        propose_suspects(sched, now_ms);
    }
    sort_changes(sched);
    /* The planner proposes again what came to nothing. */
    health->has_news = health->changes.count > 0;
    *ret_changes = health->changes.items;
    return (uint32_t)health->changes.count;
}

int64_t sched_health_wake_ms(const struct sched *sched)
{
    int64_t wake_ms = sched->health->has_news ? INT64_MIN : INT64_MAX;

    for (size_t i = 0; i < sched->health->held.count; i++) {
        const struct quarantine *record =
            &health_find(sched, sched->health->held.items[i])->quarantine;
        if (record->health == NODE_OUT && !record->is_pinned &&
            record->until_ms < wake_ms) {
            wake_ms = record->until_ms;
        }
    }
    return wake_ms;
}
