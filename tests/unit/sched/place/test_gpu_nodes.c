/* gpu_nodes: nodes with GPUs are kept for jobs that ask for them. */
#include <stdio.h>

#include "sched/place/gpu_nodes.h"
#include "world_fixture.h"

/* A pool that keeps them, with a full node without GPUs and one of two GPUs, of
 * which one is taken. */
struct scene {
    struct world *w;
    uint32_t plain_run; /* fills the node without GPUs */
};

static void keep(struct world *w, enum gpu_keeping keeping)
{
    w->policy.pools[0].gpu_keeping = keeping;
    world_restart(w);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
}

static const struct world_job small = {.queue = "A", .cores = 1};
static const struct world_job two_gpus = {
    .queue = "B", .cores = 1, .gpus = 2, .priority_class = "mid"};

static struct scene make_scene(struct world *w, enum gpu_keeping keeping)
{
    keep(w, keeping);
    uint32_t plain = world_node(w, &(struct world_node){"plain", .cores = 4});
    uint32_t gpus =
        world_node(w, &(struct world_node){"gpus", .cores = 8, .gpus = 2});
    struct scene scene = {
        .w = w,
        .plain_run =
            world_submit(w, &(struct world_job){.queue = "A",
                                                .cores = 4,
                                                .priority_class = "fixed"}),
    };
    struct world_job one_gpu = two_gpus;
    one_gpu.gpus = 1;
    one_gpu.priority_class = "fixed";
    world_lease(w, scene.plain_run, plain, 0);
    world_lease(w, world_submit(w, &one_gpu), gpus, 0);
    return scene;
}

static enum sched_wait why(const struct world *w, uint32_t job)
{
    struct sched_explanation answer;

    sched_explain(w->sched, job, 2, &answer);
    return answer.wait;
}

static void jobs_without_gpus_wait_while_one_waits(void **state)
{
    struct world *w = *state;

    struct scene scene = make_scene(w, GPUS_KEPT_WAITING);
    uint32_t job = world_submit(w, &small);
    uint32_t waiter = world_submit(w, &two_gpus);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, waiter), "");
    assert_string_equal(world_node_of(w, job), "");
    assert_int_equal(why(w, job), SCHED_WAIT_GPUS_KEPT);
    world_end(w, scene.plain_run);
    world_round(w, ROUND_FAST, 2);
    assert_string_equal(world_node_of(w, job), "plain");
}

static void they_start_where_nobody_waits(void **state)
{
    struct world *w = *state;

    (void)make_scene(w, GPUS_KEPT_WAITING);
    uint32_t job = world_submit(w, &small);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, job), "gpus");
}

static void the_next_plan_opens_what_nobody_waits_for(void **state)
{
    struct world *w = *state;

    keep(w, GPUS_KEPT_WAITING);
    struct world_job whole = small;
    whole.cores = 4;
    world_node(w, &(struct world_node){"plain", .cores = 4});
    world_node(w, &(struct world_node){"gpus", .cores = 8, .gpus = 2});
    uint32_t first = world_submit(w, &whole);
    uint32_t second = world_submit(w, &whole);
    uint32_t waiter = world_submit(w, &two_gpus);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, first), "plain");
    assert_string_equal(world_node_of(w, waiter), "gpus");
    assert_string_equal(world_node_of(w, second), "");
    world_round(w, ROUND_FAST, 2);
    assert_string_equal(world_node_of(w, second), "gpus");
}

static void profiles_of_others_keep_nothing(void **state)
{
    struct world *w = *state;

    (void)make_scene(w, w->policy.pools[0].gpu_keeping); /* armada's */
    uint32_t job = world_submit(w, &small);
    (void)world_submit(w, &two_gpus);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, job), "gpus");
    pool_policy_apply(&w->policy.pools[0], PROFILE_FLOW);
    assert_int_equal(w->policy.pools[0].gpu_keeping, GPUS_KEPT_NEVER);
    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    assert_int_equal(w->policy.pools[0].gpu_keeping, GPUS_KEPT_WAITING);
}

static void more_urgent_jobs_are_not_kept_off(void **state)
{
    struct world *w = *state;

    (void)make_scene(w, GPUS_KEPT_WAITING);
    struct world_job urgent = small;
    urgent.priority_class = "high";
    uint32_t job = world_submit(w, &urgent);
    (void)world_submit(w, &two_gpus);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, job), "gpus");
}

/* Too many GPUs, another label, a limit of its queue: it does not wait for this
 * node. */
