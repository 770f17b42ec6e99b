/*
 * hash - 64-bit hash of bytes, the same on every machine and in every run.
 *
 * Not keyed: tables that a stranger can fill at will pass a random `seed`.
 *
 * Pure.  Threads: any.
 */
#pragma once

#include <string.h>

#include "base/base.h"

/* Spread the bits of one word over all of it. */
static inline uint64_t hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The hash of a run of bytes. */
static inline uint64_t hash_bytes(const void *bytes, size_t byte_count,
                                  uint64_t seed)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t h = seed ^ (byte_count * 0x9e3779b97f4a7c15u);

    for (; byte_count >= 8; p += 8, byte_count -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = hash_mix(h ^ word) + 0x9e3779b97f4a7c15u;
    }
    uint64_t tail = 0;
    if (byte_count) {
        memcpy(&tail, p, byte_count);
    }
    return hash_mix(h ^ tail);
}
