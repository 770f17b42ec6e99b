#include "sched/need.h"

#include "sched/limits.h"
#include "sched/need_trial.h"
#include "sched/sub_groups.h"
#include "sched/truce.h"

/* Of a charge, which is in millionths of the pool x ms, a thousandth of the
 * pool x minute. */
static const double CHARGE_PER_MILLI = 60e6;
/* Budgets are told up to so much. */
static const double BUDGET_MILLI_MAX = 1e15;
/* Parts above a share, in millionths, likewise. */
static const double OVER_SHARE_MAX = 1e12;

void near_add(struct near_nodes *near, uint32_t node, double lack)
{
    uint32_t at = near->count;

    if (at == NEED_NODES_MAX) {
        if (lack >= near->lacks[at - 1]) {
            return;
        }
        at--;
    } else {
        near->count++;
    }
    for (; at > 0 && lack < near->lacks[at - 1]; at--) {
        near->nodes[at] = near->nodes[at - 1];
        near->lacks[at] = near->lacks[at - 1];
    }
    near->nodes[at] = node;
    near->lacks[at] = lack;
}

static bool is_zero(const struct resource_vec *v)
{
    static const struct resource_vec zero;

    return memcmp(v, &zero, sizeof(zero)) == 0;
}

static const struct list *list_of(const struct trials *trials)
{
    const struct sched *sched = trials->sched;

    return &sched->lists.items[sched->jobs.items[trials->job].list];
}

/* What must be had at once: of the job, of its gang, or of the next pod that
 * the gang grows by. */
static struct resource_vec asked_of(const struct trials *trials)
{
    const struct sched *sched = trials->sched;

    return trials->gang == NONE || trials->sub_group != NONE
               ? sched->classes.items[list_of(trials)->class_index].request
               : gang_least(sched, trials->gang);
}

/* Room. */

/* Who is to be put on a node, as many as it takes. */
struct crowd {
    const struct resource_vec **requests;
    uint32_t count;
    uint32_t lack_count; /* of them, that have no room; a guess */
};

/* What a node lacks for the last `count` of a crowd. */
static struct resource_vec lack_of(const struct sched *sched,
                                   const struct crowd *crowd, uint32_t node,
                                   uint32_t count)
{
    struct resource_vec lack = {0};

    for (uint32_t i = crowd->count - count; i < crowd->count; i++) {
        amounts_add(&lack, crowd->requests[i]);
    }
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        lack.v[r] -= lack.v[r] > 0 ? sched->free[node].v[r] : 0;
        lack.v[r] = lack.v[r] > 0 ? lack.v[r] : 0;
    }
    return lack;
}

/* How many of them fit the free room of a node. */
static uint32_t fits_of(const struct sched *sched, const struct crowd *crowd,
                        uint32_t node)
{
    struct resource_vec free = sched->free[node];
    uint32_t count = 0;

    while (count < crowd->count) {
        const struct resource_vec *request =
            crowd->requests[crowd->count - 1 - count];
        if (!amounts_fit(request, &free)) {
            break;
        }
        amounts_subtract(&free, request);
        count++;
    }
    return count;
}

/* Fewer of the crowd may do; `*count` of them start it. */
static void find_fewer(const struct lever *lever, const struct crowd *crowd,
                       uint32_t first, uint32_t *count)
{
    uint32_t low = first, high = *count, middle = high - 1;

    while (low < high && !lever->trials->is_over) {
        struct resource_vec more =
            lack_of(lever->trials->sched, crowd, lever->node, middle);
        bool is = trial_pull(lever, &more);
        high = is ? middle : high;
        low = is ? low : middle + 1;
        middle = low + (high - low) / 2;
    }
    *count = high;
}

/* So many of the crowd have room, and that starts it: find the least. */
static bool settle(const struct lever *lever, const struct crowd *crowd,
                   uint32_t first, uint32_t count, struct sched_need *need)
{
    find_fewer(lever, crowd, first, &count);
    struct resource_vec more =
        lack_of(lever->trials->sched, crowd, lever->node, count);
    need->is_exact = trial_shrink(lever, &more);
    need->kind = is_zero(&more) ? SCHED_NEED_NONE : SCHED_NEED_ROOM;
    need->is_exact &= need->kind == SCHED_NEED_ROOM;
    need->node = lever->node;
    need->missing = more;
    return true;
}

/* Find the least that `node` lacks for as many of the crowd as it takes; false:
 * nothing that was tried starts it. */
