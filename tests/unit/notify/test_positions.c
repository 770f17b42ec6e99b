/*
 * positions: how far each target has been told, as text.
 */
#include "notify/positions.h"
#include "unit.h"

static void positions_are_found_by_name(void **state)
{
    auto_strbuf text = {0};
    uint64_t seq;

    (void)state;
    positions_put(STR("chat"), 7, &text);
    positions_put(STR("pager"), UINT64_MAX, &text);
    strbuf_add_text(&text, "99999999999999999999 big\nx y\n12\n\n");
    assert_true(positions_find(strbuf_str(&text), STR("pager"), &seq));
    assert_true(seq == UINT64_MAX);
    assert_true(positions_find(strbuf_str(&text), STR("chat"), &seq));
    assert_true(seq == 7);
    assert_false(positions_find(strbuf_str(&text), STR("big"), &seq));
    assert_false(positions_find(strbuf_str(&text), STR("cha"), &seq));
    assert_false(positions_find(STR(""), STR("chat"), &seq));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(positions_are_found_by_name),
    };

    return RUN_TESTS(tests);
}
