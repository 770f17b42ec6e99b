/* Why gangs and what is over a quota wait, and what would let them start. */
#include "world_fixture.h"

enum { SECOND = 1000 };

static struct sched_explanation why_of(struct world *w, uint32_t job,
                                       struct sched_need *ret_need)
{
    struct sched_explanation why;

    sched_explain_need(w->sched, job, 0, &why, ret_need);
    return why;
}

static void set_quota(struct world *w, const char *queue, int64_t cores)
{
    struct resource_amount item = {STR("cpu"), cores * 1000};

    world_queue_by(w, queue, &(struct queue_record){.quota = {&item, 1}});
}

static void set_budget(struct world *w, const char *queue, int64_t milli)
{
    struct queue_record record = {
        .name = str_of(queue),
        .priority_factor_micro = PRIORITY_FACTOR_ONE_MICRO,
        .over_share_ppm = QUEUE_LIMIT_BY_POOL,
        .excess_budget_milli = milli,
    };

    sched_queue_set(w->sched, world_queue(w, queue, 1), &record);
}

static int64_t cpu_of(const struct world *w, const struct resource_vec *v)
{
    return v->v[resource_column(&w->policy.schema, STR("cpu"))];
}

static void a_quota_says_by_how_much_it_is_too_small(void **state)
{
    struct world *w = *state;
    struct sched_need need;

    world_node(w, &(struct world_node){"n", .cores = 10});
    set_quota(w, "A", 5);
    (void)world_submit(w, &(struct world_job){.queue = "A", .cores = 4});
    world_round(w, ROUND_BALANCE, 0);
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 3});
    struct sched_explanation why = why_of(w, job, &need);
    assert_int_equal(why.wait, SCHED_WAIT_QUOTA);
    assert_int_equal(why.used, 4000);
    assert_int_equal(why.limit, 5000);
    assert_int_equal(why.asked_amount, 3000);
    assert_int_equal(need.kind, SCHED_NEED_QUOTA);
    assert_true(need.is_exact);
    assert_int_equal(cpu_of(w, &need.missing), 2000);
    set_quota(w, "A", 7);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, job), "n");
}

/* The rest of what runs ends, and still it could not start. */
static void a_quota_below_a_gangs_need_says_so(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("workers"), 4, 8, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct sched_need need;

    world_node(w, &(struct world_node){"n", .cores = 10});
    set_quota(w, "A", 3);
    uint32_t job = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    struct sched_explanation why = why_of(w, job, &need);
    assert_int_equal(why.wait, SCHED_WAIT_QUOTA);
    assert_int_equal(why.asked_amount, 4000);
    assert_int_equal(why.limit, 3000);
    assert_int_equal(need.kind, SCHED_NEED_QUOTA);
    assert_true(need.is_exact);
    assert_int_equal(cpu_of(w, &need.missing), 1000);
}

/* Two of three may start, and for these quota and limit would do. */
static void a_limit_that_holds_the_minimum_is_no_reason(void **state)
{
    struct world *w = *state;
    struct queue_limit limit = {
        .resource = STR("cpu"),
        .priority_class = STR("mid"),
        .fraction_ppm = 900000,
    };
    struct sched_need need;

    world_node(w, &(struct world_node){"a", .cores = 4});
    world_node(w, &(struct world_node){"b", .cores = 3});
    world_node(w, &(struct world_node){"c", .cores = 3});
    set_quota(w, "A", 9);
    uint32_t first = world_submit_many(w,
                                       &(struct world_job){.queue = "A",
                                                           .cores = 4,
                                                           .gang = "g",
                                                           .cardinality = 3,
                                                           .minimum = 2},
                                       3);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(why_of(w, first, &need).wait, SCHED_WAIT_GANG_CAPACITY);
    world_queue_by(w, "A",
                   &(struct queue_record){.limits = &limit, .limit_count = 1});
    assert_int_equal(why_of(w, first, &need).wait, SCHED_WAIT_GANG_CAPACITY);
    set_quota(w, "A", 7);
    struct sched_explanation why = why_of(w, first, &need);
    assert_int_equal(why.wait, SCHED_WAIT_QUOTA);
    assert_int_equal(why.asked_amount, 8000);
}

