/* Creates, updates, deletes and gets maintenance windows. */
#include <inttypes.h>

#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "wire/kube/window_codec.h"
#include "wire/settings/settings.h"
#include "wire/text/rfc3339.h"

enum { MS_PER_S = 1000, LEAD_S = 86400 };

static enum cli_exit read_time(struct cli *cli, const char *option,
                               Google__Protobuf__Timestamp **ret_time)
{
    Google__Protobuf__Timestamp *time =
        wire_new(&google__protobuf__timestamp__descriptor, &cli->arena);
    const char *text = cli_text(cli, option, "");

    if (wire_rfc3339_parse(str_of(text), &time->seconds, &time->nanos) < 0) {
        return cli_fail(cli, CLI_USAGE,
                        "--%s takes a time such as 2026-01-31T12:00:00Z, not "
                        "\"%s\"",
                        option, text);
    }
    *ret_time = time;
    return CLI_OK;
}

static enum cli_exit read_seconds(struct cli *cli, const char *option,
                                  int64_t *ret_seconds)
{
    const char *text = cli_text(cli, option, "");
    int64_t ms;

    if (setting_parse_duration(str_of(text), &ms) < 0 || ms % MS_PER_S) {
        return cli_fail(cli, CLI_USAGE,
                        "--%s takes a time in whole seconds such as 90m or "
                        "24h, not \"%s\"",
                        option, text);
    }
    *ret_seconds = ms / MS_PER_S;
    return CLI_OK;
}

/* The end by --end, or by --duration from the beginning. */
static enum cli_exit take_end(struct cli *cli,
                              Berth__Api__MaintenanceWindow *window)
{
    int64_t seconds = 0;

    if (cli_has(cli, "end") && cli_has(cli, "duration")) {
        return cli_fail(cli, CLI_USAGE, "give --end or --duration, not both");
    }
    if (cli_has(cli, "end")) {
        return read_time(cli, "end", &window->end);
    }
    if (!cli_has(cli, "duration")) {
        return CLI_OK;
    }
    enum cli_exit rc = read_seconds(cli, "duration", &seconds);
    if (rc != CLI_OK || !window->begin) {
        return rc;
    }
    window->end =
        wire_new(&google__protobuf__timestamp__descriptor, &cli->arena);
    window->end->nanos = window->begin->nanos;
    /* Of an update the beginning is what the server says. */
    return __builtin_add_overflow(window->begin->seconds, seconds,
                                  &window->end->seconds)
               ? cli_fail(cli, CLI_USAGE,
                          "--duration: %" PRId64 " s from the beginning are "
                          "after the year 9999; give less",
                          seconds)
               : CLI_OK;
}

static enum cli_exit take_times(struct cli *cli,
                                Berth__Api__MaintenanceWindow *window)
{
    enum cli_exit rc = CLI_OK;

    if (cli_has(cli, "begin")) {
        rc = read_time(cli, "begin", &window->begin);
    }
    if (rc == CLI_OK) {
        rc = take_end(cli, window);
    }
    if (rc == CLI_OK && cli_has(cli, "lead")) {
        rc = read_seconds(cli, "lead", &window->lead_seconds);
    }
    if (rc == CLI_OK && cli_has(cli, "repeat")) {
        rc = read_seconds(cli, "repeat", &window->repeat_seconds);
    }
    return rc;
}

static enum cli_exit take_labels(struct cli *cli,
                                 Berth__Api__MaintenanceWindow *window)
{
    struct cli_names labels = cli_list(cli, "selector");

    window->n_labels = 0;
    window->labels =
        arena_alloc_array(&cli->arena, labels.count, sizeof(*window->labels));
    for (size_t i = 0; i < labels.count; i++) {
        char *key = cli_format(cli, "%s", labels.items[i]);
        char *value = strchr(key, '=');
        if (!value) {
            return cli_fail(cli, CLI_USAGE,
                            "--selector takes K=V,..., not \"%s\"", key);
        }
        *value++ = '\0';
        Berth__Api__MaintenanceWindow__LabelsEntry *entry =
            wire_new(&berth__api__maintenance_window__labels_entry__descriptor,
                     &cli->arena);
        entry->key = key;
        entry->value = value;
        window->labels[window->n_labels++] = entry;
    }
    return CLI_OK;
}

static void take_names(struct cli *cli, const char *option, char ***ret_names,
                       size_t *ret_count)
{
    if (cli_is_given(cli, option)) {
        struct cli_names names = cli_list(cli, option);
        *ret_names = names.items;
        *ret_count = names.count;
    }
}

/* Say what is wrong with a window, which window_check() says by its fields, by
 * the options that set them. */
