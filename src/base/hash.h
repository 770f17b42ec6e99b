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

enum { HASH_LANES = 4 };

/* A word more in a lane.  Each step can be undone, so no other word gives the
 * same; the last term keeps a lane from staying 0 among zeros. */
static inline uint64_t hash_lane_add(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * 0x9e3779b97f4a7c15u + 0xbf58476d1ce4e5b9u;
    return lane ^ lane >> 32;
}

/* Another hash of a run of bytes, in lanes that do not wait for each other: a
 * multiple as fast for checksums of what is long.  Files keep it. */
static inline uint64_t hash_in_lanes(const void *bytes, size_t byte_count,
                                     uint64_t seed)
{
    uint64_t lanes[HASH_LANES];
    const unsigned char *p = (const unsigned char *)bytes;
    size_t rest = byte_count;

    for (uint32_t i = 0; i < HASH_LANES; i++) {
        lanes[i] = hash_mix(seed + i);
    }
    for (; rest >= sizeof(lanes); p += sizeof(lanes), rest -= sizeof(lanes)) {
        uint64_t words[HASH_LANES];
        memcpy(words, p, sizeof(words));
        for (uint32_t i = 0; i < HASH_LANES; i++) {
            lanes[i] = hash_lane_add(lanes[i], words[i]);
        }
    }
    return hash_bytes(p, rest, hash_bytes(lanes, sizeof(lanes), byte_count));
}
