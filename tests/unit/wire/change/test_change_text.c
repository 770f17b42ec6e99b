/*
 * change_text: the texts by which command lines name changes of a what-if.
 */
#include "unit.h"
#include "wire/change/change_text.h"

static void a_set_names_what_it_is_about(void **state)
{
    static const struct {
        const char *text;
        enum change_kind kind;
        const char *name, *resource;
        double value;
    } rows[] = {
        {"queue.a.weight=2", CHANGE_WEIGHT, "a", "", 2},
        {"queue.a.b.weight=0.5", CHANGE_WEIGHT, "a.b", "", 0.5},
        {"queue.a=b.weight=1e3", CHANGE_WEIGHT, "a=b", "", 1000},
        {"queue.a.weight=-1", CHANGE_WEIGHT, "a", "", -1},
        {"class.low.priority=500", CHANGE_PRIORITY, "low", "", 500},
        {"class.a.b.priority=-3", CHANGE_PRIORITY, "a.b", "", -3},
        {"class.low.limit.cpu=0.25", CHANGE_LIMIT, "low", "cpu", 0.25},
        {"class.low.limit.nvidia.com/gpu=1", CHANGE_LIMIT, "low",
         "nvidia.com/gpu", 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct change_set set;
        struct err err;
        assert_int_equal(change_read_set(rows[i].text, &set, &err), 0);
        assert_int_equal(set.kind, rows[i].kind);
        assert_true(str_equal(set.name, str_of(rows[i].name)));
        assert_true(str_equal(set.resource, str_of(rows[i].resource)));
        assert_float_equal(set.value, rows[i].value, 0);
    }
}

static void what_is_no_set_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "=",
        "queue.a.weight",
        "queue.a.weight=",
        "queue.a.weight=x",
        "queue.a.weight=1x",
        "queue.a.weight=inf",
        "queue.a.weight=nan",
        "queue..weight=1",
        "queue.weight=1",
        "queue.a.factor=1",
        "class..priority=1",
        "class.a.priority=1.5",
        "class.a.priority=1e9999",
        "class.a.priority=2147483648",
        "class.a.limit.=1",
        "class..limit.cpu=1",
        "class.a=1",
        "pool.a.weight=1",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct change_set set;
        struct err err;
        assert_int_equal(change_read_set(texts[i], &set, &err), -ERR_INVALID);
        assert_non_null(strstr(err.text, "--set takes queue.NAME.weight"));
    }
}

static void nodes_are_a_count_and_what_they_are_like(void **state)
{
    static const char *const refused[] = {"",   "a",      "0",  "0=n", "1 more",
                                          "=n", "100001", "-1", "1:n", "1.5"};
    struct change_nodes nodes;
    struct err err;

    (void)state;
    assert_int_equal(change_read_nodes("3", &nodes, &err), 0);
    assert_int_equal(nodes.count, 3);
    assert_string_equal(nodes.like, "");
    assert_int_equal(change_read_nodes("100000=n=1", &nodes, &err), 0);
    assert_int_equal(nodes.count, CHANGE_NODES_MAX);
    assert_string_equal(nodes.like, "n=1");
    for (size_t i = 0; i < ARRAY_COUNT(refused); i++) {
        assert_int_equal(change_read_nodes(refused[i], &nodes, &err),
                         -ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_set_names_what_it_is_about),
        TEST(what_is_no_set_is_refused),
        TEST(nodes_are_a_count_and_what_they_are_like),
    };

    return RUN_TESTS(tests);
}
