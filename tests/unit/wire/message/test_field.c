/* Sentences of wire/message/field.h and wire/text/utf8.h. */
#include "unit.h"
#include "wire/message/field.h"
#include "wire/text/utf8.h"

static void test_what_is_put_is_read_back(void **state)
{
    auto_strbuf buf = {0};

    (void)state;
    field_put_u64(&buf, 1, 0);
    field_put_u64(&buf, FIELD_NUMBER_MAX, UINT64_MAX);
    field_put_bytes(&buf, 3, STR("abc"));
    field_put_set_u64(&buf, 4, 0);
    field_put_set_bytes(&buf, 5, STR(""));

    struct field_cursor cursor = field_cursor_make(strbuf_str(&buf));
    struct field field;
    assert_true(field_read(&cursor, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, 0);
    assert_true(field_read(&cursor, &field));
    assert_int_equal(field.number, FIELD_NUMBER_MAX);
    assert_true(field.value == UINT64_MAX);
    assert_true(field_read(&cursor, &field));
    assert_int_equal(field.type, FIELD_BYTES);
    assert_true(str_equal(field.bytes, STR("abc")));
    assert_true(field_cursor_is_done(&cursor));
}

static void test_a_message_inside_takes_a_minimal_length(void **state)
{
    auto_strbuf nested = {0}, flat = {0}, inner = {0};

    (void)state;
    size_t outer = field_begin(&nested, 5);
    size_t begin = field_begin(&nested, 300);
    for (int i = 0; i < 100; i++) {
        field_put_bytes(&nested, 1, STR("0123456789"));
        field_put_bytes(&inner, 1, STR("0123456789"));
    }
    field_end(&nested, begin);
    field_end(&nested, outer);

    auto_strbuf middle = {0};
    field_put_bytes(&middle, 300, strbuf_str(&inner));
    field_put_bytes(&flat, 5, strbuf_str(&middle));
    assert_true(str_equal(strbuf_str(&nested), strbuf_str(&flat)));
}

/* Lengths of 1, 2 and 3 bytes, each guessed as 1 to 5. */
static void test_a_wrong_guess_of_a_length_leaves_no_trace(void **state)
{
    const size_t sizes[] = {0, 127, 128, 16383, 16384};
    auto_mem char *bytes = mem_alloc(16384);

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        for (unsigned guess = 1; guess <= 5; guess++) {
            auto_strbuf nested = {0}, flat = {0};
            size_t begin = field_begin_wide(&nested, 7, guess);
            strbuf_add(&nested, bytes, sizes[i]);
            field_end_wide(&nested, begin, guess);
            field_put_bytes(&flat, 7, str_make(bytes, sizes[i]));
            assert_true(str_equal(strbuf_str(&nested), strbuf_str(&flat)));
            assert_int_equal(nested.bytes[nested.byte_count], '\0');
        }
    }
}

static void test_a_length_without_room_makes_the_buffer_over(void **state)
{
    auto_strbuf buf = strbuf_make(2 + 128);
    char bytes[128] = {0};

    (void)state;
    size_t begin = field_begin(&buf, 1);
    strbuf_add(&buf, bytes, sizeof(bytes));
    assert_false(buf.is_over);
    field_end(&buf, begin); /* the length takes two bytes */
    assert_true(buf.is_over);
}

static void test_an_overfull_buffer_stays_over(void **state)
{
    auto_strbuf buf = strbuf_make(16);

    (void)state;
    size_t begin = field_begin(&buf, 1);
    field_put_bytes(&buf, 2, STR("longer than the bound"));
    field_end(&buf, begin);
    assert_true(buf.is_over);
}

static bool is_field(const char *bytes, size_t byte_count)
{
    struct field_cursor cursor = field_cursor_make(str_make(bytes, byte_count));
    struct field field;

    return field_read(&cursor, &field);
}

#define IS_FIELD(literal) is_field(literal, sizeof(literal) - 1)

static void test_what_protobuf_forbids_is_refused(void **state)
{
    (void)state;
    assert_true(IS_FIELD("\x08\x01"));
    assert_false(IS_FIELD("\x00\x01")); /* number 0 */
    assert_false(IS_FIELD("\x07"));     /* number 0, no such type */
    assert_false(IS_FIELD("\x08"));     /* no value */
    assert_false(IS_FIELD("\x0b"));     /* a group */
    assert_false(IS_FIELD("\x0c"));     /* its end */
    assert_false(IS_FIELD("\x0e\x01")); /* wire type 6 */
    assert_false(IS_FIELD("\x0a\x05"
                          "abcd")); /* a length beyond the end */
    assert_false(IS_FIELD("\x0d\x01\x02\x03"));
    assert_false(IS_FIELD("\x09\x01\x02\x03\x04\x05\x06\x07"));
    /* A varint of eleven bytes, and one beyond 64 bits. */
    assert_false(IS_FIELD("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"));
    assert_false(IS_FIELD("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    /* A number beyond 29 bits. */
    assert_false(IS_FIELD("\xff\xff\xff\xff\x1f\x01"));
}

static void test_text_is_wellformed_and_has_no_nul(void **state)
{
    (void)state;
    assert_true(utf8_is_text(STR("")));
    assert_true(utf8_is_text(STR("plain ascii, longer than a word")));
    assert_true(utf8_is_text(STR("gr\xc3\xbc\xc3\x9f \xe2\x82\xac "
                                 "\xf0\x9f\x90\x99 \xf4\x8f\xbf\xbf")));
    assert_int_equal(utf8_text_bytes(STR("abc\0def")), 3);
    assert_int_equal(utf8_text_bytes(STR("abcdefgh\0")), 8);
    assert_false(utf8_is_text(STR("\xc0\xaf")));         /* overlong */
    assert_false(utf8_is_text(STR("\xe0\x80\xaf")));     /* overlong */
    assert_false(utf8_is_text(STR("\xf0\x80\x80\xaf"))); /* overlong */
    assert_false(utf8_is_text(STR("\xed\xa0\x80")));     /* a surrogate */
    assert_false(utf8_is_text(STR("\xf4\x90\x80\x80"))); /* too large */
    assert_false(utf8_is_text(STR("\xf5\x80\x80\x80")));
    assert_false(utf8_is_text(STR("\x80")));     /* a tail alone */
    assert_false(utf8_is_text(STR("\xe2\x82"))); /* cut short */
    assert_false(utf8_is_text(STR("\xff")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_put_is_read_back),
        TEST(test_a_message_inside_takes_a_minimal_length),
        TEST(test_a_wrong_guess_of_a_length_leaves_no_trace),
        TEST(test_a_length_without_room_makes_the_buffer_over),
        TEST(test_an_overfull_buffer_stays_over),
        TEST(test_what_protobuf_forbids_is_refused),
        TEST(test_text_is_wellformed_and_has_no_nul),
    };
    return RUN_TESTS(tests);
}
