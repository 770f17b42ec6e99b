#include "main/berthd/pages.h"

#include "main/berthd/forecast_page.h"
#include "main/berthd/leader_query.h"
#include "main/berthd/machine_page.h"
#include "main/berthd/metric_table.h"
#include "main/berthd/notify_page.h"
#include "main/berthd/pool_page.h"
#include "main/berthd/queue_choice.h"
#include "main/berthd/queue_page.h"
#include "main/berthd/round_page.h"
#include "wire/text/printable.h"

enum {
    SHARES_TIMEOUT_MS = 2000,
    LISTENING_MS_MAX = 5000, /* since the listener was last heard of */
};

static void serve_health(void *ctx, const struct http_request *request,
                         struct http_reply *reply)
{
    struct pages *pages = ctx;
    struct control_metrics metrics;

    (void)request;
    leader_metrics(pages->leader, &metrics);
    bool is_well = metrics.state == CONTROL_LEADING &&
                   rpc_server_is_listening(pages->server, LISTENING_MS_MAX);
    reply->status = is_well ? 204 : 503; /* as Armada says it */
    strbuf_add_text(&reply->body, is_well ? "" : "not serving\n");
}

/* One metric with its head. */
static void put(struct strbuf *out, const char *name, double value)
{
    metric_head(out, name);
    strbuf_addf(out, "%s %.12g\n", name, value);
}

static void put_counters(struct strbuf *out, const struct control_metrics *m)
{

    put(out, "berth_log_batches_total", (double)m->batch_count);
    put(out, "berth_log_batches_failed_total", (double)m->batch_failed_count);
    put(out, "berth_events_total", (double)m->event_count);
    put(out, "berth_jobs_submitted_total", (double)m->submitted_count);
    put(out, "berth_jobs_duplicate_total", (double)m->duplicate_count);
    put(out, "berth_jobs_leased_total", (double)m->leased_count);
    put(out, "berth_jobs_succeeded_total", (double)m->succeeded_count);
    put(out, "berth_jobs_failed_total", (double)m->failed_count);
    put(out, "berth_jobs_cancelled_total", (double)m->cancelled_count);
    put(out, "berth_jobs_preempted_total", (double)m->preempted_count);
    put(out, "berth_executor_duplicate_ids_total",
        (double)m->duplicate_id_count);
    put(out, "berth_executor_twins_total", (double)m->duplicate_id_count);
    put(out, "berth_rounds_fast_total", (double)m->fast_round_count);
    put(out, "berth_rounds_full_total", (double)m->balance_round_count);
    put(out, "berth_rounds_balance_total", (double)m->balance_round_count);
    put(out, "berth_rounds_spent_total", (double)m->spent_round_count);
    put(out, "berth_round_seconds_total", (double)m->round_us_sum / 1e6);
}

static void put_gauges(struct strbuf *out, const struct control_metrics *m)
{
    bool is_leading = m->state == CONTROL_LEADING;

    metric_head(out, "armada_scheduler_leader_status");
    strbuf_addf(out, "armada_scheduler_leader_status{name=\"berthd\"} %d\n",
                is_leading);
    put(out, "berth_log_seq", (double)m->seq);
    metric_head(out, "berth_jobs");
    strbuf_addf(out,
                "berth_jobs{state=\"queued\"} %u\n"
                "berth_jobs{state=\"leased\"} %u\n"
                "berth_jobs{state=\"pending\"} %u\n"
                "berth_jobs{state=\"running\"} %u\n",
                m->queued_count, m->leased_now_count, m->pending_count,
                m->running_count);
    put(out, "berth_queues", m->queue_count);
    put(out, "berth_executors", m->executor_count);
    metric_head(out, "berth_maintenance_windows");
    strbuf_addf(out,
                "berth_maintenance_windows{state=\"planned\"} %u\n"
                "berth_maintenance_windows{state=\"open\"} %u\n",
                m->window_count - m->open_window_count, m->open_window_count);
    put(out, "berth_nodes", m->node_count);
    metric_head(out, "berth_periodic_jobs");
    strbuf_addf(out,
                "berth_periodic_jobs{state=\"active\"} %u\n"
                "berth_periodic_jobs{state=\"suspended\"} %u\n",
                m->active_periodic_count,
                m->periodic_count - m->active_periodic_count);
    metric_head(out, "berth_periodic_runs_total");
    strbuf_addf(out,
                "berth_periodic_runs_total{outcome=\"submitted\"} %llu\n"
                "berth_periodic_runs_total{outcome=\"skipped\"} %llu\n"
                "berth_periodic_runs_total{outcome=\"missed\"} %llu\n"
                "berth_periodic_runs_total{outcome=\"refused\"} %llu\n",
                (unsigned long long)m->periodic_counts[PERIODIC_SUBMITTED],
                (unsigned long long)m->periodic_counts[PERIODIC_SKIPPED],
                (unsigned long long)m->periodic_counts[PERIODIC_MISSED],
                (unsigned long long)m->periodic_counts[PERIODIC_REFUSED]);
    metric_head(out, "berth_nodes_quarantined");
    strbuf_addf(out,
                "berth_nodes_quarantined{state=\"out\"} %u\n"
                "berth_nodes_quarantined{state=\"trial\"} %u\n",
                m->quarantined_count, m->trial_count);
    put(out, "berth_round_seconds_last", (double)m->round_us_last / 1e6);
    put(out, "berth_round_seconds_max", (double)m->round_us_max / 1e6);
}

