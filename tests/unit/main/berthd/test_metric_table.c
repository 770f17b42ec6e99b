/*
 * metric_table, machine_page: what is served has its row.
 */
#include <string.h>

#include "main/berthd/machine_page.h"
#include "main/berthd/metric_table.h"
#include "main/berthd/pages.h"
#include "main/berthd/queue_page.h"
#include "unit.h"

static void rows_are_sorted_and_whole(void **state)
{
    (void)state;
    uint32_t count;
    const struct metric_row *rows = metric_rows(&count);

    assert_true(count > 50);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(*rows[i].type && *rows[i].about);
        assert_true(i == 0 || strcmp(rows[i - 1].name, rows[i].name) < 0);
    }
}

static void a_head_says_meaning_and_type(void **state)
{
    (void)state;
    auto_strbuf out = {0};

    metric_head(&out, "berth_queues");
    assert_string_equal(strbuf_text(&out),
                        "# HELP berth_queues Queues that exist.\n"
                        "# TYPE berth_queues gauge\n");
}

static void admitted_work_is_told_of_by_pool(void **state)
{
    (void)state;
    struct pool_admitted rows[] = {
        {STR("default"), 2, 1700000000500},
        {STR("gpu"), 1, INT64_MAX},
    };
    struct command *command = command_create(COMMAND_QUERY_QUEUES);
    auto_strbuf out = {0};

    command->queues.admitted = rows;
    command->queues.admitted_count = ARRAY_COUNT(rows);
    queue_page_put(&out, command);
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "\nberth_admitted_jobs{pool=\"default\"} 2\n"
                                 "berth_admitted_jobs{pool=\"gpu\"} 1\n"));
    assert_non_null(
        strstr(text, "\nberth_reservation_start_time_seconds{pool=\"default\"}"
                     " 1700000000.5\n"));
    assert_null(strstr(text, "start_time_seconds{pool=\"gpu\"}"));
    command_destroy(command);
}

static void check_label(const char *value, const char *wanted)
{
    auto_strbuf out = {0};

    pages_put_label(&out, str_of(value));
    assert_string_equal(strbuf_text(&out), wanted);
}

static void labels_are_what_a_terminal_may_show(void **state)
{
    (void)state;
    check_label("q \"1\" \\d\n", "q \\\"1\\\" \\\\d\\n");
    check_label("\x1b[2J\xc2\x9b\xe2\x80\xae\xff",
                "\\\\x1b[2J\\\\x9b\\\\u{202e}\\\\xff");
    /* Two queues never have the same label. */
    check_label("\\x1b[2J\\u{202e}", "\\\\x5cx1b[2J\\\\x5cu{202e}");
}

static void the_machine_is_told_of(void **state)
{
    (void)state;
    struct data_dir dir = {
        .path = "/", .log = "/proc/self/exe", .store = "/nowhere/store.db"};
    auto_strbuf out = {0};

    machine_page_put(&out, &dir);
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "\nprocess_resident_memory_bytes "));
    assert_non_null(strstr(text, "\nprocess_open_fds "));
    assert_non_null(strstr(text, "\nberth_data_free_bytes "));
    assert_null(strstr(text, "\nberth_log_size_bytes 0\n"));
    assert_non_null(strstr(text, "\nberth_store_size_bytes 0\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_are_sorted_and_whole),
        TEST(a_head_says_meaning_and_type),
        TEST(admitted_work_is_told_of_by_pool),
        TEST(labels_are_what_a_terminal_may_show),
        TEST(the_machine_is_told_of),
    };

    return RUN_TESTS(tests);
}
