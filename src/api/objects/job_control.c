/*
 * Submit's commands on existing jobs (armada-api.md 1.4.1).
 *
 * The commands are blind: the server logs and answers them, whether or not the
 * jobs exist; events show their effect.
 */

#include "api/core/message.h"
#include "api/core/sequence.h"
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/submit/defaults.h"
#include "api/submit/validate.h"
#include "armada/submit.pb-c.h"
#include "base/intern.h"
#include "berth/api.pb-c.h"

/* What all requests about a job set have. */
struct target {
    const char *queue, *job_set;
    const char *reason; /* "" where there is none */
};

static bool check_reason(struct api_call *call, const char *reason)
{
    if (!validate_is_reason_short(reason)) {
        api_call_fail_field(call, "Reason", reason,
                            "reason cannot be longer than 50 bytes");
        return false;
    }
    return true;
}

static bool check_names(struct api_call *call, const struct target *target)
{
    if (!*target->queue) {
        api_call_fail_field(call, "Queue", "", "queue cannot be empty");
        return false;
    }
    if (!*target->job_set) {
        api_call_fail_field(call, "JobSetId", "", "jobset cannot be empty");
        return false;
    }
    if (strlen(target->job_set) > JOB_SET_ID_BYTES_MAX) {
        api_call_fail_wrapped(call, RPC_INVALID_ARGUMENT,
                              "jobset cannot be longer than %d bytes",
                              JOB_SET_ID_BYTES_MAX);
        return false;
    }
    return true;
}

static bool check_permission(struct api_call *call, const struct target *target)
{
    return api_call_authorize_job_set(call, str_of(target->queue),
                                      str_of(target->job_set));
}

/* The checks in their order: names, then who may. */
static bool check_target(struct api_call *call, const struct target *target)
{
    return check_names(call, target) && check_permission(call, target);
}

/* An event that comes from a request, now. */
static struct event event_now(const struct api_call *call, enum event_type type)
{
    const struct clock *clock = call->api->ports.clock;

    return (struct event){.type = type, .created_ms = clock->wall_ms(clock)};
}

/* Job ids of a request, each once, in the order given. */
struct ids {
    struct str *items;
    uint32_t count;
};

static struct ids unique(struct api_call *call, char **texts, size_t count,
                         const char *last)
{
    auto_ptr(intern) seen = intern_create();
    struct ids ids = {
        arena_alloc_array(&call->arena, count + 1, sizeof(ids.items[0])), 0};

    for (size_t i = 0; i <= count; i++) {
        struct str id = str_of(i < count ? texts[i] : last);
        if (id.byte_count && intern_add(seen, id) == ids.count) {
            ids.items[ids.count++] = id;
        }
    }
    return ids;
}

static struct event_scope scope_of(const struct api_call *call,
                                   const struct target *target)
{
    return (struct event_scope){str_of(target->queue), str_of(target->job_set),
                                call->principal.name};
}

/* Post one event for the whole job set. */
static void post_one(struct api_call *call, const struct target *target,
                     const struct event *event, command_done_fn *done)
{
    struct event_scope scope = scope_of(call, target);
    struct sequence sequence = {0};

    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, event);
    api_call_post(call, sequence_command(&sequence, &scope), done);
}

/* Post `event` for each job.  What is no job's id is echoed and no more. */
static void post_each(struct api_call *call, const struct target *target,
                      const struct ids *ids, struct event *event,
                      command_done_fn *done)
{
    struct event_scope scope = scope_of(call, target);
    struct sequence sequence = {0};

    sequence_begin(&sequence, &scope);
    for (uint32_t i = 0; i < ids->count; i++) {
        if (job_id_parse(ids->items[i], &event->job) == 0) {
            sequence_add(&sequence, event);
        }
    }
    struct command *command = sequence_command(&sequence, &scope);
    if (sequence.event_count == 0) {
        command->result = COMMAND_OK;
        done(command, call);
        return;
    }
    api_call_post(call, command, done);
}

/* What a reply needs when the leader has answered. */
struct answer {
    struct ids ids;
    const char *whole_set; /* the job set, if it was meant as a whole */
};

