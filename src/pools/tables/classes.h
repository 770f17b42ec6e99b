/*
 * classes - classes of jobs behind pools.h: the router's handle of each, and a
 * shard's, which learns of one with the first of its jobs there.  Private to
 * src/pools.
 *
 * Threads: the router's owner.
 */
#pragma once

#include "pools/tables/router.h"

/* A shard's handle of a class, made when it is the first of it there. */
uint32_t shard_class(struct pools *pools, struct shard *shard,
                     uint32_t class_index);
/* The router's handle of a shard's class. */
uint32_t class_back(const struct shard *shard, uint32_t local);
/* Take over all classes of the Default shard. */
void classes_adopt(struct pools *pools);
/* Count one delta less that names a class. */
void class_unpin(struct pools *pools, uint32_t class_index);
/* Forget the classes that were removed while a shard was planned. */
void classes_settle(struct pools *pools);
/* Free the table of classes. */
void pool_classes_fini(struct pools *pools);
