/* Sentences of wire/kube/node.h and wire/kube/entries.h. */
#include "unit.h"
#include "wire/kube/entries.h"
#include "wire/kube/node.h"
#include "wire/message/message.h"

static const struct label labels[] = {{{"a", 1}, {"1", 1}},
                                      {{"b", 1}, {"", 0}}};
static const struct taint taints[] = {
    {{"gpu", 3}, {"true", 4}, TAINT_NO_EXECUTE}};

static void test_a_node_reads_back_from_its_report(void **state)
{
    auto_arena arena = {0};
    struct resource_amount total[] = {{STR("cpu"), 1500},
                                      {STR("memory"), 2147483648000}};
    struct resource_amount foreign[] = {{STR("cpu"), 250}};
    const struct node_record node = {
        .name = STR("n1"),
        .pool = STR("p"),
        .node_type = STR("t"),
        .labels = labels,
        .label_count = 2,
        .taints = taints,
        .taint_count = 1,
        .total = {total, 2},
        .foreign = {foreign, 1},
        .is_unschedulable = true,
    };
    ProtobufCMessage *copy;
    struct node_record out;

    (void)state;
    Executorapi__NodeInfo *info = node_to_info(&node, &arena);
    assert_string_equal(info->total_resources[1]->value->string, "2Gi");
    struct str bytes = wire_encode_arena(&info->base, &arena);
    assert_int_equal(wire_decode(&executorapi__node_info__descriptor, bytes,
                                 &wire_request_limits, &arena, &copy, NULL),
                     0);
    assert_int_equal(
        node_from_info((Executorapi__NodeInfo *)copy, &arena, &out, NULL), 0);
    assert_true(str_equal(out.name, node.name));
    assert_true(str_equal(out.node_type, node.node_type));
    assert_int_equal(out.label_count, 2);
    assert_true(str_equal(out.labels[0].value, STR("1")));
    assert_int_equal(out.taints[0].effect, TAINT_NO_EXECUTE);
    assert_true(resource_list_get(&out.total, STR("memory")) == 2147483648000);
    assert_int_equal(resource_list_get(&out.foreign, STR("cpu")), 250);
    assert_true(out.is_unschedulable);
}

static void test_the_last_of_equal_keys_counts(void **state)
{
    auto_arena arena = {0};
    const struct label twice[] = {
        {STR("k"), STR("old")}, {STR("a"), STR("1")}, {STR("k"), STR("new")}};
    struct resource_amount amounts[] = {{STR("cpu"), 1000}, {STR("cpu"), 2000}};
    struct resource_amount room[RESOURCE_LIST_MAX];
    struct resource_list list = {room, 0};
    uint32_t count;

    (void)state;
    const void *entries = entries_make_labels(
        twice, 3, &executorapi__node_info__labels_entry__descriptor, &arena);
    const struct label *read = entries_labels(entries, 3, &arena, &count);
    assert_int_equal(count, 2);
    assert_true(str_equal(read[0].key, STR("a")));
    assert_true(str_equal(read[1].value, STR("new")));

    entries = entries_make_amounts(
        &(struct resource_list){amounts, 2},
        &executorapi__node_info__total_resources_entry__descriptor, &arena);
    assert_int_equal(entries_amounts(entries, 2, &list, NULL), 0);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].milli, 2000);
}

static void test_what_does_not_read_is_refused_by_name(void **state)
{
    auto_arena arena = {0};
    const struct node_record node = {
        .name = STR("n1"), .taints = taints, .taint_count = 1};
    Executorapi__NodeInfo *info = node_to_info(&node, &arena);
    char bad[] = "Sometimes";
    struct node_record out;
    struct err err;

    (void)state;
    info->taints[0]->effect = bad;
    assert_int_equal(node_from_info(info, &arena, &out, &err), -ERR_INVALID);
    assert_non_null(strstr(err.text, "Sometimes"));
    info->taints[0]->effect = NULL;
    assert_int_equal(node_from_info(info, &arena, &out, &err), 0);
    info->n_labels = LABELS_MAX + 1;
    assert_int_equal(node_from_info(info, &arena, &out, &err), -ERR_LIMIT);
}

static void test_a_taint_is_read_as_kubectl_writes_it(void **state)
{
    static const char *const bad[] = {"",
                                      "gpu",
                                      ":NoSchedule",
                                      "=x:NoSchedule",
                                      "gpu:",
                                      "gpu:x",
                                      "gpu:noschedule",
                                      "a b:NoSchedule",
                                      "gpu=a b:NoSchedule"};
    struct taint taint;

    (void)state;
    assert_int_equal(taint_from_text(STR("b.dev/gpu=a100:NoExecute"), &taint),
                     0);
    assert_true(str_equal(taint.key, STR("b.dev/gpu")));
    assert_true(str_equal(taint.value, STR("a100")));
    assert_int_equal(taint.effect, TAINT_NO_EXECUTE);
    assert_int_equal(taint_from_text(STR("gpu:NoSchedule"), &taint), 0);
    assert_true(str_equal(taint.key, STR("gpu")));
    assert_int_equal(taint.value.byte_count, 0);
    assert_int_equal(taint.effect, TAINT_NO_SCHEDULE);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(taint_from_text(str_of(bad[i]), &taint), -ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_node_reads_back_from_its_report),
        TEST(test_the_last_of_equal_keys_counts),
        TEST(test_what_does_not_read_is_refused_by_name),
        TEST(test_a_taint_is_read_as_kubectl_writes_it),
    };
    return RUN_TESTS(tests);
}
