/*
 * methods - every method, and who may call it: the one table that calls are
 * dispatched by, that declares the handlers (handlers.h: a handler without a
 * row does not compile), and that `berthctl get permissions` prints.
 *
 * Internal to the API.  A row is: path, handler, kind of call, permission that
 * is enough for anything that it does, verb by which a queue may grant it,
 * scope (enum method_scope), and what else there is to it.  METHOD_AGAIN is a
 * handler's second path.
 */
#pragma once

#define API_METHODS(METHOD, METHOD_AGAIN)                                      \
    METHOD("api.Submit/SubmitJobs", submit_jobs, UNARY, SUBMIT_ANY_JOBS,       \
           SUBMIT, QUEUE, 0)                                                   \
    METHOD("api.Submit/CancelJobs", cancel_jobs, UNARY, CANCEL_ANY_JOBS,       \
           CANCEL, QUEUE, METHOD_DENIES_WRAPPED)                               \
    METHOD("api.Submit/CancelJobSet", cancel_job_set, UNARY, CANCEL_ANY_JOBS,  \
           CANCEL, QUEUE, METHOD_DENIES_WRAPPED)                               \
    METHOD("api.Submit/ReprioritizeJobs", reprioritize_jobs, UNARY,            \
           REPRIORITIZE_ANY_JOBS, REPRIORITIZE, QUEUE, METHOD_DENIES_WRAPPED)  \
    METHOD("api.Submit/PreemptJobs", preempt_jobs, UNARY, PREEMPT_ANY_JOBS,    \
           PREEMPT, QUEUE, METHOD_DENIES_WRAPPED)                              \
    METHOD("api.Submit/CreateQueue", create_queue, UNARY, CREATE_QUEUE, NONE,  \
           SERVER, 0)                                                          \
    METHOD("api.Submit/CreateQueues", create_queues, UNARY, CREATE_QUEUE,      \
           NONE, SERVER, 0)                                                    \
    METHOD("api.Submit/UpdateQueue", update_queue, UNARY, CREATE_QUEUE, NONE,  \
           SERVER, 0)                                                          \
    METHOD("api.Submit/UpdateQueues", update_queues, UNARY, CREATE_QUEUE,      \
           NONE, SERVER, 0)                                                    \
    METHOD("api.Submit/DeleteQueue", delete_queue, UNARY, DELETE_QUEUE, NONE,  \
           SERVER, 0)                                                          \
    METHOD("api.Submit/GetQueue", get_queue, UNARY, NONE, NONE, ANYONE, 0)     \
    METHOD("api.Submit/GetQueues", get_queues, SERVER_STREAM, NONE, NONE,      \
           ANYONE, 0)                                                          \
    METHOD("api.Submit/Health", get_health, UNARY, NONE, NONE, ANYONE, 0)      \
    METHOD_AGAIN("api.QueueService/CreateQueue", create_queue, UNARY,          \
                 CREATE_QUEUE, NONE, SERVER, 0)                                \
    METHOD_AGAIN("api.QueueService/CreateQueues", create_queues, UNARY,        \
                 CREATE_QUEUE, NONE, SERVER, 0)                                \
    METHOD_AGAIN("api.QueueService/UpdateQueue", update_queue, UNARY,          \
                 CREATE_QUEUE, NONE, SERVER, 0)                                \
    METHOD_AGAIN("api.QueueService/UpdateQueues", update_queues, UNARY,        \
                 CREATE_QUEUE, NONE, SERVER, 0)                                \
    METHOD_AGAIN("api.QueueService/DeleteQueue", delete_queue, UNARY,          \
                 DELETE_QUEUE, NONE, SERVER, 0)                                \
    METHOD_AGAIN("api.QueueService/GetQueue", get_queue, UNARY, NONE, NONE,    \
                 ANYONE, 0)                                                    \
    METHOD_AGAIN("api.QueueService/GetQueues", get_queues, SERVER_STREAM,      \
                 NONE, NONE, ANYONE, 0)                                        \
    METHOD("api.QueueService/CordonQueue", cordon_queue, UNARY, CORDON_QUEUE,  \
           NONE, SERVER, 0)                                                    \
    METHOD("api.QueueService/UncordonQueue", uncordon_queue, UNARY,            \
           CORDON_QUEUE, NONE, SERVER, 0)                                      \
    METHOD("api.QueueService/CancelOnQueue", cancel_on_queue, UNARY,           \
           CANCEL_ANY_JOBS, NONE, SERVER, 0)                                   \
    METHOD("api.QueueService/PreemptOnQueue", preempt_on_queue, UNARY,         \
           PREEMPT_ANY_JOBS, NONE, SERVER, 0)                                  \
    METHOD("api.RetryPolicyService/CreateRetryPolicy", create_retry_policy,    \
           UNARY, CREATE_RETRY_POLICY, NONE, SERVER, 0)                        \
    METHOD("api.RetryPolicyService/UpdateRetryPolicy", update_retry_policy,    \
           UNARY, UPDATE_RETRY_POLICY, NONE, SERVER, 0)                        \
    METHOD("api.RetryPolicyService/DeleteRetryPolicy", delete_retry_policy,    \
           UNARY, DELETE_RETRY_POLICY, NONE, SERVER, 0)                        \
    METHOD("api.RetryPolicyService/GetRetryPolicy", get_retry_policy, UNARY,   \
           NONE, NONE, ANYONE, 0)                                              \
    METHOD("api.RetryPolicyService/GetRetryPolicies", get_retry_policies,      \
           UNARY, NONE, NONE, ANYONE, 0)                                       \
    METHOD("api.Event/GetJobSetEvents", get_job_set_events, SERVER_STREAM,     \
           WATCH_ALL_EVENTS, WATCH, QUEUE, 0)                                  \
    METHOD("api.Event/Watch", watch, SERVER_STREAM, WATCH_ALL_EVENTS, WATCH,   \
           QUEUE, 0)                                                           \
    METHOD_AGAIN("api.Event/Health", get_health, UNARY, NONE, NONE, ANYONE, 0) \
    METHOD("berth.api.Berth/UncordonNode", uncordon_node, UNARY, CORDON_NODES, \
           NONE, SERVER, 0)                                                    \
    METHOD("berth.api.Berth/ListJobs", list_jobs, UNARY, WATCH_ALL_EVENTS,     \
           WATCH, JOBS, 0)                                                     \
    METHOD("berth.api.Berth/ExplainJob", explain_job, UNARY, WATCH_ALL_EVENTS, \
           WATCH, JOBS, 0)                                                     \
    METHOD("berth.api.Berth/GetQueueShares", get_queue_shares, UNARY, NONE,    \
           NONE, ANYONE, 0)                                                    \
    METHOD("berth.api.Berth/GetPermissions", get_permissions, UNARY, NONE,     \
           NONE, ANYONE, 0)                                                    \
    METHOD("berth.api.Berth/WhatIf", what_if, UNARY, WATCH_ALL_EVENTS, NONE,   \
           SERVER, 0)                                                          \
    METHOD("berth.api.Berth/ListNodes", list_nodes, UNARY, NONE, NONE, ANYONE, \
           0)                                                                  \
    METHOD("berth.api.Berth/ListExecutors", list_executors, UNARY, NONE, NONE, \
           ANYONE, 0)                                                          \
    METHOD("berth.api.Berth/QuarantineNode", quarantine_node, UNARY,           \
           CORDON_NODES, NONE, SERVER, 0)                                      \
    METHOD("berth.api.Berth/ReleaseNode", release_node, UNARY, CORDON_NODES,   \
           NONE, SERVER, 0)                                                    \
    METHOD("berth.api.Berth/GetApplications", get_applications, UNARY,         \
           WATCH_ALL_EVENTS, WATCH, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/CreatePool", create_pool, UNARY, CREATE_POOL,      \
           NONE, SERVER, 0)                                                    \
    METHOD("berth.api.Berth/UpdatePool", update_pool, UNARY, CREATE_POOL,      \
           NONE, SERVER, 0)                                                    \
    METHOD("berth.api.Berth/DeletePool", delete_pool, UNARY, DELETE_POOL,      \
           NONE, SERVER, 0)                                                    \
    METHOD("berth.api.Berth/ListPools", list_pools, UNARY, NONE, NONE, ANYONE, \
           0)                                                                  \
    METHOD("berth.api.Berth/CreateMaintenanceWindow",                          \
           create_maintenance_window, UNARY, CORDON_NODES, NONE, SERVER, 0)    \
    METHOD("berth.api.Berth/UpdateMaintenanceWindow",                          \
           update_maintenance_window, UNARY, CORDON_NODES, NONE, SERVER, 0)    \
    METHOD("berth.api.Berth/DeleteMaintenanceWindow",                          \
           delete_maintenance_window, UNARY, CORDON_NODES, NONE, SERVER, 0)    \
    METHOD("berth.api.Berth/ListMaintenanceWindows", list_maintenance_windows, \
           UNARY, NONE, NONE, ANYONE, 0)                                       \
    METHOD("berth.api.Berth/CheckJobs", check_jobs, UNARY, SUBMIT_ANY_JOBS,    \
           SUBMIT, QUEUE, 0)                                                   \
    METHOD("berth.api.Berth/HoldJobs", hold_jobs, UNARY,                       \
           REPRIORITIZE_ANY_JOBS, REPRIORITIZE, QUEUE, 0)                      \
    METHOD("berth.api.Berth/ListPodGroups", list_pod_groups, UNARY,            \
           WATCH_ALL_EVENTS, WATCH, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/ListJobSets", list_job_sets, UNARY,                \
           WATCH_ALL_EVENTS, WATCH, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/GetUsage", get_usage, UNARY, WATCH_ALL_EVENTS,     \
           WATCH, QUEUE, 0)                                                    \
    METHOD("berth.api.Berth/CreatePeriodicJob", create_periodic_job, UNARY,    \
           SUBMIT_ANY_JOBS, SUBMIT, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/UpdatePeriodicJob", update_periodic_job, UNARY,    \
           SUBMIT_ANY_JOBS, SUBMIT, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/SuspendPeriodicJob", suspend_periodic_job, UNARY,  \
           CANCEL_ANY_JOBS, CANCEL, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/DeletePeriodicJob", delete_periodic_job, UNARY,    \
           CANCEL_ANY_JOBS, CANCEL, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/ListPeriodicJobs", list_periodic_jobs, UNARY,      \
           WATCH_ALL_EVENTS, WATCH, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/SubmitTrainingJob", submit_training_job, UNARY,    \
           SUBMIT_ANY_JOBS, SUBMIT, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/UpdateTrainingJob", update_training_job, UNARY,    \
           REPRIORITIZE_ANY_JOBS, REPRIORITIZE, QUEUE, 0)                      \
    METHOD("berth.api.Berth/DeleteTrainingJob", delete_training_job, UNARY,    \
           CANCEL_ANY_JOBS, CANCEL, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/ListTrainingJobs", list_training_jobs, UNARY,      \
           WATCH_ALL_EVENTS, WATCH, QUEUE, 0)                                  \
    METHOD("berth.api.Berth/Backup", backup, SERVER_STREAM, BACKUP, NONE,      \
           SERVER, 0)                                                          \
    METHOD("api.Jobs/GetJobStatus", get_job_status, UNARY, WATCH_ALL_EVENTS,   \
           WATCH, JOBS, 0)                                                     \
    METHOD("api.Jobs/GetJobStatusUsingExternalJobUri", get_job_status_by_uri,  \
           UNARY, WATCH_ALL_EVENTS, WATCH, JOBS, 0)                            \
    METHOD("api.Jobs/GetJobDetails", get_job_details, UNARY, WATCH_ALL_EVENTS, \
           WATCH, JOBS, 0)                                                     \
    METHOD("api.Jobs/GetJobErrors", get_job_errors, UNARY, WATCH_ALL_EVENTS,   \
           WATCH, JOBS, 0)                                                     \
    METHOD("api.Jobs/GetJobRunDetails", get_job_run_details, UNARY,            \
           WATCH_ALL_EVENTS, WATCH, JOBS, 0)                                   \
    METHOD("api.Jobs/GetActiveQueues", get_active_queues, UNARY, NONE, NONE,   \
           ANYONE, 0)                                                          \
    METHOD("api.Executor/UpsertExecutorSettings", upsert_executor_settings,    \
           UNARY, UPDATE_EXECUTOR_SETTINGS, NONE, SERVER, 0)                   \
    METHOD("api.Executor/DeleteExecutorSettings", delete_executor_settings,    \
           UNARY, UPDATE_EXECUTOR_SETTINGS, NONE, SERVER, 0)                   \
    METHOD("api.Executor/DeleteExecutor", delete_executor, UNARY,              \
           UPDATE_EXECUTOR_SETTINGS, NONE, SERVER, 0)                          \
    METHOD("api.Executor/CancelOnExecutor", cancel_on_executor, UNARY,         \
           CANCEL_ANY_JOBS, NONE, SERVER, 0)                                   \
    METHOD("api.Executor/PreemptOnExecutor", preempt_on_executor, UNARY,       \
           PREEMPT_ANY_JOBS, NONE, SERVER, 0)                                  \
    METHOD("api.Node/CancelOnNode", cancel_on_node, UNARY, CANCEL_ANY_JOBS,    \
           NONE, SERVER, 0)                                                    \
    METHOD("api.Node/PreemptOnNode", preempt_on_node, UNARY, PREEMPT_ANY_JOBS, \
           NONE, SERVER, 0)                                                    \
    METHOD("schedulerobjects.SchedulerReporting/GetSchedulingReport",          \
           get_scheduling_report, UNARY, WATCH_ALL_EVENTS, WATCH, JOBS, 0)     \
    METHOD("schedulerobjects.SchedulerReporting/GetQueueReport",               \
           get_queue_report, UNARY, NONE, NONE, ANYONE, 0)                     \
    METHOD("schedulerobjects.SchedulerReporting/GetJobReport", get_job_report, \
           UNARY, WATCH_ALL_EVENTS, WATCH, JOBS, 0)                            \
    METHOD("binoculars.Binoculars/Logs", get_logs, UNARY, WATCH_ALL_EVENTS,    \
           WATCH, JOBS, 0)                                                     \
    METHOD("berth.api.Berth/ListJobFiles", list_job_files, UNARY,              \
           WATCH_ALL_EVENTS, WATCH, JOBS, 0)                                   \
    METHOD("berth.api.Berth/ListJobObjects", list_job_objects, UNARY,          \
           WATCH_ALL_EVENTS, WATCH, JOBS, 0)                                   \
    METHOD("berth.api.Berth/ReadJobFile", read_job_file, UNARY,                \
           WATCH_ALL_EVENTS, WATCH, JOBS, 0)                                   \
    METHOD("berth.api.Berth/Exec", exec, BIDI, EXEC_ANY_JOBS, EXEC, JOBS, 0)   \
    METHOD("binoculars.Binoculars/Cordon", cordon_node, UNARY, CORDON_NODES,   \
           NONE, SERVER, 0)                                                    \
    METHOD("grpc.health.v1.Health/Check", check_health, UNARY, NONE, NONE,     \
           ANYONE, 0)                                                          \
    METHOD("grpc.health.v1.Health/Watch", watch_health, SERVER_STREAM, NONE,   \
           NONE, ANYONE, 0)                                                    \
    METHOD("berth.api.Berth/ServeLogs", serve_logs, BIDI, EXECUTE_JOBS, NONE,  \
           EXECUTOR, 0)                                                        \
    METHOD("berth.api.Berth/ServeExec", serve_exec, BIDI, EXECUTE_JOBS, NONE,  \
           EXECUTOR, 0)                                                        \
    METHOD("executorapi.ExecutorApi/LeaseJobRuns", lease_job_runs, BIDI,       \
           EXECUTE_JOBS, NONE, EXECUTOR, METHOD_IS_LARGE)                      \
    METHOD("executorapi.ExecutorApi/ReportEvents", report_events, UNARY,       \
           EXECUTE_JOBS, NONE, EXECUTOR, METHOD_IS_LARGE)
