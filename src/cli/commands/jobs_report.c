/*
 * report jobs: what each job has used, or sums by what jobs have in common.
 */
#include <ctype.h>
#include <inttypes.h>
#include <time.h>

#include "base/intern.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/check.h"
#include "cli/shared/selection.h"
#include "cli/shared/states.h"
#include "model/id.h"

enum {
    JOBS_PER_REQUEST = 1000,
    BY_MAX = 8,
    DAY_MS = 86400000,
    DAY_TEXT_BYTES = 16,
};

static const double ms_per_hour = 3600000, milli = 1000;

static const char *const job_headings[] = {
    "JOB",  "NAME",     "QUEUE", "USER",   "JOBSET", "STATE", "SUBMITTED",
    "CODE", "WAITED H", "RAN H", "CORE H", "WASTED", "GPU H", "GPU WASTED",
};
static const char *const sum_headings[] = {"JOBS",   "SUCCEEDED", "FAILED",
                                           "OTHER",  "WAITED H",  "CORE H",
                                           "WASTED", "GPU H",     "GPU WASTED"};

/* What a row adds up. */
struct sums {
    uint64_t job_count, succeeded_count, failed_count;
    double waited_h, core_h, wasted_core_h, gpu_h, wasted_gpu_h;
};

struct report {
    struct cli_names by;
    int64_t from_ms, to_ms; /* submitted then, the end not included */
    struct table table;
    json_t *rows;         /* with -o json or yaml */
    struct intern *names; /* of groups: index into sums */
    VEC(struct sums) sums;
    char next_id[ID_TEXT_BYTES_MAX]; /* where the next page begins */
};

/* The first ms of a day such as 2026-01-31; CLI_USAGE. */
static enum cli_exit take_day(struct cli *cli, const char *option,
                              int64_t otherwise, int64_t *ret_ms)
{
    const char *text = cli_text(cli, option, NULL);
    struct tm tm = {0};

    *ret_ms = otherwise;
    if (!text) {
        return CLI_OK;
    }
    const char *end = strptime(text, "%Y-%m-%d", &tm);
    if (!end || *end) {
        return cli_fail(cli, CLI_USAGE,
                        "--%s takes a day such as 2026-01-31, not \"%s\"",
                        option, text);
    }
    *ret_ms = (int64_t)timegm(&tm) * 1000;
    return CLI_OK;
}

static const char *label_of(const Berth__Api__JobSummary *job, const char *key)
{
    for (size_t i = 0; job->usage && i < job->usage->n_labels; i++) {
        if (strcmp(job->usage->labels[i]->key, key) == 0) {
            return job->usage->labels[i]->value;
        }
    }
    return "";
}

static int64_t submitted_ms(const Berth__Api__JobSummary *job)
{
    return job->submitted ? job->submitted->seconds * 1000 : 0;
}

/* What a job has of one thing to sum by; "" where it has none. */
static const char *part_of(const Berth__Api__JobSummary *job, const char *by,
                           char day[DAY_TEXT_BYTES])
{
    if (strcmp(by, "queue") == 0) {
        return job->queue;
    }
    if (strcmp(by, "user") == 0) {
        return job->owner;
    }
    if (strcmp(by, "jobset") == 0) {
        return job->job_set;
    }
    if (strcmp(by, "name") == 0) {
        return label_of(job, SELECTION_NAME_LABEL);
    }
    if (strcmp(by, "day") == 0) {
        time_t seconds = (time_t)(submitted_ms(job) / 1000);
        struct tm tm;
        (void)strftime(day, DAY_TEXT_BYTES, "%Y-%m-%d",
                       gmtime_r(&seconds, &tm));
        return day;
    }
    return label_of(job, strchr(by, ':') + 1);
}

static enum cli_exit check_by(struct cli *cli, const struct cli_names *by)
{
    static const char *const known[] = {"queue", "user", "jobset", "name",
                                        "day"};

