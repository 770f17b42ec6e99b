/* get nodes, get executors, quarantine node and release node. */
#include <inttypes.h>

#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "model/quantity.h"
#include "wire/kube/entries.h"

enum { NODES_PER_REQUEST = 1000 };

static const char *const headings[] = {"NODE", "EXECUTOR", "POOL",  "STATE",
                                       "JOBS", "FREE",     "UNTIL", "REASON"};

/* A map of quantities, as protobuf-c has it. */
struct amounts {
    const void *entries;
    size_t count;
};

/* The binary unit in which people read an amount; "" below 1Mi, where it may
 * be no size at all. */
static const char *unit_of(int64_t milli, int64_t *ret_unit_milli)
{
    static const char *const units[] = {"Mi", "Gi", "Ti", "Pi"};
    int64_t unit_milli = (INT64_C(1) << 20) * 1000;
    size_t at = 0;

    *ret_unit_milli = 1000;
    if (milli < unit_milli) {
        return "";
    }
    while (at + 1 < ARRAY_COUNT(units) && milli >> 10 >= unit_milli) {
        unit_milli <<= 10;
        at++;
    }
    *ret_unit_milli = unit_milli;
    return units[at];
}

/* Tenths of a unit and no more, rounded down: nothing looks like more than it
 * is.  Exact amounts are in -o json. */
static void put_tenths(struct strbuf *text, int64_t milli, int64_t unit_milli,
                       const char *unit)
{
    int64_t whole = milli / unit_milli;
    int64_t tenths = (milli - whole * unit_milli) / (unit_milli / 10);

    strbuf_addf(text, "%lld", (long long)whole);
    if (tenths > 0) {
        strbuf_addf(text, ".%lld", (long long)tenths);
    }
    strbuf_add_text(text, unit);
}

/* "2/16Gi", both in the unit of what there is; as the server wrote them if
 * they are no amounts. */
static void put_amounts(struct strbuf *text, struct str free, struct str all)
{
    int64_t free_milli, all_milli, unit_milli;

    if (quantity_parse(free, &free_milli) < 0 ||
        quantity_parse(all, &all_milli) < 0 || free_milli < 0 ||
        all_milli < 0) {
        strbuf_addf(text, "%.*s/%.*s", STR_ARG(free), STR_ARG(all));
        return;
    }
    const char *unit = unit_of(all_milli, &unit_milli);
    put_tenths(text, free_milli, unit_milli, "");
    strbuf_add_char(text, '/');
    put_tenths(text, all_milli, unit_milli, unit);
}

/* What is free of what there is, by resource: "cpu 3/8, memory 2/16Gi". */
static const char *free_text(struct cli *cli, struct amounts all,
                             struct amounts free)
{
    auto_strbuf text = {0};
    uint32_t all_count, free_count;
    const struct label *has =
        entries_labels(all.entries, all.count, &cli->arena, &all_count);
    const struct label *left =
        entries_labels(free.entries, free.count, &cli->arena, &free_count);

    for (uint32_t i = 0; i < all_count; i++) {
        const struct label *rest = label_find(left, free_count, has[i].key);
        struct str amount = rest ? rest->value : STR("0");
        strbuf_addf(&text, "%s%.*s ", i ? ", " : "", STR_ARG(has[i].key));
        put_amounts(&text, amount, has[i].value);
    }
    return arena_strdup(&cli->arena, strbuf_str(&text));
}

/* The maintenance window that begins first of those about a node; NULL: there
 * is none. */
static const Berth__Api__NodeWindow *
first_window(const Berth__Api__NodeStatus *node)
{
    const Berth__Api__NodeWindow *first = NULL;

    for (size_t i = 0; i < node->n_maintenance_windows; i++) {
        const Berth__Api__NodeWindow *window = node->maintenance_windows[i];
        if (window->begin && window->end &&
            (!first || window->begin->seconds < first->begin->seconds)) {
            first = window;
        }
    }
    return first;
}

/* Why a node is as it is, and when it closes. */
static const char *reason_of(struct cli *cli,
                             const Berth__Api__NodeStatus *node)
{
    const Berth__Api__NodeWindow *window = first_window(node);
    int64_t now_ms = cli->ports->clock->wall_ms(cli->ports->clock);

    if (!window) {
        return node->reason;
    }
    bool is_open = window->begin->seconds <= now_ms / 1000;
    return cli_format(cli, "%s%smaintenance window %s %s %s", node->reason,
                      *node->reason ? "; " : "", window->name,
                      is_open ? "until" : "from",
                      cli_time(cli, is_open ? window->end : window->begin));
}

static void add_row(struct cli *cli, struct table *table,
                    const Berth__Api__NodeStatus *node)
{
    table_add(table, node->name);
    table_add(table, node->executor);
    table_add(table, node->pool);
    table_add(table, node->state);
    table_addf(table, "%u", node->run_count);
    table_add(table,
              free_text(cli, (struct amounts){node->capacity, node->n_capacity},
                        (struct amounts){node->free, node->n_free}));
    table_add(table, cli_when(cli, node->until));
    table_add(table, reason_of(cli, node));
}

/* What has come so far. */
struct listing {
    Berth__Api__ListNodesRequest request;
    json_t *nodes; /* with -o json or yaml */
    struct table table;
    size_t count;
    bool has_more;
};

