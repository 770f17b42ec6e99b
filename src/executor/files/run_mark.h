/*
 * run_mark - the two words that an executor leaves in a run's directory
 * (run_file.h): that it shall end, and what the server has acknowledged.  A
 * damaged one is as if it had said nothing.
 *
 * Threads: no state; any thread.
 */
#pragma once

#include "base/base.h"

/* Wish that it ends, within `grace_ms`; negative: within its own. */
void run_stop_write(int dir_fd, int64_t grace_ms);
/* The grace of that wish; `own_ms` if it says none. */
int64_t run_stop_read(int dir_fd, int64_t own_ms);

/* Note the phase (0..9) that is acknowledged.  Not synced: at worst a report
 * is repeated. */
void run_acked_write(int dir_fd, int phase);
/* That phase; 0: none, and its report is repeated. */
int run_acked_read(int dir_fd);
