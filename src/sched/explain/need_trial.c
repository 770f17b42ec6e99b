#include "sched/explain/need_trial.h"

#include "sched/order/round.h"
#include "sched/order/sweep.h"
#include "sched/reserve/reserve.h"
#include "sched/state/sub_groups.h"

/* What a plan leaves behind, as it was. */
struct saved {
    uint64_t version, settled_version[2];
    int64_t settled_until_ms[2];
    struct sched_looked *looked;
    size_t looked_count;
    struct kept_reservation *kept; /* by pool; owned */
    struct ready_memories *ready;  /* likewise */
};

static void save(const struct sched *sched, struct saved *saved)
{
    *saved = (struct saved){.version = sched->version,
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
    saved->ready =
        mem_alloc_array(sched->pools.count + 1, sizeof(*saved->ready));
    for (size_t p = 0; p < sched->pools.count; p++) {
        struct pool *pool = &sched->pools.items[p];
        saved->kept[p] = pool->kept;
        saved->ready[p] = pool->ready;
        pool->kept = (struct kept_reservation){.job = NONE};
        pool->ready = (struct ready_memories){.turn = 0};
    }
}

static void restore(struct sched *sched, struct saved *saved)
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
        pool->ready = saved->ready[p];
    }
    mem_free(saved->looked);
    mem_free(saved->kept);
    mem_free(saved->ready);
}

/* What a trial costs before anybody is looked at. */
static uint64_t base_work(const struct sched *sched)
{
    uint64_t items = 1000 + sched->lists.count +
                     NEED_NODE_WORK * (uint64_t)sched->nodes.count +
                     sched->runs.count + sched->active.count;

    return items * NEED_ITEM_WORK;
}

const struct list *trial_list(const struct trials *trials)
{
    const struct sched *sched = trials->sched;

    return &sched->lists.items[sched->jobs.items[trials->job].list];
}

struct resource_vec trial_asked(const struct trials *trials)
{
    const struct sched *sched = trials->sched;

    return trials->gang == NONE || trials->sub_group != NONE
               ? sched->classes.items[trial_list(trials)->class_index].request
               : gang_least(sched, trials->gang);
}

bool trial_may(const struct trials *trials)
{
    uint64_t base = base_work(trials->sched);

    return !trials->is_over && trials->count < NEED_TRIALS_MAX &&
           base * NEED_TRIALS_MIN <= NEED_LOOKS_MAX &&
           trials->work + base <= NEED_LOOKS_MAX;
}

/* Whether a decision starts what is asked about. */
static bool is_of_it(const struct trials *trials,
                     const struct sched_decision *decision)
{
    const struct sched *sched = trials->sched;
    uint32_t job = decision->job;

    if (decision->action != SCHED_LEASE) {
        return false;
    }
    if (trials->gang == NONE || sched->jobs.items[job].gang != trials->gang) {
        return job == trials->job;
    }
    return trials->sub_group == NONE ||
           sub_group_of(sched, job) == trials->sub_group;
}

bool trial_starts(struct trials *trials, int64_t now_ms)
{
    struct sched *sched = trials->sched;
    struct sched_plan plan;
    struct saved saved;
    bool is_leased = false;

    trials->count++;
    trials->work += base_work(sched);
    uint64_t left =
        trials->work < NEED_LOOKS_MAX ? NEED_LOOKS_MAX - trials->work : 0;
    save(sched, &saved);
    sched->version++;
    sched->is_trial = true;
    sched->trial_grows = trials->sub_group != NONE;
    sched->trial_work_max = left + 1;
    sched_plan(sched, now_ms, ROUND_BALANCE, SCHED_DECISIONS_MAX, &plan);
    sched->is_trial = sched->trial_grows = false;
    for (uint32_t i = 0; i < plan.decision_count && !is_leased; i++) {
        is_leased = is_of_it(trials, &plan.decisions[i]);
    }
    uint64_t work = sweep_work(&plan.counters);
    trials->work += work;
    trials->is_over |= !is_leased && work > left;
    restore(sched, &saved);
    return is_leased;
}

/* Levers. */

static void node_grow(struct sched *sched, uint32_t index,
                      const struct resource_vec *more, int sign)
{
    struct node *node = &sched->nodes.items[index];

    amounts_add_times(&node->capacity, more, sign);
    amounts_add_times(&sched->free[index], more, sign);
    if (node_is_in_total(node)) {
        amounts_add_times(&sched->pools.items[node->pool].total, more, sign);
    }
}