/* Masters and workers fit alone; of the large a sub-group lacks room. */
static void the_sub_group_that_lacks_room_is_named(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("masters"), 1, 1, .hops_max = HOPS_ANY},
                       {STR("workers"), 4, 4, .hops_max = HOPS_ANY}},
        .sub_group_count = 2,
    };
    struct sched_need need;

    world_node(w, &(struct world_node){"a", .cores = 2});
    world_node(w, &(struct world_node){"b", .cores = 1});
    uint32_t first = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    struct sched_explanation why = why_of(w, first, &need);
    assert_int_equal(why.wait, SCHED_WAIT_GANG_CAPACITY);
    assert_true(str_equal(why.sub_group, STR("workers")));
    assert_int_equal(why.present, 3);
    assert_int_equal(why.wanted, 4);
    /* With one core more each fits alone, and not all of them together. */
    world_node(w, &(struct world_node){"b", .cores = 2});
    why = why_of(w, first, &need);
    assert_int_equal(why.wait, SCHED_WAIT_GANG_CAPACITY);
    assert_int_equal(why.sub_group.byte_count, 0);
    assert_int_equal(why.present, 4);
    assert_int_equal(why.wanted, 5);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
    assert_int_equal(cpu_of(w, &need.missing), 1000);
}

/* A unit of 2 to 6 that runs with as many as fit; a spare one is asked. */
static uint32_t run_unit(struct world *w, const struct gang_terms *terms)
{
    uint32_t first = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "u"}, terms);

    world_round(w, ROUND_BALANCE, 0);
    for (uint32_t i = first; i < first + terms->sub_groups[0].max_count; i++) {
        if (w->node_of[i] == SCHED_NONE) {
            return i;
        }
    }
    fail_msg("nothing is spare");
    return SCHED_NONE;
}

static enum sched_wait growth_of(struct world *w, uint32_t job)
{
    struct sched_need need;
    struct sched_explanation why = why_of(w, job, &need);

    assert_int_equal(why.wait, SCHED_WAIT_GROWTH);
    return why.growth;
}

static void growth_that_waits_says_which_rule_keeps_it(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .freezing_window_ms = 300 * SECOND,
        .sub_groups = {{STR("trainer"), 2, 6, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct sched_need need;

    world_node(w, &(struct world_node){"n", .cores = 3});
    uint32_t spare = run_unit(w, &terms);
    assert_int_equal(growth_of(w, spare), SCHED_WAIT_CAPACITY);
    world_node(w, &(struct world_node){"n", .cores = 10});
    set_quota(w, "A", 3);
    assert_int_equal(growth_of(w, spare), SCHED_WAIT_QUOTA);
    assert_int_equal(why_of(w, spare, &need).used, 3000);
    set_quota(w, "A", 100);
    assert_int_equal(growth_of(w, spare), SCHED_WAIT_TURN);
    sched_gang_scaled(w->sched, spare, 5 * SECOND);
    assert_int_equal(growth_of(w, spare), SCHED_WAIT_FROZEN);
    assert_int_equal(why_of(w, spare, &need).until_ms, 305 * SECOND);
}

static void growth_says_what_the_next_pod_needs(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .freezing_window_ms = 300 * SECOND,
        .sub_groups = {{STR("trainer"), 2, 6, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct sched_need need;

    world_node(w, &(struct world_node){"n", .cores = 3});
    uint32_t spare = run_unit(w, &terms);
    (void)why_of(w, spare, &need);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
    assert_int_equal(cpu_of(w, &need.missing), 1000);
    world_node(w, &(struct world_node){"n", .cores = 10});
    set_quota(w, "A", 3);
    (void)why_of(w, spare, &need);
    assert_int_equal(need.kind, SCHED_NEED_QUOTA);
    assert_true(need.is_exact);
    assert_int_equal(cpu_of(w, &need.missing), 1000);
    set_quota(w, "A", 100);
    sched_gang_scaled(w->sched, spare, 5 * SECOND);
    (void)why_of(w, spare, &need);
    assert_int_equal(need.kind, SCHED_NEED_TIME);
    assert_true(need.is_exact);
    assert_int_equal(need.until_ms, 305 * SECOND);
}

/* Two of its queue would take what is new before it. */
static void what_others_take_first_is_counted_in(void **state)
{
    struct world *w = *state;
    struct sched_need need;

    world_node(w, &(struct world_node){"n", .cores = 4});
    (void)world_submit(w, &(struct world_job){.queue = "A", .cores = 4});
    world_round(w, ROUND_BALANCE, 0);
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A", .cores = 3}, 3);
    struct sched_explanation why = why_of(w, first + 2, &need);
    assert_int_equal(why.wait, SCHED_WAIT_CAPACITY);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
    assert_int_equal(cpu_of(w, &need.missing), 9000);
    set_quota(w, "A", 4);
    (void)why_of(w, first + 1, &need);
    assert_int_equal(need.kind, SCHED_NEED_QUOTA);
    assert_false(need.is_exact); /* nor is there room */
}

static void a_budget_says_by_how_much_it_is_too_small(void **state)
{
    struct world *w = *state;
    struct sched_need need;

    pool_policy_apply(&w->policy.pools[0], PROFILE_FLOW);
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 10});
    (void)world_submit(w, &(struct world_job){.queue = "B"});
    set_budget(w, "A", 20000);
    /* Half of the node is its share, and a fifth more is asked for, of what
     * weighs 20: 4 for half an hour. */
    uint32_t job = world_submit(
        w, &(struct world_job){
               .queue = "A", .cores = 7, .memory_gb = 28, .lifetime_s = 1800});
    struct sched_explanation why = why_of(w, job, &need);
    assert_int_equal(why.wait, SCHED_WAIT_BUDGET);
    assert_int_equal(need.kind, SCHED_NEED_BUDGET);
    assert_true(need.is_exact);
    assert_int_equal(need.base, 20000);
    int64_t enough = need.base + need.more;
    set_budget(w, "A", enough - 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, job), "");
    set_budget(w, "A", enough);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, job), "n");
    assert_in_range(enough, 120000 - 1, 120000 + 1);
}