static enum cli_exit fail_by_option(const struct cli *cli, const char *text)
{
    static const struct {
        const char *field, *option;
    } options[] = {
        {"name", "NAME"},
        {"begin", "--begin"},
        {"end", "--end or --duration"},
        {"leadSeconds", "--lead, in seconds"},
        {"repeatSeconds", "--repeat, in seconds"},
        {"executors", "--executors"},
        {"nodes", "--nodes"},
        {"pools", "--pools"},
        {"labels", "--selector"},
        {"reason", "--reason"},
    };
    size_t field_bytes = strcspn(text, ":[ ");

    for (size_t i = 0; i < ARRAY_COUNT(options); i++) {
        if (strlen(options[i].field) == field_bytes &&
            strncmp(options[i].field, text, field_bytes) == 0) {
            return cli_fail(cli, CLI_INVALID, "%s%s", options[i].option,
                            text + field_bytes);
        }
    }
    return cli_fail(cli, CLI_INVALID, "%s", text);
}

/* Its nodes are selected, in one way. */
static enum cli_exit check_nodes(const struct cli *cli,
                                 const Berth__Api__MaintenanceWindow *window)
{
    bool is_selected = window->n_executors || window->n_nodes ||
                       window->n_pools || window->n_labels;

    if (is_selected != !!window->all_nodes) {
        return CLI_OK;
    }
    return cli_fail(cli, CLI_INVALID, "%s",
                    is_selected
                        ? "--all-nodes must not be set beside --executors, "
                          "--nodes, --pools or --selector"
                        : "which nodes? Give --executors, --nodes, --pools or "
                          "--selector, or --all-nodes");
}

/* Change in a window what options say. */
static enum cli_exit apply_options(struct cli *cli,
                                   Berth__Api__MaintenanceWindow *window)
{
    struct err err;

    enum cli_exit rc = take_times(cli, window);
    if (rc == CLI_OK && cli_is_given(cli, "selector")) {
        rc = take_labels(cli, window);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    take_names(cli, "executors", &window->executors, &window->n_executors);
    take_names(cli, "nodes", &window->nodes, &window->n_nodes);
    take_names(cli, "pools", &window->pools, &window->n_pools);
    rc = cli_switch(cli, "all-nodes", &window->all_nodes);
    if (rc == CLI_OK && cli_has(cli, "reason")) {
        window->reason = cli_format(cli, "%s", cli_text(cli, "reason", ""));
    }
    if (rc == CLI_OK) {
        rc = check_nodes(cli, window);
    }
    if (rc == CLI_OK && window_check(window, &err) < 0) {
        rc = fail_by_option(cli, err.text);
    }
    return rc;
}

/* Remark on a window that no node matches now; nothing if the server does not
 * say. */
static void remark_on_nodes(struct cli *cli, char *name)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    Berth__Api__ListMaintenanceWindowsRequest request =
        BERTH__API__LIST_MAINTENANCE_WINDOWS_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.name = name;
    if (cli_try(cli, "/berth.api.Berth/ListMaintenanceWindows", &request.base,
                &berth__api__list_maintenance_windows_response__descriptor,
                &reply, status) != RPC_OK) {
        return;
    }
    const Berth__Api__ListMaintenanceWindowsResponse *all = (void *)reply;
    if (all->n_windows == 1 && all->windows[0]->node_count == 0) {
        cli_remark(cli,
                   "maintenance window %s is about no node: none that is known "
                   "now matches it (get nodes -o json shows names, pools and "
                   "labels)",
                   name);
    }
}

/* What the server refuses of a window is told by the options, too. */
static enum cli_exit send_window(struct cli *cli, const char *path,
                                 const Berth__Api__MaintenanceWindow *window)
{
    static const char prefix[] = "invalid maintenance window: ";
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));
    enum cli_exit rc = cli_connect(cli);

    if (rc != CLI_OK ||
        cli_try(cli, path, &window->base, NULL, NULL, status) == RPC_OK) {
        return rc;
    }
    return status->code == RPC_INVALID_ARGUMENT &&
                   strncmp(status->message, prefix, strlen(prefix)) == 0
               ? fail_by_option(cli, status->message + strlen(prefix))
               : cli_fail_call(cli, status);
}

enum cli_exit cmd_create_window(struct cli *cli)
{
    Berth__Api__MaintenanceWindow window = BERTH__API__MAINTENANCE_WINDOW__INIT;

    window.name = cli_argument(cli, 0);
    window.lead_seconds = LEAD_S;
    enum cli_exit rc = apply_options(cli, &window);
    if (rc == CLI_OK) {
        rc = send_window(cli, "/berth.api.Berth/CreateMaintenanceWindow",
                         &window);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Created maintenance window %s", window.name);
        remark_on_nodes(cli, window.name);
    }
    return rc;
}

