/*
 * app_table - the applications of queues as the tables have them: found by
 * their ids, chained by state and by when that ends, in the order in which
 * they come.
 *
 * Private to src/sched, for apps.c and app_uses.c, which move them from state
 * to state; what others ask of applications is in apps.h.
 */
#pragma once

#include "sched/apps/apps.h"

/* The application of an index. */
static inline struct app *app_at(const struct sched *sched, uint32_t index)
{
    return &sched->apps.items[index];
}
/* The application of an id, or NONE. */
uint32_t app_find(const struct sched *sched, uint32_t queue, struct str id);
/* Take an application out of the seqs and chains of its queue while it
 * changes. */
void app_detach(struct sched *sched, uint32_t app);
/* Put it back. */
void app_attach(struct sched *sched, uint32_t app);
/* Forget one that nobody asks and that has nothing. */
void app_free(struct sched *sched, uint32_t app);
