/*
 * plan - the decisions of shards' plans, the moves that follow from them, and
 * pools' last known figures.  Private to src/pools.
 *
 * Threads: the router's owner; a shard's plan is read once it is back.
 */
#pragma once

#include "pools/tables/borrow.h"
#include "pools/tables/router.h"

/* What is lent; lend.c. */

/* Jobs of a loan that are alike. */
struct loan_part {
    uint32_t class_index; /* the router's */
    uint32_t count;
};

/* What is lent of a job: it, or what waits of its gang. */
struct loan {
    uint32_t first;          /* the home's handle */
    const uint32_t *members; /* likewise; NULL: it is alone */
    uint32_t count;
    uint32_t starting;             /* the first of them may start there */
    const struct loan_part *parts; /* that must have places at once */
    uint32_t part_count;
    struct resource_vec needed; /* by all parts */
};

/* A member of a loan, by the home's handle. */
static inline uint32_t loan_member(const struct loan *loan, uint32_t at)
{
    return loan->members ? loan->members[at] : loan->first;
}

/* What would be lent of a job that waits; members live in the arena. */
void loan_of(const struct pools *pools, uint32_t job, struct arena *arena,
             struct loan *ret_loan);
/* How a shard stands as a lender; not whether its own work waits. */
void lender_of(const struct pools *pools, const struct shard *shard,
               struct lender *ret_lender);

/* Plans; plan.c. */

/* Forget what the last plan of a shard decided. */
void decisions_clear(struct pools *pools, struct shard *shard);

/* Jobs that are lent or return; moves.c. */

/* Lend a job of a shard, or send it home, if the shard's last plan stands;
 * `local` is its handle there, `to` the lender of MOVE_LEND. */
void move_later(struct shard *shard, uint32_t job, uint32_t local,
                enum move_kind kind, uint16_t to);
/* Whether a job is a borrower that waits in a shard. */
bool job_is_borrower(const struct pools *pools, const struct shard *shard,
                     uint32_t job);
/* Drop from a shard's list of borrowers those that wait there no more. */
void borrowers_settle(struct pools *pools, struct shard *shard);
/* Forget the moves and decisions of a shard's last plan. */
void moves_clear(struct pools *pools, struct shard *shard);
/* Send all waiting borrowers home, and forget which lenders they tried. */
void pools_borrowers_reset(struct pools *pools);
/* Send waiting borrowers home, but for those of shards that are being
 * planned. */
void borrowers_send_home(struct pools *pools);

/* How pools stand; figures.c. */

/* Forget figures, after pools or resources have changed. */
void pools_figures_forget(struct shard *shard);
