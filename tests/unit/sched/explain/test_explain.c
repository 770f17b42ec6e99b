/* Why a job waits, and what holds in several pools and over time. */
#include <stdio.h>

#include "world_fixture.h"

static struct sched_explanation why(struct world *w, uint32_t job)
{
    struct sched_explanation explanation;

    sched_explain(w->sched, job, 0, &explanation);
    return explanation;
}

static void without_nodes_it_says_so(void **state)
{
    struct world *w = *state;
    uint32_t job = world_submit(w, &(struct world_job){.queue = "A"});

    assert_int_equal(why(w, job).wait, SCHED_WAIT_NO_NODES);
}

/* Each node counts once, under the first reason that excludes it. */
static void it_counts_nodes_by_reason(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"a", .cores = 8, .taint = "gpu"});
    world_node(w, &(struct world_node){"b", .cores = 8});
    world_node(w, &(struct world_node){"c", .cores = 1, .label_key = "zone",
                                       .label_value = "z"});
    world_node(w, &(struct world_node){"d", .cores = 8, .pool = "other"});
    world_node(w,
               &(struct world_node){"e", .cores = 8, .is_unschedulable = true});
    uint32_t job = world_submit(w, &(struct world_job){.queue = "A",
                                                       .cores = 4,
                                                       .selector_key = "zone",
                                                       .selector_value = "z"});
    struct sched_explanation e = why(w, job);
    assert_int_equal(e.nodes_total, 5);
    assert_int_equal(e.nodes_excluded[SCHED_EXCLUDED_TAINT], 1);
    assert_int_equal(e.nodes_excluded[SCHED_EXCLUDED_SELECTOR], 1);
    assert_int_equal(e.nodes_excluded[SCHED_EXCLUDED_TOO_SMALL], 1);
    assert_int_equal(e.nodes_excluded[SCHED_EXCLUDED_POOL], 1);
    assert_int_equal(e.nodes_excluded[SCHED_EXCLUDED_UNSCHEDULABLE], 1);
}

/* The nearest miss is the node that lacks least. */
static void it_names_the_nearest_miss(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"a", .cores = 2});
    uint32_t b = world_node(w, &(struct world_node){"b", .cores = 6});
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 8});
    struct sched_explanation e = why(w, job);
    assert_int_equal(e.wait, SCHED_WAIT_NEVER_FITS);
    assert_int_equal(e.nearest_node, b);
    assert_int_equal(e.available.v[CPU], 6000);
    assert_int_equal(e.needed.v[CPU], 8000);
}

/* A full cluster is a wait for capacity; a turn is a turn. */
static void it_tells_capacity_from_turn(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"a", .cores = 2});
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A", .cores = 2}, 2);
    assert_int_equal(why(w, first).wait, SCHED_WAIT_TURN);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(why(w, first).wait, SCHED_WAIT_NOT);
    assert_int_equal(why(w, first + 1).wait, SCHED_WAIT_CAPACITY);
    world_end(w, first);
    world_round(w, ROUND_FAST, 1);
    assert_int_equal(w->leased_count, 1);
}

/* Nodes alone say whether a job could ever run, whatever waits before it and
 * whichever limit it is at; the search ends at the first good node. */
static void a_place_is_looked_for_no_longer_than_needed(void **state)
{
    struct world *w = *state;
    uint32_t looks = 0;

    for (int i = 0; i < 50; i++) {
        char name[8];
        snprintf(name, sizeof(name), "n%d", i);
        world_node(w, &(struct world_node){name, .cores = 4});
    }
    uint32_t fits =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 4});
    assert_true(sched_has_place(w->sched, fits, &looks));
    assert_int_equal(looks, 1);
    uint32_t big =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 5});
    assert_false(sched_has_place(w->sched, big, &looks));
    assert_int_equal(looks, 51);
}

static void nodes_answer_for_the_job_alone(void **state)
{
    struct world *w = *state;
    struct sched_explanation e;

    world_node(w, &(struct world_node){"a", .cores = 2});
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A", .cores = 2}, 2);
    sched_explain_nodes(w->sched, first + 1, &e);
    assert_int_equal(e.wait, SCHED_WAIT_TURN);
    assert_int_equal(e.ahead, 0);
    world_round(w, ROUND_FAST, 0);
    sched_explain_nodes(w->sched, first + 1, &e);
    assert_int_equal(e.wait, SCHED_WAIT_CAPACITY);
    uint32_t big =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 3});
    sched_explain_nodes(w->sched, big, &e);
    assert_int_equal(e.wait, SCHED_WAIT_NEVER_FITS);
    assert_int_equal(e.nodes_excluded[SCHED_EXCLUDED_TOO_SMALL], 1);
}

