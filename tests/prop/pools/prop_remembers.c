/*
 * What a router remembers does not hang on plans: two are told the same, of
 * which one has shards that are being planned, at random times and for as
 * long, and one has none.  Whenever no plan is out, what a checkpoint would say
 * of both is the same to the byte.  That is the rule of README.md in src/pools:
 * what follows from a move does not wait for it.
 */
#include <stdio.h>

#include "pools/pools.h"
#include "prop.h"
#include "unit.h"

enum {
    MILLI = 1000,
    JOBS = 24,
    NODES = 5,
    QUEUES = 2,
    POOLS = 3, /* "", "a" and "b" */
    MEMBERS = 3,
    STEPS = 50,
    TICK_MS = 10,
};

enum { PLANNED, PLAIN, SIDES };

static const char *const pool_names[POOLS] = {"", "a", "b"};
static const char *const queue_names[QUEUES] = {"q", "r"};
static const char *const applications[] = {"x", "y", "z"};

/* A plan of the side that has some. */
struct errand {
    bool is_out;  /* it is being made */
    bool is_back; /* and what it decided is to be told */
    enum round_kind kind;
    uint32_t serial; /* of the last job that there was then */
    struct sched_plan plan;
};

struct town {
    struct tape *tape;
    struct policy policy;
    struct pools *sides[SIDES];
    uint32_t nodes[NODES][SIDES]; /* handles of those that are there */
    bool is_node[NODES];
    bool is_job[JOBS];
    uint32_t serial_of[JOBS];
    struct str application[JOBS];
    bool opts_out[JOBS];
    bool is_stateaware[QUEUES];
    uint32_t queue_of[JOBS];
    bool is_object[POOLS];
    uint32_t serial, gang_serial;
    int64_t now_ms;
    struct errand errands[POOLS]; /* of each pool */
};

static uint64_t roll(struct town *t, uint64_t high)
{
    return draw(t->tape, 0, high);
}

/* The shard of a pool by number, on either side. */
static uint32_t shard_of(const struct town *t, int side, uint32_t pool)
{
    const struct pools *pools = t->sides[side];

    for (uint32_t i = 0; pool && i < pools_object_count(pools); i++) {
        if (str_equal(pools_object(pools, i)->name, str_of(pool_names[pool]))) {
            return pools_object_shard(pools, i);
        }
    }
    return POOLS_DEFAULT;
}

static bool is_any_back(const struct town *t)
{
    bool is_back = false;

    for (uint32_t p = 0; p < POOLS; p++) {
        is_back |= t->errands[p].is_back;
    }
    return is_back;
}

static bool is_quiet(const struct town *t)
{
    return !pools_is_any_busy(t->sides[PLANNED]) && !is_any_back(t);
}

/* Telling both. */

static void put_queue(struct town *t, uint32_t queue, bool is_stateaware)
{
    struct queue_record record = queue_record_plain(str_of(queue_names[queue]));
    bool is_new = is_stateaware && !t->is_stateaware[queue];

    record.ordering = is_stateaware ? QUEUE_BY_STATEAWARE : QUEUE_BY_PRIORITY;
    record.allows_stateaware_off = true;
    for (int s = 0; s < SIDES; s++) {
        pools_queue_set(t->sides[s], queue, &record);
        for (uint32_t job = 0; is_new && job < JOBS; job++) {
            if (t->is_job[job] && t->queue_of[job] == queue) {
                pools_job_application(t->sides[s], job, t->application[job],
                                      t->opts_out[job]);
            }
        }
    }
    t->is_stateaware[queue] = is_stateaware;
}

/* False: not now, the leader waits with that until no plan is out. */
static bool put_node(struct town *t, uint32_t n, uint32_t pool)
{
    struct resource_amount cpu = {STR("cpu"), 4 * MILLI};
    struct label label = {STR("pool"), str_of(pool_names[pool])};
    char name[8];

    snprintf(name, sizeof(name), "n%u", n);
    struct node_record record = {
        .name = str_of(name),
        .labels = &label,
        .label_count = 1,
        .total = {&cpu, 1},
    };
    /* Nor is a node gone and there again in one record. */
    if ((is_any_back(t) && !t->is_node[n]) ||
        (!is_quiet(t) &&
         pools_node_moves(t->sides[PLANNED], STR("e"), &record))) {
        return false;
    }
    for (int s = 0; s < SIDES; s++) {
        t->nodes[n][s] =
            pools_node_set(t->sides[s], STR("e"), &record, STR("default"));
    }
    return true;
}

static void hold(struct town *t)
{
    pools_flows_hold(t->sides[PLANNED]);
    pools_flows_hold(t->sides[PLAIN]);
}

