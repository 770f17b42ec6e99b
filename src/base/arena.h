/*
 * arena - memory for one round or one request, given back all at once.
 *
 * Memory is zeroed, aligned to 16 bytes and valid until arena_reset() or
 * arena_fini().  Zeroed memory is an empty arena.  With -Darena_malloc=true
 * each allocation is a malloc of its own, so that ASan sees overruns.
 *
 * Threads: an arena has one owner.
 */
#pragma once

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *first; /* owned list, newest first */
    size_t byte_count;         /* handed out since the last reset */
};

/* Never NULL; `size` 0 gives a unique pointer. */
void *arena_alloc(struct arena *arena, size_t size) must_check;
void *arena_alloc_array(struct arena *arena, size_t count,
                        size_t size) must_check;
/* NUL-terminated copy of `s`. */
char *arena_strdup(struct arena *arena, struct str s) must_check;
/* Copy of `s` whose bytes live in the arena (also NUL-terminated). */
struct str arena_str(struct arena *arena, struct str s) must_check;

/* Forget all, keep the largest block for the next use. */
void arena_reset(struct arena *arena);
/* Forget all and free all. */
void arena_fini(struct arena *arena);

#define auto_arena __attribute__((cleanup(arena_fini))) struct arena