static bool starts_with_room(const struct lever *lever,
                             const struct resource_vec *more)
{
    struct sched *sched = lever->trials->sched;
    uint32_t node = lever->node;
    struct pool *pool = &sched->pools.items[sched->nodes.items[node].pool];

    /* Costs and the order of nodes go by the pool's total. */
    node_grow(sched, node, more, 1);
    pool->is_stale = pool->is_base_stale = true;
    bool is = trial_starts(lever->trials, lever->trials->now_ms);
    node_grow(sched, node, more, -1);
    pool->is_stale = pool->is_base_stale = true;
    return is;
}

static bool starts_within(const struct lever *lever,
                          const struct resource_vec *more)
{
    struct limit_trial limit = lever->limit;

    limit.more = *more;
    lever->trials->sched->limit_trial = &limit;
    bool is = trial_starts(lever->trials, lever->trials->now_ms);
    lever->trials->sched->limit_trial = NULL;
    return is;
}

static bool starts_with_quota(const struct lever *lever,
                              const struct resource_vec *more)
{
    struct resource_vec before = lever->queue->quota;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        lever->queue->quota.v[r] += more->v[r]; /* 0 where there is none */
    }
    bool is = trial_starts(lever->trials, lever->trials->now_ms);
    lever->queue->quota = before;
    return is;
}

static bool starts_with_floating(const struct lever *lever,
                                 const struct resource_vec *more)
{
    struct trials *trials = lever->trials;
    struct pool *pool = &trials->sched->pools.items[trials->pool];

    amounts_add(&pool->total, more);
    pool->is_stale = pool->is_base_stale = true;
    bool is = trial_starts(trials, trials->now_ms);
    amounts_subtract(&pool->total, more);
    pool->is_stale = pool->is_base_stale = true;
    return is;
}

static bool starts_with_budget(const struct lever *lever,
                               const struct resource_vec *more)
{
    int64_t before = lever->queue->excess_budget_milli;

    lever->queue->excess_budget_milli = lever->base + more->v[0];
    bool is = trial_starts(lever->trials, lever->trials->now_ms);
    lever->queue->excess_budget_milli = before;
    return is;
}

static bool starts_with_share(const struct lever *lever,
                              const struct resource_vec *more)
{
    int64_t before = lever->queue->over_share_ppm;

    lever->queue->over_share_ppm = lever->base + more->v[0];
    bool is = trial_starts(lever->trials, lever->trials->now_ms);
    lever->queue->over_share_ppm = before;
    return is;
}

static bool starts_with_apps(const struct lever *lever,
                             const struct resource_vec *more)
{
    uint32_t before = lever->queue->running_apps_max;

    lever->queue->running_apps_max = before + (uint32_t)more->v[0];
    bool is = trial_starts(lever->trials, lever->trials->now_ms);
    lever->queue->running_apps_max = before;
    return is;
}

bool trial_pull(const struct lever *lever, const struct resource_vec *more)
{
    if (!trial_may(lever->trials)) {
        lever->trials->is_over = true;
        return false;
    }
    switch (lever->kind) {
    case LEVER_ROOM:
        return starts_with_room(lever, more);
    case LEVER_LIMIT:
        return starts_within(lever, more);
    case LEVER_QUOTA:
        return starts_with_quota(lever, more);
    case LEVER_FLOATING:
        return starts_with_floating(lever, more);
    case LEVER_BUDGET:
        return starts_with_budget(lever, more);
    case LEVER_SHARE:
        return starts_with_share(lever, more);
    case LEVER_APPS:
        break;
    }
    return starts_with_apps(lever, more);
}

/* The least. */

/* One column: down from what starts the job by steps that double, since what
 * was reckoned is mostly right, then by halves. */
static bool shrink_column(const struct lever *lever, struct resource_vec *more,
                          uint32_t column)
{
    int64_t low = 0, high = more->v[column]; /* high starts it */
    int64_t step = 1;
    bool has_failed = false;

    while (low < high) {
        int64_t middle = has_failed || step > high - low
                             ? low + (high - low) / 2
                             : high - step;
        more->v[column] = middle;
        bool is = trial_pull(lever, more);
        if (lever->trials->is_over) {
            more->v[column] = high;
            return false;
        }
        has_failed |= !is;
        step *= 2;
        high = is ? middle : high;
        low = is ? low : middle + 1;
    }
    more->v[column] = high;
    return true;
}

bool trial_shrink(const struct lever *lever, struct resource_vec *more)
{
    struct resource_vec before;
    bool is_least;

    /* Again as long as one gives room for less of another. */
    do {
        before = *more;
        is_least = true;
        for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
            if (more->v[r] > 0) {
                is_least &= shrink_column(lever, more, r);
            }
        }
    } while (is_least && memcmp(&before, more, sizeof(before)) != 0);
    return is_least;
}
