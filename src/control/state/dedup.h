/*
 * dedup - which job was submitted to a queue with a client id, for the recent
 * ones; older ones are looked up elsewhere (control.h, find_client_id).
 *
 * Keys are 16-byte hashes under a secret seed.  The oldest entry is the first
 * to be forgotten.  Bytes: 40 an entry and 4 to 8 of index.
 *
 * Pure.  Threads: one owner.
 */
#pragma once

#include "model/id.h"
#include "model/pack.h"

enum {
    DEDUP_RECENT_COUNT = 1 << 18, /* kept whatever happens */
    DEDUP_COUNT_MAX = 1 << 22,    /* never more, though older are unknown */
};

struct dedup;

/* An empty one; `seed` is drawn once in the life of a log. */
struct dedup *dedup_create(uint64_t seed) must_check;
/* NULL is fine. */
void dedup_destroy(struct dedup *dedup);
DEFINE_AUTO(dedup, dedup_destroy)

/* The key of a client id in a queue. */
struct key128 dedup_key(const struct dedup *dedup, struct str queue,
                        struct str client_id);
/* The job with that key; false if it is not among the recent. */
bool dedup_find(const struct dedup *dedup, struct key128 key,
                struct job_id *ret_job);
/* The record `seq` of the log says that `job` has that key; the later job of
 * two with the same key counts. */
void dedup_put(struct dedup *dedup, struct key128 key, struct job_id job,
               uint64_t seq);
/* Forget the oldest, down to DEDUP_RECENT_COUNT, as far as they come from
 * records up to `seq` (which others know), and beyond DEDUP_COUNT_MAX in any
 * case. */
void dedup_forget(struct dedup *dedup, uint64_t seq);
/* How many there are. */
uint32_t dedup_count(const struct dedup *dedup);
/* Whether any was ever forgotten, so that a key that is not found may be an
 * older one. */
bool dedup_has_forgotten(const struct dedup *dedup);

/* Append all, packed, seed included. */
void dedup_pack(const struct dedup *dedup, struct strbuf *buf);
/* Take back what was packed into a new one; NULL if it is not that. */
struct dedup *dedup_unpack(struct pack_reader *reader) must_check;