static void a_limit_on_applications_says_how_many_more(void **state)
{
    struct world *w = *state;
    struct sched_need need;

    world_node(w, &(struct world_node){"n", .cores = 10});
    world_queue_by(w, "A", &(struct queue_record){.running_apps_max = 1});
    uint32_t jobs[4];
    for (uint32_t i = 0; i < 4; i++) {
        static const char *const apps[] = {"a", "b", "c", "d"};
        jobs[i] = world_submit(
            w, &(struct world_job){.queue = "A", .application = apps[i]});
    }
    world_round(w, ROUND_BALANCE, 0);
    struct sched_explanation why = why_of(w, jobs[3], &need);
    assert_int_equal(why.wait, SCHED_WAIT_APP_LIMIT);
    assert_int_equal(need.kind, SCHED_NEED_APPS);
    assert_true(need.is_exact);
    assert_int_equal(need.base, 1);
    assert_int_equal(need.more, 3);
}

static void growth_above_the_load_ceiling_says_so(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("trainer"), 2, 6, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct sched_need need;

    w->policy.pools[0].load_max_ppm = FRACTION_ONE_PPM / 2;
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t spare = run_unit(w, &terms);
    assert_int_equal(growth_of(w, spare), SCHED_WAIT_LOAD);
    struct sched_explanation why = why_of(w, spare, &need);
    assert_int_equal(why.used, 4000);
    assert_int_equal(why.limit, 4000);
}

/* It grows where it runs, and no rule of a pool speaks of that place. */
static void growth_where_the_pool_is_gone_has_no_nodes(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("trainer"), 2, 6, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    world_node(w, &(struct world_node){"n", .cores = 3});
    uint32_t spare = run_unit(w, &terms);
    world_node(w, &(struct world_node){"n", .cores = 3, .pool = "gone"});
    world_node(w, &(struct world_node){"m", .cores = 8});
    assert_int_equal(growth_of(w, spare), SCHED_WAIT_NO_NODES);
}

/* Nodes that could hold it are there, and take no work for now. */
static void nodes_in_quarantine_are_not_too_small(void **state)
{
    struct world *w = *state;
    struct sched_need need;

    world_node(w, &(struct world_node){"a", .cores = 2});
    world_node(w,
               &(struct world_node){"b", .cores = 8, .is_unschedulable = true});
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 6});
    uint32_t huge =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 20});
    struct sched_explanation why = why_of(w, job, &need);
    assert_int_equal(why.wait, SCHED_WAIT_CLOSED);
    assert_int_equal(why.closed_count, 1);
    assert_int_equal(why_of(w, huge, &need).wait, SCHED_WAIT_NEVER_FITS);
    sched_executor_set(w->sched, STR("e"), false);
    assert_int_equal(why_of(w, job, &need).wait, SCHED_WAIT_CLOSED);
    assert_int_equal(why_of(w, huge, &need).wait, SCHED_WAIT_NO_NODES);
}

/* Of pools that are alike that of the first name is told of, whichever was
 * known first. */
