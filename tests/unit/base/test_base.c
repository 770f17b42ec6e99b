/*
 * base: error codes and their texts, memory.
 */
#include <string.h>

#include "base/base.h"
#include "base/plural.h"
#include "unit.h"

static void codes_have_names_with_either_sign(void **state)
{
    (void)state;

    assert_string_equal(err_name(ERR_INVALID), "invalid");
    assert_string_equal(err_name(-ERR_VERSION), "version");
}

static void setting_an_error_returns_its_code(void **state)
{
    (void)state;
    struct err err;

    assert_int_equal(err_set(&err, -ERR_IO, "%s %d", "disk", 3), -ERR_IO);
    assert_string_equal(err.text, "disk 3");
    assert_int_equal(err_set(NULL, -ERR_IO, "nobody listens"), -ERR_IO);
}

static void one_is_singular_and_none_is_plural(void **state)
{
    (void)state;
    assert_string_equal(plural_s(1), "");
    assert_string_equal(plural_s(0), "s");
    assert_string_equal(plural_s(2), "s");
    assert_string_equal(plural_of(1, "is", "are"), "is");
    assert_string_equal(plural_of(0, "is", "are"), "are");
}

static void long_text_is_cut(void **state)
{
    (void)state;
    struct err err;
    char text[2 * ERR_TEXT_BYTES_MAX];

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';

    assert_int_equal(err_set(&err, -ERR_IO, "%s", text), -ERR_IO);
    assert_int_equal(strlen(err.text), ERR_TEXT_BYTES_MAX - 1);
}

static void fresh_memory_is_zeroed(void **state)
{
    (void)state;
    auto_mem char *bytes = mem_alloc(100);

    for (int i = 0; i < 100; i++) {
        assert_int_equal(bytes[i], 0);
    }
}

static void copies_are_copies(void **state)
{
    (void)state;
    auto_mem char *text = mem_strdup("abc");
    auto_mem char *bytes = mem_dup("abc", 2);

    assert_string_equal(text, "abc");
    assert_memory_equal(bytes, "ab", 2);
    assert_null(mem_strdup(NULL));
    assert_null(mem_dup("abc", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(codes_have_names_with_either_sign),
        TEST(setting_an_error_returns_its_code),
        TEST(one_is_singular_and_none_is_plural),
        TEST(long_text_is_cut),
        TEST(fresh_memory_is_zeroed),
        TEST(copies_are_copies),
    };
    return RUN_TESTS(tests);
}
