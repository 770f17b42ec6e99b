/*
 * session - a program in a job, used from here: what is typed goes to it, what
 * it writes comes here.
 *
 * With a terminal of its own its output goes to the user's terminal as it is,
 * and keys go to it as they are.  Without one, what a terminal would obey is
 * shown instead (wire/text/printable.h); to a file or pipe all goes unchanged.
 *
 * Threads: one of its own, which reads what is typed; session_run() for one.
 */
#pragma once

#include "cli/shared/command.h"

/* What is wanted. */
struct session_wish {
    char *job_id;
    char *container; /* "": the first */
    char **words;    /* the command */
    size_t word_count;
    bool has_input, has_tty;
    int64_t time_ms_max; /* 0: as long as a session may last */
};

/* Run it to its end; the exit code: the program's, or what went wrong, which
 * has been said. */
enum cli_exit session_run(struct cli *cli,
                          const struct session_wish *wish) must_check;
