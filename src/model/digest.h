/*
 * digest - what the control plane needs to schedule a job, computed once at
 * submission, so that a pod spec is decoded only once.
 *
 * It travels in the log beside the job's spec (field 1000 of SubmitJob).  The
 * packed form starts with a format version, which only grows.
 *
 * Pure.  Strings are borrowed from whatever the digest was made from.
 */
#pragma once

#include "model/gang_terms.h"
#include "model/id.h"
#include "model/requirement.h"

enum {
    DIGEST_VERSION = 7, /* only of jobs that need it; else 3, 4, 5 or 6 */
    GANG_CARDINALITY_MAX = 1000000,
};

/* What becomes of a job that loses its place through no fault of its own. */
enum on_loss {
    ON_LOSS_FAIL = 0, /* as Armada does */
    ON_LOSS_REQUEUE = 1,
};

/* What is to become of another job before one is planned.  Append, never
 * renumber: these are logged. */
enum job_want {
    JOB_WANT_SUCCEEDED = 1,
    JOB_WANT_ENDED = 2,
    JOB_WANT_FAILED = 3, /* or was cancelled, preempted, rejected */
};

enum { JOB_WAITS_MAX = 256 }; /* of one job */

/* One other job, and what is to become of it. */
struct job_wait {
    struct job_id on;
    enum job_want want;
};

struct job_digest {
    struct str class_key;          /* a packed requirement */
    struct str client_id;          /* "" : none */
    struct str gang_id;            /* "": not in a gang */
    uint32_t gang_cardinality;     /* >= 1; 1 outside gangs */
    uint32_t gang_minimum;         /* 1..gang_cardinality */
    struct str gang_uniformity;    /* node label; "": none */
    struct str pool;               /* asked for by annotation; "": any */
    bool is_fail_fast;             /* never retried */
    enum on_loss on_preemption;    /* berth.dev/onPreemption */
    enum on_loss on_executor_lost; /* berth.dev/onExecutorLost */
    struct str application_id;     /* "": the job set is the application */
    bool has_stateaware_off;       /* its application skips Starting */
    struct str gang_terms;         /* packed, see gang_terms.h; "": a gang by
                                      annotations, whose members are alike */
    uint32_t sub_group;            /* of those terms: which one it is of */
    bool is_held;                  /* a user is to release it */
    int64_t begin_ms;              /* not planned before; 0: at once */
    int64_t wait_ms_max;           /* then it fails if it never ran; 0: never */
    struct str retry_policy;       /* instead of its queue's; "": none */
    struct str waits; /* packed job_waits: other jobs that it waits for */
    /* At most so many jobs of its queue with this group are planned or run at
     * once, as the first of those that are there says; 0: any number. */
    struct str turn_group;
    uint32_t turn_limit;
};

/* Append the packed form. */
void digest_pack(struct strbuf *buf, const struct job_digest *digest);

/* Append waits as a digest has them, at most JOB_WAITS_MAX. */
void job_waits_pack(struct strbuf *buf, const struct job_wait *waits,
                    uint32_t count);
/* Read them; their number, or -ERR_CORRUPT. */
int job_waits_unpack(struct str packed,
                     struct job_wait ret_waits[JOB_WAITS_MAX]) must_check;

/* Read a packed form; strings point into `bytes`.
 * -ERR_CORRUPT: not one; -ERR_VERSION: of a newer release. */
int digest_unpack(struct str bytes, struct job_digest *ret_digest) must_check;
