#include "pools/pools.h"
#include "prop.h"
#include "unit.h"

enum {
    MILLI = 1000,
    JOBS = 48,
    NODES = 8,
    QUEUES = 3,
    POOLS = 4, /* p0 ... p2 may be objects, p3 never is */
    STEPS = 60,
    SHARDS = POOLS + 1,
};

static const char *const pool_names[POOLS] = {"p0", "p1", "p2", "nowhere"};
static const char *const node_names[NODES] = {"n0", "n1", "n2", "n3",
                                              "n4", "n5", "n6", "n7"};
static const char *const gang_names[3] = {"g0", "g1", "g2"};

struct town {
    struct tape *tape;
    struct policy *policy;
    struct pools *pools;
    struct sched *plain;    /* told the same, while there are no objects */
    int64_t quotas[QUEUES]; /* cores that a queue may have; 0: any number */
    int64_t cores[JOBS];
    uint32_t classes[2], plain_classes[2];
    uint32_t node_handles[NODES];
    bool is_node[NODES];
    int node_labels[NODES]; /* bits: which pools it matches */
    bool is_job[JOBS];
    struct sched_job records[JOBS];
    bool is_object[POOLS];
    int64_t now_ms;
    uint32_t serial;
    bool has_plan[POOLS_SHARDS_MAX];
    enum round_kind kinds[POOLS_SHARDS_MAX];
    struct sched_plan plans[POOLS_SHARDS_MAX];
};

