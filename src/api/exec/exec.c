/* berth.api.Berth/Exec and ServeExec: programs that users run in jobs. */
#include "api/core/message.h"
#include "api/core/state.h"
#include "api/core/view.h"
#include "api/exec/exec_link.h"
#include "api/handlers.h"
#include "api/logs/log_hub.h"
#include "berth/api.pb-c.h"
#include "wire/message/message.h"

/* Who may. */

static bool is_granted(struct api_call *call, struct str queue)
{
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, queue);
    bool is = entry && api_call_is_granted(call, entry, call->method->verb);

    if (entry) {
        queue_entry_unref(entry);
    }
    return is;
}

/* The submitter may: what he runs in his job he could have submitted. */
static bool may_enter(struct api_call *call, const struct stored_job *job)
{
    const struct principal *caller = &call->principal;
    bool is_owner = !caller->is_anonymous && job->owner.byte_count > 0 &&
                    str_equal(job->owner, caller->name);

    return is_owner ||
           auth_has_permission(&call->api->auth, caller,
                               call->method->permission) ||
           is_granted(call, job->queue);
}

/* Who sees the job is told why not; to others there is none. */
static void refuse(struct api_call *call, const struct stored_job *job)
{
    if (view_of_job(call, job->queue, job->owner) == VIEW_NOTHING) {
        api_call_fail(call, RPC_NOT_FOUND, "there is no such job");
        return;
    }
    api_call_fail_denied(
        call,
        "%.*s lacks permission %s, or the verb %s of queue %.*s, to run "
        "programs in jobs of others",
        STR_ARG(call->principal.name),
        permission_name(call->method->permission),
        queue_verb_name(call->method->verb), STR_ARG(job->queue));
}

/* Where it is. */

static const char *state_text(enum stored_job_state state)
{
    switch (state) {
    case STORED_JOB_QUEUED:
    case STORED_JOB_LEASED:
    case STORED_JOB_PENDING:
        return "has not started yet";
    case STORED_JOB_RUNNING:
        return NULL;
    case STORED_JOB_SUCCEEDED:
    case STORED_JOB_FAILED:
    case STORED_JOB_CANCELLED:
    case STORED_JOB_PREEMPTED:
    case STORED_JOB_REJECTED:
        break;
    }
    return "has ended";
}

/* Read the job and its run; < 0: the call is over. */
static int read_job(struct api_call *call, struct job_id id,
                    struct stored_job *ret_job, struct stored_run *ret_run)
{
    struct readers *readers;
    struct err err;

    int rc = reader_pool_lend(call->api->readers, &readers, &err);
    if (rc == 0) {
        rc = store_job(readers->store, id, &call->arena, ret_job, &err);
        if (rc > 0 && !key128_is_none(ret_job->latest_run.v)) {
            int run_rc = store_run(readers->store, ret_job->latest_run,
                                   &call->arena, ret_run, &err);
            rc = run_rc < 0 ? run_rc : rc;
        }
        reader_pool_give_back(call->api->readers, readers);
    }
    if (rc == 0) {
        api_call_fail(call, RPC_NOT_FOUND, "there is no such job");
        return -ERR_NOT_FOUND;
    }
    if (rc < 0) {
        api_call_fail_storage(call, &err);
    }
    return rc;
}

/* The executor that has the job, into which the caller may; false: the call is
 * over. */
static bool find_place(struct api_call *call, struct job_id id,
                       struct str *ret_executor)
{
    struct stored_job job = {0};
    struct stored_run run = {0};

    if (read_job(call, id, &job, &run) < 0) {
        return false;
    }
    if (!may_enter(call, &job)) {
        refuse(call, &job);
        return false;
    }
    const char *why = state_text(job.state);
    if (why || run.cluster.byte_count == 0) {
        api_call_fail(call, RPC_FAILED_PRECONDITION, "the job %s",
                      why ? why : "has not started yet");
        return false;
    }
    call->queue = job.queue;
    call->job_set = job.job_set;
    *ret_executor = run.cluster;
    return true;
}

/* The user's call. */

/* The executor cannot, or does not come. */
static void on_refused(struct api_call *call, int rc, struct log_answer *answer,
                       const struct err *err)
{
    enum rpc_code code = rc == -ERR_NOT_FOUND  ? RPC_NOT_FOUND
                         : rc == -ERR_INVALID  ? RPC_FAILED_PRECONDITION
                         : rc == -ERR_CONFLICT ? RPC_ABORTED
                         : rc == -ERR_LIMIT    ? RPC_RESOURCE_EXHAUSTED
                                               : RPC_UNAVAILABLE;

    (void)answer;
    if (rc < 0) {
        exec_link_end(call->data, code, err->text);
    } else {
        /* It took the question for one of logs. */
        exec_link_end(call->data, RPC_UNIMPLEMENTED,
                      "the job's executor is of a release that lets nobody "
                      "into jobs");
    }
}

static void on_gone(struct api_call *call)
{
    exec_link_end(call->data, RPC_CANCELLED, "cancelled");
}

static bool check_start(struct api_call *call, struct str request,
                        const Berth__Api__ExecInput *message)
{
    if (request.byte_count > EXEC_MESSAGE_BYTES_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "a message of a session may have %d bytes",
                      EXEC_MESSAGE_BYTES_MAX);
        return false;
    }
    if (!message->start) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "the first message must have `start`");
        return false;
    }
    return true;
}

void handle_exec(struct api_call *call, struct str request)
{
    struct log_query query = {.is_exec = true, .gone = on_gone};
    Berth__Api__ExecInput *message;
    struct str executor;
    struct err err;

    if (!api_call_decode(call, &berth__api__exec_input__descriptor, request,
                         &message) ||
        !check_start(call, request, message)) {
        return;
    }
    if (job_id_parse(str_of(message->start->job_id), &query.job) < 0) {
        api_call_fail(call, RPC_NOT_FOUND, "there is no such job");
        return;
    }
    if (!find_place(call, query.job, &executor) ||
        !exec_link_make(call, request)) {
        return;
    }
    call->job = str_of(message->start->job_id);
    api_call_begun(call);
    struct rpc_call *rpc = rpc_call_ref(call->rpc);
    int rc = log_hub_ask(call->api->log_hub, executor, &query, call, on_refused,
                         &err);
    if (rc < 0) {
        on_refused(call, rc, NULL, &err);
    }
    rpc_call_unref(rpc);
}

/* The executor's. */

void handle_serve_exec(struct api_call *call, struct str request)
{
    Berth__Api__ExecOutput *message;

    if (!api_call_decode(call, &berth__api__exec_output__descriptor, request,
                         &message) ||
        !api_call_check_executor(call, str_of(message->executor_id))) {
        return;
    }
    struct api_call *user = log_hub_claim(
        call->api->log_hub, str_of(message->executor_id), message->number);
    if (!user) {
        api_call_fail(call, RPC_NOT_FOUND, "nobody waits for this session");
        return;
    }
    struct rpc_call *rpc = user->rpc; /* with a reference by the claim */
    exec_link_join(user->data, call);
    rpc_call_unref(rpc);
}
