#include "main/berthd/queue_page.h"

#include <inttypes.h>
#include <string.h>

#include "main/berthd/metric_table.h"
#include "main/berthd/pages.h"

/* How a share's member, an int64_t, becomes a metric. */
struct share_metric {
    const char *name;
    size_t at; /* of the member */
    double unit;
};

#define SHARE(name, member, unit)                        \
    {                                                    \
        name, offsetof(struct queue_share, member), unit \
    }
static const struct share_metric share_metrics[] = {
    SHARE("armada_scheduler_fair_share", fair_share_ppm, 1e6),
    SHARE("armada_scheduler_adjusted_fair_share", adjusted_share_ppm, 1e6),
    SHARE("armada_scheduler_actual_share", actual_share_ppm, 1e6),
    SHARE("armada_scheduler_demand", demand_share_ppm, 1e6),
    SHARE("armada_scheduler_queue_weight", weight_micro, 1e6),
    SHARE("armada_scheduler_considered_jobs", considered_count, 1),
    SHARE("berth_queue_usage", usage_ppm, 1e6),
    SHARE("berth_queue_flow", flow_ppm, 1e6),
    SHARE("berth_queue_infinite_flow", infinite_flow_ppm, 1e6),
    SHARE("berth_queue_budget_left_minutes", budget_left_milli, 1e3),
};

/* Less than 0 where there is no such limit: the line is left out. */
static double value_of(const struct share_metric *metric,
                       const struct queue_share *share)
{
    int64_t value;

    memcpy(&value, (const char *)share + metric->at, sizeof(value));
    return (double)value / metric->unit;
}

static void put_allocated(struct strbuf *out, const struct queue_share *share)
{
    for (uint32_t i = 0; i < share->allocated.count; i++) {
        const struct resource_amount *amount = &share->allocated.items[i];
        strbuf_add_text(out, "armada_queue_resource_allocated{pool=\"");
        pages_put_label(out, share->pool);
        strbuf_add_text(out, "\",queueName=\"");
        pages_put_label(out, share->queue);
        strbuf_add_text(out, "\",queue=\"");
        pages_put_label(out, share->queue);
        strbuf_add_text(out, "\",resourceType=\"");
        pages_put_label(out, amount->name);
        strbuf_addf(out, "\"} %.15g\n", (double)amount->milli / 1e3);
    }
}

static void put_app_count(struct strbuf *out, struct str queue,
                          const char *state, uint32_t count)
{
    strbuf_add_text(out, "berth_queue_applications{queue=\"");
    pages_put_label(out, queue);
    strbuf_addf(out, "\",state=\"%s\"} %u\n", state, count);
}

/* One line for each state of queues that go by applications. */
static void put_applications(struct strbuf *out, const struct command *command)
{
    metric_head(out, "berth_queue_applications");
    for (uint32_t i = 0; i < command->queues.share_count; i++) {
        const struct queue_share *share = &command->queues.shares[i];
        const struct application_counts *counts = &share->applications;
        if (!counts->is_by_applications ||
            !str_equal(share->pool, command->queues.shares[0].pool)) {
            continue;
        }
        put_app_count(out, share->queue, "accepted", counts->accepted);
        put_app_count(out, share->queue, "starting", counts->starting);
        put_app_count(out, share->queue, "running", counts->running);
        put_app_count(out, share->queue, "completing", counts->completing);
        put_app_count(out, share->queue, "completed", counts->completed);
    }
}

static void put_shares(struct strbuf *out, const struct command *command)
{
    for (size_t m = 0; m < ARRAY_COUNT(share_metrics); m++) {
        const struct share_metric *metric = &share_metrics[m];
        metric_head(out, metric->name);
        for (uint32_t i = 0; i < command->queues.share_count; i++) {
            const struct queue_share *share = &command->queues.shares[i];
            double value = value_of(metric, share);
            if (value < 0) {
                continue;
            }
            strbuf_addf(out, "%s{pool=\"", metric->name);
            pages_put_label(out, share->pool);
            strbuf_add_text(out, "\",queue=\"");
            pages_put_label(out, share->queue);
            strbuf_addf(out, "\"} %.12g\n", value);
        }
    }
    metric_head(out, "armada_queue_resource_allocated");
    for (uint32_t i = 0; i < command->queues.share_count; i++) {
        put_allocated(out, &command->queues.shares[i]);
    }
    metric_head(out, "armada_queue_size");
    for (uint32_t i = 0; i < command->queues.share_count; i++) {
        const struct queue_share *share = &command->queues.shares[i];
        /* This one has no label for the pool: tell of the first only. */
        if (!str_equal(share->pool, command->queues.shares[0].pool)) {
            continue;
        }
        strbuf_add_text(out, "armada_queue_size{queueName=\"");
        pages_put_label(out, share->queue);
        strbuf_add_text(out, "\",queue=\"");
        pages_put_label(out, share->queue);
        strbuf_addf(out, "\",state=\"validated\"} %u\n", share->queued_count);
    }
}

static void put_transitions(struct strbuf *out, const struct command *command)
{
    static const char name[] = "armada_scheduler_job_state_counter_by_queue";

    metric_head(out, name);
    for (uint32_t i = 0; i < command->queues.transition_count; i++) {
        const struct job_transition *t = &command->queues.transitions[i];
        strbuf_add_text(out, name);
        pages_put_named(out, "{", "queue", t->queue);
        pages_put_named(out, ",", "pool", t->pool);
        pages_put_named(out, ",", "state", str_of(t->after));
        pages_put_named(out, ",", "priorState", str_of(t->before));
        strbuf_addf(out, "} %" PRIu64 "\n", t->count);
    }
}

static void put_waits(struct strbuf *out, const struct command *command)
{
    static const char name[] = "berth_queue_wait_seconds";

    metric_head(out, name);
    for (uint32_t i = 0; i < command->queues.wait_count; i++) {
        const struct queue_wait *wait = &command->queues.waits[i];
        strbuf_addf(out, "%s_sum", name);
        pages_put_named(out, "{", "queue", wait->queue);
        strbuf_addf(out, "} %.15g\n%s_count", (double)wait->sum_ms / 1e3, name);
        pages_put_named(out, "{", "queue", wait->queue);
        strbuf_addf(out, "} %" PRIu64 "\n", wait->count);
    }
}

static void put_admitted(struct strbuf *out, const struct command *command)
{
    static const char count[] = "berth_admitted_jobs";
    static const char start[] = "berth_reservation_start_time_seconds";

    metric_head(out, count);
    for (uint32_t i = 0; i < command->queues.admitted_count; i++) {
        const struct pool_admitted *row = &command->queues.admitted[i];
        strbuf_add_text(out, count);
        pages_put_named(out, "{", "pool", row->pool);
        strbuf_addf(out, "} %u\n", row->count);
    }
    metric_head(out, start);
    for (uint32_t i = 0; i < command->queues.admitted_count; i++) {
        const struct pool_admitted *row = &command->queues.admitted[i];
        if (row->start_ms != INT64_MAX) {
            strbuf_add_text(out, start);
            pages_put_named(out, "{", "pool", row->pool);
            strbuf_addf(out, "} %.15g\n", (double)row->start_ms / 1e3);
        }
    }
}

void queue_page_put(struct strbuf *out, const struct command *command)
{
    put_shares(out, command);
    put_applications(out, command);
    put_transitions(out, command);
    put_waits(out, command);
    put_admitted(out, command);
}
