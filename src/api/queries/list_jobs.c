/*
 * berth.api.Berth/ListJobs: pages of jobs from the store, with what the leader
 * knows beyond it.
 */
#include "api/core/event_id.h"
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/core/view.h"
#include "api/handlers.h"
#include "api/queries/job_array.h"
#include "api/queries/job_labels.h"
#include "api/queries/job_usage.h"
#include "api/queries/start_forecast.h"
#include "base/intern.h"
#include "berth/api.pb-c.h"

enum {
    LIST_JOBS_DEFAULT = 100,
    LIST_JOBS_MAX = 1000,
    ARRAYS_FIRST_COUNT = 16, /* of jobs, before it is seen how many are one */
};

/* The API's state of a stored one. */
static const Api__JobState api_states[] = {
    [STORED_JOB_QUEUED] = API__JOB_STATE__QUEUED,
    [STORED_JOB_PENDING] = API__JOB_STATE__PENDING,
    [STORED_JOB_RUNNING] = API__JOB_STATE__RUNNING,
    [STORED_JOB_SUCCEEDED] = API__JOB_STATE__SUCCEEDED,
    [STORED_JOB_FAILED] = API__JOB_STATE__FAILED,
    [STORED_JOB_CANCELLED] = API__JOB_STATE__CANCELLED,
    [STORED_JOB_PREEMPTED] = API__JOB_STATE__PREEMPTED,
    [STORED_JOB_LEASED] = API__JOB_STATE__LEASED,
    [STORED_JOB_REJECTED] = API__JOB_STATE__REJECTED,
};

static Google__Protobuf__Timestamp *time_or_null(struct arena *arena,
                                                 int64_t time_ms)
{
    return time_ms ? message_time(arena, time_ms) : NULL;
}

static void add_run(Berth__Api__JobSummary *summary,
                    const struct stored_run *run, struct arena *arena)
{
    summary->executor = message_copy(arena, run->cluster);
    summary->node = message_copy(arena, run->node);
    summary->pool = message_copy(arena, run->pool);
    summary->started = time_or_null(arena, run->started_ms);
    summary->finished = time_or_null(arena, run->finished_ms);
    summary->exit_code = run->exit_code;
}

/* One job with its latest run, and its place in an array. */
static int summarize(struct store_reader *reader, const struct stored_job *job,
                     struct arena *arena, Berth__Api__JobSummary **ret_summary,
                     struct err *err)
{
    Berth__Api__JobSummary *summary =
        message_new(arena, &berth__api__job_summary__descriptor);
    char text[ID_TEXT_BYTES_MAX];
    struct stored_run run;

    summary->job_id = message_copy(arena, str_of(job_id_format(job->id, text)));
    summary->queue = message_copy(arena, job->queue);
    summary->job_set = message_copy(arena, job->job_set);
    summary->namespace_ = message_copy(arena, job->namespace_);
    summary->owner = message_copy(arena, job->owner);
    summary->state = api_states[job->state];
    summary->priority = job->priority;
    summary->submitted = time_or_null(arena, job->submitted_ms);
    summary->last_transition = time_or_null(arena, job->last_transition_ms);
    summary->run_count = job->run_count;
    summary->reason = message_copy(
        arena, job->error.byte_count > 0 ? job->error : job->cancel_reason);
    int rc = 0;
    if (!key128_is_none(job->latest_run.v)) {
        rc = store_run(reader, job->latest_run, arena, &run, err);
        if (rc > 0) {
            add_run(summary, &run, arena);
        }
    }
    if (rc >= 0) {
        rc = job_array_of(reader, job->id, arena, summary, err);
    }
    *ret_summary = summary;
    return rc < 0 ? rc : 0;
}

/* A list under way. */
struct job_list {
    struct api_call *call;
    const Berth__Api__ListJobsRequest *request;
    Berth__Api__ListJobsResponse response;
    /* With arrays_once: those that were met, and the oldest job of the one
     * whose jobs are passed over now; or none. */
    struct intern *arrays; /* owned while the list is made; or NULL */
    struct job_id skip_to;
};

static bool is_seen(struct job_list *list, const struct stored_job *job)
{
    return view_of_job(list->call, job->queue, job->owner) != VIEW_NOTHING;
}

/* The jobs that the request names; those that do not exist are left out. */
static int list_named(struct job_list *list, struct store_reader *reader,
                      struct err *err)
{
    const Berth__Api__ListJobsRequest *request = list->request;
    struct arena *arena = &list->call->arena;

