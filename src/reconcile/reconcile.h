/*
 * reconcile - what an executor must do, given what is wanted and what is seen.
 *
 * Level-triggered: each row holds all that is known of one run now, and the
 * plan depends on nothing else, so that a lost message, a repeated one or a
 * crash between two actions is repaired by the next plan.  Rules, per run:
 *
 *   pod not ours                   nothing, ever
 *   being created, or given up     nothing until that is done
 *   never seen, wanted             CREATE
 *   never seen, unwanted           FORGET
 *   alive, unwanted or preempted   STOP, until it is stopping
 *   phase not yet acknowledged     REPORT, unless one is on its way or the
 *                                  server has cancelled the run
 *   ended, acknowledged or unwanted                       FORGET
 *   seen, but gone before its end was acknowledged        REPORT that it is
 * lost forgotten, and leased again by a server that lost the report  the same
 *
 * A run that was ever seen is never created again: its id starts at most once.
 *
 * Pure.  Threads: none of its own; rows belong to the caller.
 */
#pragma once

#include "model/id.h"

enum { RECONCILE_ROWS_MAX = 1 << 20 };

/* What the server wants of a run. */
enum reconcile_want {
    RECONCILE_WANT_NONE,    /* it has not said; a pod found is left to run */
    RECONCILE_WANT_RUN,     /* leased to us */
    RECONCILE_WANT_STOP,    /* cancelled, or unknown to the server */
    RECONCILE_WANT_PREEMPT, /* must make room; its end is reported */
};

/* What is known of a run's pod.  The numbers are kept on disk: append, never
 * renumber.  PENDING to FAILED are also the phases that are reported. */
enum reconcile_phase {
    RECONCILE_NEVER = 0, /* no pod was ever made for the run */
    RECONCILE_PENDING = 1,
    RECONCILE_RUNNING = 2,
    RECONCILE_SUCCEEDED = 3,
    RECONCILE_FAILED = 4,
    RECONCILE_LOST = 5,      /* there was a pod, and it is gone */
    RECONCILE_FORGOTTEN = 6, /* ended, acknowledged, given up */
};

/* One run. */
struct reconcile_row {
    struct run_id id;
    enum reconcile_want want;
    enum reconcile_phase phase;
    bool is_foreign;            /* the pod does not carry our mark */
    bool is_creating;           /* asked of the runtime, phase NEVER */
    bool is_stopping;           /* a stop was asked of the runtime */
    bool is_forgetting;         /* to give it up was asked of the runtime */
    enum reconcile_phase sent;  /* highest phase in a report on its way */
    enum reconcile_phase acked; /* highest phase the server acknowledged */
};

/* What to do, in the order in which a plan lists it: make room, tell, clear
 * up, and only then take. */
enum reconcile_action_kind {
    RECONCILE_STOP,
    RECONCILE_REPORT,
    RECONCILE_FORGET,
    RECONCILE_CREATE,
    RECONCILE_ACTION_KINDS,
};

/* One thing to do for rows[row_index]. */
struct reconcile_action {
    enum reconcile_action_kind kind;
    uint32_t row_index;
    enum reconcile_phase phase; /* REPORT only: what to report */
};

/* PENDING < RUNNING < the ends, which are equals; NEVER is 0. */
int reconcile_rank(enum reconcile_phase phase);

/* Whether nothing more can happen to a pod in `phase`. */
bool reconcile_is_ended(enum reconcile_phase phase);

/* The actions for one row, as a set of bits 1 << kind.  At most one of STOP,
 * FORGET and CREATE; REPORT may stand beside STOP. */
unsigned reconcile_row_actions(const struct reconcile_row *row) must_check;

/* Plan for `row_count` rows (<= RECONCILE_ROWS_MAX; ids distinct), CREATE at
 * most `create_max` times: the rows left over are planned again next time.
 * `ret_actions` has room for 2 * row_count.  The order is by kind, then by
 * row.  Returns how many. */
uint32_t reconcile_plan(const struct reconcile_row *rows, uint32_t row_count,
                        uint32_t create_max,
                        struct reconcile_action *ret_actions);
