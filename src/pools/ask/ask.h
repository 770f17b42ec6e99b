/*
 * ask - a shard's answers in the router's handles, and a shard's classes in
 * those of another.  For pools/ask only.
 */
#pragma once

#include "pools/tables/router.h"

/* What a shard answered, in the router's handles. */
void explanation_back(const struct shard *shard,
                      struct sched_explanation *explanation);
/* Two shards, for the `class_of` of a struct sched_elsewhere. */
struct translation {
    struct pools *pools;
    const struct shard *from;
    struct shard *to;
};

/* The handle in `to` of a class of `from`; `context` is a translation. */
uint32_t class_there(void *context, uint32_t class_index);
