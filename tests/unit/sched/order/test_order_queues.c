/* Orderings beside one another, and what an application is: scenarios SA-09 to
 * SA-15. */
#include <string.h>

#include "order_fixture.h"

static uint32_t ask_opted_out(struct world *w, const char *app, int64_t at_ms)
{
    sched_set_time(w->sched, at_ms);
    return world_submit(w, &(struct world_job){
                               .queue = "Q",
                               .application = app,
                               .submitted_ms = at_ms,
                               .has_stateaware_off = true,
                           });
}

static void sa_09_opts_out_where_the_queue_allows_it(void **state)
{
    struct world *w = *state;

    world_queue_by(w, "Q",
                   &(struct queue_record){.ordering = QUEUE_BY_STATEAWARE,
                                          .allows_stateaware_off = true});
    order_node(w, 10);
    ask_opted_out(w, "App1", 1);
    uint32_t d2 = order_ask(w, "App2", 2);
    order_round(w, 3);
    assert_int_equal(w->leased_count, 1);
    assert_int_equal(order_state_of(w, "App1", 3), SCHED_APP_RUNNING);
    assert_int_equal(w->plan.next_wake_ms, 3);
    order_round(w, 3);
    assert_true(order_has_node(w, d2));
    assert_int_equal(order_state_of(w, "App2", 3), SCHED_APP_STARTING);
}

static void sa_09_opts_out_nowhere_else(void **state)
{
    struct world *w = *state;

    order_node(w, 10);
    ask_opted_out(w, "App1", 1);
    uint32_t d2 = order_ask(w, "App2", 2);
    order_round(w, 3);
    assert_int_equal(order_state_of(w, "App1", 3), SCHED_APP_STARTING);
    order_round(w, 4);
    assert_false(order_has_node(w, d2));
}

static void sa_10_orders_each_queue_by_itself(void **state)
{
    struct world *w = *state;
    static const char *const IDS[] = {"1", "2", "3", "4", "5"};

    world_queue_by(w, "F", &(struct queue_record){.ordering = QUEUE_BY_FIFO});
    order_node(w, 100);
    for (uint32_t i = 0; i < 5; i++) {
        order_ask(w, IDS[i], i);
        world_submit(w, &(struct world_job){.queue = "F",
                                            .application = IDS[i],
                                            .submitted_ms = i});
    }
    order_round(w, 10);
    assert_int_equal(world_running(w, "Q"), 1);
    assert_int_equal(world_running(w, "F"), 5);
}

static void sa_11_counts_the_members_of_a_gang(void **state)
{
    struct world *w = *state;

    order_node(w, 100);
    world_submit_many(w,
                      &(struct world_job){.queue = "Q",
                                          .application = "App1",
                                          .gang = "g",
                                          .cardinality = 4,
                                          .submitted_ms = 1},
                      4);
    uint32_t d2 = order_ask(w, "App2", 2);
    order_round(w, 3);
    assert_int_equal(order_state_of(w, "App1", 3), SCHED_APP_RUNNING);
    assert_true(order_has_node(w, d2));
}

static void sa_12_comes_back_while_completing(void **state)
{
    struct world *w = *state;

    order_node(w, 10);
    uint32_t d1 = order_ask(w, "App1", 0);
    order_round(w, 0);
    sched_set_time(w->sched, SECOND);
    world_end(w, d1);
    assert_int_equal(order_state_of(w, "App1", SECOND), SCHED_APP_COMPLETING);
    order_ask(w, "App1", SECOND + 29 * SECOND);
    assert_int_equal(order_state_of(w, "App1", 30 * SECOND), SCHED_APP_RUNNING);
    order_round(w, 31 * SECOND);
    assert_int_equal(w->leased_count, 1);
}

