#include "cli/commands/submit_when.h"

#include "base/intern.h"
#include "berth/api.pb-c.h"
#include "wire/settings/settings.h"

enum {
    SPAN_S = 3600,
    MS_PER_S = 1000,
    ITEM_BYTES = 8,               /* beside the item: its tag and length */
    REQUEST_BYTES_MAX = 15 << 18, /* 3.75 MiB: servers take 4 MiB */
};

#define GANG_ID "armadaproject.io/gangId"

/* What is forecast of a job. */
enum start {
    START_AT_ONCE,
    START_LATER,
    START_NOT_YET,
    START_NEVER,
    STARTS,
};

static enum start start_of(const Berth__Api__WhatIfSubmitted *job)
{
    const Berth__Api__WhatIfOutcome *outcome = job->fate;

    if (job->refused) {
        return START_NEVER;
    }
    if (outcome->started_ms < 0) {
        return START_NOT_YET;
    }
    /* The first round of the forecast is at 0; what starts after it waited for
     * something, if only for runs that are predicted to last some ms. */
    return outcome->started_ms == 0 ? START_AT_ONCE : START_LATER;
}

/* So long, in whole seconds; at least one. */
static const char *duration(struct cli *cli, int64_t ms)
{
    auto_strbuf text = {0};
    int64_t seconds = (ms + MS_PER_S - 1) / MS_PER_S;

    setting_print_duration((seconds > 1 ? seconds : 1) * MS_PER_S, &text);
    return cli_format(cli, "%s", strbuf_text(&text));
}

static const char *sentence(struct cli *cli,
                            const Berth__Api__WhatIfSubmitted *job,
                            int64_t span_ms)
{
    const Berth__Api__WhatIfOutcome *outcome = job->fate;

    switch (start_of(job)) {
    case START_AT_ONCE:
        return cli_format(cli, "would start at once, on node %s",
                          outcome->node);
    case START_LATER:
        return cli_format(cli, "would start after about %s, on node %s",
                          duration(cli, outcome->started_ms), outcome->node);
    case START_NOT_YET:
        return cli_format(cli, "would not start within %s",
                          duration(cli, span_ms));
    case START_NEVER:
    case STARTS:
        break;
    }
    return "could never start";
}

/* Each line of a text as a line of its own, indented. */
static void say_indented(struct cli *cli, const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = strchrnul(text, '\n');
        cli_say(cli, "  %.*s", (int)(end - text), text);
    }
}

static void say_all(struct cli *cli, const struct submission *submission,
                    const Berth__Api__WhatIfResponse *response)
{
    uint32_t counts[STARTS] = {0};

    for (size_t i = 0; i < response->n_submitted; i++) {
        const Berth__Api__WhatIfSubmitted *job = response->submitted[i];
        counts[start_of(job)]++;
        if (i < SUBMIT_WHEN_LINES) {
            cli_say(cli, "jobs[%zu] %s", i,
                    sentence(cli, job, response->span_ms));
            say_indented(cli, job->why);
        }
    }
    if (response->n_submitted > SUBMIT_WHEN_LINES) {
        cli_say(cli, "Of the first %zu of %zu jobs:", response->n_submitted,
                submission->item_count);
        cli_say(cli,
                "  %u would start at once, %u later, %u not within %s, %u "
                "never",
                counts[START_AT_ONCE], counts[START_LATER],
                counts[START_NOT_YET], duration(cli, response->span_ms),
                counts[START_NEVER]);
    }
    cli_note(cli,
             "Forecast for jobs that run as long as those before them, with "
             "nothing else submitted%s",
             response->cut ? "; the server had no time to look further" : "");
}

/* How many jobs of a file, from its first, one request holds. */
static size_t request_job_count(const struct submission *submission)
{
    size_t byte_count = 0;

    for (size_t i = 0; i < submission->item_count; i++) {
        byte_count +=
            protobuf_c_message_get_packed_size(&submission->items[i]->base) +
            ITEM_BYTES;
        if (byte_count > REQUEST_BYTES_MAX) {
            return i;
        }
    }
    return submission->item_count;
}

/* The gang of a job, as its annotation says; NULL: it has none. */
static const char *gang_of(const Api__JobSubmitRequestItem *item)
{
    for (size_t i = 0; i < item->n_annotations; i++) {
        if (strcmp(item->annotations[i]->key, GANG_ID) == 0) {
            return item->annotations[i]->value;
        }
    }
    return NULL;
}

/* A gang without some of its members would never start: refuse to forecast the
 * first `count` jobs if they are such a part. */
static enum cli_exit
check_gangs(struct cli *cli, const struct submission *submission, size_t count)
{
    auto_ptr(intern) gangs = intern_create();

    for (size_t i = 0; i < count; i++) {
        const char *gang = gang_of(submission->items[i]);
        if (gang) {
            (void)intern_add(gangs, str_of(gang));
        }
    }
    for (size_t i = count; i < submission->item_count; i++) {
        const char *gang = gang_of(submission->items[i]);
        if (gang && intern_find(gangs, str_of(gang)) != INTERN_NONE) {
            return cli_fail(cli, CLI_INVALID,
                            "--when can ask about the first %zu jobs of the "
                            "file (%u KiB), but jobs[%zu] belongs to the gang "
                            "%s, which begins before; put the jobs of the gang "
                            "first, or in a file of their own",
                            count, REQUEST_BYTES_MAX >> 10, i, gang);
        }
    }
    return CLI_OK;
}

enum cli_exit submit_when(struct cli *cli, const struct submission *submission)
{
    Berth__Api__WhatIfRequest request = BERTH__API__WHAT_IF_REQUEST__INIT;
    Api__JobSubmitRequest jobs = API__JOB_SUBMIT_REQUEST__INIT;
    ProtobufCMessage *reply;

    jobs.queue = submission->queue;
    jobs.job_set_id = submission->job_set;
    jobs.job_request_items = submission->items;
    jobs.n_job_request_items = request_job_count(submission);
    request.submission = &jobs;
    request.span_seconds = SPAN_S;
    request.job_limit = 1; /* others than these are not told of */
    enum cli_exit rc = check_gangs(cli, submission, jobs.n_job_request_items);
    if (rc == CLI_OK) {
        rc = cli_call(cli, "/berth.api.Berth/WhatIf", &request.base,
                      &berth__api__what_if_response__descriptor, &reply);
    }
    if (rc == CLI_OK) {
        say_all(cli, submission, (void *)reply);
    }
    return rc;
}