static void a_gang_that_is_too_large_is_told_of_in_the_first_pool(void **state)
{
    struct world *w = *state;
    struct sched_gang_over_share gang_over_share;

    w->policy.pools[1] = (struct pool_policy){
        .name = STR("another"),
        .protected_fraction_ppm = FRACTION_ONE_PPM,
    };
    w->policy.pool_count = 2;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 4});
    world_node(w, &(struct world_node){"b", .cores = 4, .pool = "another"});
    world_submit_many(w, &(struct world_job){.queue = "B"}, 8);
    uint32_t job = world_submit_many(
        w, &(struct world_job){.queue = "A", .gang = "g", .cardinality = 3}, 3);
    assert_true(sched_gang_is_over_share(w->sched, job, &gang_over_share));
    assert_true(str_equal(gang_over_share.pool, STR("another")));
    assert_true(gang_over_share.part > gang_over_share.kept);
}

/* Node a is all free: it cannot have more, though a larger one would do. */
static void what_is_named_is_a_node_that_could_have_the_room(void **state)
{
    struct world *w = *state;
    struct sched_need need;
    uint32_t gang = SCHED_NONE;

    world_node(w, &(struct world_node){"a", .cores = 4});
    uint32_t b = world_node(w, &(struct world_node){"b", .cores = 8});
    world_node(w, &(struct world_node){"c", .cores = 8});
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "B", .cores = 6, .priority_class = "fixed"});
    world_lease(w, other, b, 0);
    for (int i = 0; i < 4; i++) {
        gang = world_submit(
            w, &(struct world_job){
                   .queue = "A", .cores = 3, .gang = "g", .cardinality = 4});
    }
    (void)why_of(w, gang, &need);
    assert_int_equal(need.kind, SCHED_NEED_ROOM);
    assert_true(need.is_exact);
    assert_int_equal(need.node, b);
    assert_int_equal(cpu_of(w, &need.missing), 1000);
}

/* Of a gang all that waits starts at once, so that the limits are asked for all
 * of it, and not for one. */
static void a_limit_on_starts_is_asked_for_the_whole_gang(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;
    uint32_t job = SCHED_NONE;

    w->policy.rate_per_queue = (struct rate_limit){1000, 2};
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 9});
    (void)world_submit(w, &(struct world_job){.queue = "A", .cores = 1});
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 1);
    for (int i = 0; i < 2; i++) {
        job = world_submit(
            w, &(struct world_job){
                   .queue = "A", .cores = 1, .gang = "g", .cardinality = 2});
    }
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 0);
    sched_explain(w->sched, job, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_QUEUE_RATE);
    assert_int_equal(why.until_ms, SECOND);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(w->leased_count, 2);
}

static struct sched_explanation explanation_of(struct world *w, uint32_t job,
                                               int64_t now_ms)
{
    struct sched_explanation why;

    sched_explain(w->sched, job, now_ms, &why);
    return why;
}

static uint32_t submit_cores(struct world *w, int64_t cores)
{
    return world_submit(w, &(struct world_job){.queue = "A", .cores = cores});
}

/* What keeps a gang from starting keeps what is behind it, though there would
 * be starts enough for that. */
static void who_is_refused_a_start_is_named_to_those_behind(void **state)
{
    struct world *w = *state;
    uint32_t gang = SCHED_NONE;

    w->policy.rate_per_queue = (struct rate_limit){1000, 2};
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 9});
    (void)submit_cores(w, 1);
    world_round(w, ROUND_BALANCE, 0);
    for (int i = 0; i < 2; i++) {
        gang = world_submit(
            w, &(struct world_job){
                   .queue = "A", .cores = 1, .gang = "g", .cardinality = 2});
    }
    uint32_t behind = submit_cores(w, 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 0);
    struct sched_explanation why = explanation_of(w, behind, 0);
    assert_int_equal(why.wait, SCHED_WAIT_QUEUE_RATE);
    assert_int_equal(why.behind, gang); /* stands for all of it */
    assert_int_equal(why.until_ms, SECOND);
    /* A second later the note is not true any more. */
    why = explanation_of(w, behind, SECOND);
    assert_int_equal(why.wait, SCHED_WAIT_TURN);
    assert_int_equal(why.behind, SCHED_NONE);
}

