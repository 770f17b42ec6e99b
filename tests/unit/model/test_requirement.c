/*
 * requirement: equal requirements pack to equal bytes; Kubernetes' rules.
 */
#include "model/requirement.h"
#include "unit.h"

static void order_of_mention_does_not_matter(void **state)
{
    struct label ab[] = {{STR("a"), STR("1")}, {STR("b"), STR("2")}};
    struct label ba[] = {{STR("b"), STR("2")}, {STR("a"), STR("1")}};
    struct requirement x = {.selector = ab, .selector_count = 2};
    struct requirement y = {.selector = ba, .selector_count = 2};
    auto_strbuf px = {0};
    auto_strbuf py = {0};
    (void)state;

    requirement_canonicalise(&x);
    requirement_canonicalise(&y);
    requirement_pack(&px, &x);
    requirement_pack(&py, &y);
    assert_true(str_equal(strbuf_str(&px), strbuf_str(&py)));
}

static void packed_form_is_read_back(void **state)
{
    struct resource_amount amount = {STR("cpu"), 1500};
    struct toleration toleration = {STR("gpu"), STR("true"), TAINT_NO_SCHEDULE,
                                    false};
    struct str values[] = {STR("z1"), STR("z2")};
    struct affinity_expression expression = {STR("zone"), AFFINITY_IN, false,
                                             values, 2};
    struct affinity_term term = {&expression, 1};
    struct requirement in = {
        .lifetime_ms = 30000,
        .deadline_ms = 90000,
        .priority_class = STR("armada-default"),
        .requests = {&amount, 1},
        .tolerations = &toleration,
        .toleration_count = 1,
        .has_affinity = true,
        .terms = &term,
        .term_count = 1,
    };
    struct requirement out;
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    (void)state;

    requirement_pack(&buf, &in);
    assert_int_equal(requirement_unpack(strbuf_str(&buf), &arena, &out), 0);
    assert_true(str_equal(out.priority_class, STR("armada-default")));
    assert_int_equal(resource_list_get(&out.requests, STR("cpu")), 1500);
    assert_true(str_equal(out.terms[0].expressions[0].values[1], STR("z2")));
    assert_int_equal(out.lifetime_ms, 30000);
    assert_int_equal(out.deadline_ms, 90000);
    for (size_t cut = 0; cut < buf.byte_count; cut++) {
        assert_int_equal(
            requirement_unpack(str_make(buf.bytes, cut), &arena, &out),
            -ERR_CORRUPT);
    }
}

static void preferences_are_packed_where_there_are_any(void **state)
{
    struct affinity_expression expression = {STR("zone"), AFFINITY_EXISTS,
                                             false, NULL, 0};
    struct preference preference = {9, {&expression, 1}};
    struct requirement in = {.priority_class = STR("c")};
    struct requirement out;
    auto_arena arena = {0};
    auto_strbuf plain = {0}, buf = {0};
    (void)state;

    requirement_pack(&plain, &in);
    in.preferences = &preference;
    in.preference_count = 1;
    requirement_pack(&buf, &in);
    assert_int_equal(plain.bytes[0], 2); /* as it always was */
    assert_int_equal(buf.bytes[0], 3);
    assert_int_equal(requirement_unpack(strbuf_str(&buf), &arena, &out), 0);
    assert_int_equal(out.preference_count, 1);
    assert_int_equal(out.preferences[0].weight, 9);
    assert_true(
        str_equal(out.preferences[0].term.expressions[0].key, STR("zone")));
    for (size_t cut = 0; cut < buf.byte_count; cut++) {
        assert_int_equal(
            requirement_unpack(str_make(buf.bytes, cut), &arena, &out),
            -ERR_CORRUPT);
    }
}

