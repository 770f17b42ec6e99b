#include "cli/shared/check.h"

#include "armada/services.pb-c.h"
#include "base/plural.h"
#include "cli/shared/selection.h"
#include "cli/shared/states.h"

/* Ask, and say nothing when it fails.  RPC_OK with a reply. */
static enum rpc_code ask(struct cli *cli, const char *path,
                         const ProtobufCMessage *request,
                         const ProtobufCMessageDescriptor *reply_type,
                         ProtobufCMessage **ret_reply)
{
    auto_mem struct rpc_status *status = mem_alloc(sizeof(*status));

    *ret_reply = NULL;
    if (cli_connect(cli) != CLI_OK) {
        return RPC_UNAVAILABLE;
    }
    enum rpc_code code =
        cli_try(cli, path, request, reply_type, ret_reply, status);
    return code;
}

/* The job, or the newest of the job set, or NULL. */
static const Berth__Api__JobSummary *find_jobs(struct cli *cli,
                                               const struct check_jobs *check,
                                               enum rpc_code *ret_code)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    char *id = check->id;
    ProtobufCMessage *reply;

    request.queue = check->queue;
    request.job_set = check->job_set;
    request.job_ids = &id;
    request.n_job_ids = id ? 1 : 0;
    request.limit = 1;
    *ret_code = ask(cli, "/berth.api.Berth/ListJobs", &request.base,
                    &berth__api__list_jobs_response__descriptor, &reply);
    const Berth__Api__ListJobsResponse *response = (void *)reply;
    return *ret_code == RPC_OK && response->n_jobs > 0 ? response->jobs[0]
                                                       : NULL;
}

void check_jobs_before(struct cli *cli, struct check_jobs *check)
{
    enum rpc_code code;

    check->before = find_jobs(cli, check, &code);
    check->is_answered = code == RPC_OK;
}

/* It was not there before the request: whether it is now. */
static bool has_come(struct cli *cli, const struct check_jobs *check)
{
    enum rpc_code code;

    for (int waited_ms = 0; waited_ms < CHECK_LATE_MS;
         waited_ms += CHECK_PAUSE_MS) {
        if (find_jobs(cli, check, &code) || code != RPC_OK) {
            return true;
        }
        if (cli->ports->pause_ms) {
            cli->ports->pause_ms(CHECK_PAUSE_MS);
        }
    }
    return false;
}

enum cli_exit check_job_state(struct cli *cli,
                              const Berth__Api__JobSummary *job,
                              enum check_verb verb)
{
    if (selection_has_ended(job->state) && verb == CHECK_REPRIORITIZE) {
        return cli_fail(cli, CLI_FAILED,
                        "job %s has ended (%s): its priority was not changed",
                        job->job_id, states_name(job->state));
    }
    if (selection_has_ended(job->state) &&
        (verb == CHECK_HOLD || verb == CHECK_RELEASE)) {
        return cli_fail(cli, CLI_FAILED, "job %s has ended (%s)", job->job_id,
                        states_name(job->state));
    }
    if (verb == CHECK_HOLD && !job->held) {
        return cli_fail(cli, CLI_FAILED, "job %s is not held: %s", job->job_id,
                        job->state == API__JOB_STATE__QUEUED
                            ? "members of gangs cannot be held"
                            : "it has a node (preempt job takes it away)");
    }
    if (verb == CHECK_RELEASE && job->held) {
        cli_remark(cli, "job %s still waits: %s", job->job_id, job->reason);
    }
    if (selection_has_ended(job->state)) {
        (void)cli_fail(cli, CLI_OK, "job %s has already ended (%s)",
                       job->job_id, states_name(job->state));
        return CLI_OK;
    }
    if (verb == CHECK_PREEMPT && job->state == API__JOB_STATE__QUEUED) {
        return cli_fail(cli, CLI_FAILED,
                        "job %s waits in its queue: there is nothing to "
                        "preempt",
                        job->job_id);
    }
    if (verb == CHECK_PREEMPT && job->not_preemptible) {
        return cli_fail(cli, CLI_FAILED,
                        "job %s has a priority class that may not be "
                        "preempted; it keeps running (cancel job ends it)",
                        job->job_id);
    }
    return CLI_OK;
}

enum cli_exit check_jobs_after(struct cli *cli, const struct check_jobs *check,
                               enum check_verb verb)
{
    const Berth__Api__JobSummary *job = check->before;

    if (!check->is_answered || (!job && has_come(cli, check))) {
        return CLI_OK;
    }
    if (!job && check->id) {
        return cli_fail(cli, CLI_NOT_FOUND, "there is no job %s", check->id);
    }
    if (!job) {
        return cli_fail(cli, CLI_NOT_FOUND,
                        "there is no job of job set %s in queue %s",
                        check->job_set, check->queue);
    }
    if (!check->id) {
        return CLI_OK;
    }
    if (strcmp(job->queue, check->queue) != 0 ||
        strcmp(job->job_set, check->job_set) != 0) {
        return cli_fail(
            cli, CLI_NOT_FOUND,
            "nothing was done: job %s belongs to queue %s, job set %s",
            job->job_id, job->queue, job->job_set);
    }
    return check_job_state(cli, job, verb);
}

