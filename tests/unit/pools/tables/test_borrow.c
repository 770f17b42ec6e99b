/* Who is lent a place, and where (model.md 5.5). */
#include "pools/pools.h"
#include "pools/tables/borrow.h"
#include "unit.h"

enum { MILLI = 1000, JOBS_MAX = 256 };

/* Pools whose nodes have the label `pool` of their name, one queue, and jobs
 * of one core. */
struct stage {
    struct policy policy;
    struct pools *pools;
    uint32_t job_count;
    bool is_gone[JOBS_MAX];
    int64_t now_ms;
};

static int setup(void **state)
{
    struct stage *s = mem_alloc(sizeof(*s));
    struct queue_record queue = queue_record_plain(STR("q"));
    struct queue_record other = queue_record_plain(STR("r"));

    policy_defaults(&s->policy);
    pool_policy_apply(&s->policy.pools[0], PROFILE_ARMADA);
    s->pools = pools_create(&s->policy);
    pools_queue_set(s->pools, 0, &queue);
    pools_queue_set(s->pools, 1, &other);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct stage *s = *state;

    assert_true(pools_is_consistent(s->pools));
    pools_destroy(s->pools);
    mem_free(s);
    return 0;
}

/* Add or change a pool; flags and lenders as in `of`. */
static void set_pool(struct stage *s, const char *name, struct pool_record of)
{
    struct label label = {STR("pool"), str_of(name)};

    of.name = str_of(name);
    of.has_selector = true;
    of.labels = &label;
    of.label_count = 1;
    pools_pool_set(s->pools, &of);
}

static uint32_t set_node(struct stage *s, const char *name, const char *pool,
                         int64_t cores, int64_t memory_gb)
{
    struct resource_amount amounts[] = {
        {STR("cpu"), cores * MILLI},
        {STR("memory"), memory_gb * 1000000000 * MILLI},
    };
    struct label label = {STR("pool"), str_of(pool)};
    struct node_record record = {
        .name = str_of(name),
        .labels = &label,
        .label_count = 1,
        .total = {amounts, 2},
    };

    return pools_node_set(s->pools, STR("e"), &record, STR("default"));
}