static struct sched_need need_of(struct world *w, uint32_t job,
                                 struct sched_explanation *ret_why)
{
    struct sched_need need;

    sched_explain_need(w->sched, job, 0, ret_why, &need);
    return need;
}

/* What is missing, where, in numbers that were tried; a smaller node that
 * lacks less is not named, as it could not hold the job when empty. */
static void it_says_what_is_missing(void **state)
{
    struct world *w = *state;
    struct sched_explanation e;

    world_node(w, &(struct world_node){"a", .cores = 4});
    uint32_t b = world_node(w, &(struct world_node){"b", .cores = 6});
    uint32_t big =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .cores = 3,
                                            .priority_class = "fixed",
                                            .priority = 0});
    world_lease(w, big, b, 0);
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .cores = 6,
                                            .priority_class = "fixed",
                                            .priority = 1});
    struct sched_need need = need_of(w, job, &e);
    assert_int_equal(e.wait, SCHED_WAIT_CAPACITY);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
    assert_int_equal(need.missing.v[CPU], 3000);
    assert_int_equal(need.node, b);
    assert_int_equal(e.nearest_node, b);
    /* One that is not of the pool's nodes can be told of none. */
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "A", .selector_key = "x", .selector_value = "y"});
    need = need_of(w, other, &e);
    assert_int_equal(e.wait, SCHED_WAIT_NEVER_FITS);
    assert_int_equal(need.kind, SCHED_NEED_NONE);
}

/* With all nodes of its size closed, none that is smaller is named. */
static void a_node_that_is_too_small_is_not_near(void **state)
{
    struct world *w = *state;
    struct sched_explanation e;

    world_node(w, &(struct world_node){"a", .cores = 2});
    world_node(w,
               &(struct world_node){"b", .cores = 8, .is_unschedulable = true});
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 6});
    struct sched_need need = need_of(w, job, &e);
    assert_int_equal(e.wait, SCHED_WAIT_CLOSED);
    assert_int_equal(e.closed_count, 1);
    assert_int_equal(e.nearest_node, SCHED_NONE);
    assert_int_equal(need.kind, SCHED_NEED_NONE);
}

/* A gang needs room for those that do not fit yet; or members. */
static void it_says_what_a_gang_misses(void **state)
{
    struct world *w = *state;
    struct sched_explanation e;
    struct world_job member = {
        .queue = "A", .cores = 2, .gang = "g", .cardinality = 3, .minimum = 3};

    world_node(w, &(struct world_node){"a", .cores = 5});
    uint32_t first = world_submit_many(w, &member, 2);
    struct sched_need need = need_of(w, first, &e);
    assert_int_equal(need.kind, SCHED_NEED_MEMBERS);
    assert_int_equal(need.member_count, 1);
    world_submit(w, &member);
    need = need_of(w, first, &e);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
    assert_int_equal(need.missing.v[CPU], 1000);
}

/* The nodes that could hold a member are full, and the free ones too small:
 * none of the gang fits, and it is the gang that lacks room. */
static void a_gang_without_a_node_fits_with_no_member(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const char *const small_names[] = {"s", "t", "u", "v"};
    struct world *w = *state;
    struct world_job member = {
        .queue = "B", .cores = 8, .gang = "g", .cardinality = 3, .minimum = 3};

    for (int i = 0; i < 4; i++) {
        world_node(w, &(struct world_node){names[i], .cores = 8});
        world_node(w, &(struct world_node){small_names[i], .cores = 2});
    }
    world_submit_many(w,
                      &(struct world_job){
                          .queue = "A", .cores = 8, .priority_class = "fixed"},
                      4);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 4);
    uint32_t first = world_submit_many(w, &member, 3);
    struct sched_explanation e = why(w, first);
    assert_int_equal(e.wait, SCHED_WAIT_GANG_CAPACITY);
    assert_int_equal(e.nodes_fit, 0);
    assert_int_equal(e.present, 0);
    assert_int_equal(e.wanted, 3);
}

