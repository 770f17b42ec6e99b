/*
 * get jobs: a page of jobs at a time, as a table.
 */
#include <inttypes.h>

#include "base/plural.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/array_selection.h"
#include "cli/shared/check.h"
#include "cli/shared/selection.h"
#include "cli/shared/states.h"
#include "model/id.h"

enum { JOBS_DEFAULT_MAX = 100, JOBS_PER_REQUEST = 1000 };

static const char *const headings[] = {"JOB",      "QUEUE",    "JOBSET",
                                       "STATE",    "PRIORITY", "AGE",
                                       "EXECUTOR", "NODE",     "REASON"};
static const char *const wide_headings[] = {
    "JOB",       "QUEUE",    "JOBSET", "STATE",    "PRIORITY",
    "SUBMITTED", "EXECUTOR", "NODE",   "FORECAST", "STARTED",
    "FINISHED",  "EXIT",     "RUNS",   "OWNER",    "REASON"};
#define INDEX_HEADING "INDEX"
static const char *const spare[] = {"PRIORITY", "EXECUTOR", "JOBSET",
                                    "QUEUE",    "NODE",     NULL};

/* Why a job waits that nobody holds. */
static const char *waiting_of(struct cli *cli,
                              const Berth__Api__JobSummary *job)
{
    const char *why = states_wait_words(cli, job->wait_reason);

    if (job->run_count == 0) {
        return why;
    }
    return cli_format(cli, "%s%safter %u run%s", why, *why ? ", " : "waits ",
                      job->run_count, plural_s(job->run_count));
}

/* What a table has room for of why a job stands as it does. */
static const char *reason_of(struct cli *cli, const Berth__Api__JobSummary *job,
                             bool waits)
{
    const char *why = waits && !*job->reason ? waiting_of(cli, job)
                                             : cli_cell(cli, job->reason);

    return job->promised_start
               ? cli_format(cli, "%s%sstarts by %s", why, *why ? "; " : "",
                            cli_time(cli, job->promised_start))
               : why;
}

/* What there is room for with -o wide. */
static void add_wide(struct cli *cli, struct table *table,
                     const Berth__Api__JobSummary *job)
{
    table_add(table, cli_time(cli, job->forecast ? job->forecast->p50 : NULL));
    table_add(table, cli_time(cli, job->started));
    table_add(table, cli_time(cli, job->finished));
    table_add(table, states_exit_code(cli, job));
    table_addf(table, "%u", job->run_count);
    table_add(table, job->owner);
}

/* How the jobs of an array stand: "20 running, 80 queued". */
static const char *counts_of(struct cli *cli,
                             const Berth__Api__JobCounts *counts)
{
    const struct {
        uint64_t count;
        const char *name;
    } all[] = {
        {counts->running, "running"},     {counts->starting, "starting"},
        {counts->queued, "queued"},       {counts->succeeded, "succeeded"},
        {counts->failed, "failed"},       {counts->cancelled, "cancelled"},
        {counts->preempted, "preempted"},
    };
    auto_strbuf text = {0};

    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (all[i].count > 0) {
            strbuf_addf(&text, "%s%" PRIu64 " %s",
                        text.byte_count > 0 ? ", " : "", all[i].count,
                        all[i].name);
        }
    }
    return arena_strdup(&cli->arena, strbuf_str(&text));
}

/* Of an array, what all its jobs have in common. */
static void add_array_row(struct cli *cli, struct table *table,
                          const Berth__Api__JobSummary *job)
{
    table_add(table, job->array_id);
    table_add(table, job->queue);
    table_add(table, job->job_set);
    table_add(table, counts_of(cli, job->array));
    table_addf(table, "%u", job->priority);
    table_add(table, cli_age(cli, job->submitted));
    table_add(table, "");
    table_add(table, "");
    if (cli->is_wide) {
        for (int i = 0; i < 5; i++) {
            table_add(table, "");
        }
        table_add(table, job->owner);
    }
    table_add(table, "");
}

/* Whether a table has the index of each job in its array. */
static bool has_index(const struct table *table)
{
    return strcmp(table->headings[1], INDEX_HEADING) == 0;
}

