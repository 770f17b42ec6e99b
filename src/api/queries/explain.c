/* Berth.ExplainJob: why a job waits, or how it ended. */
#include <inttypes.h>

#include "api/core/message.h"
#include "api/core/state.h"
#include "api/core/view.h"
#include "api/handlers.h"
#include "api/queries/job_story.h"
#include "api/queries/last_run.h"
#include "api/queries/start_forecast.h"
#include "berth/api.pb-c.h"
#include "wire/text/printable.h"
#include "wire/text/rfc3339.h"

enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };

static const char *state_word(enum stored_job_state state)
{
    static const char *const words[] = {
        [STORED_JOB_QUEUED] = "queued",
        [STORED_JOB_PENDING] = "pending",
        [STORED_JOB_RUNNING] = "running",
        [STORED_JOB_SUCCEEDED] = "succeeded",
        [STORED_JOB_FAILED] = "failed",
        [STORED_JOB_CANCELLED] = "cancelled",
        [STORED_JOB_PREEMPTED] = "preempted",
        [STORED_JOB_LEASED] = "leased",
        [STORED_JOB_REJECTED] = "rejected",
    };

    return words[state];
}

static void put_json_text(struct strbuf *out, const char *key, struct str text)
{
    strbuf_addf(out, "\"%s\":\"", key);
    for (size_t i = 0; i < text.byte_count; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == '"' || c == '\\') {
            strbuf_addf(out, "\\%c", c);
        } else if (c < 0x20) {
            strbuf_addf(out, "\\u%04x", c);
        } else {
            strbuf_add_char(out, (char)c);
        }
    }
    strbuf_add_char(out, '"');
}

/* How a run ended after which the job waits again. */
static const char *end_of(enum stored_run_state state)
{
    switch (state) {
    case STORED_RUN_PREEMPTED:
        return "was preempted";
    case STORED_RUN_LEASE_RETURNED:
    case STORED_RUN_UNABLE_TO_SCHEDULE:
        return "was returned";
    case STORED_RUN_LEASE_EXPIRED:
        return "was lost with its executor";
    case STORED_RUN_FAILED:
    case STORED_RUN_PENDING:
    case STORED_RUN_RUNNING:
    case STORED_RUN_SUCCEEDED:
    case STORED_RUN_TERMINATED:
    case STORED_RUN_MAX_RUNS_EXCEEDED:
    case STORED_RUN_LEASED:
    case STORED_RUN_CANCELLED:
        break;
    }
    return "ended";
}

static void put_run(const struct stored_job *job, const struct stored_run *run,
                    struct strbuf *text, struct strbuf *json)
{
    char when[WIRE_RFC3339_TEXT_BYTES_MAX];

    wire_rfc3339_format(run->finished_ms / MS_PER_S,
                        (int32_t)(run->finished_ms % MS_PER_S) * NS_PER_MS, 3,
                        when);
    strbuf_addf(text,
                "It has run before: run %u, on node %.*s of executor %.*s, %s "
                "at %s",
                job->run_count, STR_ARG(run->node), STR_ARG(run->cluster),
                end_of(run->state), when);
    strbuf_add_text(text, run->error.byte_count ? ": " : ".");
    wire_printable(run->error, PRINTABLE_INDENTED, text);
    strbuf_add_char(text, '\n');
    if (!json) {
        return;
    }
    strbuf_addf(json, ",\"lastRun\":{\"run\":%u,", job->run_count);
    put_json_text(json, "node", run->node);
    strbuf_add_char(json, ',');
    put_json_text(json, "executor", run->cluster);
    strbuf_addf(json, ",\"endedMs\":%" PRId64 ",", run->finished_ms);
    put_json_text(json, "how", str_of(end_of(run->state)));
    strbuf_add_char(json, ',');
    put_json_text(json, "error", run->error);
    strbuf_add_char(json, '}');
}

const struct last_run *last_run_read(struct api_call *call, struct job_id id)
{
    struct last_run *last = arena_alloc(&call->arena, sizeof(*last));
    struct readers *readers;

    *last = (struct last_run){0};
    last->rc = reader_pool_lend(call->api->readers, &readers, &last->err);
    if (last->rc < 0) {
        return last;
    }
    last->rc =
        store_job(readers->store, id, &call->arena, &last->job, &last->err);
    if (last->rc > 0 && !key128_is_none(last->job.latest_run.v)) {
        struct stored_run run;
        struct err err;
        /* It is only a remark: what fails here is not told. */
        if (store_run(readers->store, last->job.latest_run, &call->arena, &run,
                      &err) > 0) {
            last->run = run;
        }
    }
    reader_pool_give_back(call->api->readers, readers);
    return last;
}

