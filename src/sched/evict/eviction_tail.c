#include "sched/evict/eviction_tail.h"

#include <string.h>

#include "sched/evict/evict.h"
#include "sched/evict/evictable.h"
#include "sched/state/borrowed.h"
#include "sched/state/exclusive.h"

/* More runs that yield are not compared with each other. */
enum { REVOCABLES_MAX = 64, TAIL_MIN = 256 };

/* Whether only single jobs are of one pool, with costs that are their usage. */
static bool is_simple_shard(const struct round *round)
{
    const struct sched *sched = round->sched;

    return !round->has_flow && !sched->keeps_usage_ledgers &&
           !sched->is_pool_object && !has_terms_running(sched) &&
           !sched->protected_run_count && !exclusive_is_any(sched) &&
           !borrowed_waits(sched) && !borrowed_runs(sched) &&
           !sched->elastic.count && !sched->policy->has_floating;
}

/* Whether what yields to admitted work goes alone, one run from a node: else
 * their order there would depend on whether they are of a tail. */
static bool are_revocables_simple(const struct round *round)
{
    const struct sched *sched = round->sched;
    size_t count = sched->revocables.count;

    if (round->reserve.count == 0) {
        return true;
    }
    if (count > REVOCABLES_MAX) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &sched->runs.items[sched->revocables.items[i]];
        if (sched->jobs.items[run->job].gang != NONE) {
            return false;
        }
        for (size_t k = 0; k < i; k++) {
            if (sched->runs.items[sched->revocables.items[k]].node ==
                run->node) {
                return false;
            }
        }
    }
    return true;
}

/* Whether whoever may be first of a list has waited since after `since_ms`:
 * what has no flags is not passed over before the heap runs. */
static bool is_list_young(const struct sched *sched, const struct list *list,
                          int64_t since_ms)
{
    for (struct seq_cursor at = {0}; !seq_is_end(&list->seq, at);
         seq_next(&list->seq, &at)) {
        uint32_t job = seq_get(&list->seq, at);
        if (sched->jobs.items[job].submitted_ms <= since_ms) {
            return false;
        }
        if (!sched->job_flags.items[job]) {
            break;
        }
    }
    return true;
}

/* Whether a list is of single jobs, of which no look at a node counts as more
 * work than that; the bound's level is then at least theirs. */
static bool is_simple_class(const struct round *round, uint32_t class_index,
                            struct tail_bound *bound)
{
    if (class_index == NONE || class_at(round, class_index)->match_work) {
        return false;
    }
    uint32_t level = class_at(round, class_index)->level;
    bound->level = level > bound->level ? level : bound->level;
    return true;
}

static bool are_lists_simple(const struct round *round, const struct lane *lane,
                             struct tail_bound *bound)
{
    const struct sched *sched = round->sched;
    const struct queue *queue = &sched->queues.items[lane->queue];
    int64_t starved_ms =
        sched->policy->pools[round->pool->policy_index].starved_after_ms;
    bool may_starve = round->reserve.has_window && starved_ms != 0;

    if (queue->apps) {
        return false;
    }
    for (size_t i = 0; i < queue->list_heap.count; i++) {
        const struct front *front = &queue->list_heap.items[i];
        if (!is_simple_class(round, front->class_index, bound) ||
            (may_starve &&
             !is_list_young(sched, &sched->lists.items[front->list],
                            round->now_ms - starved_ms))) {
            return false;
        }
    }
    return true;
}

/* The most that runs on a node: more no job of those admitted can take. */
static void most_on_a_node(const struct round *round,
                           struct resource_vec *ret_most)
{
    const struct sched *sched = round->sched;

    *ret_most = (struct resource_vec){0};
    for (size_t i = 0; i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].run_count == 0) {
            continue;
        }
        struct resource_vec used = sched->nodes.items[i].capacity;
        amounts_subtract(&used, &sched->free[i]);
        for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
            int64_t v = used.v[r];
            ret_most->v[r] = v > ret_most->v[r] ? v : ret_most->v[r];
        }
    }
}

