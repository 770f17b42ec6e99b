/* Earmarked nodes (model.md 6.10b, AR-13), at the planner. */
#include "world_fixture.h"

enum { AWAY_PRIORITY = 400, LOW_PRIORITY = 500 };

/* Class low (500) may go to nodes with taint `gpu`, at 400. */
static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    world->policy.node_types[0] = (struct node_type){
        .name = STR("gpu"),
        .taints = {{STR("gpu"), STR("*"), TAINT_ANY}},
        .taint_count = 1,
    };
    world->policy.node_type_count = 1;
    for (uint32_t c = 0; c < world->policy.class_count; c++) {
        struct priority_class *class_ = &world->policy.classes[c];
        if (str_equal(class_->name, STR("low"))) {
            class_->away[class_->away_count++] =
                (struct away_type){0, AWAY_PRIORITY};
        }
    }
    world_restart(world);
    return 0;
}

static const struct world_job low = {.queue = "A", .priority_class = "low"};
static const struct world_job fixed = {
    .queue = "B", .priority_class = "fixed", .cores = 8};
static const struct world_job gpu_job = {
    .queue = "C", .priority_class = "low", .cores = 4, .tolerated = "gpu"};

/* A cpu node, filled by others if so wanted, and an idle gpu node of 8. */
static void make_nodes(struct world *w, bool is_cpu_full)
{
    uint32_t cpu = world_node(w, &(struct world_node){"cpu", .cores = 8});

    world_node(w, &(struct world_node){"gpu", .cores = 8, .taint = "gpu"});
    if (is_cpu_full) {
        world_lease(w, world_submit(w, &fixed), cpu, 0);
    }
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

static void ar_13_low_work_uses_earmarked_nodes(void **state)
{
    struct world *w = *state;

    make_nodes(w, true);
    uint32_t first = world_submit_many(w, &low, 8);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, first, 8, "gpu"), 8);
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        assert_int_equal(w->plan.decisions[i].priority, AWAY_PRIORITY);
    }
    /* GPU work of the same class needs 4 cores: exactly 4 of them go. */
    uint32_t job = world_submit(w, &gpu_job);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 4);
    assert_string_equal(world_node_of(w, job), "gpu");
    assert_int_equal(count_on(w, first, 8, "gpu"), 4);
    world_round(w, ROUND_BALANCE, 2000);
    assert_int_equal(w->plan.decision_count, 0);
}

static void ar_13_stays_at_home_while_there_is_room(void **state)
{
    struct world *w = *state;

    make_nodes(w, false);
    uint32_t first = world_submit_many(w, &low, 8);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(count_on(w, first, 8, "cpu"), 8);
    /* The ninth finds none there. */
    uint32_t ninth = world_submit(w, &low);
    world_round(w, ROUND_BALANCE, 1000);
    assert_string_equal(world_node_of(w, ninth), "gpu");
    assert_int_equal(w->preempted_count, 0);
}

/* Also when nobody's share is exceeded, and for work of the same queue. */
static void ar_13_away_work_goes_by_urgency(void **state)
{
    struct world *w = *state;
    struct world_job own = gpu_job;

    w->policy.is_fair_share_preemption_off = true;
    own.queue = "A";
    make_nodes(w, true);
    world_submit_many(w, &low, 8);
    world_round(w, ROUND_FAST, 0);
    uint32_t job = world_submit(w, &own);
    world_round(w, ROUND_BALANCE, 1000);
    assert_string_equal(world_node_of(w, job), "gpu");
    assert_int_equal(w->preempted_count, 4);
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        if (w->plan.decisions[i].action == SCHED_PREEMPT) {
            assert_int_equal(w->plan.decisions[i].preemption,
                             SCHED_PREEMPT_URGENCY);
        }
    }
}