/* A full pool is full, whatever limit its queue would come to. */
static void a_full_pool_is_called_full(void **state)
{
    struct world *w = *state;
    struct sched_explanation e;

    w->policy.classes[0].queue_limits[0] =
        (struct resource_fraction){STR("cpu"), 1000000};
    w->policy.classes[0].queue_limit_count = 1;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 4});
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 5);
    world_round(w, ROUND_BALANCE, 0);
    struct sched_need need = need_of(w, first + 4, &e);
    assert_int_equal(e.wait, SCHED_WAIT_CAPACITY);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
    assert_int_equal(need.missing.v[CPU], 1000);
}

/* A class's limit per queue holds, and is the reason. */
static void it_names_the_limit(void **state)
{
    struct world *w = *state;

    w->policy.classes[0].queue_limits[0] =
        (struct resource_fraction){STR("cpu"), 500000};
    w->policy.classes[0].queue_limit_count = 1;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 10});
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 8);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 5);
    struct sched_explanation e = why(w, first + 7);
    assert_int_equal(e.wait, SCHED_WAIT_QUEUE_LIMIT);
    assert_int_equal(e.resource, CPU);
    assert_int_equal(e.limit, 5000);
    assert_int_equal(e.used, 5000);
    struct sched_need need = need_of(w, first + 5, &e);
    assert_int_equal(need.kind, SCHED_NEED_LIMIT);
    assert_true(need.is_exact);
    assert_int_equal(need.missing.v[CPU], 1000);
}

/* Nothing of a cordoned queue starts. */
static void a_cordoned_queue_waits(void **state)
{
    struct world *w = *state;
    struct queue_record record = queue_record_plain(STR("A"));

    record.is_cordoned = true;
    uint32_t queue = world_queue(w, "A", 1);
    sched_queue_set(w->sched, queue, &record);
    world_node(w, &(struct world_node){"a", .cores = 10});
    uint32_t job = world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    assert_int_equal(why(w, job).wait, SCHED_WAIT_QUEUE_CORDONED);
}

/* An executor that gets no new leases keeps what it has. */
static void a_closed_executor_gets_nothing(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"a", .cores = 10});
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 1);
    world_round(w, ROUND_FAST, 0);
    sched_executor_set(w->sched, STR("e"), false);
    uint32_t job = world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    assert_string_equal(world_node_of(w, first), "a");
    assert_int_equal(why(w, job).nodes_excluded[SCHED_EXCLUDED_EXECUTOR], 1);
    sched_executor_set(w->sched, STR("e"), true);
    world_round(w, ROUND_FAST, 2);
    assert_int_equal(w->leased_count, 1);
}

/* A returned job goes to another node, if there is one. */
static void a_returned_job_avoids_the_node(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"a", .cores = 1});
    world_node(w, &(struct world_node){"b", .cores = 1});
    uint32_t job = world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, job), "a");
    sched_job_requeue(w->sched, job, w->node_of[job]);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, job), "b");
    sched_job_requeue(w->sched, job, w->node_of[job]);
    world_round(w, ROUND_FAST, 2);
    assert_int_equal(w->leased_count, 0);
    assert_int_equal(why(w, job).nodes_excluded[SCHED_EXCLUDED_AVOIDED], 2);
}

static void make_two_pools(struct world *w)
{
    w->policy.pools[1] = (struct pool_policy){
        .name = STR("second"),
        .protected_fraction_ppm = FRACTION_ONE_PPM,
    };
    w->policy.pool_count = 2;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 2});
    world_node(w, &(struct world_node){"b", .cores = 2, .pool = "second"});
}

/* A job without a pool goes to the first that has room, and only once. */
static void pools_are_tried_in_order(void **state)
{
    struct world *w = *state;

    make_two_pools(w);
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 5);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 4);
    assert_string_equal(world_node_of(w, first + 1), "a");
    assert_string_equal(world_node_of(w, first + 2), "b");
    assert_string_equal(world_node_of(w, first + 4), "");
    assert_true(sched_is_consistent(w->sched));
}

/* A job that asks for a pool stays in it. */
static void a_pool_asked_for_is_kept(void **state)
{
    struct world *w = *state;

    make_two_pools(w);
    uint32_t first = world_submit_many(
        w, &(struct world_job){.queue = "A", .pool = "second"}, 3);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 2);
    assert_string_equal(world_node_of(w, first), "b");
    assert_int_equal(why(w, first + 2).wait, SCHED_WAIT_CAPACITY);
}