/* The headings, with that of the index if it is asked for. */
static const char *const *headings_of(struct cli *cli, bool with_index,
                                      uint32_t *ret_count)
{
    const char *const *all = cli->is_wide ? wide_headings : headings;
    uint32_t count =
        cli->is_wide ? ARRAY_COUNT(wide_headings) : ARRAY_COUNT(headings);
    const char **with =
        arena_alloc_array(&cli->arena, count + 1, sizeof(*with));

    *ret_count = count + with_index;
    if (!with_index) {
        return all;
    }
    with[0] = all[0];
    with[1] = INDEX_HEADING;
    memcpy(&with[2], &all[1], (count - 1) * sizeof(*with));
    return with;
}

static void add_row(struct cli *cli, struct table *table,
                    const Berth__Api__JobSummary *job)
{
    bool waits = job->state == API__JOB_STATE__QUEUED;

    if (job->array) {
        add_array_row(cli, table, job);
        return;
    }
    table_add(table, job->job_id);
    if (has_index(table)) {
        table_add(table, job->array_index);
    }
    table_add(table, job->queue);
    table_add(table, job->job_set);
    table_add(table, states_name(job->state));
    table_addf(table, "%u", job->priority);
    table_add(table, cli_age(cli, job->submitted));
    /* Where it ran last is not where it is. */
    table_add(table, waits ? "" : job->executor);
    table_add(table, waits ? "" : job->node);
    if (cli->is_wide) {
        add_wide(cli, table, job);
    }
    table_add(table, reason_of(cli, job, waits));
}

/* What is wanted and what has come. */
struct listing {
    Berth__Api__ListJobsRequest request;
    uint64_t limit; /* how many in all */
    uint64_t left;  /* how many more */
    uint64_t count;
    bool *is_found;         /* of each argument */
    struct cli_names named; /* then only these */
    size_t named_at;        /* where the next request begins */
    json_t *jobs;           /* with -o json or yaml */
    struct table table;
    int widths[ARRAY_COUNT(wide_headings) + 1];
    char next_id[ID_TEXT_BYTES_MAX]; /* where the next page begins; or "" */
    uint64_t written_count;          /* of jobs */
};

/* Whether pages are written as they come, so that however many there are take
 * no more memory than one.  What names jobs may have to begin anew, and a
 * pattern is about the whole. */
static bool is_streamed(const struct cli *cli, const struct listing *listing)
{
    return listing->named.count == 0 && cli->output != CLI_OUTPUT_COLUMNS &&
           cli->output != CLI_OUTPUT_TEMPLATE;
}

/* Write the items of a list that goes on, as cli_print_json() has it. */
static void write_json(struct cli *cli, const struct listing *listing)
{
    auto_strbuf text = {0};
    FILE *out = cli->ports->out;

    if (cli->output != CLI_OUTPUT_JSON) {
        cli_print_json(cli, json_incref(listing->jobs));
        return;
    }
    cli_json_text(listing->jobs, &text);
    /* Without the brackets, which stand on lines of their own. */
    struct str all = strbuf_str(&text);
    fputs(listing->written_count == 0 ? "[\n" : ",\n", out);
    fprintf(out, "%.*s",
            (int)(all.byte_count - strlen("[\n") - strlen("\n]\n")),
            all.p + strlen("[\n"));
}

/* Write what has come, and forget it. */
static void write_page(struct cli *cli, struct listing *listing)
{
    if (!listing->jobs && listing->table.cells.count > 0) {
        cli_print_rows(cli, &listing->table);
    } else if (!listing->jobs) {
        return;
    } else if (json_array_size(listing->jobs) > 0) {
        write_json(cli, listing);
        listing->written_count += json_array_size(listing->jobs);
        (void)json_array_clear(listing->jobs);
    }
}

/* End what was written. */
static void end_list(struct cli *cli, struct listing *listing)
{
    write_page(cli, listing);
    if (cli->output == CLI_OUTPUT_JSON) {
        fputs(listing->written_count == 0 ? "[]\n" : "\n]\n", cli->ports->out);
    } else if (listing->jobs && listing->written_count == 0) {
        cli_print_json(cli, json_incref(listing->jobs));
    }
}

/* Note which of the arguments a job is. */
static void note_found(struct cli *cli, struct listing *listing,
                       const char *job_id)
{
    for (int i = 0; i < cli->argument_count; i++) {
        if (strcasecmp(cli_argument(cli, i), job_id) == 0) {
            listing->is_found[i] = true;
        }
    }
}