/* What is away does not push aside what is away, nor what is at home. */
static void ar_13_away_work_displaces_nobody(void **state)
{
    struct world *w = *state;

    make_nodes(w, true);
    uint32_t job = world_submit(w, &gpu_job);
    uint32_t other = world_submit(w, &gpu_job);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, job), "gpu");
    assert_string_equal(world_node_of(w, other), "gpu");
    uint32_t first = world_submit_many(w, &low, 8);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->plan.decision_count, 0);
    assert_int_equal(count_on(w, first, 8, ""), 8);
}

/* Only classes that list the type go there. */
static void ar_13_other_classes_stay_out(void **state)
{
    struct world *w = *state;

    make_nodes(w, true);
    uint32_t job = world_submit(
        w, &(struct world_job){.queue = "A", .priority_class = "mid"});
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, job), "");
}

/* A gang goes as far away as it must. */
static void ar_13_gang_runs_partly_away(void **state)
{
    struct world *w = *state;
    struct world_job member = low;

    make_nodes(w, false);
    member.gang = "g";
    member.cardinality = 3;
    member.cores = 5;
    uint32_t first = world_submit_many(w, &member, 3);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, first, 3, ""), 3);
    member.gang = "h";
    member.cardinality = 2;
    first = world_submit_many(w, &member, 2);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, first, 2, "cpu"), 1);
    assert_int_equal(count_on(w, first, 2, "gpu"), 1);
}

/* `explain` counts nodes that a job may go to as nodes like its own. */
static void ar_13_is_explained(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    make_nodes(w, true);
    uint32_t job = world_submit(w, &low);
    sched_explain(w->sched, job, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_TURN);
    assert_int_equal(why.nodes_fit, 1);
    assert_int_equal(why.nodes_excluded[SCHED_EXCLUDED_TAINT], 0);
}

/* Another policy makes and takes variants. */
static void ar_13_follows_the_policy(void **state)
{
    struct world *w = *state;
    struct policy without = w->policy;

    make_nodes(w, true);
    uint32_t job = world_submit(w, &low);
    for (uint32_t c = 0; c < without.class_count; c++) {
        without.classes[c].away_count = 0;
    }
    sched_policy_set(w->sched, &without);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, job), "");
    sched_policy_set(w->sched, &w->policy);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, job), "gpu");
}

/* Who takes a place away from another queue's away work, as urgent as itself
 * there, takes it for fairness. */
static void ar_13_away_work_takes_for_fairness(void **state)
{
    struct world *w = *state;

    make_nodes(w, true);
    world_submit_many(w, &low, 8);
    world_round(w, ROUND_FAST, 0);
    struct world_job other = low;
    other.queue = "D";
    uint32_t job = world_submit(w, &other);
    world_round(w, ROUND_BALANCE, 1000);
    assert_string_equal(world_node_of(w, job), "gpu");
    assert_int_equal(w->plan.decision_count, 2);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_FAIR_SHARE);
    assert_true(w->plan.decisions[1].is_by_share);
}

/* Away work is let past admitted work by how urgent it is away, not at home:
 * less than what nodes are kept for, it promises to go (model.md 2.9). */
static void ar_13_away_work_yields_to_what_is_more_urgent(void **state)
{
    struct world *w = *state;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    for (uint32_t c = 0; c < w->policy.class_count; c++) {
        w->policy.classes[c].away[0] = (struct away_type){0, AWAY_PRIORITY};
        w->policy.classes[c].away_count = w->policy.classes[c].is_preemptible;
    }
    world_restart(w);
    uint32_t cpu = world_node(w, &(struct world_node){"cpu", .cores = 8});
    uint32_t gpu =
        world_node(w, &(struct world_node){"gpu", .cores = 8, .taint = "gpu"});
    world_lease(w, world_submit(w, &fixed), cpu, 0);
    struct world_job run = fixed;
    run.cores = 4;
    run.deadline_s = 100;
    world_lease(w, world_submit(w, &run), gpu, 0);
    struct world_job big = gpu_job;
    big.cores = 8;
    uint32_t head = world_submit(w, &big);
    world_round(w, ROUND_FAST, 0);
    (void)world_submit(w, &(struct world_job){.queue = "A",
                                              .cores = 4,
                                              .priority_class = "mid",
                                              .lifetime_s = 30});
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].priority, AWAY_PRIORITY);
    assert_true(w->plan.decisions[0].is_backfilled);
    assert_int_equal(w->plan.decisions[0].revocable_for, head);
}

