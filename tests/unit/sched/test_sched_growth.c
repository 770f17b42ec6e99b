/* Gangs that grow and shrink (model.md 4, 6.5 step 4), at the planner. */
#include <stdio.h>

#include "world_fixture.h"

enum { SECOND = 1000, WINDOW_MS = 300 * SECOND };

/* One sub-group of so many pods, frozen for five minutes. */
static struct gang_terms trainers(uint32_t min, uint32_t max)
{
    return (struct gang_terms){
        .kind = GANG_TRAINING_TOLERANT,
        .freezing_window_ms = WINDOW_MS,
        .sub_groups = {{STR("trainer"), min, max, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
}

static uint32_t submit(struct world *w, const struct world_job *job,
                       const struct gang_terms *terms)
{
    return world_submit_group(w, job, terms);
}

/* A unit of one-core pods of class mid in a queue. */
static uint32_t submit_unit(struct world *w, const char *queue, const char *id,
                            const struct gang_terms *terms)
{
    return submit(w, &(struct world_job){.queue = queue, .gang = id}, terms);
}

static uint32_t count_of(const struct world *w, uint32_t first,
                         const struct gang_terms *terms)
{
    return world_running_of(w, first, terms->sub_groups[0].max_count);
}

static uint32_t count_on(const struct world *w, uint32_t first, uint32_t count,
                         const char *node)
{
    uint32_t found = 0;

    for (uint32_t i = first; i < first + count; i++) {
        found += strcmp(world_node_of(w, i), node) == 0;
    }
    return found;
}

static void set_cores(struct world *w, const char *name, int64_t cores)
{
    world_node(w, &(struct world_node){name, .cores = cores});
}

/* PodGroups: coord 1..1, workers 4..8. */
static struct gang_terms group_terms(void)
{
    return (struct gang_terms){
        .sub_groups = {{STR("coord"), 1, 1, .hops_max = HOPS_ANY},
                       {STR("workers"), 4, 8, .hops_max = HOPS_ANY}},
        .sub_group_count = 2,
    };
}

static void pg_02_a_group_grows_into_what_is_free(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    set_cores(w, "n1", 7);
    uint32_t group = submit_unit(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group, 1), 1);
    assert_int_equal(world_running_of(w, group + 1, 8), 6);
    assert_int_equal(world_running_of(w, group + 1, 6), 6);
    set_cores(w, "n1", 20);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running_of(w, group + 1, 8), 8);
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    assert_int_equal(w->plan.next_wake_ms, INT64_MAX);
}

static void pg_03_minimums_first_then_the_queue_of_the_lower_flow(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    set_cores(w, "n1", 14);
    w->policy.pools[0].half_time_ms = 600 * SECOND;
    world_restart(w);
    set_cores(w, "n1", 14);
    /* A's flow stays above B's for a while. */
    uint32_t past = world_submit_many(w, &(struct world_job){.queue = "A"}, 14);
    world_round(w, ROUND_BALANCE, 0);
    for (uint32_t i = 0; i < 14; i++) {
        world_end(w, past + i);
    }
    set_cores(w, "n1", 11);
    uint32_t a = submit_unit(w, "A", "a", &terms);
    uint32_t b = submit_unit(w, "B", "b", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running_of(w, a, 9), 5);
    assert_int_equal(world_running_of(w, b, 9), 6);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(w->plan.decisions[i].group < 2);
    }
}

/* Levels of one priority, of these weights. */
static void add_levels(struct world *w)
{
    static const struct {
        const char *name;
        uint32_t weight;
    } levels[] = {{"w10", 10}, {"w100", 100}, {"w10000", 10000}};
    w->policy.classes[2].cfs_weight = 10000; /* high */

    for (size_t i = 0; i < ARRAY_COUNT(levels); i++) {
        w->policy.classes[w->policy.class_count++] = (struct priority_class){
            .name = str_of(levels[i].name),
            .priority = 1000,
            .is_preemptible = true,
            .cfs_weight = levels[i].weight,
        };
    }
    world_restart(w);
}

/* Within a queue: round and round, from the left; all of one unit stands
 * together in the plan. */
