/* Service Jobs: jobs and their runs in full (armada-api.md 1.8). */
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/events/event_convert.h"
#include "api/handlers.h"
#include "api/queries/job_query.h"
#include "armada/services.pb-c.h"
#include "wire/message/message.h"

/* Some states of runs show as unknown, as in Armada. */
static Api__JobRunState run_state(enum stored_run_state state)
{
    switch (state) {
    case STORED_RUN_PENDING:
        return API__JOB_RUN_STATE__RUN_STATE_PENDING;
    case STORED_RUN_RUNNING:
        return API__JOB_RUN_STATE__RUN_STATE_RUNNING;
    case STORED_RUN_SUCCEEDED:
        return API__JOB_RUN_STATE__RUN_STATE_SUCCEEDED;
    case STORED_RUN_FAILED:
        return API__JOB_RUN_STATE__RUN_STATE_FAILED;
    case STORED_RUN_PREEMPTED:
        return API__JOB_RUN_STATE__RUN_STATE_PREEMPTED;
    case STORED_RUN_LEASE_RETURNED:
        return API__JOB_RUN_STATE__RUNS_STATE_LEASE_RETURNED;
    case STORED_RUN_LEASE_EXPIRED:
        return API__JOB_RUN_STATE__RUN_STATE_LEASE_EXPIRED;
    case STORED_RUN_LEASED:
        return API__JOB_RUN_STATE__RUN_STATE_LEASED;
    case STORED_RUN_TERMINATED:
    case STORED_RUN_UNABLE_TO_SCHEDULE:
    case STORED_RUN_MAX_RUNS_EXCEEDED:
    case STORED_RUN_CANCELLED:
        break;
    }
    return API__JOB_RUN_STATE__RUN_STATE_UNKNOWN;
}

static Google__Protobuf__Timestamp *time_or_none(struct job_query *query,
                                                 int64_t time_ms)
{
    return time_ms ? message_time(query->arena, time_ms) : NULL;
}

/* An executor may have told nonsense: then there are none. */
static void add_ingress(struct job_query *query, const struct stored_run *run,
                        Api__JobRunDetails *details)
{
    ProtobufCMessage *message;

    if (wire_decode(&api__job_run_details__descriptor, run->ingress,
                    &wire_request_limits, query->arena, &message, NULL) < 0) {
        return;
    }
    const Api__JobRunDetails *kept = (const Api__JobRunDetails *)message;
    details->ingress_addresses = kept->ingress_addresses;
    details->n_ingress_addresses = kept->n_ingress_addresses;
}

static Api__JobRunDetails *make_run(struct job_query *query,
                                    const struct stored_run *run)
{
    Api__JobRunDetails *details =
        message_new(query->arena, &api__job_run_details__descriptor);
    char text[ID_TEXT_BYTES_MAX];

    details->run_id =
        message_copy(query->arena, str_of(run_id_format(run->id, text)));
    details->job_id =
        message_copy(query->arena, str_of(job_id_format(run->job, text)));
    details->state = run_state(run->state);
    details->cluster = message_copy(query->arena, run->cluster);
    details->node = message_copy(query->arena, run->node);
    details->leased_ts = time_or_none(query, run->leased_ms);
    details->pending_ts = time_or_none(query, run->pending_ms);
    details->started_ts = time_or_none(query, run->started_ms);
    details->finished_ts = time_or_none(query, run->finished_ms);
    add_ingress(query, run, details);
    return details;
}

/* The runs of a job, newest lease first. */
static int add_runs(struct job_query *query, struct job_id id,
                    Api__JobDetails *details)
{
    struct stored_run *runs;
    int count = store_runs_of_job(query->readers->store, id, query->arena,
                                  &runs, &query->err);

    if (count <= 0) {
        return count;
    }
    details->job_runs = arena_alloc_array(query->arena, (size_t)count,
                                          sizeof(details->job_runs[0]));
    for (int i = 0; i < count; i++) {
        details->job_runs[details->n_job_runs++] = make_run(query, &runs[i]);
    }
    return 0;
}

/* The job as it was submitted, if its spec is still there. */
static int add_spec(struct job_query *query, const struct stored_job *job,
                    Api__JobDetails *details)
{
    struct event_scope scope = {job->queue, job->job_set, job->owner};
    ProtobufCMessage *submit;
    struct str spec;
    int rc = store_spec(query->readers->store, job->id, query->arena, &spec,
                        &query->err);

    if (rc <= 0) {
        return rc;
    }
    rc = wire_decode(&armadaevents__submit_job__descriptor, spec,
                     &wire_request_limits, query->arena, &submit, &query->err);
    if (rc < 0) {
        return rc;
    }
    details->job_spec =
        event_convert_job((const Armadaevents__SubmitJob *)submit, &scope,
                          job->submitted_ms, query->arena);
    if (view_of_job(query->call, job->queue, job->owner) != VIEW_ALL) {
        view_redact(details->job_spec->pod_spec);
    }
    return 0;
}

