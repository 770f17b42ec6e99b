#include "api/api.h"

#include <time.h>

#include "api/core/state.h"
#include "api/handlers.h"
#include "api/logs/log_hub.h"

#define UNARY(path_, handler_, permission_)                          \
    {                                                                \
        .path = "/" path_, .kind = RPC_UNARY, .handle = (handler_),  \
        .permission = (permission_), .denied = RPC_PERMISSION_DENIED \
    }
#define STREAM(path_, handler_, permission_)                                \
    {                                                                       \
        .path = "/" path_, .kind = RPC_SERVER_STREAM, .handle = (handler_), \
        .permission = (permission_), .denied = RPC_PERMISSION_DENIED        \
    }
/* About one queue: the permission for any, or the queue's own grant. */
#define ON_QUEUE(path_, kind_, handler_, permission_, verb_, denied_)     \
    {                                                                     \
        .path = "/" path_, .kind = (kind_), .handle = (handler_),         \
        .permission = (permission_), .verb = (verb_), .denied = (denied_) \
    }

/* Every method, and who may call it (armada-api.md 1, 4.2, 4.3). */
static const struct method methods[] = {
    ON_QUEUE("api.Submit/SubmitJobs", RPC_UNARY, handle_submit_jobs,
             PERMISSION_SUBMIT_ANY_JOBS, VERB_SUBMIT, RPC_PERMISSION_DENIED),
    ON_QUEUE("api.Submit/CancelJobs", RPC_UNARY, handle_cancel_jobs,
             PERMISSION_CANCEL_ANY_JOBS, VERB_CANCEL, RPC_UNKNOWN),
    ON_QUEUE("api.Submit/CancelJobSet", RPC_UNARY, handle_cancel_job_set,
             PERMISSION_CANCEL_ANY_JOBS, VERB_CANCEL, RPC_UNKNOWN),
    ON_QUEUE("api.Submit/ReprioritizeJobs", RPC_UNARY, handle_reprioritize_jobs,
             PERMISSION_REPRIORITIZE_ANY_JOBS, VERB_REPRIORITIZE, RPC_UNKNOWN),
    ON_QUEUE("api.Submit/PreemptJobs", RPC_UNARY, handle_preempt_jobs,
             PERMISSION_PREEMPT_ANY_JOBS, VERB_PREEMPT, RPC_UNKNOWN),
    UNARY("api.Submit/CreateQueue", handle_create_queue,
          PERMISSION_CREATE_QUEUE),
    UNARY("api.Submit/CreateQueues", handle_create_queues,
          PERMISSION_CREATE_QUEUE),
    UNARY("api.Submit/UpdateQueue", handle_update_queue,
          PERMISSION_CREATE_QUEUE),
    UNARY("api.Submit/UpdateQueues", handle_update_queues,
          PERMISSION_CREATE_QUEUE),
    UNARY("api.Submit/DeleteQueue", handle_delete_queue,
          PERMISSION_DELETE_QUEUE),
    UNARY("api.Submit/GetQueue", handle_get_queue, PERMISSION_NONE),
    STREAM("api.Submit/GetQueues", handle_get_queues, PERMISSION_NONE),
    UNARY("api.Submit/Health", handle_get_health, PERMISSION_NONE),

    UNARY("api.QueueService/CreateQueue", handle_create_queue,
          PERMISSION_CREATE_QUEUE),
    UNARY("api.QueueService/CreateQueues", handle_create_queues,
          PERMISSION_CREATE_QUEUE),
    UNARY("api.QueueService/UpdateQueue", handle_update_queue,
          PERMISSION_CREATE_QUEUE),
    UNARY("api.QueueService/UpdateQueues", handle_update_queues,
          PERMISSION_CREATE_QUEUE),
    UNARY("api.QueueService/DeleteQueue", handle_delete_queue,
          PERMISSION_DELETE_QUEUE),
    UNARY("api.QueueService/GetQueue", handle_get_queue, PERMISSION_NONE),
    STREAM("api.QueueService/GetQueues", handle_get_queues, PERMISSION_NONE),
    UNARY("api.QueueService/CordonQueue", handle_cordon_queue,
          PERMISSION_CORDON_QUEUE),
    UNARY("api.QueueService/UncordonQueue", handle_uncordon_queue,
          PERMISSION_CORDON_QUEUE),
    UNARY("api.QueueService/CancelOnQueue", handle_cancel_on_queue,
          PERMISSION_CANCEL_ANY_JOBS),
    UNARY("api.QueueService/PreemptOnQueue", handle_preempt_on_queue,
          PERMISSION_PREEMPT_ANY_JOBS),

    UNARY("api.RetryPolicyService/CreateRetryPolicy",
          handle_create_retry_policy, PERMISSION_CREATE_RETRY_POLICY),
    UNARY("api.RetryPolicyService/UpdateRetryPolicy",
          handle_update_retry_policy, PERMISSION_UPDATE_RETRY_POLICY),
    UNARY("api.RetryPolicyService/DeleteRetryPolicy",
          handle_delete_retry_policy, PERMISSION_DELETE_RETRY_POLICY),
    UNARY("api.RetryPolicyService/GetRetryPolicy", handle_get_retry_policy,
          PERMISSION_NONE),
    UNARY("api.RetryPolicyService/GetRetryPolicies", handle_get_retry_policies,
          PERMISSION_NONE),

    ON_QUEUE("api.Event/GetJobSetEvents", RPC_SERVER_STREAM,
             handle_get_job_set_events, PERMISSION_WATCH_ALL_EVENTS, VERB_WATCH,
             RPC_PERMISSION_DENIED),
    ON_QUEUE("api.Event/Watch", RPC_SERVER_STREAM, handle_watch,
             PERMISSION_WATCH_ALL_EVENTS, VERB_WATCH, RPC_PERMISSION_DENIED),
    UNARY("api.Event/Health", handle_get_health, PERMISSION_NONE),

    UNARY("berth.api.Berth/UncordonNode", handle_uncordon_node,
          PERMISSION_CORDON_NODES),
    UNARY("berth.api.Berth/ListJobs", handle_list_jobs, PERMISSION_NONE),
    UNARY("berth.api.Berth/ExplainJob", handle_explain_job, PERMISSION_NONE),
    UNARY("berth.api.Berth/GetQueueShares", handle_get_queue_shares,
          PERMISSION_NONE),
    UNARY("berth.api.Berth/ListNodes", handle_list_nodes, PERMISSION_NONE),
    UNARY("berth.api.Berth/ListExecutors", handle_list_executors,
          PERMISSION_NONE),
    UNARY("berth.api.Berth/QuarantineNode", handle_quarantine_node,
          PERMISSION_CORDON_NODES),
    UNARY("berth.api.Berth/ReleaseNode", handle_release_node,
          PERMISSION_CORDON_NODES),
    UNARY("berth.api.Berth/GetApplications", handle_get_applications,
          PERMISSION_NONE),
    UNARY("berth.api.Berth/CreatePool", handle_create_pool,
          PERMISSION_CREATE_POOL),
    UNARY("berth.api.Berth/UpdatePool", handle_update_pool,
          PERMISSION_CREATE_POOL),
    UNARY("berth.api.Berth/DeletePool", handle_delete_pool,
          PERMISSION_DELETE_POOL),
    UNARY("berth.api.Berth/ListPools", handle_list_pools, PERMISSION_NONE),
    UNARY("berth.api.Berth/ListPodGroups", handle_list_pod_groups,
          PERMISSION_NONE),
    ON_QUEUE("berth.api.Berth/SubmitTrainingJob", RPC_UNARY,
             handle_submit_training_job, PERMISSION_SUBMIT_ANY_JOBS,
             VERB_SUBMIT, RPC_PERMISSION_DENIED),
    ON_QUEUE("berth.api.Berth/UpdateTrainingJob", RPC_UNARY,
             handle_update_training_job, PERMISSION_REPRIORITIZE_ANY_JOBS,
             VERB_REPRIORITIZE, RPC_PERMISSION_DENIED),
    ON_QUEUE("berth.api.Berth/DeleteTrainingJob", RPC_UNARY,
             handle_delete_training_job, PERMISSION_CANCEL_ANY_JOBS,
             VERB_CANCEL, RPC_PERMISSION_DENIED),
    UNARY("berth.api.Berth/ListTrainingJobs", handle_list_training_jobs,
          PERMISSION_NONE),
    STREAM("berth.api.Berth/Backup", handle_backup, PERMISSION_BACKUP),

    UNARY("api.Jobs/GetJobStatus", handle_get_job_status, PERMISSION_NONE),
    UNARY("api.Jobs/GetJobStatusUsingExternalJobUri",
          handle_get_job_status_by_uri, PERMISSION_NONE),
    UNARY("api.Jobs/GetJobDetails", handle_get_job_details, PERMISSION_NONE),
    UNARY("api.Jobs/GetJobErrors", handle_get_job_errors, PERMISSION_NONE),
    UNARY("api.Jobs/GetJobRunDetails", handle_get_job_run_details,
          PERMISSION_NONE),
    UNARY("api.Jobs/GetActiveQueues", handle_get_active_queues,
          PERMISSION_NONE),

    UNARY("api.Executor/UpsertExecutorSettings",
          handle_upsert_executor_settings, PERMISSION_UPDATE_EXECUTOR_SETTINGS),
    UNARY("api.Executor/DeleteExecutorSettings",
          handle_delete_executor_settings, PERMISSION_UPDATE_EXECUTOR_SETTINGS),
    UNARY("api.Executor/DeleteExecutor", handle_delete_executor,
          PERMISSION_UPDATE_EXECUTOR_SETTINGS),
    UNARY("api.Executor/CancelOnExecutor", handle_cancel_on_executor,
          PERMISSION_CANCEL_ANY_JOBS),
    UNARY("api.Executor/PreemptOnExecutor", handle_preempt_on_executor,
          PERMISSION_PREEMPT_ANY_JOBS),
    UNARY("api.Node/CancelOnNode", handle_cancel_on_node,
          PERMISSION_CANCEL_ANY_JOBS),
    UNARY("api.Node/PreemptOnNode", handle_preempt_on_node,
          PERMISSION_PREEMPT_ANY_JOBS),

    UNARY("schedulerobjects.SchedulerReporting/GetSchedulingReport",
          handle_get_scheduling_report, PERMISSION_NONE),
    UNARY("schedulerobjects.SchedulerReporting/GetQueueReport",
          handle_get_queue_report, PERMISSION_NONE),
    UNARY("schedulerobjects.SchedulerReporting/GetJobReport",
          handle_get_job_report, PERMISSION_NONE),

    UNARY("binoculars.Binoculars/Logs", handle_get_logs, PERMISSION_NONE),
    UNARY("binoculars.Binoculars/Cordon", handle_cordon_node,
          PERMISSION_CORDON_NODES),

    UNARY("grpc.health.v1.Health/Check", handle_check_health, PERMISSION_NONE),
    STREAM("grpc.health.v1.Health/Watch", handle_watch_health, PERMISSION_NONE),

    {.path = "/berth.api.Berth/ServeLogs",
     .kind = RPC_BIDI,
     .handle = handle_serve_logs,
     .permission = PERMISSION_EXECUTE_JOBS,
     .denied = RPC_PERMISSION_DENIED},
    {.path = "/executorapi.ExecutorApi/LeaseJobRuns",
     .kind = RPC_BIDI,
     .handle = handle_lease_job_runs,
     .permission = PERMISSION_EXECUTE_JOBS,
     .denied = RPC_PERMISSION_DENIED,
     .is_large = true},
    {.path = "/executorapi.ExecutorApi/ReportEvents",
     .kind = RPC_UNARY,
     .handle = handle_report_events,
     .permission = PERMISSION_EXECUTE_JOBS,
     .denied = RPC_PERMISSION_DENIED,
     .is_large = true},
};

