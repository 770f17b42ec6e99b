/* Nodes on which all work that may be preempted for a claim may be preempted at
 * once, or never: the room that each queue's work would free there is one pile.
 *
 * That is so where lifetimes are 0 and deadlines are unknown, the usual case.
 * Whether a queue is over its share changes with every job that starts or ends;
 * a sum over a few piles then replaces a look at all runs.  A run that starts
 * or ends changes one pile. */
#include <string.h>

#include "sched/place/exclusive_node.h"
#include "sched/reserve/private.h"

enum { PILES_MAX = 16 /* of a node; with more queues there it is asked */ };

struct piles {
    struct ready_pile items[PILES_MAX];
    uint32_t count;
};

static bool add(struct piles *piles, uint32_t queue,
                const struct resource_vec *request)
{
    uint32_t at = 0;

    while (at < piles->count && piles->items[at].queue != queue) {
        at++;
    }
    if (at == PILES_MAX) {
        return false;
    }
    if (at == piles->count) {
        piles->items[piles->count++] = (struct ready_pile){.queue = queue};
    }
    amounts_add(&piles->items[at].sum, request);
    return true;
}

/* Whether work of a class goes at once if it may go at all (1), or never (0);
 * -1: it has a time of its own. */
static int goes(const struct class *class)
{
    if (class->deadline_ms != INT64_MAX) {
        return -1;
    }
    return class->lifetime_ms == LIFETIME_INFINITE ? 0
           : class->lifetime_ms == 0               ? 1
                                                   : -1;
}

/* Put a run where it belongs; false when it goes neither at once nor never. */
static bool add_run(const struct sched *sched, const struct ready_memory *m,
                    const struct run *run, int64_t now_ms, struct piles *piles)
{
    bool is_revocable = run->revocable_for && run->revocable_for == m->serial;
    bool is_recalled = reserve_is_recalled(sched, run);
    bool is_at_once = is_recalled || reserve_goes_at_once(run, m->serial);

    if (run->state == RUN_PREEMPTED ||
        (is_at_once ? run->is_urgency_preemptible && run->level < m->level
                    : !run->is_urgency_preemptible || run->level < m->level ||
                          (run->level > m->level && !is_revocable))) {
        return true; /* gone, in the sums of levels, or there for good */
    }
    const struct class *class =
        &sched->classes.items[class_of_job(sched, run->job)];
    int when = is_at_once ? 1 : goes(class);
    if (when == 0) {
        return true;
    }
    if (is_revocable && run->yields_from_ms > now_ms) {
        return false;
    }
    bool has_begun = run->started_ms == INT64_MAX || run->started_ms <= now_ms;
    return when == 1 && has_begun &&
           add(piles,
               is_revocable || is_recalled
                   ? NONE
                   : sched->accounts.items[run->account].queue,
               &class->request);
}

static bool gather(const struct sched *sched, const struct ready_memory *m,
                   uint32_t node, int64_t now_ms, struct piles *piles)
{
    size_t first = (size_t)node * sched->level_count;

    piles->items[0] =
        (struct ready_pile){.queue = NONE, .sum = sched->free[node]};
    piles->count = 1;
    for (uint32_t l = 0; l < m->level; l++) {
        amounts_add(&piles->items[0].sum,
                    &sched->urgency_preemptible[first + l]);
    }
    uint32_t at = reserve_must_ask(sched, m->level, node)
                      ? sched->nodes.items[node].run_first
                      : NONE;
    for (; at != NONE; at = sched->runs.items[at].node_next) {
        if (!add_run(sched, m, &sched->runs.items[at], now_ms, piles)) {
            return false;
        }
    }
    return true;
}

