/*
 * cli - what berthctl needs of the world around it, and what it exits with.
 *
 * Threads: one.
 */
#pragma once

#include <stdio.h>

#include "base/clock.h"
#include "base/rng.h"

/* What berthctl exits with; scripts rely on them.  A command that follows one
 * job to its end exits with the job's own code instead. */
enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1,      /* the server refused or failed; text says how */
    CLI_USAGE = 2,       /* the command line makes no sense */
    CLI_NOT_FOUND = 3,   /* what was named does not exist */
    CLI_DENIED = 4,      /* not authenticated, or not permitted */
    CLI_UNAVAILABLE = 5, /* the server cannot be reached, or not now */
    CLI_INVALID = 6,     /* a file or a request that breaks a rule */
    CLI_JOB_FAILED = 7,  /* a job that was waited for did not succeed */
    CLI_TIMEOUT = 8,     /* the time that was given for it has passed */
};

/* The outside world, borrowed. */
struct cli_ports {
    FILE *in, *out, *err;
    const struct clock *clock;
    const struct rng *rng;
    const char *home;             /* $HOME, or NULL */
    const char *server;           /* $BERTH_SERVER, or NULL */
    const char *term;             /* $TERM, or NULL */
    bool is_terminal;             /* `out` is one */
    bool is_input_terminal;       /* `in` is one */
    bool has_colours;             /* `out` may get them */
    int width;                    /* of `out`, a terminal; 0: unknown */
    int height;                   /* likewise; 0 also if nothing may be drawn
                                     over what was written */
    void (*pause_ms)(int64_t ms); /* NULL: not at all */
};
