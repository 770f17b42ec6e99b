#include "api/queries/job_story.h"

#include <inttypes.h>

#include "wire/settings/settings.h"
#include "wire/text/printable.h"
#include "wire/text/rfc3339.h"

enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };

void job_story_put_moment(struct strbuf *text, int64_t ms)
{
    char when[WIRE_RFC3339_TEXT_BYTES_MAX];

    strbuf_add_text(text, wire_rfc3339_format(
                              ms / MS_PER_S,
                              (int32_t)(ms % MS_PER_S) * NS_PER_MS, 0, when));
}

/* A span as people say it: whole seconds above a second. */
static void put_span(struct strbuf *text, int64_t ms)
{
    ms = ms < 0 ? 0 : ms;
    setting_print_duration(ms < MS_PER_S ? ms : ms - ms % MS_PER_S, text);
}

static void put_member(struct strbuf *json, const char *name, int64_t value)
{
    strbuf_addf(json, ",\"%s\":%" PRId64, name, value);
}

static void put_submission(const struct stored_job *job, struct strbuf *text,
                           struct strbuf *json)
{
    strbuf_add_text(text, "It was submitted at ");
    job_story_put_moment(text, job->submitted_ms);
    strbuf_addf(text, " by %.*s.\n", STR_ARG(job->owner));
    put_member(json, "submittedMs", job->submitted_ms);
}

/* What came of a run that has ended. */
static void put_end(const struct stored_run *run, struct strbuf *text,
                    struct strbuf *json)
{
    int64_t begin_ms = run->started_ms ? run->started_ms : run->leased_ms;

    strbuf_add_text(text, "; it ended at ");
    job_story_put_moment(text, run->finished_ms);
    strbuf_add_text(text, ", after ");
    put_span(text, run->finished_ms - begin_ms);
    put_member(json, "endedMs", run->finished_ms);
    /* What never started has none, and is stored with 0. */
    if (run->state == STORED_RUN_FAILED &&
        (run->started_ms || run->exit_code != 0)) {
        strbuf_addf(text, ", with exit code %d", run->exit_code);
        put_member(json, "exitCode", run->exit_code);
    }
    if (run->state == STORED_RUN_PREEMPTED && run->error.byte_count > 0) {
        strbuf_add_text(text, ": ");
        wire_printable(run->error, PRINTABLE_INDENTED, text);
    }
}

static void put_run(const struct stored_job *job, const struct stored_run *run,
                    struct strbuf *text, struct strbuf *json)
{
    int64_t begin_ms = run->started_ms ? run->started_ms : run->leased_ms;

    strbuf_addf(text, "Run %u %s at ", job->run_count,
                run->started_ms ? "started" : "got its node");
    job_story_put_moment(text, begin_ms);
    strbuf_addf(text, " on node %.*s of executor %.*s", STR_ARG(run->node),
                STR_ARG(run->cluster));
    put_member(json, "leasedMs", run->leased_ms);
    if (run->started_ms) {
        put_member(json, "startedMs", run->started_ms);
    }
    if (job->run_count == 1) {
        strbuf_add_text(text, ", after it had waited for ");
        put_span(text, run->leased_ms - job->submitted_ms);
        put_member(json, "waitedMs", run->leased_ms - job->submitted_ms);
    }
    if (run->finished_ms) {
        put_end(run, text, json);
    }
    strbuf_add_text(text, ".\n");
}

void job_story_put(const struct last_run *last, struct strbuf *text,
                   struct strbuf *json)
{
    if (last->rc <= 0) {
        return;
    }
    put_submission(&last->job, text, json);
    if (last->run.leased_ms) {
        put_run(&last->job, &last->run, text, json);
    }
    if (last->job.cancelled_ms && last->job.cancel_user.byte_count > 0) {
        strbuf_addf(text, "It was cancelled by %.*s at ",
                    STR_ARG(last->job.cancel_user));
        job_story_put_moment(text, last->job.cancelled_ms);
        strbuf_add_text(text, ".\n");
        put_member(json, "cancelledMs", last->job.cancelled_ms);
    }
}
