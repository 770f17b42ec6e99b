/*
 * windows - whether a class may start on a node that a maintenance window is
 * going to close.
 *
 * Work with a time limit starts if it ends by the beginning of the window, and
 * work without one as long as that is far enough away (struct node_record).  In
 * the window nothing starts: it has begun, so nothing ends before.  A window
 * ends when the record has it no longer; until then time only closes nodes, so
 * what has failed once in a round or a sweep still does.
 *
 * Times are in ms since 1970.  Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* The node's record is another: count it if it has a window. */
void windows_note(struct sched *sched, uint32_t node);
/* Whether any node has a window. */
static inline bool windows_are_any(const struct sched *sched)
{
    return sched->window_node_count > 0;
}
/* The last moment at which work of a class may start on a node; INT64_MAX: at
 * any time. */
int64_t windows_last_start_ms(const struct sched *sched,
                              const struct class *class, uint32_t node);
/* Whether work of a class that would start on a node at a time would run into
 * its window. */
static inline bool windows_bar(const struct sched *sched,
                               const struct class *class, uint32_t node,
                               int64_t at_ms)
{
    return sched->nodes.items[node].has_window &&
           at_ms > windows_last_start_ms(sched, class, node);
}
