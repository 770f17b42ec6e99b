/*
 * what-if: what changes would do, as the server plays them on a copy of its
 * state.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/plural.h"
#include "berth/api.pb-c.h"
#include "cli/commands/commands.h"
#include "cli/shared/job_file.h"
#include "wire/change/change_text.h"
#include "wire/settings/settings.h"

enum {
    SPAN_MS_MAX = 7 * 24 * 3600 * 1000, /* as the server allows */
    JOBS_SHOWN_MAX = 10000,
};

static const char *const job_headings[] = {"JOB",   "QUEUE",   "EFFECT",
                                           "AS IS", "WHAT IF", "NODE"};
static const char *const queue_headings[] = {"QUEUE",    "STARTED", "PREEMPTED",
                                             "ENDED",    "WAITING", "RUNNING",
                                             "MEAN WAIT"};

/* What people say of each effect, in the order in which they read it. */
static const struct {
    const char *effect, *one, *many;
} sentences[] = {
    {"starts", "starts that would wait", "start that would wait"},
    {"waits", "waits that would start", "wait that would start"},
    {"earlier", "starts earlier", "start earlier"},
    {"later", "starts later", "start later"},
    {"moves", "starts on another node", "start on another node"},
    {"preempted", "is preempted", "are preempted"},
    {"kept", "keeps the place that it would lose",
     "keep the place that they would lose"},
    {"refused", "can never start", "can never start"},
    {"not-refused", "can start that never could", "can start that never could"},
};

/* The answer. */

static const char *seconds(struct cli *cli, int64_t ms)
{
    return ms < 0 ? "-" : cli_format(cli, "%.1fs", (double)ms / 1000);
}

/* What becomes of a job, in a few words. */
static const char *outcome_text(struct cli *cli,
                                const Berth__Api__WhatIfOutcome *outcome)
{
    const char *start =
        outcome->started_ms >= 0
            ? cli_format(cli, "starts at %s", seconds(cli, outcome->started_ms))
        : *outcome->node ? "runs"
                         : "waits";

    return outcome->preempted_ms >= 0
               ? cli_format(cli, "%s, preempted at %s", start,
                            seconds(cli, outcome->preempted_ms))
               : start;
}

/* A count in both courses, told once where it is the same. */
static void add_counts(struct table *table, uint32_t as_is, uint32_t what_if)
{
    if (as_is == what_if) {
        table_addf(table, "%u", as_is);
    } else {
        table_addf(table, "%u -> %u", as_is, what_if);
    }
}

static void print_queues(struct cli *cli,
                         const Berth__Api__WhatIfResponse *response)
{
    struct table table = {
        &cli->arena, queue_headings, ARRAY_COUNT(queue_headings), {0}, NULL,
        NULL,        false};

    for (size_t i = 0; i < response->n_queues; i++) {
        const Berth__Api__WhatIfQueueOutcome *as_is =
            response->queues[i]->as_is;
        const Berth__Api__WhatIfQueueOutcome *what_if =
            response->queues[i]->what_if;
        table_add(&table, response->queues[i]->name);
        add_counts(&table, as_is->started, what_if->started);
        add_counts(&table, as_is->preempted, what_if->preempted);
        add_counts(&table, as_is->ended, what_if->ended);
        add_counts(&table, as_is->waiting, what_if->waiting);
        add_counts(&table, as_is->running, what_if->running);
        table_addf(&table, "%.1fs -> %.1fs", as_is->mean_wait_seconds,
                   what_if->mean_wait_seconds);
    }
    cli_print_table(cli, &table);
    VEC_FREE(&table.cells);
}

static void print_jobs(struct cli *cli,
                       const Berth__Api__WhatIfResponse *response)
{
    struct table table = {&cli->arena, job_headings, ARRAY_COUNT(job_headings),
                          {0},         NULL,         NULL,
                          false};

    for (size_t i = 0; i < response->n_jobs; i++) {
        const Berth__Api__WhatIfJob *job = response->jobs[i];
        table_add(&table, job->job_id);
        table_add(&table, job->queue);
        table_add(&table, job->effect);
        table_add(&table, outcome_text(cli, job->as_is));
        table_add(&table, outcome_text(cli, job->what_if));
        table_add(&table,
                  *job->what_if->node ? job->what_if->node : job->as_is->node);
    }
    cli_print_table(cli, &table);
    VEC_FREE(&table.cells);
}

static uint32_t count_of(const Berth__Api__WhatIfResponse *response,
                         const char *effect)
{
    for (size_t i = 0; i < response->n_counts; i++) {
        if (strcmp(response->counts[i]->effect, effect) == 0) {
            return response->counts[i]->jobs;
        }
    }
    return 0;
}

