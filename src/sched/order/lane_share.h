/*
 * lane_share - flows and limits of queues in a round: what orders new work
 * besides usage, and what stops it.
 *
 * The flow if a job were scheduled is max(F, cost(usage + job)), where F is
 * the flow when the round began, or what was used before the plan took work
 * away: that is the lane's *floor*, and usage that grows past it leaves it
 * behind.  Private to src/sched.
 */
#pragma once

#include "sched/fairness/limits.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/order/round.h"

/* The flow of a lane's queue. */
struct lane_flow {
    struct cost floor; /* when the round began, or before usage fell */
    double fraction;   /* the floor as a part of the pool, without its weight */
    bool has_floor;    /* it was above the usage that was left */
    struct cost now;   /* see share_note() */
};

/* Before the lanes are made. */
void share_start(struct round *round);
/* The floor and the limits of a lane whose sums are there. */
void share_begin(struct round *round, struct lane *lane);
/* What stays undone may be done once flows have fallen: say when. */
void share_end(struct round *round);

/* The lane's usage is to fall: its flows do not at once (model.md 2.5). */
void share_fall(struct round *round, struct lane *lane);
/* Likewise when it has fallen, and was more: `all`, and of it `infinite`. */
void share_fell(struct round *round, struct lane *lane,
                const struct resource_vec *all,
                const struct resource_vec *infinite);
/* What a lane's flow was with all that it has admitted. */
struct share_whole {
    struct resource_vec others;
    struct cost floor;
    double fraction;
    bool has_floor;
};
/* One of several admitted claims is asked as if it were the only one (model.md
 * 6.6 d): what the lane has admitted beside it counts neither in its sums nor
 * in its flow. */
struct share_whole share_leave_out(const struct round *round, struct lane *lane,
                                   const struct resource_vec *others);
/* It counts again; the flow has not fallen meanwhile. */
void share_put_back(const struct round *round, struct lane *lane,
                    const struct share_whole *whole);
/* Undo share_fall() and share_fell() down to a count of the journal. */
void share_rollback(struct round *round, size_t journal_count);

/* The larger of a cost of the lane and its floor; the lane has a flow. */
struct cost share_above_floor(const struct lane *lane, struct cost cost);
/* Note the flow as it is now, before a stream of the lane is put in order;
 * the lane has one. */
void share_note(const struct round *round, struct lane *lane);
/* Order of lanes by the flows that were noted, each by its weight. */
int share_compare_flows(const struct round *round, const struct lane *a,
                        const struct lane *b);

/* Whether the limits of a lane that has some let its first new work start. */
bool share_allows(struct round *round, struct lane *lane);
/* What a job of a class that now starts is charged; taken from the budget,
 * unless that was done when it was admitted.  Before it is counted in the
 * lane; `index` counts the members of a gang. */
int64_t share_take(struct round *round, struct lane *lane,
                   const struct class *class, uint32_t index);
/* What the lane's first new work is charged when it is admitted; taken from
 * the budget. */
int64_t share_admit(struct round *round, struct lane *lane);
/* Admitted work counts (+1) in its lane, or not (-1), for what is infinite of
 * it. */
void share_count_claim(struct round *round, const struct claim *claim,
                       int sign);
/* A charge ends, or (less than 0) does not. */
void share_give_back(struct lane *lane, int64_t charge);
/* `count` jobs of a class came to a lane with limits, or left it. */
void share_count(struct lane *lane, const struct class *class, int64_t count);
/* Tell the lanes of a round what counts on. */
void penalty_charge(struct round *round);
