#include "cli/shared/newest.h"

#include "cli/shared/array_selection.h"
#include "cli/shared/check.h"

/* With --index only members of that index. */
static void add_index(struct cli *cli, Berth__Api__ListJobsRequest *request)
{
    size_t bytes = sizeof(*request->labels);
    Berth__Api__ListJobsRequest__LabelsEntry **labels =
        arena_alloc_array(&cli->arena, request->n_labels + 1, bytes);
    Berth__Api__ListJobsRequest__LabelsEntry *index =
        arena_alloc(&cli->arena, sizeof(*index));

    berth__api__list_jobs_request__labels_entry__init(index);
    index->key = cli_format(cli, "%s", SELECTION_INDEX_LABEL);
    index->value = cli_format(cli, "%s", cli_text(cli, "index", ""));
    for (size_t i = 0; i < request->n_labels; i++) {
        labels[i] = request->labels[i];
    }
    labels[request->n_labels++] = index;
    request->labels = labels;
}

/* The newest that match, the newest first: two, which tells whether an array
 * is meant. */
static enum cli_exit list_newest(struct cli *cli,
                                 const Berth__Api__ListJobsResponse **ret)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    ProtobufCMessage *reply;

    enum cli_exit rc = selection_filter(cli, &request);
    if (rc != CLI_OK) {
        return rc;
    }
    if (cli_has(cli, "index")) {
        add_index(cli, &request);
    }
    request.limit = 2;
    rc = cli_call(cli, "/berth.api.Berth/ListJobs", &request.base,
                  &berth__api__list_jobs_response__descriptor, &reply);
    *ret = rc == CLI_OK ? (void *)reply : NULL;
    return rc;
}

/* A job that was only just submitted may take a moment until it is found. */
static enum cli_exit find_newest(struct cli *cli,
                                 const Berth__Api__ListJobsResponse **ret)
{
    enum cli_exit rc = list_newest(cli, ret);

    for (int waited_ms = 0; rc == CLI_OK && (*ret)->n_jobs == 0 &&
                            waited_ms < CHECK_LATE_MS && cli->ports->pause_ms;
         waited_ms += CHECK_PAUSE_MS) {
        cli->ports->pause_ms(CHECK_PAUSE_MS);
        rc = list_newest(cli, ret);
    }
    return rc;
}

static enum cli_exit select_newest(struct cli *cli, char **ret_id)
{
    const Berth__Api__ListJobsResponse *page;

    enum cli_exit rc = find_newest(cli, &page);
    if (rc != CLI_OK) {
        return rc;
    }
    if (page->n_jobs == 0) {
        return cli_fail(cli, CLI_NOT_FOUND, "no job matches");
    }
    const Berth__Api__JobSummary *job = page->jobs[0];
    if (page->n_jobs > 1 && *job->array_id &&
        strcmp(job->array_id, page->jobs[1]->array_id) == 0) {
        return cli_fail(cli, CLI_USAGE,
                        "array %s matches: say which of its jobs with --index",
                        job->array_id);
    }
    *ret_id = job->job_id;
    return CLI_OK;
}

enum cli_exit newest_of(struct cli *cli, char *id, char **ret_id)
{
    bool has_options = selection_is_given(cli);

    if ((id != NULL) == has_options) {
        return cli_fail(cli, CLI_USAGE,
                        has_options
                            ? "name a job by its id or by options, not by both"
                            : "which job? give its id, or --name NAME");
    }
    if (has_options) {
        return select_newest(cli, ret_id);
    }
    return array_one(
        cli,
        cli_has(cli, "index")
            ? cli_format(cli, "%s_%s", id, cli_text(cli, "index", ""))
            : id,
        ret_id);
}

enum cli_exit newest_job(struct cli *cli, char **ret_id)
{
    return newest_of(cli, cli->argument_count > 0 ? cli_argument(cli, 0) : NULL,
                     ret_id);
}