    for (size_t i = 0; i < by->count; i++) {
        bool is_known =
            strncmp(by->items[i], "label:", 6) == 0 && by->items[i][6];
        for (size_t k = 0; k < ARRAY_COUNT(known) && !is_known; k++) {
            is_known = strcmp(by->items[i], known[k]) == 0;
        }
        if (!is_known) {
            return cli_fail(cli, CLI_USAGE,
                            "--by takes queue, user, jobset, name, day and "
                            "label:KEY, not \"%s\"",
                            by->items[i]);
        }
    }
    return by->count <= BY_MAX
               ? CLI_OK
               : cli_fail(cli, CLI_USAGE, "--by takes at most %d", BY_MAX);
}

static struct sums sums_of(const Berth__Api__JobSummary *job)
{
    const Berth__Api__JobUsage *usage = job->usage;
    double ran_h = (double)usage->ran_ms / ms_per_hour;
    double wasted_h = (double)usage->wasted_ms / ms_per_hour;

    return (struct sums){
        .job_count = 1,
        .succeeded_count = job->state == API__JOB_STATE__SUCCEEDED,
        .failed_count = job->state == API__JOB_STATE__FAILED ||
                        job->state == API__JOB_STATE__REJECTED,
        .waited_h = (double)usage->waited_ms / ms_per_hour,
        .core_h = ran_h * (double)usage->core_milli / milli,
        .wasted_core_h = wasted_h * (double)usage->core_milli / milli,
        .gpu_h = ran_h * (double)usage->gpu_milli / milli,
        .wasted_gpu_h = wasted_h * (double)usage->gpu_milli / milli,
    };
}

static void add_job(struct cli *cli, struct report *report,
                    const Berth__Api__JobSummary *job)
{
    struct table *table = &report->table;
    struct sums sums = sums_of(job);
    const double hours[] = {
        sums.waited_h, (double)job->usage->ran_ms / ms_per_hour,
        sums.core_h,   sums.wasted_core_h,
        sums.gpu_h,    sums.wasted_gpu_h};

    table_add(table, job->job_id);
    table_add(table, label_of(job, SELECTION_NAME_LABEL));
    table_add(table, job->queue);
    table_add(table, job->owner);
    table_add(table, job->job_set);
    table_add(table, states_name(job->state));
    table_add(table, cli_time(cli, job->submitted));
    table_add(table, states_exit_code(cli, job));
    for (size_t i = 0; i < ARRAY_COUNT(hours); i++) {
        table_addf(table, "%.4f", hours[i]);
    }
}

/* Add a job to the sums of its group. */
static void sum_job(struct report *report, const Berth__Api__JobSummary *job)
{
    auto_strbuf name = {0};
    char day[DAY_TEXT_BYTES];
    struct sums one = sums_of(job);

    for (size_t i = 0; i < report->by.count; i++) {
        strbuf_add_text(&name, part_of(job, report->by.items[i], day));
        strbuf_add_char(&name, '\0');
    }
    uint32_t index = intern_add(report->names, strbuf_str(&name));
    if (index == report->sums.count) {
        VEC_PUSH(&report->sums, (struct sums){0});
    }
    struct sums *sums = &report->sums.items[index];
    sums->job_count += one.job_count;
    sums->succeeded_count += one.succeeded_count;
    sums->failed_count += one.failed_count;
    sums->waited_h += one.waited_h;
    sums->core_h += one.core_h;
    sums->wasted_core_h += one.wasted_core_h;
    sums->gpu_h += one.gpu_h;
    sums->wasted_gpu_h += one.wasted_gpu_h;
}

/* Take the jobs of a page; false: what follows is older than the report. */
static bool take_page(struct cli *cli, struct report *report,
                      const Berth__Api__ListJobsResponse *page)
{
    for (size_t i = 0; i < page->n_jobs; i++) {
        const Berth__Api__JobSummary *job = page->jobs[i];
        if (submitted_ms(job) < report->from_ms) {
            return false;
        }
        if (submitted_ms(job) >= report->to_ms || !job->usage) {
            continue;
        }
        if (report->by.count > 0) {
            sum_job(report, job);
        } else if (report->rows) {
            (void)json_array_append_new(report->rows,
                                        wire_json_write(&job->base, 0));
        } else {
            add_job(cli, report, job);
        }
    }
    return true;
}

