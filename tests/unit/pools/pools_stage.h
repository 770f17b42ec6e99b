/* Two or more pool objects with nodes, and jobs that wait at home in one. */
#pragma once

#include "pools/pools.h"
#include "unit.h"

enum { STAGE_MILLI = 1000 };

/* A router over the default policy, with one queue. */
struct pools_stage {
    struct policy policy;
    struct pools *pools;
    uint32_t job_count;
    const char *priority_class; /* of the jobs that follow; NULL: the default */
    int64_t now_ms;
};

/* Begin, with a queue "q" of number 0. */
void pools_stage_init(struct pools_stage *stage);
/* Check the router's tables, and free it. */
void pools_stage_fini(struct pools_stage *stage);
/* A pool object that selects nodes labelled with its name; the rest of the
 * record is as given. */
void pools_stage_pool(struct pools_stage *stage, const char *name,
                      struct pool_record record);
/* A node of `cores` in the pool object of that name; its handle. */
uint32_t pools_stage_node(struct pools_stage *stage, const char *name,
                          const char *pool, int64_t cores);
/* A job of queue 0 that asks for `cores`, at home in a pool. */
uint32_t pools_stage_job(struct pools_stage *stage, const char *pool,
                         int64_t cores);
/* The shard of a pool by name. */
uint32_t pools_stage_shard(const struct pools_stage *stage, const char *pool);
/* A full round of a pool, borrowing included; its leases happen. */
void pools_stage_round(struct pools_stage *stage, const char *pool);