static bool try_node(struct trials *trials, uint32_t node,
                     const struct crowd *crowd, struct sched_need *need)
{
    struct lever lever = {.trials = trials, .kind = LEVER_ROOM, .node = node};
    uint32_t fitting = fits_of(trials->sched, crowd, node);
    uint32_t count = crowd->lack_count < crowd->count - fitting
                         ? fitting + crowd->lack_count
                         : crowd->count;
    struct resource_vec more = lack_of(trials->sched, crowd, node, count);

    if (is_zero(&more)) {
        return false;
    }
    if (!trial_pull(&lever, &more)) {
        more = lack_of(trials->sched, crowd, node, crowd->count);
        if (count == crowd->count || !trial_pull(&lever, &more)) {
            return false;
        }
        count = crowd->count;
    }
    return settle(&lever, crowd, fitting + 1, count, need);
}

/* The same for a job alone, where others would take so much first. */
static bool try_behind(struct trials *trials, uint32_t node,
                       struct sched_need *need)
{
    struct lever lever = {.trials = trials, .kind = LEVER_ROOM, .node = node};
    const struct resource_vec *requests[NEED_TIMES_MAX];
    struct crowd crowd = {.requests = requests, .count = NEED_TIMES_MAX};
    struct resource_vec request = asked_of(trials);
    uint32_t first = 0;

    for (uint32_t i = 0; i < NEED_TIMES_MAX; i++) {
        requests[i] = &request;
    }
    first = fits_of(trials->sched, &crowd, node) + 1;
    for (uint32_t count = first * 2; count <= NEED_TIMES_MAX; count *= 2) {
        struct resource_vec more = lack_of(trials->sched, &crowd, node, count);
        if (trial_pull(&lever, &more)) {
            return settle(&lever, &crowd, first + 1, count, need);
        }
    }
    return false;
}

/* The members of its gang that must have room, or of the sub-group that has
 * too little; or the job alone. */
static void find_crowd(const struct trials *trials,
                       const struct need_question *question,
                       struct arena *arena, struct crowd *ret_crowd)
{
    const struct sched *sched = trials->sched;
    const struct gang *gang = trials->gang == NONE || trials->sub_group != NONE
                                  ? NULL
                                  : &sched->gangs.items[trials->gang];
    const struct seq *seq = !gang ? NULL
                            : question->sub_group == NONE
                                ? &gang->waiting
                                : &gang->subs->items[question->sub_group].asked;
    uint32_t count = seq ? seq->count : 1;

    *ret_crowd = (struct crowd){
        .requests =
            arena_alloc_array(arena, count, sizeof(*ret_crowd->requests)),
        .lack_count = question->wanted > question->present
                          ? question->wanted - question->present
                          : 1,
    };
    if (gang && !gang->subs && gang_needed(gang) < count) {
        count = gang_needed(gang);
    }
    if (!seq) {
        uint32_t class_index = list_of(trials)->class_index;
        ret_crowd->requests[0] = &sched->classes.items[class_index].request;
        ret_crowd->count = 1;
        return;
    }
    for (struct seq_cursor at = {0};
         !seq_is_end(seq, at) && ret_crowd->count < count; seq_next(seq, &at)) {
        uint32_t job = seq_get(seq, at);
        uint32_t list = sched->jobs.items[job].list;
        uint32_t class_index = sched->lists.items[list].class_index;
        ret_crowd->requests[ret_crowd->count++] =
            &sched->classes.items[class_index].request;
    }
}

static void find_room(struct trials *trials,
                      const struct need_question *question,
                      struct sched_need *need)
{
    const struct near_nodes *near = &question->near;
    auto_arena arena = {0};
    struct crowd crowd;

    if (near->count == 0) {
        return;
    }
    find_crowd(trials, question, &arena, &crowd);
    for (uint32_t i = 0; i < near->count && trial_may(trials); i++) {
        if (try_node(trials, near->nodes[i], &crowd, need)) {
            return;
        }
    }
    bool is_alone = trials->gang == NONE || trials->sub_group != NONE;
    if (is_alone && try_behind(trials, near->nodes[0], need)) {
        return;
    }
    /* Others would take it, or something else holds too: at least this. */
    uint32_t fitting = fits_of(trials->sched, &crowd, near->nodes[0]);
    if (fitting == crowd.count) {
        return;
    }
    need->node = near->nodes[0];
    need->missing = lack_of(trials->sched, &crowd, near->nodes[0], fitting + 1);
    need->kind = SCHED_NEED_ROOM;
}

/* Limits. */

/* What it takes of a lever, known to lack `more` at the least, or more often
 * where others go first; the least is said in any case, for nothing may be
 * enough, or nothing may be tried. */
static void find_least(const struct lever *lever, struct resource_vec more,
                       struct sched_need *need)
{
    bool is_enough = false;

    need->missing = more;
    for (uint32_t times = 1; times <= NEED_TIMES_MAX && !is_zero(&more) &&
                             !is_enough && trial_may(lever->trials);
         times *= 2) {
        more = (struct resource_vec){0};
        amounts_add_times(&more, &need->missing, times);
        is_enough = trial_pull(lever, &more);
    }
    if (!is_enough) {
        return;
    }
    need->is_exact = trial_shrink(lever, &more);
    need->missing = more;
    if (is_zero(&more)) {
        *need = (struct sched_need){.node = NONE};
    }
}