static void ports_are_packed_where_there_are_any(void **state)
{
    struct host_port ports[] = {{HOST_TCP, 81, STR("10.0.0.1")},
                                {HOST_TCP, 80, STR("10.0.0.1")},
                                {HOST_TCP, 81, STR("")},
                                {HOST_UDP, 80, STR("10.0.0.1")}};
    struct requirement in = {.ports = ports, .port_count = 4};
    struct requirement out;
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    (void)state;

    requirement_canonicalise(&in);
    requirement_pack(&buf, &in);
    assert_int_equal(buf.bytes[0], 4);
    assert_int_equal(requirement_unpack(strbuf_str(&buf), &arena, &out), 0);
    assert_int_equal(out.port_count, 3); /* 81 of all is that of one, too */
    assert_int_equal(out.ports[0].port, 80);
    assert_int_equal(out.ports[1].protocol, HOST_UDP);
    assert_int_equal(out.ports[2].ip.byte_count, 0);
    assert_false(out.never_preempts);
    in.never_preempts = true;
    strbuf_clear(&buf);
    requirement_pack(&buf, &in);
    assert_int_equal(buf.bytes[0], REQUIREMENT_VERSION);
    assert_int_equal(requirement_unpack(strbuf_str(&buf), &arena, &out), 0);
    assert_true(out.never_preempts);
    for (size_t cut = 0; cut < buf.byte_count; cut++) {
        assert_int_equal(
            requirement_unpack(str_make(buf.bytes, cut), &arena, &out),
            -ERR_CORRUPT);
    }
}

static void requirements_of_the_first_version_are_read(void **state)
{
    struct requirement in = {.lifetime_ms = 0, .deadline_ms = 0};
    struct requirement out;
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    (void)state;

    requirement_pack(&buf, &in);
    /* Without what version 2 appended: two small numbers. */
    buf.bytes[0] = 1;
    struct str old = str_make(buf.bytes, buf.byte_count - 2);
    assert_int_equal(requirement_unpack(old, &arena, &out), 0);
    assert_int_equal(out.lifetime_ms, LIFETIME_BY_CLASS);
    assert_int_equal(out.deadline_ms, 0);
}

static void tolerations_follow_kubernetes(void **state)
{
    struct taint taint = {STR("gpu"), STR("true"), TAINT_NO_SCHEDULE};
    (void)state;

    assert_true(
        toleration_matches(&(struct toleration){.is_exists = true}, &taint));
    assert_false(toleration_matches(&(struct toleration){0}, &taint));
    assert_true(toleration_matches(
        &(struct toleration){STR("gpu"), STR("true"), TAINT_ANY, false},
        &taint));
    assert_false(toleration_matches(
        &(struct toleration){STR("gpu"), STR("x"), TAINT_ANY, false}, &taint));
    assert_false(toleration_matches(
        &(struct toleration){STR("gpu"), STR("true"), TAINT_NO_EXECUTE, false},
        &taint));
}

static void affinity_follows_kubernetes(void **state)
{
    struct label labels[] = {{STR("n"), STR("5")}, {STR("zone"), STR("a")}};
    struct str a[] = {STR("a")};
    struct str four[] = {STR("4")};
    struct str host[] = {STR("host1")};
    struct affinity_expression in = {STR("zone"), AFFINITY_IN, false, a, 1};
    struct affinity_expression not_in = {STR("rack"), AFFINITY_NOT_IN, false, a,
                                         1};
    struct affinity_expression gt = {STR("n"), AFFINITY_GT, false, four, 1};
    struct affinity_expression lt = {STR("n"), AFFINITY_LT, false, four, 1};
    struct affinity_expression field = {STR("metadata.name"), AFFINITY_IN, true,
                                        host, 1};
    (void)state;

    assert_true(affinity_expression_matches(&in, labels, 2, STR("host1")));
    assert_true(affinity_expression_matches(&not_in, labels, 2, STR("host1")));
    assert_true(affinity_expression_matches(&gt, labels, 2, STR("host1")));
    assert_false(affinity_expression_matches(&lt, labels, 2, STR("host1")));
    assert_true(affinity_expression_matches(&field, labels, 2, STR("host1")));
    assert_false(affinity_expression_matches(&field, labels, 2, STR("host2")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(order_of_mention_does_not_matter),
        TEST(packed_form_is_read_back),
        TEST(preferences_are_packed_where_there_are_any),
        TEST(ports_are_packed_where_there_are_any),
        TEST(requirements_of_the_first_version_are_read),
        TEST(tolerations_follow_kubernetes),
        TEST(affinity_follows_kubernetes),
    };
    return RUN_TESTS(tests);
}
