/*
 * get podgroups: gangs by sub-group, and the jobs of one.
 */
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"

static const char *const headings[] = {"GROUP",    "QUEUE", "JOBSET", "KIND",
                                       "SUBGROUP", "MIN",   "MAX",    "WAITING",
                                       "RUNNING",  "SUCC",  "FAIL"};

static void add_rows(struct table *table,
                     const Berth__Api__PodGroupStatus *group)
{
    for (size_t i = 0; i < group->n_sub_groups; i++) {
        const Berth__Api__SubGroupStatus *part = group->sub_groups[i];
        table_add(table, group->id);
        table_add(table, group->queue);
        table_add(table, group->job_set);
        table_add(table, group->kind);
        table_addf(table, "%s%s", *part->name ? part->name : "-",
                   part->auxiliary ? " (auxiliary)" : "");
        table_addf(table, "%u", part->min);
        table_addf(table, "%u", part->max);
        table_addf(table, "%u", part->waiting);
        table_addf(table, "%u", part->running);
        table_addf(table, "%u", part->succeeded);
        table_addf(table, "%u", part->failed);
    }
}

/* One page, from which `request` goes on. */
static enum cli_exit get_page(struct cli *cli,
                              Berth__Api__ListPodGroupsRequest *request,
                              Berth__Api__ListPodGroupsResponse **ret_page)
{
    ProtobufCMessage *reply;

    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListPodGroups", &request->base,
                 &berth__api__list_pod_groups_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    *ret_page = (void *)reply;
    if ((*ret_page)->n_pod_groups > 0) {
        const Berth__Api__PodGroupStatus *last =
            (*ret_page)->pod_groups[(*ret_page)->n_pod_groups - 1];
        request->after_queue = last->queue;
        request->after_id = last->id;
        request->after_oldest_job_id = last->oldest_job_id;
    }
    return CLI_OK;
}

/* All pages into the table, or the list of -o json and yaml. */
static enum cli_exit get_all(struct cli *cli, struct table *table,
                             json_t *groups, size_t *ret_count)
{
    Berth__Api__ListPodGroupsRequest request =
        BERTH__API__LIST_POD_GROUPS_REQUEST__INIT;
    Berth__Api__ListPodGroupsResponse *page;
    enum cli_exit rc;

    *ret_count = 0;
    request.queue = cli_format(cli, "%s", cli_text(cli, "queue", ""));
    if (cli->argument_count > 0) {
        request.id = cli_argument(cli, 0);
    }
    do {
        rc = get_page(cli, &request, &page);
        for (size_t i = 0; rc == CLI_OK && i < page->n_pod_groups; i++) {
            add_rows(table, page->pod_groups[i]);
            (void)json_array_append_new(
                groups, wire_json_write(&page->pod_groups[i]->base, 0));
            ++*ret_count;
        }
    } while (rc == CLI_OK && page->has_more && page->n_pod_groups > 0);
    return rc;
}

enum cli_exit cmd_get_pod_groups(struct cli *cli)
{
    struct table table = {
        &cli->arena, headings, ARRAY_COUNT(headings), {0}, NULL, NULL, false};
    json_t *groups = json_array();
    size_t count;

    enum cli_exit rc = get_all(cli, &table, groups, &count);
    if (rc == CLI_OK && cli->argument_count > 0 && count == 0) {
        rc = cli_fail(cli, CLI_NOT_FOUND,
                      "there is no group %s that has not ended",
                      cli_argument(cli, 0));
    } else if (rc == CLI_OK && cli->output != CLI_OUTPUT_TEXT) {
        cli_print_json(cli, json_pack("{s:O}", "podGroups", groups));
    }
    if (rc == CLI_OK && count == 0 && cli_has(cli, "queue")) {
        rc = check_queue(cli, cli_text(cli, "queue", ""));
    }
    if (rc == CLI_OK && cli->output == CLI_OUTPUT_TEXT) {
        cli_print_table(cli, &table);
    }
    VEC_FREE(&table.cells);
    json_decref(groups);
    return rc;
}

/* The jobs of all groups of a page.  There are several of one id while
 * members with other terms have not been refused yet. */
static struct cli_names jobs_of(struct cli *cli,
                                const Berth__Api__ListPodGroupsResponse *page)
{
    struct cli_names jobs = {0};

    for (size_t i = 0; i < page->n_pod_groups; i++) {
        jobs.count += page->pod_groups[i]->n_job_ids;
    }
    jobs.items =
        arena_alloc_array(&cli->arena, jobs.count + 1, sizeof(*jobs.items));
    jobs.count = 0;
    for (size_t i = 0; i < page->n_pod_groups; i++) {
        const Berth__Api__PodGroupStatus *group = page->pod_groups[i];
        for (size_t j = 0; j < group->n_job_ids; j++) {
            jobs.items[jobs.count++] = group->job_ids[j];
        }
    }
    return jobs;
}

enum cli_exit groups_jobs(struct cli *cli, const char *id,
                          struct cli_names *ret_jobs)
{
    Berth__Api__ListPodGroupsRequest request =
        BERTH__API__LIST_POD_GROUPS_REQUEST__INIT;
    Berth__Api__ListPodGroupsResponse *page;

    request.id = cli_format(cli, "%s", id);
    request.queue = cli_format(cli, "%s", cli_text(cli, "queue", ""));
    request.with_job_ids = true;
    enum cli_exit rc = get_page(cli, &request, &page);
    if (rc != CLI_OK) {
        return rc;
    }
    if (page->n_pod_groups == 0) {
        return cli_fail(cli, CLI_NOT_FOUND,
                        "there is no group %s that has not ended", id);
    }
    if (strcmp(page->pod_groups[0]->queue,
               page->pod_groups[page->n_pod_groups - 1]->queue) != 0) {
        return cli_fail(
            cli, CLI_USAGE,
            "there are several groups %s; name the queue with --queue", id);
    }
    *ret_jobs = jobs_of(cli, page);
    return CLI_OK;
}
