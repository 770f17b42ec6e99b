/*
 * round_robin - lists of waiting work that each give one in turn, and how many
 * of that order are passed over at once: for sched_lend_candidates().
 *
 * Those who hand out work begin where they ended before, which may be a
 * million jobs on.  To pass over these one by one each time would cost their
 * square, so here it costs the lists and their blocks.
 *
 * Within src/sched only.
 */
#pragma once

#include "sched/state/state.h"

/* A list while its work is handed out, one after the other. */
struct turn {
    const struct list *list;
    const struct job *first; /* of its work */
    uint32_t rank;           /* of its queue */
    struct seq_cursor at;
    bool is_over;
};

/* All of them, in the order of who gives first. */
struct turns {
    const struct sched *sched;
    struct turn *items;
    uint32_t count;
};

/* The next of a list that may be lent, or NONE at its end. */
uint32_t turn_take(const struct sched *sched, struct turn *turn);

/* Pass over the first `skip_count` that the lists `begin` to `end`, which are
 * as yet untouched, give by turns; those that the last plan starts or fails are
 * marked JOB_PLANNED and are not given.  The list that gives next, or `end` if
 * all have given all; `*ret_skipped` were passed over. */
uint32_t turns_skip(struct turns *turns, uint32_t begin, uint32_t end,
                    uint32_t skip_count, uint32_t *ret_skipped);
