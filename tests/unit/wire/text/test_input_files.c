/*
 * input_files: files of a job as the text of an annotation, and back.
 */
#include "unit.h"
#include "wire/text/input_files.h"

static void what_is_written_is_read(void **state)
{
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct input_file *files;
    struct err err;

    (void)state;
    input_files_add(&text, STR("a/b c"), str_make("\0\n:", 3));
    input_files_add(&text, STR("empty"), STR(""));
    assert_string_equal(text.bytes, "a/b c:AAo6\nempty:\n");
    assert_int_equal(input_files_read(strbuf_str(&text), &arena, &files, &err),
                     2);
    assert_string_equal(files[0].path.p, "a/b c");
    assert_true(str_equal(files[0].bytes, str_make("\0\n:", 3)));
    assert_int_equal(files[1].bytes.byte_count, 0);
    assert_int_equal(input_files_read(STR(""), &arena, &files, &err), 0);
}

static void what_breaks_a_rule_is_refused_by_name(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"a", "input file \"a\" must be followed by a colon"},
        {"/a:", "input file \"/a\" must be names divided by single slashes"},
        {"../a:", "input file \"../a\" must be names"},
        {":", "input file \"\" must be names"},
        {"\n", "must be followed by a colon"},
        {"a:\na:", "input file \"a\" is there already"},
        {"a/b:\na:", "or lies in another"},
        {"a:\na/b:", "or lies in another"},
        {"a:%", "input file \"a\" must be base64"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        auto_arena arena = {0};
        struct input_file *files;
        struct err err;
        assert_int_equal(
            input_files_read(str_of(rows[i].text), &arena, &files, &err),
            -ERR_INVALID);
        assert_non_null(strstr(err.text, rows[i].error));
    }
}

static void they_are_few_and_small(void **state)
{
    auto_arena arena = {0};
    auto_strbuf many = {0}, large = {0}, bytes = {0};
    struct input_file *files;
    struct err err;

    (void)state;
    for (int i = 0; i < INPUT_FILES_MAX; i++) {
        strbuf_addf(&many, "f%d:\n", i);
    }
    assert_int_equal(input_files_read(strbuf_str(&many), &arena, &files, &err),
                     INPUT_FILES_MAX);
    strbuf_add_text(&many, "one-more:");
    assert_int_equal(input_files_read(strbuf_str(&many), &arena, &files, &err),
                     -ERR_LIMIT);
    char *room = strbuf_reserve(&bytes, INPUT_FILES_BYTES_MAX);
    memset(room, 'x', INPUT_FILES_BYTES_MAX);
    input_files_add(&large, STR("a"), str_make(room, INPUT_FILES_BYTES_MAX));
    assert_int_equal(input_files_read(strbuf_str(&large), &arena, &files, &err),
                     1);
    input_files_add(&large, STR("b"), STR("x"));
    assert_int_equal(input_files_read(strbuf_str(&large), &arena, &files, &err),
                     -ERR_LIMIT);
}

/* Each folder is made by itself, so they are counted like the files. */
static void their_folders_are_few_too(void **state)
{
    auto_arena arena = {0};
    auto_strbuf deep = {0}, many = {0};
    struct input_file *files;
    struct err err;

    (void)state;
    for (int i = 0; i < INPUT_FILE_FOLDERS_MAX; i++) {
        strbuf_add_text(&deep, "d/");
    }
    strbuf_add_text(&deep, "f:");
    assert_int_equal(input_files_read(strbuf_str(&deep), &arena, &files, &err),
                     1);
    auto_strbuf deeper = {0};
    strbuf_addf(&deeper, "d/%s", strbuf_text(&deep));
    assert_int_equal(
        input_files_read(strbuf_str(&deeper), &arena, &files, &err),
        -ERR_INVALID);
    assert_non_null(strstr(err.text, "lies in more than 31 folders"));
    for (int i = 0; i < INPUT_FOLDERS_MAX / 8; i++) {
        strbuf_addf(&many, "%d/2/3/4/5/6/7/8/f:\n", i);
    }
    assert_int_equal(input_files_read(strbuf_str(&many), &arena, &files, &err),
                     INPUT_FOLDERS_MAX / 8);
    strbuf_add_text(&many, "one/more:");
    assert_int_equal(input_files_read(strbuf_str(&many), &arena, &files, &err),
                     -ERR_LIMIT);
    assert_non_null(strstr(err.text, "256 folders"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(what_breaks_a_rule_is_refused_by_name),
        cmocka_unit_test(they_are_few_and_small),
        cmocka_unit_test(their_folders_are_few_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
