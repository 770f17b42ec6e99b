#include "sched/need.h"

#include "sched/reserve.h"
#include "sched/truce.h"

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

/* Trials. */

/* What a plan leaves behind, as it was. */
struct saved {
    uint64_t version, settled_version[2];
    int64_t settled_until_ms[2];
    struct sched_looked *looked;
    size_t looked_count;
    struct kept_reservation *kept; /* by pool; owned */
    struct ready_memories *ready;  /* likewise */
};

struct search {
    struct sched *sched;
    uint32_t job, pool, gang;
    int64_t now_ms;
    uint32_t trial_count, trial_max;
    uint64_t look_count; /* nodes that the trials examined */
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

/* Whether the next round starts the job, or others of its gang. */
static bool is_started(struct search *search, int64_t now_ms)
{
    struct sched *sched = search->sched;
    struct sched_plan plan;
    struct saved saved;
    bool is_leased = false;

    search->trial_count++;
    save(sched, &saved);
    sched->version++;
    sched->is_trial = true;
    sched_plan(sched, now_ms, ROUND_BALANCE, SCHED_DECISIONS_MAX, &plan);
    sched->is_trial = false;
    search->look_count += plan.counters.nodes_examined;
    for (uint32_t i = 0; i < plan.decision_count && !is_leased; i++) {
        const struct sched_decision *decision = &plan.decisions[i];
        is_leased = decision->action == SCHED_LEASE &&
                    (decision->job == search->job ||
                     (search->gang != NONE &&
                      sched->jobs.items[decision->job].gang == search->gang));
    }
    restore(sched, &saved);
    return is_leased;
}

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

/* The same if `node` had more. */
static bool starts_with_room(struct search *search, uint32_t node,
                             const struct resource_vec *more)
{
    struct sched *sched = search->sched;
    struct pool *pool = &sched->pools.items[sched->nodes.items[node].pool];

    /* Costs and the order of nodes go by the pool's total. */
    node_grow(sched, node, more, 1);
    pool->is_stale = pool->is_base_stale = true;
    bool is = is_started(search, search->now_ms);
    node_grow(sched, node, more, -1);
    pool->is_stale = pool->is_base_stale = true;
    return is;
}

/* The same if the limit of its queue were higher. */
static bool starts_within(struct search *search, struct limit_trial *limit,
                          const struct resource_vec *more)
{
    limit->more = *more;
    search->sched->limit_trial = limit;
    bool is = is_started(search, search->now_ms);
    search->sched->limit_trial = NULL;
    return is;
}

/* The same if the quota of its queue were larger. */
static bool starts_with_quota(struct search *search, struct queue *queue,
                              const struct resource_vec *more)
{
    struct resource_vec before = queue->quota;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        queue->quota.v[r] += more->v[r]; /* 0 where there is none */
    }
    bool is = is_started(search, search->now_ms);
    queue->quota = before;
    return is;
}

/* What is tried: more room on a node, a higher limit, or a larger quota. */
struct lever {
    struct search *search;
    uint32_t node;             /* or NONE */
    struct limit_trial *limit; /* or NULL */
    struct queue *quota;       /* or NULL */
};

static bool pull(const struct lever *lever, const struct resource_vec *more)
{
    if (lever->quota) {
        return starts_with_quota(lever->search, lever->quota, more);
    }
    return lever->limit ? starts_within(lever->search, lever->limit, more)
                        : starts_with_room(lever->search, lever->node, more);
}

static bool may_try(const struct search *search)
{
    return search->trial_count < search->trial_max &&
           search->look_count < NEED_LOOKS_MAX;
}

/* Bring one column of what starts the job down to the least that does, the
 * others as they are; false when trials run out. */
static bool shrink_column(const struct lever *lever, struct resource_vec *more,
                          uint32_t column)
{
    int64_t low = 0, high = more->v[column]; /* high starts it */
    int64_t middle = high - 1;

    while (low < high) {
        if (!may_try(lever->search)) {
            more->v[column] = high;
            return false;
        }
        more->v[column] = middle;
        if (pull(lever, more)) {
            high = middle;
        } else {
            low = middle + 1;
        }
        middle = low + (high - low) / 2;
    }
    more->v[column] = high;
    return true;
}