static void sa_12_completes_and_expires(void **state)
{
    struct world *w = *state;

    order_node(w, 10);
    uint32_t d1 = order_ask(w, "App1", 0);
    order_round(w, 0);
    world_end(w, d1);
    assert_int_equal(order_state_of(w, "App1", 30 * SECOND - 1),
                     SCHED_APP_COMPLETING);
    assert_int_equal(order_state_of(w, "App1", 30 * SECOND),
                     SCHED_APP_COMPLETED);
    int64_t end_ms = 30 * SECOND + 72 * HOUR;
    assert_int_equal(order_state_of(w, "App1", end_ms - 1),
                     SCHED_APP_COMPLETED);
    assert_int_equal(order_state_of(w, "App1", end_ms), SCHED_APP_NEW);
    sched_set_time(w->sched, end_ms - 1);
    assert_int_equal(order_state_of(w, "App1", end_ms - 1),
                     SCHED_APP_COMPLETED);
    sched_set_time(w->sched, end_ms);
    assert_int_equal(order_state_of(w, "App1", end_ms - 1), SCHED_APP_NEW);
}

static void sa_13_passes_over_a_withdrawn_application(void **state)
{
    struct world *w = *state;

    order_node(w, 10);
    uint32_t d1 = order_ask(w, "App1", 1);
    uint32_t d2 = order_ask(w, "App2", 2);
    sched_set_time(w->sched, 3);
    world_end(w, d1);
    assert_int_equal(order_state_of(w, "App1", 3), SCHED_APP_COMPLETING);
    order_round(w, 4);
    assert_true(order_has_node(w, d2));
}

static void sa_14_separates_applications_of_a_job_set(void **state)
{
    struct world *w = *state;

    order_node(w, 10);
    uint32_t a = order_ask(w, "a", 1);
    uint32_t b = order_ask(w, "b", 1);
    order_round(w, 2);
    assert_true(order_has_node(w, a));
    assert_false(order_has_node(w, b));
    assert_int_equal(order_state_of(w, "a", 2), SCHED_APP_STARTING);
    assert_int_equal(order_state_of(w, "b", 2), SCHED_APP_ACCEPTED);
}

static void sa_15_fair_gives_to_the_smallest_share(void **state)
{
    struct world *w = *state;
    static const char EXPECTED[] = "YYYXYXYX";

    world_queue_by(w, "Q", &(struct queue_record){.ordering = QUEUE_BY_FAIR});
    order_node(w, 25);
    for (uint32_t i = 0; i < 5; i++) {
        world_lease(w, order_ask(w, i < 4 ? "X" : "Y", i), 0, i);
    }
    for (uint32_t i = 0; i < 10; i++) {
        order_ask(w, "X", 10 + i);
        order_ask(w, "Y", 10 + i);
    }
    sched_plan(w->sched, 100, ROUND_FAST, ONE_ROUND, &w->plan);
    for (uint32_t i = 0; EXPECTED[i]; i++) {
        uint32_t job = w->plan.decisions[i].job;
        assert_int_equal(w->records[job].application[0], EXPECTED[i]);
    }
    assert_int_equal(w->plan.decision_count, 20);
}

/* The application that has less goes first, whenever it was submitted. */
static void fair_is_explained_as_it_orders(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    world_queue_by(w, "Q", &(struct queue_record){.ordering = QUEUE_BY_FAIR});
    order_node(w, 4);
    for (uint32_t i = 0; i < 4; i++) {
        world_lease(w, order_ask(w, i < 3 ? "X" : "Y", i), 0, i);
    }
    uint32_t x = order_ask(w, "X", 10);
    uint32_t y = order_ask(w, "Y", 11);
    sched_explain(w->sched, x, 12, &why);
    assert_int_equal(why.ahead, 1);
    sched_explain(w->sched, y, 12, &why);
    assert_int_equal(why.ahead, 0);
}

/* fifo: class, application's submission, then the job's own. */
static void fifo_orders_by_application(void **state)
{
    struct world *w = *state;
    struct queue_record by = {.ordering = QUEUE_BY_FIFO};

    world_queue_by(w, "Q", &by);
    order_node(w, 100);
    uint32_t old = order_ask(w, "old", 1);
    uint32_t high =
        world_submit(w, &(struct world_job){.queue = "Q",
                                            .application = "young",
                                            .submitted_ms = 2,
                                            .priority_class = "high"});
    uint32_t young = world_submit(w, &(struct world_job){.queue = "Q",
                                                         .application = "young",
                                                         .submitted_ms = 2});
    uint32_t late = order_ask(w, "old", 9);
    const uint32_t expected[] = {high, old, late, young};
    sched_plan(w->sched, 10, ROUND_FAST, ONE_ROUND, &w->plan);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(w->plan.decisions[i].job, expected[i]);
    }
    by.is_class_priority_ignored = true;
    world_queue_by(w, "Q", &by);
    const uint32_t ignored[] = {old, late, high, young};
    sched_plan(w->sched, 10, ROUND_FAST, ONE_ROUND, &w->plan);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(w->plan.decisions[i].job, ignored[i]);
    }
}

