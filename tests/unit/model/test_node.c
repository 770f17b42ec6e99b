/*
 * node: a copy of a record is the same, and hangs on nothing but its memory.
 */
#include "model/node.h"
#include "unit.h"

static void a_copy_outlives_what_it_was_made_from(void **state)
{
    char key[] = "rack", value[] = "r1", cpu[] = "cpu", gpu[] = "gpu";
    struct label label = {str_of(key), str_of(value)};
    struct taint taint = {str_of(gpu), str_of(value), TAINT_NO_SCHEDULE};
    struct resource_amount total[] = {{str_of(cpu), 8000}, {str_of(gpu), 1000}};
    struct resource_amount foreign = {str_of(cpu), 500};
    struct node_record copy, record = {
                                 .name = STR("n1"),
                                 .pool = STR("default"),
                                 .labels = &label,
                                 .label_count = 1,
                                 .taints = &taint,
                                 .taint_count = 1,
                                 .total = {total, 2},
                                 .foreign = {&foreign, 1},
                                 .is_unschedulable = true,
                             };
    (void)state;

    void *memory = mem_alloc(node_record_bytes(&record));
    node_record_copy(&record, memory, &copy);
    memset(key, '-', sizeof(key) - 1);
    memset(value, '-', sizeof(value) - 1);
    memset(cpu, '-', sizeof(cpu) - 1);
    memset(gpu, '-', sizeof(gpu) - 1);
    memset(total, 0, sizeof(total));
    assert_true(str_equal(copy.name, STR("n1")));
    assert_true(str_equal(copy.pool, STR("default")));
    assert_int_equal(copy.node_type.byte_count, 0);
    assert_int_equal(copy.label_count, 1);
    assert_true(str_equal(copy.labels[0].key, STR("rack")));
    assert_true(str_equal(copy.labels[0].value, STR("r1")));
    assert_int_equal(copy.taint_count, 1);
    assert_true(str_equal(copy.taints[0].key, STR("gpu")));
    assert_int_equal(copy.taints[0].effect, TAINT_NO_SCHEDULE);
    assert_int_equal(copy.total.count, 2);
    assert_true(str_equal(copy.total.items[1].name, STR("gpu")));
    assert_int_equal(copy.total.items[1].milli, 1000);
    assert_int_equal(copy.foreign.count, 1);
    assert_true(str_equal(copy.foreign.items[0].name, STR("cpu")));
    assert_true(copy.is_unschedulable);
    mem_free(memory);
}

static void a_record_of_nothing_takes_nothing(void **state)
{
    struct node_record copy, record = {.node_type = {NULL, 0}};
    uint64_t memory;
    (void)state;

    assert_int_equal(node_record_bytes(&record), 0);
    node_record_copy(&record, &memory, &copy);
    assert_int_equal(copy.label_count, 0);
    assert_int_equal(copy.total.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_copy_outlives_what_it_was_made_from),
        TEST(a_record_of_nothing_takes_nothing),
    };
    return RUN_TESTS(tests);
}
