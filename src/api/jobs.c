/* Service Jobs: queries of the store (armada-api.md 1.8). */
#include "api/event_convert.h"
#include "api/handlers.h"
#include "api/message.h"
#include "api/state.h"
#include "armada/services.pb-c.h"
#include "wire/message.h"

/* One query: a call and the readers that it borrowed. */
struct query {
    struct api_call *call;
    struct arena *arena; /* the call's */
    struct readers *readers;
    struct err err;
};

/* Begin a query of `count` ids; false: the call is over. */
static bool query_begin(struct query *query, struct api_call *call,
                        size_t count)
{
    uint32_t max = call->api->config->query_items_max;

    if (count > max) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "%zu items in one query, more than the %u "
                              "allowed",
                              count, max);
        return false;
    }
    *query = (struct query){.call = call, .arena = &call->arena};
    if (reader_pool_lend(call->api->readers, &query->readers, &query->err) <
        0) {
        api_call_fail_storage(call, &query->err);
        return false;
    }
    return true;
}

/* End a query: with the reply, or with what the store failed with. */
static void query_end(struct query *query, int rc,
                      const ProtobufCMessage *reply)
{
    reader_pool_give_back(query->call->api->readers, query->readers);
    if (rc < 0) {
        api_call_fail_storage(query->call, &query->err);
    } else {
        api_call_reply(query->call, reply);
    }
}

static Api__JobState job_state(enum stored_job_state state)
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

/* Add an entry to the map of states. */
static void add_state(struct query *query, Api__JobStatusResponse *response,
                      char *id, Api__JobState state)
{
    Api__JobStatusResponse__JobStatesEntry *entry = message_new(
        query->arena, &api__job_status_response__job_states_entry__descriptor);

    entry->key = id;
    entry->value = state;
    response->job_states[response->n_job_states++] = entry;
}

static int find_state(struct query *query, const char *text,
                      Api__JobState *ret_state)
{
    enum stored_job_state state;
    struct job_id id;

    *ret_state = API__JOB_STATE__UNKNOWN;
    if (job_id_parse(str_of(text), &id) < 0) {
        return 0;
    }
    int rc = store_job_state(query->readers->store, id, &state, &query->err);
    if (rc > 0) {
        *ret_state = job_state(state);
    }
    return rc;
}

void handle_get_job_status(struct api_call *call, struct str request)
{
    Api__JobStatusResponse response = API__JOB_STATUS_RESPONSE__INIT;
    Api__JobStatusRequest *message;
    struct query query;
    int rc = 0;

    if (!api_call_decode(call, &api__job_status_request__descriptor, request,
                         &message) ||
        !query_begin(&query, call, message->n_job_ids)) {
        return;
    }
    response.job_states = arena_alloc_array(query.arena, message->n_job_ids,
                                            sizeof(response.job_states[0]));
    for (size_t i = 0; i < message->n_job_ids && rc >= 0; i++) {
        Api__JobState state;
        rc = find_state(&query, message->job_ids[i], &state);
        add_state(&query, &response, message->job_ids[i], state);
    }
    query_end(&query, rc, &response.base);
}

void handle_get_job_status_by_uri(struct api_call *call, struct str request)
{
    Api__JobStatusResponse response = API__JOB_STATUS_RESPONSE__INIT;
    Api__JobStatusUsingExternalJobUriRequest *message;
    struct job_id *ids;
    struct query query;

    if (!api_call_decode(
            call, &api__job_status_using_external_job_uri_request__descriptor,
            request, &message)) {
        return;
    }
    if (!*message->external_job_uri) {
        api_call_fail_wrapped(call, RPC_UNKNOWN,
                              "external job uri cannot be empty");
        return;
    }
    if (!query_begin(&query, call, 1)) {
        return;
    }
    int count = store_jobs_by_uri(
        query.readers->store, str_of(message->queue), str_of(message->jobset),
        str_of(message->external_job_uri), query.arena, &ids, &query.err);
    int rc = count;
    response.job_states =
        arena_alloc_array(query.arena, count > 0 ? (size_t)count : 0,
                          sizeof(response.job_states[0]));
    for (int i = 0; i < count && rc >= 0; i++) {
        char text[ID_TEXT_BYTES_MAX];
        char *id =
            message_copy(query.arena, str_of(job_id_format(ids[i], text)));
        Api__JobState state;
        rc = find_state(&query, id, &state);
        add_state(&query, &response, id, state);
    }
    query_end(&query, rc, &response.base);
}

static Google__Protobuf__Timestamp *time_or_none(struct query *query,
                                                 int64_t time_ms)
{
    return time_ms ? message_time(query->arena, time_ms) : NULL;
}

