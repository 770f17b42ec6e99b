/* Failing nodes (model.md 6.10b, AR-12), at the planner. */
#include <stdio.h>

#include "unit.h"
#include "world.h"

enum {
    NODES = 10,
    WARD_NODES = 40, /* of a large ward */
    MINUTE_MS = 60000,
    FIRST_MS = 10 * MINUTE_MS, /* the first probation */
};

struct ward {
    struct world world;
    uint32_t nodes[NODES];
    int64_t now_ms;
};

static int setup(void **state)
{
    static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4",
                                             "n5", "n6", "n7", "n8", "n9"};
    struct ward *ward = mem_alloc(sizeof(*ward));

    world_init(&ward->world);
    for (uint32_t i = 0; i < NODES; i++) {
        ward->nodes[i] = world_node(
            &ward->world, &(struct world_node){names[i], .cores = 10});
    }
    ward->now_ms = 1000 * (int64_t)MINUTE_MS;
    *state = ward;
    return 0;
}

static int teardown(void **state)
{
    struct ward *ward = *state;

    assert_true(sched_is_consistent(ward->world.sched));
    world_fini(&ward->world);
    mem_free(ward);
    return 0;
}

/* How a run ends. */
static void finish(struct ward *ward, uint32_t job, uint64_t job_set,
                   bool is_failed)
{
    struct sched_outcome outcome = {
        .pool = STR("default"),
        .is_failed = is_failed,
        .is_exit = true,
        .job_set = job_set,
    };

    sched_run_ended(ward->world.sched, job, &outcome);
    world_end(&ward->world, job);
}

/* A job runs on a node and ends. */
static void run_on(struct ward *ward, uint32_t node, uint64_t job_set,
                   bool is_failed)
{
    uint32_t job =
        world_submit(&ward->world, &(struct world_job){.queue = "A"});

    world_lease(&ward->world, job, ward->nodes[node], ward->now_ms);
    finish(ward, job, job_set, is_failed);
}

/* Forty runs on the other nodes, of which so many fail. */
static void run_on_others(struct ward *ward, uint32_t failed_count)
{
    for (uint32_t i = 0; i < 40; i++) {
        run_on(ward, i % 8 + 2, i % 5, i < failed_count);
    }
}

/* Make the changes that are due; how many there were. */
static uint32_t change(struct ward *ward)
{
    const struct sched_health_change *changes;
    uint32_t count =
        sched_health_plan(ward->world.sched, ward->now_ms, &changes);
    struct sched_health_change copies[NODES];

    assert_true(count <= NODES);
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = changes[i];
    }
    sched_set_time(ward->world.sched, ward->now_ms);
    for (uint32_t i = 0; i < count; i++) {
        sched_health_set(ward->world.sched, copies[i].node, &copies[i].health);
    }
    return count;
}

static struct sched_health health_of(struct ward *ward, uint32_t node)
{
    struct sched_health health;

    sched_health_get(ward->world.sched, ward->nodes[node], ward->now_ms,
                     &health);
    return health;
}

static void pass(struct ward *ward, int64_t ms)
{
    ward->now_ms += ms;
    sched_set_time(ward->world.sched, ward->now_ms);
}

/* The first job that runs on a node, or SCHED_NONE. */
static uint32_t job_on(const struct ward *ward, uint32_t node,
                       uint32_t *ret_count)
{
    const struct world *world = &ward->world;
    uint32_t found = SCHED_NONE;

    *ret_count = 0;
    for (uint32_t i = world->job_count; i > 0; i--) {
        if (!world->is_gone[i - 1] &&
            world->node_of[i - 1] == ward->nodes[node]) {
            found = i - 1;
            (*ret_count)++;
        }
    }
    return found;
}

static void plan(struct ward *ward)
{
    world_round(&ward->world, ROUND_BALANCE, ward->now_ms);
}