static void tj_07_growth_goes_round_from_the_left(void **state)
{
    struct world *w = *state;
    struct gang_terms one = trainers(2, 5), two = trainers(2, 3),
                      three = trainers(3, 4);

    add_levels(w);
    set_cores(w, "n1", 4);
    uint32_t u1 =
        submit(w,
               &(struct world_job){
                   .queue = "A", .gang = "u1", .priority_class = "w10000"},
               &one);
    uint32_t u2 = submit_unit(w, "A", "u2", &two);
    world_round(w, ROUND_BALANCE, 0);
    set_cores(w, "n1", 10);
    uint32_t u3 = submit_unit(w, "A", "u3", &three);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(w->leased_count, 6);
    assert_int_equal(count_of(w, u3, &three), 4);
    assert_int_equal(count_of(w, u1, &one), 3);
    assert_int_equal(count_of(w, u2, &two), 3);
}

/* What is left of two units of different weights gets what is free. */
static void tj_22_offline_grows_before_experiment(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 4);

    add_levels(w);
    set_cores(w, "n1", 4);
    struct world_job job = {.queue = "A", .gang = "x", .priority_class = "w10"};
    uint32_t experiment = submit(w, &job, &terms);
    job.gang = "o";
    job.priority_class = "w100";
    uint32_t offline = submit(w, &job, &terms);
    world_round(w, ROUND_BALANCE, 0);
    set_cores(w, "n1", 5);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(count_of(w, experiment, &terms), 2);
    assert_int_equal(count_of(w, offline, &terms), 3);
}

/* Two units; one has run ten times as long as the other, per weight. */
static void tj_10_one_pod_moves_then_both_are_frozen(void **state)
{
    struct world *w = *state;
    struct gang_terms left = trainers(2, 5), right = trainers(2, 4);

    add_levels(w);
    set_cores(w, "n1", 4);
    uint32_t u2 = submit_unit(w, "A", "u2", &right);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, u2, &right), 4);
    set_cores(w, "n1", 6);
    uint32_t u1 =
        submit(w,
               &(struct world_job){
                   .queue = "A", .gang = "u1", .priority_class = "w10000"},
               &left);
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    /* In one group: the lease goes where the pod was. */
    assert_int_equal(count_of(w, u1, &left), 2);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(w->plan.decision_count, 2);
    assert_int_equal(w->plan.decisions[0].action, SCHED_PREEMPT);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_SCALED);
    assert_int_equal(w->plan.decisions[0].for_job, u1 + 2);
    assert_int_equal(w->plan.decisions[0].group, w->plan.decisions[1].group);
    assert_true(w->plan.decisions[0].is_scaling);
    assert_true(w->plan.decisions[1].is_scaling);
    assert_int_equal(count_of(w, u1, &left), 3);
    assert_int_equal(count_of(w, u2, &right), 3);
    for (int64_t s = 105; s < 400; s += 5) {
        world_round(w, ROUND_BALANCE, s * SECOND);
        assert_int_equal(w->plan.decision_count, 0);
    }
    world_round(w, ROUND_BALANCE, 400 * SECOND);
    assert_int_equal(count_of(w, u1, &left), 4);
    assert_int_equal(count_of(w, u2, &right), 2);
}

static void tj_12_a_unit_is_frozen_for_a_window_after_scaling(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 8);
    auto_strbuf history = {0};

    /* That of the policy is as long. */
    terms.freezing_window_ms = FREEZING_BY_POLICY;
    set_cores(w, "n1", 3);
    uint32_t unit = submit_unit(w, "A", "u", &terms);
    /* What comes with its start is no scaling. */
    world_round(w, ROUND_BALANCE, -SECOND);
    assert_int_equal(count_of(w, unit, &terms), 3);
    set_cores(w, "n1", 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, unit, &terms), 4);
    set_cores(w, "n1", 5);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(count_of(w, unit, &terms), 4);
    /* A checkpoint carries it. */
    sched_history_pack(w->sched, &history);
    sched_gang_scaled(w->sched, unit, -WINDOW_MS);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&history)), 0);
    world_round(w, ROUND_BALANCE, WINDOW_MS - 1);
    assert_int_equal(count_of(w, unit, &terms), 4);
    assert_int_equal(w->plan.next_wake_ms, WINDOW_MS);
    world_round(w, ROUND_BALANCE, WINDOW_MS);
    assert_int_equal(count_of(w, unit, &terms), 5);
    /* Starts and ends are not delayed: another takes its place at once. */
    for (uint32_t i = 0; i < 8; i++) {
        world_end(w, unit + i);
    }
    uint32_t other = submit_unit(w, "A", "v", &terms);
    world_round(w, ROUND_BALANCE, WINDOW_MS + 1);
    assert_int_equal(count_of(w, other, &terms), 5);
}