/* An executor may have told nonsense: then there are none. */
static void add_ingress(struct query *query, const struct stored_run *run,
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

static Api__JobRunDetails *make_run(struct query *query,
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
static int add_runs(struct query *query, struct job_id id,
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
static int add_spec(struct query *query, const struct stored_job *job,
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
    return 0;
}

static Api__JobDetails *make_details(struct query *query,
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
    details->state = job_state(job->state);
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
static int add_details(struct query *query, const char *text,
                       const Api__JobDetailsRequest *message,
                       Api__JobDetailsResponse *response)
{
    struct stored_job job;
    struct job_id id;

    if (job_id_parse(str_of(text), &id) < 0) {
        return 0;
    }
    int rc =
        store_job(query->readers->store, id, query->arena, &job, &query->err);
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
    struct query query;
    int rc = 0;

    if (!api_call_decode(call, &api__job_details_request__descriptor, request,
                         &message) ||
        !query_begin(&query, call, message->n_job_ids)) {
        return;
    }
    response.job_details = arena_alloc_array(query.arena, message->n_job_ids,
                                             sizeof(response.job_details[0]));
    for (size_t i = 0; i < message->n_job_ids && rc >= 0; i++) {
        rc = add_details(&query, message->job_ids[i], message, &response);
    }
    query_end(&query, rc, &response.base);
}

/* The job's own error, else its latest run's, else "". */
static int find_error(struct query *query, const char *text, char **ret_error)
{
    struct stored_job job;
    struct stored_run run;
    struct job_id id;

    *ret_error = message_text(STR(""));
    if (job_id_parse(str_of(text), &id) < 0) {
        return 0;
    }
    int rc =
        store_job(query->readers->store, id, query->arena, &job, &query->err);
    if (rc <= 0) {
        return rc;
    }
    struct str error = job.error;
    if (!error.byte_count && !key128_is_none(job.latest_run.v)) {
        rc = store_run(query->readers->store, job.latest_run, query->arena,
                       &run, &query->err);
        error = rc > 0 ? run.error : error;
    }
    *ret_error = message_copy(query->arena, error);
    return rc;
}

void handle_get_job_errors(struct api_call *call, struct str request)
{
    Api__JobErrorsResponse response = API__JOB_ERRORS_RESPONSE__INIT;
    Api__JobErrorsRequest *message;
    struct query query;
    int rc = 0;

    if (!api_call_decode(call, &api__job_errors_request__descriptor, request,
                         &message) ||
        !query_begin(&query, call, message->n_job_ids)) {
        return;
    }
    response.job_errors = arena_alloc_array(query.arena, message->n_job_ids,
                                            sizeof(response.job_errors[0]));
    for (size_t i = 0; i < message->n_job_ids && rc >= 0; i++) {
        Api__JobErrorsResponse__JobErrorsEntry *entry = message_new(
            query.arena,
            &api__job_errors_response__job_errors_entry__descriptor);
        entry->key = message->job_ids[i];
        rc = find_error(&query, message->job_ids[i], &entry->value);
        response.job_errors[response.n_job_errors++] = entry;
    }
    query_end(&query, rc, &response.base);
}

static int add_run_details(struct query *query, char *text,
                           Api__JobRunDetailsResponse *response)
{
    struct stored_run run;
    struct run_id id;

    if (run_id_parse(str_of(text), &id) < 0) {
        return 0;
    }
    int rc =
        store_run(query->readers->store, id, query->arena, &run, &query->err);
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
    struct query query;
    int rc = 0;

    if (!api_call_decode(call, &api__job_run_details_request__descriptor,
                         request, &message) ||
        !query_begin(&query, call, message->n_run_ids)) {
        return;
    }
    response.job_run_details = arena_alloc_array(
        query.arena, message->n_run_ids, sizeof(response.job_run_details[0]));
    for (size_t i = 0; i < message->n_run_ids && rc >= 0; i++) {
        rc = add_run_details(&query, message->run_ids[i], &response);
    }
    query_end(&query, rc, &response.base);
}

/* Put the pairs of one pool, which follow one another, into an entry; returns
 * how many they were. */
static int add_pool(struct query *query,
                    const struct stored_active_queue *pairs, int count,
                    Api__GetActiveQueuesResponse *response)
{
    Api__GetActiveQueuesResponse__ActiveQueuesByPoolEntry *entry = message_new(
        query->arena,
        &api__get_active_queues_response__active_queues_by_pool_entry__descriptor);
    Api__ActiveQueues *queues =
        message_new(query->arena, &api__active_queues__descriptor);
    int same = 1;

    while (same < count && str_equal(pairs[same].pool, pairs[0].pool)) {
        same++;
    }
    queues->queues = arena_alloc_array(query->arena, (size_t)same,
                                       sizeof(queues->queues[0]));
    for (int i = 0; i < same; i++) {
        queues->queues[queues->n_queues++] =
            message_copy(query->arena, pairs[i].queue);
    }
    entry->key = message_copy(query->arena, pairs[0].pool);
    entry->value = queues;
    response->active_queues_by_pool[response->n_active_queues_by_pool++] =
        entry;
    return same;
}

void handle_get_active_queues(struct api_call *call, struct str request)
{
    Api__GetActiveQueuesResponse response =
        API__GET_ACTIVE_QUEUES_RESPONSE__INIT;
    Api__GetActiveQueuesRequest *message;
    struct stored_active_queue *pairs;
    struct query query;

    if (!api_call_decode(call, &api__get_active_queues_request__descriptor,
                         request, &message)) {
        return;
    }
    if (!query_begin(&query, call, 0)) {
        return;
    }
    int count = store_active_queues(query.readers->store, query.arena, &pairs,
                                    &query.err);
    response.active_queues_by_pool =
        arena_alloc_array(query.arena, count > 0 ? (size_t)count : 0,
                          sizeof(response.active_queues_by_pool[0]));
    for (int i = 0; i < count;) {
        i += add_pool(&query, &pairs[i], count - i, &response);
    }
    query_end(&query, count, &response.base);
}
