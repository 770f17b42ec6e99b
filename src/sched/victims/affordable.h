/*
 * affordable - which runs a claim may preempt for fairness at its budget
 * (docs/fairness.md: "Bounded loss").
 *
 * The *size* of a pod is the part of the pool that it asks for, as its queue's
 * cost is measured.  The *cost* of a victim is how long it has run and had
 * waited for that, times its size; of a gang the sum over its pods.  The
 * *budget* of a claim is how long it has waited since it was last requeued,
 * times its size, divided by the pool's preemptionPrice; of a gang the sum over
 * the pods that must start at once.  Its budget must cover all its victims for
 * fairness together.  A claim with which its queue would have more than its
 * share pays the pool's overSharePrice, if that is more.
 *
 * For fairness are rule d of model.md 6.6, and c from other queues.  Revocable
 * runs count in the sum, but may always be preempted.  Urgency, and the rights
 * of jobs at home, have no price, nor has anything where the pool's price is 0.
 *
 * Costs and budgets are in 2^-40 of the pool x ms.
 *
 * Private to src/sched; lives with the round's searches.
 */
#pragma once

#include "sched/place/place.h"

struct victim;

struct affordable {
    uint32_t *share_of_queue; /* 1 + index in the round's shares, or 0; NULL:
                                 nobody has asked */
    bool is_gang;             /* a gang is placed: */
    int64_t price;            /* that it pays, in thousandths, */
    u128 budget;              /* its own, */
    size_t mark;              /* what was decided since is for it, */
    u128 spent;               /* and that cost so much up to here: */
    size_t spent_end;
    bool is_least_known;
    u128 least;    /* the least cost of what is evicted */
    bool is_short; /* a search would have found more with a larger budget */
};

/* Whether the pool of a round has a price. */
bool affordable_is_priced(const struct round *round);
/* A gang is tried, of which `needed` must start at once; what is decided from
 * here on is for it. */
void affordable_begin_gang(struct round *round, const struct gang *gang,
                           uint32_t needed);
/* It is not any more. */
void affordable_end_gang(struct round *round);
/* Some of what was decided for it is undone. */
void affordable_undo(struct round *round);
/* What is left of the budget of what is searched for. */
u128 affordable_left(const struct search *search);
/* Whether a victim goes for fairness, and what it costs. */
bool affordable_is_charged(const struct search *search,
                           const struct victim *victim);
/* The cost of a victim, charged or not. */
u128 affordable_cost(struct round *round, const struct victim *victim);
/* Whether something that is evicted costs no more than `left`; if not that is
 * noted as affordable_note_short() does. */
bool affordable_is_any(const struct search *search, u128 left);
/* What would cost so much was too dear for what is searched for: it is planned
 * again when its budget may cover that. */
void affordable_note_short(const struct search *search, u128 left, u128 cost);
/* Whether something was since the last such question. */
bool affordable_was_short(struct round *round);