/* Ask for a page, and take it; `ret_goes_on`: others follow. */
static enum cli_exit get_page(struct cli *cli, struct report *report,
                              Berth__Api__ListJobsRequest *request,
                              bool *ret_goes_on)
{
    ProtobufCMessage *reply;

    enum cli_exit rc =
        cli_call(cli, "/berth.api.Berth/ListJobs", &request->base,
                 &berth__api__list_jobs_response__descriptor, &reply);
    if (rc != CLI_OK) {
        return rc;
    }
    const Berth__Api__ListJobsResponse *page = (void *)reply;
    *ret_goes_on = take_page(cli, report, page) && *page->next_job_id;
    (void)snprintf(report->next_id, sizeof(report->next_id), "%s",
                   page->next_job_id);
    request->older_than_job_id = report->next_id;
    return CLI_OK;
}

/* Where sums are all that is kept, a page is forgotten before the next. */
static enum cli_exit take_pages(struct cli *cli, struct report *report,
                                Berth__Api__ListJobsRequest *request)
{
    bool forgets = report->by.count > 0;
    bool goes_on = true;
    enum cli_exit rc = CLI_OK;

    while (rc == CLI_OK && goes_on) {
        struct arena kept = cli->arena;
        if (forgets) {
            cli->arena = (struct arena){0};
        }
        rc = get_page(cli, report, request, &goes_on);
        if (forgets) {
            arena_fini(&cli->arena);
            cli->arena = kept;
        }
    }
    return rc;
}

/* A group's sums as a row of the table, or of the JSON. */
static void put_sums(struct report *report, struct str name,
                     const struct sums *sums)
{
    const double hours[] = {sums->waited_h, sums->core_h, sums->wasted_core_h,
                            sums->gpu_h, sums->wasted_gpu_h};
    static const char *const keys[] = {"waitedHours", "coreHours",
                                       "wastedCoreHours", "gpuHours",
                                       "wastedGpuHours"};
    const uint64_t counts[] = {
        sums->job_count, sums->succeeded_count, sums->failed_count,
        sums->job_count - sums->succeeded_count - sums->failed_count};
    static const char *const count_keys[] = {"jobs", "succeeded", "failed",
                                             "other"};
    json_t *row = report->rows ? json_object() : NULL;
    const char *part = name.p;

    for (size_t i = 0; i < report->by.count; i++, part += strlen(part) + 1) {
        (void)json_object_set_new(row, report->by.items[i], json_string(part));
        table_add(&report->table, part);
    }
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        (void)json_object_set_new(row, count_keys[i],
                                  json_integer((json_int_t)counts[i]));
        table_addf(&report->table, "%" PRIu64, counts[i]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(hours); i++) {
        (void)json_object_set_new(row, keys[i], json_real(hours[i]));
        table_addf(&report->table, "%.4f", hours[i]);
    }
    if (row) {
        (void)json_array_append_new(report->rows, row);
    }
}

static int compare_names(const void *a, const void *b, void *names)
{
    return str_compare(intern_get(names, *(const uint32_t *)a),
                       intern_get(names, *(const uint32_t *)b));
}

/* All groups, in the order of their names. */
static void put_groups(struct report *report)
{
    uint32_t count = (uint32_t)report->sums.count;
    auto_mem uint32_t *order = mem_alloc_array(count + 1, sizeof(*order));

    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    qsort_r(order, count, sizeof(*order), compare_names, report->names);
    for (uint32_t i = 0; i < count; i++) {
        put_sums(report, intern_get(report->names, order[i]),
                 &report->sums.items[order[i]]);
    }
}