/* n1 has failed twice for one job set and once for another, in 4 runs. */
static void fail_n1(struct ward *ward)
{
    run_on_others(ward, 1);
    run_on(ward, 1, 1, false);
    run_on(ward, 1, 1, true);
    run_on(ward, 1, 1, true);
    assert_int_equal(change(ward), 0);
    run_on(ward, 1, 2, true);
}

static void ar_12_takes_a_failing_node_out(void **state)
{
    struct ward *ward = *state;
    uint32_t count;

    fail_n1(ward);
    assert_int_equal(change(ward), 1);
    assert_int_equal(health_of(ward, 1).health, NODE_OUT);
    assert_int_equal(health_of(ward, 1).until_ms, ward->now_ms + FIRST_MS);
    assert_int_equal(health_of(ward, 1).failed_count, 3);
    assert_int_equal(health_of(ward, 1).ended_count, 4);
    world_submit_many(&ward->world, &(struct world_job){.queue = "A"}, 200);
    plan(ward);
    assert_int_equal(world_running(&ward->world, "A"), 90);
    job_on(ward, 1, &count);
    assert_int_equal(count, 0);
    assert_int_equal(change(ward), 0);
    assert_int_equal(sched_health_wake_ms(ward->world.sched),
                     ward->now_ms + FIRST_MS);
    pass(ward, FIRST_MS - 1);
    assert_int_equal(change(ward), 0);
    plan(ward);
    assert_int_equal(world_running(&ward->world, "A"), 90);
}

/* Out, and its probation over. */
static void begin_trial(struct ward *ward)
{
    fail_n1(ward);
    assert_int_equal(change(ward), 1);
    pass(ward, FIRST_MS);
    assert_int_equal(change(ward), 1);
    assert_int_equal(health_of(ward, 1).health, NODE_TRIAL);
    world_submit_many(&ward->world, &(struct world_job){.queue = "A"}, 200);
}

static void ar_12_tries_one_job_at_a_time(void **state)
{
    struct ward *ward = *state;
    uint32_t count;

    begin_trial(ward);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(health_of(ward, 1).health, NODE_TRIAL);
        plan(ward);
        uint32_t job = job_on(ward, 1, &count);
        assert_int_equal(count, 1);
        pass(ward, MINUTE_MS);
        plan(ward);
        job_on(ward, 1, &count);
        assert_int_equal(count, 1);
        finish(ward, job, 3, false);
        change(ward);
    }
    assert_int_equal(health_of(ward, 1).health, NODE_NORMAL);
    plan(ward);
    job_on(ward, 1, &count);
    assert_int_equal(count, 10);
    assert_int_equal(change(ward), 0);
}

static void ar_12_doubles_the_probation(void **state)
{
    struct ward *ward = *state;
    int64_t probation_ms = FIRST_MS;
    uint32_t count;

    begin_trial(ward);
    for (int i = 0; i < 6; i++) {
        plan(ward);
        uint32_t job = job_on(ward, 1, &count);
        assert_int_equal(count, 1);
        pass(ward, MINUTE_MS);
        finish(ward, job, 3, true);
        assert_int_equal(change(ward), 1);
        probation_ms = probation_ms * 2 < 120 * MINUTE_MS ? probation_ms * 2
                                                          : 120 * MINUTE_MS;
        assert_int_equal(health_of(ward, 1).health, NODE_OUT);
        assert_int_equal(health_of(ward, 1).until_ms,
                         ward->now_ms + probation_ms);
        pass(ward, probation_ms);
        assert_int_equal(change(ward), 1);
        assert_int_equal(health_of(ward, 1).health, NODE_TRIAL);
    }
    assert_int_equal(probation_ms, 120 * MINUTE_MS);
}

static void ar_12_blames_no_node_when_all_fail(void **state)
{
    struct ward *ward = *state;

    run_on_others(ward, 20);
    run_on(ward, 1, 1, false);
    run_on(ward, 1, 1, true);
    run_on(ward, 1, 1, true);
    run_on(ward, 1, 2, true);
    assert_int_equal(change(ward), 0);
}

