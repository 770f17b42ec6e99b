#include "sim/report/report.h"

#include <inttypes.h>

enum { MS_PER_S = 1000, HOUR_S = 3600, PERCENT = 100, NAME_COLUMNS = 20 };

static const struct resource_schema *schema_of(const struct report *report)
{
    return &report->tally->world->policy.schema;
}

bool report_has_resource(const struct report *report, uint32_t column)
{
    return report->tally->capacity_ms[column] > 0;
}

static double mean(double sum, uint64_t count)
{
    return count ? sum / (double)count : 0;
}

/* Hours of a resource whose work came to nothing. */
static double lost_h(const struct report *report, struct str resource)
{
    int column = resource_column(schema_of(report), resource);

    return column >= 0 ? report->result.lost_h[column] : 0;
}

/* For people. */

static void add_spread(struct strbuf *out, const char *name,
                       const struct tally_spread *spread)
{
    strbuf_addf(out,
                "%-13s mean %.1f   median %.1f   p90 %.1f   p99 %.1f   max "
                "%.1f\n",
                name, spread->mean, spread->p50, spread->p90, spread->p99,
                spread->max);
}

static void add_queues(const struct report *report, struct strbuf *out)
{
    const struct tally *tally = report->tally;

    strbuf_addf(out, "\n%-*s %8s %9s %9s %9s %9s %11s\n", NAME_COLUMNS, "queue",
                "due %", "obtained", "jobs", "started", "preempted",
                "mean wait s");
    for (size_t i = 0; i < tally->queues.count; i++) {
        const struct tally_queue *queue = &tally->queues.items[i];
        strbuf_addf(out,
                    "%-*.*s %8.2f %9.2f %9" PRIu64 " %9" PRIu64 " %9" PRIu64
                    " %11.1f\n",
                    NAME_COLUMNS, STR_ARG(queue->name),
                    PERCENT * mean(queue->due_sum, queue->active_count),
                    PERCENT * mean(queue->obtained_sum, queue->active_count),
                    queue->submitted_count, queue->started_count,
                    queue->preempted_count,
                    mean(queue->wait_sum_s, queue->started_count));
    }
}

/* How long it took, and what became of the jobs. */
static void add_jobs(const struct report *report, struct strbuf *out)
{
    const struct tally_result *result = &report->result;
    double virtual_s = (double)report->tally->world->now_ms / MS_PER_S;
    bool is_long = virtual_s >= HOUR_S;

    strbuf_addf(
        out, "%-13s %.1f %s virtual in %.2f s: %.0f virtual s a second\n",
        "time", is_long ? virtual_s / HOUR_S : virtual_s, is_long ? "h" : "s",
        report->took_s, report->took_s > 0 ? virtual_s / report->took_s : 0);
    strbuf_addf(out,
                "%-13s %" PRIu64 " submitted, %" PRIu64 " succeeded, %" PRIu64
                " failed, %" PRIu64 " rejected, %" PRIu64 " cancelled, %" PRIu64
                " never started",
                "jobs", result->submitted_count, result->succeeded_count,
                result->failed_count, result->rejected_count,
                result->cancelled_count, result->unstarted_count);
    if (result->lost_count) {
        strbuf_addf(out, ", %" PRIu64 " preempted for good",
                    result->lost_count);
    }
    if (result->unended_count) {
        strbuf_addf(out, ", %" PRIu64 " not ended", result->unended_count);
    }
    strbuf_add_char(out, '\n');
    if (result->rejected_count) {
        strbuf_addf(out, "%-13s %.*s\n", "first reason",
                    STR_ARG(report->tally->rejection));
    }
}

static void add_utilisation(const struct report *report, struct strbuf *out)
{
    strbuf_addf(out, "%-13s", "utilisation");
    for (uint32_t r = 0; r < schema_of(report)->column_count; r++) {
        if (report_has_resource(report, r)) {
            strbuf_addf(out, " %.*s %.2f %%  ",
                        STR_ARG(schema_of(report)->columns[r].name),
                        PERCENT * report->result.utilisation[r]);
        }
    }
    strbuf_add_char(out, '\n');
}

static double part(uint64_t count, uint64_t of)
{
    return of ? (double)count / (double)of : 0;
}

static double mean_s(int64_t ms_sum, uint64_t count)
{
    return count ? (double)ms_sum / MS_PER_S / (double)count : 0;
}

static void add_forecasts(const struct report *report, struct strbuf *out)
{
    const struct forecast_quality *q = &report->tally->forecasts;

    if (q->started_count) {
        strbuf_addf(out,
                    "%-13s of %" PRIu64 " starts: %.1f %% by p50, %.1f %% by "
                    "p90; error %.0f s, wait %.0f s\n",
                    "forecasts", q->started_count,
                    PERCENT * part(q->within_p50_count, q->started_count),
                    PERCENT * part(q->within_p90_count, q->p90_count),
                    mean_s(q->error_ms_sum, q->started_count),
                    mean_s(q->wait_ms_sum, q->started_count));
    }
}

void report_text(const struct report *report, struct strbuf *out)
{
    const struct tally_result *result = &report->result;

    strbuf_addf(out, "%.*s\n", STR_ARG(report->title));
    add_jobs(report, out);
    add_utilisation(report, out);
    add_spread(out, "wait s", &result->wait_s);
    add_spread(out, "slowdown", &result->slowdown);
    if (result->has_jain) {
        strbuf_addf(out, "%-13s %.4f\n", "Jain's index", result->jain);
    } else {
        strbuf_addf(out, "%-13s -\n", "Jain's index");
    }
    strbuf_addf(out, "%-13s %" PRIu64 "; work lost: %.1f core h, %.1f GPU h\n",
                "preemptions", result->preemption_count,
                lost_h(report, STR("cpu")),
                lost_h(report, STR("nvidia.com/gpu")));
    add_forecasts(report, out);
    strbuf_addf(out, "%-13s %016" PRIx64 "\n", "log digest", report->digest);
    add_queues(report, out);
}