/* A window that is over may yet count: the policy's may grow. */
static void
a_checkpoint_carries_a_window_that_a_longer_one_prolongs(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 8);
    auto_strbuf history = {0};

    terms.freezing_window_ms = FREEZING_BY_POLICY;
    set_cores(w, "n1", 3);
    uint32_t unit = submit_unit(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, -SECOND);
    set_cores(w, "n1", 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, unit, &terms), 4);
    sched_set_time(w->sched, 2 * WINDOW_MS);
    sched_history_pack(w->sched, &history);
    w->policy.elastic.freezing_window_ms = 3 * WINDOW_MS;
    set_cores(w, "n1", 5);
    for (int is_rebuilt = 0; is_rebuilt < 2; is_rebuilt++) {
        if (is_rebuilt) {
            sched_gang_scaled(w->sched, unit, -3 * WINDOW_MS);
            assert_int_equal(
                sched_history_unpack(w->sched, strbuf_str(&history)), 0);
        }
        sched_policy_set(w->sched, &w->policy);
        world_round(w, ROUND_BALANCE, 2 * WINDOW_MS);
        assert_int_equal(count_of(w, unit, &terms), 4);
    }
    world_round(w, ROUND_BALANCE, 3 * WINDOW_MS);
    assert_int_equal(count_of(w, unit, &terms), 5);
}

static void tj_13_steps_are_due_every_five_seconds(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 8);

    set_cores(w, "n1", 2);
    (void)submit_unit(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 0);
    for (int64_t s = 0; s <= 10; s += 5) {
        world_round(w, ROUND_BALANCE, s * SECOND);
        assert_int_equal(w->plan.decision_count, 0);
        assert_int_equal(w->plan.next_wake_ms, (s + 5) * SECOND);
    }
}

static void set_load_max(struct world *w, int64_t ppm)
{
    w->policy.pools[0].load_max_ppm = ppm;
    world_restart(w);
}

static void tj_14_growth_stops_at_the_load_ceiling(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(1, 3);

    set_load_max(w, 800000);
    set_cores(w, "n1", 3);
    uint32_t unit = submit_unit(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, unit, &terms), 2);
    /* More is asked for than allowed: one goes, frozen or not. */
    set_cores(w, "n1", 4);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_of(w, unit, &terms), 3);
    set_cores(w, "n1", 3);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_SCALED);
    assert_int_equal(w->plan.decisions[0].job, unit + 2);
    assert_int_equal(count_of(w, unit, &terms), 2);
    world_round(w, ROUND_BALANCE, 3 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
}

static void tj_14_gpus_are_used_to_the_last(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(1, 20);

    set_load_max(w, 970000);
    world_node(w, &(struct world_node){"n1", .cores = 100, .gpus = 9});
    uint32_t unit = submit(
        w, &(struct world_job){.queue = "A", .gang = "u", .gpus = 1}, &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, unit, &terms), 9);
    world_node(w, &(struct world_node){"n1", .cores = 100, .gpus = 10});
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_of(w, unit, &terms), 10);
    world_round(w, ROUND_BALANCE, WINDOW_MS * 2);
    assert_int_equal(w->plan.decision_count, 0);
}

static void tj_15_pods_of_others_that_find_no_node_count(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 90);
    struct resource_vec pending = {0};
    struct world_node node = {"n1", .cores = 100, .foreign_cores = 10};

    terms.freezing_window_ms = 0;
    world_node(w, &node);
    uint32_t unit = submit_unit(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, unit, &terms), 90);
    /* The service asks for 60. */
    pending.v[CPU] = 50 * 1000;
    sched_foreign_pending_set(w->sched, STR("default"), &pending);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_of(w, unit, &terms), 40);
    pending.v[CPU] = 0;
    sched_foreign_pending_set(w->sched, STR("default"), &pending);
    node.foreign_cores = 60;
    world_node(w, &node);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    /* It drops to 10. */
    node.foreign_cores = 10;
    world_node(w, &node);
    world_round(w, ROUND_BALANCE, 3 * SECOND);
    assert_int_equal(count_of(w, unit, &terms), 90);
}

static void tj_17_gpu_units_go_first_on_gpu_nodes(void **state)
{
    struct world *w = *state;
    struct gang_terms cpu = trainers(1, 3), gpu = trainers(1, 1);

    world_node(w, &(struct world_node){"g", .cores = 1, .gpus = 1});
    uint32_t grower = submit_unit(w, "A", "c", &cpu);
    world_round(w, ROUND_BALANCE, 0);
    world_node(w, &(struct world_node){"g", .cores = 3, .gpus = 1});
    uint32_t unit = submit(
        w,
        &(struct world_job){.queue = "A", .gang = "g", .cores = 2, .gpus = 1},
        &gpu);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_of(w, unit, &gpu), 1);
    assert_int_equal(count_of(w, grower, &cpu), 1);
}