/* As headings are written; keys of labels stay as they are. */
static const char *upper_case(struct cli *cli, const char *text)
{
    char *upper = cli_format(cli, "%s", text);

    for (char *at = upper; *at && *at != ':'; at++) {
        *at = (char)toupper((unsigned char)*at);
    }
    return upper;
}

/* The headings: what is summed by, then the sums. */
static void make_table(struct cli *cli, struct report *report)
{
    static const char *const spare[] = {"GPU WASTED", "WASTED", "JOBSET", NULL};
    size_t by_count = report->by.count;
    const char **headings = arena_alloc_array(
        &cli->arena, by_count + ARRAY_COUNT(job_headings), sizeof(*headings));
    size_t count = 0;

    for (size_t i = 0; i < by_count; i++) {
        headings[count++] = cli->is_csv ? report->by.items[i]
                                        : upper_case(cli, report->by.items[i]);
    }
    for (size_t i = 0; by_count > 0 && i < ARRAY_COUNT(sum_headings); i++) {
        headings[count++] = sum_headings[i];
    }
    for (size_t i = 0; by_count == 0 && i < ARRAY_COUNT(job_headings); i++) {
        headings[count++] = job_headings[i];
    }
    report->table = (struct table){
        &cli->arena, headings, (uint32_t)count, {0}, spare, NULL, false};
}

/* What is asked for; jobs have the time of their submission in their ids. */
static enum cli_exit make_request(struct cli *cli, struct report *report,
                                  Berth__Api__ListJobsRequest *request)
{
    static const uint8_t least[10] = {0};
    char id[ID_TEXT_BYTES_MAX];
    int64_t last_day;

    enum cli_exit rc = selection_filter(cli, request);
    if (rc == CLI_OK) {
        rc = take_day(cli, "from", 0, &report->from_ms);
    }
    if (rc == CLI_OK) {
        rc = take_day(cli, "to", -1, &last_day);
    }
    if (rc == CLI_OK) {
        rc = states_of_option(cli, "states", &request->states,
                              &request->n_states);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    if (last_day >= 0 && report->from_ms > last_day) {
        return cli_fail(cli, CLI_USAGE,
                        "--from %s is later than --to %s; give an earlier day "
                        "first",
                        cli_text(cli, "from", ""), cli_text(cli, "to", ""));
    }
    report->to_ms = last_day < 0 ? INT64_MAX : last_day + DAY_MS;
    if (last_day >= 0) {
        request->older_than_job_id = cli_format(
            cli, "%s", job_id_format(job_id_make(report->to_ms, least), id));
    }
    request->owner = cli_format(cli, "%s", cli_text(cli, "user", ""));
    request->limit = JOBS_PER_REQUEST;
    request->with_usage = true;
    return CLI_OK;
}

static bool is_empty(const struct report *report)
{
    return report->rows ? json_array_size(report->rows) == 0
                        : report->table.cells.count == 0;
}

enum cli_exit cmd_report_jobs(struct cli *cli)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    struct report report = {.by = cli_list(cli, "by")};

    enum cli_exit rc = check_by(cli, &report.by);
    if (rc == CLI_OK) {
        rc = make_request(cli, &report, &request);
    }
    if (rc != CLI_OK) {
        return rc;
    }
    report.names = intern_create();
    report.rows = cli->output == CLI_OUTPUT_TEXT ? NULL : json_array();
    make_table(cli, &report);
    rc = take_pages(cli, &report, &request);
    put_groups(&report);
    if (rc == CLI_OK && report.rows) {
        cli_print_json(cli, json_incref(report.rows));
    }
    if (rc == CLI_OK && *request.queue && is_empty(&report)) {
        rc = check_queue(cli, request.queue);
    }
    if (rc == CLI_OK && !report.rows) {
        cli_print_table(cli, &report.table);
    }
    VEC_FREE(&report.table.cells);
    VEC_FREE(&report.sums);
    intern_destroy(report.names);
    json_decref(report.rows);
    return rc;
}
