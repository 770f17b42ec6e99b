/* get jobsets: job sets, and the states of their jobs. */
#include <inttypes.h>

#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"

static const char *const headings[] = {
    "JOBSET", "QUEUE",  "QUEUED",    "STARTING",  "RUNNING",
    "SUCC",   "FAILED", "CANCELLED", "PREEMPTED", "CHANGED"};

static void add_row(struct cli *cli, struct table *table,
                    const Berth__Api__JobSetStatus *set)
{
    const uint64_t counts[] = {
        set->queued, set->starting,  set->running,   set->succeeded,
        set->failed, set->cancelled, set->preempted,
    };

    table_add(table, set->job_set);
    table_add(table, set->queue);
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        table_addf(table, "%" PRIu64, counts[i]);
    }
    table_add(table, cli_when(cli, set->last_transition));
}

/* All pages into the table and the list. */
static enum cli_exit get_all(struct cli *cli, struct table *table, json_t *sets)
{
    Berth__Api__ListJobSetsRequest request =
        BERTH__API__LIST_JOB_SETS_REQUEST__INIT;
    const Berth__Api__ListJobSetsResponse *page;
    ProtobufCMessage *reply;

    request.queue = cli_format(cli, "%s", cli_text(cli, "queue", ""));
    do {
        enum cli_exit rc =
            cli_call(cli, "/berth.api.Berth/ListJobSets", &request.base,
                     &berth__api__list_job_sets_response__descriptor, &reply);
        if (rc != CLI_OK) {
            return rc;
        }
        page = (void *)reply;
        for (size_t i = 0; i < page->n_job_sets; i++) {
            add_row(cli, table, page->job_sets[i]);
            (void)json_array_append_new(
                sets, wire_json_write(&page->job_sets[i]->base, 0));
            request.after_queue = page->job_sets[i]->queue;
            request.after_job_set = page->job_sets[i]->job_set;
        }
    } while (page->has_more && page->n_job_sets > 0);
    return CLI_OK;
}

enum cli_exit cmd_get_job_sets(struct cli *cli)
{
    static const char *const spare[] = {"STARTING", "PREEMPTED", "CANCELLED",
                                        NULL};
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, spare, NULL, false};
    json_t *sets = json_array();

    enum cli_exit rc = get_all(cli, &table, sets);
    bool is_empty = json_array_size(sets) == 0;
    if (rc == CLI_OK && cli->output != CLI_OUTPUT_TEXT) {
        cli_print_json(cli, json_incref(sets));
    }
    if (rc == CLI_OK && is_empty && cli_has(cli, "queue")) {
        rc = check_queue(cli, cli_text(cli, "queue", ""));
    }
    if (rc == CLI_OK && cli->output == CLI_OUTPUT_TEXT) {
        cli_print_table(cli, &table);
    }
    VEC_FREE(&table.cells);
    json_decref(sets);
    return rc;
}