/* Starting and Running count; what is over the limit is passed over. */
static void limits_applications_that_run(void **state)
{
    struct world *w = *state;

    world_queue_by(w, "Q",
                   &(struct queue_record){.ordering = QUEUE_BY_FIFO,
                                          .running_apps_max = 2});
    order_node(w, 100);
    uint32_t d1 = order_ask(w, "1", 1);
    order_ask(w, "2", 2);
    uint32_t d3 = order_ask(w, "3", 3);
    uint32_t e1 = order_ask(w, "1", 4);
    order_round(w, 5);
    assert_int_equal(w->leased_count, 3);
    assert_false(order_has_node(w, d3));
    struct sched_explanation why;
    sched_explain(w->sched, d3, 6, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_LIMIT);
    assert_int_equal(why.limit, 2);
    assert_int_equal(why.used, 2);
    world_end(w, d1);
    world_end(w, e1);
    order_round(w, 7);
    assert_true(order_has_node(w, d3));
}

static void explains_what_the_ordering_keeps_back(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    order_node(w, 10);
    uint32_t d1 = order_ask(w, "App1", 1);
    uint32_t d2 = order_ask(w, "App2", 2);
    sched_explain(w->sched, d2, 3, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_TURN);
    assert_true(str_equal(why.application, STR("App1")));
    assert_int_equal(why.ahead, 1);
    sched_explain(w->sched, d1, 3, &why);
    assert_int_equal(why.wait, SCHED_WAIT_TURN);
    order_round(w, 4);
    sched_explain(w->sched, d2, 5, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_STARTING);
    assert_true(str_equal(why.application, STR("App1")));
    assert_int_equal(why.since_ms, 4);
    assert_int_equal(why.until_ms, 4 + 5 * MINUTE);
    struct sched_need need;
    sched_explain_need(w->sched, d2, 5, &why, &need);
    assert_int_equal(need.kind, SCHED_NEED_TIME);
    assert_int_equal(need.until_ms, 4 + 5 * MINUTE);
    assert_true(need.is_exact);
    sched_explain(w->sched, d2, 4 + 5 * MINUTE, &why);
    assert_int_equal(why.wait, SCHED_WAIT_TURN);
}

/* A queue that goes by applications from now on takes up what it has. */
static void switches_with_jobs(void **state)
{
    struct world *w = *state;
    struct queue_record plain = {0};

    world_queue_by(w, "Q", &plain);
    assert_false(sched_queue_has_applications(w->sched, 0));
    order_node(w, 10);
    uint32_t d1 = order_ask(w, "App1", 1);
    uint32_t d2 = order_ask(w, "App2", 2);
    world_lease(w, d1, 0, 3);
    world_queue_by(w, "Q", &ORDER_BY_STATE);
    assert_true(sched_queue_has_applications(w->sched, 0));
    sched_job_application(w->sched, d1, STR("App1"), false);
    sched_job_application(w->sched, d2, STR("App2"), false);
    assert_true(sched_is_consistent(w->sched));
    assert_int_equal(order_state_of(w, "App1", 3), SCHED_APP_STARTING);
    assert_int_equal(order_state_of(w, "App2", 3), SCHED_APP_ACCEPTED);
    assert_int_equal(order_state_of(w, "", 3), SCHED_APP_NEW);
    order_round(w, 4);
    assert_false(order_has_node(w, d2));
    world_queue_by(w, "Q", &plain);
    assert_true(sched_is_consistent(w->sched));
    order_round(w, 5);
    assert_true(order_has_node(w, d2));
    assert_int_equal(order_state_of(w, "App1", 5), SCHED_APP_NEW);
}