/* A plan that is not acted on is made again; a settled one costs nothing. */
static void plans_repeat(void **state)
{
    struct world *w = *state;
    struct sched_plan again;

    world_node(w, &(struct world_node){"a", .cores = 2});
    world_submit_many(w, &(struct world_job){.queue = "A"}, 3);
    sched_plan(w->sched, 0, ROUND_FAST, 100, &w->plan);
    assert_int_equal(w->plan.decision_count, 2);
    sched_plan(w->sched, 0, ROUND_FAST, 100, &again);
    assert_int_equal(again.decision_count, 2);
    world_round(w, ROUND_FAST, 1);
    world_round(w, ROUND_BALANCE, 2);
    world_round(w, ROUND_FAST, 3);
    assert_int_equal(w->plan.decision_count, 0);
    assert_int_equal(w->plan.counters.queues_considered, 0);
}

/* Rate limits survive a checkpoint. */
static void limits_are_packed(void **state)
{
    struct world *w = *state;
    auto_strbuf buf = {0};

    w->policy.rate_per_queue = (struct rate_limit){1000, 2};
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 9});
    world_submit_many(w, &(struct world_job){.queue = "A"}, 5);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 2);
    sched_history_pack(w->sched, &buf);
    world_restart(w);
    world_queue(w, "A", 1);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&buf)), 0);
    world_node(w, &(struct world_node){"a", .cores = 9});
    world_submit_many(w, &(struct world_job){.queue = "A"}, 5);
    world_round(w, ROUND_FAST, 500);
    assert_int_equal(w->leased_count, 0);
    assert_int_equal(w->plan.next_wake_ms, 1000);
    buf.byte_count--;
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&buf)),
                     -ERR_CORRUPT);
}

/* Checkpoints from before there were sections are read, what this release
 * does not know is refused. */
static void history_of_other_releases(void **state)
{
    struct world *w = *state;
    auto_strbuf now = {0};
    auto_strbuf old = {0};
    auto_strbuf newer = {0};
    auto_strbuf again = {0};

    w->policy.rate_per_queue = (struct rate_limit){1000, 2};
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 9});
    world_submit_many(w, &(struct world_job){.queue = "A"}, 5);
    world_round(w, ROUND_FAST, 0);
    sched_history_pack(w->sched, &now);
    struct pack_reader reader = {.rest = strbuf_str(&now)};
    assert_int_equal(unpack_u64(&reader), 2);
    assert_true(str_equal(unpack_str(&reader), STR("rates")));
    assert_int_equal(unpack_u64(&reader), 1);
    struct str rates = unpack_str(&reader);
    pack_u64(&old, 1);
    strbuf_add_str(&old, rates);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&old)), 0);
    sched_history_pack(w->sched, &again);
    assert_true(str_equal(strbuf_str(&again), strbuf_str(&now)));
    pack_str(&now, STR("augury"));
    pack_u64(&now, 1);
    pack_str(&now, STR("?"));
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&now)),
                     -ERR_VERSION);
    pack_u64(&newer, 3);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&newer)),
                     -ERR_VERSION);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(without_nodes_it_says_so),
        CASE(it_counts_nodes_by_reason),
        CASE(it_names_the_nearest_miss),
        CASE(it_tells_capacity_from_turn),
        CASE(it_says_what_is_missing),
        CASE(a_node_that_is_too_small_is_not_near),
        CASE(it_says_what_a_gang_misses),
        CASE(a_gang_without_a_node_fits_with_no_member),
        CASE(a_full_pool_is_called_full),
        CASE(a_place_is_looked_for_no_longer_than_needed),
        CASE(nodes_answer_for_the_job_alone),
        CASE(it_names_the_limit),
        CASE(a_cordoned_queue_waits),
        CASE(a_closed_executor_gets_nothing),
        CASE(a_returned_job_avoids_the_node),
        CASE(pools_are_tried_in_order),
        CASE(a_pool_asked_for_is_kept),
        CASE(plans_repeat),
        CASE(limits_are_packed),
        CASE(history_of_other_releases),
    };

    return RUN_TESTS(tests);
}
