#include "api/queries/job_place.h"

#include "api/core/state.h"
#include "api/core/view.h"

static struct str first_line(struct str text)
{
    const char *end =
        text.byte_count ? memchr(text.p, '\n', text.byte_count) : NULL;

    return str_make(text.p, end ? (size_t)(end - text.p) : text.byte_count);
}

/* Why there is nothing of a job without a run; it may have ended for all
 * that. */
static int refuse_unrun(const struct stored_job *job, struct err *err)
{
    switch (job->state) {
    case STORED_JOB_CANCELLED:
        return err_set(err, -ERR_NOT_FOUND,
                       "the job was cancelled and never ran");
    case STORED_JOB_REJECTED:
    case STORED_JOB_FAILED:
    case STORED_JOB_PREEMPTED:
        return err_set(err, -ERR_NOT_FOUND,
                       "the job failed and never ran: %.*s",
                       STR_ARG(first_line(job->error)));
    case STORED_JOB_SUCCEEDED:
        return err_set(err, -ERR_NOT_FOUND,
                       "the server knows no run of the job");
    case STORED_JOB_QUEUED:
    case STORED_JOB_LEASED:
    case STORED_JOB_PENDING:
    case STORED_JOB_RUNNING:
        break;
    }
    return err_set(err, -ERR_NOT_FOUND, "the job has not run yet");
}

int job_place_find(struct api_call *call, struct job_id id,
                   struct str *ret_executor, struct err *err)
{
    struct readers *readers;
    struct stored_job job;
    struct stored_run run;

    int rc = reader_pool_lend(call->api->readers, &readers, err);
    if (rc < 0) {
        return rc;
    }
    rc = store_job(readers->store, id, &call->arena, &job, err);
    if (rc > 0 && view_of_job(call, job.queue, job.owner) == VIEW_NOTHING) {
        rc = 0;
    }
    if (rc == 0) {
        rc = err_set(err, -ERR_NOT_FOUND,
                     "there is no such job, or it ended so long ago that it "
                     "was deleted");
    } else if (rc > 0) {
        bool has_run = !key128_is_none(job.latest_run.v);
        rc = has_run ? store_run(readers->store, job.latest_run, &call->arena,
                                 &run, err)
                     : 0;
        *ret_executor = rc > 0 ? run.cluster : (struct str){0};
        if (rc == 0) {
            rc = refuse_unrun(&job, err);
        }
    }
    reader_pool_give_back(call->api->readers, readers);
    return rc;
}

void job_place_refuse(struct api_call *call, int rc, const struct err *err)
{
    api_call_fail(call,
                  rc == -ERR_NOT_FOUND  ? RPC_NOT_FOUND
                  : rc == -ERR_INVALID  ? RPC_INVALID_ARGUMENT
                  : rc == -ERR_LIMIT    ? RPC_RESOURCE_EXHAUSTED
                  : rc == -ERR_CONFLICT ? RPC_ABORTED
                                        : RPC_UNAVAILABLE,
                  "%s", err->text);
}
