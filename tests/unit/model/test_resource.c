/*
 * resource: lists of named amounts, and the columns they are counted in.
 */
#include "model/resource.h"
#include "unit.h"

static const struct resource_schema schema = {
    .columns = {{{"cpu", 3}, 1}, {{"memory", 6}, 1000}},
    .column_count = 2,
};

static struct resource_list list_of(struct resource_amount *room)
{
    return (struct resource_list){room, 0};
}

static void list_stays_sorted_and_adds_up(void **state)
{
    (void)state;
    struct resource_amount room[RESOURCE_LIST_MAX];
    struct resource_list list = list_of(room);

    assert_int_equal(resource_list_add(&list, STR("memory"), 5), 0);
    assert_int_equal(resource_list_add(&list, STR("cpu"), 1), 0);
    assert_int_equal(resource_list_add(&list, STR("memory"), 2), 0);

    assert_int_equal(list.count, 2);
    assert_true(str_equal(list.items[0].name, STR("cpu")));
    assert_int_equal(resource_list_get(&list, STR("memory")), 7);
    assert_int_equal(resource_list_get(&list, STR("gpu")), 0);
}

static void sum_saturates(void **state)
{
    (void)state;
    struct resource_amount room[RESOURCE_LIST_MAX];
    struct resource_list list = list_of(room);

    assert_int_equal(resource_list_add(&list, STR("cpu"), INT64_MAX), 0);
    assert_int_equal(resource_list_add(&list, STR("cpu"), 1), 0);

    assert_true(resource_list_get(&list, STR("cpu")) == INT64_MAX);
}

static void full_list_takes_no_new_name(void **state)
{
    (void)state;
    struct resource_amount room[RESOURCE_LIST_MAX];
    struct resource_list list = list_of(room);
    char names[RESOURCE_LIST_MAX][4];

    for (int i = 0; i < RESOURCE_LIST_MAX; i++) {
        names[i][0] = (char)('a' + i / 26);
        names[i][1] = (char)('a' + i % 26);
        assert_int_equal(resource_list_add(&list, str_make(names[i], 2), 1), 0);
    }

    assert_int_equal(resource_list_add(&list, STR("zz"), 1), -ERR_LIMIT);
    assert_int_equal(resource_list_add(&list, STR("aa"), 1), 0);
}

static void requests_round_up_and_capacities_down(void **state)
{
    (void)state;
    struct resource_amount room[RESOURCE_LIST_MAX];
    struct resource_list list = list_of(room);
    struct resource_vec request;

    assert_int_equal(resource_list_add(&list, STR("cpu"), 1500), 0);
    assert_int_equal(resource_list_add(&list, STR("memory"), 2001), 0);

    assert_true(resource_request(&schema, &list, &request));
    struct resource_vec capacity = resource_capacity(&schema, &list);
    assert_int_equal(request.v[0], 1500);
    assert_int_equal(request.v[1], 3);
    assert_int_equal(capacity.v[1], 2);
    assert_false(resource_fits(&request, &capacity));
    assert_true(resource_fits(&capacity, &request));
}

static void unknown_resource_is_told_and_the_rest_is_filled_in(void **state)
{
    (void)state;
    struct resource_amount room[RESOURCE_LIST_MAX];
    struct resource_list list = list_of(room);
    struct resource_vec request;

    assert_int_equal(resource_list_add(&list, STR("gpu"), 1), 0);
    assert_int_equal(resource_list_add(&list, STR("cpu"), 2), 0);

    assert_false(resource_request(&schema, &list, &request));
    assert_int_equal(request.v[0], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(list_stays_sorted_and_adds_up),
        TEST(sum_saturates),
        TEST(full_list_takes_no_new_name),
        TEST(requests_round_up_and_capacities_down),
        TEST(unknown_resource_is_told_and_the_rest_is_filled_in),
    };
    return RUN_TESTS(tests);
}