/* A queue is over its share with what runs away beside a job that holds all
 * GPUs of an earmarked node: that does not lose its place to its like that
 * waits (model.md 6.6 d). */
static void a_queue_takes_no_place_away_from_itself(void **state)
{
    struct world *w = *state;
    struct world_job both = gpu_job;
    uint32_t preempted_count = 0;

    both.gpus = 2;
    w->requeues = true;
    uint32_t gpu = world_node(
        w, &(struct world_node){"gpu", .cores = 16, .gpus = 2, .taint = "gpu"});
    world_lease(w, world_submit(w, &both), gpu, 0);
    (void)world_submit_many(w, &low, 40);
    for (int i = 0; i < 10; i++) {
        world_round(w, ROUND_BALANCE, 1000 * i);
        preempted_count += w->preempted_count;
    }
    assert_int_equal(world_running(w, "A"), 12);
    assert_int_equal(preempted_count, 0);
}

/* Of borrowers the one that is less urgent where it runs goes first,
 * however old: as what it may run away counts for all others too. */
static void ar_13_a_borrower_counts_as_where_it_runs(void **state)
{
    struct world *w = *state;
    struct world_job borrower = low;

    uint32_t node =
        world_node(w, &(struct world_node){"gpu", .cores = 2, .taint = "gpu"});
    borrower.is_borrowed = true;
    uint32_t away = world_submit(w, &borrower);
    sched_job_lease(w->sched, away, node, AWAY_PRIORITY, 0, false);
    w->node_of[away] = node;
    borrower.tolerated = "gpu";
    uint32_t younger = world_submit(w, &borrower);
    world_lease(w, younger, node, 1);
    struct world_job own = gpu_job;
    own.cores = 1;
    uint32_t job = world_submit(w, &own);
    world_round(w, ROUND_BALANCE, 1000);
    assert_string_equal(world_node_of(w, job), "gpu");
    assert_true(w->is_gone[away]);
    assert_string_equal(world_node_of(w, younger), "gpu");
}

/* In what order gangs grow (model.md 4.4) goes by their class, not by where
 * some of them run. */
static void a_group_that_runs_away_grows_in_its_turn(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct world_job pod = low;

    uint32_t cpu = world_node(w, &(struct world_node){"cpu", .cores = 2});
    uint32_t gpu =
        world_node(w, &(struct world_node){"gpu", .cores = 1, .taint = "gpu"});
    pod.gang = "older";
    uint32_t older = world_submit_group(w, &pod, &terms);
    sched_job_lease(w->sched, older, gpu, AWAY_PRIORITY, 0, false);
    w->node_of[older] = gpu;
    pod.gang = "younger";
    pod.submitted_ms = 1;
    uint32_t younger = world_submit_group(w, &pod, &terms);
    world_lease(w, younger, cpu, 0);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(world_running_of(w, younger, 2), 1);
    assert_int_equal(count_on(w, older, 2, "cpu"), 1);
}

/* A job of a priority that runs on a node since a time. */
static uint32_t run_at(struct world *w, const struct world_job *job,
                       uint32_t node, int32_t priority, int64_t leased_ms)
{
    uint32_t index = world_submit(w, job);

    sched_job_lease(w->sched, index, node, priority, leased_ms, false);
    w->node_of[index] = node;
    return index;
}

/* What a gang has on a node goes together, so it is no more urgent than the
 * least urgent of it, in whatever order the node was told of them. */