/* What the limits of its class and queue lack for the job, or its gang. */
static void find_limit(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    const struct list *list = list_of(trials);
    const struct class *class = &sched->classes.items[list->class_index];
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_LIMIT,
        .limit = {list->queue, trials->pool, class->priority_class, {{0}}},
    };
    uint32_t at =
        account_get(sched, list->queue, trials->pool, class->priority_class);
    struct resource_vec more = {0}, asked = asked_of(trials);

    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        int64_t most = queue_limit_of(sched, list->queue, trials->pool,
                                      class->priority_class, r);
        int64_t wanted =
            asked.v[r] + queue_used_of(sched, &sched->accounts.items[at],
                                       list->is_foreign, r);
        more.v[r] = asked.v[r] > 0 && wanted > most ? wanted - most : 0;
    }
    need->kind = SCHED_NEED_LIMIT;
    find_least(&lever, more, need);
}

/* What the quota of its queue lacks. */
static void find_quota(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t queue = list_of(trials)->queue;
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_QUOTA,
        .queue = &sched->queues.items[queue],
    };
    struct resource_vec asked = asked_of(trials);

    need->kind = SCHED_NEED_QUOTA;
    find_least(&lever, queue_quota_missing(sched, queue, &asked), need);
}

/* What its pool lacks that is of no node. */
static void find_floating(struct trials *trials, struct sched_need *need)
{
    const struct sched *sched = trials->sched;
    const struct pool *pool = &sched->pools.items[trials->pool];
    struct lever lever = {.trials = trials, .kind = LEVER_FLOATING};
    struct resource_vec more = {0}, asked = asked_of(trials);

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t left = pool->total.v[r] - pool->used.v[r];
        if (sched->policy->is_floating[r] && asked.v[r] > 0 &&
            asked.v[r] > left) {
            more.v[r] = asked.v[r] - left;
        }
    }
    need->kind = SCHED_NEED_FLOATING;
    need->pool = intern_get(sched->pool_names, trials->pool);
    find_least(&lever, more, need);
}

/* What its queue's excess budget lacks. */
static void find_budget(struct trials *trials,
                        const struct sched_explanation *why,
                        struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t pool = intern_find(sched->pool_names, why->pool);
    uint32_t queue = list_of(trials)->queue;
    double lack = (why->asked - why->allowed) * 1000;
    struct limits limits;

    if (pool == INTERN_NONE || lack >= BUDGET_MILLI_MAX ||
        !limits_get(sched, queue, pool, limits_whole(sched, pool),
                    trials->now_ms, &limits)) {
        return;
    }
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_BUDGET,
        .queue = &sched->queues.items[queue],
        .base = sched->queues.items[queue].excess_budget_milli,
    };
    if (lever.base < 0) {
        lever.base =
            (int64_t)((double)limits.budget_max *
                      sched->pools.items[pool].base.units / CHARGE_PER_MILLI);
    }
    struct resource_vec more = {.v = {(int64_t)lack + 2}};
    need->kind = SCHED_NEED_BUDGET;
    need->pool = intern_get(sched->pool_names, pool);
    need->base = lever.base;
    find_least(&lever, more, need);
    need->more = need->missing.v[0];
    need->missing = (struct resource_vec){0};
}

/* How much higher the part above its share may be that its queue has of what
 * cannot be taken back; where time alone does not help. */
static void find_share(struct trials *trials,
                       const struct sched_explanation *why,
                       struct sched_need *need)
{
    struct sched *sched = trials->sched;
    uint32_t pool = intern_find(sched->pool_names, why->pool);
    uint32_t queue = list_of(trials)->queue;
    struct limits limits;

    if (pool == INTERN_NONE || why->allowed <= 0 ||
        !limits_get(sched, queue, pool, limits_whole(sched, pool),
                    trials->now_ms, &limits) ||
        limits.over_share_ppm == POLICY_OFF) {
        return;
    }
    double whole_ppm = (double)(limits.over_share_ppm + FRACTION_ONE_PPM);
    double lack = (why->asked / why->allowed - 1) * whole_ppm;
    if (lack < 0 || lack >= OVER_SHARE_MAX) {
        return;
    }
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_SHARE,
        .queue = &sched->queues.items[queue],
        .base = limits.over_share_ppm,
    };
    struct resource_vec more = {.v = {(int64_t)lack + 2}};
    need->kind = SCHED_NEED_SHARE;
    need->pool = intern_get(sched->pool_names, pool);
    need->base = lever.base;
    find_least(&lever, more, need);
    need->more = need->missing.v[0];
    need->missing = (struct resource_vec){0};
}

