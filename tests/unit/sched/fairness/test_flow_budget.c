/* What lifetimes above the share are charged: scenarios FL-13 to FL-16 and
 * UM-09 (model.md 8). */
#include "flow_fixture.h"
#include "sched/fairness/limits.h"

/* Share 40 of 100 for A, which uses `cores`, with a budget. */
static uint32_t fill_budget(struct world *w, int64_t cores, int64_t minutes)
{
    struct queue_record record = queue_record_plain(STR("A"));

    world_restart(w);
    uint32_t queue = world_queue(w, "A", 1);
    record.priority_factor_micro = 3 * PRIORITY_FACTOR_ONE_MICRO;
    record.excess_budget_milli = minutes * 1000;
    sched_queue_set(w->sched, queue, &record);
    world_queue(w, "B", 2);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 100});
    flow_run_job(w, "B", 1, node, 0);
    for (int64_t left = cores; left > 0; left -= left < 16 ? left : 16) {
        flow_run_job(w, "A", left < 16 ? left : 16, node, 0);
    }
    return node;
}

static uint32_t make_budget(struct world *w, int64_t cores, int64_t minutes)
{
    flow_use(w, 10);
    return fill_budget(w, cores, minutes);
}

static uint32_t submit_for(struct world *w, int64_t minutes, int64_t cores)
{
    return world_submit(w, &(struct world_job){"A", .lifetime_s = minutes * 60,
                                               .cores = cores});
}

static double budget_left(struct world *w)
{
    return flow_stats(w, "A").budget_left_minutes;
}

static void fl_13_lifetimes_above_the_share_are_charged(void **state)
{
    struct world *w = *state;

    make_budget(w, 40, 600);
    assert_near(flow_stats(w, "A").fair_share, 0.4);
    uint32_t first = submit_for(w, 30, 10);
    uint32_t second = submit_for(w, 60, 6);
    uint32_t third = submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(flow_is_waiting(w, first));
    assert_near(budget_left(w), 300);
    assert_true(flow_is_waiting(w, second));
    assert_true(flow_is_waiting(w, third)); /* behind it */
    world_end(w, second);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(flow_is_waiting(w, third));
    assert_near(budget_left(w), 0);
    world_end(w, first);
    assert_near(budget_left(w), 300);
}

static void fl_14_work_of_no_lifetime_is_free(void **state)
{
    struct world *w = *state;

    make_budget(w, 39, 0);
    uint32_t job = world_submit(w, &(struct world_job){"A", .cores = 60});
    world_round(w, ROUND_BALANCE, 0);
    assert_false(flow_is_waiting(w, job));
    assert_near(budget_left(w), 0);
}

static void fl_15_only_the_part_above_the_share_counts(void **state)
{
    struct world *w = *state;

    make_budget(w, 36, 600);
    uint32_t job = submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(flow_is_waiting(w, job));
    assert_near(budget_left(w), 420);
}

static void fl_16_what_was_charged_is_given_back(void **state)
{
    struct world *w = *state;

    make_budget(w, 36, 600);
    uint32_t job = submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_near(budget_left(w), 420);
    for (uint32_t i = 1; i < 3; i++) {
        world_end(w, i); /* 16 cores each */
    }
    assert_near(budget_left(w), 420);
    world_end(w, job);
    assert_true(budget_left(w) == 600);
}

static void a_deadline_before_the_lifetime_is_charged(void **state)
{
    struct world *w = *state;

    make_budget(w, 40, 600);
    world_submit(w, &(struct world_job){"A", .lifetime_s = 60 * 60,
                                        .deadline_s = 30 * 60, .cores = 10});
    world_round(w, ROUND_BALANCE, 0);
    assert_near(budget_left(w), 300);
}

static void charges_stay_when_shares_shrink(void **state)
{
    struct world *w = *state;

    make_budget(w, 36, 600);
    submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    world_queue(w, "C", 1);
    world_submit(w, &(struct world_job){"C", .cores = 100});
    assert_true(flow_stats(w, "A").fair_share < 0.4);
    assert_near(budget_left(w), 420);
}

static void an_absurd_budget_is_a_large_one(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    flow_pool(w)->excess_budget_minutes = 1000000000;
    flow_make_pool(w, 100);
    assert_true(flow_stats(w, "A").budget_left_minutes > 1e8);
}

