/* Resources that are of no node, shared by a pool. */
#include "world_fixture.h"

enum { LICENCE = 3 }; /* its column: that of a resource nobody asks for */

/* The pool has 3 licences; jobs of `memory_gb` stay without. */
static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    world->policy.schema.columns[LICENCE].name = STR("licence");
    world->policy.schema.columns[LICENCE].unit_milli = 1000;
    world->policy.is_floating[LICENCE] = true;
    world->policy.has_floating = true;
    world->policy.pools[0].floating[LICENCE] = 3;
    world_restart(world);
    return 0;
}

static const struct world_job licensed = {.queue = "A", .licences = 1};

static uint32_t count_running(const struct world *w, uint32_t first,
                              uint32_t count)
{
    uint32_t running = 0;

    for (uint32_t i = first; i < first + count; i++) {
        running += world_node_of(w, i)[0] != '\0';
    }
    return running;
}

static void a_pool_shares_them(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;
    struct sched_pool_stats stats;

    world_node(w, &(struct world_node){"m", .cores = 4});
    world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t first = world_submit_many(w, &licensed, 5);
    uint32_t other = world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_running(w, first, 5), 3);
    assert_string_not_equal(world_node_of(w, other), "");
    sched_explain(w->sched, first + 4, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_FLOATING);
    assert_int_equal(why.resource, LICENCE);
    assert_int_equal(why.limit, 3);
    assert_int_equal(why.used, 3);
    sched_pool_stats(w->sched, 0, &stats);
    assert_int_equal(stats.total.v[LICENCE], 3);
    /* One that ends gives its own back. */
    world_end(w, first);
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(count_running(w, first + 1, 4), 3);
}

static void a_gang_takes_all_or_none(void **state)
{
    struct world *w = *state;
    struct world_job member = licensed;

    world_node(w, &(struct world_node){"n", .cores = 8});
    world_submit(w, &licensed);
    world_round(w, ROUND_FAST, 0);
    member.gang = "g";
    member.cardinality = 3;
    uint32_t first = world_submit_many(w, &member, 3);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(count_running(w, first, 3), 0);
    world_end(w, 0);
    world_round(w, ROUND_BALANCE, 2000);
    assert_int_equal(count_running(w, first, 3), 3);
}

static void what_no_pool_has_never_fits(void **state)
{
    struct world *w = *state;
    struct world_job greedy = licensed;
    struct sched_gang_miss miss;
    uint32_t look_count = 0;

    world_node(w, &(struct world_node){"n", .cores = 8});
    greedy.licences = 4;
    uint32_t job = world_submit(w, &greedy);
    assert_false(sched_has_place(w->sched, job, &look_count));
    greedy.licences = 1;
    greedy.gang = "g";
    greedy.cardinality = 4;
    uint32_t first = world_submit_many(w, &greedy, 4);
    assert_false(sched_gang_may_fit(w->sched, first, 0, &look_count, &miss));
    assert_int_equal(miss.resource, LICENCE);
    assert_int_equal(miss.asked, 4);
    assert_int_equal(miss.has, 3);
}

/* They count in the dominant share: who holds two of three licences has more
 * than who holds two of eight cores. */
static void shares_count_them(void **state)
{
    struct world *w = *state;
    struct sched_queue_stats a;

    world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t queue = world_queue(w, "A", 1);
    world_submit_many(w, &licensed, 2);
    world_round(w, ROUND_FAST, 0);
    sched_queue_stats(w->sched, queue, 0, &a);
    assert_true(a.actual_share > 0.66 && a.actual_share < 0.67);
}

/* Nodes are shown without them. */
static void nodes_have_none(void **state)
{
    struct world *w = *state;
    struct sched_node_stats stats;

    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 8});
    sched_node_stats(w->sched, n, &stats);
    assert_int_equal(stats.capacity.v[LICENCE], 0);
    assert_int_equal(stats.free.v[LICENCE], 0);
    struct sched_node_kind kinds[SCHED_NODE_KINDS_MAX];
    uint32_t left_out;
    uint32_t job = world_submit(w, &licensed);
    assert_int_equal(sched_explain_kinds(w->sched, job, 0, kinds, &left_out),
                     1);
    assert_int_equal(kinds[0].capacity.v[LICENCE], 0);
    assert_int_equal(kinds[0].free.v[LICENCE], 0);
    assert_int_equal(kinds[0].fit_count, 1);
}

static void another_policy_has_more(void **state)
{
    struct world *w = *state;
    struct policy more = w->policy;

    world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t first = world_submit_many(w, &licensed, 5);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_running(w, first, 5), 3);
    more.pools[0].floating[LICENCE] = 4;
    sched_policy_set(w->sched, &more);
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(count_running(w, first, 5), 4);
    sched_policy_set(w->sched, &w->policy);
    assert_true(sched_is_consistent(w->sched));
}

static void it_is_said_how_many_more_it_takes(void **state)
{
    struct world *w = *state;
    struct world_job two = {.queue = "A", .licences = 2};
    struct sched_explanation why;
    struct sched_need need;

    world_node(w, &(struct world_node){"m", .cores = 8});
    (void)world_submit(w, &two);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t job = world_submit(w, &two);
    sched_explain_need(w->sched, job, 0, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_FLOATING);
    assert_int_equal(need.kind, SCHED_NEED_FLOATING);
    assert_true(need.is_exact);
    assert_true(str_equal(need.pool, STR("default")));
    assert_int_equal(need.missing.v[LICENCE], 1);
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(it_is_said_how_many_more_it_takes),
        SCENARIO(a_pool_shares_them),
        SCENARIO(a_gang_takes_all_or_none),
        SCENARIO(what_no_pool_has_never_fits),
        SCENARIO(shares_count_them),
        SCENARIO(nodes_have_none),
        SCENARIO(another_policy_has_more),
    };

    return RUN_TESTS(tests);
}