/* Whether admitted work takes nothing but by fairness and what was promised to
 * it. */
static bool are_claims_simple(const struct round *round,
                              struct tail_bound *bound)
{
    const struct sched *sched = round->sched;

    for (uint32_t i = 0; i < round->reserve.count; i++) {
        const struct claim *claim = &round->reserve.entries[i].claim;
        if (claim->is_gang ||
            !is_simple_class(round, class_of_job(sched, claim->job), bound)) {
            return false;
        }
        bound->level =
            claim->level > bound->level ? claim->level : bound->level;
    }
    for (uint32_t l = 0; round->reserve.count && l < bound->level; l++) {
        if (sched->urgency_preemptible_count[l]) {
            return false;
        }
    }
    return true;
}

/* What a lane has at least when the heap runs, after admitted work had its
 * turn: some of its own may be sent back, and each may take from it. */
static struct resource_vec least_of(const struct round *round,
                                    const struct lane *lane,
                                    const struct resource_vec *most)
{
    struct resource_vec least = lane->placed;

    amounts_add_times(&least, most, -(int64_t)round->reserve.count);
    amounts_clamp(&least);
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        least.v[r] = least.v[r] > 0 ? least.v[r] : 0;
    }
    return least;
}

static bool has_claim(const struct round *round, const struct lane *lane)
{
    for (uint32_t i = 0; i < round->reserve.count; i++) {
        if (round->reserve.entries[i].claim.lane == lane) {
            return true;
        }
    }
    return false;
}

bool tail_begin(struct round *round, struct tail *ret_tail)
{
    struct tail_bound *bound = &ret_tail->bound;
    const struct cost_base *base = &round->pool->base;
    struct resource_vec most = {0}, nothing = {0};
    struct cost zero = cost_of(base, &nothing, NULL, 1);
    bool has_any = false;

    *ret_tail = (struct tail){0};
    if (!is_simple_shard(round) || !are_revocables_simple(round)) {
        return false;
    }
    for (uint32_t i = 0; i < round->lane_count; i++) {
        if (!are_lists_simple(round, &round->lanes[i], bound)) {
            return false;
        }
    }
    if (!are_claims_simple(round, bound)) {
        return false;
    }
    if (round->reserve.count) {
        most_on_a_node(round, &most);
    }
    for (uint32_t i = 0; i < round->lane_count; i++) {
        const struct lane *lane = &round->lanes[i];
        if (lane->head_count == 0 && !has_claim(round, lane)) {
            continue;
        }
        struct resource_vec least = least_of(round, lane, &most);
        struct cost cost = cost_of(base, &least, NULL, lane->factor_micro);
        if (!has_any || cost_compare(base, &cost, &bound->cost) < 0) {
            bound->cost = cost;
        }
        has_any = true;
    }
    /* Nothing costs less than nothing: to look for it would be in vain. */
    return has_any && cost_compare(base, &zero, &bound->cost) < 0;
}

/* A lane's part of the tail while it is gathered, last first. */
struct gathering {
    struct round *round;
    const struct lane *lane;
    const struct tail_bound *bound;
    /* Of each of its accounts what is not gathered yet, up to here. */
    struct rest {
        const struct seq *runs;
        struct seq_cursor at;
    } rests[POLICY_CLASSES_MAX];
    uint32_t rest_count;
    struct resource_vec all; /* of the lane, without what is gathered */
};

/* The account of which the last is the last of all. */
static struct rest *last_of(struct gathering *g, struct evictable_key *ret_key)
{
    struct rest *last = NULL;

    for (uint32_t i = 0; i < g->rest_count; i++) {
        const struct rest *rest = &g->rests[i];
        struct evictable_key key =
            evictable_key_of(g->round->sched, seq_get(rest->runs, rest->at));
        if (!last || evictable_goes_before(g->round->sched, ret_key, &key)) {
            last = &g->rests[i];
            *ret_key = key;
        }
    }
    return last;
}

