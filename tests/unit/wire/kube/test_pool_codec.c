/*
 * pool_codec: resources, messages and records say the same, both ways; what
 * may not be is refused with the field named.
 */
#include "unit.h"
#include "wire/json/json.h"
#include "wire/kube/pool_codec.h"
#include "wire/message/message.h"
#include "wire/yaml/yaml.h"

static int read_pool(const char *text, struct arena *arena,
                     Berth__Api__Pool **ret_pool, struct err *err)
{
    auto_json_t *document = NULL;

    assert_int_equal(wire_yaml_read_first(str_of(text), &document, err), 0);
    return pool_resource_read(document, arena, ret_pool, err);
}

static const char demo[] = "apiVersion: resource.aibee.cn/v1alpha1\n"
                           "kind: Pool\n"
                           "metadata:\n"
                           "  name: demo\n"
                           "spec:\n"
                           "  nodeSelector:\n"
                           "    matchLabels:\n"
                           "      pool: \"demo\"\n"
                           "    matchExpressions:\n"
                           "    - key: zone\n"
                           "      operator: NotIn\n"
                           "      values: [b, a]\n"
                           "    - {key: gpu, operator: Exists}\n"
                           "  disablePreemption: false\n"
                           "  disableBorrowing: true\n"
                           "  disableSharing: false\n"
                           "  weight: 3\n"
                           "  borrowingPools: [z, y, default]\n"
                           "  preemptionOrder: borrow-first\n"
                           "status:\n"
                           "  free: {}\n";

static void check_demo(const struct pool_record *record)
{
    assert_true(str_equal(record->name, STR("demo")));
    assert_true(record->has_selector);
    assert_int_equal(record->label_count, 1);
    assert_true(str_equal(record->labels[0].key, STR("pool")));
    assert_true(str_equal(record->labels[0].value, STR("demo")));
    assert_int_equal(record->expression_count, 2);
    assert_int_equal(record->expressions[0].op, AFFINITY_NOT_IN);
    assert_int_equal(record->expressions[0].value_count, 2);
    assert_true(str_equal(record->expressions[0].values[0], STR("a")));
    assert_int_equal(record->expressions[1].op, AFFINITY_EXISTS);
    assert_false(record->is_preemption_off);
    assert_true(record->is_borrowing_off);
    assert_false(record->is_sharing_off);
    assert_int_equal(record->lender_count, 3);
    assert_true(str_equal(record->lenders[0], STR("default")));
    assert_true(str_equal(record->lenders[2], STR("z")));
    assert_int_equal(record->preemption_order, BORROW_FIRST);
}

static void a_resource_becomes_a_record_and_comes_back(void **state)
{
    auto_arena arena = {0};
    struct pool_record record, again;
    Berth__Api__Pool *pool;
    struct err err;
    (void)state;

    assert_int_equal(read_pool(demo, &arena, &pool, &err), 0);
    assert_int_equal(pool_check(pool, &err), 0);
    struct str bytes = wire_encode_arena(&pool->base, &arena);
    assert_int_equal(pool_decode(bytes, &arena, &record, &err), 0);
    check_demo(&record);
    pool = pool_message_of(&record, &arena);
    auto_json_t *resource = pool_resource_write(pool);
    assert_int_equal(pool_resource_read(resource, &arena, &pool, &err), 0);
    assert_int_equal(pool_record_of(pool, &arena, &again, &err), 0);
    check_demo(&again);
}

static void no_selector_and_an_empty_one_differ(void **state)
{
    auto_arena arena = {0};
    struct pool_record record;
    Berth__Api__Pool *pool;
    struct err err;
    (void)state;

    assert_int_equal(
        read_pool("{apiVersion: resource.aibee.cn/v1alpha1, kind: Pool, "
                  "metadata: {name: p}}",
                  &arena, &pool, &err),
        0);
    assert_int_equal(pool_record_of(pool, &arena, &record, &err), 0);
    assert_false(record.has_selector);
    assert_int_equal(
        read_pool("{apiVersion: resource.aibee.cn/v1alpha1, kind: Pool, "
                  "metadata: {name: p}, spec: {nodeSelector: {}}}",
                  &arena, &pool, &err),
        0);
    struct str bytes = wire_encode_arena(&pool->base, &arena);
    assert_int_equal(pool_decode(bytes, &arena, &record, &err), 0);
    assert_true(record.has_selector);
}

