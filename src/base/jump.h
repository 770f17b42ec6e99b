/*
 * jump - whether a clock can be believed, for what would be deleted by it.
 *
 * A clock that is wrong by months makes everything look old.  So when the time
 * is more than JUMP_MS_MAX ahead of what it should be, by the time that was
 * last believed and the monotonic clock, it is not believed for JUMP_HOLD_MS of
 * running: long enough to set it right.  A clock that goes back is believed at
 * once: it deletes nothing.
 *
 * Threads: none of it is shared.
 */
#pragma once

#include "base/clock.h"

enum {
    JUMP_MS_MAX = 7 * 24 * 3600 * 1000,
    JUMP_HOLD_MS = 24 * 3600 * 1000,
};

struct jump {
    int64_t trusted_ms;     /* the time, as last believed, */
    uint64_t trusted_ns;    /* and when that was */
    uint64_t hold_until_ns; /* 0: nothing is held */
};

/* Begin.  `last_ms`: a time that was right before, or 0: there is none. */
void jump_init(struct jump *jump, const struct clock *clock, int64_t last_ms);
/* Whether the time is believed now.  `ret_ahead_ms`: how far it is ahead. */
bool jump_is_believed(struct jump *jump, const struct clock *clock,
                      int64_t *ret_ahead_ms);