/* Say how many jobs a drain cannot preempt; whether there are any. */
static bool print_drained(struct cli *cli,
                          const Berth__Api__WhatIfResponse *response)
{
    bool has_kept = false;

    for (size_t i = 0; i < response->n_drained; i++) {
        const Berth__Api__WhatIfDrained *node = response->drained[i];
        if (node->kept_jobs == 0) {
            continue;
        }
        has_kept = true;
        cli_say(cli,
                "  %u job%s on %s may not be preempted and run%s on; nothing "
                "new starts there",
                node->kept_jobs, plural_s(node->kept_jobs), node->node,
                plural_of(node->kept_jobs, "s", ""));
    }
    return has_kept;
}

/* How many more jobs wait at the end, as those that were submitted may. */
static int64_t more_waiting(const Berth__Api__WhatIfResponse *response)
{
    int64_t count = 0;

    for (size_t i = 0; i < response->n_queues; i++) {
        count += (int64_t)response->queues[i]->what_if->waiting -
                 response->queues[i]->as_is->waiting;
    }
    return count;
}

static void print_text(struct cli *cli,
                       const Berth__Api__WhatIfResponse *response)
{
    uint64_t changed_count = 0;

    cli_say(cli, "From %s on, %s ahead%s:", cli_time(cli, response->began),
            seconds(cli, response->span_ms),
            response->cut ? " (cut: it took the server too long)" : "");
    for (size_t i = 0; i < ARRAY_COUNT(sentences); i++) {
        uint32_t count = count_of(response, sentences[i].effect);
        changed_count += count;
        if (count) {
            cli_say(cli, "  %u job%s %s", count, plural_s(count),
                    plural_of(count, sentences[i].one, sentences[i].many));
        }
    }
    bool has_kept = print_drained(cli, response);
    int64_t more_count = more_waiting(response);
    if (more_count > 0 && !changed_count) {
        cli_say(cli, "  %" PRId64 " more job%s wait%s", more_count,
                plural_s((uint64_t)more_count),
                plural_of((uint64_t)more_count, "s", ""));
    } else if (!changed_count && !has_kept) {
        cli_say(cli, "  the changes make no difference");
    }
    if (response->n_queues) {
        print_queues(cli, response);
    }
    if (response->n_jobs) {
        cli_say(cli, "%s", "");
        print_jobs(cli, response);
    }
    if (changed_count > response->n_jobs) {
        cli_remark(cli, "%" PRIu64 " more job%s; --limit shows more",
                   changed_count - response->n_jobs,
                   plural_s(changed_count - response->n_jobs));
    }
}

/* The request. */

static bool read_double(const char *text, double *ret_value)
{
    char *end;

    *ret_value = strtod(text, &end);
    return *text && !*end && isfinite(*ret_value);
}

static char *copy(struct cli *cli, struct str text)
{
    return cli_format(cli, "%.*s", STR_ARG(text));
}

static void add_weight(struct cli *cli, const struct change_set *set,
                       Berth__Api__WhatIfRequest *request)
{
    Berth__Api__WhatIfWeight *weight =
        wire_new(&berth__api__what_if_weight__descriptor, &cli->arena);

    weight->queue = copy(cli, set->name);
    weight->weight = set->value;
    request->weights[request->n_weights++] = weight;
}

static void add_class(struct cli *cli, const struct change_set *set,
                      Berth__Api__WhatIfRequest *request)
{
    Berth__Api__WhatIfClass *class =
        wire_new(&berth__api__what_if_class__descriptor, &cli->arena);

    class->priority_class = copy(cli, set->name);
    if (set->kind == CHANGE_LIMIT) {
        class->resource = copy(cli, set->resource);
        class->fraction = set->value;
    } else {
        class->priority =
            wire_new(&google__protobuf__int32_value__descriptor, &cli->arena);
        class->priority->value = (int32_t)set->value;
    }
    request->classes[request->n_classes++] = class;
}

static enum cli_exit read_set(struct cli *cli,
                              Berth__Api__WhatIfRequest *request)
{
    const struct option_value *option = cli_option(cli, "set");

    request->weights = arena_alloc_array(&cli->arena, option->count,
                                         sizeof(*request->weights));
    request->classes = arena_alloc_array(&cli->arena, option->count,
                                         sizeof(*request->classes));
    for (uint32_t i = 0; i < option->count; i++) {
        struct change_set set;
        struct err err;
        if (change_read_set(option->items[i], &set, &err) < 0) {
            return cli_fail(cli, CLI_USAGE, "%s", err.text);
        }
        (set.kind == CHANGE_WEIGHT ? add_weight : add_class)(cli, &set,
                                                             request);
    }
    return CLI_OK;
}

