/*
 * gang_terms: what was packed is read back; counts that contradict one
 * another, newer versions and rubbish are refused.
 */
#include "model/gang_terms.h"
#include "unit.h"

static struct gang_terms sample(void)
{
    return (struct gang_terms){
        .kind = GANG_TRAINING_TOLERANT,
        .has_exclusive_nodes = true,
        .freezing_window_ms = 300000,
        .replace_timeout_ms = 1000,
        .sub_group_count = 2,
        .sub_groups = {{.name = STR("ps"),
                        .min_count = 2,
                        .max_count = 2,
                        .hops_max = HOPS_ANY,
                        .is_auxiliary = true},
                       {.name = STR("worker"),
                        .max_count = 8,
                        .hops_max = 2,
                        .hops_wait_ms = 5}},
    };
}

static int unpack_packed(const struct gang_terms *in, struct gang_terms *out,
                         struct strbuf *buf)
{
    gang_terms_pack(buf, in);
    return gang_terms_unpack(strbuf_str(buf), out);
}

static void packed_form_is_read_back(void **state)
{
    auto_strbuf buf = {0};
    struct gang_terms in = sample();
    struct gang_terms out;
    (void)state;

    assert_int_equal(unpack_packed(&in, &out, &buf), 0);
    assert_int_equal(out.kind, GANG_TRAINING_TOLERANT);
    assert_true(out.has_exclusive_nodes);
    assert_int_equal(out.freezing_window_ms, 300000);
    assert_int_equal(out.replace_timeout_ms, 1000);
    assert_int_equal(out.sub_group_count, 2);
    assert_true(str_equal(out.sub_groups[0].name, STR("ps")));
    assert_true(out.sub_groups[0].is_auxiliary);
    assert_int_equal(out.sub_groups[0].hops_max, HOPS_ANY);
    assert_int_equal(out.sub_groups[1].min_count, 0);
    assert_int_equal(out.sub_groups[1].max_count, 8);
    assert_int_equal(out.sub_groups[1].hops_max, 2);
    assert_int_equal(out.sub_groups[1].hops_wait_ms, 5);
}

static void counts_that_contradict_are_refused(void **state)
{
    auto_strbuf above = {0};
    auto_strbuf none = {0};
    auto_strbuf empty = {0};
    struct gang_terms out;
    struct gang_terms terms = sample();
    (void)state;

    terms.sub_groups[0].min_count = 3;
    assert_int_equal(unpack_packed(&terms, &out, &above), -ERR_CORRUPT);
    terms = sample();
    terms.sub_groups[1].max_count = 0;
    assert_int_equal(unpack_packed(&terms, &out, &none), -ERR_CORRUPT);
    terms = sample();
    terms.sub_group_count = 0;
    assert_int_equal(unpack_packed(&terms, &out, &empty), -ERR_CORRUPT);
}

static void newer_versions_and_rubbish_are_refused(void **state)
{
    struct gang_terms out;
    (void)state;

    assert_int_equal(gang_terms_unpack(STR("\x7f"), &out), -ERR_VERSION);
    assert_int_equal(gang_terms_unpack(STR(""), &out), -ERR_CORRUPT);
    assert_int_equal(gang_terms_unpack(STR("\x01\x09"), &out), -ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(packed_form_is_read_back),
        TEST(counts_that_contradict_are_refused),
        TEST(newer_versions_and_rubbish_are_refused),
    };
    return RUN_TESTS(tests);
}