    list->response.jobs = arena_alloc_array(arena, request->n_job_ids,
                                            sizeof(*list->response.jobs));
    for (size_t i = 0; i < request->n_job_ids; i++) {
        struct stored_job job;
        struct job_id id;
        if (job_id_parse(str_of(request->job_ids[i]), &id) < 0) {
            continue;
        }
        int rc = store_job(reader, id, arena, &job, err);
        if (rc > 0 && is_seen(list, &job)) {
            rc = summarize(reader, &job, arena,
                           &list->response.jobs[list->response.n_jobs++], err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* How many jobs an answer holds at most. */
static uint32_t list_limit(const Berth__Api__ListJobsRequest *request)
{
    uint32_t limit = request->limit ? request->limit : LIST_JOBS_DEFAULT;

    return limit < LIST_JOBS_MAX ? limit : LIST_JOBS_MAX;
}

static uint32_t state_bits(const Berth__Api__ListJobsRequest *request)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < request->n_states; i++) {
        for (uint32_t s = 1; s < ARRAY_COUNT(api_states); s++) {
            if (api_states[s] == request->states[i]) {
                bits |= UINT32_C(1) << s;
            }
        }
    }
    return bits;
}

/* What the request asks of the store; -ERR_INVALID. */
static int make_filter(const struct job_list *list, struct store_filter *ret,
                       struct err *err)
{
    const Berth__Api__ListJobsRequest *request = list->request;
    uint32_t limit = list_limit(request);

    *ret = (struct store_filter){
        .queue = str_of(request->queue),
        .job_set = str_of(request->job_set),
        .owner =
            request->mine ? list->call->principal.name : str_of(request->owner),
        .states = state_bits(request),
        .count_max = request->n_labels > 0 ? JOB_LABELS_SCAN_MAX : limit,
    };
    if (*request->older_than_job_id &&
        job_id_parse(str_of(request->older_than_job_id), &ret->older_than) <
            0) {
        return err_set(err, -ERR_INVALID, "%s is not a valid jobId",
                       request->older_than_job_id);
    }
    return 0;
}

/* Pass over the other jobs of an array, as far as no other job lies between
 * them.  The store knows it of arrays that it got job by job; of older ones it
 * is asked once. */
static int skip_array(struct job_list *list, struct store_reader *reader,
                      struct job_id id, const Berth__Api__JobSummary *summary,
                      struct err *err)
{
    struct str array = str_of(summary->array_id);

    int rc = store_array_piece(reader, id, &list->skip_to, err);
    if (rc != 0) {
        return rc < 0 ? rc : 0;
    }
    if (!list->arrays) {
        list->arrays = intern_create();
    }
    if (intern_find(list->arrays, array) != INTERN_NONE) {
        return 0; /* it does not */
    }
    (void)intern_add(list->arrays, array);
    rc = job_array_oldest(reader, summary, &list->skip_to, err);
    return rc < 0 ? rc : 0;
}

/* Put a job in the list, or the array that it stands for, if it stands for
 * one. */
static int take_job(struct job_list *list, struct store_reader *reader,
                    const struct stored_job *job, struct err *err)
{
    Berth__Api__JobSummary *summary;

    int rc = summarize(reader, job, &list->call->arena, &summary, err);
    if (rc == 0 && list->request->with_usage) {
        rc = job_usage_of(reader, job, &list->call->arena, summary, err);
    }
    int row = JOB_ARRAY_ALONE;
    if (rc == 0 && list->request->arrays_once) {
        row =
            job_array_stands(reader, job->id, &list->call->arena, summary, err);
        rc = row < 0 ? row : 0;
    }
    if (rc == 0 && row != JOB_ARRAY_ALONE) {
        rc = skip_array(list, reader, job->id, summary, err);
    }
    if (rc == 0 && row != JOB_ARRAY_HIDDEN) {
        list->response.jobs[list->response.n_jobs++] = summary;
    }
    return rc;
}

static bool is_skipped(const struct job_list *list, struct job_id id)
{
    return !key128_is_none(list->skip_to.v) &&
           key128_compare(id.v, list->skip_to.v) >= 0;
}

/* Take those of some jobs that match, up to the limit; the number of those
 * that were looked at. */
static int take_matching(struct job_list *list, struct store_reader *reader,
                         const struct stored_job *jobs, int count,
                         struct err *err)
{
    uint32_t limit = list_limit(list->request);
    int at = 0;

    for (; at < count && list->response.n_jobs < limit; at++) {
        if (is_skipped(list, jobs[at].id) || !is_seen(list, &jobs[at])) {
            continue;
        }
        int rc = job_labels_match(reader, jobs[at].id, list->request, err);
        if (rc > 0) {
            rc = take_job(list, reader, &jobs[at], err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return at;
}

/* A label of the request that the index has; NULL: none. */
static const Berth__Api__ListJobsRequest__LabelsEntry *
indexed_label(const Berth__Api__ListJobsRequest *request)
{
    for (size_t i = 0; i < request->n_labels; i++) {
        if (store_label_is_indexed(str_of(request->labels[i]->key))) {
            return request->labels[i];
        }
    }
    return NULL;
}

/* How many of some jobs, newest first, are newer than `since`. */
static int newer_count(const struct stored_job *jobs, int count,
                       struct job_id since)
{
    while (count > 0 && key128_compare(jobs[count - 1].id.v, since.v) <= 0) {
        count--;
    }
    return count;
}

/* Have the store find by a label what its index has: jobs after `ret_since`;
 * those up to it are then looked at one by one. */
static int use_index(const struct job_list *list, struct store_reader *reader,
                     struct store_filter *filter, struct job_id *ret_since,
                     struct err *err)
{
    const Berth__Api__ListJobsRequest__LabelsEntry *label =
        indexed_label(list->request);

    *ret_since = (struct job_id){{0, 0}};
    if (!label) {
        return 0;
    }
    int rc = store_label_since(reader, ret_since, err);
    bool is_newer = key128_is_none(filter->older_than.v) ||
                    key128_compare(filter->older_than.v, ret_since->v) > 0;
    if (rc == 0 && is_newer) {
        filter->label_key = str_of(label->key);
        filter->label_value = str_of(label->value);
        filter->count_max = list->request->n_labels == 1
                                ? list_limit(list->request)
                                : LIST_JOBS_MAX;
    }
    return rc;
}

/* The next page begins below `id`. */
static void go_on_below(struct job_list *list, struct job_id id)
{
    char text[ID_TEXT_BYTES_MAX];

    list->response.next_job_id =
        message_copy(&list->call->arena, str_of(job_id_format(id, text)));
}

/* Below which job to go on when so many of some jobs were looked at: below the
 * array that is passed over, or the last of them. */
static struct job_id below_of(const struct job_list *list,
                              const struct stored_job *jobs, int looked)
{
    struct job_id last = jobs[looked - 1].id;

    return is_skipped(list, last) ? list->skip_to : last;
}

/* Arrays once: what they hide is not read, where it lies in one piece. */
static int list_arrays(struct job_list *list, struct store_reader *reader,
                       struct store_filter *filter, struct err *err)
{
    struct arena *arena = &list->call->arena;
    uint32_t limit = list_limit(list->request), looked_sum = 0;
    uint32_t chunk = ARRAYS_FIRST_COUNT;
    struct stored_job *jobs;

    list->response.jobs =
        arena_alloc_array(arena, limit, sizeof(*list->response.jobs));
    for (;;) {
        filter->count_max = chunk;
        int found = store_list(reader, filter, arena, &jobs, err);
        if (found <= 0) {
            return found;
        }
        int looked = take_matching(list, reader, jobs, found, err);
        if (looked < 0) {
            return looked;
        }
        struct job_id below = below_of(list, jobs, looked);
        bool is_end = looked == found && (uint32_t)found < chunk;
        looked_sum += (uint32_t)looked;
        if (is_end) {
            return 0;
        }
        if (list->response.n_jobs == limit || looked_sum >= LIST_JOBS_MAX) {
            go_on_below(list, below);
            return 0;
        }
        bool has_skipped = key128_compare(below.v, jobs[looked - 1].id.v) != 0;
        filter->older_than = below;
        chunk = has_skipped                 ? ARRAYS_FIRST_COUNT
                : chunk * 2 < LIST_JOBS_MAX ? chunk * 2
                                            : LIST_JOBS_MAX;
    }
}

static int list_matching(struct job_list *list, struct store_reader *reader,
                         struct err *err)
{
    struct arena *arena = &list->call->arena;
    struct store_filter filter;
    struct stored_job *jobs;
    struct job_id since;

    int rc = make_filter(list, &filter, err);
    if (rc < 0 || (list->request->n_states > 0 && filter.states == 0)) {
        return rc; /* or states that no stored job is ever in */
    }
    if (list->request->arrays_once) {
        rc = list_arrays(list, reader, &filter, err);
        intern_destroy(list->arrays);
        list->arrays = NULL;
        return rc;
    }
    rc = use_index(list, reader, &filter, &since, err);
    if (rc < 0) {
        return rc;
    }
    bool is_indexed = filter.label_key.byte_count > 0;
    int found = store_list(reader, &filter, arena, &jobs, err);
    if (found < 0) {
        return found;
    }
    int count = is_indexed ? newer_count(jobs, found, since) : found;
    list->response.jobs =
        arena_alloc_array(arena, (size_t)count, sizeof(*list->response.jobs));
    int looked = take_matching(list, reader, jobs, count, err);
    if (looked < 0) {
        return looked;
    }
    if (looked > 0 && (looked < count || (uint32_t)count == filter.count_max)) {
        go_on_below(list, jobs[looked - 1].id);
    } else if (is_indexed && !key128_is_none(since.v)) {
        /* One more than the last that is not indexed. */
        since.v.hi += ++since.v.lo == 0;
        go_on_below(list, since);
    }
    return 0;
}

/* Whether the leader knows more of a job: it waits, or has a node. */
static bool is_leaders(const Berth__Api__JobSummary *job)
{
    return job->state == API__JOB_STATE__QUEUED ||
           job->state == API__JOB_STATE__LEASED ||
           job->state == API__JOB_STATE__PENDING ||
           job->state == API__JOB_STATE__RUNNING;
}

/* The leader has told what it knows: say what the list is, whatever came of
 * the question. */
static void admissions_known(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    struct job_list *list = call->data;
    const struct admission_status *row = command->admissions.rows;

    for (size_t i = 0; i < list->response.n_jobs; i++) {
        Berth__Api__JobSummary *job = list->response.jobs[i];
        if (!is_leaders(job)) {
            continue;
        }
        job->not_preemptible = row->is_kept;
        job->held = row->is_held;
        job->priority_class = message_copy(&call->arena, row->priority_class);
        if (row->wait) {
            job->wait_reason = message_copy(&call->arena, str_of(row->wait));
        }
        if (row->is_held) {
            job->reason = message_copy(&call->arena, row->reason);
        }
        if (job->state == API__JOB_STATE__QUEUED) {
            job->forecast =
                start_forecast_message(call->api, row->job, &call->arena);
        }
        job->admitted = row->is_admitted;
        job->promised_start = time_or_null(&call->arena, row->start_ms);
        row++;
    }
    api_call_reply(call, &list->response.base);
    command_destroy(command);
}

/* Ask the leader about those that it has; false: there are none. */
static bool ask_admissions(struct job_list *list)
{
    struct command *command = command_create(COMMAND_QUERY_ADMISSIONS);

    command->admissions.rows =
        arena_alloc_array(&command->arena, list->response.n_jobs,
                          sizeof(*command->admissions.rows));
    for (size_t i = 0; i < list->response.n_jobs; i++) {
        const Berth__Api__JobSummary *job = list->response.jobs[i];
        struct job_id id;
        if (is_leaders(job) && job_id_parse(str_of(job->job_id), &id) == 0) {
            command->admissions.rows[command->admissions.row_count++].job = id;
        }
    }
    if (command->admissions.row_count == 0) {
        command_destroy(command);
        return false;
    }
    list->call->data = list;
    (void)api_call_post(list->call, command, admissions_known);
    return true;
}

/* List them as of one moment of the log, which the answer names. */
static int list_jobs(struct job_list *list, struct store_reader *reader,
                     struct err *err)
{
    struct event_id as_of = {.is_last = true};
    char text[EVENT_ID_TEXT_BYTES_MAX];
    int rc = store_reader_seq(reader, &as_of.seq, err);

    if (rc < 0) {
        return rc;
    }
    list->response.event_id =
        message_copy(&list->call->arena, str_of(event_id_format(&as_of, text)));
    return list->request->n_job_ids > 0 ? list_named(list, reader, err)
                                        : list_matching(list, reader, err);
}

void handle_list_jobs(struct api_call *call, struct str request)
{
    struct job_list *list = arena_alloc(&call->arena, sizeof(*list));
    Berth__Api__ListJobsRequest *message;
    struct readers *readers;
    struct err err;

    if (!api_call_decode(call, &berth__api__list_jobs_request__descriptor,
                         request, &message)) {
        return;
    }
    if (message->arrays_once &&
        (message->n_states > 0 || message->n_labels > 0)) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "arrays_once cannot be given with states or labels");
        return;
    }
    if (message->n_job_ids > LIST_JOBS_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "at most %d jobs may be named", LIST_JOBS_MAX);
        return;
    }
    *list = (struct job_list){.call = call,
                              .request = message,
                              .response = BERTH__API__LIST_JOBS_RESPONSE__INIT};
    int rc = reader_pool_lend(call->api->readers, &readers, &err);
    if (rc == 0) {
        rc = list_jobs(list, readers->store, &err);
        reader_pool_give_back(call->api->readers, readers);
    }
    if (rc == -ERR_INVALID) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s", err.text);
    } else if (rc < 0) {
        api_call_fail_storage(call, &err);
    } else if (!ask_admissions(list)) {
        api_call_reply(call, &list->response.base);
    }
}
