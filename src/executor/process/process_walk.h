/*
 * process_walk - looks at all files below a directory that a job may change
 * meanwhile.
 *
 * Each directory is opened by its name in the one above, through no link and
 * into no other file system; ".." is never used.  Nothing else is opened.
 *
 * Threads: no state; any thread.
 */
#pragma once

#include <sys/stat.h>

#include "base/clock.h"
#include "base/str.h"

enum {
    PROCESS_WALK_VISITS_MAX = 40000, /* entries of one walk */
    PROCESS_WALK_MS_MAX = 2000,      /* of a walk that somebody waits for */
};

/* One file or directory; `path` below the first directory, terminated, valid
 * for the call.  False: enough. */
typedef bool process_walk_fn(void *ctx, struct str path, const struct stat *st);

/* What was not gone into. */
struct process_walk_rest {
    int64_t closed_count; /* directories that could not be opened */
    int64_t deep_count;   /* that lie RUNTIME_FILE_DEPTH_MAX below the first */
    int64_t long_count;   /* whose path would be too long, with files */
    int64_t visit_count;  /* entries that were looked at */
    bool is_cut; /* `each` said that it was enough, or there is no end, or it
                  * took too long */
};

/* Call `each` for all below a directory, in no order, a directory before what
 * is in it.  `prefix`: what paths begin with, "" or ending in a slash.
 * `clock`: by which the walk ends after PROCESS_WALK_MS_MAX; NULL: nobody waits
 * for it. */
void process_walk(int dir_fd, struct str prefix, const struct clock *clock,
                  process_walk_fn *each, void *ctx,
                  struct process_walk_rest *ret_rest);