/* Put piles where the node has its place in the memory. */
static void keep(struct ready_memory *m, struct ready_node *ready,
                 const struct piles *piles)
{
    if (!ready->is_piled || ready->step_capacity < piles->count) {
        ready->step_first = (uint32_t)m->piles.count;
        ready->step_capacity = piles->count + piles->count / 2 + 1;
        for (uint32_t i = 0; i < ready->step_capacity; i++) {
            VEC_PUSH(&m->piles, (struct ready_pile){0});
        }
    }
    ASSERT(piles->count <= ready->step_capacity);
    ready->is_piled = true;
    ready->step_count = piles->count;
    for (uint32_t i = 0; i < piles->count; i++) {
        m->piles.items[ready->step_first + i] = piles->items[i];
        if (piles->items[i].queue != NONE) {
            ready->queues |= reserve_queue_bit(piles->items[i].queue);
        }
    }
}

/* What is free on a piled node once all is gone that may go. */
static struct resource_vec sum_of(const struct reserving *r,
                                  const struct ready_memory *m,
                                  const struct ready_node *ready)
{
    const struct ready_pile *piles = &m->piles.items[ready->step_first];
    struct resource_vec room = piles[0].sum;

    /* The first pile is there whoever may go. */
    ASSERT(ready->is_piled && piles[0].queue == NONE);
    for (uint32_t i = 1; i < ready->step_count; i++) {
        if (piles[i].queue == NONE || r->may_go[piles[i].queue]) {
            amounts_add(&room, &piles[i].sum);
        }
    }
    return room;
}

static void set_room(const struct reserving *r, const struct ready_memory *m,
                     struct ready_node *ready, const struct resource_vec *room)
{
    ready->at_ms = amounts_fit(&m->request, room) ? INT64_MIN : INT64_MAX;
    ready->until_ms = INT64_MAX;
    ready->key = pool_weigh(r->round->pool, room);
}

void reserve_sum_piles(const struct reserving *r, struct ready_memory *m,
                       uint32_t node)
{
    struct ready_node *ready = &m->nodes.items[node];
    struct resource_vec room = sum_of(r, m, ready);

    set_room(r, m, ready, &room);
    if (m->is_of_gang) {
        uint32_t count = amounts_times(&m->request, &room);
        m->counts.items[node].now = m->counts.items[node].last = count;
    }
}

bool reserve_sum_planned(const struct reserving *r, struct ready_memory *m,
                         uint32_t node)
{
    const struct sched *sched = r->round->sched;
    struct ready_node *ready = &m->nodes.items[node];
    struct resource_vec room = sum_of(r, m, ready);

    for (uint32_t at = r->planned_first[node]; at != NONE;
         at = r->planned_next[at]) {
        const struct journal_entry *entry = &sched->journal.items[at];
        ASSERT(entry->node == node && entry->count > 0);
        const struct class *class = class_at(r->round, entry->class_index);
        int when = goes(class);
        if (when < 0) {
            return false;
        }
        bool may_go = when == 1 && class->level <= r->claim->level &&
                      r->may_go[entry->job];
        if (!may_go) {
            amounts_add_times(&room, &class->request, -(int64_t)entry->count);
        }
    }
    set_room(r, m, ready, &room);
    return true;
}

/* Bring a node's piles along with a run; false when that is not simple. */
static bool add_to_piles(struct ready_memory *m, struct ready_node *ready,
                         const struct sched *sched, const struct run *run,
                         const struct class *class, int sign)
{
    struct ready_pile *piles = &m->piles.items[ready->step_first];
    uint32_t queue = sched->accounts.items[run->account].queue;
    uint32_t at = 1;

    if (!run->is_urgency_preemptible || run->level >= m->level) {
        amounts_count(&piles[0].sum, &class->request, -sign);
    }
    if (!run->is_urgency_preemptible || run->level != m->level ||
        goes(class) == 0) {
        return true;
    }
    while (at < ready->step_count && piles[at].queue != queue) {
        at++;
    }
    if (at == ready->step_capacity) {
        return false;
    }
    if (at == ready->step_count) {
        piles[at] = (struct ready_pile){.queue = queue};
        ready->step_count++;
        ready->queues |= reserve_queue_bit(queue);
    }
    amounts_count(&piles[at].sum, &class->request, sign);
    ASSERT(amounts_is_sum(&piles[at].sum));
    return true;
}

