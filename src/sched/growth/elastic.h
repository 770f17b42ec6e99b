/*
 * elastic - one step of growing and shrinking (model.md 4.5): a dry run over
 * units that says how many pods each unit is to have.
 *
 * A unit has `count` pods.  Below `min` it waits, and its pods do not count.
 * The step adds pods to units one at a time: within a queue from left to right
 * in cfs order, over and over; the next queue is always the first by
 * `compare_lanes`.  Then, while there is more load than allowed, it removes
 * pods from the right.  If neither changed anything, it makes room for a unit
 * that waits; or else, where scores are far from even, it moves one pod from a
 * queue's rightmost unit to its leftmost.
 *
 * The space decides what fits where.  Whatever it answers, the step ends: no
 * unit passes its `max`, no pod is removed below `min`, and a unit that did not
 * grow is not asked again.  Units to the right of one that waits do not grow if
 * what is free, or may be taken, would serve the one that waits.
 *
 * Private to src/sched.  Pure.
 */
#pragma once

#include "base/arena.h"
#include "sched/state/cfs.h"

struct elastic_unit {
    struct cfs_key key;
    uint32_t lane; /* its queue's */
    uint32_t min, max;
    uint32_t count;  /* as it is; then as it is to be */
    bool is_frozen;  /* it was scaled not long ago */
    bool is_held;    /* it does not grow in this step */
    uint32_t handle; /* the caller's */
};

/* What the step asks about room; all of it is about units[index]. */
struct elastic_space {
    void *context;
    /* Take room for the minimum of a unit that waits; false: nothing was
     * taken.  NULL: none is started here. */
    bool (*start)(void *context, uint32_t index);
    /* Whether a unit that waits could start in what is free and what the
     * others have above their minimums and is not frozen.  With `start`. */
    bool (*could_start)(void *context, uint32_t index);
    /* Take room for one more pod; false: there is none. */
    bool (*grow)(void *context, uint32_t index);
    /* Give back that of one pod; false: of none that may go. */
    bool (*shrink)(void *context, uint32_t index);
    /* Whether more is asked for than allowed, of something that a pod of the
     * unit asks for. */
    bool (*is_overloaded)(void *context, uint32_t index);
    /* A place to come back to, and coming back. */
    uint64_t (*mark)(void *context);
    void (*back)(void *context, uint64_t mark);
    /* <0 or >0 as a queue's growth comes before or after another's, now. */
    int (*compare_lanes)(void *context, uint32_t a, uint32_t b);
};

struct elastic_rules {
    int64_t aging_ms;
    int64_t evenness_ppm;
    uint32_t growth_max; /* pods, in one step */
    bool has_changed;    /* units started in the step before it was made */
};

/* Put units in order: by lane, then by cfs_compare(). */
void elastic_sort(struct elastic_unit *units, uint32_t count, int64_t aging_ms,
                  struct arena *arena);

/* Make the step on units that are in that order.  True: `growth_max` was met;
 * there is more to do. */
bool elastic_step(struct elastic_unit *units, uint32_t count,
                  const struct elastic_rules *rules,
                  const struct elastic_space *space, struct arena *arena);
