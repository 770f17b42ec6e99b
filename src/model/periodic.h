/*
 * periodic - periodic jobs: what is done about a moment of a schedule that has
 * come.
 *
 * Of all moments that have passed since the last decision one, the last, may
 * become a run; so an outage of days, or a clock that was set on, makes one run
 * of each periodic job, and startingDeadlineSeconds none.
 *
 * Times are in ms since 1970.  Pure.  Strings and arrays are borrowed.
 */
#pragma once

#include "model/cron.h"
#include "model/id.h"

enum {
    PERIODIC_JOBS_MAX = 2000,
    PERIODIC_OF_QUEUE_MAX = 200,
    PERIODIC_OF_OWNER_MAX = 500,
    PERIODIC_BYTES_MAX = 256 << 10,     /* of one, encoded */
    PERIODIC_ALL_BYTES_MAX = 32 << 20,  /* of all */
    PERIODIC_RUNS_MAX = 16,             /* of one, that have not ended */
    PERIODIC_RUN_JOBS_MAX = 1000,       /* of one run */
    PERIODIC_DEADLINE_S_MAX = 31622400, /* 366 days */
    PERIODIC_TEXT_BYTES_MAX = 512,      /* why there was no run */
    PERIODIC_AHEAD_MS = 3600000, /* a clock that is ahead is not noticed */
};

/* If a run has not ended when the next is due. */
enum periodic_policy {
    PERIODIC_ALLOW,
    PERIODIC_FORBID,  /* there is no next, unless it may start late */
    PERIODIC_REPLACE, /* it is cancelled */
};

enum periodic_outcome {
    PERIODIC_NONE, /* there is only another next moment */
    PERIODIC_SUBMITTED,
    PERIODIC_SKIPPED, /* runs before it had not ended */
    PERIODIC_MISSED,  /* its starting deadline had passed */
    PERIODIC_REFUSED, /* its owner may no longer, or the jobs are not valid */
};

/* With whose rights runs are submitted. */
struct periodic_owner {
    struct str name;
    const struct str *groups; /* as they were when it was made */
    uint32_t group_count;
    bool is_administrator, is_anonymous;
};

/* What became of a moment. */
struct periodic_run {
    int64_t moment_ms;
    enum periodic_outcome outcome;
    struct job_id first; /* the ids of its jobs count up from it; or none */
    uint32_t job_count;
    struct str text; /* why it was not submitted */
};

/* What a periodic job says of its times. */
struct periodic_terms {
    struct cron cron;
    const struct zone *zone;
    enum periodic_policy policy;
    int64_t deadline_ms; /* to start late by so much; 0: by any time */
};

enum periodic_what {
    PERIODIC_WAIT, /* ask again */
    PERIODIC_SUBMIT,
    PERIODIC_PASS, /* note the outcome */
};

struct periodic_step {
    enum periodic_what what;
    enum periodic_outcome outcome; /* of PASS */
    int64_t moment_ms;             /* that it is about */
    int64_t next_ms;               /* from then on; 0: there is none */
    bool is_replacing;             /* of SUBMIT: cancel what has not ended */
    const char *text;              /* of PASS: why */
};

/* What is done now about a periodic job whose next moment, `due_ms`, has come,
 * and which has so many runs that have not ended. */
struct periodic_step periodic_decide(const struct periodic_terms *terms,
                                     int64_t due_ms, int64_t now_ms,
                                     uint32_t live_run_count) must_check;
/* The first moment after now; 0: there is none. */
int64_t periodic_next_ms(const struct periodic_terms *terms,
                         int64_t now_ms) must_check;

/* The next moment of one that waits for `due_ms` where the last that was dealt
 * with shows that the clock was ahead by more than PERIODIC_AHEAD_MS then; 0:
 * it was not, or `due_ms` is right. */
int64_t periodic_heal_ms(const struct periodic_terms *terms, int64_t due_ms,
                         int64_t last_ms, int64_t now_ms) must_check;

/* The name as users write it ("Allow"). */
const char *periodic_policy_name(enum periodic_policy policy);
/* The policy of a name; "" is Allow.  -ERR_INVALID. */
int periodic_policy_of_name(struct str name,
                            enum periodic_policy *ret_policy) must_check;
/* The name as lists show it ("Submitted"; "" of NONE). */
const char *periodic_outcome_name(enum periodic_outcome outcome);
