/*
 * unmet - older applications of a queue go first, also where there is no room
 * for them (model.md 3.5): which of their work found none in this round.
 *
 * Private to src/sched, for order/unmet.c and order_reserve.c; see order.h.
 */
#pragma once

#include "sched/order/order.h"

/* What found no room in this round; there is some if `claim` has a lane. */
struct unmet {
    struct claim claim;
    struct head head; /* as it stood in its lane */
};

struct order_hold {
    struct unmet going;  /* the first of applications that go on */
    struct unmet chosen; /* of the one that is to start: counts when it has */
    bool is_made;        /* `reservation` is good; NONE nodes: there is none */
    struct reservation reservation;
};

/* What of the queue's older applications goes before the work of a list, and
 * needs a reservation (lane->hold is there then), or NULL. */
const struct claim *order_older(const struct round *round, struct lane *lane,
                                uint32_t list);