/* A job of another pool that waits here. */
static uint32_t ask_abroad(struct world *w, const char *app, int64_t at_ms)
{
    return world_submit(w, &(struct world_job){
                               .queue = "Q",
                               .application = app,
                               .submitted_ms = at_ms,
                               .is_borrowed = true,
                           });
}

/* Borrowers that are gone order nothing. */
static void an_application_is_as_old_as_its_borrowers_that_wait(void **state)
{
    struct world *w = *state;

    order_node(w, 1);
    uint32_t gone = ask_abroad(w, "App1", 1);
    uint32_t last = ask_abroad(w, "App1", 3);
    uint32_t first = ask_abroad(w, "App2", 2);
    world_end(w, gone);
    assert_true(sched_is_consistent(w->sched));
    order_round(w, 4);
    assert_true(order_has_node(w, first));
    assert_false(order_has_node(w, last));
}

/* Applications that only borrowers wait for are explained as they are ordered.
 */
static void explains_what_the_ordering_keeps_back_of_borrowers(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    order_node(w, 1);
    (void)order_ask(w, "App1", 1);
    uint32_t borrower = ask_abroad(w, "App2", 2);
    uint32_t last = ask_abroad(w, "App3", 3);
    sched_explain(w->sched, borrower, 3, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_TURN);
    assert_true(str_equal(why.application, STR("App1")));
    sched_explain(w->sched, last, 3, &why);
    assert_int_equal(why.ahead, 2);
    order_round(w, 4);
    sched_explain(w->sched, borrower, 5, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_STARTING);
}

/* Applications outlast their jobs, and go with their queue: the next that has
 * its place in the table has none of what it had. */
static void a_queue_that_goes_leaves_nothing(void **state)
{
    struct world *w = *state;
    struct resource_amount cores = {STR("cpu"), 5000};
    struct queue_record record = queue_record_plain(STR("R"));

    w->policy.pools[0].half_time_ms = 1000;
    w->policy.pools[0].short_job_penalty_ms = 60000;
    world_restart(w);
    uint32_t queue =
        world_queue_by(w, "Q",
                       &(struct queue_record){.ordering = QUEUE_BY_FIFO,
                                              .quota = {&cores, 1}});
    order_node(w, 10);
    uint32_t job = order_ask(w, "App1", 1);
    order_round(w, 2);
    assert_int_equal(w->leased_count, 1);
    world_round(w, ROUND_BALANCE, 3);
    world_end(w, job);
    assert_true(sched_is_consistent(w->sched));
    sched_queue_remove(w->sched, queue);
    assert_true(sched_is_consistent(w->sched));
    sched_queue_set(w->sched, queue, &record);
    assert_true(sched_is_consistent(w->sched));
    uint32_t counts[SCHED_APP_STATES];
    sched_application_counts(w->sched, queue, counts);
    for (int i = 0; i < SCHED_APP_STATES; i++) {
        assert_int_equal(counts[i], 0);
    }
    order_round(w, 4);
    assert_true(sched_is_consistent(w->sched));
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, order_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(sa_09_opts_out_where_the_queue_allows_it),
        SCENARIO(sa_09_opts_out_nowhere_else),
        SCENARIO(sa_10_orders_each_queue_by_itself),
        SCENARIO(sa_11_counts_the_members_of_a_gang),
        SCENARIO(sa_12_comes_back_while_completing),
        SCENARIO(sa_12_completes_and_expires),
        SCENARIO(sa_13_passes_over_a_withdrawn_application),
        SCENARIO(sa_14_separates_applications_of_a_job_set),
        SCENARIO(sa_15_fair_gives_to_the_smallest_share),
        SCENARIO(fair_is_explained_as_it_orders),
        SCENARIO(fifo_orders_by_application),
        SCENARIO(a_queue_that_goes_leaves_nothing),
        SCENARIO(limits_applications_that_run),
        SCENARIO(explains_what_the_ordering_keeps_back),
        SCENARIO(switches_with_jobs),
        SCENARIO(an_application_is_as_old_as_its_borrowers_that_wait),
        SCENARIO(explains_what_the_ordering_keeps_back_of_borrowers),
    };

    return RUN_TESTS(tests);
}