/* A pool with this spec, in braces, is refused with a text that begins so. */
static void expect_refused(const char *name, const char *spec,
                           const char *begins)
{
    auto_arena arena = {0};
    auto_strbuf text = strbuf_make(0);
    Berth__Api__Pool *pool;
    struct err err;

    strbuf_addf(&text,
                "{apiVersion: resource.aibee.cn/v1alpha1, kind: Pool, "
                "metadata: {name: %s}, spec: %s}",
                name, spec);
    int rc = read_pool(text.bytes, &arena, &pool, &err);
    if (rc == 0) {
        rc = pool_check(pool, &err);
    }
    assert_int_equal(rc, -ERR_INVALID);
    if (!str_starts_with(str_of(err.text), str_of(begins))) {
        fail_msg("\"%s\" does not begin with \"%s\"", err.text, begins);
    }
}

static void what_may_not_be_is_refused_with_its_field(void **state)
{
    (void)state;

    expect_refused("\"\"", "{}", "metadata.name: must be given");
    expect_refused("default", "{}", "metadata.name: \"default\" is the");
    expect_refused("Gpu", "{}", "metadata.name: \"Gpu\" is not");
    expect_refused("7", "{}", "metadata.name: must be a text");
    expect_refused("a", "{}, spek: {}", "spek: unknown key");
    expect_refused("-a", "{}", "metadata.name: \"-a\"");
    expect_refused("a..b", "{}", "metadata.name: \"a..b\"");
    expect_refused("a", "{disableSharring: true}", "spec: ");
    expect_refused("a", "{disableSharing: maybe}", "spec: ");
    expect_refused("a", "{name: b}", "spec.name: ");
    expect_refused("a", "[1]", "spec: must be a map");
    expect_refused("a", "{borrowingPools: [b, a]}",
                   "spec.borrowingPools: a cannot borrow from itself");
    expect_refused("a", "{borrowingPools: [b, b]}",
                   "spec.borrowingPools: b is given twice");
    expect_refused("a", "{borrowingPools: [B]}",
                   "spec.borrowingPools: \"B\" is not the name");
    expect_refused("a", "{preemptionOrder: never}", "spec.preemptionOrder: ");
    expect_refused("a", "{nodeSelector: {matchLabels: {\"a b\": c}}}",
                   "spec.nodeSelector.matchLabels: \"a b\" is not the key");
    expect_refused("a", "{nodeSelector: {matchLabels: {a: \"c/d\"}}}",
                   "spec.nodeSelector.matchLabels: \"c/d\" is not the value");
    expect_refused(
        "a",
        "{nodeSelector: {matchExpressions: [{key: a, operator: Gt, "
        "values: [\"1\"]}]}}",
        "spec.nodeSelector.matchExpressions: the operator of a must be");
    expect_refused(
        "a", "{nodeSelector: {matchExpressions: [{key: a, operator: In}]}}",
        "spec.nodeSelector.matchExpressions: In of a takes values");
    expect_refused(
        "a",
        "{nodeSelector: {matchExpressions: [{key: a, operator: Exists, "
        "values: [b]}]}}",
        "spec.nodeSelector.matchExpressions: Exists of a takes no values");
}

static void other_kinds_and_versions_are_refused(void **state)
{
    auto_arena arena = {0};
    Berth__Api__Pool *pool;
    struct err err;
    (void)state;

    assert_int_equal(
        read_pool("{apiVersion: v1, kind: Pool}", &arena, &pool, &err),
        -ERR_INVALID);
    assert_true(str_starts_with(str_of(err.text), STR("apiVersion: ")));
    assert_int_equal(
        read_pool("{apiVersion: resource.aibee.cn/v1alpha1, kind: Job}", &arena,
                  &pool, &err),
        -ERR_INVALID);
    assert_true(str_starts_with(str_of(err.text), STR("kind: ")));
}

static void keys_with_a_prefix_are_keys(void **state)
{
    auto_arena arena = {0};
    Berth__Api__Pool *pool;
    struct err err;
    (void)state;

    assert_int_equal(
        read_pool("{apiVersion: resource.aibee.cn/v1alpha1, kind: Pool, "
                  "metadata: {name: masters}, spec: {nodeSelector: "
                  "{matchLabels: {kubernetes.io/role: master}}}}",
                  &arena, &pool, &err),
        0);
    assert_int_equal(pool_check(pool, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_resource_becomes_a_record_and_comes_back),
        TEST(no_selector_and_an_empty_one_differ),
        TEST(what_may_not_be_is_refused_with_its_field),
        TEST(other_kinds_and_versions_are_refused),
        TEST(keys_with_a_prefix_are_keys),
    };

    return RUN_TESTS(tests);
}