/* All columns, again as long as one gives room for less of another. */
static bool shrink(const struct lever *lever, struct resource_vec *more)
{
    struct resource_vec before;
    bool is_least;

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

/* Answers. */

static bool is_zero(const struct resource_vec *v)
{
    static const struct resource_vec zero;

    return memcmp(v, &zero, sizeof(zero)) == 0;
}

/* What a node lacks of `count` times the request. */
static struct resource_vec lack_of(const struct search *search, uint32_t node,
                                   uint32_t count)
{
    const struct sched *sched = search->sched;
    uint32_t list = sched->jobs.items[search->job].list;
    const struct resource_vec *request =
        &sched->classes.items[sched->lists.items[list].class_index].request;
    struct resource_vec lack = {0};

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t wanted;
        if (request->v[r] > 0 &&
            !__builtin_mul_overflow(request->v[r], (int64_t)count, &wanted) &&
            wanted > sched->free[node].v[r]) {
            lack.v[r] = wanted - sched->free[node].v[r];
        }
    }
    return lack;
}

/* How often the request fits the free room of a node. */
static uint32_t fits_of(const struct search *search, uint32_t node,
                        uint32_t count_max)
{
    uint32_t count = 0;

    while (count < count_max) {
        struct resource_vec lack = lack_of(search, node, count + 1);
        if (!is_zero(&lack)) {
            break;
        }
        count++;
    }
    return count;
}

/* Find the least that `node` lacks for the job, or for so many of its gang as
 * must start; false: nothing that was tried starts it. */
static bool try_node(struct search *search, uint32_t node, uint32_t member_max,
                     struct sched_need *need)
{
    struct lever lever = {.search = search, .node = node};
    uint32_t first = fits_of(search, node, member_max) + 1;

    for (uint32_t count = first; count <= member_max && may_try(search);
         count++) {
        struct resource_vec more = lack_of(search, node, count);
        if (pull(&lever, &more)) {
            need->kind = SCHED_NEED_ROOM;
            need->node = node;
            need->is_exact = shrink(&lever, &more);
            need->missing = more;
            return true;
        }
    }
    return false;
}

static bool find_room(struct search *search, const struct near_nodes *near,
                      struct sched_need *need)
{
    const struct sched *sched = search->sched;
    uint32_t member_max = search->gang == NONE
                              ? 1
                              : sched->gangs.items[search->gang].waiting.count;

    if (near->count == 0) {
        return false;
    }
    for (uint32_t i = 0; i < near->count && may_try(search); i++) {
        if (try_node(search, near->nodes[i], member_max, need)) {
            return true;
        }
    }
    /* Others would take it, or something else holds too: at least this. */
    need->node = near->nodes[0];
    need->missing = lack_of(search, near->nodes[0],
                            fits_of(search, near->nodes[0], member_max) + 1);
    need->kind = is_zero(&need->missing) ? SCHED_NEED_NONE : SCHED_NEED_ROOM;
    return false;
}

/* What it takes of a lever, known to lack `more` at the least: the answer's
 * amount, in any case; false: it would not be enough, or may not be tried. */
static bool find_least(struct lever *lever, struct resource_vec more,
                       struct sched_need *need)
{
    need->missing = more;
    if (!may_try(lever->search) || is_zero(&more) || !pull(lever, &more)) {
        return false;
    }
    need->is_exact = shrink(lever, &more);
    need->missing = more;
    return true;
}

/* What the limits of its class and queue lack for the job, or its gang. */
static bool find_limit(struct search *search, struct sched_need *need)
{
    struct sched *sched = search->sched;
    const struct job *record = &sched->jobs.items[search->job];
    const struct list *list = &sched->lists.items[record->list];
    const struct class *class = &sched->classes.items[list->class_index];
    struct limit_trial limit = {
        list->queue, search->pool, class->priority_class, {{0}}};
    struct lever lever = {.search = search, .node = NONE, .limit = &limit};
    uint32_t at =
        account_get(sched, list->queue, search->pool, class->priority_class);
    struct resource_vec more = {0};

    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        int64_t most = queue_limit_of(sched, list->queue, search->pool,
                                      class->priority_class, r);
        int64_t asked = search->gang == NONE
                            ? class->request.v[r]
                            : sched->gangs.items[search->gang].waiting_sum.v[r];
        int64_t wanted =
            asked + queue_used_of(sched, &sched->accounts.items[at],
                                  list->is_foreign, r);
        more.v[r] = asked > 0 && wanted > most ? wanted - most : 0;
    }
    need->kind = SCHED_NEED_LIMIT;
    return find_least(&lever, more, need);
}