/* A round counts what it looks at, which is one for all that are alike. */
static void the_round_says_whom_it_did_not_look_at(void **state)
{
    struct world *w = *state;

    w->policy.lookback_max = 2;
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 3});
    for (int i = 0; i < 3; i++) {
        (void)submit_cores(w, 4);
    }
    uint32_t job = submit_cores(w, 1);
    assert_int_equal(explanation_of(w, job, 0).wait, SCHED_WAIT_TURN);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, job), "n");
    (void)submit_cores(w, 5);
    job = submit_cores(w, 2);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, job), "");
    assert_int_equal(explanation_of(w, job, 1).wait, SCHED_WAIT_LOOKBACK);
    assert_int_equal(explanation_of(w, job, 1).ahead, 4);
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "A", .cores = 2, .priority_class = "high"});
    assert_int_equal(explanation_of(w, urgent, 1).wait, SCHED_WAIT_TURN);
}

/* Each member has room, and not both: only the round finds that out, and what
 * it found holds as long as nothing changes. */
static void a_gang_that_fits_one_by_one_waits_for_room(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "A", .gang = "g", .cardinality = 2};
    struct sched_explanation why;

    world_node(w, &(struct world_node){"n", .cores = 3});
    member.cores = 3;
    (void)world_submit(w, &member);
    member.cores = 1;
    uint32_t small = world_submit(w, &member);
    why = explanation_of(w, small, 0);
    assert_int_equal(why.wait, SCHED_WAIT_TURN);
    world_round(w, ROUND_BALANCE, 0);
    why = explanation_of(w, small, 0);
    assert_int_equal(why.wait, SCHED_WAIT_GANG_CAPACITY);
    assert_int_equal(why.present, 2);
    assert_int_equal(why.wanted, 2);
    world_node(w, &(struct world_node){"o", .cores = 1});
    why = explanation_of(w, small, 0);
    assert_int_equal(why.wait, SCHED_WAIT_TURN);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 2);
}

/* A gang stands by its last member, and so do the others. */
static void a_gang_is_behind_who_came_before_its_last(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "A", .cores = 1, .gang = "g", .cardinality = 2};

    w->policy.lookback_max = 1;
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 3});
    member.submitted_ms = 1;
    uint32_t early = world_submit(w, &member);
    (void)world_submit(
        w, &(struct world_job){.queue = "A", .cores = 4, .submitted_ms = 2});
    member.submitted_ms = 3;
    (void)world_submit(w, &member);
    world_round(w, ROUND_BALANCE, 4);
    assert_int_equal(w->leased_count, 0);
    struct sched_explanation why = explanation_of(w, early, 4);
    assert_int_equal(why.wait, SCHED_WAIT_LOOKBACK);
    assert_int_equal(why.ahead, 1);
}

/* Nobody is let past what is admitted. */
static void a_strict_pool_names_who_is_admitted(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].is_strict = true;
    w->policy.pools[0].admitted_window = 1;
    w->policy.pools[0].admitted_window_per_queue = 1;
    world_restart(w);
    world_node(w, &(struct world_node){"m", .cores = 1});
    world_node(w, &(struct world_node){"n", .cores = 3});
    (void)submit_cores(w, 2);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t first = submit_cores(w, 2);
    uint32_t behind = submit_cores(w, 1);
    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, behind), "");
    struct sched_explanation why = explanation_of(w, behind, 1);
    assert_int_equal(why.wait, SCHED_WAIT_ADMITTED_FIRST);
    assert_int_equal(why.for_job, first);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_quota_says_by_how_much_it_is_too_small),
        CASE(a_quota_below_a_gangs_need_says_so),
        CASE(a_limit_that_holds_the_minimum_is_no_reason),
        CASE(the_sub_group_that_lacks_room_is_named),
        CASE(growth_that_waits_says_which_rule_keeps_it),
        CASE(a_limit_on_starts_is_asked_for_the_whole_gang),
        CASE(who_is_refused_a_start_is_named_to_those_behind),
        CASE(the_round_says_whom_it_did_not_look_at),
        CASE(a_gang_that_fits_one_by_one_waits_for_room),
        CASE(a_gang_is_behind_who_came_before_its_last),
        CASE(a_strict_pool_names_who_is_admitted),
        CASE(growth_says_what_the_next_pod_needs),
        CASE(what_is_named_is_a_node_that_could_have_the_room),
        CASE(what_others_take_first_is_counted_in),
        CASE(a_budget_says_by_how_much_it_is_too_small),
        CASE(a_limit_on_applications_says_how_many_more),
        CASE(growth_above_the_load_ceiling_says_so),
        CASE(growth_where_the_pool_is_gone_has_no_nodes),
        CASE(nodes_in_quarantine_are_not_too_small),
        CASE(a_gang_that_is_too_large_is_told_of_in_the_first_pool),
    };

    return RUN_TESTS(tests);
}