/* What following a job that is over exits with. */
static enum cli_exit code_of(const Berth__Api__JobSummary *job)
{
    if (job->state == API__JOB_STATE__SUCCEEDED) {
        return CLI_OK;
    }
    return job->state == API__JOB_STATE__FAILED && job->exit_code > 0 &&
                   job->exit_code < 256
               ? (enum cli_exit)job->exit_code
               : CLI_JOB_FAILED;
}

const char *check_reason(const Berth__Api__JobSummary *job)
{
    if (*job->reason) {
        return job->reason;
    }
    return job->state == API__JOB_STATE__CANCELLED   ? "it was cancelled"
           : job->state == API__JOB_STATE__PREEMPTED ? "it was preempted"
                                                     : "";
}

enum check_course check_course(struct cli *cli, char *id,
                               struct check_end *ret_end)
{
    char none[] = "";
    struct check_jobs check = {.queue = none, .job_set = none, .id = id};
    enum rpc_code code;
    const Berth__Api__JobSummary *job = find_jobs(cli, &check, &code);

    if (job) {
        if (ret_end) {
            *ret_end = (struct check_end){code_of(job), check_reason(job),
                                          states_waiting(cli, job)};
        }
        return selection_has_ended(job->state) ? CHECK_OVER : CHECK_GOES_ON;
    }
    if (code == RPC_OK) {
        return has_come(cli, &check) ? CHECK_GOES_ON : CHECK_NO_JOB;
    }
    return cli_exit_of(code) == CLI_UNAVAILABLE ? CHECK_NO_SERVER
                                                : CHECK_SILENT;
}

enum cli_exit check_no_job(struct cli *cli, const char *id)
{
    return cli_fail(cli, CLI_NOT_FOUND,
                    "there is no job %s; get jobs lists the jobs that exist, "
                    "and those that ended recently",
                    id);
}

enum cli_exit check_one_job(struct cli *cli, char *id)
{
    return check_course(cli, id, NULL) == CHECK_NO_JOB ? check_no_job(cli, id)
                                                       : CLI_OK;
}

enum cli_exit check_executor(struct cli *cli, const char *name)
{
    Berth__Api__ListExecutorsRequest request =
        BERTH__API__LIST_EXECUTORS_REQUEST__INIT;
    ProtobufCMessage *reply;

    if (ask(cli, "/berth.api.Berth/ListExecutors", &request.base,
            &berth__api__list_executors_response__descriptor,
            &reply) != RPC_OK) {
        return CLI_OK;
    }
    const Berth__Api__ListExecutorsResponse *response = (void *)reply;
    for (size_t i = 0; i < response->n_executors; i++) {
        if (strcmp(response->executors[i]->name, name) == 0) {
            return CLI_OK;
        }
    }
    return cli_fail(cli, CLI_NOT_FOUND, "there is no executor %s", name);
}

enum cli_exit check_node(struct cli *cli, const char *name,
                         const char *executor)
{
    Berth__Api__ListNodesRequest request = BERTH__API__LIST_NODES_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.node_name = cli_format(cli, "%s", name);
    request.executor = cli_format(cli, "%s", executor);
    request.limit = 1;
    if (ask(cli, "/berth.api.Berth/ListNodes", &request.base,
            &berth__api__list_nodes_response__descriptor, &reply) != RPC_OK) {
        return CLI_OK;
    }
    const Berth__Api__ListNodesResponse *response = (void *)reply;
    if (response->n_nodes > 0) {
        return CLI_OK;
    }
    return cli_fail(cli, CLI_NOT_FOUND, "there is no node %s%s%s", name,
                    *executor ? " of executor " : "", executor);
}

enum cli_exit check_node_call(struct cli *cli, const char *executor,
                              const char *path, const ProtobufCMessage *request,
                              const char *done)
{
    const char *node = cli_argument(cli, 0);
    enum cli_exit rc = check_node(cli, node, executor);

    if (rc == CLI_OK) {
        rc = cli_call_empty(cli, path, request);
    }
    if (rc == CLI_OK) {
        cli_note(cli, "%s node %s", done, node);
    }
    return rc;
}

/* RPC_OK with the queue, RPC_NOT_FOUND, or whatever else the answer was. */
static enum rpc_code find_queue(struct cli *cli, const char *name,
                                const Api__Queue **ret_queue)
{
    Api__QueueGetRequest request = API__QUEUE_GET_REQUEST__INIT;
    ProtobufCMessage *reply;

    request.name = cli_format(cli, "%s", name);
    enum rpc_code code = ask(cli, "/api.Submit/GetQueue", &request.base,
                             &api__queue__descriptor, &reply);
    *ret_queue = (void *)reply;
    return code;
}

enum cli_exit check_queue(struct cli *cli, const char *name)
{
    const Api__Queue *queue;