static enum cli_exit
list_windows(struct cli *cli, char *name,
             Berth__Api__ListMaintenanceWindowsResponse **ret_response)
{
    Berth__Api__ListMaintenanceWindowsRequest request =
        BERTH__API__LIST_MAINTENANCE_WINDOWS_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.name = name;
    enum cli_exit rc = cli_call(
        cli, "/berth.api.Berth/ListMaintenanceWindows", &request.base,
        &berth__api__list_maintenance_windows_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    *ret_response = (void *)reply;
    return *name && (*ret_response)->n_windows == 0
               ? cli_fail(cli, CLI_NOT_FOUND,
                          "there is no maintenance window %s", name)
               : CLI_OK;
}

enum cli_exit cmd_update_window(struct cli *cli)
{
    Berth__Api__ListMaintenanceWindowsResponse *response;

    enum cli_exit rc = list_windows(cli, cli_argument(cli, 0), &response);
    if (rc != CLI_OK) {
        return rc;
    }
    Berth__Api__MaintenanceWindow *window = response->windows[0]->window;
    rc = apply_options(cli, window);
    if (rc == CLI_OK) {
        rc = send_window(cli, "/berth.api.Berth/UpdateMaintenanceWindow",
                         window);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "Updated maintenance window %s", window->name);
        remark_on_nodes(cli, window->name);
    }
    return rc;
}

enum cli_exit cmd_delete_window(struct cli *cli)
{
    enum cli_exit rc = CLI_OK;

    for (int i = 0; i < cli->argument_count && rc == CLI_OK; i++) {
        Berth__Api__DeleteMaintenanceWindowRequest request =
            BERTH__API__DELETE_MAINTENANCE_WINDOW_REQUEST__INIT;
        request.name = cli_argument(cli, i);
        rc = cli_call_empty(cli, "/berth.api.Berth/DeleteMaintenanceWindow",
                            &request.base);
        if (rc == CLI_OK) {
            cli_note(cli, "Deleted maintenance window %s", request.name);
        }
    }
    return rc;
}

/* Listing. */

static void put_names(struct strbuf *buf, const char *what, char *const *names,
                      size_t count)
{
    if (count > 0) {
        strbuf_addf(buf, "%s%s ", buf->byte_count ? "; " : "", what);
    }
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(buf, "%s%s", i ? "," : "", names[i]);
    }
}

/* Which nodes a window is about, for people. */
static void put_selection(struct strbuf *buf,
                          const Berth__Api__MaintenanceWindow *window)
{
    put_names(buf, "executors", window->executors, window->n_executors);
    put_names(buf, "nodes", window->nodes, window->n_nodes);
    put_names(buf, "pools", window->pools, window->n_pools);
    for (size_t i = 0; i < window->n_labels; i++) {
        strbuf_addf(buf, "%s%s=%s",
                    i                 ? ","
                    : buf->byte_count ? "; labels "
                                      : "labels ",
                    window->labels[i]->key, window->labels[i]->value);
    }
    if (window->all_nodes) {
        strbuf_add_text(buf, "all");
    }
}

/* A server may say any number. */
static void put_seconds(struct strbuf *buf, int64_t seconds)
{
    int64_t ms;

    if (__builtin_mul_overflow(seconds, MS_PER_S, &ms)) {
        strbuf_addf(buf, "%" PRId64 "s", seconds);
    } else {
        setting_print_duration(ms, buf);
    }
}

static void print_table(struct cli *cli,
                        const Berth__Api__ListMaintenanceWindowsResponse *all)
{
    static const char *const headings[] = {"NAME",  "STATE",    "BEGIN",
                                           "END",   "REPEATS",  "LEAD",
                                           "NODES", "SELECTED", "REASON"};
    struct table table = {.arena = &cli->arena,
                          .headings = headings,
                          .column_count = ARRAY_COUNT(headings)};

    for (size_t i = 0; i < all->n_windows; i++) {
        const Berth__Api__MaintenanceWindowStatus *status = all->windows[i];
        const Berth__Api__MaintenanceWindow *window = status->window;
        auto_strbuf selection = {0}, lead = {0}, repeat = {0};
        put_selection(&selection, window);
        put_seconds(&lead, window->lead_seconds);
        put_seconds(&repeat, window->repeat_seconds);
        table_add(&table, window->name);
        table_add(&table, status->is_open ? "open" : "planned");
        table_add(&table, cli_time(cli, window->begin));
        table_add(&table, cli_time(cli, window->end));
        table_add(&table, window->repeat_seconds ? strbuf_text(&repeat) : "-");
        table_add(&table, strbuf_text(&lead));
        table_addf(&table, "%u", status->node_count);
        table_add(&table, cli_cell(cli, strbuf_text(&selection)));
        table_add(&table, cli_cell(cli, window->reason));
    }
    cli_print_table(cli, &table);
}

enum cli_exit cmd_get_windows(struct cli *cli)
{
    Berth__Api__ListMaintenanceWindowsResponse *response;
    char none[] = "";

    enum cli_exit rc = list_windows(
        cli, cli->argument_count ? cli_argument(cli, 0) : none, &response);
    if (rc == CLI_OK && !cli_print_message(cli, &response->base)) {
        print_table(cli, response);
    }
    return rc;
}