static enum cli_exit get_page(struct cli *cli, struct listing *listing)
{
    ProtobufCMessage *reply;

    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListNodes", &listing->request.base,
                 &berth__api__list_nodes_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__ListNodesResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_nodes; i++) {
        const Berth__Api__NodeStatus *node = response->nodes[i];
        if (listing->nodes) {
            (void)json_array_append_new(listing->nodes,
                                        wire_json_write(&node->base, 0));
        } else {
            add_row(cli, &listing->table, node);
        }
        listing->request.after_node_name = node->name;
        listing->request.after_executor = node->executor;
    }
    listing->count += response->n_nodes;
    listing->has_more = response->has_more && response->n_nodes > 0;
    return CLI_OK;
}

/* There are no nodes of that pool and executor. */
static enum cli_exit tell_none(struct cli *cli)
{
    const char *pool = cli_text(cli, "pool", "");
    const char *executor = cli_text(cli, "executor", "");

    if (!*pool && !*executor) {
        return CLI_OK;
    }
    return cli_fail(cli, CLI_NOT_FOUND, "there are no nodes of%s%s%s%s",
                    *pool ? " pool " : "", pool, *executor ? " executor " : "",
                    executor);
}

enum cli_exit cmd_get_nodes(struct cli *cli)
{
    struct listing listing = {
        .request = BERTH__API__LIST_NODES_REQUEST__INIT,
        .table = {&cli->arena,
                  headings,
                  ARRAY_COUNT(headings),
                  {0},
                  NULL,
                  NULL,
                  false},
        .has_more = true,
    };
    enum cli_exit rc = CLI_OK;

    listing.request.pool = cli_format(cli, "%s", cli_text(cli, "pool", ""));
    listing.request.executor =
        cli_format(cli, "%s", cli_text(cli, "executor", ""));
    listing.request.limit = NODES_PER_REQUEST;
    if (cli->argument_count > 0) {
        listing.request.node_name = cli_argument(cli, 0);
    }
    listing.nodes = cli->output == CLI_OUTPUT_TEXT ? NULL : json_array();
    while (rc == CLI_OK && listing.has_more) {
        rc = get_page(cli, &listing);
    }
    if (rc == CLI_OK && cli->argument_count > 0 && listing.count == 0) {
        rc = cli_fail(cli, CLI_NOT_FOUND, "there is no node %s",
                      cli_argument(cli, 0));
    }
    if (rc == CLI_OK && listing.nodes) {
        cli_print_json(cli, json_incref(listing.nodes));
    }
    if (rc == CLI_OK && listing.count == 0) {
        rc = tell_none(cli);
    }
    if (rc == CLI_OK && !listing.nodes) {
        cli_print_table(cli, &listing.table);
    }
    VEC_FREE(&listing.table.cells);
    json_decref(listing.nodes);
    return rc;
}

static const char *state_text(struct cli *cli,
                              const Berth__Api__ExecutorStatus *executor)
{
    if (!executor->cordoned) {
        return executor->state;
    }
    return cli_format(
        cli, "%s%scordoned%s%s",
        strcmp(executor->state, "live") == 0 ? "" : executor->state,
        strcmp(executor->state, "live") == 0 ? "" : ", ",
        *executor->cordon_reason ? ": " : "", executor->cordon_reason);
}

enum cli_exit cmd_get_executors(struct cli *cli)
{
    static const char *const columns[] = {"EXECUTOR", "POOL", "STATE", "SILENT",
                                          "NODES",    "OPEN", "JOBS",  "FREE"};
    Berth__Api__ListExecutorsRequest request =
        BERTH__API__LIST_EXECUTORS_REQUEST__INIT;
    struct table table = {&cli->arena, columns, ARRAY_COUNT(columns), {0}, NULL,
                          NULL,        false};
    ProtobufCMessage *reply;

    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListExecutors", &request.base,
                 &berth__api__list_executors_response__descriptor, &reply);
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    const Berth__Api__ListExecutorsResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_executors; i++) {
        const Berth__Api__ExecutorStatus *executor = response->executors[i];
        table_add(&table, executor->name);
        table_add(&table, executor->pool);
        table_add(&table, state_text(cli, executor));
        table_addf(&table, "%" PRIu64 "s", executor->silent_ms / 1000);
        table_addf(&table, "%u", executor->node_count);
        table_addf(&table, "%u", executor->open_node_count);
        table_addf(&table, "%u", executor->run_count);
        table_add(&table, free_text(cli,
                                    (struct amounts){executor->available,
                                                     executor->n_available},
                                    (struct amounts){executor->free,
                                                     executor->n_free}));
    }
    cli_print_table(cli, &table);
    return CLI_OK;
}

enum cli_exit cmd_quarantine_node(struct cli *cli)
{
    Berth__Api__QuarantineNodeRequest request =
        BERTH__API__QUARANTINE_NODE_REQUEST__INIT;

    request.node_name = cli_argument(cli, 0);
    request.reason = cli_argument(cli, 1);
    request.executor = cli_format(cli, "%s", cli_text(cli, "executor", ""));
    return check_node_call(cli, request.executor,
                           "/berth.api.Berth/QuarantineNode", &request.base,
                           "Quarantined");
}

enum cli_exit cmd_release_node(struct cli *cli)
{
    Berth__Api__ReleaseNodeRequest request =
        BERTH__API__RELEASE_NODE_REQUEST__INIT;

    request.node_name = cli_argument(cli, 0);
    request.executor = cli_format(cli, "%s", cli_text(cli, "executor", ""));
    return check_node_call(cli, request.executor,
                           "/berth.api.Berth/ReleaseNode", &request.base,
                           "Released");
}