/* What the quota of its queue lacks for the job, or all that its gang asks
 * for. */
static bool find_quota(struct search *search, struct sched_need *need)
{
    struct sched *sched = search->sched;
    const struct list *list =
        &sched->lists.items[sched->jobs.items[search->job].list];
    struct lever lever = {
        .search = search,
        .node = NONE,
        .quota = &sched->queues.items[list->queue],
    };
    const struct resource_vec *asked =
        search->gang == NONE ? &sched->classes.items[list->class_index].request
                             : &sched->gangs.items[search->gang].waiting_sum;
    struct resource_vec more = queue_quota_missing(sched, list->queue, asked);

    need->kind = SCHED_NEED_QUOTA;
    return find_least(&lever, more, need);
}

/* When a rate or a timer lets it go: then, and not before. */
static void find_time(struct search *search, int64_t until_ms,
                      struct sched_need *need)
{
    need->kind = until_ms ? SCHED_NEED_TIME : SCHED_NEED_NONE;
    need->until_ms = until_ms;
    need->is_exact = until_ms > search->now_ms && may_try(search) &&
                     is_started(search, until_ms) &&
                     !is_started(search, until_ms - 1);
}

/* Whether it is a truce that keeps the job back: without it, all else as it
 * is, the next round starts it. */
static void find_truce(struct search *search,
                       struct sched_explanation *explanation)
{
    struct sched *sched = search->sched;
    bool is_about_room = explanation->wait == SCHED_WAIT_CAPACITY ||
                         explanation->wait == SCHED_WAIT_GANG_CAPACITY ||
                         explanation->wait == SCHED_WAIT_PASSED ||
                         explanation->wait == SCHED_WAIT_ADMITTED ||
                         explanation->wait == SCHED_WAIT_RESERVED;
    int64_t until_ms;

    if (!is_about_room || !may_try(search) ||
        !truce_holds(sched, search->job, search->now_ms, &until_ms)) {
        return;
    }
    sched->truce_lifted = search->job;
    if (is_started(search, search->now_ms)) {
        explanation->wait = SCHED_WAIT_TRUCE;
        explanation->until_ms = until_ms == INT64_MAX ? 0 : until_ms;
    }
    sched->truce_lifted = NONE;
}

static uint32_t trials_of(const struct sched *sched)
{
    uint64_t work = 1000 + sched->lists.count +
                    NEED_NODE_WORK * (uint64_t)sched->nodes.count +
                    sched->runs.count + sched->active.count;
    uint64_t count = NEED_WORK_MAX / work;

    if (count < NEED_TRIALS_MIN) {
        return 0;
    }
    return count < NEED_TRIALS_MAX ? (uint32_t)count : NEED_TRIALS_MAX;
}

void need_find(struct sched *sched, uint32_t job, uint32_t pool, int64_t now_ms,
               struct sched_explanation *explanation,
               const struct near_nodes *near, struct sched_need *ret_need)
{
    struct search search = {.sched = sched,
                            .job = job,
                            .pool = pool,
                            .gang = sched->jobs.items[job].gang,
                            .now_ms = now_ms,
                            .trial_max = trials_of(sched)};

    *ret_need = (struct sched_need){.node = NONE};
    find_truce(&search, explanation);
    switch ((int)explanation->wait) {
    case SCHED_WAIT_GANG:
        ret_need->kind = SCHED_NEED_MEMBERS;
        ret_need->member_count = explanation->wanted - explanation->present;
        break;
    case SCHED_WAIT_RATE:
    case SCHED_WAIT_QUEUE_RATE:
    case SCHED_WAIT_RESOURCE_RATE:
    case SCHED_WAIT_APP_STARTING:
    case SCHED_WAIT_OVER_SHARE: /* if its flow falls */
        find_time(&search, explanation->until_ms, ret_need);
        break;
    case SCHED_WAIT_QUEUE_LIMIT:
        (void)find_limit(&search, ret_need);
        break;
    case SCHED_WAIT_QUOTA:
        (void)find_quota(&search, ret_need);
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
        (void)find_room(&search, near, ret_need);
        break;
    default:
        break;
    }
}