static enum cli_exit read_nodes(struct cli *cli,
                                Berth__Api__WhatIfRequest *request)
{
    const struct option_value *nodes = cli_option(cli, "add-nodes");

    request->add_nodes = arena_alloc_array(&cli->arena, nodes->count,
                                           sizeof(*request->add_nodes));
    for (uint32_t i = 0; i < nodes->count; i++) {
        Berth__Api__WhatIfNodes *some =
            wire_new(&berth__api__what_if_nodes__descriptor, &cli->arena);
        struct change_nodes asked;
        struct err err;
        if (change_read_nodes(nodes->items[i], &asked, &err) < 0) {
            return cli_fail(cli, CLI_USAGE, "%s", err.text);
        }
        some->count = asked.count;
        some->like = cli_format(cli, "%s", asked.like);
        request->add_nodes[request->n_add_nodes++] = some;
    }
    struct cli_names drained = cli_list(cli, "drain");
    request->drain_nodes = drained.items;
    request->n_drain_nodes = drained.count;
    return CLI_OK;
}

static enum cli_exit read_files(struct cli *cli,
                                Berth__Api__WhatIfRequest *request)
{
    const char *jobs = cli_text(cli, "submit", NULL);
    const char *scheduling = cli_text(cli, "scheduling", NULL);
    struct submission submission = {.queue = NULL};
    struct str text;
    json_t *document;

    if (scheduling) {
        enum cli_exit rc = cli_read_file(cli, scheduling, &text);
        if (rc != CLI_OK) {
            return rc;
        }
        request->scheduling = cli_format(cli, "%.*s", STR_ARG(text));
        request->scheduling_name = cli_format(cli, "%s", scheduling);
    }
    if (!jobs) {
        return CLI_OK;
    }
    enum cli_exit rc = cli_read_document(cli, jobs, &document);
    if (rc == CLI_OK) {
        rc = submission_read(cli, document, &submission);
        json_decref(document);
    }
    if (rc == CLI_OK) {
        Api__JobSubmitRequest *asked =
            wire_new(&api__job_submit_request__descriptor, &cli->arena);
        asked->queue = submission.queue;
        asked->job_set_id = submission.job_set;
        asked->job_request_items = submission.items;
        asked->n_job_request_items = submission.item_count;
        request->submission = asked;
    }
    return rc;
}

static enum cli_exit read_bounds(struct cli *cli,
                                 Berth__Api__WhatIfRequest *request)
{
    const char *span = cli_text(cli, "for", NULL);
    const char *limit = cli_text(cli, "limit", NULL);
    int64_t span_ms = 0;
    double count = 0;

    if (span && (setting_parse_duration(str_of(span), &span_ms) < 0 ||
                 span_ms < 1000 || span_ms > SPAN_MS_MAX)) {
        return cli_fail(cli, CLI_USAGE,
                        "--for takes a time from 1s to 168h such as 90s or "
                        "1h30m, not \"%s\"",
                        span);
    }
    if (limit && (!read_double(limit, &count) || count < 1 ||
                  count > JOBS_SHOWN_MAX || count != (uint32_t)count)) {
        return cli_fail(cli, CLI_USAGE,
                        "--limit takes a whole number from 1 to %d, not \"%s\"",
                        JOBS_SHOWN_MAX, limit);
    }
    request->span_seconds = (uint32_t)(span_ms / 1000);
    request->job_limit = (uint32_t)count;
    return CLI_OK;
}

enum cli_exit cmd_what_if(struct cli *cli)
{
    Berth__Api__WhatIfRequest request = BERTH__API__WHAT_IF_REQUEST__INIT;
    ProtobufCMessage *reply;

    enum cli_exit rc = read_set(cli, &request);
    if (rc == CLI_OK) {
        rc = read_nodes(cli, &request);
    }
    if (rc == CLI_OK) {
        rc = read_files(cli, &request);
    }
    if (rc == CLI_OK) {
        rc = read_bounds(cli, &request);
    }
    if (rc == CLI_OK) {
        rc = cli_call(cli, "/berth.api.Berth/WhatIf", &request.base,
                      &berth__api__what_if_response__descriptor, &reply);
    }
    if (rc != CLI_OK || cli_print_message(cli, reply)) {
        return rc;
    }
    print_text(cli, (void *)reply);
    return CLI_OK;
}