void reserve_note_run(struct sched *sched, const struct run *run,
                      const struct class *class, int sign)
{
    const struct node *node = &sched->nodes.items[run->node];
    bool is_simple = node->pool != NONE && goes(class) >= 0 &&
                     !run->revocable_for && run->state == RUN_STEADY &&
                     !run->is_held && !exclusive_is_any(sched) &&
                     !borrowed_has(sched, run->job) &&
                     (sign < 0 || run->started_ms == INT64_MAX);

    for (uint32_t i = 0; is_simple && i < READY_MEMORIES; i++) {
        struct ready_memory *m = &sched->pools.items[node->pool].ready.items[i];
        if (!m->turn || run->node >= m->nodes.count) {
            continue;
        }
        reserve_put_back(m);
        struct ready_node *ready = &m->nodes.items[run->node];
        uint32_t *seen = reserve_seen(m, run->node);
        if (!ready->is_piled || *seen != sched->change_counts[run->node] ||
            !add_to_piles(m, ready, sched, run, class, sign)) {
            continue;
        }
        ++*seen;
        if (m->is_of_gang) {
            m->counts.items[run->node].now = READY_UNSUMMED;
        } else {
            ready->until_ms = INT64_MIN; /* to be summed */
        }
    }
}

bool reserve_pile(struct reserving *r, struct ready_memory *m, uint32_t node)
{
    struct piles piles;

    if (!reserve_goes_by_level(r, node) ||
        (exclusive_is_any(r->round->sched) &&
         exclusive_node_opens_whole(r->round, r->holder, node)) ||
        !gather(r->round->sched, m, node, r->round->now_ms, &piles)) {
        return false;
    }
    keep(m, &m->nodes.items[node], &piles);
    reserve_sum_piles(r, m, node);
    return true;
}

/* Whether two lists hold the same; what is empty may be left out. */
static bool is_covered(const struct ready_pile *some, uint32_t some_count,
                       const struct ready_pile *all, uint32_t all_count)
{
    const struct resource_vec nothing = {0};

    for (uint32_t i = 0; i < some_count; i++) {
        const struct resource_vec *other = &nothing;
        for (uint32_t k = 0; k < all_count; k++) {
            other = all[k].queue == some[i].queue ? &all[k].sum : other;
        }
        if (memcmp(&some[i].sum, other, sizeof(*other)) != 0) {
            return false;
        }
    }
    return true;
}

static bool is_memory_right(const struct sched *sched,
                            const struct ready_memory *m)
{
    /* Runs may have begun since the last plan. */
    int64_t now_ms =
        sched->now_ms > sched->plan_now_ms ? sched->now_ms : sched->plan_now_ms;
    struct piles piles;

    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const struct ready_node *ready = &m->nodes.items[i];
        uint32_t seen = m->is_of_gang ? m->counts.items[i].seen : ready->seen;
        if (!ready->is_piled || seen != sched->change_counts[i]) {
            continue;
        }
        const struct ready_pile *items = &m->piles.items[ready->step_first];
        if (!gather(sched, m, i, now_ms, &piles) ||
            !is_covered(items, ready->step_count, piles.items, piles.count) ||
            !is_covered(piles.items, piles.count, items, ready->step_count)) {
            return false;
        }
    }
    return true;
}

bool reserve_is_right(const struct sched *sched, struct arena *scratch)
{
    (void)scratch;
    for (size_t p = 0; p < sched->pools.count; p++) {
        for (uint32_t i = 0; i < READY_MEMORIES; i++) {
            const struct ready_memory *m =
                &sched->pools.items[p].ready.items[i];
            if (m->turn && !is_memory_right(sched, m)) {
                return false;
            }
        }
    }
    return true;
}
