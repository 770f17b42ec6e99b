/* schedulerobjects.SchedulerReporting (armada-api.md 1.10). */
#include "api/handlers.h"
#include "api/queries/last_run.h"
#include "armada/scheduler_reporting.pb-c.h"
#include "wire/message/field.h"

/* All three replies are one text in field 1. */
static void reply_text(struct api_call *call, struct str text)
{
    enum { REPORT_TEXT = 1 };
    auto_strbuf reply = strbuf_make(0);

    field_put_set_bytes(&reply, REPORT_TEXT, text);
    api_call_reply_bytes(call, strbuf_str(&reply));
}

static void on_report(struct command *command, void *ctx)
{
    struct api_call *call = ctx;

    if (!api_call_fail_command(call, command, "Failed to make report")) {
        reply_text(call, command->report.text);
    }
    command_destroy(command);
}

/* A job that has ended, or is unknown, is told of as text, not as an error. */
static void report_ended(struct api_call *call, const struct last_run *last,
                         struct str unknown)
{
    auto_strbuf text = {0}, json = {0};

    if (last->rc > 0) {
        last_run_put_end(last, &text, &json);
    } else {
        strbuf_add_str(&text, unknown);
    }
    reply_text(call, strbuf_str(&text));
}

static void on_job_report(struct command *command, void *ctx)
{
    struct api_call *call = ctx;

    if (command->result == COMMAND_NOT_FOUND) {
        report_ended(call, call->data, command->result_text);
    } else if (!api_call_fail_command(call, command, "Failed to make report")) {
        auto_strbuf text = {0};
        strbuf_add_str(&text, command->explain.text);
        if (command->explain.waits_again) {
            last_run_put(call->data, &text, NULL);
        }
        reply_text(call, strbuf_str(&text));
    }
    command_destroy(command);
}

static bool read_job(struct api_call *call, const char *text,
                     struct job_id *ret_job)
{
    if (job_id_parse(str_of(text), ret_job) < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s is not a valid jobId",
                      text);
        return false;
    }
    return true;
}

static void post_report(struct api_call *call, struct str queue,
                        const struct job_id *job, int verbosity)
{
    struct command *command = command_create(COMMAND_QUERY_REPORT);

    command->report.queue = arena_str(&command->arena, queue);
    if (job) {
        command->report.job = *job;
    }
    command->report.verbosity = verbosity;
    api_call_post(call, command, on_report);
}

void handle_get_scheduling_report(struct api_call *call, struct str request)
{
    Schedulerobjects__SchedulingReportRequest *message;
    struct job_id job;

    if (!api_call_decode(
            call, &schedulerobjects__scheduling_report_request__descriptor,
            request, &message)) {
        return;
    }
    switch ((int)message->filter_case) {
    case SCHEDULEROBJECTS__SCHEDULING_REPORT_REQUEST__FILTER_MOST_RECENT_FOR_QUEUE:
        post_report(call, str_of(message->most_recent_for_queue->queue_name),
                    NULL, message->verbosity);
        break;
    case SCHEDULEROBJECTS__SCHEDULING_REPORT_REQUEST__FILTER_MOST_RECENT_FOR_JOB:
        if (read_job(call, message->most_recent_for_job->job_id, &job) &&
            last_run_check(call, last_run_read(call, job))) {
            post_report(call, STR(""), &job, message->verbosity);
        }
        break;
    default:
        post_report(call, STR(""), NULL, message->verbosity);
        break;
    }
}

void handle_get_queue_report(struct api_call *call, struct str request)
{
    Schedulerobjects__QueueReportRequest *message;

    if (api_call_decode(call,
                        &schedulerobjects__queue_report_request__descriptor,
                        request, &message)) {
        post_report(call, str_of(message->queue_name), NULL,
                    message->verbosity);
    }
}

void handle_get_job_report(struct api_call *call, struct str request)
{
    Schedulerobjects__JobReportRequest *message;
    struct job_id job;

    if (!api_call_decode(call,
                         &schedulerobjects__job_report_request__descriptor,
                         request, &message) ||
        !read_job(call, message->job_id, &job)) {
        return;
    }
    const struct last_run *last = last_run_read(call, job);
    if (!last_run_check(call, last)) {
        return;
    }
    call->data = (void *)(uintptr_t)last;
    struct command *command = command_create(COMMAND_EXPLAIN);
    command->explain.job = job;
    api_call_post(call, command, on_job_report);
}