/* Whether a backslash stands before what an escape of ours begins with. */
static bool is_like_escape(struct str text, size_t at)
{
    struct str rest = str_make(text.p + at, text.byte_count - at);

    return str_starts_with(rest, STR("\\x")) ||
           str_starts_with(rest, STR("\\u{"));
}

void pages_put_label(struct strbuf *out, struct str value)
{
    for (size_t at = 0, byte_count; at < value.byte_count;
         at += byte_count ? byte_count : 1) {
        uint32_t c;
        byte_count = wire_next_char(value, at, &c);
        if (c == '\n') {
            strbuf_add_text(out, "\\n");
        } else if (byte_count == 0 || wire_is_hidden(c) ||
                   is_like_escape(value, at)) {
            strbuf_add_char(out, '\\'); /* of the escape */
            wire_put_escape(c, PRINTABLE_LINE, out);
        } else {
            strbuf_add_text(out, c == '"' || c == '\\' ? "\\" : "");
            strbuf_add(out, value.p + at, byte_count);
        }
    }
}

void pages_put_named(struct strbuf *out, const char *first, const char *name,
                     struct str value)
{
    strbuf_addf(out, "%s%s=\"", first, name);
    pages_put_label(out, value);
    strbuf_add_char(out, '"');
}

static void put_capacity(struct strbuf *out, const char *name,
                         const struct executor_status *row,
                         const struct resource_list *amounts)
{
    for (uint32_t i = 0; i < amounts->count; i++) {
        strbuf_add_text(out, name);
        pages_put_named(out, "{", "cluster", row->name);
        pages_put_named(out, ",", "pool", row->pool);
        pages_put_named(out, ",", "resourceType", amounts->items[i].name);
        strbuf_addf(out, "} %.15g\n", (double)amounts->items[i].milli / 1e3);
    }
}

/* What a series says of an executor, after its name. */
typedef void put_executor_fn(struct strbuf *out,
                             const struct executor_status *row);

/* One series an executor: its rows stand together. */
static void put_executors(struct strbuf *out, const struct command *command,
                          const char *name, put_executor_fn *put_value)
{
    metric_head(out, name);
    for (uint32_t i = 0; i < command->executors.row_count; i++) {
        const struct executor_status *row = &command->executors.rows[i];
        if (i == 0 || !str_equal(row->name, row[-1].name)) {
            strbuf_add_text(out, name);
            pages_put_named(out, "{", "cluster", row->name);
            put_value(out, row);
        }
    }
}

static void put_cordon(struct strbuf *out, const struct executor_status *row)
{
    pages_put_named(out, ",", "reason", row->cordon_reason);
    strbuf_addf(out, "} %d\n", row->is_cordoned);
}

static void put_silence(struct strbuf *out, const struct executor_status *row)
{
    strbuf_addf(out, "} %.12g\n", (double)row->silent_ms / 1e3);
}

static void put_stale(struct strbuf *out, const struct executor_status *row)
{
    strbuf_addf(out, "} %d\n", strcmp(row->state, "live") != 0);
}

