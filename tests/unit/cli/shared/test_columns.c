/*
 * columns: answers written by a pattern, and what tables look like on a
 * terminal.
 */
#include "cli/shared/command.h"
#include "script.h"

#define ID_A "01h00000000000000000000000"

static void patterns_pick_from_answers(void **state)
{
    struct script *script = *state;

    set_job(script, ID_A, API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "get", "jobs", "-o", "name"), CLI_OK, ID_A "\n", "");
    check(ASK(script, "", "get", "jobs", "-o",
              "custom-columns=ID:.jobId,WHERE:.queue,NONE:.x.y"),
          CLI_OK,
          "ID                          WHERE  NONE\n" ID_A "  q      <none>\n",
          "");
    check(ASK(script, "", "get", "jobs", "-o",
              "jsonpath=job {[0].jobId} of {[*].queue}{\"\\n\"}"),
          CLI_OK, "job " ID_A " of q\n\n", "");
}

static void a_name_is_one_line(void **state)
{
    struct script *script = *state;

    set_job(script, "a\n\x1b[2Jb", API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "get", "jobs", "-o", "name"), CLI_OK,
          "a\\x0a\\x1b[2Jb\n", "");
}

static void patterns_that_make_no_sense_are_refused(void **state)
{
    struct script *script = *state;

    check(ASK(script, "", "get", "jobs", "-o", "custom-columns=ID"), CLI_USAGE,
          "",
          "berthctl: -o custom-columns takes HEADING:.PATH,..., not \"ID\"\n");
    check(ASK(script, "", "get", "jobs", "-o", "jsonpath=.jobId"), CLI_USAGE,
          "",
          "berthctl: -o jsonpath takes paths in braces, as in "
          "'jsonpath={[*].jobId}'\n");
    check(ASK(script, "", "get", "jobs", "-o", "custom-columns="), CLI_USAGE,
          "",
          "berthctl: -o custom-columns takes HEADING:.PATH,..., not \"\"\n");
    static const char *const broken[] = {"jsonpath={[*", "jsonpath={[*}",
                                         "jsonpath={}", "jsonpath={[x].a}",
                                         "jsonpath={.a}{"};
    for (size_t i = 0; i < ARRAY_COUNT(broken); i++) {
        check(ASK(script, "", "get", "jobs", "-o", broken[i]), CLI_USAGE, "",
              "berthctl: -o jsonpath takes paths in braces, as in "
              "'jsonpath={[*].jobId}'\n");
    }
}

static void tables_fit_a_terminal_and_have_colours(void **state)
{
    static const char *const headings[] = {"STATE", "REASON"};
    auto_arena arena = {0};
    struct table table = {&arena, headings, ARRAY_COUNT(headings), {0}, NULL,
                          NULL,   false};
    char *bytes = NULL;
    size_t byte_count = 0;
    FILE *out = open_memstream(&bytes, &byte_count);
    struct cli_ports ports = {.out = out, .has_colours = true, .width = 18};
    struct cli cli = {.ports = &ports};

    (void)state;
    table_add(&table, "failed");
    table_add(&table, "a reason f\u00fcr it");
    cli_print_table(&cli, &table);
    cli.is_wide = true;
    ports.has_colours = false;
    table_add(&table, "failed");
    table_add(&table, "a reason f\u00fcr it");
    cli_print_table(&cli, &table);
    (void)fclose(out);
    assert_string_equal(bytes, "\033[1mSTATE\033[0m   \033[1mREASON\033[0m\n"
                               "\033[31mfailed\033[0m  a reason f\n"
                               "STATE   REASON\n"
                               "failed  a reason f\u00fcr it\n");
    free(bytes);
}

/* Nothing but a terminal cuts a text. */
static void texts_are_cut_for_terminals_only(void **state)
{
    static const char text[] = "a reason with far more words than the table of "
                               "a terminal has room for\nand two lines\n";
    static const char all[] = "a reason with far more words than the table of "
                              "a terminal has room for and two lines";
    struct cli_ports ports = {.width = 80};
    struct cli cli = {.ports = &ports};

    (void)state;
    assert_string_equal(
        cli_cell(&cli, text),
        "a reason with far more words than the table of a terminal...");
    cli.is_wide = true;
    assert_string_equal(cli_cell(&cli, text), all);
    cli.is_wide = false;
    ports.width = 0;
    assert_string_equal(cli_cell(&cli, text), all);
    arena_fini(&cli.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(patterns_pick_from_answers),
        SERVED(a_name_is_one_line),
        SERVED(patterns_that_make_no_sense_are_refused),
        TEST(texts_are_cut_for_terminals_only),
        TEST(tables_fit_a_terminal_and_have_colours),
    };
    return RUN_TESTS(tests);
}
