/*
 * lent - which jobs wait with a lender: each asks its application at home all
 * the while.  Private to src/pools.
 */
#pragma once

#include "pools/tables/router.h"

/* A job that waits at home is about to be lent. */
void lent_begin(struct pools *pools, uint32_t job);
/* It would be home again, but that its shard cannot let it go yet. */
void lent_recall(struct pools *pools, uint32_t job);
/* It is home again. */
void lent_end(struct pools *pools, uint32_t job);
/* If it is out, it will not be back as it was: it starts or ends, or is
 * elsewhere at home. */
void lent_over(struct pools *pools, uint32_t job);
/* Its queue goes by applications by now, and this is its own. */
void lent_ask(struct pools *pools, uint32_t job, struct str application,
              bool has_stateaware_off);
/* Free what is kept of them. */
void lent_fini(struct pools *pools);
