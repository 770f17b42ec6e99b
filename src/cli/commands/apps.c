/*
 * get apps: applications of queues and their states.
 */
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"

static const char *const headings[] = {"QUEUE", "APPLICATION", "STATE",
                                       "ASKS",  "ALLOCATIONS", "SINCE",
                                       "UNTIL", "SUBMITTED"};

/* Without --all, those that are not over. */
static const char *const live_states[] = {"Accepted", "Starting", "Running",
                                          "Completing"};

static void add_row(struct cli *cli, struct table *table,
                    const Berth__Api__Application *application)
{
    table_add(table, application->queue);
    table_add(table, application->id);
    table_add(table, application->state);
    table_addf(table, "%u", application->asks);
    table_addf(table, "%u", application->allocations);
    table_add(table, cli_when(cli, application->since));
    table_add(table, cli_when(cli, application->until));
    table_add(table, cli_when(cli, application->submitted));
}

/* What has come so far. */
struct listing {
    Berth__Api__GetApplicationsRequest request;
    json_t *applications; /* with -o json or yaml */
    struct table table;
};

/* The next page; `ret_is_last` when there are no more. */
static enum cli_exit get_page(struct cli *cli, struct listing *listing,
                              bool *ret_is_last)
{
    ProtobufCMessage *reply;

    enum cli_exit rc = cli_call(
        cli, "/berth.api.Berth/GetApplications", &listing->request.base,
        &berth__api__get_applications_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__GetApplicationsResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_applications; i++) {
        const Berth__Api__Application *application = response->applications[i];
        if (listing->applications) {
            (void)json_array_append_new(listing->applications,
                                        wire_json_write(&application->base, 0));
        } else {
            add_row(cli, &listing->table, application);
        }
    }
    listing->request.skip += (uint32_t)response->n_applications;
    *ret_is_last = response->n_applications == 0 ||
                   listing->request.skip >= response->total_count;
    return CLI_OK;
}

static void take_states(struct cli *cli, struct listing *listing)
{
    struct cli_names states = cli_list(cli, "states");

    listing->request.states = states.items;
    listing->request.n_states = states.count;
    if (states.count > 0 || cli_has(cli, "all")) {
        return;
    }
    listing->request.states = arena_alloc_array(
        &cli->arena, ARRAY_COUNT(live_states), sizeof(char *));
    for (size_t i = 0; i < ARRAY_COUNT(live_states); i++) {
        listing->request.states[i] = cli_format(cli, "%s", live_states[i]);
    }
    listing->request.n_states = ARRAY_COUNT(live_states);
}

enum cli_exit cmd_get_apps(struct cli *cli)
{
    struct listing listing = {
        .request = BERTH__API__GET_APPLICATIONS_REQUEST__INIT,
        .table = {&cli->arena,
                  headings,
                  ARRAY_COUNT(headings),
                  {0},
                  NULL,
                  NULL,
                  false},
    };
    bool is_last = false;
    enum cli_exit rc = CLI_OK;

    if (cli->argument_count > 0) {
        listing.request.queue = cli_argument(cli, 0);
        rc = check_queue(cli, listing.request.queue);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    if (cli->output != CLI_OUTPUT_TEXT) {
        listing.applications = json_array();
    }
    take_states(cli, &listing);
    while (rc == CLI_OK && !is_last) {
        rc = get_page(cli, &listing, &is_last);
    }
    if (rc != CLI_OK) {
        VEC_FREE(&listing.table.cells);
        json_decref(listing.applications);
    } else if (listing.applications) {
        cli_print_json(cli, listing.applications);
    } else {
        cli_print_table(cli, &listing.table);
    }
    return rc;
}