    return find_queue(cli, name, &queue) == RPC_NOT_FOUND
               ? cli_fail(cli, CLI_NOT_FOUND, "there is no queue %s", name)
               : CLI_OK;
}

void check_left_jobs(struct cli *cli, char *queue)
{
    Berth__Api__GetQueueSharesRequest request =
        BERTH__API__GET_QUEUE_SHARES_REQUEST__INIT;
    uint32_t job_count = 0, placed_count = 0;
    ProtobufCMessage *reply;

    request.queue = queue;
    if (ask(cli, "/berth.api.Berth/GetQueueShares", &request.base,
            &berth__api__get_queue_shares_response__descriptor,
            &reply) != RPC_OK) {
        return;
    }
    const Berth__Api__GetQueueSharesResponse *list = (const void *)reply;
    for (size_t i = 0; i < list->n_shares; i++) {
        const Berth__Api__QueueShare *share = list->shares[i];
        job_count = share->job_count;
        placed_count +=
            share->leased_count + share->pending_count + share->running_count;
    }
    if (job_count == 0) {
        return;
    }
    placed_count = placed_count < job_count ? placed_count : job_count;
    uint32_t waiting_count = job_count - placed_count;
    if (placed_count > 0) {
        (void)cli_fail(cli, CLI_OK,
                       "%u of its jobs %s leased or running and %s",
                       placed_count, plural_of(placed_count, "is", "are"),
                       plural_of(placed_count, "continues until it ends",
                                 "continue until they end"));
    }
    if (waiting_count > 0) {
        (void)cli_fail(
            cli, CLI_OK,
            "%u of its jobs %s only if queue %s is "
            "created again; cancel job-set %s JOBSET ends %s",
            waiting_count,
            plural_of(waiting_count, "waits: it starts", "wait: they start"),
            queue, queue, plural_of(waiting_count, "it", "them"));
    }
}

bool check_has_queue(struct cli *cli, const char *name)
{
    const Api__Queue *queue;

    return find_queue(cli, name, &queue) == RPC_OK &&
           strcmp(queue->name, name) == 0;
}

static bool is_pool(const Berth__Api__ListPoolsResponse *list, const char *name)
{
    bool is = strcmp(name, "default") == 0;

    for (size_t i = 0; i < list->n_pools && !is; i++) {
        is = list->pools[i]->pool &&
             strcmp(list->pools[i]->pool->name, name) == 0;
    }
    for (size_t i = 0; i < list->n_configured && !is; i++) {
        is = strcmp(list->configured[i], name) == 0;
    }
    return is;
}

static bool is_among(char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

enum cli_exit check_classes(struct cli *cli, char *const *names, size_t count)
{
    Berth__Api__ListPoolsRequest request = BERTH__API__LIST_POOLS_REQUEST__INIT;
    char pool[] = "default";
    ProtobufCMessage *reply;

    request.name = pool;
    if (count == 0 ||
        ask(cli, "/berth.api.Berth/ListPools", &request.base,
            &berth__api__list_pools_response__descriptor, &reply) != RPC_OK) {
        return CLI_OK;
    }
    const Berth__Api__ListPoolsResponse *list = (const void *)reply;
    for (size_t i = 0; i < count && list->n_priority_classes > 0; i++) {
        auto_strbuf known = {0};
        if (is_among(list->priority_classes, list->n_priority_classes,
                     names[i])) {
            continue;
        }
        for (size_t k = 0; k < list->n_priority_classes; k++) {
            strbuf_addf(&known, "%s%s", k ? ", " : "",
                        list->priority_classes[k]);
        }
        return cli_fail(cli, CLI_INVALID,
                        "there is no priority class %s; the server's are %s",
                        names[i], strbuf_text(&known));
    }
    return CLI_OK;
}

void check_pools(struct cli *cli, char *const *names, size_t count,
                 const char *consequence)
{
    Berth__Api__ListPoolsRequest request = BERTH__API__LIST_POOLS_REQUEST__INIT;
    ProtobufCMessage *reply;

    if (count == 0 ||
        ask(cli, "/berth.api.Berth/ListPools", &request.base,
            &berth__api__list_pools_response__descriptor, &reply) != RPC_OK) {
        return;
    }
    const Berth__Api__ListPoolsResponse *list = (const void *)reply;
    for (size_t i = 0; i < count; i++) {
        if (!is_pool(list, names[i])) {
            (void)cli_fail(cli, CLI_OK,
                           "there is no pool %s; until there is, %s", names[i],
                           consequence);
        }
    }
}

enum cli_exit check_version(struct cli *cli, const json_t *document)
{
    const char *version =
        json_string_value(json_object_get(document, "apiVersion"));

    if (version && strcmp(version, "armadaproject.io/v1beta1") == 0) {
        return CLI_OK;
    }
    return cli_fail(cli, CLI_INVALID,
                    "apiVersion must be armadaproject.io/v1beta1, or of "
                    "a pool resource.aibee.cn/v1alpha1%s",
                    json_object_get(document, "jobs")
                        ? "; use submit for a file of jobs"
                        : "");
}
