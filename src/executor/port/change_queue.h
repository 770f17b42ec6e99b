/*
 * change_queue - the changes of a runtime that its executor has not taken yet.
 *
 * Ownership: the queue copies what is pushed; what is taken is valid until the
 * next take.  Threads: one owner.
 */
#pragma once

#include "base/vec.h"
#include "executor/runtime.h"

/* A change, and the memory of its texts. */
struct queued_change {
    struct runtime_change change;
    void *memory; /* owned; NULL: it has no texts */
};

/* Zeroed memory is an empty queue. */
struct change_queue {
    VEC(struct queued_change) items; /* from `first` on: not taken yet */
    size_t first;
    size_t freed; /* below: their memory has been freed */
};

/* Free all. */
void change_queue_fini(struct change_queue *queue);
/* Append a copy. */
void change_queue_push(struct change_queue *queue,
                       const struct runtime_change *change);
/* Take up to `change_max`, in order; returns how many. */
uint32_t change_queue_take(struct change_queue *queue,
                           struct runtime_change *ret_changes,
                           uint32_t change_max);
/* Whether there is nothing to take. */
static inline bool change_queue_is_empty(const struct change_queue *queue)
{
    return queue->first == queue->items.count;
}