static void an_explanation_names_the_budget(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    make_budget(w, 40, 600);
    submit_for(w, 30, 10);
    uint32_t second = submit_for(w, 60, 6);
    uint32_t third = submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    sched_explain(w->sched, second, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_BUDGET);
    assert_near(why.asked, 360);
    assert_near(why.allowed, 300);
    assert_int_equal(why.behind, SCHED_NONE);
    sched_explain(w->sched, third, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_BUDGET);
    assert_int_equal(why.behind, second);
}

/* A uses its share of 40 with a budget; B, 51 and waits for 20 more, reserved
 * at 100 minutes.  A's job of 4 for 30 minutes. */
static uint32_t make_um_09(struct world *w, int64_t minutes)
{
    flow_use(w, 10);
    flow_pool(w)->admitted_window = flow_pool(w)->admitted_window_per_queue = 1;
    flow_pool(w)->is_strict = false;
    uint32_t node = fill_budget(w, 40, minutes);
    uint32_t first =
        world_submit(w, &(struct world_job){"B", "fixed", .cores = 50,
                                            .deadline_s = 100 * 60});
    world_lease(w, first, node, 0);
    sched_job_age_from(w->sched, first, 0);
    uint32_t head = world_submit(w, &(struct world_job){"B", .cores = 20});
    world_round(w, ROUND_BALANCE, 0);
    struct sched_admission admission;
    assert_true(sched_job_admission(w->sched, head, &admission));
    assert_int_equal(admission.start_ms, 100 * MINUTE);
    uint32_t job = submit_for(w, 30, 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(flow_is_waiting(w, head));
    return job;
}

static void um_09_a_budget_refuses_what_backfill_allows(void **state)
{
    struct world *w = *state;
    struct sched_admission ignored;

    uint32_t refused = make_um_09(w, 100);
    assert_true(flow_is_waiting(w, refused));
    assert_false(sched_job_admission(w->sched, refused, &ignored));
    uint32_t allowed = make_um_09(w, 120);
    assert_false(flow_is_waiting(w, allowed));
    assert_near(budget_left(w), 0);
}

/* What is admitted counts as used, and is charged, until it is given up. */
static void admitted_work_is_used_and_charged(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    flow_pool(w)->admitted_window = flow_pool(w)->admitted_window_per_queue = 1;
    fill_budget(w, 40, 600);
    uint32_t head = submit_for(w, 10, 59); /* 59 are free */
    flow_run_job(w, "B", 9, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(flow_is_waiting(w, head));
    assert_near(flow_stats(w, "A").usage_share, 0.99);
    assert_near(flow_stats(w, "A").actual_share, 0.4);
    assert_near(budget_left(w), 10);
    assert_near(flow_stats(w, "A").flow, 0.99);
    world_end(w, w->job_count - 1);
    world_round(w, ROUND_BALANCE, MINUTE);
    assert_false(flow_is_waiting(w, head));
    assert_near(budget_left(w), 10);
    assert_near(flow_stats(w, "A").flow, 0.99);
    world_end(w, head);
    assert_true(budget_left(w) == 600);
}

/* Flows and charges survive a checkpoint, to the bit. */
static void flows_and_charges_are_packed(void **state)
{
    struct world *w = *state;
    auto_strbuf before = {0};
    auto_strbuf after = {0};

    make_budget(w, 36, 600);
    submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    sched_set_time(w->sched, 3 * MINUTE);
    world_end(w, 2);
    sched_set_time(w->sched, 5 * MINUTE);
    struct sched_queue_stats old = flow_stats(w, "A");
    sched_history_pack(w->sched, &before);
    struct sched *saved = w->sched;
    w->sched = sched_create(&w->policy);
    world_forget_classes(w); /* they are the other state's */
    sched_set_time(w->sched, 5 * MINUTE);
    struct queue_record record = queue_record_plain(STR("A"));
    record.priority_factor_micro = 3 * PRIORITY_FACTOR_ONE_MICRO;
    record.excess_budget_milli = 600 * 1000;
    sched_queue_set(w->sched, 0, &record);
    world_queue(w, "B", 2);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 100});
    for (uint32_t i = 0; i < w->job_count; i++) {
        if (!w->is_gone[i]) {
            struct sched_job job = world_record(w, i);
            job.queue = flow_queue(w, w->records[i].queue);
            sched_job_add(w->sched, i, &job);
            sched_job_lease(w->sched, i, node, 1000, 5 * MINUTE, false);
        }
    }
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&before)), 0);
    struct sched_queue_stats now = flow_stats(w, "A");
    assert_true(now.flow == old.flow);
    assert_true(now.flow > now.usage_share);
    assert_true(now.budget_left_minutes == old.budget_left_minutes);
    sched_history_pack(w->sched, &after);
    assert_true(str_equal(strbuf_str(&after), strbuf_str(&before)));
    sched_destroy(saved);
}