static void who_cannot_have_the_node_keeps_nothing(void **state)
{
    struct world *w = *state;
    struct world_job waiters[] = {two_gpus, two_gpus};

    waiters[0].gpus = 3;
    waiters[1].selector_key = "gpu";
    waiters[1].selector_value = "other";
    for (size_t i = 0; i < ARRAY_COUNT(waiters); i++) {
        (void)make_scene(w, GPUS_KEPT_WAITING);
        uint32_t job = world_submit(w, &small);
        (void)world_submit(w, &waiters[i]);
        world_round(w, ROUND_FAST, 1);
        assert_string_equal(world_node_of(w, job), "gpus");
    }
}

static void nodes_alike_but_in_size_are_kept_each_for_itself(void **state)
{
    struct world *w = *state;

    (void)make_scene(w, GPUS_KEPT_WAITING);
    world_node(w, &(struct world_node){"one", .cores = 1, .gpus = 1});
    uint32_t waiter = world_submit(w, &two_gpus);
    uint32_t job = world_submit(w, &small);
    uint32_t next = world_submit(w, &small);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, waiter), "");
    assert_string_equal(world_node_of(w, job), "one");
    assert_string_equal(world_node_of(w, next), "");
    assert_int_equal(why(w, next), SCHED_WAIT_GPUS_KEPT);
}

static void who_waits_for_a_limit_keeps_nothing(void **state)
{
    struct world *w = *state;

    for (uint32_t c = 0; c < w->policy.class_count; c++) {
        struct priority_class *class = &w->policy.classes[c];
        if (str_equal(class->name, STR("mid"))) {
            class->queue_limits[0] =
                (struct resource_fraction){STR("nvidia.com/gpu"), 500000};
            class->queue_limit_count = 1;
        }
    }
    (void)make_scene(w, GPUS_KEPT_WAITING);
    uint32_t job = world_submit(w, &small);
    (void)world_submit(w, &two_gpus);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, job), "gpus");
}

/* Nothing that waits is without a node to wait for. */
static void who_has_no_other_node_is_not_kept_off(void **state)
{
    struct world *w = *state;

    (void)make_scene(w, GPUS_KEPT_WAITING);
    struct world_job large = small;
    large.cores = 5;
    uint32_t job = world_submit(w, &large);
    (void)world_submit(w, &two_gpus);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, job), "gpus");
}

static void a_gang_that_has_no_other_nodes_is_not_kept_off(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "A", .cores = 1, .gang = "g"};

    for (uint32_t count = 4; count <= 5; count++) {
        (void)make_scene(w, GPUS_KEPT_WAITING);
        member.cardinality = member.minimum = count;
        uint32_t first = world_submit_many(w, &member, count);
        (void)world_submit(w, &two_gpus);
        world_round(w, ROUND_FAST, 1);
        assert_int_equal(world_running_of(w, first, count),
                         count == 4 ? 0 : count);
    }
}

static void always_is_always(void **state)
{
    struct world *w = *state;

    (void)make_scene(w, GPUS_KEPT_ALWAYS);
    struct world_job large = small;
    large.cores = 5;
    uint32_t jobs[] = {world_submit(w, &small), world_submit(w, &large)};
    world_round(w, ROUND_BALANCE, 1);
    for (size_t i = 0; i < ARRAY_COUNT(jobs); i++) {
        assert_string_equal(world_node_of(w, jobs[i]), "");
        assert_int_equal(why(w, jobs[i]), SCHED_WAIT_GPUS_KEPT);
    }
}

/* It does not take the place of less urgent work there, either. */
static void nobody_preempts_there(void **state)
{
    struct world *w = *state;

    keep(w, GPUS_KEPT_WAITING);
    uint32_t plain = world_node(w, &(struct world_node){"plain", .cores = 1});
    uint32_t gpus =
        world_node(w, &(struct world_node){"gpus", .cores = 4, .gpus = 1});
    struct world_job fixed = {
        .queue = "B", .cores = 1, .priority_class = "fixed"};
    struct world_job low = {.queue = "B", .cores = 3, .priority_class = "low"};
    world_lease(w, world_submit(w, &fixed), plain, 0);
    fixed.gpus = 1;
    world_lease(w, world_submit(w, &fixed), gpus, 0);
    uint32_t victim = world_submit(w, &low);
    world_lease(w, victim, gpus, 0);
    uint32_t job = world_submit(w, &small);
    struct world_job waiter = two_gpus;
    waiter.gpus = 1;
    (void)world_submit(w, &waiter);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, job), "");
    assert_string_equal(world_node_of(w, victim), "gpus");
}

