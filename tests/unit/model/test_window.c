/* window: which nodes a window is about, and what would run into it. */
#include "model/window.h"
#include "unit.h"

static const struct label labels[] = {{{"rack", 4}, {"a", 1}},
                                      {{"zone", 4}, {"1", 1}}};
static const struct window_node node = {
    .executor = {"e1", 2},
    .name = {"n1", 2},
    .pool = {"gpu", 3},
    .labels = labels,
    .label_count = 2,
};

static void without_names_it_is_about_all(void **state)
{
    (void)state;
    const struct window_record all = {.name = STR("w")};

    assert_true(window_record_covers(&all, &node));
}

static void all_that_is_named_must_hold(void **state)
{
    (void)state;
    static const struct str executors[] = {{"e0", 2}, {"e1", 2}, {"e2", 2}};
    static const struct str others[] = {{"n0", 2}, {"n2", 2}};
    static const struct str pools[] = {{"gpu", 3}};
    struct window_record window = {
        .executors = executors,
        .executor_count = 3,
        .pools = pools,
        .pool_count = 1,
        .labels = &labels[1],
        .label_count = 1,
    };

    assert_true(window_record_covers(&window, &node));
    window.nodes = others;
    window.node_count = 2;
    assert_false(window_record_covers(&window, &node));
    window.node_count = 0;
    struct label other = {STR("zone"), STR("2")};
    window.labels = &other;
    assert_false(window_record_covers(&window, &node));
    other = (struct label){STR("shelf"), STR("1")};
    assert_false(window_record_covers(&window, &node));
}

static void a_limit_must_end_by_its_beginning(void **state)
{
    (void)state;
    const struct window_record window = {
        .begin_ms = 1000, .end_ms = 2000, .lead_ms = 300};

    assert_false(window_record_bars(&window, 400, 600));
    assert_true(window_record_bars(&window, 401, 600));
    assert_true(window_record_bars(&window, 1000, 1));
    assert_false(window_record_bars(&window, 699, INT64_MAX));
    assert_true(window_record_bars(&window, 700, INT64_MAX));
    assert_true(window_record_bars(&window, 5, INT64_MAX - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_names_it_is_about_all),
        cmocka_unit_test(all_that_is_named_must_hold),
        cmocka_unit_test(a_limit_must_end_by_its_beginning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
