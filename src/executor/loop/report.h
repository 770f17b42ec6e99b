/*
 * report - builds an EventList out of what happened to runs, as
 * armada-api.md 6.3 maps pod facts to events.
 *
 * Events of one (queue, job set) share a sequence, in the order in which they
 * were added.  All memory comes from the report's arena.
 *
 * Threads: one owner.
 */
#pragma once

#include "executor/loop/failure_class.h"

enum { REPORT_TEXT_BYTES_MAX = 4096 };

/* A run, and what of it is to be told.  Strings are borrowed until
 * report_fini(). */
struct report_run {
    struct run_id run;
    struct job_id job;
    struct str executor_id, queue, job_set, namespace_, pod_name;
    struct str node_name, pool;
    /* Tell all phases above `from` (exclusive) up to `to`. */
    enum reconcile_phase from, to;
    bool has_started;    /* it was running, or succeeded */
    bool is_refused;     /* there never was a pod */
    bool is_returned;    /* the lease goes back instead of failing */
    bool is_repacked;    /* its node is not that of the lease */
    bool is_preempted;   /* it ended because the server wanted its room */
    struct str text;     /* refused or returned: why */
    struct str warnings; /* "": none to tell */
    int64_t created_ms, started_ms, ended_ms;
    const struct runtime_status *status; /* of an end that is no
                                          * success, or facts; may be NULL */
};

/* A list under construction.  Zeroed memory is an empty one. */
struct report {
    const struct failure_classes *classes; /* borrowed; NULL: no rules */
    struct arena arena;
    struct report_sequence *sequences; /* in the arena, [sequence_capacity] */
    uint32_t sequence_count, sequence_capacity;
    struct map by_scope; /* hash of queue and job set -> sequence */
    uint32_t event_count;
    size_t byte_count; /* an estimate */
};

/* Add the events of a run. */
void report_add(struct report *report, const struct report_run *run);

/* Add where the pod of a run that lives is reached, and what it uses, as
 * `run->status` says. */
void report_add_facts(struct report *report, const struct report_run *run,
                      int64_t at_ms);

/* The encoded EventList, appended to `buf`. */
void report_encode(struct report *report, struct strbuf *buf);

/* Forget all, ready for the next list. */
void report_clear(struct report *report);

/* Free all. */
void report_fini(struct report *report);
