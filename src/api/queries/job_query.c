#include "api/queries/job_query.h"

#include "api/core/state.h"

bool job_query_begin(struct job_query *query, struct api_call *call,
                     size_t count, const char *ids)
{
    uint32_t max = call->api->config->query_items_max;

    if (count > max) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "request contained more than %u %s: %zu", max,
                              ids, count);
        return false;
    }
    *query = (struct job_query){.call = call, .arena = &call->arena};
    if (reader_pool_lend(call->api->readers, &query->readers, &query->err) <
        0) {
        api_call_fail_storage(call, &query->err);
        return false;
    }
    return true;
}

int job_query_find(struct job_query *query, struct job_id id,
                   struct stored_job *ret_job)
{
    *ret_job = (struct stored_job){0};
    int rc = store_job(query->readers->store, id, query->arena, ret_job,
                       &query->err);
    if (rc > 0 && view_of_job(query->call, ret_job->queue, ret_job->owner) ==
                      VIEW_NOTHING) {
        return 0;
    }
    return rc;
}

void job_query_end(struct job_query *query, int rc,
                   const ProtobufCMessage *reply)
{
    reader_pool_give_back(query->call->api->readers, query->readers);
    if (rc < 0) {
        api_call_fail_storage(query->call, &query->err);
    } else {
        api_call_reply(query->call, reply);
    }
}

Api__JobState job_query_state(enum stored_job_state state)
{
    switch (state) {
    case STORED_JOB_QUEUED:
        return API__JOB_STATE__QUEUED;
    case STORED_JOB_PENDING:
        return API__JOB_STATE__PENDING;
    case STORED_JOB_RUNNING:
        return API__JOB_STATE__RUNNING;
    case STORED_JOB_SUCCEEDED:
        return API__JOB_STATE__SUCCEEDED;
    case STORED_JOB_FAILED:
        return API__JOB_STATE__FAILED;
    case STORED_JOB_CANCELLED:
        return API__JOB_STATE__CANCELLED;
    case STORED_JOB_PREEMPTED:
        return API__JOB_STATE__PREEMPTED;
    case STORED_JOB_LEASED:
        return API__JOB_STATE__LEASED;
    case STORED_JOB_REJECTED:
        return API__JOB_STATE__REJECTED;
    }
    return API__JOB_STATE__UNKNOWN;
}