static void ar_12_takes_out_a_tenth_at_most(void **state)
{
    struct ward *ward = *state;

    run_on_others(ward, 0);
    for (uint32_t i = 0; i < 3; i++) {
        run_on(ward, 0, i, true);
        run_on(ward, 1, i, true);
    }
    run_on(ward, 1, 3, true);
    assert_int_equal(change(ward), 1);
    assert_int_equal(health_of(ward, 0).health, NODE_NORMAL);
    assert_int_equal(health_of(ward, 1).health, NODE_OUT);
    /* The other's turn comes when the place is free. */
    struct sched_health normal = {.health = NODE_NORMAL};
    sched_health_set(ward->world.sched, ward->nodes[1], &normal);
    assert_int_equal(change(ward), 1);
    assert_int_equal(health_of(ward, 0).health, NODE_OUT);
}

/* What is older than the window counts no more. */
static void ar_12_forgets(void **state)
{
    struct ward *ward = *state;

    run_on_others(ward, 0);
    run_on(ward, 1, 1, true);
    run_on(ward, 1, 2, true);
    pass(ward, 30 * MINUTE_MS);
    run_on(ward, 1, 3, true);
    assert_int_equal(change(ward), 0);
    assert_int_equal(health_of(ward, 1).failed_count, 1);
}

/* Mates of a gang that fail alike on several nodes accuse none of them. */
static void ar_12_forgives_gangs_that_fail_everywhere(void **state)
{
    struct ward *ward = *state;

    run_on_others(ward, 0);
    for (uint32_t i = 0; i < 4; i++) {
        char gang[2] = {(char)('a' + i), 0};
        uint32_t first = world_submit_many(
            &ward->world,
            &(struct world_job){.queue = "A", .gang = gang, .cardinality = 2},
            2);
        world_lease(&ward->world, first, ward->nodes[1], ward->now_ms);
        world_lease(&ward->world, first + 1, ward->nodes[2], ward->now_ms);
        finish(ward, first, i, true);
        finish(ward, first + 1, i, true);
    }
    assert_int_equal(change(ward), 0);
    assert_int_equal(health_of(ward, 1).failed_count, 0);
    assert_int_equal(health_of(ward, 1).ended_count, 4);
    assert_int_equal(health_of(ward, 2).failed_count, 0);
}

/* Until it is released, whatever the time. */
static void ar_12_an_operator_pins_and_clears(void **state)
{
    struct ward *ward = *state;
    struct sched_health pinned = {.health = NODE_OUT, .is_pinned = true};
    struct sched_health cleared = {.health = NODE_NORMAL};

    fail_n1(ward);
    sched_health_set(ward->world.sched, ward->nodes[1], &pinned);
    assert_int_equal(sched_health_count(ward->world.sched, NODE_OUT), 1);
    pass(ward, 1000 * (int64_t)MINUTE_MS);
    assert_int_equal(change(ward), 0);
    assert_int_equal(health_of(ward, 1).health, NODE_OUT);
    sched_health_set(ward->world.sched, ward->nodes[1], &cleared);
    assert_int_equal(change(ward), 0);
    assert_int_equal(health_of(ward, 1).health, NODE_NORMAL);
    assert_int_equal(health_of(ward, 1).failed_count, 0);
}

