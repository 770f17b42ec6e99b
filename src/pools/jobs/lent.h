/*
 * lent - which jobs wait with a lender; each still counts for its application
 * at home.  Private to src/pools.
 *
 * Threads: the router's owner.
 */
#pragma once

#include "pools/tables/router.h"

/* Keep the application of a job that waits at home, before it is lent. */
void lent_begin(struct pools *pools, uint32_t job);
/* Let a job that cannot leave its lender yet ask at home as if it had. */
void lent_recall(struct pools *pools, uint32_t job);
/* Forget that it is lent: it is home again. */
void lent_end(struct pools *pools, uint32_t job);
/* If it is lent, withdraw what it asks for at home: it starts, ends, or has
 * another home now. */
void lent_over(struct pools *pools, uint32_t job);
/* Ask another application at home: its queue goes by applications now. */
void lent_ask(struct pools *pools, uint32_t job, struct str application,
              bool has_stateaware_off);
/* Free what is kept of them. */
void lent_fini(struct pools *pools);
