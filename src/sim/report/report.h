/*
 * report - the results of a simulation: for people, as JSON, as CSV, and as a
 * chart.
 *
 * Figures are those of tally.h.  Threads: any; the tally is only read.
 */
#pragma once

#include "base/strbuf.h"
#include "sim/world/tally.h"

/* A finished simulation. */
struct report {
    struct str title;
    const struct tally *tally;
    struct tally_result result;
    double took_s;   /* of real time */
    uint64_t digest; /* of the log */
};

/* Append a page of text. */
void report_text(const struct report *report, struct strbuf *out);
/* Append one JSON object, and a newline. */
void report_json(const struct report *report, struct strbuf *out);
/* Append the samples as CSV, with a line of names: time_s, running, queued,
 * for each resource used and capacity in units (cores, bytes, ...), and for
 * each queue its share due and obtained, as parts of the pool: `Q due`, or
 * `Q due in POOL` where there are several pools. */
void report_csv(const struct report *report, struct strbuf *out);
/* Append the jobs as CSV, in order of submission, with a line of names:
 * stream, job (its number), submitted_s, started_s (first) and ended_s (empty:
 * not), starts, outcome (waiting, running, succeeded, failed, preempted,
 * rejected, cancelled). */
void report_jobs(const struct report *report, struct strbuf *out);
/* Append an SVG picture of use over time, jobs, and the shares of queues. */
void report_svg(const struct report *report, struct strbuf *out);
/* Append a text as JSON, with its quotes. */
void report_json_text(struct strbuf *out, struct str text);
/* Whether any node has a resource of the policy's schema. */
bool report_has_resource(const struct report *report, uint32_t column);
/* Whether there are shares of more than one pool. */
bool report_has_pools(const struct report *report);