bool last_run_check(struct api_call *call, const struct last_run *last)
{
    enum view view = last->rc > 0
                         ? view_of_job(call, last->job.queue, last->job.owner)
                         : view_of_unknown(call);

    if (view == VIEW_NOTHING) {
        api_call_fail(call, RPC_NOT_FOUND, "no such job");
    }
    return view != VIEW_NOTHING;
}

void last_run_put(const struct last_run *last, struct strbuf *text,
                  struct strbuf *json)
{
    if (last->rc > 0 && last->job.state == STORED_JOB_QUEUED &&
        last->run.finished_ms > 0) {
        put_run(&last->job, &last->run, text, json);
    }
}

void last_run_put_end(const struct last_run *last, struct strbuf *text,
                      struct strbuf *json)
{
    const struct stored_job *job = &last->job;
    struct str why =
        job->error.byte_count > 0 ? job->error : job->cancel_reason;
    char id[ID_TEXT_BYTES_MAX];

    job_id_format(job->id, id);
    put_json_text(json, "jobId", str_of(id));
    strbuf_add_text(json, ",");
    put_json_text(json, "state", str_of(state_word(job->state)));
    strbuf_add_text(json, ",");
    put_json_text(json, "reason", why);
    strbuf_addf(json, ",\"runs\":%u", job->run_count);
    strbuf_addf(text, "Job %s: %s%s", id, state_word(job->state),
                why.byte_count > 0 ? ": " : ".");
    wire_printable(why, PRINTABLE_INDENTED, text);
    strbuf_add_char(text, '\n');
    job_story_put(last, text, json);
}

/* What became of a job that the leader does not hold any more. */
static void explain_ended(struct api_call *call, const struct last_run *last)
{
    Berth__Api__ExplainJobResponse response =
        BERTH__API__EXPLAIN_JOB_RESPONSE__INIT;
    auto_strbuf text = {0}, json = {0};

    strbuf_add_char(&json, '{');
    last_run_put_end(last, &text, &json);
    strbuf_add_char(&json, '}');
    response.text = message_copy(&call->arena, strbuf_str(&text));
    response.json = message_copy(&call->arena, strbuf_str(&json));
    api_call_reply(call, &response.base);
}

/* The leader does not know it: what the store said. */
static void explain_stored(struct api_call *call, const struct last_run *last)
{
    if (last->rc < 0) {
        api_call_fail_storage(call, &last->err);
    } else if (last->rc == 0) {
        api_call_fail(call, RPC_NOT_FOUND, "no such job");
    } else {
        explain_ended(call, last);
    }
}

static void explained(struct command *command, void *ctx)
{
    Berth__Api__ExplainJobResponse response =
        BERTH__API__EXPLAIN_JOB_RESPONSE__INIT;
    struct api_call *call = ctx;

    if (command->result == COMMAND_NOT_FOUND) {
        explain_stored(call, call->data);
    } else if (!api_call_fail_command(call, command, "log")) {
        auto_strbuf text = {0}, json = {0};
        struct str object = command->explain.json;
        ASSERT(object.byte_count > 0); /* it ends in a brace */
        strbuf_add_str(&text, command->explain.text);
        strbuf_add(&json, object.p, object.byte_count - 1);
        if (command->explain.waits_again) {
            last_run_put(call->data, &text, &json);
        } else if (command->explain.has_run) {
            job_story_put(call->data, &text, &json);
        }
        if (!command->explain.has_run) {
            start_forecast_put(call->api, command->explain.job, &text, &json);
        }
        strbuf_add_char(&json, '}');
        response.text = message_copy(&call->arena, strbuf_str(&text));
        response.json = message_copy(&call->arena, strbuf_str(&json));
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_explain_job(struct api_call *call, struct str request)
{
    Berth__Api__ExplainJobRequest *message;
    struct job_id id;

    if (!api_call_decode(call, &berth__api__explain_job_request__descriptor,
                         request, &message)) {
        return;
    }
    if (job_id_parse(str_of(message->job_id), &id) < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s is not a valid jobId",
                      message->job_id);
        return;
    }
    const struct last_run *last = last_run_read(call, id);
    if (!last_run_check(call, last)) {
        return;
    }
    call->data = (void *)(uintptr_t)last;
    struct command *command = command_create(COMMAND_EXPLAIN);
    command->explain.job = id;
    api_call_post(call, command, explained);
}