/* Whether what is of this level has its place before the bound, when all that
 * is gathered comes after it and nothing else. */
static bool is_before(const struct gathering *g, uint8_t level)
{
    const struct cost_base *base = &g->round->pool->base;

    if (level != g->bound->level) {
        return level > g->bound->level;
    }
    struct cost cost = cost_of(base, &g->all, NULL, g->lane->factor_micro);
    return cost_compare(base, &cost, &g->bound->cost) < 0;
}

static struct unit *make_room(struct round *round, struct tail *tail)
{
    ASSERT(tail->count <= tail->capacity);
    if (tail->count == tail->capacity) {
        uint32_t capacity = tail->capacity ? tail->capacity * 2 : TAIL_MIN;
        struct unit *units =
            arena_alloc_array(round->arena, capacity, sizeof(*units));
        if (tail->capacity) {
            memcpy(units, tail->units, tail->capacity * sizeof(*units));
        }
        tail->units = units;
        tail->capacity = capacity;
    }
    return &tail->units[tail->count++];
}

/* The account's last is of the tail. */
static void gather(struct gathering *g, struct rest *rest,
                   const struct evictable_key *key, struct unit *ret_unit)
{
    struct sched *sched = g->round->sched;
    uint32_t list = sched->jobs.items[key->job].list;
    struct class *class =
        class_at(g->round, sched->lists.items[list].class_index);

    *ret_unit = (struct unit){
        .sum = &class->request,
        .lane = (uint32_t)(g->lane - g->round->lanes),
        .leased_ms = key->leased_ms,
        .submitted_ms = key->submitted_ms,
        .last = key->job,
        .priority = key->priority,
        .level = key->level,
    };
    ASSERT(g->rest_count > 0 && rest < g->rests + g->rest_count);
    amounts_subtract(&g->all, &class->request);
    if (!seq_previous(rest->runs, &rest->at)) {
        *rest = g->rests[--g->rest_count];
    }
}

/* Note what may be evicted of an account; false: gangs may. */
static bool add_account(struct gathering *g, uint32_t account)
{
    struct round *round = g->round;
    struct sched *sched = round->sched;
    const struct evictable *evictable =
        evictable_of(sched, account, round->now_ms);

    round_wake_by(round, evictable_next_ms(evictable));
    if (evictable->gang_run_count) {
        return false;
    }
    if (evictable->runs.count) {
        uint32_t first = seq_get(&evictable->runs, (struct seq_cursor){0});
        evict_note(round, &sched->runs.items[first]);
        /* A queue has one account a class in each pool. */
        ASSERT(g->rest_count < POLICY_CLASSES_MAX);
        g->rests[g->rest_count++] =
            (struct rest){&evictable->runs, seq_at_last(&evictable->runs)};
    }
    return true;
}

static void reverse(struct unit *units, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        struct unit swap = units[i];
        units[i] = units[count - 1 - i];
        units[count - 1 - i] = swap;
    }
}

bool tail_add_lane(struct round *round, uint32_t index, struct tail *tail)
{
    struct sched *sched = round->sched;
    const struct lane *lane = &round->lanes[index];
    uint32_t first = tail->count, count = 0;
    struct gathering g = {
        .round = round, .lane = lane, .bound = &tail->bound, .all = lane->all};
    struct evictable_key key = {0};
    struct rest *last;

    for (uint32_t at = sched->queues.items[lane->queue].account_first;
         at != NONE; at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        if (account->pool == round->p && account->run_first != NONE) {
            if (!add_account(&g, at)) {
                return false;
            }
            count += account->evictable->runs.count;
        }
    }
    while ((last = last_of(&g, &key)) &&
           (tail->count == first || !is_before(&g, key.level))) {
        gather(&g, last, &key, make_room(round, tail));
    }
    reverse(tail->units + first, tail->count - first);
    tail->kept_count += count - (tail->count - first);
    return true;
}