static struct answer *answer_make(struct api_call *call, struct ids ids,
                                  const char *whole_set)
{
    struct answer *answer = arena_alloc(&call->arena, sizeof(*answer));

    *answer = (struct answer){ids, whole_set};
    call->data = answer;
    return answer;
}

static void on_cancelled(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    const struct answer *answer = call->data;

    if (!api_call_fail_command(call, command, "Failed to send message")) {
        Api__CancellationResult result = API__CANCELLATION_RESULT__INIT;
        uint32_t count = answer->whole_set ? 1 : answer->ids.count;
        result.cancelled_ids = arena_alloc_array(
            &call->arena, count, sizeof(result.cancelled_ids[0]));
        for (uint32_t i = 0; i < count; i++) {
            result.cancelled_ids[result.n_cancelled_ids++] =
                answer->whole_set ? message_text(STR(""))
                                  : message_text(answer->ids.items[i]);
        }
        api_call_reply(call, &result.base);
    }
    command_destroy(command);
}

void handle_cancel_jobs(struct api_call *call, struct str request)
{
    Api__JobCancelRequest *message;

    if (!api_call_decode(call, &api__job_cancel_request__descriptor, request,
                         &message) ||
        !check_reason(call, message->reason)) {
        return;
    }
    struct target target = {message->queue, message->job_set_id,
                            message->reason};
    struct ids ids =
        unique(call, message->job_ids, message->n_job_ids, message->job_id);
    if (!check_target(call, &target)) {
        return;
    }
    if (ids.count == 0) {
        struct event event = event_now(call, EVENT_CANCEL_SET);
        event.cancel.reason = str_of(target.reason);
        event.cancel.states = STATE_SET_ALL;
        answer_make(call, ids, target.job_set);
        post_one(call, &target, &event, on_cancelled);
        return;
    }
    struct event event = event_now(call, EVENT_CANCEL);
    event.cancel.reason = str_of(target.reason);
    answer_make(call, ids, NULL);
    post_each(call, &target, &ids, &event, on_cancelled);
}

/* The states that a filter names; false: a combination that is refused. */
static bool read_filter(const Api__JobSetFilter *filter,
                        enum state_set *ret_states)
{
    unsigned states = 0;
    bool has_pending = false, has_running = false;

    for (size_t i = 0; filter && i < filter->n_states; i++) {
        has_pending |= filter->states[i] == API__JOB_STATE__PENDING;
        has_running |= filter->states[i] == API__JOB_STATE__RUNNING;
        /* Whatever else is named counts as queued. */
        if (filter->states[i] != API__JOB_STATE__PENDING &&
            filter->states[i] != API__JOB_STATE__RUNNING) {
            states |= STATE_SET_QUEUED;
        }
    }
    if (has_pending != has_running) {
        return false;
    }
    if (has_pending) {
        states |= STATE_SET_LEASED | STATE_SET_PENDING | STATE_SET_RUNNING;
    }
    *ret_states = (enum state_set)(states ? states : STATE_SET_ALL);
    return true;
}

void handle_cancel_job_set(struct api_call *call, struct str request)
{
    Api__JobSetCancelRequest *message;
    enum state_set states;

    if (!api_call_decode(call, &api__job_set_cancel_request__descriptor,
                         request, &message) ||
        !check_reason(call, message->reason)) {
        return;
    }
    struct target target = {message->queue, message->job_set_id,
                            message->reason};
    if (!check_names(call, &target)) {
        return;
    }
    if (!read_filter(message->filter, &states)) {
        api_call_fail_wrapped(
            call, RPC_UNKNOWN,
            "unsupported state combination: states pending and running must "
            "always be used together");
        return;
    }
    if (!check_permission(call, &target)) {
        return;
    }
    struct event event = event_now(call, EVENT_CANCEL_SET);
    event.cancel.reason = str_of(target.reason);
    event.cancel.states = states;
    post_one(call, &target, &event, api_call_done_empty);
}

