#include "main/berthd/metric_table.h"

#include <string.h>

/* By name.  Names that do not begin with berth_ are those of Armada, of other
 * schedulers whose dashboards people bring along, and of Prometheus' own client
 * libraries; they stay as they are. */
static const struct metric_row rows[] = {
    {"armada_cluster_available_capacity", "gauge", "the resource's own",
     "cluster, pool, resourceType",
     "Capacity of an executor's nodes that get new work."},
    {"armada_cluster_capacity", "gauge", "the resource's own",
     "cluster, pool, resourceType", "Capacity of an executor's nodes."},
    {"armada_cluster_cordoned_status", "gauge", "", "cluster, reason",
     "Whether an executor is cordoned."},
    {"armada_executor_run_phase", "gauge", "", "",
     "Runs of the executor of --standalone."},
    {"armada_queue_resource_allocated", "gauge", "the resource's own",
     "pool, queueName, queue, resourceType",
     "Resources that the leased jobs of a queue request, in the resource's own "
     "unit."},
    {"armada_queue_size", "gauge", "", "queueName, queue, state",
     "Jobs waiting in a queue."},
    {"armada_scheduler_actual_share", "gauge", "fraction", "pool, queue",
     "Share of running jobs."},
    {"armada_scheduler_adjusted_fair_share", "gauge", "fraction", "pool, queue",
     "Fair share, with what queues with less demand leave."},
    {"armada_scheduler_considered_jobs", "gauge", "", "pool, queue",
     "Jobs that the last round considered."},
    {"armada_scheduler_demand", "gauge", "fraction", "pool, queue",
     "Share of running and waiting jobs."},
    {"armada_scheduler_fair_share", "gauge", "fraction", "pool, queue",
     "Fair share by weight."},
    {"armada_scheduler_job_state_counter_by_queue", "counter", "",
     "queue, pool, state, priorState",
     "Jobs that changed from one state to another since this server became "
     "leader."},
    {"armada_scheduler_leader_status", "gauge", "", "name",
     "Whether this server is the leader."},
    {"armada_scheduler_queue_weight", "gauge", "", "pool, queue",
     "Weight of the queue."},
    {"berth_admitted_jobs", "gauge", "", "pool",
     "Jobs and gangs whose turn has come and that wait for nodes."},
    {"berth_data_free_bytes", "gauge", "bytes", "",
     "Free space of the file system with the data directory."},
    {"berth_data_size_bytes", "gauge", "bytes", "",
     "Size of the file system with the data directory."},
    {"berth_event_streams", "gauge", "", "", "Event streams that are open."},
    {"berth_events_total", "counter", "", "",
     "Events applied to the live state."},
    {"berth_executor_connected", "gauge", "", "",
     "Whether the executor of --standalone is connected."},
    {"berth_executor_duplicate_ids_total", "counter", "", "",
     "Requests refused because another executor with the same id is "
     "connected."},
    {"berth_executor_events_total", "counter", "", "",
     "Events that the executor of --standalone reported."},
    {"berth_executor_repeats_total", "counter", "", "",
     "Stops and forgets that the executor of --standalone asked its runtime "
     "for again, because they were not done in time."},
    {"berth_executor_silent_seconds", "gauge", "seconds", "cluster",
     "Time since an executor's last report."},
    {"berth_executor_stale", "gauge", "", "cluster",
     "Whether an executor has missed three or more heartbeats."},
    {"berth_executor_twins_total", "counter", "", "",
     "Old name of berth_executor_duplicate_ids_total; the next release drops "
     "it."},
    {"berth_executors", "gauge", "", "", "Executors that the server knows."},
    {"berth_fairness_claims_total", "counter", "", "",
     "Jobs and gangs for which others were preempted for fairness."},
    {"berth_fairness_wait_seconds_total", "counter", "seconds", "",
     "How long these had waited since they were submitted, or last requeued."},
    {"berth_forecast_coverage", "gauge", "fraction", "quantile",
     "Jobs that started by the time that their first forecast named with that "
     "chance."},
    {"berth_forecast_error_seconds", "gauge", "seconds", "",
     "How far their first forecasts (p50) were off, earlier or later, mean."},
    {"berth_forecast_jobs", "gauge", "", "",
     "Waiting jobs with a forecast of their start."},
    {"berth_forecast_started_jobs", "gauge", "", "",
     "Jobs with a forecast that started in the last 24 hours; the other "
     "metrics of forecasts are about these, and have no series without one."},
    {"berth_forecast_wait_seconds", "gauge", "seconds", "",
     "How long they waited after their first forecast, mean."},
    {"berth_gang_pods_grown_total", "counter", "", "",
     "Pods by which running gangs grew."},
    {"berth_gang_pods_shrunk_total", "counter", "", "",
     "Pods above its minimum that a gang lost to other work or to the load "
     "ceiling."},
    {"berth_grpc_calls", "gauge", "", "", "gRPC calls in progress."},
    {"berth_grpc_connections", "gauge", "", "",
     "Connections to the gRPC port."},
    {"berth_grpc_connections_accepted_total", "counter", "", "",
     "Connections accepted."},
    {"berth_grpc_connections_ended_total", "counter", "", "",
     "Connections closed because of what they sent."},
    {"berth_grpc_connections_refused_total", "counter", "", "",
     "Connections closed at once: over server.maxConnections, "
     "server.maxConnectionsPerAddress or the limit of open files."},
    {"berth_grpc_connections_silent_total", "counter", "", "",
     "Connections closed because no request came in time."},
    {"berth_info", "gauge", "", "version",
     "Always 1; the label has the version of the server."},
    {"berth_jobs", "gauge", "", "state", "Jobs that have not ended, by state."},
    {"berth_jobs_cancelled_total", "counter", "", "",
     "Jobs that were cancelled."},
    {"berth_jobs_duplicate_total", "counter", "", "",
     "Submissions with a client id that was already known."},
    {"berth_jobs_failed_total", "counter", "", "", "Jobs that failed."},
    {"berth_jobs_leased_total", "counter", "", "", "Jobs leased to executors."},
    {"berth_jobs_preempted_total", "counter", "", "",
     "Jobs that were preempted."},
    {"berth_jobs_submitted_total", "counter", "", "", "Jobs accepted."},
    {"berth_jobs_succeeded_total", "counter", "", "", "Jobs that succeeded."},
    {"berth_log_batches_failed_total", "counter", "", "",
     "Batches that the log refused."},
    {"berth_log_batches_total", "counter", "", "",
     "Batches written durably to the log."},
    {"berth_log_seq", "gauge", "", "",
     "Sequence number of the last record applied."},
    {"berth_log_size_bytes", "gauge", "bytes", "",
     "Size of log.db and its WAL."},
    {"berth_maintenance_windows", "gauge", "", "state",
     "Maintenance windows that are planned, or have begun (open)."},
    {"berth_metrics_queues_left_out", "gauge", "", "",
     "Queues without metrics of their own, see server.maxMetricQueues."},
    {"berth_nodes", "gauge", "", "", "Nodes that the server knows."},
    {"berth_nodes_quarantined", "gauge", "", "state",
     "Nodes that get no new work, or one job at a time, because jobs failed "
     "there."},
    {"berth_notifications_dropped_total", "counter", "", "target, reason",
     "Notifications that a target will not get: there was no room (full), it "
     "refused them (refused), or they were tried for too long (expired)."},
    {"berth_notifications_retried_total", "counter", "", "target",
     "Attempts that failed and are made again."},
    {"berth_notifications_sent_total", "counter", "", "target",
     "Notifications delivered."},
    {"berth_notifications_waiting", "gauge", "", "target",
     "Notifications that are not delivered yet."},
    {"berth_periodic_jobs", "gauge", "", "state",
     "Periodic jobs that have a next moment (active), or have none."},
    {"berth_periodic_runs_total", "counter", "", "outcome",
     "Moments of periodic jobs, by what became of them, since this server "
     "became leader."},
    {"berth_preempted_run_seconds_total", "counter", "seconds", "reason",
     "How long preempted runs had run, by reason."},
    {"berth_preemptions_total", "counter", "", "reason",
     "Runs preempted, by reason."},
    {"berth_queue_applications", "gauge", "", "queue, state",
     "Applications of a queue that is ordered by applications, by state."},
    {"berth_queue_budget_left_minutes", "gauge", "resource-minutes",
     "pool, queue", "Resource-minutes left in the excess budget."},
    {"berth_queue_flow", "gauge", "fraction", "pool, queue",
     "Share of running and admitted jobs, with past usage that still counts."},
    {"berth_queue_infinite_flow", "gauge", "fraction", "pool, queue",
     "Flow of work with an infinite lifetime."},
    {"berth_queue_usage", "gauge", "fraction", "pool, queue",
     "Share of running and admitted jobs."},
    {"berth_queue_wait_seconds", "summary", "seconds", "queue",
     "Time from submission to the first lease, of jobs leased since this "
     "server became leader."},
    {"berth_queues", "gauge", "", "", "Queues that exist."},
    {"berth_reservation_start_time_seconds", "gauge", "seconds", "pool",
     "When the admitted job or gang for which the pool keeps nodes has room at "
     "the latest (t*), in seconds since 1970; no series while there is none or "
     "nothing bounds it."},
    {"berth_round_seconds_last", "gauge", "seconds", "",
     "Time that the last round took."},
    {"berth_round_seconds_max", "gauge", "seconds", "",
     "Time that the longest round took."},
    {"berth_round_seconds_total", "counter", "seconds", "",
     "Time spent in rounds."},
    {"berth_rounds_balance_total", "counter", "", "",
     "Old name of berth_rounds_full_total; the next release drops it."},
    {"berth_rounds_fast_total", "counter", "", "", "Fast rounds."},
    {"berth_rounds_full_total", "counter", "", "", "Full rounds."},
    {"berth_rounds_spent_total", "counter", "", "",
     "Rounds that reached maxSchedulingDuration."},
    {"berth_scrub_bytes_total", "counter", "bytes", "",
     "Read of log and store to see that they are whole."},
    {"berth_scrub_damaged_total", "counter", "", "",
     "Pages and records found damaged by that, each once in a pass."},
    {"berth_scrub_passes_total", "counter", "", "",
     "Complete passes over log and store; about one a day."},
    {"berth_scrub_progress", "gauge", "", "",
     "How far the pass under way has come, 0 to 1."},
    {"berth_store_behind_bytes", "gauge", "bytes", "",
     "Memory of submissions that are not in the query store yet, see "
     "store.maxBehindBytes."},
    {"berth_store_behind_jobs", "gauge", "", "",
     "Jobs that were submitted and are not in the query store yet."},
    {"berth_store_seq", "gauge", "", "", "Last record in the query store."},
    {"berth_store_size_bytes", "gauge", "bytes", "",
     "Size of store.db and its WAL."},
    {"berth_submit_to_round_seconds", "histogram", "seconds", "le",
     "Time from a submission to the end of the first round that could consider "
     "it: of the oldest submission of each round that had any."},
    {"process_cpu_seconds_total", "counter", "seconds", "",
     "Processor time that berthd has used."},
    {"process_max_fds", "gauge", "", "",
     "Limit of files and sockets that berthd may open."},
    {"process_open_fds", "gauge", "", "",
     "Files and sockets that berthd has open."},
    {"process_resident_memory_bytes", "gauge", "bytes", "",
     "Memory that berthd uses."},
    {"process_start_time_seconds", "gauge", "seconds", "",
     "When berthd started, in seconds since 1970."},
    {"process_virtual_memory_bytes", "gauge", "bytes", "",
     "Address space that berthd uses."},
    {"scheduler_pod_preemption_victims", "gauge", "", "",
     "Runs preempted by the last decision that preempted any."},
    {"scheduler_pool_features", "gauge", "", "pool, feature",
     "Whether a feature of a pool is on."},
    {"scheduler_pool_figures_age_seconds", "gauge", "seconds", "pool",
     "Age of the figures of a pool that is being planned."},
    {"scheduler_pool_nodes", "gauge", "", "pool, node", "Nodes of a pool."},
    {"scheduler_pool_queue_details", "gauge", "", "pool, type",
     "Jobs waiting in a pool: its own, and those that would borrow from it."},
    {"scheduler_pool_queue_pods", "gauge", "",
     "pool, pod_name, schedule_status", "Some of the waiting pods."},
    {"scheduler_pool_resource_details", "gauge", "the resource's own",
     "pool, resource, type",
     "Resources of a pool and their use, in the resource's own unit."},
    {"scheduler_schedule_attempts_total", "counter", "", "result",
     "Attempts to place a job: leases, attempts without a place (one for all "
     "equal jobs), batches that the log refused."},
    {"scheduler_scheduling_algorithm_duration_seconds", "histogram", "seconds",
     "le", "Time that rounds took."},
    {"scheduler_total_preemption_attempts", "counter", "", "",
     "Decisions that preempted runs for other work."},
};

const struct metric_row *metric_rows(uint32_t *ret_count)
{
    *ret_count = ARRAY_COUNT(rows);
    return rows;
}

static const struct metric_row *find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

void metric_head(struct strbuf *out, const char *name)
{
    const struct metric_row *row = find(name);

    ASSERT(row); /* what is served is documented */
    strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, row->about, name,
                row->type);
}

void metric_print_manual(struct strbuf *out)
{
    strbuf_add_text(out, "| metric | type | unit | labels | meaning |\n"
                         "|---|---|---|---|---|\n");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        strbuf_addf(out, "| `%s` | %s | %s | %s | %s |\n", rows[i].name,
                    rows[i].type, rows[i].unit, rows[i].labels, rows[i].about);
    }
}