/* What is admitted is reserved for on nodes that it may have. */
static void reservations_are_on_other_nodes(void **state)
{
    struct world *w = *state;
    struct sched_explanation answer;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    keep(w, GPUS_KEPT_WAITING);
    uint32_t plain = world_node(w, &(struct world_node){"plain", .cores = 4});
    uint32_t gpus =
        world_node(w, &(struct world_node){"gpus", .cores = 8, .gpus = 2});
    struct world_job run = {
        .queue = "A", .cores = 4, .priority_class = "fixed", .deadline_s = 100};
    world_lease(w, world_submit(w, &run), plain, 0);
    run.gpus = 1;
    run.cores = 1;
    world_lease(w, world_submit(w, &run), gpus, 0);
    uint32_t job = world_submit(w, &small);
    (void)world_submit(w, &two_gpus);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, job), "");
    sched_explain(w->sched, job, 2, &answer);
    assert_int_equal(answer.wait, SCHED_WAIT_RESERVED);
    assert_int_equal(answer.until_ms, 100001);
}

#define AT(test) \
    cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

/* A gang of which a plan takes all that ran does not wait any more, though a
 * member that asks for a GPU did: it keeps no GPUs from those that grow. */
static void a_gang_that_is_taken_keeps_no_gpus(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct world_job member = {
        .queue = "B", .gang = "b", .cardinality = 2, .minimum = 1};
    uint32_t few =
        world_node(w, &(struct world_node){"n", .cores = 1, .label_key = "on",
                                           .label_value = "n"});
    uint32_t large =
        world_node(w, &(struct world_node){"g", .cores = 4, .gpus = 1});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    uint32_t user = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "fixed", .gpus = 1});

    world_lease(w, group, large, 0);
    world_lease(w, user, large, 0);
    world_lease(w, world_submit(w, &member), few, 0);
    member.gpus = 1;
    world_submit(w, &member);
    /* Its other member waits for a GPU, as long as the gang is there. */
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, group, 2), 1);
    world_submit(w, &(struct world_job){.queue = "A",
                                        .priority_class = "high",
                                        .selector_key = "on",
                                        .selector_value = "n"});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(world_running_of(w, group, 2), 2);
}

/* What a question about a job and the node of two GPUs costs. */
static uint64_t looks_for(struct world *w, uint32_t job, bool *ret_is_kept)
{
    auto_arena arena = {0};
    uint64_t looks = 0;

    struct gpu_nodes *gpus = gpu_nodes_make(w->sched, 0, 0, &arena);
    assert_non_null(gpus);
    *ret_is_kept = gpu_nodes_keep(gpus, class_of_job(w->sched, job), 1, &looks);
    return looks;
}

static void each_class_that_is_compared_counts(void **state)
{
    enum { CLASSES = 300 };
    struct world *w = *state;
    struct world_job other = two_gpus;
    char label[16];
    bool is_kept;

    (void)make_scene(w, GPUS_KEPT_WAITING);
    uint32_t job = world_submit(w, &small);
    other.selector_key = "model";
    other.selector_value = label;
    for (int i = 0; i < CLASSES; i++) {
        (void)snprintf(label, sizeof(label), "m%d", i);
        world_submit(w, &other);
    }
    assert_true(looks_for(w, job, &is_kept) >= 2 * CLASSES);
    assert_false(is_kept);
    /* The most urgent are asked first, and one that fits is enough. */
    uint64_t all = looks_for(w, job, &is_kept);
    struct world_job urgent = two_gpus;
    urgent.priority_class = "high";
    world_submit(w, &urgent);
    assert_true(looks_for(w, job, &is_kept) < all - CLASSES / 2);
    assert_true(is_kept);
}

static void nodes_that_are_passed_over_count(void **state)
{
    enum { NODES = 100 };
    struct world *w = *state;
    bool is_kept;

    (void)make_scene(w, GPUS_KEPT_WAITING);
    char name[16];
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof(name), "more%d", i);
        world_node(w, &(struct world_node){name, .cores = 8, .gpus = 2});
    }
    struct world_job large = small;
    large.cores = 8;
    uint32_t job = world_submit(w, &large);
    world_submit(w, &two_gpus);
    assert_true(looks_for(w, job, &is_kept) >= NODES);
    assert_false(is_kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT(jobs_without_gpus_wait_while_one_waits),
        AT(they_start_where_nobody_waits),
        AT(the_next_plan_opens_what_nobody_waits_for),
        AT(profiles_of_others_keep_nothing),
        AT(more_urgent_jobs_are_not_kept_off),
        AT(who_cannot_have_the_node_keeps_nothing),
        AT(nodes_alike_but_in_size_are_kept_each_for_itself),
        AT(who_waits_for_a_limit_keeps_nothing),
        AT(who_has_no_other_node_is_not_kept_off),
        AT(a_gang_that_has_no_other_nodes_is_not_kept_off),
        AT(always_is_always),
        AT(nobody_preempts_there),
        AT(reservations_are_on_other_nodes),
        AT(a_gang_that_is_taken_keeps_no_gpus),
        AT(each_class_that_is_compared_counts),
        AT(nodes_that_are_passed_over_count),
    };

    return RUN_TESTS(tests);
}