/* JSON. */

void report_json_text(struct strbuf *out, struct str text)
{
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.byte_count; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < ' ') {
            strbuf_addf(out, "\\u%04x", c);
            continue;
        }
        if (c == '"' || c == '\\') {
            strbuf_add_char(out, '\\');
        }
        strbuf_add_char(out, (char)c);
    }
    strbuf_add_char(out, '"');
}

static void add_json_spread(struct strbuf *out, const char *name,
                            const struct tally_spread *spread)
{
    strbuf_addf(out,
                "\"%s\": {\"mean\": %.6f, \"p50\": %.6f, \"p90\": %.6f, "
                "\"p99\": %.6f, \"max\": %.6f}, ",
                name, spread->mean, spread->p50, spread->p90, spread->p99,
                spread->max);
}

static void add_json_queues(const struct report *report, struct strbuf *out)
{
    const struct tally *tally = report->tally;

    strbuf_add_text(out, "\"queues\": [");
    for (size_t i = 0; i < tally->queues.count; i++) {
        const struct tally_queue *queue = &tally->queues.items[i];
        strbuf_add_text(out, i ? ", {\"name\": " : "{\"name\": ");
        report_json_text(out, queue->name);
        strbuf_addf(out,
                    ", \"share_due\": %.6f, \"share_obtained\": %.6f, "
                    "\"jobs\": %" PRIu64 ", \"started\": %" PRIu64
                    ", \"preempted\": %" PRIu64 ", \"mean_wait_s\": %.6f}",
                    mean(queue->due_sum, queue->active_count),
                    mean(queue->obtained_sum, queue->active_count),
                    queue->submitted_count, queue->started_count,
                    queue->preempted_count,
                    mean(queue->wait_sum_s, queue->started_count));
    }
    strbuf_add_text(out, "]");
}

static void add_json_jobs(const struct report *report, struct strbuf *out)
{
    const struct tally_result *result = &report->result;

    strbuf_addf(
        out,
        ", \"jobs\": %" PRIu64 ", \"started\": %" PRIu64
        ", \"succeeded\": %" PRIu64 ", \"failed\": %" PRIu64
        ", \"rejected\": %" PRIu64 ", \"cancelled\": %" PRIu64
        ", \"never_started\": %" PRIu64 ", \"preempted_for_good\": %" PRIu64
        ", \"not_ended\": %" PRIu64 ", \"preemptions\": %" PRIu64
        ", \"makespan_s\": %.3f, \"virtual_s\": %.3f, ",
        result->submitted_count, result->started_count, result->succeeded_count,
        result->failed_count, result->rejected_count, result->cancelled_count,
        result->unstarted_count, result->lost_count, result->unended_count,
        result->preemption_count, (double)result->end_ms / MS_PER_S,
        (double)report->tally->world->now_ms / MS_PER_S);
    if (result->rejected_count) {
        strbuf_add_text(out, "\"first_rejection\": ");
        report_json_text(out, report->tally->rejection);
        strbuf_add_text(out, ", ");
    }
}

static void add_json_utilisation(const struct report *report,
                                 struct strbuf *out)
{
    const struct tally_result *result = &report->result;
    bool is_first = true;

    strbuf_add_text(out, "\"utilisation\": {");
    for (uint32_t r = 0; r < schema_of(report)->column_count; r++) {
        if (report_has_resource(report, r)) {
            strbuf_add_text(out, is_first ? "" : ", ");
            report_json_text(out, schema_of(report)->columns[r].name);
            strbuf_addf(out, ": %.6f", result->utilisation[r]);
            is_first = false;
        }
    }
    strbuf_add_text(out, "}, ");
}

static void add_json_forecasts(const struct report *report, struct strbuf *out)
{
    const struct forecast_quality *q = &report->tally->forecasts;

    if (q->started_count) {
        strbuf_addf(out,
                    "\"forecasts\": {\"started\": %" PRIu64
                    ", \"within_p50\": %.6f, \"with_p90\": %" PRIu64
                    ", \"within_p90\": %.6f, \"error_s\": %.3f, "
                    "\"wait_s\": %.3f}, ",
                    q->started_count,
                    part(q->within_p50_count, q->started_count), q->p90_count,
                    part(q->within_p90_count, q->p90_count),
                    mean_s(q->error_ms_sum, q->started_count),
                    mean_s(q->wait_ms_sum, q->started_count));
    }
}

void report_json(const struct report *report, struct strbuf *out)
{
    const struct tally_result *result = &report->result;

    strbuf_add_text(out, "{\"name\": ");
    report_json_text(out, report->title);
    add_json_jobs(report, out);
    add_json_utilisation(report, out);
    add_json_spread(out, "wait_s", &result->wait_s);
    add_json_spread(out, "bounded_slowdown", &result->slowdown);
    if (result->has_jain) {
        strbuf_addf(out, "\"jain\": %.6f, ", result->jain);
    } else {
        strbuf_add_text(out, "\"jain\": null, ");
    }
    strbuf_addf(out,
                "\"work_lost_cpu_h\": %.6f, "
                "\"work_lost_gpu_h\": %.6f, \"took_s\": %.3f, "
                "\"digest\": \"%016" PRIx64 "\", ",
                lost_h(report, STR("cpu")),
                lost_h(report, STR("nvidia.com/gpu")), report->took_s,
                report->digest);
    add_json_forecasts(report, out);
    add_json_queues(report, out);
    strbuf_add_text(out, "}\n");
}