static void keep(struct town *t)
{
    pools_flows_keep(t->sides[PLANNED]);
    pools_flows_keep(t->sides[PLAIN]);
}

static void drop_node(struct town *t, uint32_t n)
{
    for (int s = 0; t->is_node[n] && s < SIDES; s++) {
        pools_node_remove(t->sides[s], t->nodes[n][s]);
    }
    t->is_node[n] = false;
}

static void put_pool(struct town *t, uint32_t pool, bool is_there)
{
    struct label label = {STR("pool"), str_of(pool_names[pool])};
    struct pool_record record = {
        .name = label.value,
        .has_selector = true,
        .labels = &label,
        .label_count = 1,
        .is_borrowing_off = roll(t, 5) == 5,
        .is_preemption_off = roll(t, 3) == 3,
    };

    hold(t);
    for (int s = 0; s < SIDES; s++) {
        if (is_there) {
            pools_pool_set(t->sides[s], &record);
        } else {
            pools_pool_delete(t->sides[s], record.name);
        }
    }
    t->is_object[pool] = is_there;
    for (uint32_t n = 0; n < NODES; n++) {
        if (t->is_node[n]) {
            (void)put_node(t, n, (uint32_t)roll(t, POOLS - 1));
        }
    }
    keep(t);
}

static void add_job(struct town *t, uint32_t job, const struct sched_job *as,
                    int64_t cores)
{
    struct resource_amount cpu = {STR("cpu"), cores * MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
    struct sched_job record = *as;

    record.submitted_ms = t->now_ms;
    record.id.v.lo = ++t->serial;
    for (int s = 0; s < SIDES; s++) {
        record.class_index = pools_class_add(t->sides[s], &requirement);
        pools_job_add(t->sides[s], job, &record);
    }
    t->is_job[job] = true;
    t->serial_of[job] = t->serial;
    t->queue_of[job] = record.queue;
    t->application[job] = record.application;
    t->opts_out[job] = record.has_stateaware_off;
}

/* Terms of a gang, or none: it can grow, and a cap of it ends. */
static struct str draw_terms(struct town *t, uint32_t count, uint32_t minimum,
                             struct strbuf *buf)
{
    struct gang_terms terms = {
        .kind = GANG_TRAINING_TOLERANT,
        .sub_groups = {{.name = STR("w"),
                        .min_count = minimum,
                        .max_count = count,
                        .hops_max = 1,
                        .hops_wait_ms = roll(t, 1) ? TICK_MS : 0}},
        .sub_group_count = 1,
    };

    if (roll(t, 1)) {
        gang_terms_pack(buf, &terms);
    }
    return strbuf_str(buf);
}

/* A job, or a gang that may start with one or two of its members. */
static void submit(struct town *t)
{
    auto_strbuf terms = {0};
    uint32_t count = roll(t, 1) ? (uint32_t)roll(t, MEMBERS - 1) + 1 : 1;
    int64_t cores = (int64_t)roll(t, 3) + 1;
    char gang[16];
    struct sched_job record = {
        .queue = (uint32_t)roll(t, QUEUES - 1),
        .pool = str_of(pool_names[roll(t, POOLS - 1)]),
        .application =
            str_of(applications[roll(t, ARRAY_COUNT(applications) - 1)]),
        .priority = (uint32_t)roll(t, 1),
    };

    snprintf(gang, sizeof(gang), "g%u", ++t->gang_serial);
    if (count > 1) {
        record.gang_id = str_of(gang);
        record.gang_cardinality = count;
        record.gang_minimum = (uint32_t)roll(t, 1) + 1;
        record.gang_terms = draw_terms(t, count, record.gang_minimum, &terms);
    }
    for (uint32_t job = 0; job < JOBS && count > 0; job++) {
        if (!t->is_job[job]) {
            record.has_stateaware_off = roll(t, 3) == 3;
            add_job(t, job, &record, cores);
            count--;
        }
    }
}

static void end_job(struct town *t, uint32_t job)
{
    for (int s = 0; s < SIDES; s++) {
        pools_job_remove(t->sides[s], job);
    }
    t->is_job[job] = false;
}

static void requeue(struct town *t, uint32_t job, bool avoids)
{
    for (int s = 0; s < SIDES; s++) {
        uint32_t node = pools_job_node(t->sides[s], job);
        pools_job_requeue(t->sides[s], job, avoids ? node : SCHED_NONE);
    }
}

/* What a gang is to remember. */
static void tell_gang(struct town *t, uint32_t job,
                      void (*tell)(struct pools *pools, uint32_t job))
{
    for (int s = 0; s < SIDES; s++) {
        tell(t->sides[s], job);
    }
}

/* Something happens to a job that runs, or to one that waits. */
static void change_job(struct town *t)
{
    uint32_t job = (uint32_t)roll(t, JOBS - 1);

    if (!t->is_job[job]) {
        return;
    }
    bool runs = pools_job_node(t->sides[PLAIN], job) != SCHED_NONE;
    switch (roll(t, 6)) {
    case 0:
    case 1:
        if (runs) {
            requeue(t, job, roll(t, 1));
        }
        break;
    case 2:
        end_job(t, job);
        break;
    case 3:
        for (int s = 0; runs && s < SIDES; s++) {
            (void)pools_job_started(t->sides[s], job);
            pools_job_age_from(t->sides[s], job, t->now_ms);
        }
        break;
    case 4:
        for (int s = 0; s < SIDES; s++) {
            pools_job_reprioritise(t->sides[s], job, 2);
        }
        break;
    case 5:
        tell_gang(t, job, pools_job_succeeded);
        end_job(t, job);
        break;
    default:
        for (int s = 0; runs && s < SIDES; s++) {
            pools_gang_scaled(t->sides[s], job, t->now_ms);
        }
        tell_gang(t, job, pools_job_cooldown);
        if (roll(t, 1)) {
            end_job(t, job);
        } else if (runs) {
            requeue(t, job, false);
        }
        break;
    }
}

/* Plans. */

static void lease(struct town *t, const struct sched_decision *d)
{
    struct str name = pools_node_name(t->sides[PLANNED], d->node);

    for (int s = 0; s < SIDES; s++) {
        struct pools *pools = t->sides[s];
        uint32_t node = pools_node_index(pools, STR("e"), name);
        pools_job_lease(pools, d->job, node, d->priority, t->now_ms, true);
        if (d->is_backfilled) {
            pools_job_age_from(pools, d->job, t->now_ms);
        }
        if (d->charge > 0) {
            pools_job_charge(pools, d->job, pools_node_pool(pools, node),
                             d->charge);
        }
        if (d->revocable_for != SCHED_NONE && t->is_job[d->revocable_for]) {
            pools_job_yield(pools, d->job, d->revocable_for, d->yields_at_once,
                            d->yields_from_ms);
        }
    }
}

static void admit(struct town *t, const struct sched_decision *d)
{
    struct str pool = pools_pool_name(t->sides[PLANNED], d->pool_index);

    for (int s = 0; s < SIDES; s++) {
        if (d->action == SCHED_ADMIT) {
            pools_job_admit(t->sides[s], d->job, pool, d->start_ms, d->charge);
        } else {
            pools_job_dismiss(t->sides[s], d->job);
        }
    }
}

/* What was decided is told, as far as it stands: as in decide/plan.c. */
static void tell(struct town *t, const struct errand *errand,
                 const struct sched_decision *d)
{
    bool runs = t->is_job[d->job] &&
                pools_job_node(t->sides[PLANNED], d->job) != SCHED_NONE;

    if (!t->is_job[d->job] || t->serial_of[d->job] > errand->serial ||
        runs != (d->action == SCHED_PREEMPT)) {
        return;
    }
    switch (d->action) {
    case SCHED_LEASE:
        lease(t, d);
        break;
    case SCHED_PREEMPT:
        requeue(t, d->job, false);
        break;
    case SCHED_FAIL:
        end_job(t, d->job);
        break;
    case SCHED_ADMIT:
    case SCHED_DISMISS:
        admit(t, d);
        break;
    }
}

static void begin_plan(struct town *t, uint32_t pool)
{
    struct errand *errand = &t->errands[pool];
    uint32_t shard = shard_of(t, PLANNED, pool);

    if ((pool && !t->is_object[pool]) || errand->is_out || errand->is_back) {
        return;
    }
    errand->kind = roll(t, 1) ? ROUND_BALANCE : ROUND_FAST;
    errand->is_out = true;
    sched_plan(pools_plan_begin(t->sides[PLANNED], shard), t->now_ms,
               errand->kind, SCHED_DECISIONS_MAX, &errand->plan);
}

/* What was decided by plans that are back is in the log, or in none. */
static void finish(struct town *t)
{
    bool is_lost = roll(t, 4) == 4;

    for (uint32_t p = 0; p < POOLS && !is_lost; p++) {
        const struct errand *errand = &t->errands[p];
        for (uint32_t i = 0; errand->is_back && i < errand->plan.decision_count;
             i++) {
            tell(t, errand, &errand->plan.decisions[i]);
        }
    }
    for (uint32_t p = 0; p < POOLS; p++) {
        struct pools *pools = t->sides[PLANNED];
        if (t->errands[p].is_back && is_lost) {
            pools_plan_forget(pools, shard_of(t, PLANNED, p));
        } else if (t->errands[p].is_back) {
            (void)pools_plan_commit(pools, shard_of(t, PLANNED, p));
        }
        t->errands[p].is_back = false;
    }
}

/* Plans are back, those that the tape says, or all; and others begin before
 * anybody is told of them. */
static void take_back(struct town *t, bool is_all)
{
    struct pools *pools = t->sides[PLANNED];

    finish(t);
    for (uint32_t p = 0; p < POOLS; p++) {
        struct errand *errand = &t->errands[p];
        if (errand->is_out && (is_all || roll(t, 1))) {
            errand->is_out = false;
            errand->is_back = true;
            errand->serial = t->serial;
            (void)pools_plan_end(pools, shard_of(t, PLANNED, p), &errand->plan);
        }
    }
    for (uint32_t p = 0; p < POOLS; p++) {
        struct errand *errand = &t->errands[p];
        if (errand->is_back) {
            (void)pools_borrow(pools, shard_of(t, PLANNED, p), errand->kind,
                               &errand->plan);
        } else if (!is_all && roll(t, 1)) {
            begin_plan(t, p);
        }
    }
}

/* Both as a leader that takes over has them. */
static bool are_same(struct town *t)
{
    auto_strbuf planned = {0}, plain = {0};

    take_back(t, true);
    finish(t);
    for (int s = 0; s < SIDES; s++) {
        pools_sweep_reset(t->sides[s]);
        pools_history_pack(t->sides[s], s == PLANNED ? &planned : &plain);
    }
    return pools_is_consistent(t->sides[PLANNED]) &&
           pools_is_consistent(t->sides[PLAIN]) &&
           str_equal(strbuf_str(&planned), strbuf_str(&plain));
}

static void tick(struct town *t)
{
    static const int64_t ms[] = {0, TICK_MS, 1000, 31000};

    t->now_ms += ms[roll(t, ARRAY_COUNT(ms) - 1)];
    for (int s = 0; s < SIDES; s++) {
        pools_set_time(t->sides[s], t->now_ms);
    }
}

static void act(struct town *t)
{
    uint32_t n = (uint32_t)roll(t, NODES - 1);
    uint32_t pool = (uint32_t)roll(t, POOLS - 1);

    switch (roll(t, 11)) {
    case 0:
    case 1:
        submit(t);
        break;
    case 2:
        hold(t);
        t->is_node[n] |= put_node(t, n, pool);
        keep(t);
        break;
    case 3:
        drop_node(t, n);
        break;
    case 4:
        if (pool && is_quiet(t)) {
            put_pool(t, pool, !t->is_object[pool] || roll(t, 1));
        }
        break;
    case 5:
        put_queue(t, n % QUEUES, roll(t, 1));
        break;
    case 6:
    case 7:
        if (!is_any_back(t)) {
            begin_plan(t, pool);
        }
        break;
    case 8:
        take_back(t, false);
        break;
    default:
        change_job(t);
        break;
    }
}

static void town_init(struct town *t, struct tape *tape)
{
    *t = (struct town){.tape = tape, .now_ms = 1000};
    policy_defaults(&t->policy);
    pool_policy_apply(&t->policy.pools[0],
                      (enum pool_profile)draw(tape, 0, PROFILE_FLOW));
    for (int s = 0; s < SIDES; s++) {
        t->sides[s] = pools_create(&t->policy);
    }
    for (uint32_t q = 0; q < QUEUES; q++) {
        put_queue(t, q, true);
    }
    put_pool(t, 1, true);
    put_pool(t, 2, true);
    for (uint32_t n = 0; n < NODES; n++) {
        t->is_node[n] = put_node(t, n, n % POOLS);
    }
}

static bool what_is_remembered_does_not_hang_on_plans(struct tape *tape)
{
    struct town *t = mem_alloc(sizeof(*t));
    bool holds = true;

    town_init(t, tape);
    for (uint64_t left = draw(tape, 0, STEPS); holds && left > 0; left--) {
        tick(t);
        act(t);
        if (roll(t, 15) == 15) {
            holds = are_same(t);
        }
    }
    holds = holds && are_same(t);
    for (int s = 0; s < SIDES; s++) {
        pools_destroy(t->sides[s]);
    }
    mem_free(t);
    return holds;
}

int main(void)
{
    return !prop_check("what_is_remembered_does_not_hang_on_plans",
                       what_is_remembered_does_not_hang_on_plans, 3000, 0);
}