static void check_gang_partly_away(struct world *w, bool is_home_first)
{
    struct world_job one = low, other = low, four = gpu_job, urgent = gpu_job;

    w->policy.is_fair_share_preemption_off = true;
    uint32_t node =
        world_node(w, &(struct world_node){"gpu", .cores = 7, .taint = "gpu"});
    uint32_t old = run_at(w, &one, node, AWAY_PRIORITY, 0);
    uint32_t large = run_at(w, &four, node, LOW_PRIORITY, 5);
    one.gang = other.gang = "g";
    one.cardinality = other.cardinality = 2;
    (is_home_first ? &one : &other)->tolerated = "gpu";
    uint32_t first =
        run_at(w, &one, node, is_home_first ? LOW_PRIORITY : AWAY_PRIORITY, 10);
    run_at(w, &other, node, is_home_first ? AWAY_PRIORITY : LOW_PRIORITY, 10);
    urgent.priority_class = "high";
    urgent.cores = 5;
    uint32_t job = world_submit(w, &urgent);
    world_round(w, ROUND_BALANCE, 1000);
    assert_string_equal(world_node_of(w, job), "gpu");
    assert_true(w->is_gone[large]);
    assert_int_equal(world_running_of(w, first, 2), 0);
    assert_string_equal(world_node_of(w, old), "gpu");
}

static void a_gang_that_is_partly_away_goes_as_away(void **state)
{
    check_gang_partly_away(*state, true);
}

static void and_so_it_does_told_the_other_way_round(void **state)
{
    check_gang_partly_away(*state, false);
}

/* What had no room, at home or away, for one queue is not asked of another, so
 * it is not refused there for its costs, with all that is behind it: also where
 * surplus runs, but of no use to it. */
static void what_has_no_room_anywhere_is_not_refused(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct world_job large = low;

    w->policy.pools[0].excess_budget_minutes = 0;
    world_restart(w);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 9});
    world_node(w, &(struct world_node){"m", .cores = 3});
    struct world_job job = {"A", .priority_class = "fixed", .cores = 6};
    world_lease(w, world_submit(w, &job), n, 0);
    job = (struct world_job){"D", .priority_class = "fixed", .gang = "g"};
    uint32_t unit = world_submit_group(w, &job, &terms);
    world_lease(w, unit, n, 0);
    world_lease(w, unit + 1, n, 0);
    large.cores = 4; /* the share of B; A has more than its own already */
    large.lifetime_s = 240;
    large.queue = "B";
    world_submit(w, &large);
    large.queue = "A";
    world_submit(w, &large);
    job = low;
    job.lifetime_s = -1;
    job.submitted_ms = 1;
    uint32_t small = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->leased_count, 1);
    assert_int_equal(world_running_of(w, small, 1), 1);
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(ar_13_low_work_uses_earmarked_nodes),
        SCENARIO(ar_13_away_work_goes_by_urgency),
        SCENARIO(ar_13_stays_at_home_while_there_is_room),
        SCENARIO(ar_13_away_work_displaces_nobody),
        SCENARIO(ar_13_other_classes_stay_out),
        SCENARIO(ar_13_gang_runs_partly_away),
        SCENARIO(ar_13_is_explained),
        SCENARIO(ar_13_follows_the_policy),
        SCENARIO(ar_13_away_work_takes_for_fairness),
        SCENARIO(ar_13_away_work_yields_to_what_is_more_urgent),
        SCENARIO(a_queue_takes_no_place_away_from_itself),
        SCENARIO(a_group_that_runs_away_grows_in_its_turn),
        SCENARIO(what_has_no_room_anywhere_is_not_refused),
        SCENARIO(ar_13_a_borrower_counts_as_where_it_runs),
        SCENARIO(a_gang_that_is_partly_away_goes_as_away),
        SCENARIO(and_so_it_does_told_the_other_way_round),
    };

    return RUN_TESTS(tests);
}
