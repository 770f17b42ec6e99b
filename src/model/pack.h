/*
 * pack - the small binary form in which the model's values are logged:
 * varints, and strings with their length before them.
 *
 * Readers never read past the end and never fail half-way without saying so:
 * after any error `is_bad` stays set and every further read gives 0 or "".
 * The caller asks once, at the end.  Pure.
 */
#pragma once

#include "base/map.h"
#include "base/strbuf.h"

struct pack_reader {
    struct str rest; /* borrowed; what is still to be read */
    bool is_bad;
};

/* Append an unsigned number, 1 to 10 bytes. */
void pack_u64(struct strbuf *buf, uint64_t v);
/* Append a signed number; small ones of either sign are short. */
void pack_i64(struct strbuf *buf, int64_t v);
/* Append an id, or another number of 128 bits: the high half, then the low. */
void pack_key128(struct strbuf *buf, struct key128 key);
void pack_u128(struct strbuf *buf, u128 v);
/* Append a string. */
void pack_str(struct strbuf *buf, struct str s);

/* Read what pack_u64 wrote. */
uint64_t unpack_u64(struct pack_reader *reader);
/* Read a number that may be at most `max` (it counts something). */
uint32_t unpack_count(struct pack_reader *reader, uint32_t max);
/* Read what pack_i64 wrote. */
int64_t unpack_i64(struct pack_reader *reader);
/* Read what pack_key128 or pack_u128 wrote. */
struct key128 unpack_key128(struct pack_reader *reader);
u128 unpack_u128(struct pack_reader *reader);
/* Read what pack_str wrote; borrowed from the reader's bytes. */
struct str unpack_str(struct pack_reader *reader);
