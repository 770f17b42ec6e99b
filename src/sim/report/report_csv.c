/* Samples and jobs as CSV. */
#include <stdlib.h>

#include "sim/report/report.h"

enum { MS_PER_S = 1000 };

static const struct resource_schema *schema_of(const struct report *report)
{
    return &report->tally->world->policy.schema;
}

bool report_has_pools(const struct report *report)
{
    const struct tally *tally = report->tally;

    for (size_t i = 1; i < tally->rows.count; i++) {
        if (!str_equal(tally->rows.items[i].pool, tally->rows.items[0].pool)) {
            return true;
        }
    }
    return false;
}

/* An amount of a column in its unit. */
static double amount(const struct report *report, uint32_t column, int64_t v)
{
    return (double)v * (double)schema_of(report)->columns[column].unit_milli /
           1000;
}

/* Rows in order of pools, then queues. */

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct tally *tally = ctx;
    const struct tally_row *x = &tally->rows.items[*(const uint32_t *)a];
    const struct tally_row *y = &tally->rows.items[*(const uint32_t *)b];
    int order = str_compare(x->pool, y->pool);

    return order ? order
                 : str_compare(tally->queues.items[x->queue].name,
                               tally->queues.items[y->queue].name);
}

static uint32_t *sorted_rows(const struct tally *tally)
{
    uint32_t *rows = mem_alloc_array(tally->rows.count + 1, sizeof(*rows));

    for (uint32_t i = 0; i < tally->rows.count; i++) {
        rows[i] = i;
    }
    qsort_r(rows, tally->rows.count, sizeof(*rows), compare_rows,
            (void *)(uintptr_t)tally);
    return rows;
}

/* The name of a row's column; names that say more than CSV can hold are in
 * quotes. */
static void add_row_name(const struct report *report, struct strbuf *out,
                         const struct tally_row *row, const char *what)
{
    const struct tally *tally = report->tally;
    auto_strbuf name = {0};

    strbuf_addf(&name, "%.*s %s", STR_ARG(tally->queues.items[row->queue].name),
                what);
    if (report_has_pools(report)) {
        strbuf_addf(&name, " in %.*s", STR_ARG(row->pool));
    }
    strbuf_add_char(out, ',');
    if (!strpbrk(strbuf_text(&name), ",\"\n")) {
        strbuf_add_text(out, strbuf_text(&name));
        return;
    }
    strbuf_add_char(out, '"');
    for (const char *p = strbuf_text(&name); *p; p++) {
        strbuf_add_text(out, *p == '"' ? "\"" : "");
        strbuf_add_char(out, *p);
    }
    strbuf_add_char(out, '"');
}

static void add_names(const struct report *report, struct strbuf *out,
                      const uint32_t *rows)
{
    strbuf_add_text(out, "time_s,running,queued");
    for (uint32_t r = 0; r < schema_of(report)->column_count; r++) {
        struct str name = schema_of(report)->columns[r].name;
        if (report_has_resource(report, r)) {
            strbuf_addf(out, ",%.*s used,%.*s capacity", STR_ARG(name),
                        STR_ARG(name));
        }
    }
    for (size_t i = 0; i < report->tally->rows.count; i++) {
        const struct tally_row *row = &report->tally->rows.items[rows[i]];
        add_row_name(report, out, row, "due");
        add_row_name(report, out, row, "obtained");
    }
    strbuf_add_char(out, '\n');
}

/* The shares of a sample; `now` has room for each row. */
static void add_shares(const struct tally *tally, struct strbuf *out,
                       const struct tally_sample *sample, const uint32_t *rows,
                       struct tally_share *now)
{
    memset(now, 0, tally->rows.count * sizeof(*now));
    for (uint32_t i = 0; i < sample->share_count; i++) {
        const struct tally_share *share =
            &tally->shares.items[sample->share_first + i];
        now[share->row] = *share;
    }
    for (size_t i = 0; i < tally->rows.count; i++) {
        strbuf_addf(out, ",%.6g,%.6g", (double)now[rows[i]].due,
                    (double)now[rows[i]].obtained);
    }
}

void report_csv(const struct report *report, struct strbuf *out)
{
    const struct tally *tally = report->tally;
    auto_mem uint32_t *rows = sorted_rows(tally);
    auto_mem struct tally_share *now =
        mem_alloc_array(tally->rows.count + 1, sizeof(*now));

    add_names(report, out, rows);
    for (size_t i = 0; i < tally->samples.count; i++) {
        const struct tally_sample *sample = &tally->samples.items[i];
        strbuf_addf(out, "%.3f,%u,%u", (double)sample->time_ms / MS_PER_S,
                    sample->running_count, sample->queued_count);
        for (uint32_t r = 0; r < schema_of(report)->column_count; r++) {
            if (report_has_resource(report, r)) {
                strbuf_addf(out, ",%.15g,%.15g",
                            amount(report, r, sample->used.v[r]),
                            amount(report, r, sample->capacity.v[r]));
            }
        }
        add_shares(tally, out, sample, rows, now);
        strbuf_add_char(out, '\n');
    }
}

/* Jobs. */

static const char *outcome_name(const struct world_job *job)
{
    static const char *const names[] = {
        [WORLD_RUNNING] = "running",   [WORLD_SUCCEEDED] = "succeeded",
        [WORLD_FAILED] = "failed",     [WORLD_PREEMPTED] = "preempted",
        [WORLD_REJECTED] = "rejected", [WORLD_CANCELLED] = "cancelled",
    };
    bool has_waited_only = job->outcome == WORLD_RUNNING && job->started_ms < 0;

    return has_waited_only ? "waiting" : names[job->outcome];
}

static void put_time(struct strbuf *out, int64_t time_ms)
{
    strbuf_add_char(out, ',');
    if (time_ms >= 0) {
        strbuf_addf(out, "%.3f", (double)time_ms / MS_PER_S);
    }
}

void report_jobs(const struct report *report, struct strbuf *out)
{
    const struct world *world = report->tally->world;

    strbuf_add_text(
        out, "stream,job,submitted_s,started_s,ended_s,starts,outcome\n");
    for (size_t i = 0; i < world->jobs.count; i++) {
        const struct world_job *job = &world->jobs.items[i];
        struct str stream = world_scope(world, job->kind).job_set;
        strbuf_addf(out, "%.*s,%zu", STR_ARG(stream), i);
        put_time(out, job->submitted_ms);
        put_time(out, job->started_ms);
        put_time(out, job->ended_ms);
        strbuf_addf(out, ",%u,%s\n", job->start_count, outcome_name(job));
    }
}
