/*
 * classes - classes of jobs behind pools.h: the router's handle of each, and a
 * shard's, which learns of one with the first of its jobs there.  Private to
 * src/pools.
 */
#pragma once

#include "pools/tables/router.h"

/* A shard's handle of a class, made when it is the first of it there. */
uint32_t shard_class(struct pools *pools, struct shard *shard,
                     uint32_t class_index);
/* The router's handle of a shard's class. */
uint32_t class_back(const struct shard *shard, uint32_t local);
/* All classes of the Default shard are the router's. */
void classes_adopt(struct pools *pools);
/* One delta less speaks of a class. */
void class_unpin(struct pools *pools, uint32_t class_index);
/* A shard is back: classes that went meanwhile are forgotten. */
void classes_settle(struct pools *pools);
/* Free the table of classes. */
void pool_classes_fini(struct pools *pools);