/* What the transport gives back with a call. */
struct bound_method {
    struct api *api;
    const struct method *method;
};

static void dispatch(void *ctx, struct rpc_call *rpc, struct str request)
{
    const struct bound_method *bound = ctx;

    api_call_dispatch(bound->api, bound->method, rpc, request);
}

void api_config_defaults(struct api_config *ret_config)
{
    *ret_config = (struct api_config){
        .query_items_max = QUERY_ITEMS_DEFAULT_MAX,
        .watchers_max = WATCHERS_DEFAULT_MAX,
        .lease_receive_bytes_max = LEASE_RECEIVE_BYTES_DEFAULT_MAX,
        .unstored_bytes_max = UNSTORED_BYTES_DEFAULT_MAX,
        .log_timeout_ms = LOG_TIMEOUT_MS,
        .node_id_label = STR("kubernetes.io/hostname"),
        .priority_class_override = STR("armada-default"),
    };
    submit_rules_defaults(&ret_config->submit);
    training_rules_defaults(&ret_config->training);
}

static void bind_methods(struct api *api)
{
    api->method_count = ARRAY_COUNT(methods);
    ASSERT(api->method_count <= RPC_SERVER_METHODS_MAX);
    api->methods = mem_alloc_array(api->method_count, sizeof(*api->methods));
    api->bound = mem_alloc_array(api->method_count, sizeof(*api->bound));
    for (uint32_t i = 0; i < api->method_count; i++) {
        api->bound[i] = (struct bound_method){api, &methods[i]};
        api->methods[i] = (struct rpc_method){
            .path = methods[i].path,
            .kind = methods[i].kind,
            .handle = dispatch,
            .ctx = &api->bound[i],
            .receive_bytes_max =
                methods[i].is_large ? api->config->lease_receive_bytes_max : 0,
        };
    }
}