static void make_gpu_pair(struct world *w)
{
    world_node(w, &(struct world_node){"c", .cores = 8});
    world_node(w, &(struct world_node){"g", .cores = 8, .gpus = 4});
}

static void tj_19_growth_without_gpus_prefers_nodes_without(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(1, 8);

    make_gpu_pair(w);
    uint32_t first = submit_unit(w, "A", "a", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_on(w, first, 8, "c"), 8);
    uint32_t second = submit_unit(w, "A", "b", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_on(w, second, 8, "g"), 8);
}

static void tj_19_a_gpu_unit_that_waits_keeps_them_off(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(1, 8), gpu = trainers(1, 1);
    struct world_job big = {.queue = "A", .gang = "g", .cores = 4, .gpus = 4};

    make_gpu_pair(w);
    (void)submit_unit(w, "A", "a", &terms);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t unit = submit(w, &big, &gpu);
    uint32_t second = submit_unit(w, "A", "b", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_of(w, unit, &gpu), 1);
    assert_int_equal(count_on(w, second, 8, "g"), 4);

    /* Another finds no GPU: what is left of the node is kept for it. */
    big.gang = "h";
    (void)submit(w, &big, &gpu);
    world_node(w, &(struct world_node){"g", .cores = 11, .gpus = 4});
    world_round(w, ROUND_BALANCE, WINDOW_MS * 2);
    assert_int_equal(count_on(w, second, 8, "g"), 4);
    world_node(w, &(struct world_node){"c2", .cores = 2});
    world_round(w, ROUND_BALANCE, WINDOW_MS * 3);
    assert_int_equal(count_on(w, second, 8, "g"), 4);
    assert_int_equal(count_on(w, 0, w->job_count, "c2"), 2);
}

static void tj_19_a_gang_that_starts_in_part_keeps_them_off(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(1, 4);
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
    set_cores(w, "c", 2);
    uint32_t unit = submit_unit(w, "B", "u", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running_of(w, gang, 3), 2);
    assert_int_equal(count_on(w, unit, 4, "c"), 2);
    assert_int_equal(count_on(w, unit, 4, "g"), 0);
}

static void um_06_growth_does_not_borrow(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(1, 4);

    w->policy.pools[1] = w->policy.pools[0];
    w->policy.pools[1].name = STR("other");
    w->policy.pool_count = 2;
    world_restart(w);
    set_cores(w, "n1", 2);
    world_node(w, &(struct world_node){"m1", .cores = 8, .pool = "other"});
    uint32_t unit = submit(
        w, &(struct world_job){.queue = "A", .gang = "u", .pool = "default"},
        &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, unit, &terms), 2);
    assert_int_equal(count_on(w, unit, 4, "m1"), 0);
    /* One that may be anywhere stays in the pool where it is; less urgent, it
     * takes no surplus of the other. */
    uint32_t any = submit(
        w,
        &(struct world_job){.queue = "A", .gang = "v", .priority_class = "low"},
        &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_on(w, any, 4, "m1"), 4);
    set_cores(w, "n1", 3);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(count_of(w, unit, &terms), 3);
}

/* As BK-03, with a unit that may grow by 4: by pods of such a lifetime, which
 * is no matter. */
static void check_growth_makes_way(struct world *w, int64_t lifetime_s)
{
    struct gang_terms terms = trainers(1, 5);

    pool_policy_apply(&w->policy.pools[0], PROFILE_FLOW);
    world_restart(w);
    set_cores(w, "n1", 11);
    uint32_t unit =
        submit(w,
               &(struct world_job){
                   .queue = "E", .gang = "u", .lifetime_s = lifetime_s},
               &terms);
    uint32_t a = world_submit(w, &(struct world_job){.queue = "A",
                                                     .cores = 6,
                                                     .lifetime_s = INT64_MAX,
                                                     .deadline_s = 100});
    uint32_t head = world_submit(
        w,
        &(struct world_job){.queue = "H", .cores = 8, .submitted_ms = SECOND});
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, a), "n1");
    assert_int_equal(count_of(w, unit, &terms), 5);
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *d = &w->plan.decisions[i];
        bool is_growth = d->job > unit && d->job < unit + 5;
        assert_true(!is_growth || d->yields_to == head);
        assert_true(d->yields_at_once == is_growth);
    }
    world_end(w, a);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_string_equal(world_node_of(w, head), "n1");
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(count_of(w, unit, &terms), 3);
}