/* Of a gang of `cardinality` unless that is 0; two of it may start. */
static uint32_t add_member(struct stage *s, const char *pool, int64_t cores,
                           uint32_t cardinality)
{
    struct resource_amount cpu = {STR("cpu"), cores * MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
    uint32_t job = s->job_count++;
    struct sched_job record = {
        .queue = strcmp(pool, "p1") == 0, /* limits are of a queue's own */
        .class_index = pools_class_add(s->pools, &requirement),
        .submitted_ms = job,
        .id = {{0, job + 1}},
        .pool = str_of(pool),
        .gang_id = cardinality ? STR("gang") : STR(""),
        .gang_cardinality = cardinality,
        .gang_minimum = cardinality < 2 ? cardinality : 2,
    };

    assert_true(job < JOBS_MAX);
    pools_job_add(s->pools, job, &record);
    return job;
}

static uint32_t add_job(struct stage *s, const char *pool, int64_t cores)
{
    return add_member(s, pool, cores, 0);
}

static void plan(struct stage *s, uint32_t shard, enum round_kind kind)
{
    struct sched_plan plan;

    pools_plan(s->pools, shard, s->now_ms, kind, 1024, &plan);
    (void)pools_borrow(s->pools, shard, kind, &plan);
    for (uint32_t i = 0; i < plan.decision_count; i++) {
        const struct sched_decision *d = &plan.decisions[i];
        if (d->action == SCHED_LEASE) {
            pools_job_lease(s->pools, d->job, d->node, d->priority, s->now_ms,
                            true);
        } else if (d->action == SCHED_PREEMPT) {
            pools_job_requeue(s->pools, d->job, SCHED_NONE);
        }
    }
    (void)pools_plan_commit(s->pools, shard);
}

/* One cycle of all pools, Default first, then by name. */
static void cycle(struct stage *s)
{
    s->now_ms += 1000;
    pools_set_time(s->pools, s->now_ms);
    plan(s, POOLS_DEFAULT, ROUND_BALANCE);
    for (uint32_t i = 0; i < pools_object_count(s->pools); i++) {
        plan(s, pools_object_shard(s->pools, i), ROUND_BALANCE);
    }
    assert_true(pools_is_consistent(s->pools));
}

static void cycles(struct stage *s, int count)
{
    for (int i = 0; i < count; i++) {
        cycle(s);
    }
}

/* The pool of the node of a job, "" while it waits. */
static struct str where(const struct stage *s, uint32_t job)
{
    uint32_t node = pools_job_node(s->pools, job);

    return node == SCHED_NONE ? (struct str){0}
                              : pools_node_pool(s->pools, node);
}

static void assert_where(const struct stage *s, uint32_t job, const char *pool)
{
    struct str at = where(s, job);

    if (!str_equal(at, str_of(pool))) {
        fail_msg("job %u is in '%.*s', not in '%s'", job, STR_ARG(at), pool);
    }
}

/* A pool "home" that is full of its own work, and lenders P1 and P2 as PO-07
 * has them. */
static uint32_t fill_home(struct stage *s, struct pool_record home,
                          struct pool_record p1)
{
    s->policy.pools[0].cost_weights_ppm[1] = 1000000; /* cpu */
    s->policy.pools[0].cost_weights_ppm[2] = 250000;  /* memory */
    set_pool(s, "home", home);
    set_pool(s, "p1", p1);
    set_pool(s, "p2", (struct pool_record){0});
    set_node(s, "h", "home", 1, 1);
    set_node(s, "n1", "p1", 10, 20);
    set_node(s, "n2", "p2", 12, 4);
    uint32_t own = add_job(s, "home", 1);
    cycle(s);
    assert_where(s, own, "home");
    return add_job(s, "home", 1);
}

static void po_07_a_job_goes_to_the_most_idle_pool(void **state)
{
    struct stage *s = *state;
    uint32_t job =
        fill_home(s, (struct pool_record){0}, (struct pool_record){0});

    cycles(s, 2);
    assert_where(s, job, "p1");
}

static void po_08_a_pool_that_does_not_share_lends_nothing(void **state)
{
    struct stage *s = *state;
    uint32_t job = fill_home(s, (struct pool_record){0},
                             (struct pool_record){.is_sharing_off = true});

    cycles(s, 2);
    assert_where(s, job, "p2");
}

static void po_09_a_pool_that_does_not_borrow_waits(void **state)
{
    struct stage *s = *state;
    uint32_t job = fill_home(s, (struct pool_record){.is_borrowing_off = true},
                             (struct pool_record){0});

    cycles(s, 3);
    assert_where(s, job, "");
}

static void po_10_only_pools_on_the_list_are_asked(void **state)
{
    struct stage *s = *state;
    struct str lenders[] = {STR("p2")};
    uint32_t job = fill_home(
        s, (struct pool_record){.lenders = lenders, .lender_count = 1},
        (struct pool_record){0});

    cycles(s, 2);
    assert_where(s, job, "p2");
}

static void po_11_a_pool_with_work_of_its_own_waiting_lends_none(void **state)
{
    struct stage *s = *state;
    uint32_t job =
        fill_home(s, (struct pool_record){0}, (struct pool_record){0});
    uint32_t own = add_job(s, "p1", 11); /* fits nowhere in p1 */

    cycles(s, 3);
    assert_where(s, own, "p2"); /* p2 is idle, and has nobody waiting */
    assert_where(s, job, "p1");
    set_pool(s, "p1", (struct pool_record){.is_preemption_off = true});
    set_node(s, "n1", "p1", 10, 20);
    set_node(s, "h", "home", 1, 1);
    set_node(s, "n2", "p2", 12, 4);
    cycles(s, 1);
    assert_where(s, job, "p1");
    uint32_t stuck = add_job(s, "p1", 10); /* but for the borrower it fits */
    uint32_t more = add_job(s, "home", 1);
    cycles(s, 3);
    assert_where(s, stuck, "");
    assert_where(s, more, "");
    assert_true(str_equal(
        pools_shard_record(s->pools, pools_job_shard(s->pools, more))->name,
        STR("home")));
}

/* Neither this nor what is spare waits for room that a borrower would take. */
static void po_11_what_never_fits_there_keeps_nobody_out(void **state)
{
    struct stage *s = *state;
    uint32_t job =
        fill_home(s, (struct pool_record){0}, (struct pool_record){0});
    uint32_t stuck = add_job(s, "p1", 100);

    cycles(s, 3);
    assert_where(s, stuck, "");
    assert_where(s, job, "p1");
}

static void po_11_nor_does_what_is_spare(void **state)
{
    struct stage *s = *state;
    uint32_t pods[3];

    set_pool(s, "home", (struct pool_record){0});
    set_pool(s, "p1", (struct pool_record){0});
    uint32_t node = set_node(s, "n1", "p1", 10, 20);
    for (int i = 0; i < 3; i++) {
        pods[i] = add_member(s, "p1", 4, 3);
    }
    pools_job_lease(s->pools, pods[0], node, 0, s->now_ms, true);
    pools_job_lease(s->pools, pods[1], node, 0, s->now_ms, true);
    uint32_t job = add_job(s, "home", 1);
    cycles(s, 3);
    assert_where(s, pods[2], "");
    assert_where(s, job, "p1");
}

/* Jobs come in waves to a pool that is full, others' come and go: in the end
 * nobody waits who might borrow. */
static void after_waves_of_jobs_no_lender_is_idle(void **state)
{
    struct stage *s = *state;
    uint32_t job_cores[JOBS_MAX], waiting_count = 0, used_count = 0;

    set_pool(s, "cpu", (struct pool_record){0});
    set_pool(s, "gpu", (struct pool_record){0});
    set_node(s, "c0", "cpu", 4, 10);
    set_node(s, "c1", "cpu", 4, 10);
    set_node(s, "g0", "gpu", 8, 10);
    set_node(s, "g1", "gpu", 8, 10);
    set_node(s, "d0", "nowhere", 4, 10);
    for (uint32_t wave = 0; wave < 6; wave++) {
        for (uint32_t i = 0; i < 12; i++) {
            job_cores[add_job(s, "cpu", 1)] = 1;
        }
        job_cores[add_job(s, "gpu", 2)] = 2;
        cycle(s);
        for (uint32_t job = wave; job < s->job_count && wave > 1; job += 3) {
            if (!s->is_gone[job] && where(s, job).byte_count > 0) {
                pools_job_remove(s->pools, job);
                s->is_gone[job] = true;
            }
        }
    }
    cycles(s, 6);
    for (uint32_t job = 0; job < s->job_count; job++) {
        if (s->is_gone[job]) {
            continue;
        }
        if (where(s, job).byte_count) {
            used_count += job_cores[job];
        } else {
            waiting_count++;
        }
    }
    assert_true(waiting_count > 0);
    assert_int_equal(used_count, 4 + 4 + 8 + 8 + 4);
}

static void po_13_a_recalled_borrower_waits_at_home(void **state)
{
    struct stage *s = *state;
    uint32_t job =
        fill_home(s, (struct pool_record){0}, (struct pool_record){0});

    cycles(s, 2);
    assert_where(s, job, "p1");
    s->now_ms += 5 * 60 * MILLI; /* it runs for five minutes */
    uint32_t own = add_job(s, "p1", 10);
    /* Nobody else has room. */
    pools_node_remove(s->pools,
                      pools_node_index(s->pools, STR("e"), STR("n2")));
    cycles(s, 1);
    assert_where(s, own, "p1");
    assert_where(s, job, "");
    assert_true(str_equal(
        pools_shard_record(s->pools, pools_job_shard(s->pools, job))->name,
        STR("home")));
}

static void po_16_what_shares_nothing_is_never_borrowed(void **state)
{
    struct stage *s = *state;
    struct pool_record closed = {.is_preemption_off = true,
                                 .is_borrowing_off = true,
                                 .is_sharing_off = true};

    set_pool(s, "masters", closed);
    set_pool(s, "home", (struct pool_record){0});
    set_node(s, "m", "masters", 8, 8);
    uint32_t job = add_job(s, "home", 1);
    cycles(s, 3);
    assert_where(s, job, "");
    set_node(s, "h", "home", 8, 8);
    uint32_t big = add_job(s, "masters", 9);
    cycles(s, 3);
    assert_where(s, job, "home");
    assert_where(s, big, "");
}

static void po_20_with_demand_everywhere_all_are_at_home(void **state)
{
    struct stage *s = *state;
    uint32_t jobs[40];

    set_pool(s, "a", (struct pool_record){0});
    set_pool(s, "b", (struct pool_record){0});
    set_node(s, "na", "a", 10, 10);
    set_node(s, "nb", "b", 10, 10);
    for (uint32_t i = 0; i < 40; i++) {
        jobs[i] = add_job(s, i < 20 ? "a" : "b", 1);
        if (i % 7 == 0) {
            cycle(s);
        }
    }
    cycles(s, 5);
    uint32_t at_home[2] = {0};
    for (uint32_t i = 0; i < 40; i++) {
        const char *home = i < 20 ? "a" : "b";
        struct str at = where(s, jobs[i]);
        assert_true(at.byte_count == 0 || str_equal(at, str_of(home)));
        at_home[i / 20] += at.byte_count > 0;
    }
    assert_int_equal(at_home[0], 10);
    assert_int_equal(at_home[1], 10);
}

static void po_23_of_equally_idle_pools_the_one_with_fewer_jobs(void **state)
{
    struct lender lenders[] = {
        {.name = STR("P1"), .idle_weight = 10, .waiting_count = 3},
        {.name = STR("P2"), .idle_weight = 10, .waiting_count = 1},
    };

    (void)state;
    borrow_sort(lenders, 2);
    assert_true(str_equal(lenders[0].name, STR("P2")));
    lenders[0].waiting_count = lenders[1].waiting_count;
    borrow_sort(lenders, 2);
    assert_true(str_equal(lenders[0].name, STR("P1")));
}

/* Three jobs that may go to P1 only wait there, and one in P2. */
static void po_23_jobs_that_wait_to_borrow_there_count(void **state)
{
    struct stage *s = *state;
    struct str p1 = STR("p1"), p2 = STR("p2");

    set_pool(s, "a", (struct pool_record){.lenders = &p1, .lender_count = 1});
    set_pool(s, "b", (struct pool_record){.lenders = &p2, .lender_count = 1});
    set_pool(s, "home", (struct pool_record){0});
    set_pool(s, "p1", (struct pool_record){0});
    set_pool(s, "p2", (struct pool_record){0});
    set_node(s, "n1", "p1", 10, 10);
    set_node(s, "n2", "p2", 10, 10);
    for (int i = 0; i < 3; i++) {
        (void)add_job(s, "a", 1);
    }
    (void)add_job(s, "b", 1);
    uint32_t job = add_job(s, "home", 1);
    cycle(s);
    assert_where(s, job, "p2");
}

static void a_gang_too_large_for_its_home_is_lent_nodes(void **state)
{
    struct stage *s = *state;
    struct sched_gang_miss miss;
    uint32_t looks = 0, jobs[2];

    set_pool(s, "small", (struct pool_record){0});
    set_pool(s, "p1", (struct pool_record){0});
    set_node(s, "a", "small", 1, 10);
    set_node(s, "b", "p1", 10, 100);
    for (int i = 0; i < 2; i++) {
        jobs[i] = add_member(s, "small", 1, 2);
    }
    assert_int_equal(pools_gang_may_fit(s->pools, jobs[0], 0, &looks, &miss),
                     POOLS_YES);
    cycles(s, 3);
    assert_where(s, jobs[0], "p1");
    assert_where(s, jobs[1], "p1");
}

int main(void)
{
#define SCENARIO(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(po_07_a_job_goes_to_the_most_idle_pool),
        SCENARIO(po_08_a_pool_that_does_not_share_lends_nothing),
        SCENARIO(po_09_a_pool_that_does_not_borrow_waits),
        SCENARIO(po_10_only_pools_on_the_list_are_asked),
        SCENARIO(po_11_a_pool_with_work_of_its_own_waiting_lends_none),
        SCENARIO(po_11_what_never_fits_there_keeps_nobody_out),
        SCENARIO(po_11_nor_does_what_is_spare),
        SCENARIO(after_waves_of_jobs_no_lender_is_idle),
        SCENARIO(po_13_a_recalled_borrower_waits_at_home),
        SCENARIO(po_16_what_shares_nothing_is_never_borrowed),
        SCENARIO(po_20_with_demand_everywhere_all_are_at_home),
        SCENARIO(po_23_jobs_that_wait_to_borrow_there_count),
        SCENARIO(a_gang_too_large_for_its_home_is_lent_nodes),
        TEST(po_23_of_equally_idle_pools_the_one_with_fewer_jobs),
    };

    return RUN_TESTS(tests);
}