/* The jobs that are named go into several requests if they are many. */
static void name_some(struct listing *listing)
{
    size_t left = listing->named.count - listing->named_at;

    if (left > 0) {
        listing->request.job_ids = &listing->named.items[listing->named_at];
        listing->request.n_job_ids =
            left < JOBS_PER_REQUEST ? left : JOBS_PER_REQUEST;
        listing->named_at += listing->request.n_job_ids;
    }
}

static enum cli_exit get_page(struct cli *cli, struct listing *listing)
{
    ProtobufCMessage *reply;

    name_some(listing);
    listing->request.limit = listing->left < JOBS_PER_REQUEST
                                 ? (uint32_t)listing->left
                                 : JOBS_PER_REQUEST;
    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListJobs", &listing->request.base,
                 &berth__api__list_jobs_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__ListJobsResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_jobs; i++) {
        note_found(cli, listing, response->jobs[i]->job_id);
        if (listing->jobs) {
            (void)json_array_append_new(
                listing->jobs, wire_json_write(&response->jobs[i]->base, 0));
        } else {
            add_row(cli, &listing->table, response->jobs[i]);
        }
    }
    listing->count += response->n_jobs;
    listing->left -=
        response->n_jobs < listing->left ? response->n_jobs : listing->left;
    (void)snprintf(listing->next_id, sizeof(listing->next_id), "%s",
                   response->next_job_id);
    listing->request.older_than_job_id = listing->next_id;
    return CLI_OK;
}

/* Jobs that are named are all wanted, unless a limit is named too. */
static enum cli_exit take_limit(struct cli *cli, uint64_t *ret_limit)
{
    const char *text = cli_text(cli, "limit", NULL);
    char *end;

    *ret_limit = cli->argument_count > 0 ? UINT64_MAX : JOBS_DEFAULT_MAX;
    if (text) {
        unsigned long long limit = strtoull(text, &end, 10);
        if (*end || end == text || *text == '-') {
            return cli_fail(cli, CLI_USAGE,
                            "--limit (-n) takes a whole number, 0 for all "
                            "jobs, not \"%s\"",
                            text);
        }
        *ret_limit = limit == 0 ? UINT64_MAX : limit;
    }
    return CLI_OK;
}

/* Whether a job that is named is not there; beyond the limit nobody knows. */
static bool is_lacking(const struct listing *listing, int at)
{
    return !listing->is_found[at] && listing->left > 0;
}

static bool is_missing(const struct cli *cli, const struct listing *listing)
{
    for (int i = 0; i < cli->argument_count; i++) {
        if (is_lacking(listing, i)) {
            return true;
        }
    }
    return false;
}

/* Say which of the jobs, or that the queue, there is not. */
static enum cli_exit tell_missing(struct cli *cli,
                                  const struct listing *listing)
{
    enum cli_exit rc = CLI_OK;

    for (int i = 0; i < cli->argument_count; i++) {
        if (is_lacking(listing, i)) {
            rc = cli_fail(cli, CLI_NOT_FOUND, "there is no job %s",
                          cli_argument(cli, i));
        }
    }
    if (listing->count == 0 && *listing->request.queue) {
        rc = check_queue(cli, listing->request.queue);
    }
    return rc;
}

static enum cli_exit get_pages(struct cli *cli, struct listing *listing)
{
    enum cli_exit rc;

    bool has_more = true;
    struct arena kept;

    do {
        if (is_streamed(cli, listing)) {
            kept = cli->arena;
            cli->arena = (struct arena){0};
        }
        rc = get_page(cli, listing);
        has_more = rc == CLI_OK && listing->left > 0 &&
                   (listing->named_at < listing->named.count ||
                    *listing->request.older_than_job_id);
        if (is_streamed(cli, listing)) {
            if (rc == CLI_OK) {
                write_page(cli, listing);
            }
            arena_fini(&cli->arena);
            cli->arena = kept;
        }
    } while (has_more);
    return rc;
}

/* Forget what has come, of a list of jobs that are named. */
static void begin_anew(struct listing *listing)
{
    listing->named_at = 0;
    listing->count = 0;
    listing->left = listing->limit;
    listing->table.cells.count = 0;
    (void)json_array_clear(listing->jobs);
}

