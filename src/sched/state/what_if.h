/*
 * what_if - a trial plan for explanations: its additional amounts, and the
 * rules that do not apply in it.
 *
 * The asker owns the value and passes it down with plan_if() (round/plan.h); a
 * round hands it on (`round->what_if`) to whoever decides, and they ask the
 * functions below for an amount or a rule.  All of them take NULL for a plan
 * that is carried out, and then say what the state says.  The live state does
 * not know that there is a trial (docs/decisions/0055).
 *
 * Rules that may be waived, by which nobody loses a place for a job though its
 * queue is due more (need_waiver.c finds out which of them matters):
 *
 *     cooldown         of one job, or its gang (cooldown.h)
 *     reserved soon    what it took it would soon give up (reserve_is_soon())
 *     gang protection  evicting a gang would do more harm than good
 *                      (gang_protection.h)
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* What there is more of. */
enum what_if_kind {
    WHAT_IF_NOTHING,
    WHAT_IF_ROOM,     /* a node has more */
    WHAT_IF_LIMIT,    /* a queue's limit for a class in a pool is higher */
    WHAT_IF_QUOTA,    /* a queue's quota is higher */
    WHAT_IF_FLOATING, /* a pool has more that is of no node */
    /* By the first column of `amount`: */
    WHAT_IF_BUDGET, /* a queue's excess budget is `base` and so much, in
                       thousandths of a unit x minute */
    WHAT_IF_SHARE,  /* what it may have above its share likewise, in millionths
                       of that */
    WHAT_IF_APPS,   /* so many more of its applications may run */
};

/* More of one thing. */
struct what_if_more {
    enum what_if_kind kind;
    uint32_t node;           /* ROOM */
    uint32_t pool;           /* LIMIT, FLOATING */
    uint32_t queue;          /* LIMIT, QUOTA, BUDGET, SHARE, APPS */
    uint32_t priority_class; /* LIMIT */
    int64_t base;            /* BUDGET, SHARE: what it is now */
    struct resource_vec amount;
};

/* A gang that is not protected in such a plan. */
struct what_if_gang {
    uint32_t gang;
    bool is_young; /* protected only since it is; else while nobody is poor */
    bool is_told;  /* of use to who asks */
    int64_t until_ms; /* so long it is; INT64_MAX: not known */
};

/* What a plan met of the rules that it waived.  Zeroed at first but for
 * `reserved_job`, which is NONE; VEC_FREE(&met.gangs) at the end. */
struct what_if_met {
    uint32_t reserved_job; /* for whom places are reserved, or NONE */
    int64_t reserved_ms;   /* from when on */
    VEC(struct what_if_gang) gangs;
    /* Of the job of `price_of`: the least that it found too dear, what its
     * budget covers, both divided by its size, and when that may suffice at the
     * earliest; 0: it found nothing that was. */
    int64_t price_ms, budget_ms, price_until_ms;
};

struct what_if {
    struct what_if_more more;
    uint64_t work_max;        /* it ends after so much work (sweep_work()) */
    bool grows;               /* gangs grow in it, as in no other */
    uint32_t cooldown_waived; /* a job that none binds; or NONE */
    bool waives_reserved_soon, waives_gang_protection;
    uint32_t price_of; /* 1 + a job of which is noted what was too dear; or 0 */
    struct what_if_met *met; /* the asker's; may be NULL if nothing of this is
                                asked */
};

/* How much more a queue's limit for a class in a pool allows, by column. */
int64_t what_if_limit_more(const struct what_if *what_if, uint32_t queue,
                           uint32_t pool, uint32_t priority_class, int column);
/* A queue's quota in a column. */
int64_t what_if_quota(const struct what_if *what_if, const struct sched *sched,
                      const struct queue *queue, int column);
/* A queue's own excess budget, in thousandths, as in struct queue. */
int64_t what_if_excess_budget_milli(const struct what_if *what_if,
                                    const struct sched *sched,
                                    const struct queue *queue);
/* What a queue may have above its share by its own word, likewise. */
int64_t what_if_over_share_ppm(const struct what_if *what_if,
                               const struct sched *sched,
                               const struct queue *queue);
/* How many applications of a queue may run; 0: any number. */
uint32_t what_if_running_apps_max(const struct what_if *what_if,
                                  const struct sched *sched,
                                  const struct queue *queue);

/* Whether whoever would give way to a job, for which places are reserved from
 * a time on, takes them all the same; that is noted. */
bool what_if_takes_reserved_soon(const struct what_if *what_if, uint32_t job,
                                 int64_t from_ms);
/* What a job might preempt for fairness costs `price_ms` times its size and its
 * budget covers `budget_ms`; that suffices at `until_ms` at the earliest. */
void what_if_note_price(const struct what_if *what_if,
                        const struct sched *sched, uint32_t job,
                        int64_t price_ms, int64_t budget_ms, int64_t until_ms);
/* Whether a gang that would be protected goes all the same; that is noted. */
bool what_if_takes_gang(const struct what_if *what_if,
                        const struct what_if_gang *gang);
