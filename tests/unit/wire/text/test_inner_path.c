/*
 * inner_path: what stays below a folder, and nothing else.
 */
#include "unit.h"
#include "wire/text/inner_path.h"

static void only_paths_that_stay_below_are_good(void **state)
{
    static const struct {
        const char *path;
        bool is_good;
    } rows[] = {
        {"a", true},        {"a/b.c/...", true},
        {".a/..b", true},   {"a b/\n\x1b[2J", true}, /* shown with escapes */
        {"\xc3\xa4", true}, {"", false},
        {"/", false},       {"/a", false},
        {"a/", false},      {"a//b", false},
        {".", false},       {"..", false},
        {"a/./b", false},   {"a/../b", false},
        {"../a", false},    {"a/..", false},
        {"a\xff", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_int_equal(inner_path_is_good(str_of(rows[i].path)),
                         rows[i].is_good);
    }
    assert_false(inner_path_is_good(str_make("a\0b", 3)));
}

static void names_and_paths_have_limits(void **state)
{
    char path[INNER_PATH_BYTES_MAX + 1];

    (void)state;
    memset(path, 'a', sizeof(path));
    assert_true(inner_path_is_good(str_make(path, INNER_PATH_NAME_BYTES_MAX)));
    assert_false(
        inner_path_is_good(str_make(path, INNER_PATH_NAME_BYTES_MAX + 1)));
    for (size_t i = 1; i < sizeof(path); i += 2) {
        path[i] = '/';
    }
    assert_true(inner_path_is_good(str_make(path, INNER_PATH_BYTES_MAX)));
    path[INNER_PATH_BYTES_MAX] = 'a';
    assert_false(inner_path_is_good(str_make(path, sizeof(path))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_paths_that_stay_below_are_good),
        cmocka_unit_test(names_and_paths_have_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
