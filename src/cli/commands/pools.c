/* get pools. */
#include "base/plural.h"
#include "cli/commands/commands.h"
#include "cli/shared/pool_table.h"

const char *cli_pool_name(const char *text)
{
    return strcmp(text, "Default") == 0 ? "default" : text;
}

/* As jobs, nodes and shares have it. */
static const char *pool_name(const Berth__Api__PoolStatus *status)
{
    return status->is_default ? "default" : status->pool->name;
}

enum cli_exit cli_list_pools(struct cli *cli, const char *name,
                             Berth__Api__ListPoolsResponse **ret_response)
{
    Berth__Api__ListPoolsRequest request = BERTH__API__LIST_POOLS_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.name = cli_format(cli, "%s", cli_pool_name(name));
    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListPools", &request.base,
                 &berth__api__list_pools_response__descriptor, &reply);
    if (rc == CLI_OK) {
        *ret_response = (void *)reply;
    }
    return rc;
}

enum cli_exit cli_no_such_pool(const struct cli *cli, const char *name)
{
    return cli_fail(cli, CLI_NOT_FOUND, "there is no pool %s", name);
}

static bool has_pool(const Berth__Api__ListPoolsResponse *all, const char *name)
{
    for (size_t i = 0; i < all->n_pools; i++) {
        if (strcmp(all->pools[i]->pool->name, cli_pool_name(name)) == 0) {
            return true;
        }
    }
    return false;
}

/* The pools that the arguments name, or all. */
static enum cli_exit get_response(struct cli *cli,
                                  Berth__Api__ListPoolsResponse **ret_response)
{
    size_t count = 0;

    enum cli_exit rc = cli_list_pools(
        cli, cli->argument_count == 1 ? cli_argument(cli, 0) : "",
        ret_response);
    if (rc != CLI_OK || cli->argument_count == 0) {
        return rc;
    }
    Berth__Api__ListPoolsResponse *all = *ret_response;
    for (int a = 0; a < cli->argument_count; a++) {
        if (!has_pool(all, cli_argument(cli, a))) {
            return cli_no_such_pool(cli, cli_argument(cli, a));
        }
    }
    for (size_t i = 0; i < all->n_pools; i++) {
        bool is_wanted = false;
        for (int a = 0; a < cli->argument_count; a++) {
            is_wanted |= strcmp(all->pools[i]->pool->name,
                                cli_pool_name(cli_argument(cli, a))) == 0;
        }
        if (is_wanted) {
            all->pools[count++] = all->pools[i];
        }
    }
    all->n_pools = count;
    return CLI_OK;
}

/* Pools that were being planned answer what was known of them last. */
static void say_ages(const struct cli *cli,
                     const Berth__Api__ListPoolsResponse *response)
{
    for (size_t i = 0; i < response->n_pools; i++) {
        const Berth__Api__PoolStatus *status = response->pools[i];
        if (status->figures_age_ms > 0) {
            cli_say(cli, "pool %s is being planned: its figures are %.1f s old",
                    pool_name(status), (double)status->figures_age_ms / 1e3);
        }
    }
}

static void print_table(struct cli *cli,
                        const Berth__Api__ListPoolsResponse *response)
{
    static const char *const headings[] = {
        "POOL",         "FLAGS",       "NODES",       "RUNNING OWN",
        "RUNNING LENT", "WAITING OWN", "WAITING LENT"};
    struct table table = {.arena = &cli->arena,
                          .headings = headings,
                          .column_count = ARRAY_COUNT(headings)};
    uint32_t conflict_count = 0;

    for (size_t i = 0; i < response->n_pools; i++) {
        const Berth__Api__PoolStatus *status = response->pools[i];
        auto_strbuf flags = {0};
        pool_put_flags(&flags, status->pool);
        table_add(&table, pool_name(status));
        table_add(&table, flags.bytes);
        table_addf(&table, "%u", status->node_count);
        table_addf(&table, "%u", status->running_own_count);
        table_addf(&table, "%u", status->running_foreign_count);
        table_addf(&table, "%u", status->queued_own_count);
        table_addf(&table, "%u", status->queued_foreign_count);
        conflict_count += status->conflicting_node_count;
    }
    cli_print_table(cli, &table);
    if (conflict_count) {
        cli_say(cli,
                "%u %s in the default pool because more than one pool matches "
                "%s",
                conflict_count,
                plural_of(conflict_count, "node is", "nodes are"),
                plural_of(conflict_count, "it", "them"));
    }
}

/* A limit that may be none. */
static void add_limit(struct table *table, bool is_there, double limit)
{
    if (is_there) {
        table_addf(table, "%.6g", limit);
    } else {
        table_add(table, "-");
    }
}

static void add_rules(struct table *table, const Berth__Api__PoolRules *rules)
{
    table_add(table, rules->pool);
    table_add(table, rules->profile);
    table_add(table, rules->cost);
    add_limit(table, rules->flow_half_time_seconds > 0,
              (double)rules->flow_half_time_seconds);
    table_addf(table, "%u", rules->admitted_window);
    table_addf(table, "%u", rules->admitted_window_per_queue);
    table_add(table, rules->strict_order ? "on" : "off");
    table_add(table, rules->backfill);
    add_limit(table, rules->over_share_factor,
              rules->over_share_factor ? rules->over_share_factor->value : 0);
    add_limit(table, rules->excess_budget_minutes,
              rules->excess_budget_minutes ? rules->excess_budget_minutes->value
                                           : 0);
    table_addf(table, "%zu", rules->n_topology);
}

/* Those of the pools that are shown; the default pool's are those of the
 * configuration's. */
static void print_rules(struct cli *cli,
                        const Berth__Api__ListPoolsResponse *response)
{
    static const char *const headings[] = {
        "POOL",       "PROFILE",    "COST",   "HALF TIME S",
        "WINDOW",     "OF A QUEUE", "STRICT", "BACKFILL",
        "OVER SHARE", "BUDGET MIN", "LEVELS"};
    struct table table = {.arena = &cli->arena,
                          .headings = headings,
                          .column_count = ARRAY_COUNT(headings)};
    bool has_default = false;

    for (size_t i = 0; i < response->n_pools; i++) {
        has_default |= response->pools[i]->is_default;
    }
    for (size_t i = 0; i < response->n_rules; i++) {
        const Berth__Api__PoolRules *rules = response->rules[i];
        bool is_object = i >= response->n_configured;
        if (is_object ? has_pool(response, rules->pool) : has_default) {
            add_rules(&table, rules);
        }
    }
    cli_print_table(cli, &table);
}

enum cli_exit cmd_get_pools(struct cli *cli)
{
    Berth__Api__ListPoolsResponse *response = NULL;
    auto_strbuf text = {0};

    enum cli_exit rc = get_response(cli, &response);
    if (rc == CLI_OK && cli_has(cli, "statistics") && cli_has(cli, "rules")) {
        return cli_fail(cli, CLI_USAGE,
                        "give --statistics or --rules, not both");
    }
    if (rc != CLI_OK || cli_print_message(cli, &response->base)) {
        return rc;
    }
    if (cli_has(cli, "rules")) {
        print_rules(cli, response);
        return rc;
    }
    if (cli_has(cli, "statistics")) {
        pool_put_statistics(&text, response);
        cli_put(cli->ports->out, "%s", text.bytes);
    } else {
        print_table(cli, response);
    }
    say_ages(cli, response);
    return rc;
}
