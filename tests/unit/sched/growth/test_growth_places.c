/* How far growth goes, and on which nodes: ceilings, GPUs, quotas, domains
 * (scenarios TJ-14 to TJ-19 of model.md section 8). */
#include "units_fixture.h"

static void set_load_max(struct world *w, int64_t ppm)
{
    w->policy.pools[0].load_max_ppm = ppm;
    world_restart(w);
}

static void tj_14_growth_stops_at_the_load_ceiling(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(1, 3);

    set_load_max(w, 800000);
    units_set_cores(w, "n1", 3);
    uint32_t unit = units_submit_plain(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, unit, &terms), 2);
    /* More is asked for than allowed: one goes, frozen or not. */
    units_set_cores(w, "n1", 4);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_of(w, unit, &terms), 3);
    units_set_cores(w, "n1", 3);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_SCALED);
    assert_int_equal(w->plan.decisions[0].job, unit + 2);
    assert_int_equal(units_count_of(w, unit, &terms), 2);
    world_round(w, ROUND_BALANCE, 3 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
}

static void tj_14_gpus_are_used_to_the_last(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(1, 20);

    set_load_max(w, 970000);
    world_node(w, &(struct world_node){"n1", .cores = 100, .gpus = 9});
    uint32_t unit = units_submit(
        w, &(struct world_job){.queue = "A", .gang = "u", .gpus = 1}, &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, unit, &terms), 9);
    world_node(w, &(struct world_node){"n1", .cores = 100, .gpus = 10});
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_of(w, unit, &terms), 10);
    world_round(w, ROUND_BALANCE, WINDOW_MS * 2);
    assert_int_equal(w->plan.decision_count, 0);
}

static void tj_15_pods_of_others_that_find_no_node_count(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 90);
    struct resource_vec pending = {0};
    struct world_node node = {"n1", .cores = 100, .borrowed_cores = 10};

    terms.freezing_window_ms = 0;
    world_node(w, &node);
    uint32_t unit = units_submit_plain(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, unit, &terms), 90);
    /* The service asks for 60. */
    pending.v[CPU] = 50 * 1000;
    sched_foreign_pending_set(w->sched, STR("default"), &pending);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_of(w, unit, &terms), 40);
    pending.v[CPU] = 0;
    sched_foreign_pending_set(w->sched, STR("default"), &pending);
    node.borrowed_cores = 60;
    world_node(w, &node);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    /* It drops to 10. */
    node.borrowed_cores = 10;
    world_node(w, &node);
    world_round(w, ROUND_BALANCE, 3 * SECOND);
    assert_int_equal(units_count_of(w, unit, &terms), 90);
}

static void tj_17_gpu_units_go_first_on_gpu_nodes(void **state)
{
    struct world *w = *state;
    struct gang_terms cpu = units_trainers(1, 3), gpu = units_trainers(1, 1);

    world_node(w, &(struct world_node){"g", .cores = 1, .gpus = 1});
    uint32_t grower = units_submit_plain(w, "A", "c", &cpu);
    world_round(w, ROUND_BALANCE, 0);
    world_node(w, &(struct world_node){"g", .cores = 3, .gpus = 1});
    uint32_t unit = units_submit(
        w,
        &(struct world_job){.queue = "A", .gang = "g", .cores = 2, .gpus = 1},
        &gpu);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_of(w, unit, &gpu), 1);
    assert_int_equal(units_count_of(w, grower, &cpu), 1);
}

static void make_gpu_pair(struct world *w)
{
    world_node(w, &(struct world_node){"c", .cores = 8});
    world_node(w, &(struct world_node){"g", .cores = 8, .gpus = 4});
}

static void tj_19_growth_without_gpus_prefers_nodes_without(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(1, 8);

    make_gpu_pair(w);
    uint32_t first = units_submit_plain(w, "A", "a", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_on(w, first, 8, "c"), 8);
    uint32_t second = units_submit_plain(w, "A", "b", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_on(w, second, 8, "g"), 8);
}

