/* Nodes on which all work that may be preempted for a claim may be preempted at
 * once, or never: the room that each queue's work would free there is one sum.
 *
 * That is so where lifetimes are 0 and deadlines are unknown, the usual case.
 * Whether a queue is over its share changes with every job that starts or ends;
 * adding up a few sums then replaces a look at all runs.  A run that starts
 * or ends changes one sum. */
#include <string.h>

#include "sched/place/exclusive_node.h"
#include "sched/reserve/private.h"

enum {
    QUEUE_SUMS_MAX = 16 /* of a node; with more queues there it is asked */
};

struct queue_sums {
    struct queue_sum items[QUEUE_SUMS_MAX];
    uint32_t count;
};

static bool add(struct queue_sums *sums, uint32_t queue,
                const struct resource_vec *request)
{
    uint32_t at = 0;

    while (at < sums->count && sums->items[at].queue != queue) {
        at++;
    }
    if (at == QUEUE_SUMS_MAX) {
        return false;
    }
    if (at == sums->count) {
        sums->items[sums->count++] = (struct queue_sum){.queue = queue};
    }
    amounts_add(&sums->items[at].sum, request);
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
static bool add_run(const struct sched *sched, const struct profile_memory *m,
                    const struct run *run, int64_t now_ms,
                    struct queue_sums *sums)
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
           add(sums,
               is_revocable || is_recalled
                   ? NONE
                   : sched->accounts.items[run->account].queue,
               &class->request);
}

static bool gather(const struct sched *sched, const struct profile_memory *m,
                   uint32_t node, int64_t now_ms, struct queue_sums *sums)
{
    size_t first = (size_t)node * sched->level_count;

    sums->items[0] =
        (struct queue_sum){.queue = NONE, .sum = sched->free[node]};
    sums->count = 1;
    for (uint32_t l = 0; l < m->level; l++) {
        amounts_add(&sums->items[0].sum,
                    &sched->urgency_preemptible[first + l]);
    }
    uint32_t at = reserve_must_ask(sched, m->level, node)
                      ? sched->nodes.items[node].run_first
                      : NONE;
    for (; at != NONE; at = sched->runs.items[at].node_next) {
        if (!add_run(sched, m, &sched->runs.items[at], now_ms, sums)) {
            return false;
        }
    }
    return true;
}

/* Put sums where the node has its place in the memory. */
static void keep(struct profile_memory *m, struct node_profile *profile,
                 const struct queue_sums *sums)
{
    if (!profile->is_summed || profile->step_capacity < sums->count) {
        profile->step_first = (uint32_t)m->queue_sums.count;
        profile->step_capacity = sums->count + sums->count / 2 + 1;
        for (uint32_t i = 0; i < profile->step_capacity; i++) {
            VEC_PUSH(&m->queue_sums, (struct queue_sum){0});
        }
    }
    ASSERT(sums->count <= profile->step_capacity);
    profile->is_summed = true;
    profile->step_count = sums->count;
    for (uint32_t i = 0; i < sums->count; i++) {
        m->queue_sums.items[profile->step_first + i] = sums->items[i];
        if (sums->items[i].queue != NONE) {
            profile->queues |= reserve_queue_bit(sums->items[i].queue);
        }
    }
}

/* What is free on a summed node once all is gone that may go. */
static struct resource_vec sum_of(const struct reserving *r,
                                  const struct profile_memory *m,
                                  const struct node_profile *profile)
{
    const struct queue_sum *sums = &m->queue_sums.items[profile->step_first];
    struct resource_vec room = sums[0].sum;

    /* The first sum is there whoever may go. */
    ASSERT(profile->is_summed && sums[0].queue == NONE);
    for (uint32_t i = 1; i < profile->step_count; i++) {
        if (sums[i].queue == NONE || r->may_go[sums[i].queue]) {
            amounts_add(&room, &sums[i].sum);
        }
    }
    return room;
}

static void set_room(const struct reserving *r, const struct profile_memory *m,
                     struct node_profile *profile,
                     const struct resource_vec *room)
{
    profile->at_ms = amounts_fit(&m->request, room) ? INT64_MIN : INT64_MAX;
    profile->until_ms = INT64_MAX;
    profile->key = pool_weigh(r->round->pool, room);
}

void reserve_sum_again(const struct reserving *r, struct profile_memory *m,
                       uint32_t node)
{
    struct node_profile *profile = &m->nodes.items[node];
    struct resource_vec room = sum_of(r, m, profile);

    set_room(r, m, profile, &room);
    if (m->is_of_gang) {
        uint32_t count = amounts_times(&m->request, &room);
        m->counts.items[node].now = m->counts.items[node].last = count;
    }
}