static Api__JobDetails *make_details(struct job_query *query,
                                     const struct stored_job *job)
{
    Api__JobDetails *details =
        message_new(query->arena, &api__job_details__descriptor);
    char text[ID_TEXT_BYTES_MAX];

    details->job_id =
        message_copy(query->arena, str_of(job_id_format(job->id, text)));
    details->queue = message_copy(query->arena, job->queue);
    details->jobset = message_copy(query->arena, job->job_set);
    details->namespace_ = message_copy(query->arena, job->namespace_);
    details->state = job_query_state(job->state);
    details->submitted_ts = time_or_none(query, job->submitted_ms);
    details->cancel_ts = time_or_none(query, job->cancelled_ms);
    details->cancel_reason = message_copy(query->arena, job->cancel_reason);
    details->cancel_user = message_copy(query->arena, job->cancel_user);
    details->last_transition_ts = time_or_none(query, job->last_transition_ms);
    if (!key128_is_none(job->latest_run.v)) {
        details->latest_run_id = message_copy(
            query->arena, str_of(run_id_format(job->latest_run, text)));
    }
    return details;
}

/* One job with what the request wants of it; unknown ones are left out. */
static int add_details(struct job_query *query, const char *text,
                       const Api__JobDetailsRequest *message,
                       Api__JobDetailsResponse *response)
{
    struct stored_job job;
    struct job_id id;

    if (job_id_parse(str_of(text), &id) < 0) {
        return 0;
    }
    int rc = job_query_find(query, id, &job);
    if (rc <= 0) {
        return rc;
    }
    Api__JobDetailsResponse__JobDetailsEntry *entry =
        message_new(query->arena,
                    &api__job_details_response__job_details_entry__descriptor);
    entry->value = make_details(query, &job);
    entry->key = entry->value->job_id;
    rc = message->expand_job_spec ? add_spec(query, &job, entry->value) : 0;
    if (rc >= 0 && message->expand_job_run) {
        rc = add_runs(query, id, entry->value);
    }
    response->job_details[response->n_job_details++] = entry;
    return rc;
}

void handle_get_job_details(struct api_call *call, struct str request)
{
    Api__JobDetailsResponse response = API__JOB_DETAILS_RESPONSE__INIT;
    Api__JobDetailsRequest *message;
    struct job_query query;
    int rc = 0;

    if (!api_call_decode(call, &api__job_details_request__descriptor, request,
                         &message) ||
        !job_query_begin(&query, call, message->n_job_ids, "jobIds")) {
        return;
    }
    response.job_details = arena_alloc_array(query.arena, message->n_job_ids,
                                             sizeof(response.job_details[0]));
    for (size_t i = 0; i < message->n_job_ids && rc >= 0; i++) {
        rc = add_details(&query, message->job_ids[i], message, &response);
    }
    job_query_end(&query, rc, &response.base);
}

static int add_run_details(struct job_query *query, char *text,
                           Api__JobRunDetailsResponse *response)
{
    struct stored_run run;
    struct stored_job job;
    struct run_id id;

    if (run_id_parse(str_of(text), &id) < 0) {
        return 0;
    }
    int rc =
        store_run(query->readers->store, id, query->arena, &run, &query->err);
    if (rc > 0) {
        rc = job_query_find(query, run.job, &job);
    }
    if (rc <= 0) {
        return rc;
    }
    Api__JobRunDetailsResponse__JobRunDetailsEntry *entry = message_new(
        query->arena,
        &api__job_run_details_response__job_run_details_entry__descriptor);
    entry->key = text;
    entry->value = make_run(query, &run);
    response->job_run_details[response->n_job_run_details++] = entry;
    return 0;
}

void handle_get_job_run_details(struct api_call *call, struct str request)
{
    Api__JobRunDetailsResponse response = API__JOB_RUN_DETAILS_RESPONSE__INIT;
    Api__JobRunDetailsRequest *message;
    struct job_query query;
    int rc = 0;

    if (!api_call_decode(call, &api__job_run_details_request__descriptor,
                         request, &message) ||
        !job_query_begin(&query, call, message->n_run_ids, "runIds")) {
        return;
    }
    response.job_run_details = arena_alloc_array(
        query.arena, message->n_run_ids, sizeof(response.job_run_details[0]));
    for (size_t i = 0; i < message->n_run_ids && rc >= 0; i++) {
        rc = add_run_details(&query, message->run_ids[i], &response);
    }
    job_query_end(&query, rc, &response.base);
}
