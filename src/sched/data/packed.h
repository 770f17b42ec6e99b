/*
 * packed - a resource vector rounded down into one 64-bit word, so that most
 * of what does not fit is found out in three instructions.
 *
 * Four fields of 15 bits with a guard bit each hold the first four columns,
 * scaled so that the largest amount in question fills its field.  Both sides
 * are rounded down, and what is too large for its field is cut: so a word
 * that does not fit proves that the vector does not, and one that does proves
 * nothing.  Fields begin at 1: the word 0 fits nothing.
 *
 * Pure.  Threads: none of its own; values.
 */
#pragma once

#include <string.h>

#include "sched/data/amounts.h"

enum { PACKED_FIELDS = 4, PACKED_FIELD_BITS = 16, PACKED_FIELD_MAX = 0x7fff };

#define PACKED_GUARDS UINT64_C(0x8000800080008000)

/* By how many bits each field's amount is shifted right. */
struct packed_scale {
    uint8_t shift[PACKED_FIELDS];
};

/* The scale at which `largest` fits its fields. */
static inline struct packed_scale
packed_scale_for(const struct resource_vec *largest)
{
    struct packed_scale scale = {{0}};

    for (int f = 0; f < PACKED_FIELDS; f++) {
        while (largest->v[f] >> scale.shift[f] >= PACKED_FIELD_MAX) {
            scale.shift[f]++;
        }
    }
    return scale;
}

/* A vector as a word; negative amounts count as none. */
static inline uint64_t packed_of(const struct packed_scale *scale,
                                 const struct resource_vec *v)
{
    uint64_t word = 0;

    for (int f = 0; f < PACKED_FIELDS; f++) {
        uint64_t amount =
            v->v[f] > 0 ? (uint64_t)v->v[f] >> scale->shift[f] : 0;
        amount = amount < PACKED_FIELD_MAX ? amount + 1 : PACKED_FIELD_MAX;
        word |= amount << (f * PACKED_FIELD_BITS);
    }
    return word;
}

/* Whether every field of `request` is at most that of `room`. */
static inline bool packed_fits(uint64_t request, uint64_t room)
{
    return (((room | PACKED_GUARDS) - request) & PACKED_GUARDS) ==
           PACKED_GUARDS;
}

/* The larger of each field: with their guard bits 0 they are numbers of 16 bits
 * that are not negative, and there is one instruction for those. */
static inline uint64_t packed_max(uint64_t a, uint64_t b)
{
    int16_t most[PACKED_FIELDS], other[PACKED_FIELDS];

    memcpy(most, &a, sizeof(most));
    memcpy(other, &b, sizeof(other));
    for (int f = 0; f < PACKED_FIELDS; f++) {
        most[f] = most[f] > other[f] ? most[f] : other[f];
    }
    memcpy(&a, most, sizeof(a));
    return a;
}
