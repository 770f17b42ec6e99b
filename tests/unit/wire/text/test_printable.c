/*
 * printable: nothing that a client says moves a cursor.
 */
#include "unit.h"
#include "wire/text/printable.h"

static void check(const char *text, enum printable how, const char *expected)
{
    auto_strbuf out = {0};

    wire_printable(str_of(text), how, &out);
    assert_string_equal(strbuf_text(&out), expected);
}

static void controls_are_escaped(void **state)
{
    (void)state;
    check("", PRINTABLE_LINE, "");
    check("plain \\ text \xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80", PRINTABLE_LINE,
          "plain \\ text \xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80");
    check("\x1b[2J\x7f\r\n\t", PRINTABLE_LINE, "\\x1b[2J\\x7f\\x0d\\x0a\\x09");
    check("\x1b[2J\r\n\t", PRINTABLE_TEXT, "\\x1b[2J\\x0d\n\t");
    check("\xc2\x9b"
          "2J",
          PRINTABLE_LINE, "\\x9b2J");
    check("\x9b"
          "2J\xff",
          PRINTABLE_LINE, "\\x9b2J\\xff");
}

static void lines_of_a_text_are_indented(void **state)
{
    (void)state;
    check("a\n\nb\x1b[2J\n\n", PRINTABLE_INDENTED, "a\n\n  b\\x1b[2J");
    check("\n", PRINTABLE_INDENTED, "");
    check("\nJob x: succeeded", PRINTABLE_INDENTED, "\n  Job x: succeeded");
}

static void what_turns_or_hides_text_is_escaped(void **state)
{
    (void)state;
    check("a\xe2\x80\xae"
          "b",
          PRINTABLE_LINE, "a\\u{202e}b");
    check("a\xe2\x80\x8b"
          "b",
          PRINTABLE_TEXT, "a\\u{200b}b");
    check("\xef\xbb\xbf", PRINTABLE_LINE, "\\u{feff}");
}

static void json_stays_json(void **state)
{
    (void)state;
    check("{\n\t\"a\": \"\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81\"}",
          PRINTABLE_JSON, "{\n\t\"a\": \"\\u009b\\u202e\\udb40\\udc01\"}");
}

static void characters_are_told_one_by_one(void **state)
{
    (void)state;
    uint32_t c;

    assert_int_equal(wire_next_char(STR("\xe2\x80\xae"), 0, &c), 3);
    assert_int_equal(c, 0x202e);
    assert_int_equal(wire_next_char(STR("\xe2\x80\xae"), 1, &c), 0);
    assert_int_equal(c, 0x80);
    assert_int_equal(wire_next_char(STR("a\xc3"), 1, &c), 0);
    assert_true(wire_is_printable(STR("")));
    assert_true(wire_is_printable(STR("a b \xc3\xa9\xf0\x9f\x98\x80")));
    assert_false(wire_is_printable(STR("a\nb")));
    assert_false(wire_is_printable(STR("a\xe2\x80\xae")));
    assert_false(wire_is_printable(STR("a\xc3")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(controls_are_escaped),
        TEST(lines_of_a_text_are_indented),
        TEST(what_turns_or_hides_text_is_escaped),
        TEST(json_stays_json),
        TEST(characters_are_told_one_by_one),
    };

    return RUN_TESTS(tests);
}
