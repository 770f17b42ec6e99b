/*
 * sha256 - the digest by which published schedules are compared (FIPS 180-4).
 */
#pragma once

#include "base/str.h"

enum { SHA256_BYTES = 32 };

/* A digest under way. */
struct sha256 {
    uint32_t state[8];
    uint64_t byte_count;
    uint8_t block[64];
};

/* Begin. */
void sha256_init(struct sha256 *sha);
/* Take more bytes. */
void sha256_add(struct sha256 *sha, struct str bytes);
/* The digest of all bytes. */
void sha256_finish(struct sha256 *sha, uint8_t ret_digest[SHA256_BYTES]);
