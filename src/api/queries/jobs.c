/* Service Jobs: states and errors of jobs, and which queues are active
 * (armada-api.md 1.8); job_details.c has the rest. */
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/queries/job_query.h"
#include "armada/services.pb-c.h"

/* Add an entry to the map of states. */
static void add_state(struct job_query *query, Api__JobStatusResponse *response,
                      char *id, Api__JobState state)
{
    Api__JobStatusResponse__JobStatesEntry *entry = message_new(
        query->arena, &api__job_status_response__job_states_entry__descriptor);

    entry->key = id;
    entry->value = state;
    response->job_states[response->n_job_states++] = entry;
}

/* The state of a job that the caller may see: 1; else 0, and it is unknown. */
static int find_state(struct job_query *query, const char *text,
                      Api__JobState *ret_state)
{
    enum stored_job_state state;
    struct stored_job job;
    struct job_id id;

    *ret_state = API__JOB_STATE__UNKNOWN;
    if (job_id_parse(str_of(text), &id) < 0) {
        return 0;
    }
    int rc;
    if (view_of_unknown(query->call) != VIEW_NOTHING) {
        /* Who may see every job need not wait for all of it. */
        rc = store_job_state(query->readers->store, id, &state, &query->err);
    } else {
        rc = job_query_find(query, id, &job);
        state = job.state;
    }
    if (rc > 0) {
        *ret_state = job_query_state(state);
    }
    return rc;
}

void handle_get_job_status(struct api_call *call, struct str request)
{
    Api__JobStatusResponse response = API__JOB_STATUS_RESPONSE__INIT;
    Api__JobStatusRequest *message;
    struct job_query query;
    int rc = 0;

    if (!api_call_decode(call, &api__job_status_request__descriptor, request,
                         &message) ||
        !job_query_begin(&query, call, message->n_job_ids, "jobIds")) {
        return;
    }
    response.job_states = arena_alloc_array(query.arena, message->n_job_ids,
                                            sizeof(response.job_states[0]));
    for (size_t i = 0; i < message->n_job_ids && rc >= 0; i++) {
        Api__JobState state;
        rc = find_state(&query, message->job_ids[i], &state);
        add_state(&query, &response, message->job_ids[i], state);
    }
    job_query_end(&query, rc, &response.base);
}

void handle_get_job_status_by_uri(struct api_call *call, struct str request)
{
    Api__JobStatusResponse response = API__JOB_STATUS_RESPONSE__INIT;
    Api__JobStatusUsingExternalJobUriRequest *message;
    struct job_id *ids;
    struct job_query query;

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
    if (!job_query_begin(&query, call, 1, "jobUris")) {
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
        if (rc > 0) {
            add_state(&query, &response, id, state);
        }
    }
    job_query_end(&query, rc, &response.base);
}

/* The job's own error, else its latest run's, else "": 1; 0 of a job that is
 * not known. */
static int find_error(struct job_query *query, const char *text,
                      char **ret_error)
{
    struct stored_job job;
    struct stored_run run;
    struct job_id id;

    *ret_error = message_text(STR(""));
    if (job_id_parse(str_of(text), &id) < 0) {
        return 0;
    }
    int rc = job_query_find(query, id, &job);
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
    return rc < 0 ? rc : 1;
}

void handle_get_job_errors(struct api_call *call, struct str request)
{
    Api__JobErrorsResponse response = API__JOB_ERRORS_RESPONSE__INIT;
    Api__JobErrorsRequest *message;
    struct job_query query;
    int rc = 0;

    if (!api_call_decode(call, &api__job_errors_request__descriptor, request,
                         &message) ||
        !job_query_begin(&query, call, message->n_job_ids, "jobIds")) {
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
        if (rc > 0) {
            response.job_errors[response.n_job_errors++] = entry;
        }
    }
    job_query_end(&query, rc, &response.base);
}

/* Put the pairs of one pool, which follow one another, into an entry; returns
 * how many they were. */
static int add_pool(struct job_query *query,
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
    struct job_query query;

    if (!api_call_decode(call, &api__get_active_queues_request__descriptor,
                         request, &message)) {
        return;
    }
    if (!job_query_begin(&query, call, 0, "queues")) {
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
    job_query_end(&query, count, &response.base);
}