bool reserve_sum_planned(const struct reserving *r, struct profile_memory *m,
                         uint32_t node)
{
    const struct sched *sched = r->round->sched;
    struct node_profile *profile = &m->nodes.items[node];
    struct resource_vec room = sum_of(r, m, profile);

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
    set_room(r, m, profile, &room);
    return true;
}

/* Bring a node's sums along with a run; false when that is not simple. */
static bool add_to_sums(struct profile_memory *m, struct node_profile *profile,
                        const struct sched *sched, const struct run *run,
                        const struct class *class, int sign)
{
    struct queue_sum *sums = &m->queue_sums.items[profile->step_first];
    uint32_t queue = sched->accounts.items[run->account].queue;
    uint32_t at = 1;

    if (!run->is_urgency_preemptible || run->level >= m->level) {
        amounts_count(&sums[0].sum, &class->request, -sign);
    }
    if (!run->is_urgency_preemptible || run->level != m->level ||
        goes(class) == 0) {
        return true;
    }
    while (at < profile->step_count && sums[at].queue != queue) {
        at++;
    }
    if (at == profile->step_capacity) {
        return false;
    }
    if (at == profile->step_count) {
        sums[at] = (struct queue_sum){.queue = queue};
        profile->step_count++;
        profile->queues |= reserve_queue_bit(queue);
    }
    amounts_count(&sums[at].sum, &class->request, sign);
    ASSERT(amounts_is_sum(&sums[at].sum));
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

    for (uint32_t i = 0; is_simple && i < PROFILE_MEMORIES; i++) {
        struct profile_memory *m =
            &sched->pools.items[node->pool].memory.profiles.items[i];
        if (!m->turn || run->node >= m->nodes.count) {
            continue;
        }
        reserve_put_back(m);
        struct node_profile *profile = &m->nodes.items[run->node];
        uint32_t *seen = reserve_seen(m, run->node);
        if (!profile->is_summed || *seen != sched->change_counts[run->node] ||
            !add_to_sums(m, profile, sched, run, class, sign)) {
            continue;
        }
        ++*seen;
        if (m->is_of_gang) {
            m->counts.items[run->node].now = PROFILE_UNSUMMED;
        } else {
            profile->until_ms = INT64_MIN; /* to be summed */
        }
    }
}

bool reserve_sum_queues(struct reserving *r, struct profile_memory *m,
                        uint32_t node)
{
    struct queue_sums sums;

    if (!reserve_goes_by_level(r, node) ||
        (exclusive_is_any(r->round->sched) &&
         exclusive_node_opens_whole(r->round, r->holder, node)) ||
        !gather(r->round->sched, m, node, r->round->now_ms, &sums)) {
        return false;
    }
    keep(m, &m->nodes.items[node], &sums);
    reserve_sum_again(r, m, node);
    return true;
}

/* Whether two lists hold the same; what is empty may be left out. */
static bool is_covered(const struct queue_sum *some, uint32_t some_count,
                       const struct queue_sum *all, uint32_t all_count)
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
                            const struct profile_memory *m)
{
    /* Runs may have begun since the last plan. */
    int64_t now_ms =
        sched->now_ms > sched->plan_now_ms ? sched->now_ms : sched->plan_now_ms;
    struct queue_sums sums;

    for (uint32_t i = 0; i < m->nodes.count; i++) {
        const struct node_profile *profile = &m->nodes.items[i];
        uint32_t seen = m->is_of_gang ? m->counts.items[i].seen : profile->seen;
        if (!profile->is_summed || seen != sched->change_counts[i]) {
            continue;
        }
        const struct queue_sum *items =
            &m->queue_sums.items[profile->step_first];
        if (!gather(sched, m, i, now_ms, &sums) ||
            !is_covered(items, profile->step_count, sums.items, sums.count) ||
            !is_covered(sums.items, sums.count, items, profile->step_count)) {
            return false;
        }
    }
    return true;
}

bool reserve_is_right(const struct sched *sched, struct arena *scratch)
{
    (void)scratch;
    for (size_t p = 0; p < sched->pools.count; p++) {
        for (uint32_t i = 0; i < PROFILE_MEMORIES; i++) {
            const struct profile_memory *m =
                &sched->pools.items[p].memory.profiles.items[i];
            if (m->turn && !is_memory_right(sched, m)) {
                return false;
            }
        }
    }
    return true;
}