struct api *api_create(const struct api_config *config,
                       const struct api_ports *ports, struct err *err)
{
    struct api *api = mem_alloc(sizeof(*api));

    api->config = config;
    api->cpu_per_gpu_milli = config->training.cpu_per_gpu_milli;
    api->ports = *ports;
    auth_init(&api->auth, &config->auth);
    api->readers = reader_pool_create(ports->store, ports->log);
    api->specs = spec_cache_create(config->unstored_bytes_max);
    bind_methods(api);
    api->hub = event_hub_create(config->watchers_max, err);
    api->lease_hub = api->hub ? event_hub_create(EXECUTORS_MAX, err) : NULL;
    api->log_hub =
        api->lease_hub ? log_hub_create(config->log_timeout_ms, err) : NULL;
    if (!api->log_hub) {
        api_destroy(api);
        return NULL;
    }
    return api;
}

void api_destroy(struct api *api)
{
    if (!api) {
        return;
    }
    /* A backup has a thread of its own, which works on store and log. */
    while (__atomic_load_n(&api->is_backup_running, __ATOMIC_ACQUIRE)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    event_hub_destroy(api->hub);
    event_hub_destroy(api->lease_hub);
    log_hub_destroy(api->log_hub);
    reader_pool_destroy(api->readers);
    spec_cache_destroy(api->specs);
    mem_free(api->methods);
    mem_free(api->bound);
    mem_free(api);
}

const struct rpc_method *api_methods(const struct api *api, uint32_t *ret_count)
{
    *ret_count = api->method_count;
    return api->methods;
}

void api_on_changed(void *ctx, struct str queue, struct str job_set,
                    uint64_t seq)
{
    struct api *api = ctx;

    spec_cache_forget(api->specs, seq);
    event_hub_notify(api->hub, queue, job_set);
    if (atomic_load(&api->behind_count) > 0) {
        event_hub_notify(api->lease_hub, STR(""), STR(""));
    }
}

void api_set_cpu_per_gpu(struct api *api, int64_t milli)
{
    api->cpu_per_gpu_milli = milli;
}

uint32_t api_watcher_count(struct api *api)
{
    return event_hub_count(api->hub);
}

void api_unstored(struct api *api, uint64_t *ret_job_count,
                  size_t *ret_byte_count)
{
    spec_cache_stats(api->specs, ret_job_count, ret_byte_count);
}
