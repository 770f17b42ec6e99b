#include "cli/shared/array_selection.h"

#include "model/id.h"

bool array_may_be(const char *text, bool is_member)
{
    struct job_id id;
    const char *index = strchr(text, '_');

    if (!index) {
        return !is_member && job_id_parse(str_of(text), &id) == 0;
    }
    return index[1] != '\0' &&
           strspn(index + 1, "0123456789") == strlen(index + 1) &&
           job_id_parse(str_make(text, (size_t)(index - text)), &id) == 0;
}

static Berth__Api__ListJobsRequest__LabelsEntry *
make_label(struct cli *cli, const char *key, struct str value)
{
    Berth__Api__ListJobsRequest__LabelsEntry *label =
        arena_alloc(&cli->arena, sizeof(*label));

    berth__api__list_jobs_request__labels_entry__init(label);
    label->key = arena_strdup(&cli->arena, str_of(key));
    label->value = arena_strdup(&cli->arena, value);
    return label;
}

/* Ask for the jobs of an array, or for the one of its members. */
static void put_labels(struct cli *cli, const char *text,
                       Berth__Api__ListJobsRequest *request)
{
    const char *index = strchr(text, '_');
    size_t id_bytes = index ? (size_t)(index - text) : strlen(text);
    char id[ID_TEXT_BYTES_MAX];
    struct job_id parsed;

    request->labels =
        arena_alloc_array(&cli->arena, 2, sizeof(*request->labels));
    request->n_labels = 0;
    if (job_id_parse(str_make(text, id_bytes), &parsed) < 0) {
        return;
    }
    request->labels[request->n_labels++] = make_label(
        cli, SELECTION_ARRAY_LABEL, str_of(job_id_format(parsed, id)));
    if (index) {
        request->labels[request->n_labels++] =
            make_label(cli, SELECTION_INDEX_LABEL, str_of(index + 1));
    }
}

/* A page of those jobs. */
static enum cli_exit get_page(struct cli *cli,
                              Berth__Api__ListJobsRequest *request,
                              const Berth__Api__ListJobsResponse **ret_response)
{
    ProtobufCMessage *reply;

    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListJobs", &request->base,
                 &berth__api__list_jobs_response__descriptor, &reply);
    if (rc == CLI_OK) {
        *ret_response = (void *)reply;
        request->older_than_job_id = (*ret_response)->next_job_id;
    }
    return rc;
}

enum cli_exit array_jobs(struct cli *cli, const char *text, char **ret_ids,
                         size_t *id_count)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    const Berth__Api__ListJobsResponse *page;
    enum cli_exit rc;

    put_labels(cli, text, &request);
    request.limit = SELECTION_PAGE_MAX;
    do {
        rc = get_page(cli, &request, &page);
        for (size_t i = 0; rc == CLI_OK && i < page->n_jobs; i++) {
            if (*id_count == SELECTION_JOBS_MAX) {
                return cli_fail(cli, CLI_USAGE, "more than %d jobs are named",
                                SELECTION_JOBS_MAX);
            }
            ret_ids[(*id_count)++] = page->jobs[i]->job_id;
        }
    } while (rc == CLI_OK && *request.older_than_job_id);
    return rc;
}

enum cli_exit array_filter(struct cli *cli, const char *text,
                           Berth__Api__ListJobsRequest *request,
                           bool *ret_is_array)
{
    Berth__Api__ListJobsRequest probe = BERTH__API__LIST_JOBS_REQUEST__INIT;
    const Berth__Api__ListJobsResponse *page;

    put_labels(cli, text, &probe);
    probe.limit = 1;
    enum cli_exit rc = get_page(cli, &probe, &page);
    *ret_is_array = rc == CLI_OK && page->n_jobs > 0;
    if (*ret_is_array) {
        put_labels(cli, text, request);
    }
    return rc;
}

enum cli_exit array_one(struct cli *cli, char *text, char **ret_id)
{
    auto_mem char **ids = NULL;
    size_t count = 0;

    *ret_id = text;
    if (!array_may_be(text, true)) {
        return CLI_OK;
    }
    ids = mem_alloc_array(SELECTION_JOBS_MAX, sizeof(*ids));
    enum cli_exit rc = array_jobs(cli, text, ids, &count);
    if (rc == CLI_OK && count == 0) {
        rc = cli_fail(cli, CLI_NOT_FOUND, "there is no member %s of an array",
                      text);
    }
    if (rc == CLI_OK) {
        *ret_id = ids[0];
    }
    return rc;
}
