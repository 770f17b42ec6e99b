/*
 * damage_small - the small files of a data directory and of the runs in it, and
 * what those make of damages who read them.
 *
 * A run's `lock` and `done`, and `lock` of jobs/, are empty.
 */
#pragma once

#include "damage_tally.h"

/* How many files there are. */
uint32_t damage_small_count(void);
/* Make the file with this index, damage it by the seed, and have it read. */
enum outcome damage_small_try(uint32_t file, uint64_t seed,
                              struct damage *ret_damage);