static void tj_19_a_gpu_unit_that_waits_keeps_them_off(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(1, 8), gpu = units_trainers(1, 1);
    struct world_job big = {.queue = "A", .gang = "g", .cores = 4, .gpus = 4};

    make_gpu_pair(w);
    (void)units_submit_plain(w, "A", "a", &terms);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t unit = units_submit(w, &big, &gpu);
    uint32_t second = units_submit_plain(w, "A", "b", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_of(w, unit, &gpu), 1);
    assert_int_equal(units_count_on(w, second, 8, "g"), 4);

    /* Another finds no GPU: what is left of the node is kept for it. */
    big.gang = "h";
    (void)units_submit(w, &big, &gpu);
    world_node(w, &(struct world_node){"g", .cores = 11, .gpus = 4});
    world_round(w, ROUND_BALANCE, WINDOW_MS * 2);
    assert_int_equal(units_count_on(w, second, 8, "g"), 4);
    world_node(w, &(struct world_node){"c2", .cores = 2});
    world_round(w, ROUND_BALANCE, WINDOW_MS * 3);
    assert_int_equal(units_count_on(w, second, 8, "g"), 4);
    assert_int_equal(units_count_on(w, 0, w->job_count, "c2"), 2);
}

static void tj_19_a_gang_that_starts_in_part_keeps_them_off(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(1, 4);
    struct world_job member = {
        .queue = "A", .gang = "p", .cardinality = 3, .minimum = 1, .gpus = 2};

    world_node(w, &(struct world_node){"g", .cores = 8, .gpus = 6});
    uint32_t gang = world_submit_many(w, &member, 3);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, gang, 3), 3);
    /* Two of them wait again; there is a place for one. */
    for (uint32_t i = 0; i < 2; i++) {
        sched_job_requeue(w->sched, gang + i, SCHED_NONE);
        w->node_of[gang + i] = SCHED_NONE;
    }
    world_node(w, &(struct world_node){"g", .cores = 8, .gpus = 4});
    units_set_cores(w, "c", 2);
    uint32_t unit = units_submit_plain(w, "B", "u", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running_of(w, gang, 3), 2);
    assert_int_equal(units_count_on(w, unit, 4, "c"), 2);
    assert_int_equal(units_count_on(w, unit, 4, "g"), 0);
}

static void add_rack_node(struct world *w, const char *name, int64_t cores,
                          const char *rack)
{
    world_node(w, &(struct world_node){.name = name,
                                       .cores = cores,
                                       .label_key = "rack",
                                       .label_value = rack});
}

/* As near as it can be, and never further than its cap. */
static void growth_widens_a_domain_only_within_the_cap(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 6);
    struct sched_explanation why;

    w->policy.pools[0].topology[0] = STR("rack");
    w->policy.pools[0].level_count = 1;
    world_restart(w);
    add_rack_node(w, "r1a", 1, "r1");
    add_rack_node(w, "r1b", 2, "r1");
    add_rack_node(w, "r2a", 4, "r2");
    terms.sub_groups[0].hops_max = 2;
    uint32_t capped = units_submit_plain(w, "Q", "capped", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_on(w, capped, 6, "r1b"), 2);
    assert_int_equal(units_count_on(w, capped, 6, "r1a"), 1);
    assert_int_equal(units_count_of(w, capped, &terms), 3);
    /* Room that is too far is none, and an explanation says so. */
    sched_explain(w->sched, capped + 3, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_GROWTH);
    assert_int_equal(why.growth, SCHED_WAIT_CAPACITY);
    assert_int_equal(why.nodes_fit, 0);
    assert_int_equal(why.nodes_excluded[SCHED_EXCLUDED_FAR], 1);
    assert_int_equal(why.nodes_excluded[SCHED_EXCLUDED_FULL], 2);
    for (uint32_t i = 0; i < 6; i++) {
        world_end(w, capped + i);
    }
    terms.sub_groups[0].hops_max = HOPS_ANY;
    uint32_t any = units_submit_plain(w, "Q", "any", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_on(w, any, 6, "r1b"), 2);
    assert_int_equal(units_count_on(w, any, 6, "r1a"), 1);
    assert_int_equal(units_count_on(w, any, 6, "r2a"), 3);
}

