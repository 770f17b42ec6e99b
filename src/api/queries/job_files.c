/* berth.api.Berth: the files of a job's folder, which only its executor has;
 * the server keeps nothing of them. */
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/logs/log_hub.h"
#include "api/queries/job_place.h"
#include "berth/api.pb-c.h"
#include "wire/text/inner_path.h"

/* The part of an answer that was asked for; NULL: the call is over. */
static const Berth__Api__LogAnswer *take(struct api_call *call, int rc,
                                         const struct log_answer *answer,
                                         const struct err *err)
{
    if (rc < 0) {
        job_place_refuse(call, rc, err);
    }
    return rc < 0 ? NULL : answer->message;
}

/* An executor that knows no files takes the question for one of logs. */
static void refuse_old(struct api_call *call)
{
    api_call_fail(call, RPC_UNIMPLEMENTED,
                  "the job's executor is of a release that gives no files of "
                  "jobs");
}

static void on_list(struct api_call *call, int rc, struct log_answer *answer,
                    const struct err *err)
{
    const Berth__Api__LogAnswer *message = take(call, rc, answer, err);

    if (message && message->files) {
        api_call_reply(call, &message->files->base);
    } else if (message) {
        refuse_old(call);
    }
}

static void on_part(struct api_call *call, int rc, struct log_answer *answer,
                    const struct err *err)
{
    const Berth__Api__LogAnswer *message = take(call, rc, answer, err);

    if (message && message->part) {
        api_call_reply(call, &message->part->base);
    } else if (message) {
        refuse_old(call);
    }
}

static bool check_path(struct api_call *call, const char *path)
{
    if (inner_path_is_good(str_of(path))) {
        return true;
    }
    api_call_fail(call, RPC_INVALID_ARGUMENT, "path must be %s",
                  INNER_PATH_RULE);
    return false;
}

/* Ask the executor that has the job; the answer comes, or it has none. */
static void ask(struct api_call *call, const char *job_id,
                struct log_query *query, log_answered_fn *answered)
{
    struct str executor = {0};
    struct err err;

    if (job_id_parse(str_of(job_id), &query->job) < 0) {
        api_call_fail(call, RPC_NOT_FOUND, "there is no job %s", job_id);
        return;
    }
    int rc = job_place_find(call, query->job, &executor, &err);
    if (rc > 0) {
        rc = log_hub_ask(call->api->log_hub, executor, query, call, answered,
                         &err);
    }
    if (rc < 0) {
        job_place_refuse(call, rc, &err);
    }
}

void handle_list_job_files(struct api_call *call, struct str request)
{
    Berth__Api__ListJobFilesRequest *message;

    if (!api_call_decode(call, &berth__api__list_job_files_request__descriptor,
                         request, &message) ||
        (*message->path && !check_path(call, message->path))) {
        return;
    }
    ask(call, message->job_id, &(struct log_query){.list_files = message},
        on_list);
}

void handle_read_job_file(struct api_call *call, struct str request)
{
    Berth__Api__ReadJobFileRequest *message;

    if (!api_call_decode(call, &berth__api__read_job_file_request__descriptor,
                         request, &message) ||
        !check_path(call, message->path)) {
        return;
    }
    if (message->offset < 0 || message->byte_count_max < 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "offset and byte_count_max must not be negative");
        return;
    }
    ask(call, message->job_id, &(struct log_query){.read_file = message},
        on_part);
}