static void um_10_growth_passes_admitted_work_and_makes_way(void **state)
{
    check_growth_makes_way(*state, 0);
}

static void um_10_growth_of_a_lifetime_makes_way_at_once(void **state)
{
    check_growth_makes_way(*state, 3600);
}

static void um_10_endless_growth_makes_way_at_once(void **state)
{
    check_growth_makes_way(*state, INT64_MAX);
}

static void a_second_step_without_change_does_nothing(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 9);

    set_cores(w, "n1", 10);
    set_cores(w, "n2", 7);
    for (int i = 0; i < 3; i++) {
        static const char *const ids[] = {"a", "b", "c"};
        (void)submit_unit(w, i == 1 ? "B" : "A", ids[i], &terms);
    }
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 17);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
}

static void reclass(struct world *w, uint32_t first,
                    const struct gang_terms *terms, const char *class_name)
{
    for (uint32_t i = first; i < first + terms->sub_groups[0].max_count; i++) {
        w->records[i].priority_class = class_name;
        sched_job_reclass(w->sched, i, world_class(w, &w->records[i]));
    }
}

static void tj_21_a_waiting_unit_starts_by_its_new_level(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 3);

    uint32_t a = submit_unit(w, "Q", "a", &terms);
    uint32_t b = submit_unit(w, "Q", "b", &terms);
    set_cores(w, "n1", 2);
    reclass(w, b, &terms, "high");
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, a, &terms), 0);
    assert_int_equal(count_of(w, b, &terms), 2);
    /* What runs is as urgent as its class is. */
    reclass(w, a, &terms, "high");
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    reclass(w, b, &terms, "mid");
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(count_of(w, a, &terms), 2);
}

static void tj_21_a_running_unit_has_its_score_by_its_new_level(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 3);

    add_levels(w);
    set_cores(w, "n1", 4);
    uint32_t a = submit_unit(w, "Q", "a", &terms);
    uint32_t b = submit_unit(w, "Q", "b", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, b, &terms), 2);
    reclass(w, a, &terms, "w10");
    set_cores(w, "n1", 5);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(count_of(w, a, &terms), 2);
    assert_int_equal(count_of(w, b, &terms), 3);
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
    struct gang_terms terms = trainers(2, 6);

    w->policy.pools[0].topology[0] = STR("rack");
    w->policy.pools[0].level_count = 1;
    world_restart(w);
    add_rack_node(w, "r1a", 1, "r1");
    add_rack_node(w, "r1b", 2, "r1");
    add_rack_node(w, "r2a", 4, "r2");
    terms.sub_groups[0].hops_max = 2;
    uint32_t capped = submit_unit(w, "Q", "capped", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_on(w, capped, 6, "r1b"), 2);
    assert_int_equal(count_on(w, capped, 6, "r1a"), 1);
    assert_int_equal(count_of(w, capped, &terms), 3);
    for (uint32_t i = 0; i < 6; i++) {
        world_end(w, capped + i);
    }
    terms.sub_groups[0].hops_max = HOPS_ANY;
    uint32_t any = submit_unit(w, "Q", "any", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_on(w, any, 6, "r1b"), 2);
    assert_int_equal(count_on(w, any, 6, "r1a"), 1);
    assert_int_equal(count_on(w, any, 6, "r2a"), 3);
}

/* A node serves its gang alone; growth takes further ones whole. */
static void growth_of_whole_node_groups_takes_empty_nodes(void **state)
{
    struct world *w = *state;
    struct gang_terms whole = trainers(2, 6), other = trainers(1, 6);

    whole.is_whole_node = true;
    set_cores(w, "n1", 3);
    set_cores(w, "n2", 3);
    uint32_t a = submit_unit(w, "Q", "a", &whole);
    uint32_t b = submit_unit(w, "Q", "b", &other);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, a, &whole), 3);
    assert_int_equal(count_of(w, b, &other), 3);
    set_cores(w, "n3", 2);
    for (uint32_t i = 0; i < 6; i++) {
        world_end(w, b + i);
    }
    world_round(w, ROUND_BALANCE, WINDOW_MS);
    assert_int_equal(count_of(w, a, &whole), 6);
}

static void make_cfs(struct world *w, const char *name)
{
    world_queue_by(w, name, &(struct queue_record){.ordering = QUEUE_BY_CFS});
}

