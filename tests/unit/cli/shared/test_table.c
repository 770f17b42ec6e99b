/*
 * table: columns as wide as their widest cell, however many rows there are.
 */
#include "cli/shared/command.h"
#include "unit.h"

static const char *const headings[] = {"JOB", "REASON", "N"};

/* What is written of a table. */
static void print(struct table *table, struct strbuf *ret_text)
{
    char *bytes = NULL;
    size_t byte_count = 0;
    FILE *out = open_memstream(&bytes, &byte_count);

    assert_non_null(out);
    table_print(table, out);
    (void)fclose(out);
    strbuf_add(ret_text, bytes, byte_count);
    free(bytes);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct table table = {&arena, headings, ARRAY_COUNT(headings), {0}, NULL,
                          NULL,   false};
    const char *const cells[] = {"a", "f\u00fcllt", "1", "longer", "", "12"};

    for (size_t i = 0; i < ARRAY_COUNT(cells); i++) {
        table_add(&table, cells[i]);
    }
    print(&table, &text);
    assert_string_equal(strbuf_text(&text), "JOB     REASON  N\n"
                                            "a       f\u00fcllt   1\n"
                                            "longer          12\n");
    assert_int_equal(table.cells.count, 0);
    (void)state;
}

/* Looking at every row for each cell would take many minutes. */
static void a_table_of_very_many_rows_is_written_at_once(void **state)
{
    enum { ROW_COUNT = 100000 };
    auto_arena arena = {0};
    auto_strbuf text = {0};
    struct table table = {&arena, headings, ARRAY_COUNT(headings), {0}, NULL,
                          NULL,   false};

    for (int i = 0; i < ROW_COUNT; i++) {
        table_add(&table, "01m814ffhccs0a23k3aj12gxsm");
        table_add(&table, "it waits");
        table_addf(&table, "%d", i % 10);
    }
    print(&table, &text);
    assert_int_equal(strbuf_str(&text).byte_count,
                     (ROW_COUNT + 1) * strlen("01m814ffhccs0a23k3aj12gxsm  "
                                              "it waits  0\n"));
    (void)state;
}

/* What a terminal is too narrow for goes, the least wanted first. */
static void a_narrow_terminal_goes_without_spare_columns(void **state)
{
    static const char *const wide[] = {"JOB", "QUEUE", "NODE", "REASON"};
    static const char *const spare[] = {"NODE", "QUEUE", NULL};
    static const char *const cells[] = {"0123456789", "0123456789",
                                        "0123456789",
                                        "why that job does not start yet"};
    static const struct {
        int width;
        const char *text;
    } cases[] = {
        {56, "JOB         QUEUE       NODE        REASON\n"
             "0123456789  0123456789  0123456789  why that job does no\n"},
        {55, "JOB         QUEUE       REASON\n"
             "0123456789  0123456789  why that job does not start yet\n"},
        {40, "JOB         REASON\n"
             "0123456789  why that job does not start \n"},
        {10, "JOB         REASON\n"
             "0123456789  why th\n"},
        {0, "JOB         QUEUE       NODE        REASON\n"
            "0123456789  0123456789  0123456789  "
            "why that job does not start yet\n"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_arena arena = {0};
        struct table table = {&arena, wide, ARRAY_COUNT(wide), {0}, spare,
                              NULL,   false};
        char *bytes = NULL;
        size_t byte_count = 0;
        struct cli_ports ports = {.width = cases[i].width,
                                  .out = open_memstream(&bytes, &byte_count)};
        struct cli cli = {.ports = &ports};
        for (size_t k = 0; k < ARRAY_COUNT(cells); k++) {
            table_add(&table, cells[k]);
        }
        cli_print_table(&cli, &table);
        (void)fclose(ports.out);
        assert_string_equal(bytes, cases[i].text);
        free(bytes);
    }
    (void)state;
}

static void a_table_for_programs_has_commas(void **state)
{
    auto_arena arena = {0};
    struct table table = {&arena, headings, ARRAY_COUNT(headings), {0}, NULL,
                          NULL,   false};
    char *bytes = NULL;
    size_t byte_count = 0;
    struct cli_ports ports = {.out = open_memstream(&bytes, &byte_count)};
    struct cli cli = {.ports = &ports, .is_csv = true};

    table_add(&table, "a");
    table_add(&table, "full, \"so\" to say");
    table_add(&table, "");
    cli_print_table(&cli, &table);
    (void)fclose(ports.out);
    assert_string_equal(bytes, "JOB,REASON,N\n"
                               "a,\"full, \"\"so\"\" to say\",\n");
    free(bytes);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_table_for_programs_has_commas),
        TEST(a_narrow_terminal_goes_without_spare_columns),
        TEST(columns_are_as_wide_as_their_widest_cell),
        TEST(a_table_of_very_many_rows_is_written_at_once),
    };

    return RUN_TESTS(tests);
}
