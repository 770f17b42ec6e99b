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

/* Each bit flipped, and each end cut off: a target would be told twice, or
 * never of what lies between. */
static void no_damage_is_believed(void **state)
{
    auto_strbuf lines = {0}, text = {0};
    uint64_t seq;

    (void)state;
    positions_put(STR("chat"), 7, &lines);
    positions_put(STR("pager"), 4711, &lines);
    positions_seal(strbuf_str(&lines), &text);
    assert_true(positions_is_whole(strbuf_str(&text)));
    assert_true(positions_find(strbuf_str(&text), STR("pager"), &seq));
    assert_int_equal(seq, 4711);
    for (size_t bit = 0; bit < 8 * text.byte_count; bit++) {
        text.bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(positions_is_whole(strbuf_str(&text)));
        text.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t n = 0; n < text.byte_count; n++) {
        assert_false(positions_is_whole(str_make(text.bytes, n)));
    }
}

static void what_older_releases_wrote_is_believed(void **state)
{
    (void)state;
    assert_true(positions_is_whole(STR("7 chat\n4711 pager\n")));
    assert_false(positions_is_whole(STR("7 chat\n4711 pag")));
    assert_false(positions_is_whole(STR("7 chat\nx\n")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(positions_are_found_by_name),
        TEST(no_damage_is_believed),
        TEST(what_older_releases_wrote_is_believed),
    };

    return RUN_TESTS(tests);
}