/* What is admitted no longer is charged no longer, in the same round (model.md
 * 2.16). */
static void a_dismissed_job_gives_its_charge_back_at_once(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].excess_budget_minutes = 1;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    uint32_t big = world_node(w, &(struct world_node){"big", .cores = 8});
    world_node(w, &(struct world_node){"small", .cores = 2});
    uint32_t running = world_submit(
        w, &(struct world_job){
               .queue = "R", .cores = 8, .priority_class = "fixed"});
    world_lease(w, running, big, 0);
    world_submit(w, &(struct world_job){.queue = "R", .cores = 9});
    world_submit(
        w, &(struct world_job){.queue = "Q", .cores = 8, .lifetime_s = 100});
    world_round(w, ROUND_FAST, 0); /* admitted, for all of the budget */
    sched_node_remove(w->sched, big);
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "Q", .cores = 2, .lifetime_s = 60, .submitted_ms = 1});
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, other), "small");
}

/* What an admitted gang goes without is charged no longer, in the same round
 * (model.md 2.7). */
static void what_a_gang_goes_without_is_not_charged(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "Q",
                               .gang = "g",
                               .cores = 5,
                               .lifetime_s = 60,
                               .cardinality = 2,
                               .minimum = 1};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    /* Of 10 cores Q is due 5: the gang is charged for 5 and a minute, which is
     * the budget; half of it remains when it has started with one. */
    w->policy.pools[0].excess_budget_minutes = 1;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "S", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    struct world_job run = {
        .queue = "S", .cores = 6, .priority_class = "fixed"};
    uint32_t first = world_submit(w, &run);
    world_lease(w, first, n, 0);
    world_submit(w, &(struct world_job){.queue = "S", .cores = 11});
    world_submit_many(w, &member, 2);
    world_round(w, ROUND_FAST, 0);
    struct world_job last = {.queue = "Q", .cores = 2, .lifetime_s = 60};
    uint32_t of_q = world_submit(w, &last);
    world_end(w, first);
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "S", .cores = 2}),
                n, 0);
    world_round(w, ROUND_FAST, 0); /* one of 5 starts, and 3 are left */
    assert_string_equal(world_node_of(w, of_q), "n");
}

/* Work of lifetime 0 is never limited (model.md 2.7), nor is any within the
 * share, whatever was booked beyond the budget by then. */
static void what_costs_nothing_needs_no_budget(void **state)
{
    const struct limits limits = {
        .over_share_ppm = POLICY_OFF, .budget_max = 10, .budget_left = -1};
    struct limit_question question = {.limits = &limits};

    (void)state;
    assert_int_equal(limits_answer(&question), LIMIT_NONE);
    question.charge = 1;
    assert_int_equal(limits_answer(&question), LIMIT_BUDGET);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(fl_13_lifetimes_above_the_share_are_charged),
        CASE(fl_14_work_of_no_lifetime_is_free),
        CASE(fl_15_only_the_part_above_the_share_counts),
        CASE(fl_16_what_was_charged_is_given_back),
        CASE(a_deadline_before_the_lifetime_is_charged),
        CASE(charges_stay_when_shares_shrink),
        CASE(an_absurd_budget_is_a_large_one),
        CASE(an_explanation_names_the_budget),
        CASE(um_09_a_budget_refuses_what_backfill_allows),
        CASE(admitted_work_is_used_and_charged),
        CASE(flows_and_charges_are_packed),
        CASE(a_dismissed_job_gives_its_charge_back_at_once),
        CASE(what_a_gang_goes_without_is_not_charged),
        CASE(what_costs_nothing_needs_no_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