/* u1 of five and u2 of four pods, at least two each; u1 weighs more, so u2 is
 * the rightmost.  They are on nodes of their own, and all is full. */
static void make_two_units(struct world *w, const struct gang_terms *one,
                           const struct gang_terms *two, uint32_t *ret_u1,
                           uint32_t *ret_u2)
{
    add_levels(w);
    make_cfs(w, "A");
    set_cores(w, "n1", 5);
    *ret_u1 =
        submit(w,
               &(struct world_job){
                   .queue = "A", .gang = "u1", .priority_class = "w10000"},
               one);
    world_round(w, ROUND_BALANCE, 0);
    set_cores(w, "n2", 4);
    *ret_u2 = submit_unit(w, "A", "u2", two);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, *ret_u1, one), 5);
    assert_int_equal(count_of(w, *ret_u2, two), 4);
}

static void tj_08_the_rightmost_makes_room_for_a_minimum(void **state)
{
    struct world *w = *state;
    struct gang_terms one = trainers(2, 5), two = trainers(2, 4),
                      four = trainers(2, 2);
    uint32_t u1, u2;

    make_two_units(w, &one, &two, &u1, &u2);
    uint32_t u4 = submit_unit(w, "A", "u4", &four);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(count_of(w, u1, &one), 5);
    assert_int_equal(count_of(w, u2, &two), 2);
    assert_int_equal(count_of(w, u4, &four), 2);
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        assert_int_equal(w->plan.decisions[i].group, 0);
    }
}

static void tj_09_one_after_the_other_makes_room_or_nobody(void **state)
{
    struct world *w = *state;
    struct gang_terms one = trainers(2, 5), two = trainers(2, 4),
                      four = trainers(4, 4), six = trainers(6, 6);
    uint32_t u1, u2;

    make_two_units(w, &one, &two, &u1, &u2);
    uint32_t u6 = submit_unit(w, "A", "u6", &six);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(w->preempted_count, 0);
    for (uint32_t i = 0; i < 6; i++) {
        world_end(w, u6 + i);
    }
    uint32_t u4 = submit_unit(w, "A", "u4", &four);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(count_of(w, u1, &one), 3);
    assert_int_equal(count_of(w, u2, &two), 2);
    assert_int_equal(count_of(w, u4, &four), 4);
}

static void tj_11_an_elastic_unit_gives_way_at_once(void **state)
{
    struct world *w = *state;
    struct gang_terms a = trainers(2, 60), b = trainers(2, 2);

    make_cfs(w, "A");
    set_cores(w, "n1", 10);
    uint32_t first = submit_unit(w, "A", "a", &a);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, first, &a), 10);
    uint32_t second = submit_unit(w, "A", "b", &b);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_of(w, first, &a), 8);
    assert_int_equal(count_of(w, second, &b), 2);
}

/* One slot, an Experiment unit that waits since 0, and a new unit each minute;
 * the minute in which the former starts, or `minutes`. */
static int64_t start_of_experiment(struct world *w, const char *class_name,
                                   int64_t minutes)
{
    struct gang_terms terms = trainers(1, 1);
    struct world_job job = {
        .queue = "A", .gang = "old", .priority_class = "w10"};

    add_levels(w);
    make_cfs(w, "A");
    set_cores(w, "n1", 1);
    uint32_t old = submit(w, &job, &terms);
    job.priority_class = class_name;
    for (int64_t minute = 0; minute < minutes; minute++) {
        char name[16];
        snprintf(name, sizeof(name), "u%d", (int)minute);
        job.gang = name;
        job.submitted_ms = minute * 60 * SECOND;
        uint32_t fresh = submit(w, &job, &terms);
        world_round(w, ROUND_BALANCE, job.submitted_ms);
        assert_int_equal(w->leased_count, 1);
        if (w->node_of[old] != SCHED_NONE) {
            return minute;
        }
        assert_true(w->node_of[fresh] != SCHED_NONE);
        world_end(w, fresh); /* it ran for its minute */
    }
    return minutes;
}

static void tj_20_experiment_starts_when_it_has_waited_long_enough(void **state)
{
    assert_int_equal(start_of_experiment(*state, "mid", 60), 30);
}

static void tj_20_it_waits_while_there_is_production(void **state)
{
    assert_int_equal(start_of_experiment(*state, "high", 60), 60);
}