static void put_clusters(struct strbuf *out, const struct command *command)
{
    static const char all[] = "armada_cluster_capacity";
    static const char open[] = "armada_cluster_available_capacity";

    metric_head(out, all);
    for (uint32_t i = 0; i < command->executors.row_count; i++) {
        const struct executor_status *row = &command->executors.rows[i];
        put_capacity(out, all, row, &row->capacity);
    }
    metric_head(out, open);
    for (uint32_t i = 0; i < command->executors.row_count; i++) {
        const struct executor_status *row = &command->executors.rows[i];
        put_capacity(out, open, row, &row->available);
    }
    put_executors(out, command, "armada_cluster_cordoned_status", put_cordon);
    put_executors(out, command, "berth_executor_silent_seconds", put_silence);
    put_executors(out, command, "berth_executor_stale", put_stale);
}

static void put_executor(struct strbuf *out, struct executor_thread *thread)
{
    struct executor_stats stats = executor_thread_stats(thread);

    put(out, "armada_executor_run_phase", stats.run_count);
    put(out, "berth_executor_connected", stats.is_connected);
    put(out, "berth_executor_events_total", (double)stats.event_count);
    put(out, "berth_executor_repeats_total", (double)stats.repeat_count);
}

static void put_unstored(struct strbuf *out, struct api *api)
{
    uint64_t job_count;
    size_t byte_count;

    api_unstored(api, &job_count, &byte_count);
    put(out, "berth_store_behind_jobs", (double)job_count);
    put(out, "berth_store_behind_bytes", (double)byte_count);
}

static void put_connections(struct strbuf *out, struct rpc_server *server)
{
    struct rpc_server_connections now;

    rpc_server_connections(server, &now);
    put(out, "berth_grpc_connections", now.open_count);
    put(out, "berth_grpc_connections_accepted_total",
        (double)now.accepted_count);
    put(out, "berth_grpc_connections_refused_total", (double)now.refused_count);
    put(out, "berth_grpc_connections_silent_total", (double)now.silent_count);
    put(out, "berth_grpc_connections_ended_total", (double)now.ended_count);
}

static void put_scrub(struct strbuf *out, const struct scrubber *scrubber)
{
    struct scrubber_metrics metrics;

    scrubber_metrics(scrubber, &metrics);
    put(out, "berth_scrub_bytes_total", (double)metrics.byte_count);
    put(out, "berth_scrub_damaged_total", (double)metrics.damaged_count);
    put(out, "berth_scrub_passes_total", (double)metrics.pass_count);
    put(out, "berth_scrub_progress", metrics.progress);
}

static void serve_metrics(void *ctx, const struct http_request *request,
                          struct http_reply *reply)
{
    struct pages *pages = ctx;
    struct control_metrics metrics;
    struct strbuf *out = &reply->body;

    (void)request;
    reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
    leader_metrics(pages->leader, &metrics);
    machine_page_put(out, pages->dir);
    put_gauges(out, &metrics);
    put_counters(out, &metrics);
    round_page_put(out, &metrics);
    forecast_page_put(out, pages->forecasts,
                      pages->clock->wall_ms(pages->clock));
    put(out, "berth_store_seq", (double)projector_seq(pages->projector));
    put_scrub(out, pages->scrubber);
    notify_page_put(out, pages->notifier);
    put_unstored(out, pages->api);
    put(out, "berth_grpc_calls", rpc_server_call_count(pages->server));
    put_connections(out, pages->server);
    put(out, "berth_event_streams", api_watcher_count(pages->api));
    if (pages->executor) {
        put_executor(out, pages->executor);
    }
    auto_ptr(command) shares = leader_query(
        leader_inbox(pages->leader), COMMAND_QUERY_QUEUES, SHARES_TIMEOUT_MS);
    if (shares) {
        uint32_t left_count = queue_choice_keep(shares, pages->queue_count_max);
        put(out, "berth_metrics_queues_left_out", left_count);
        queue_page_put(out, shares);
    }
    auto_ptr(command) clusters =
        leader_query(leader_inbox(pages->leader), COMMAND_QUERY_EXECUTORS,
                     SHARES_TIMEOUT_MS);
    if (clusters) {
        put_clusters(out, clusters);
    }
    auto_ptr(command) pools = leader_query(
        leader_inbox(pages->leader), COMMAND_POOL_METRICS, SHARES_TIMEOUT_MS);
    if (pools) {
        pool_page_put(out, pools);
    }
}

struct http_server *pages_serve(struct pages *pages, const char *address,
                                struct err *err)
{
    struct http_route routes[] = {
        {"/health", serve_health, pages},
        {"/metrics", serve_metrics, pages},
    };
    struct http_options options = {
        .routes = routes,
        .route_count = ARRAY_COUNT(routes),
        .address = address,
    };

    return http_server_create(&options, err);
}