static struct requirement requirement_of(struct resource_amount *cpu,
                                         int64_t cores)
{
    *cpu = (struct resource_amount){STR("cpu"), cores * MILLI};
    return (struct requirement){
        .requests = {cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
}

static void town_init(struct town *t, struct tape *tape)
{
    static const char *const queues[QUEUES] = {"a", "b", "c"};

    *t = (struct town){.tape = tape};
    t->policy = mem_alloc(sizeof(*t->policy));
    policy_defaults(t->policy);
    t->pools = pools_create(t->policy);
    t->plain = sched_create(t->policy);
    for (uint32_t i = 0; i < QUEUES; i++) {
        struct queue_record record = queue_record_plain(str_of(queues[i]));
        t->quotas[i] = draw(tape, 0, 1) ? (int64_t)draw(tape, 1, 8) : 0;
        struct resource_amount cpu = {STR("cpu"), t->quotas[i] * MILLI};
        record.quota = (struct resource_list){&cpu, t->quotas[i] > 0};
        pools_queue_set(t->pools, i, &record);
        sched_queue_set(t->plain, i, &record);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct resource_amount cpu;
        struct requirement requirement = requirement_of(&cpu, i + 1);
        t->classes[i] = pools_class_add(t->pools, &requirement);
        t->plain_classes[i] = sched_class_add(t->plain, &requirement);
    }
}

static void town_fini(struct town *t)
{
    pools_destroy(t->pools);
    sched_destroy(t->plain);
    mem_free(t->policy);
}

static bool is_plain(const struct town *t)
{
    return t->plain != NULL;
}

static void tell_node(struct town *t, uint32_t n)
{
    struct resource_amount cpu = {STR("cpu"), 4 * MILLI};
    struct label labels[POOLS];
    uint32_t label_count = 0;

    for (uint32_t p = 0; p < POOLS; p++) {
        if (t->node_labels[n] >> p & 1) {
            labels[label_count++] =
                (struct label){str_of(pool_names[p]), STR("yes")};
        }
    }
    struct node_record record = {
        .name = str_of(node_names[n]),
        .labels = labels,
        .label_count = label_count,
        .total = {&cpu, 1},
    };
    t->is_node[n] = true;
    t->node_handles[n] =
        pools_node_set(t->pools, STR("e"), &record, STR("default"));
    if (is_plain(t)) {
        (void)sched_node_set(t->plain, STR("e"), &record, STR("default"));
    }
}

static void change_node(struct town *t)
{
    uint32_t n = (uint32_t)draw(t->tape, 0, NODES - 1);

    if (t->is_node[n] && draw(t->tape, 0, 3) == 0) {
        pools_node_remove(t->pools, t->node_handles[n]);
        if (is_plain(t)) {
            sched_node_remove(
                t->plain,
                sched_node_index(t->plain, STR("e"), str_of(node_names[n])));
        }
        t->is_node[n] = false;
        return;
    }
    t->node_labels[n] = (int)draw(t->tape, 0, 7);
    tell_node(t, n);
}

static bool is_any_busy(const struct town *t)
{
    return pools_is_any_busy(t->pools);
}

/* What of the plans that are out still stands becomes true. */
static bool act(struct town *t, uint32_t shard, const struct sched_plan *plan)
{
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        const struct sched_decision *d = &plan->decisions[i];
        if (d->job >= JOBS || !t->is_job[d->job]) {
            return false;
        }
        bool is_leased = pools_job_node(t->pools, d->job) != SCHED_NONE;
        if (d->action == SCHED_LEASE) {
            if (is_leased || pools_node_shard(t->pools, d->node) != shard) {
                return false;
            }
            pools_job_lease(t->pools, d->job, d->node, d->priority, t->now_ms,
                            true);
            if (is_plain(t)) {
                sched_job_lease(t->plain, d->job, d->node, d->priority,
                                t->now_ms, true);
            }
        } else if (d->action == SCHED_PREEMPT) {
            if (!is_leased) {
                return false;
            }
            pools_job_requeue(t->pools, d->job, SCHED_NONE);
            if (is_plain(t)) {
                sched_job_requeue(t->plain, d->job, SCHED_NONE);
            }
        } else if (d->action == SCHED_FAIL) {
            pools_job_remove(t->pools, d->job);
            if (is_plain(t)) {
                sched_job_remove(t->plain, d->job);
            }
            t->is_job[d->job] = false;
        }
    }
    return true;
}

static bool finish(struct town *t, uint32_t shard)
{
    (void)pools_plan_end(t->pools, shard, &t->plans[shard]);
    (void)pools_borrow(t->pools, shard, t->kinds[shard], &t->plans[shard]);
    t->has_plan[shard] = false;
    if (draw(t->tape, 0, 3) == 3) {
        pools_plan_forget(t->pools, shard); /* nobody heard of it */
        return true;
    }
    bool is_good = act(t, shard, &t->plans[shard]);
    (void)pools_plan_commit(t->pools, shard);
    return is_good;
}

static bool finish_all(struct town *t)
{
    for (uint32_t s = 0; s < POOLS_SHARDS_MAX; s++) {
        if (t->has_plan[s] && !finish(t, s)) {
            return false;
        }
    }
    return true;
}

static bool change_pool(struct town *t)
{
    uint32_t p = (uint32_t)draw(t->tape, 0, 2);
    struct label label = {str_of(pool_names[p]), STR("yes")};
    struct pool_record record = {
        .name = label.key,
        .has_selector = true,
        .labels = &label,
        .label_count = draw(t->tape, 0, 7) > 0,
        .is_preemption_off = draw(t->tape, 0, 1),
    };

    if (!finish_all(t)) {
        return false;
    }
    sched_destroy(t->plain);
    t->plain = NULL;
    t->is_object[p] = !t->is_object[p] || draw(t->tape, 0, 1);
    if (t->is_object[p]) {
        pools_pool_set(t->pools, &record);
    } else {
        pools_pool_delete(t->pools, record.name);
    }
    for (uint32_t n = 0; n < NODES; n++) {
        if (t->is_node[n]) {
            tell_node(t, n);
        }
    }
    return true;
}

static void add_job(struct town *t, uint32_t job)
{
    uint64_t gang = draw(t->tape, 0, 5);
    uint64_t pool = draw(t->tape, 0, POOLS);
    uint32_t class_index = (uint32_t)draw(t->tape, 0, 1);
    struct sched_job record = {
        .queue = (uint32_t)draw(t->tape, 0, QUEUES - 1),
        .class_index = t->classes[class_index],
        .priority = (uint32_t)draw(t->tape, 0, 2),
        .submitted_ms = t->now_ms,
        .id = {{0, ++t->serial}},
    };

    if (pool < POOLS && !is_plain(t)) {
        record.pool = str_of(pool_names[pool]);
    }
    if (gang < 3) {
        /* All of a gang are alike. */
        record.gang_id = str_of(gang_names[gang]);
        record.gang_cardinality = 2;
        record.gang_minimum = 2;
        record.queue = (uint32_t)gang % QUEUES;
        record.class_index = t->classes[0];
        record.pool = is_plain(t) ? (struct str){0} : str_of(pool_names[gang]);
        class_index = 0;
    }
    t->records[job] = record;
    t->cores[job] = class_index + 1;
    t->is_job[job] = true;
    pools_job_add(t->pools, job, &record);
    if (is_plain(t)) {
        record.class_index = t->plain_classes[class_index];
        sched_job_add(t->plain, job, &record);
    }
}

static void change_job(struct town *t)
{
    uint32_t job = (uint32_t)draw(t->tape, 0, JOBS - 1);
    uint64_t what = draw(t->tape, 0, 4);

    if (!t->is_job[job]) {
        add_job(t, job);
        return;
    }
    bool is_leased = pools_job_node(t->pools, job) != SCHED_NONE;
    if (what == 0 && is_leased) {
        pools_job_requeue(t->pools, job, pools_job_node(t->pools, job));
        if (is_plain(t)) {
            sched_job_requeue(t->plain, job, sched_job_node(t->plain, job));
        }
    } else if (what == 1) {
        uint32_t priority = (uint32_t)draw(t->tape, 0, 2);
        pools_job_reprioritise(t->pools, job, priority);
        if (is_plain(t)) {
            sched_job_reprioritise(t->plain, job, priority);
        }
    } else if (what >= 3) {
        pools_job_remove(t->pools, job);
        if (is_plain(t)) {
            sched_job_remove(t->plain, job);
        }
        t->is_job[job] = false;
    }
}

static bool is_same(const struct sched_decision *a,
                    const struct sched_decision *b)
{
    return a->action == b->action && a->preemption == b->preemption &&
           a->job == b->job && a->node == b->node &&
           a->priority == b->priority && a->charge == b->charge &&
           a->for_job == b->for_job && a->group == b->group &&
           a->is_backfilled == b->is_backfilled &&
           a->revocable_for == b->revocable_for &&
           a->yields_at_once == b->yields_at_once &&
           a->yields_from_ms == b->yields_from_ms &&
           a->pool_index == b->pool_index && a->start_ms == b->start_ms &&
           a->is_scaling == b->is_scaling;
}

static bool is_same_plan(const struct sched_plan *a, const struct sched_plan *b)
{
    bool is_equal = a->decision_count == b->decision_count &&
                    a->next_wake_ms == b->next_wake_ms &&
                    a->is_truncated == b->is_truncated;

    for (uint32_t i = 0; is_equal && i < a->decision_count; i++) {
        is_equal = is_same(&a->decisions[i], &b->decisions[i]);
    }
    return is_equal;
}

static bool plan(struct town *t)
{
    uint32_t count = pools_pool_count(t->pools);
    uint32_t shard =
        pools_pool_shard(t->pools, (uint32_t)draw(t->tape, 0, count - 1));
    enum round_kind kind = draw(t->tape, 0, 1) ? ROUND_BALANCE : ROUND_FAST;
    struct sched_plan plain;

    if (t->has_plan[shard]) {
        return finish(t, shard);
    }
    t->kinds[shard] = kind;
    struct sched *sched = pools_plan_begin(t->pools, shard);
    sched_plan(sched, t->now_ms, kind, 64, &t->plans[shard]);
    if (is_plain(t)) {
        sched_plan(t->plain, t->now_ms, kind, 64, &plain);
        if (!is_same_plan(&plain, &t->plans[shard])) {
            return false;
        }
        return finish(t, shard);
    }
    t->has_plan[shard] = true;
    return draw(t->tape, 0, 1) ? finish(t, shard) : true;
}

static bool homes_are_right(const struct town *t)
{
    for (uint32_t job = 0; job < JOBS; job++) {
        uint32_t shard;
        if (!t->is_job[job]) {
            continue;
        }
        shard = pools_job_shard(t->pools, job);
        uint32_t node = pools_job_node(t->pools, job);
        if (node != SCHED_NONE && !is_any_busy(t) &&
            pools_node_shard(t->pools, node) != shard) {
            return false;
        }
        const struct pool_record *record = pools_shard_record(t->pools, shard);
        if (node == SCHED_NONE && !t->records[job].gang_id.byte_count &&
            !is_any_busy(t) && record &&
            !pools_has_borrowers(t->pools, shard) &&
            !str_equal(record->name, t->records[job].pool)) {
            return false;
        }
    }
    return true;
}

/* In whichever pools it runs, no queue has more than its quota. */
static bool quotas_are_kept(const struct town *t)
{
    int64_t used[QUEUES] = {0};
    bool are_kept = true;

    for (uint32_t job = 0; job < JOBS; job++) {
        if (t->is_job[job] && pools_job_node(t->pools, job) != SCHED_NONE) {
            used[t->records[job].queue] += t->cores[job];
        }
    }
    for (uint32_t i = 0; i < QUEUES; i++) {
        are_kept &= t->quotas[i] == 0 || used[i] <= t->quotas[i];
    }
    return are_kept;
}

static bool every_job_is_in_one_shard_and_sums_are_right(struct tape *tape)
{
    struct town t;
    bool holds = true;

    town_init(&t, tape);
    for (int step = 0; step < STEPS && holds; step++) {
        t.now_ms += 1000;
        pools_set_time(t.pools, t.now_ms);
        if (is_plain(&t)) {
            sched_set_time(t.plain, t.now_ms);
        }
        switch (draw(tape, 0, 7)) {
        case 0:
        case 1:
            change_node(&t);
            break;
        case 2:
            holds = step < STEPS / 4 || change_pool(&t);
            break;
        case 3:
            holds = plan(&t);
            break;
        default:
            change_job(&t);
            break;
        }
        holds = holds && pools_is_consistent(t.pools) &&
                (!is_plain(&t) || sched_is_consistent(t.plain)) &&
                homes_are_right(&t) && quotas_are_kept(&t);
    }
    holds = holds && finish_all(&t) && pools_is_consistent(t.pools) &&
            homes_are_right(&t) && quotas_are_kept(&t);
    town_fini(&t);
    return holds;
}

int main(void)
{
    return !prop_check("every_job_is_in_one_shard_and_sums_are_right",
                       every_job_is_in_one_shard_and_sums_are_right, 3000, 0);
}