/* Gangs that wait are in order whichever way the queue came to be cfs. */
static void a_queue_may_come_to_be_ordered_by_scores(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(1, 1);
    struct world_job job = {
        .queue = "A", .gang = "light", .priority_class = "w10"};

    add_levels(w);
    world_queue(w, "A", 1);
    uint32_t light = submit(w, &job, &terms);
    uint32_t heavy = submit_unit(w, "A", "heavy", &terms);
    struct world_job single = {
        .queue = "A", .priority_class = "w100", .submitted_ms = SECOND};
    uint32_t middle = world_submit(w, &single);
    make_cfs(w, "A");
    for (int i = 0; i < 3; i++) {
        uint32_t next[] = {heavy, middle, light};
        set_cores(w, "n1", i + 1);
        world_round(w, ROUND_FAST, SECOND);
        assert_string_equal(world_node_of(w, next[i]), "n1");
    }
    world_queue(w, "A", 1);
    assert_true(sched_is_consistent(w->sched));
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
    struct gang_terms one = trainers(1, 1), two = trainers(2, 2);
    struct world_job job = {.queue = "A", .gang = "a", .gpus = 1};
    struct sched_explanation why;

    set_quota(w, "A", "nvidia.com/gpu", 2000);
    world_node(w, &(struct world_node){"n1", .cores = 8, .gpus = 8});
    (void)submit(w, &job, &one);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 1);
    job.gang = "b";
    uint32_t b = submit(w, &job, &two);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(w->leased_count, 0);
    sched_explain(w->sched, b, SECOND, &why);
    assert_int_equal(why.wait, SCHED_WAIT_QUOTA);
    assert_int_equal(why.resource, 0);
    assert_int_equal(why.used, 1);
    assert_int_equal(why.limit, 2);
    job.gang = "c";
    uint32_t c = submit(w, &job, &one);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(count_of(w, c, &one), 1);
}

static void tj_16_each_pod_of_growth_is_within_the_quota(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = trainers(2, 8);

    set_quota(w, "A", "cpu", 5000);
    set_cores(w, "n1", 20);
    uint32_t unit = submit_unit(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_of(w, unit, &terms), 5);
    world_queue(w, "A", 1);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(count_of(w, unit, &terms), 8);
}

static void a_quota_is_of_all_pools_together(void **state)
{
    struct world *w = *state;

    w->policy.pools[1] = w->policy.pools[0];
    w->policy.pools[1].name = STR("other");
    w->policy.pool_count = 2;
    world_restart(w);
    set_quota(w, "A", "cpu", 5000);
    set_cores(w, "n1", 3);
    world_node(w, &(struct world_node){"m1", .cores = 8, .pool = "other"});
    world_submit_many(w, &(struct world_job){.queue = "A"}, 10);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 5);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 0);
}

/* Random units on one node. */

enum { UNITS = 12, CORES_MAX = 24, STEPS = 60 };

struct unit {
    struct gang_terms terms;
    uint32_t first;
    bool is_there;
    int64_t scaled_ms;
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static void note_scaling(const struct world *w, struct unit *units,
                         int64_t now_ms)
{
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *decision = &w->plan.decisions[i];
        for (uint32_t u = 0; decision->is_scaling && u < UNITS; u++) {
            uint32_t count = units[u].terms.sub_groups[0].max_count;
            if (units[u].is_there && decision->job >= units[u].first &&
                decision->job < units[u].first + count) {
                units[u].scaled_ms = now_ms;
            }
        }
    }
}

/* No unit is below its minimum, unless it is nowhere; and those that are would
 * not fit into what is free and what the others can spare. */
static void check_units(const struct world *w, const struct unit *units,
                        int64_t cores, int64_t now_ms)
{
    int64_t room = cores;
    uint32_t least = UINT32_MAX;

    for (uint32_t u = 0; u < UNITS; u++) {
        const struct sub_group *group = &units[u].terms.sub_groups[0];
        uint32_t count = 0;
        if (!units[u].is_there) {
            continue;
        }
        count = count_of(w, units[u].first, &units[u].terms);
        assert_true(count == 0 || count >= group->min_count);
        assert_true(count <= group->max_count);
        if (count == 0) {
            least = group->min_count < least ? group->min_count : least;
            continue;
        }
        bool is_frozen = now_ms - units[u].scaled_ms < WINDOW_MS;
        room -= is_frozen ? count : group->min_count;
    }
    assert_true(least == UINT32_MAX || room < (int64_t)least);
}

