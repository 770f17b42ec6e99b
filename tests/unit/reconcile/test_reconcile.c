/*
 * reconcile: the table at the head of the header, row by row.
 */
#include "reconcile/reconcile.h"
#include "unit.h"

enum {
    STOP = 1 << RECONCILE_STOP,
    REPORT = 1 << RECONCILE_REPORT,
    FORGET = 1 << RECONCILE_FORGET,
    CREATE = 1 << RECONCILE_CREATE,
};

static unsigned actions(enum reconcile_want want, enum reconcile_phase phase)
{
    return reconcile_row_actions(
        &(struct reconcile_row){.want = want, .phase = phase});
}

static void a_leased_run_never_seen_is_created(void **state)
{
    (void)state;
    assert_int_equal(actions(RECONCILE_WANT_RUN, RECONCILE_NEVER), CREATE);
    assert_int_equal(actions(RECONCILE_WANT_STOP, RECONCILE_NEVER), FORGET);
    assert_int_equal(actions(RECONCILE_WANT_NONE, RECONCILE_NEVER), 0);
}

static void a_run_once_seen_is_never_created_again(void **state)
{
    (void)state;
    for (int phase = RECONCILE_PENDING; phase <= RECONCILE_FORGOTTEN; phase++) {
        for (int want = 0; want <= RECONCILE_WANT_PREEMPT; want++) {
            assert_false(actions((enum reconcile_want)want,
                                 (enum reconcile_phase)phase) &
                         CREATE);
        }
    }
}

static void a_pod_found_without_a_lease_is_left_to_run(void **state)
{
    (void)state;
    assert_int_equal(actions(RECONCILE_WANT_NONE, RECONCILE_RUNNING), REPORT);
}

static void a_cancelled_pod_is_stopped_and_not_reported(void **state)
{
    (void)state;
    struct reconcile_row row = {.want = RECONCILE_WANT_STOP,
                                .phase = RECONCILE_RUNNING};

    assert_int_equal(reconcile_row_actions(&row), STOP);
    row.is_stopping = true;
    assert_int_equal(reconcile_row_actions(&row), 0);
    row.phase = RECONCILE_FAILED;
    assert_int_equal(reconcile_row_actions(&row), FORGET);
}

static void a_preempted_pod_is_stopped_and_its_end_reported(void **state)
{
    (void)state;
    struct reconcile_row row = {.want = RECONCILE_WANT_PREEMPT,
                                .phase = RECONCILE_RUNNING,
                                .acked = RECONCILE_RUNNING};

    assert_int_equal(reconcile_row_actions(&row), STOP);
    row.is_stopping = true;
    row.phase = RECONCILE_FAILED;
    assert_int_equal(reconcile_row_actions(&row), REPORT);
    row.acked = RECONCILE_FAILED;
    assert_int_equal(reconcile_row_actions(&row), FORGET);
}

static void a_report_is_made_once_while_it_is_on_its_way(void **state)
{
    (void)state;
    struct reconcile_row row = {.phase = RECONCILE_RUNNING};

    assert_int_equal(reconcile_row_actions(&row), REPORT);
    row.sent = RECONCILE_RUNNING;
    assert_int_equal(reconcile_row_actions(&row), 0);
    row.sent = RECONCILE_NEVER; /* it failed, or took too long */
    assert_int_equal(reconcile_row_actions(&row), REPORT);
    row.acked = RECONCILE_RUNNING;
    assert_int_equal(reconcile_row_actions(&row), 0);
}

static void a_lost_pod_is_reported_then_forgotten(void **state)
{
    (void)state;
    struct reconcile_row row = {.phase = RECONCILE_LOST};

    assert_int_equal(reconcile_row_actions(&row), REPORT);
    row.acked = RECONCILE_LOST;
    assert_int_equal(reconcile_row_actions(&row), FORGET);
}

static void a_forgotten_run_leased_again_is_reported_not_run(void **state)
{
    (void)state;
    assert_int_equal(actions(RECONCILE_WANT_RUN, RECONCILE_FORGOTTEN), REPORT);
    assert_int_equal(actions(RECONCILE_WANT_NONE, RECONCILE_FORGOTTEN), 0);
    assert_int_equal(actions(RECONCILE_WANT_STOP, RECONCILE_FORGOTTEN), 0);
}

static void foreign_pods_are_not_touched(void **state)
{
    (void)state;
    struct reconcile_row row = {.is_foreign = true,
                                .want = RECONCILE_WANT_STOP,
                                .phase = RECONCILE_RUNNING};

    assert_int_equal(reconcile_row_actions(&row), 0);
}

static void a_plan_makes_room_before_it_takes(void **state)
{
    (void)state;
    struct reconcile_row rows[] = {
        {.want = RECONCILE_WANT_RUN, .phase = RECONCILE_NEVER},
        {.want = RECONCILE_WANT_RUN, .phase = RECONCILE_NEVER},
        {.want = RECONCILE_WANT_STOP, .phase = RECONCILE_FAILED},
        {.want = RECONCILE_WANT_RUN, .phase = RECONCILE_SUCCEEDED},
        {.want = RECONCILE_WANT_STOP, .phase = RECONCILE_PENDING},
    };
    struct reconcile_action plan[10];

    uint32_t count = reconcile_plan(rows, 5, 1, plan);

    assert_int_equal(count, 4);
    assert_int_equal(plan[0].kind, RECONCILE_STOP);
    assert_int_equal(plan[0].row_index, 4);
    assert_int_equal(plan[1].kind, RECONCILE_REPORT);
    assert_int_equal(plan[1].phase, RECONCILE_SUCCEEDED);
    assert_int_equal(plan[2].kind, RECONCILE_FORGET);
    assert_int_equal(plan[2].row_index, 2);
    assert_int_equal(plan[3].kind, RECONCILE_CREATE);
    assert_int_equal(plan[3].row_index, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_leased_run_never_seen_is_created),
        TEST(a_run_once_seen_is_never_created_again),
        TEST(a_pod_found_without_a_lease_is_left_to_run),
        TEST(a_cancelled_pod_is_stopped_and_not_reported),
        TEST(a_preempted_pod_is_stopped_and_its_end_reported),
        TEST(a_report_is_made_once_while_it_is_on_its_way),
        TEST(a_lost_pod_is_reported_then_forgotten),
        TEST(a_forgotten_run_leased_again_is_reported_not_run),
        TEST(foreign_pods_are_not_touched),
        TEST(a_plan_makes_room_before_it_takes),
    };
    return RUN_TESTS(tests);
}