/* How many more applications of its queue may run. */
static void find_apps(struct trials *trials, struct sched_need *need)
{
    struct sched *sched = trials->sched;
    struct lever lever = {
        .trials = trials,
        .kind = LEVER_APPS,
        .queue = &sched->queues.items[list_of(trials)->queue],
    };
    struct resource_vec more = {.v = {1}};

    need->kind = SCHED_NEED_APPS;
    need->base = lever.queue->running_apps_max;
    find_least(&lever, more, need);
    need->more = need->missing.v[0];
    need->missing = (struct resource_vec){0};
}

/* When a rate or a timer lets it go: then, and not before. */
static void find_time(struct trials *trials, int64_t until_ms,
                      struct sched_need *need)
{
    need->kind = until_ms ? SCHED_NEED_TIME : SCHED_NEED_NONE;
    need->until_ms = until_ms;
    need->is_exact = until_ms > trials->now_ms && trial_may(trials) &&
                     trial_starts(trials, until_ms) && trial_may(trials) &&
                     !trial_starts(trials, until_ms - 1) && !trials->is_over;
}

/* Whether it is a truce that keeps the job back: without it, all else as it
 * is, the next round starts it. */
static void find_truce(struct trials *trials,
                       struct sched_explanation *explanation)
{
    struct sched *sched = trials->sched;
    bool is_about_room = explanation->wait == SCHED_WAIT_CAPACITY ||
                         explanation->wait == SCHED_WAIT_GANG_CAPACITY ||
                         explanation->wait == SCHED_WAIT_TOPOLOGY ||
                         explanation->wait == SCHED_WAIT_PASSED ||
                         explanation->wait == SCHED_WAIT_ADMITTED ||
                         explanation->wait == SCHED_WAIT_RESERVED;
    int64_t until_ms;

    if (!is_about_room || !trial_may(trials) ||
        !truce_holds(sched, trials->job, trials->now_ms, &until_ms)) {
        return;
    }
    sched->truce_lifted = trials->job;
    if (trial_starts(trials, trials->now_ms)) {
        explanation->wait = SCHED_WAIT_TRUCE;
        explanation->until_ms = until_ms == INT64_MAX ? 0 : until_ms;
    }
    sched->truce_lifted = NONE;
}

/* What a reason is about. */
static void find(struct trials *trials, const struct need_question *question,
                 enum sched_wait wait, const struct sched_explanation *why,
                 struct sched_need *need)
{
    switch ((int)wait) {
    case SCHED_WAIT_GANG:
        need->kind = SCHED_NEED_MEMBERS;
        need->member_count = why->wanted - why->present;
        break;
    case SCHED_WAIT_RATE:
    case SCHED_WAIT_QUEUE_RATE:
    case SCHED_WAIT_RESOURCE_RATE:
    case SCHED_WAIT_APP_STARTING:
    case SCHED_WAIT_FROZEN:
        find_time(trials, why->until_ms, need);
        break;
    case SCHED_WAIT_OVER_SHARE:
        if (why->until_ms) { /* its flow falls */
            find_time(trials, why->until_ms, need);
        } else {
            find_share(trials, why, need);
        }
        break;
    case SCHED_WAIT_APP_LIMIT:
        find_apps(trials, need);
        break;
    case SCHED_WAIT_QUEUE_LIMIT:
        find_limit(trials, need);
        break;
    case SCHED_WAIT_QUOTA:
        find_quota(trials, need);
        break;
    case SCHED_WAIT_FLOATING:
        find_floating(trials, need);
        break;
    case SCHED_WAIT_BUDGET:
        find_budget(trials, why, need);
        break;
    case SCHED_WAIT_TOPOLOGY:
    case SCHED_WAIT_NO_NODES:
    case SCHED_WAIT_NEVER_FITS:
    case SCHED_WAIT_CAPACITY:
    case SCHED_WAIT_GANG_CAPACITY:
    case SCHED_WAIT_PASSED:
    case SCHED_WAIT_ADMITTED:
    case SCHED_WAIT_RESERVED:
    case SCHED_WAIT_TRUCE:
        find_room(trials, question, need);
        break;
    default:
        break;
    }
}

void need_find(struct sched *sched, const struct need_question *question,
               struct sched_explanation *explanation,
               struct sched_need *ret_need)
{
    bool is_growth = explanation->wait == SCHED_WAIT_GROWTH;
    uint32_t job = question->job;
    struct trials trials = {
        .sched = sched,
        .job = job,
        .pool = question->pool,
        .gang = sched->jobs.items[job].gang,
        .sub_group = is_growth ? sub_group_of(sched, job) : NONE,
        .now_ms = question->now_ms,
    };

    *ret_need = (struct sched_need){.node = NONE};
    find_truce(&trials, explanation);
    find(&trials, question, is_growth ? explanation->growth : explanation->wait,
         explanation, ret_need);
}
