/*
 * metric_table - every metric that /metrics serves: its type, unit, labels and
 * meaning.
 *
 * The one place for that: heads of metrics, docs/metrics.md and the checks of
 * dashboards and alert rules come from it.  A new metric is a row here, and a
 * line of code that writes its series after metric_head().
 *
 * Threads: any.
 */
#pragma once

#include "base/strbuf.h"

/* One metric; all texts live as long as the program. */
struct metric_row {
    const char *name;
    const char *type;   /* gauge, counter, histogram, summary */
    const char *unit;   /* "" for counts and flags */
    const char *labels; /* "a, b"; "": none */
    const char *about;  /* one sentence for people */
};

/* All, by name. */
const struct metric_row *metric_rows(uint32_t *ret_count) must_check;

/* Append the head of a metric that has a row; its series follow. */
void metric_head(struct strbuf *out, const char *name);

/* Append the table in Markdown. */
void metric_print_manual(struct strbuf *out);
