/*
 * maintenance windows: what their commands make of a server's numbers.
 */
#include "script.h"
#include "unit.h"

/* Let the server have one window, which begins and repeats like this. */
static void set_window(struct script *script, int64_t begin_s, int64_t repeat_s)
{
    static char name[] = "w";
    Google__Protobuf__Timestamp begin = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Berth__Api__MaintenanceWindow window = BERTH__API__MAINTENANCE_WINDOW__INIT;
    Berth__Api__MaintenanceWindowStatus status =
        BERTH__API__MAINTENANCE_WINDOW_STATUS__INIT;
    Berth__Api__MaintenanceWindowStatus *windows[] = {&status};
    Berth__Api__ListMaintenanceWindowsResponse response =
        BERTH__API__LIST_MAINTENANCE_WINDOWS_RESPONSE__INIT;

    begin.seconds = begin_s;
    window.name = name;
    window.begin = window.end = &begin;
    window.repeat_seconds = window.lead_seconds = repeat_s;
    window.all_nodes = true;
    status.window = &window;
    response.windows = windows;
    response.n_windows = 1;
    answer(script, &response.base);
}

static void an_end_that_is_no_number_is_refused(void **state)
{
    struct script *script = *state;

    set_window(script, INT64_MAX - 60, 0);
    check(ASK(script, "", "update", "maintenance-window", "w", "--duration",
              "61s"),
          CLI_USAGE, "",
          "berthctl: --duration: 61 s from the beginning are after the year "
          "9999; give less\n");
    check(ASK(script, "", "update", "maintenance-window", "w", "--duration",
              "1m"),
          CLI_INVALID, "",
          "berthctl: --begin: must be a time from 1970 to 9999\n");
}

static void times_are_whole_seconds(void **state)
{
    struct script *script = *state;

    set_window(script, 1700000000, 0);
    check(
        ASK(script, "", "update", "maintenance-window", "w", "--lead", "500ms"),
        CLI_USAGE, "",
        "berthctl: --lead takes a time in whole seconds such as 90m or 24h, "
        "not \"500ms\"\n");
}

static void errors_name_options(void **state)
{
    struct script *script = *state;

    check(ASK(script, "", "create", "maintenance-window", "w", "--duration",
              "1h", "--all-nodes"),
          CLI_INVALID, "", "berthctl: --begin: must be given\n");
    check(ASK(script, "", "create", "maintenance-window", "w", "--begin",
              "2026-01-31T12:00:00Z", "--duration", "1h", "--all-nodes",
              "--repeat", "5m"),
          CLI_INVALID, "",
          "berthctl: --repeat, in seconds: must be longer than the window\n");
    check(ASK(script, "", "create", "maintenance-window", "w", "--duration",
              "1h"),
          CLI_INVALID, "",
          "berthctl: which nodes? Give --executors, --nodes, --pools or "
          "--selector, or --all-nodes\n");
    check(ASK(script, "", "create", "maintenance-window", "w", "--all-nodes",
              "--nodes", "n"),
          CLI_INVALID, "",
          "berthctl: --all-nodes must not be set beside --executors, --nodes, "
          "--pools or --selector\n");
}

static void one_about_no_node_is_remarked_on(void **state)
{
    struct script *script = *state;

    set_window(script, 1700000000, 0);
    check(ASK(script, "", "create", "maintenance-window", "w", "--begin",
              "2026-01-31T12:00:00Z", "--duration", "1h", "--all-nodes"),
          CLI_OK, "Created maintenance window w\n",
          "berthctl: maintenance window w is about no node: none that is known "
          "now matches it (get nodes -o json shows names, pools and labels)\n");
}

static void times_that_are_too_long_are_printed(void **state)
{
    struct script *script = *state;

    set_window(script, 1700000000, INT64_MAX);
    struct run_result result =
        ASK(script, "", "get", "maintenance-windows", "w");
    assert_int_equal(result.code, CLI_OK);
    assert_non_null(strstr(result.out, "9223372036854775807s"));
    free(result.out);
    free(result.err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(an_end_that_is_no_number_is_refused),
        SERVED(times_are_whole_seconds),
        SERVED(errors_name_options),
        SERVED(one_about_no_node_is_remarked_on),
        SERVED(times_that_are_too_long_are_printed),
    };

    return RUN_TESTS(tests);
}
