/*
 * intern - strings to dense indexes and back.
 *
 * Indexes count from 0 in the order of first appearance and are never reused;
 * the bytes stay where they are until intern_destroy().  Index order is the
 * only order of iteration, so nothing depends on the hash.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/str.h"

enum { INTERN_NONE = UINT32_MAX, INTERN_COUNT_MAX = 1 << 30 };

struct intern;

/* The caller owns it. */
struct intern *intern_create(void) must_check;
void intern_destroy(struct intern *intern);
DEFINE_AUTO(intern, intern_destroy)

/* The index of `s`, added if new (copied). */
uint32_t intern_add(struct intern *intern, struct str s);
/* The index of `s`, or INTERN_NONE. */
uint32_t intern_find(const struct intern *intern, struct str s);
/* The string of an index that exists; borrowed until intern_destroy(), and
 * NUL-terminated. */
struct str intern_get(const struct intern *intern, uint32_t index);
uint32_t intern_count(const struct intern *intern);