/* What is packed and read back is packed the same, and goes on the same. */
static void ar_12_survives_a_restart(void **state)
{
    struct ward *ward = *state;
    auto_strbuf before = {0}, after = {0};

    run_on(ward, 3, 1, true);
    fail_n1(ward);
    assert_int_equal(change(ward), 1);
    sched_history_pack(ward->world.sched, &before);
    world_restart(&ward->world);
    sched_set_time(ward->world.sched, ward->now_ms);
    for (uint32_t i = 0; i < NODES; i++) {
        char name[3] = {'n', (char)('0' + i), 0};
        ward->nodes[i] =
            world_node(&ward->world, &(struct world_node){name, .cores = 10});
    }
    assert_int_equal(
        sched_history_unpack(ward->world.sched, strbuf_str(&before)), 0);
    sched_history_pack(ward->world.sched, &after);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&after)));
    assert_int_equal(health_of(ward, 1).health, NODE_OUT);
    pass(ward, FIRST_MS);
    assert_int_equal(change(ward), 1);
    assert_int_equal(health_of(ward, 1).health, NODE_TRIAL);
}

/* Thirty nodes more than the ward's ten: a tenth of them is four. */
static void add_nodes(struct ward *ward, uint32_t nodes[WARD_NODES])
{
    static char names[WARD_NODES][8];

    for (uint32_t i = 0; i < WARD_NODES; i++) {
        snprintf(names[i], sizeof(names[i]), "m%u", i);
        nodes[i] =
            i < NODES ? ward->nodes[i]
                      : world_node(&ward->world,
                                   &(struct world_node){names[i], .cores = 10});
    }
}

/* A job of a set runs on a node and ends. */
static void run_at(struct ward *ward, uint32_t node, uint64_t job_set,
                   bool is_failed)
{
    uint32_t job =
        world_submit(&ward->world, &(struct world_job){.queue = "A"});

    world_lease(&ward->world, job, node, ward->now_ms);
    finish(ward, job, job_set, is_failed);
}

/* Three nodes fail every job of three job sets by its exit code, and the others
 * none of them.  A fourth job set is broken: it fails wherever it runs, which
 * is on all nodes. */
static void ar_12_finds_three_nodes_beside_a_broken_job_set(void **state)
{
    struct ward *ward = *state;
    uint32_t nodes[WARD_NODES];

    add_nodes(ward, nodes);
    for (uint64_t set = 1; set <= 3; set++) {
        for (uint32_t i = 0; i < WARD_NODES; i++) {
            run_at(ward, nodes[i], set, i < 3);
            run_at(ward, nodes[i], set, i < 3);
        }
    }
    for (uint32_t i = 0; i < WARD_NODES; i++) {
        run_at(ward, nodes[i], 4, true);
    }
    (void)change(ward);
    for (uint32_t i = 0; i < WARD_NODES; i++) {
        struct sched_health health;
        sched_health_get(ward->world.sched, nodes[i], ward->now_ms, &health);
        assert_int_equal(health.health, i < 3 ? NODE_OUT : NODE_NORMAL);
    }
}

static void ar_12_can_be_switched_off(void **state)
{
    struct ward *ward = *state;

    fail_n1(ward);
    assert_int_equal(change(ward), 1);
    ward->world.policy.quarantine.is_off = true;
    sched_policy_set(ward->world.sched, &ward->world.policy);
    assert_int_equal(change(ward), 1);
    assert_int_equal(health_of(ward, 1).health, NODE_NORMAL);
    for (uint32_t i = 0; i < 9; i++) {
        run_on(ward, 1, i, true);
    }
    assert_int_equal(change(ward), 0);
}

int main(void)
{
#define SCENARIO(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(ar_12_takes_a_failing_node_out),
        SCENARIO(ar_12_tries_one_job_at_a_time),
        SCENARIO(ar_12_doubles_the_probation),
        SCENARIO(ar_12_blames_no_node_when_all_fail),
        SCENARIO(ar_12_takes_out_a_tenth_at_most),
        SCENARIO(ar_12_finds_three_nodes_beside_a_broken_job_set),
        SCENARIO(ar_12_forgets),
        SCENARIO(ar_12_forgives_gangs_that_fail_everywhere),
        SCENARIO(ar_12_an_operator_pins_and_clears),
        SCENARIO(ar_12_survives_a_restart),
        SCENARIO(ar_12_can_be_switched_off),
    };

    return RUN_TESTS(tests);
}