static enum cli_exit list_jobs(struct cli *cli, struct listing *listing)
{
    enum cli_exit rc;

    rc = get_pages(cli, listing);
    for (int waited_ms = 0;
         rc == CLI_OK && waited_ms < CHECK_LATE_MS && is_missing(cli, listing);
         waited_ms += CHECK_PAUSE_MS) {
        if (cli->ports->pause_ms) {
            cli->ports->pause_ms(CHECK_PAUSE_MS);
        }
        begin_anew(listing);
        rc = get_pages(cli, listing);
    }
    if (rc != CLI_OK) {
        VEC_FREE(&listing->table.cells);
        return rc;
    }
    if (listing->count == 0 && !listing->jobs) {
        rc = tell_missing(cli, listing);
        if (rc == CLI_OK) {
            cli_print_table(cli, &listing->table);
        }
        return rc;
    }
    if (is_streamed(cli, listing)) {
        end_list(cli, listing);
    } else if (listing->jobs) {
        cli_print_json(cli, json_incref(listing->jobs));
    } else {
        cli_print_table(cli, &listing->table);
    }
    if (*listing->request.older_than_job_id && !cli_has(cli, "limit")) {
        fputs("there are more; -n 0 shows all\n", cli->ports->err);
    }
    return tell_missing(cli, listing);
}

/* One argument may be an array, or a member of one. */
static enum cli_exit take_array(struct cli *cli, struct listing *listing,
                                bool *ret_is_array)
{
    char *text = cli->argument_count == 1 ? cli_argument(cli, 0) : NULL;

    if (!text || !array_may_be(text, strchr(text, '_') != NULL)) {
        return CLI_OK;
    }
    enum cli_exit rc = array_filter(cli, text, &listing->request, ret_is_array);
    if (rc == CLI_OK && *ret_is_array) {
        listing->named.count = 0;
        cli->argument_count = 0;
    }
    return rc;
}

/* The jobs of --gang are as if they were named. */
static enum cli_exit take_gang(struct cli *cli, struct listing *listing)
{
    struct cli_names jobs;

    if (!cli_has(cli, "gang")) {
        return CLI_OK;
    }
    if (cli->argument_count > 0) {
        return cli_fail(cli, CLI_USAGE, "give job ids or --gang, not both");
    }
    enum cli_exit rc = groups_jobs(cli, cli_text(cli, "gang", ""), &jobs);
    if (rc == CLI_OK) {
        listing->named = jobs;
    }
    return rc;
}

enum cli_exit cmd_get_jobs(struct cli *cli)
{
    struct listing listing = {
        .request = BERTH__API__LIST_JOBS_REQUEST__INIT,
        .table = {.arena = &cli->arena, .spare = spare},
    };
    bool is_array = false;
    listing.table.widths = listing.widths;

    enum cli_exit rc = take_gang(cli, &listing);
    if (rc != CLI_OK) {
        return rc;
    }
    if (cli->argument_count > 0) {
        listing.is_found = arena_alloc_array(
            &cli->arena, (size_t)cli->argument_count, sizeof(bool));
        listing.named =
            (struct cli_names){cli->arguments, (size_t)cli->argument_count};
    }
    rc = selection_filter(cli, &listing.request);
    if (rc == CLI_OK) {
        rc = take_limit(cli, &listing.limit);
        listing.left = listing.limit;
    }
    if (rc == CLI_OK) {
        rc = states_of_option(cli, "states", &listing.request.states,
                              &listing.request.n_states);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    rc = take_array(cli, &listing, &is_array);
    if (rc != CLI_OK) {
        return rc;
    }
    /* Programs that read csv count columns. */
    listing.table.headings =
        headings_of(cli, (is_array || cli_has(cli, "members")) && !cli->is_csv,
                    &listing.table.column_count);
    /* Who asks for states or labels means jobs; so do programs. */
    listing.request.arrays_once =
        cli->output == CLI_OUTPUT_TEXT && !cli_has(cli, "members") &&
        listing.named.count == 0 && listing.request.n_states == 0 &&
        listing.request.n_labels == 0;
    listing.jobs = cli->output == CLI_OUTPUT_TEXT ? NULL : json_array();
    rc = list_jobs(cli, &listing);
    json_decref(listing.jobs);
    return rc;
}
