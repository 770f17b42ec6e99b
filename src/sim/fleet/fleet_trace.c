/* Reads traces. */
#include <stdlib.h>

#include "sim/fleet/fleet.h"
#include "sim/world/text_file.h"

enum {
    COLUMNS = 5,
    TIME_BYTES = 19, /* 2017-10-09 07:01:55 */
    HOUR_S = 3600,
    DAY_S = 24 * HOUR_S,
    RUN_MAX_S = 1 << 30,
};

/* The end of daylight saving in 2017: the 5th of November, 2 o'clock. */
#define DAYLIGHT_END_S (INT64_C(17475) * DAY_S + 2 * HOUR_S)

/* A row and its place, so that sorting keeps the order of equals. */
struct row {
    struct fleet_job job;
    size_t place;
};

static bool read_digits(const char *p, int count, int64_t *ret_value)
{
    *ret_value = 0;
    for (int i = 0; i < count; i++) {
        if (p[i] < '0' || p[i] > '9') {
            return false;
        }
        *ret_value = *ret_value * 10 + (p[i] - '0');
    }
    return true;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year =
        (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

/* Seconds of UTC, but for a constant. */
static bool read_time(struct str text, int64_t *ret_s)
{
    int64_t year, month, day, hour, minute, second;
    const char *p = text.p;

    if (text.byte_count != TIME_BYTES || !read_digits(p, 4, &year) ||
        !read_digits(p + 5, 2, &month) || !read_digits(p + 8, 2, &day) ||
        !read_digits(p + 11, 2, &hour) || !read_digits(p + 14, 2, &minute) ||
        !read_digits(p + 17, 2, &second) || month < 1 || month > 12) {
        return false;
    }
    *ret_s = days_of(year, month, day) * DAY_S + hour * HOUR_S + minute * 60 +
             second;
    if (*ret_s >= DAYLIGHT_END_S) {
        *ret_s += HOUR_S;
    }
    return true;
}

/* A whole number, with a fraction that is cut off. */
static bool read_whole(struct str text, int64_t max, int64_t *ret_value)
{
    size_t at = 0;

    *ret_value = 0;
    while (at < text.byte_count && text.p[at] >= '0' && text.p[at] <= '9' &&
           *ret_value <= max) {
        *ret_value = *ret_value * 10 + (text.p[at++] - '0');
    }
    return at > 0 && *ret_value <= max &&
           (at == text.byte_count || text.p[at] == '.');
}

static bool read_row(struct str line, struct arena *arena,
                     struct fleet_job *ret_job)
{
    struct str columns[COLUMNS];
    int64_t gpu_count;

    if (text_file_columns(line, columns, COLUMNS) != COLUMNS ||
        !read_time(columns[0], &ret_job->submit_s) ||
        !read_whole(columns[1], RUN_MAX_S, &ret_job->run_s) ||
        !read_whole(columns[2], FLEET_GPUS_MAX, &gpu_count) || gpu_count < 1 ||
        columns[4].byte_count == 0) {
        return false;
    }
    ret_job->gpu_count = (uint32_t)gpu_count;
    ret_job->queue = arena_str(arena, columns[4]);
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->job.submit_s != y->job.submit_s) {
        return x->job.submit_s < y->job.submit_s ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Put the rows in order of time, counted from the first. */
static void sort_jobs(struct fleet_trace *trace)
{
    size_t count = trace->jobs.count;
    auto_mem struct row *rows = mem_alloc_array(count + 1, sizeof(*rows));

    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct row){trace->jobs.items[i], i};
    }
    qsort(rows, count, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < count; i++) {
        trace->jobs.items[i] = rows[i].job;
        trace->jobs.items[i].submit_s -= rows[0].job.submit_s;
    }
}

int fleet_parse(struct str text, struct fleet_trace *ret_trace, struct err *err)
{
    struct fleet_trace trace = {0};
    struct str line;
    uint32_t line_number = 0;

    while (text_file_line(&text, &line)) {
        struct fleet_job job;
        line_number++;
        bool is_head =
            line_number == 1 && str_starts_with(line, STR("timestamp"));
        if (is_head || line.byte_count == 0) {
            continue;
        }
        if (!read_row(line, &trace.arena, &job) ||
            trace.jobs.count == FLEET_JOBS_MAX) {
            fleet_trace_fini(&trace);
            return err_set(err, -ERR_INVALID,
                           "line %u: this is not a row of timestamp, duration, "
                           "num_gpus, gpu_time and cluster",
                           line_number);
        }
        VEC_PUSH(&trace.jobs, job);
    }
    if (trace.jobs.count == 0) {
        fleet_trace_fini(&trace);
        return err_set(err, -ERR_INVALID, "there is no job in it");
    }
    sort_jobs(&trace);
    *ret_trace = trace;
    return 0;
}

int fleet_read(const char *path, struct fleet_trace *ret_trace, struct err *err)
{
    auto_strbuf text = {0};
    struct err why;

    int rc = text_file_read(path, &text, err);
    if (rc < 0) {
        return rc;
    }
    rc = fleet_parse(strbuf_str(&text), ret_trace, &why);
    return rc < 0 ? err_set(err, rc, "%s: %s", path, why.text) : 0;
}

void fleet_trace_fini(struct fleet_trace *trace)
{
    VEC_FREE(&trace->jobs);
    arena_fini(&trace->arena);
}
