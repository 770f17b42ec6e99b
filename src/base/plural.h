/*
 * plural - the grammar of counts in messages: one job, two jobs.
 *
 * Threads: pure.
 */
#pragma once

#include <stdint.h>

/* Which of two words goes with a count: plural_of(2, "is", "are") is "are". */
static inline const char *plural_of(uint64_t count, const char *one,
                                    const char *many)
{
    return count == 1 ? one : many;
}

/* What a noun ends in: "job%s". */
static inline const char *plural_s(uint64_t count)
{
    return plural_of(count, "", "s");
}
