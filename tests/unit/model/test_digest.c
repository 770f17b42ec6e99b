/*
 * digest: what was packed is read back; a newer version is told from rubbish.
 */
#include "model/digest.h"
#include "unit.h"

static void packed_form_is_read_back(void **state)
{
    struct job_digest in = {
        .class_key = STR("key"),
        .client_id = STR("client"),
        .gang_id = STR("g"),
        .gang_cardinality = 8,
        .gang_minimum = 5,
        .gang_uniformity = STR("rack"),
        .is_fail_fast = true,
        .on_preemption = ON_LOSS_REQUEUE,
        .application_id = STR("spark-1"),
        .has_stateaware_off = true,
        .gang_terms = STR("terms"),
        .sub_group = 3,
    };
    struct job_digest out;
    auto_strbuf buf = {0};
    (void)state;

    digest_pack(&buf, &in);
    assert_int_equal(digest_unpack(strbuf_str(&buf), &out), 0);
    assert_true(str_equal(out.gang_terms, STR("terms")));
    assert_int_equal(out.sub_group, 3);
    assert_true(str_equal(out.gang_uniformity, STR("rack")));
    assert_int_equal(out.gang_minimum, 5);
    assert_int_equal(out.on_preemption, ON_LOSS_REQUEUE);
    assert_true(out.is_fail_fast);
    assert_true(str_equal(out.application_id, STR("spark-1")));
    assert_true(out.has_stateaware_off);
}

static void digests_of_the_first_version_are_read(void **state)
{
    struct job_digest in = {.gang_cardinality = 1, .gang_minimum = 1};
    struct job_digest out;
    auto_strbuf buf = {0};
    (void)state;

    digest_pack(&buf, &in);
    /* Without what versions 2 and 3 appended: a text and a number each. */
    buf.bytes[0] = 1;
    struct str old = str_make(buf.bytes, buf.byte_count - 4);
    assert_int_equal(digest_unpack(old, &out), 0);
    assert_int_equal(out.application_id.byte_count, 0);
    assert_false(out.has_stateaware_off);
}

static void a_group_is_read_back(void **state)
{
    struct job_digest in = {.gang_cardinality = 1,
                            .gang_minimum = 1,
                            .turn_group = STR("array"),
                            .turn_limit = 20};
    struct job_digest out;
    auto_strbuf buf = {0};
    (void)state;

    digest_pack(&buf, &in);
    assert_int_equal(digest_unpack(strbuf_str(&buf), &out), 0);
    assert_true(str_equal(out.turn_group, STR("array")));
    assert_int_equal(out.turn_limit, 20);
}

static void newer_versions_and_rubbish_are_refused(void **state)
{
    struct job_digest out;
    (void)state;

    assert_int_equal(digest_unpack(STR("\x7f"), &out), -ERR_VERSION);
    assert_int_equal(digest_unpack(STR(""), &out), -ERR_CORRUPT);
    assert_int_equal(digest_unpack(STR("\x01\x05"), &out), -ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(packed_form_is_read_back),
        TEST(digests_of_the_first_version_are_read),
        TEST(a_group_is_read_back),
        TEST(newer_versions_and_rubbish_are_refused),
    };
    return RUN_TESTS(tests);
}
