/*
 * handlers - every method's handler, as the table in api.c names them; one
 * file per service.  Internal to the API.
 *
 * Each takes a call (api_call.h) and its request's bytes, which are valid until
 * it returns, and ends the call at once or later.
 */
#pragma once

#include "api/core/api_call.h"

/* Submit.SubmitJobs (submit.c). */
api_call_handler_fn handle_submit_jobs;
/* Submit.CancelJobs (job_control.c). */
api_call_handler_fn handle_cancel_jobs;
/* Submit.CancelJobSet. */
api_call_handler_fn handle_cancel_job_set;
/* Submit.ReprioritizeJobs. */
api_call_handler_fn handle_reprioritize_jobs;
/* Submit.PreemptJobs. */
api_call_handler_fn handle_preempt_jobs;
/* CreateQueue (queue_service.c). */
api_call_handler_fn handle_create_queue;
/* CreateQueues. */
api_call_handler_fn handle_create_queues;
/* UpdateQueue. */
api_call_handler_fn handle_update_queue;
/* UpdateQueues. */
api_call_handler_fn handle_update_queues;
/* DeleteQueue. */
api_call_handler_fn handle_delete_queue;
/* GetQueue. */
api_call_handler_fn handle_get_queue;
/* GetQueues. */
api_call_handler_fn handle_get_queues;
/* CordonQueue. */
api_call_handler_fn handle_cordon_queue;
/* UncordonQueue. */
api_call_handler_fn handle_uncordon_queue;
/* QueueService.CancelOnQueue (selection.c). */
api_call_handler_fn handle_cancel_on_queue;
/* QueueService.PreemptOnQueue. */
api_call_handler_fn handle_preempt_on_queue;
/* Executor.CancelOnExecutor. */
api_call_handler_fn handle_cancel_on_executor;
/* Executor.PreemptOnExecutor. */
api_call_handler_fn handle_preempt_on_executor;
/* Node.CancelOnNode. */
api_call_handler_fn handle_cancel_on_node;
/* Node.PreemptOnNode. */
api_call_handler_fn handle_preempt_on_node;
/* berth.api.Berth/CreatePool (pool_service.c). */
api_call_handler_fn handle_create_pool;
/* UpdatePool; likewise. */
api_call_handler_fn handle_update_pool;
/* DeletePool; likewise. */
api_call_handler_fn handle_delete_pool;
/* ListPools; likewise. */
api_call_handler_fn handle_list_pools;
/* ListPodGroups (gangs.c). */
api_call_handler_fn handle_list_pod_groups;
/* CreateRetryPolicy (retry_policy.c). */
api_call_handler_fn handle_create_retry_policy;
/* UpdateRetryPolicy. */
api_call_handler_fn handle_update_retry_policy;
/* DeleteRetryPolicy. */
api_call_handler_fn handle_delete_retry_policy;
/* GetRetryPolicy. */
api_call_handler_fn handle_get_retry_policy;
/* GetRetryPolicies. */
api_call_handler_fn handle_get_retry_policies;
/* Event.GetJobSetEvents (event.c). */
api_call_handler_fn handle_get_job_set_events;
/* Event.Watch. */
api_call_handler_fn handle_watch;
/* Jobs.GetJobStatus (jobs.c). */
api_call_handler_fn handle_get_job_status;
/* Jobs.GetJobStatusUsingExternalJobUri. */
api_call_handler_fn handle_get_job_status_by_uri;
/* Jobs.GetJobDetails. */
api_call_handler_fn handle_get_job_details;
/* Jobs.GetJobErrors. */
api_call_handler_fn handle_get_job_errors;
/* Jobs.GetJobRunDetails. */
api_call_handler_fn handle_get_job_run_details;
/* Jobs.GetActiveQueues. */
api_call_handler_fn handle_get_active_queues;
/* Append one event that stands in no queue in the caller's name, stamped
 * with the time; the call is answered when it is durable
 * (executor_service.c). */
void event_post(struct api_call *call, struct event *event);
/* Executor.UpsertExecutorSettings (executor_service.c). */
api_call_handler_fn handle_upsert_executor_settings;
/* Executor.DeleteExecutorSettings. */
api_call_handler_fn handle_delete_executor_settings;
/* Executor.DeleteExecutor. */
api_call_handler_fn handle_delete_executor;
/* SchedulerReporting.GetSchedulingReport (reporting.c). */
api_call_handler_fn handle_get_scheduling_report;
/* SchedulerReporting.GetQueueReport. */
api_call_handler_fn handle_get_queue_report;
/* SchedulerReporting.GetJobReport. */
api_call_handler_fn handle_get_job_report;
/* Binoculars.Logs (binoculars.c). */
api_call_handler_fn handle_get_logs;
/* Binoculars.Cordon. */
api_call_handler_fn handle_cordon_node;
/* berth.api.Berth.UncordonNode. */
api_call_handler_fn handle_uncordon_node;
/* Berth.ListNodes (nodes.c). */
api_call_handler_fn handle_list_nodes;
/* Berth.ListExecutors. */
api_call_handler_fn handle_list_executors;
/* Berth.QuarantineNode. */
api_call_handler_fn handle_quarantine_node;
/* Berth.ReleaseNode. */
api_call_handler_fn handle_release_node;
/* Berth.ListJobs (berth_service.c). */
api_call_handler_fn handle_list_jobs;
/* Berth.ExplainJob. */
api_call_handler_fn handle_explain_job;
/* Berth.GetQueueShares. */
api_call_handler_fn handle_get_queue_shares;
/* Berth.GetApplications (applications.c). */
api_call_handler_fn handle_get_applications;
/* Berth.SubmitTrainingJob (training.c). */
api_call_handler_fn handle_submit_training_job;
/* Berth.UpdateTrainingJob. */
api_call_handler_fn handle_update_training_job;
/* Berth.DeleteTrainingJob. */
api_call_handler_fn handle_delete_training_job;
/* Berth.ListTrainingJobs. */
api_call_handler_fn handle_list_training_jobs;
/* Berth.Backup (backup.c). */
api_call_handler_fn handle_backup;
/* Submit.Health and Event.Health (health.c). */
api_call_handler_fn handle_get_health;
/* grpc.health.v1 Check. */
api_call_handler_fn handle_check_health;
/* grpc.health.v1 Watch. */
api_call_handler_fn handle_watch_health;
/* Berth.ServeLogs (log_hub.c). */
api_call_handler_fn handle_serve_logs;
/* ExecutorApi.LeaseJobRuns (lease.c). */
api_call_handler_fn handle_lease_job_runs;
/* ExecutorApi.ReportEvents (report.c). */
api_call_handler_fn handle_report_events;