/* Results are maps from id to "" (no error). */
static void on_reprioritized(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    const struct answer *answer = call->data;

    if (!api_call_fail_command(call, command, "Failed to send message")) {
        Api__JobReprioritizeResponse response =
            API__JOB_REPRIORITIZE_RESPONSE__INIT;
        uint32_t count = answer->whole_set ? 1 : answer->ids.count;
        response.reprioritization_results = arena_alloc_array(
            &call->arena, count, sizeof(response.reprioritization_results[0]));
        for (uint32_t i = 0; i < count; i++) {
            Api__JobReprioritizeResponse__ReprioritizationResultsEntry *entry =
                message_new(
                    &call->arena,
                    &api__job_reprioritize_response__reprioritization_results_entry__descriptor);
            entry->key =
                message_text(answer->whole_set ? str_of(answer->whole_set)
                                               : answer->ids.items[i]);
            response.reprioritization_results
                [response.n_reprioritization_results++] = entry;
        }
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_reprioritize_jobs(struct api_call *call, struct str request)
{
    Api__JobReprioritizeRequest *message;

    if (!api_call_decode(call, &api__job_reprioritize_request__descriptor,
                         request, &message)) {
        return;
    }
    struct target target = {message->queue, message->job_set_id, ""};
    if (!check_target(call, &target)) {
        return;
    }
    struct ids ids = unique(call, message->job_ids, message->n_job_ids, "");
    bool is_whole = ids.count == 0;
    struct event event =
        event_now(call, is_whole ? EVENT_REPRIORITISE_SET : EVENT_REPRIORITISE);
    event.reprioritise.priority = defaults_priority(message->new_priority);
    if (is_whole) {
        auto_strbuf key = strbuf_make(0);
        strbuf_addf(&key, "all jobs in job set %s", target.job_set);
        answer_make(call, ids, arena_strdup(&call->arena, strbuf_str(&key)));
        post_one(call, &target, &event, on_reprioritized);
        return;
    }
    answer_make(call, ids, NULL);
    post_each(call, &target, &ids, &event, on_reprioritized);
}

static void on_preempted(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    const struct answer *answer = call->data;

    if (!api_call_fail_command(call, command, "Failed to send message")) {
        Api__PreemptionResult result = API__PREEMPTION_RESULT__INIT;
        result.preemption_results =
            arena_alloc_array(&call->arena, answer->ids.count,
                              sizeof(result.preemption_results[0]));
        for (uint32_t i = 0; i < answer->ids.count; i++) {
            Api__PreemptionResult__PreemptionResultsEntry *entry = message_new(
                &call->arena,
                &api__preemption_result__preemption_results_entry__descriptor);
            entry->key = message_text(answer->ids.items[i]);
            result.preemption_results[result.n_preemption_results++] = entry;
        }
        api_call_reply(call, &result.base);
    }
    command_destroy(command);
}

void handle_preempt_jobs(struct api_call *call, struct str request)
{
    Api__JobPreemptRequest *message;

    if (!api_call_decode(call, &api__job_preempt_request__descriptor, request,
                         &message) ||
        !check_reason(call, message->reason)) {
        return;
    }
    struct target target = {message->queue, message->job_set_id,
                            message->reason};
    if (!check_target(call, &target)) {
        return;
    }
    struct ids ids = unique(call, message->job_ids, message->n_job_ids, "");
    struct event event = event_now(call, EVENT_PREEMPT);
    event.cancel.reason = str_of(target.reason);
    answer_make(call, ids, NULL);
    post_each(call, &target, &ids, &event, on_preempted);
}

enum { HOLD_JOBS_MAX = 1000 }; /* in one request */

void handle_hold_jobs(struct api_call *call, struct str request)
{
    Berth__Api__HoldJobsRequest *message;

    if (!api_call_decode(call, &berth__api__hold_jobs_request__descriptor,
                         request, &message)) {
        return;
    }
    if (message->n_job_ids > HOLD_JOBS_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "at most %d jobs may be named", HOLD_JOBS_MAX);
        return;
    }
    struct target target = {message->queue, message->job_set, ""};
    if (!check_target(call, &target)) {
        return;
    }
    struct ids ids = unique(call, message->job_ids, message->n_job_ids, "");
    struct event event = event_now(call, EVENT_HOLD_CHANGED);
    event.hold.set = message->release ? 0 : JOB_HOLD_BY_USER;
    event.hold.cleared = message->release ? JOB_HOLD_BY_USER : 0;
    event.hold.user = call->principal.name;
    post_each(call, &target, &ids, &event, api_call_done_empty);
}
