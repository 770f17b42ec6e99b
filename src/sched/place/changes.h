/*
 * changes - which nodes a plan has changed: those that the pool's index does
 * not know yet, and those that searches must examine again.
 *
 * A node that changed stays *open*: the index is told when it is asked
 * (place_flush()), and not of what was undone before.  Private to src/sched,
 * for find.c and place.c; see round.h.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/place/recent.h"

/* A node whose index entry is stale, and since which entry of the journal; or
 * it stays so whatever is undone. */
struct open_node {
    size_t entry;
    uint32_t node;
};

#define OPEN_FOR_GOOD SIZE_MAX

struct changes {
    uint64_t version; /* of the nodes' free amounts */
    VEC(struct open_node) open_nodes;
    bool *is_open;        /* by node: among them */
    size_t told_count;    /* of the journal, that the index heard of */
    struct recent recent; /* the nodes that moved in the index */
};

/* A round begins. */
void place_changes_begin(struct round *round);
/* It is over. */
void place_changes_end(struct round *round);

/* What trials are charged with, in nodes looked at; need.h has the rest. */
enum {
    WORK_PUT = 2,      /* of a job that is put somewhere or taken off, ... */
    WORK_VICTIM = 400, /* ... of one for whom it was searched, ... */
    WORK_MOVE = 8,     /* ... and of a node that goes elsewhere in its index */
};

/* Trials are bounded by what they do to nodes, too (need.h). */
void place_changes_count_work(const struct round *round, uint32_t work);
/* What a node has free is another now, by the journal's entry `entry` or by
 * undoing some (OPEN_FOR_GOOD); the index is told when it is asked. */
void place_changes_note(struct round *round, uint32_t node, size_t entry);
/* The same where that may be more than before.  The index's words of what is
 * free lag behind; so they only say too much. */
void place_changes_note_growth(struct round *round, uint32_t node,
                               size_t entry);
/* All is undone down to `mark`: unless the index was told since, nodes that
 * were opened since are as it has them, and nobody need know. */
void place_changes_undo(struct round *round, size_t mark);
