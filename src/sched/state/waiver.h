/*
 * lift - rules by which nobody loses a place for a job, though its queue is due
 * more: what a trial does without, to see whether they keep it (need_waiver.c).
 *
 *     near   what it took it would soon give up (reserve_is_soon())
 *     keep   gangs whose going would do more harm than good (gang_protection.h)
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* A gang that a rule keeps. */
struct waiver_gang {
    uint32_t gang;
    bool is_young;    /* only since it is; else while nobody is poor */
    bool is_told;     /* of use to who asks */
    int64_t until_ms; /* so long; INT64_MAX: not known */
};

/* What a plan does without, and what it meets of that. */
struct waiver {
    bool is_near, is_keep; /* these rules hold nobody */
    uint32_t near_job;     /* for whom places are reserved, or NONE */
    int64_t near_ms;       /* from when on */
    VEC(struct waiver_gang) gangs;
};

/* Whether who would yield to a job, for which places are reserved from a time
 * on, takes them all the same. */
bool waiver_near(const struct sched *sched, uint32_t job, int64_t from_ms);
/* Whether a gang that would be kept goes all the same. */
bool waiver_keep(const struct sched *sched, const struct waiver_gang *gang);
