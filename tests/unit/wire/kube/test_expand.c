/*
 * expand: the pieces of arguments and variables, and their bounds.
 */
#include "base/strbuf.h"
#include "unit.h"
#include "wire/kube/expand.h"

/* Each piece as [name|text]. */
static char *pieces_of(const char *text)
{
    struct strbuf out = {0};
    struct expand_piece piece;

    while (expand_next(&text, &piece)) {
        strbuf_addf(&out, "[%.*s|%.*s]", STR_ARG(piece.name),
                    STR_ARG(piece.text));
    }
    return strbuf_steal(&out);
}

static void a_text_is_read_piece_by_piece(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"plain", "[|plain]"},
        {"a$(B)c", "[|a][B|$(B)][|c]"},
        {"$(A)$(B)", "[A|$(A)][B|$(B)]"},
        {"$$(A)", "[|$][|(A)]"},
        {"$$$$", "[|$][|$]"},
        {"$(A", "[|$(A]"},
        {"$()x", "[|$()][|x]"},
        {"$", "[|$]"},
        {"1$x$(Y)", "[|1][|$x][Y|$(Y)]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_mem char *pieces = pieces_of(cases[i][0]);
        assert_string_equal(pieces, cases[i][1]);
    }
}

static void values_and_pods_have_a_bound(void **state)
{
    size_t sum = 0;
    struct err err = {""};

    (void)state;
    assert_int_equal(expand_count(&sum, EXPAND_VALUE_BYTES_MAX + 1, &err),
                     -ERR_INVALID);
    assert_non_null(strstr(err.text, "longer than 1048576 bytes"));
    assert_int_equal(sum, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(expand_count(&sum, EXPAND_VALUE_BYTES_MAX, &err), 0);
    }
    assert_int_equal(sum, EXPAND_POD_BYTES_MAX);
    assert_int_equal(expand_count(&sum, 0, &err), 0);
    assert_int_equal(expand_count(&sum, 1, &err), -ERR_INVALID);
    assert_non_null(strstr(err.text, "longer than 4194304 bytes"));
    assert_int_equal(expand_count(&sum, SIZE_MAX, &err), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_text_is_read_piece_by_piece),
        TEST(values_and_pods_have_a_bound),
    };
    return RUN_TESTS(tests);
}
