/*
 * history - what a checkpoint has of pools: history.c packs the shards,
 * history_lending.c who is lent and what was tried for it.
 *
 * Private to these two; pools.h has what others call.
 */
#pragma once

#include "base/strbuf.h"
#include "pools/tables/router.h"

/* The shards in the order in which they are packed. */
struct shard *history_shard(const struct pools *pools, size_t at);
/* Append the borrowers of all shards, and what was tried for whom. */
void history_pack_lending(const struct pools *pools, struct strbuf *buf);
/* Read them back; what is wrong with them is in the reader. */
void history_unpack_lending(struct pools *pools, struct pack_reader *reader);
