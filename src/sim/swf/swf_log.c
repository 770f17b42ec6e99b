/* Reads logs. */
#include <inttypes.h>
#include <stdlib.h>

#include "sim/swf/swf.h"
#include "sim/world/text_file.h"

enum {
    COLUMNS = 18,
    AT_NUMBER = 0,
    AT_SUBMIT = 1,
    AT_RUN = 3,
    AT_ALLOCATED = 4,
    AT_REQUESTED = 7,
    AT_ESTIMATE = 8,
    TIME_MAX_S = 1 << 30, /* 34 years */
};

/* Read the numbers of a line; fractions are cut off.  How many there are, or
 * -1 when something else stands there. */
static int read_numbers(struct str line, int64_t numbers[COLUMNS])
{
    const char *p = line.p, *end = line.p + line.byte_count;
    int count = 0;

    while (count < COLUMNS) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) {
            p++;
        }
        if (p == end) {
            break;
        }
        bool is_negative = *p == '-';
        p += is_negative;
        int64_t value = 0;
        const char *digits = p;
        for (; p < end && *p >= '0' && *p <= '9'; p++) {
            value = value < INT64_MAX / 100 ? value * 10 + (*p - '0') : value;
        }
        if (p == digits) {
            return -1;
        }
        while (p < end && (*p == '.' || (*p >= '0' && *p <= '9'))) {
            p++;
        }
        numbers[count++] = is_negative ? -value : value;
    }
    return count;
}

/* Whether a row is a job that can be played. */
static bool take_row(const int64_t *row, const struct swf_options *options,
                     struct swf_job *ret_job)
{
    int64_t processors =
        row[AT_REQUESTED] > 0 ? row[AT_REQUESTED] : row[AT_ALLOCATED];
    bool is_sc15 = options->convention == SWF_SC15;

    *ret_job = (struct swf_job){
        .number = row[AT_NUMBER],
        .submit_s = row[AT_SUBMIT],
        .run_s = row[AT_RUN],
        .estimate_s = row[AT_ESTIMATE] > 0 ? row[AT_ESTIMATE] : row[AT_RUN],
        .start_s = -1,
        .processors = (uint32_t)processors,
    };
    if (processors <= 0 || processors > options->processors ||
        row[AT_RUN] < 0 || row[AT_SUBMIT] < 0 || row[AT_RUN] > TIME_MAX_S ||
        row[AT_SUBMIT] > TIME_MAX_S || row[AT_ESTIMATE] > TIME_MAX_S) {
        return false;
    }
    if (is_sc15 && (row[AT_RUN] == 0 || row[AT_ESTIMATE] <= 0 ||
                    row[AT_ALLOCATED] > options->processors)) {
        return false;
    }
    if (ret_job->run_s > ret_job->estimate_s) {
        ret_job->run_s = ret_job->estimate_s;
    }
    if (options->is_exact) {
        ret_job->estimate_s = ret_job->run_s;
    }
    return true;
}

static int compare_jobs(const void *a, const void *b)
{
    const struct swf_job *x = a, *y = b;

    if (x->submit_s != y->submit_s) {
        return x->submit_s < y->submit_s ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_comment(struct str line)
{
    size_t at = 0;

    while (at < line.byte_count &&
           (line.p[at] == ' ' || line.p[at] == '\t' || line.p[at] == '\r')) {
        at++;
    }
    return at == line.byte_count || line.p[at] == ';';
}

/* Nothing could be said of a log without a job. */
static int refuse_empty(const struct swf_log *log,
                        const struct swf_options *options, struct err *err)
{
    if (log->skipped_count == 0) {
        return err_set(err, -ERR_INVALID,
                       "there is no row in it, only comments or nothing");
    }
    return err_set(err, -ERR_INVALID,
                   "none of its %" PRIu64 " rows is a job that ran and that "
                   "%u processors can hold",
                   log->skipped_count, options->processors);
}

int swf_parse(struct str text, const struct swf_options *options,
              struct swf_log *ret_log, struct err *err)
{
    struct swf_log log = {0};
    struct str line;
    uint32_t line_number = 0;

    while (text_file_line(&text, &line)) {
        int64_t row[COLUMNS] = {0};
        struct swf_job job;
        line_number++;
        if (is_comment(line)) {
            continue;
        }
        if (read_numbers(line, row) <= AT_ESTIMATE ||
            log.jobs.count == SWF_JOBS_MAX) {
            swf_log_fini(&log);
            return err_set(err, -ERR_INVALID, "line %u: %s", line_number,
                           log.jobs.count == SWF_JOBS_MAX
                               ? "there are too many jobs"
                               : "this is not a row of numbers of the Standard "
                                 "Workload Format");
        }
        if (take_row(row, options, &job)) {
            VEC_PUSH(&log.jobs, job);
        } else {
            log.skipped_count++;
        }
    }
    if (log.jobs.count == 0) {
        return refuse_empty(&log, options, err);
    }
    qsort(log.jobs.items, log.jobs.count, sizeof(*log.jobs.items),
          compare_jobs);
    if (options->job_limit > 0 && log.jobs.count > options->job_limit) {
        log.jobs.count = options->job_limit;
    }
    *ret_log = log;
    return 0;
}

int swf_read(const char *path, const struct swf_options *options,
             struct swf_log *ret_log, struct err *err)
{
    auto_strbuf text = {0};
    struct err why;

    int rc = text_file_read(path, &text, err);
    if (rc < 0) {
        return rc;
    }
    rc = swf_parse(strbuf_str(&text), options, ret_log, &why);
    return rc < 0 ? err_set(err, rc, "%s: %s", path, why.text) : 0;
}

void swf_log_fini(struct swf_log *log)
{
    VEC_FREE(&log->jobs);
}