/* A node serves its gang alone; growth takes further ones whole. */
static void growth_of_whole_node_groups_takes_empty_nodes(void **state)
{
    struct world *w = *state;
    struct gang_terms whole = units_trainers(2, 6),
                      other = units_trainers(1, 6);

    whole.has_exclusive_nodes = true;
    units_set_cores(w, "n1", 3);
    units_set_cores(w, "n2", 3);
    uint32_t a = units_submit_plain(w, "Q", "a", &whole);
    uint32_t b = units_submit_plain(w, "Q", "b", &other);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, a, &whole), 3);
    assert_int_equal(units_count_of(w, b, &other), 3);
    units_set_cores(w, "n3", 2);
    for (uint32_t i = 0; i < 6; i++) {
        world_end(w, b + i);
    }
    world_round(w, ROUND_BALANCE, WINDOW_MS);
    assert_int_equal(units_count_of(w, a, &whole), 6);
}

static void set_quota(struct world *w, const char *queue, const char *resource,
                      int64_t milli)
{
    struct resource_amount item = {str_of(resource), milli};

    world_queue_by(w, queue, &(struct queue_record){.quota = {&item, 1}});
}

static void tj_16_a_gang_starts_only_within_the_quota(void **state)
{
    struct world *w = *state;
    struct gang_terms one = units_trainers(1, 1), two = units_trainers(2, 2);
    struct world_job job = {.queue = "A", .gang = "a", .gpus = 1};
    struct sched_explanation why;

    set_quota(w, "A", "nvidia.com/gpu", 2000);
    world_node(w, &(struct world_node){"n1", .cores = 8, .gpus = 8});
    (void)units_submit(w, &job, &one);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 1);
    job.gang = "b";
    uint32_t b = units_submit(w, &job, &two);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(w->leased_count, 0);
    sched_explain(w->sched, b, SECOND, &why);
    assert_int_equal(why.wait, SCHED_WAIT_QUOTA);
    assert_int_equal(why.resource, 0);
    assert_int_equal(why.used, 1);
    assert_int_equal(why.limit, 2);
    job.gang = "c";
    uint32_t c = units_submit(w, &job, &one);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(units_count_of(w, c, &one), 1);
}

static void tj_16_each_pod_of_growth_is_within_the_quota(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 8);

    set_quota(w, "A", "cpu", 5000);
    units_set_cores(w, "n1", 20);
    uint32_t unit = units_submit_plain(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, unit, &terms), 5);
    world_queue(w, "A", 1);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_of(w, unit, &terms), 8);
}

static void a_quota_is_of_all_pools_together(void **state)
{
    struct world *w = *state;

    w->policy.pools[1] = w->policy.pools[0];
    w->policy.pools[1].name = STR("other");
    w->policy.pool_count = 2;
    world_restart(w);
    set_quota(w, "A", "cpu", 5000);
    units_set_cores(w, "n1", 3);
    world_node(w, &(struct world_node){"m1", .cores = 8, .pool = "other"});
    world_submit_many(w, &(struct world_job){.queue = "A"}, 10);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 5);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(tj_14_growth_stops_at_the_load_ceiling),
        SCENARIO(tj_14_gpus_are_used_to_the_last),
        SCENARIO(tj_15_pods_of_others_that_find_no_node_count),
        SCENARIO(tj_17_gpu_units_go_first_on_gpu_nodes),
        SCENARIO(tj_19_growth_without_gpus_prefers_nodes_without),
        SCENARIO(tj_19_a_gpu_unit_that_waits_keeps_them_off),
        SCENARIO(tj_19_a_gang_that_starts_in_part_keeps_them_off),
        SCENARIO(growth_widens_a_domain_only_within_the_cap),
        SCENARIO(growth_of_whole_node_groups_takes_empty_nodes),
        SCENARIO(tj_16_a_gang_starts_only_within_the_quota),
        SCENARIO(tj_16_each_pod_of_growth_is_within_the_quota),
        SCENARIO(a_quota_is_of_all_pools_together),
    };
    return RUN_TESTS(tests);
}