static void change_unit(struct world *w, struct unit *unit, uint32_t place,
                        uint64_t *seed)
{
    static const char *const ids[UNITS] = {"a", "b", "c", "d", "e", "f",
                                           "g", "h", "i", "j", "k", "l"};
    uint32_t min = 1 + draw(seed, 4);

    if (unit->is_there) {
        for (uint32_t i = 0; i < unit->terms.sub_groups[0].max_count; i++) {
            world_end(w, unit->first + i);
        }
        unit->is_there = false;
        return;
    }
    unit->terms = trainers(min, min + draw(seed, 6));
    unit->scaled_ms = -WINDOW_MS;
    unit->is_there = true;
    unit->first = submit_unit(w, "A", ids[place], &unit->terms);
}

/* Growth never delays a minimum, but for what is frozen; and a plan that is
 * made again at once has nothing to do. */
static void minimums_come_before_growth(void **state)
{
    struct world *w = *state;

    for (uint64_t round = 1; round <= 40; round++) {
        struct unit units[UNITS] = {0};
        uint64_t seed = round;
        world_restart(w);
        make_cfs(w, "A");
        for (int64_t step = 0; step < STEPS; step++) {
            int64_t now_ms = step * 40 * SECOND;
            uint32_t place = draw(&seed, UNITS);
            change_unit(w, &units[place], place, &seed);
            set_cores(w, "n1", CORES_MAX);
            world_round(w, ROUND_BALANCE, now_ms);
            note_scaling(w, units, now_ms);
            check_units(w, units, CORES_MAX, now_ms);
            world_round(w, ROUND_BALANCE, now_ms);
            assert_int_equal(w->leased_count, w->preempted_count);
            note_scaling(w, units, now_ms);
        }
        for (uint32_t u = 0; u < UNITS; u++) {
            if (units[u].is_there) {
                change_unit(w, &units[u], u, &seed);
            }
        }
    }
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(pg_02_a_group_grows_into_what_is_free),
        SCENARIO(pg_03_minimums_first_then_the_queue_of_the_lower_flow),
        SCENARIO(tj_07_growth_goes_round_from_the_left),
        SCENARIO(tj_22_offline_grows_before_experiment),
        SCENARIO(tj_10_one_pod_moves_then_both_are_frozen),
        SCENARIO(tj_12_a_unit_is_frozen_for_a_window_after_scaling),
        SCENARIO(a_checkpoint_carries_a_window_that_a_longer_one_prolongs),
        SCENARIO(tj_13_steps_are_due_every_five_seconds),
        SCENARIO(tj_14_growth_stops_at_the_load_ceiling),
        SCENARIO(tj_14_gpus_are_used_to_the_last),
        SCENARIO(tj_15_pods_of_others_that_find_no_node_count),
        SCENARIO(tj_17_gpu_units_go_first_on_gpu_nodes),
        SCENARIO(tj_19_growth_without_gpus_prefers_nodes_without),
        SCENARIO(tj_19_a_gpu_unit_that_waits_keeps_them_off),
        SCENARIO(tj_19_a_gang_that_starts_in_part_keeps_them_off),
        SCENARIO(um_06_growth_does_not_borrow),
        SCENARIO(um_10_growth_passes_admitted_work_and_makes_way),
        SCENARIO(um_10_growth_of_a_lifetime_makes_way_at_once),
        SCENARIO(um_10_endless_growth_makes_way_at_once),
        SCENARIO(a_second_step_without_change_does_nothing),
        SCENARIO(tj_21_a_waiting_unit_starts_by_its_new_level),
        SCENARIO(tj_21_a_running_unit_has_its_score_by_its_new_level),
        SCENARIO(growth_widens_a_domain_only_within_the_cap),
        SCENARIO(growth_of_whole_node_groups_takes_empty_nodes),
        SCENARIO(tj_08_the_rightmost_makes_room_for_a_minimum),
        SCENARIO(tj_09_one_after_the_other_makes_room_or_nobody),
        SCENARIO(tj_11_an_elastic_unit_gives_way_at_once),
        SCENARIO(tj_20_experiment_starts_when_it_has_waited_long_enough),
        SCENARIO(tj_20_it_waits_while_there_is_production),
        SCENARIO(a_queue_may_come_to_be_ordered_by_scores),
        SCENARIO(tj_16_a_gang_starts_only_within_the_quota),
        SCENARIO(tj_16_each_pod_of_growth_is_within_the_quota),
        SCENARIO(a_quota_is_of_all_pools_together),
        SCENARIO(minimums_come_before_growth),
    };
    return RUN_TESTS(tests);
}
