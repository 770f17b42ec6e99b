/*
 * strbuf: an append that would pass the bound is dropped whole.
 */
#include "base/strbuf.h"
#include "unit.h"

static void appends_follow_one_another(void **state)
{
    (void)state;
    auto_strbuf buf = {0};

    strbuf_add_text(&buf, "a");
    strbuf_addf(&buf, "%d-%s", 7, "x");
    strbuf_add_char(&buf, '!');
    assert_string_equal(strbuf_text(&buf), "a7-x!");
    assert_int_equal(buf.byte_count, 5);
    assert_false(buf.is_over);
}

static void the_bound_holds_and_is_told(void **state)
{
    (void)state;
    auto_strbuf buf = strbuf_make(4);

    strbuf_add_text(&buf, "abc");
    strbuf_add_text(&buf, "de");
    assert_true(buf.is_over);
    assert_string_equal(strbuf_text(&buf), "abc");
}

static void stolen_bytes_are_never_null(void **state)
{
    (void)state;
    struct strbuf buf = {0};
    auto_mem char *text = strbuf_steal(&buf);

    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(appends_follow_one_another),
        TEST(the_bound_holds_and_is_told),
        TEST(stolen_bytes_are_never_null),
    };
    return RUN_TESTS(tests);
}
