/*
 * prop - property tests that draw their numbers from a tape.
 *
 * A property is a function that draws what it needs and says whether it
 * holds.  Random runs record the tape; when one fails, the tape is shrunk and
 * replayed, so no generator needs a shrinker of its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROP_OPEN_ONE_IN = 1000, PROP_OPEN_FEW = 2 };

struct tape;

typedef bool prop_fn(struct tape *tape);

/* A number in low..high, both included.  Smaller ones shrink better, so make
 * `low` the simplest case. */
uint64_t draw(struct tape *tape, uint64_t low, uint64_t high);
/* The same as an int, which may be negative. */
static inline int pick(struct tape *tape, int low, int high)
{
    return (int)draw(tape, (uint64_t)low, (uint64_t)high);
}
/* True once in `n` times; false is the simpler case. */
static inline bool once_in(struct tape *tape, int n)
{
    return pick(tape, 0, n - 1) == n - 1;
}

/* Run `property` `run_count` times from `seed` (0: from $PROP_SEED, else 1).
 * $PROP_RUNS is another count; with $PROP_SECONDS it ends after that time, or
 * after $PROP_RUNS if that is sooner.  $PROP_ONLY leaves out what has not this
 * in its name, $PROP_COUNT prints how many runs there were.  On failure print
 * the name, the seed, the run and the shrunk tape, and return false. */
bool prop_check(const char *name, prop_fn *property, unsigned run_count,
                uint64_t seed);

/* This run leaves open whether it holds: it counts as one that does.  How many
 * do is printed too, and prop_check() returns false when it is more than one in
 * PROP_OPEN_ONE_IN, beside the first few. */
void prop_note_open(struct tape *tape);

/* Run `property` once on `bytes` as the tape; past its end draws give low.
 * For libFuzzer and for replaying a shrunk tape. */
bool prop_replay(prop_fn *property, const uint8_t *bytes, size_t byte_count);
