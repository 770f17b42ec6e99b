/*
 * watch_screen - the jobs of a job set as one table on a terminal, redrawn in
 * place: jobs that have not ended first, the last changed before the rest.
 *
 * Ownership: the caller destroys it.  Threads: one.
 */
#pragma once

#include "base/vec.h"
#include "cli/shared/command.h"

/* How a job stands. */
struct watch_row {
    char *job_id; /* owned by the screen; NULL: not noted yet */
    const char *state;
    bool is_over;
    int64_t since_s; /* since the epoch */
    char *node;      /* owned; NULL: none */
    char *reason;    /* owned; NULL: none */
    uint64_t change; /* counts up */
};

struct watch_screen {
    struct cli *cli;
    VEC(struct watch_row) rows; /* by the watch's index of jobs */
    uint64_t change_count;
    int line_count; /* drawn last */
    int64_t drawn_ms;
    bool is_stale; /* something was noted since */
};

/* Whether the output is a terminal that can hold one. */
bool watch_screen_fits(const struct cli *cli);
/* Free all it holds. */
void watch_screen_fini(struct watch_screen *screen);

/* A job came into a state at a time.  An empty `node` or `reason` leaves what
 * was there. */
void watch_screen_note(struct watch_screen *screen, uint32_t index,
                       const struct watch_row *row);
/* Draw it, with a line of `summary` above. */
void watch_screen_draw(struct watch_screen *screen, const char *summary);
/* How long to wait for more before it should be drawn. */
int64_t watch_screen_wait_ms(const struct watch_screen *screen);
/* Whether it was drawn long ago, however much comes. */
bool watch_screen_is_due(const struct watch_screen *screen);
