/*
 * usage: one table from which options are parsed and shown.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "main/common/usage.h"
#include "unit.h"

static const struct usage_option options[] = {
    {"data", "DIR", "where it is kept"},
    {"quiet", NULL,
     "say nothing, which is so long a story that it does not end on the line "
     "on which it began"},
};

static const struct usage usage = {
    .program = "toy",
    .command = "run",
    .arguments = "FILE [OPTIONS]",
    .about = "plays",
    .options = options,
    .option_count = ARRAY_COUNT(options),
    .notes = "That is all.\n",
};

/* What a parse found. */
struct taken {
    const char *data;
    int quiet_count;
    int answer;
};

static int take(int code, void *of)
{
    struct taken *taken = of;

    if (code == 1) {
        taken->data = optarg;
    } else {
        taken->quiet_count++;
    }
    return taken->answer;
}

static int parse(struct taken *taken, const char *a, const char *b,
                 const char *c)
{
    char name[] = "toy";
    char *words[5] = {name};
    int count = 1;

    for (size_t i = 0; i < 3; i++) {
        const char *word = (const char *const[]){a, b, c}[i];
        if (word) {
            words[count++] = strdup(word);
        }
    }
    optind = 0;
    int rc = usage_parse(&usage, count, words, take, taken);
    if (taken->data) {
        taken->data = strcmp(taken->data, "d") == 0 ? "d" : "other";
    }
    for (int i = 1; i < count; i++) {
        free(words[i]);
    }
    return rc;
}

static void options_have_the_codes_of_their_rows(void **state)
{
    (void)state;
    struct taken taken = {0};

    assert_int_equal(parse(&taken, "--quiet", "--data=d", "--quiet"), 0);
    assert_string_equal(taken.data, "d");
    assert_int_equal(taken.quiet_count, 2);
}

static void what_is_no_option_is_left_behind_optind(void **state)
{
    (void)state;
    struct taken taken = {0};

    assert_int_equal(parse(&taken, "file", "--quiet", NULL), 0);
    assert_int_equal(optind, 2);
}

static void help_and_its_like_end_the_parsing(void **state)
{
    (void)state;
    struct taken taken = {0};

    assert_int_equal(parse(&taken, "--help", "--quiet", NULL), 1);
    assert_int_equal(parse(&taken, "--version", "--quiet", NULL), 1);
    assert_int_equal(parse(&taken, "--print-options", "--quiet", NULL), 1);
    assert_int_equal(taken.quiet_count, 0);
}

static void wrong_options_and_values_are_refused(void **state)
{
    (void)state;
    struct taken taken = {0};

    assert_int_equal(parse(&taken, "--loud", NULL, NULL), -1);
    assert_int_equal(parse(&taken, "--data", NULL, NULL), -1);
    taken.answer = -7;
    assert_int_equal(parse(&taken, "--quiet", NULL, NULL), -1);
    taken.answer = 1;
    assert_int_equal(parse(&taken, "--quiet", NULL, NULL), 1);
}

/* What one of the writers writes; the caller frees it. */
static char *written(void (*write)(const struct usage *usage, FILE *out))
{
    char *text = NULL;
    size_t byte_count = 0;
    FILE *out = open_memstream(&text, &byte_count);

    write(&usage, out);
    (void)fclose(out);
    return text;
}

static void help_shows_all_options_within_the_columns(void **state)
{
    (void)state;
    char *text = written(usage_print);

    assert_string_equal(
        text, "toy run - plays\n\n"
              "usage: toy run FILE [OPTIONS]\n\n"
              "  --data DIR  where it is kept\n"
              "  --quiet     say nothing, which is so long a story that it "
              "does not end on the\n"
              "              line on which it began\n"
              "  --help      show this help and exit\n"
              "  --version   show the version and exit\n\n"
              "That is all.\n");
    free(text);
}

static void table_has_a_line_for_each_option(void **state)
{
    (void)state;
    char *text = written(usage_print_table);

    assert_non_null(strstr(text, "command\trun\t\tFILE [OPTIONS]\tplays\n"));
    assert_non_null(strstr(text, "option\tdata\t\tDIR\twhere it is kept\n"));
    assert_non_null(strstr(text, "option\tversion\t\t\tshow the version"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_the_codes_of_their_rows),
        cmocka_unit_test(what_is_no_option_is_left_behind_optind),
        cmocka_unit_test(help_and_its_like_end_the_parsing),
        cmocka_unit_test(wrong_options_and_values_are_refused),
        cmocka_unit_test(help_shows_all_options_within_the_columns),
        cmocka_unit_test(table_has_a_line_for_each_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
