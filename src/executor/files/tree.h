/*
 * tree - removes the files of jobs, however deep and wide, whatever their
 * modes, even while they change.
 *
 * No link is followed, no other file system is entered, and no more than
 * TREE_FDS_MAX descriptors are held: what lies deeper is moved up to the top
 * of the tree first.  ".." is never used, since a job may move the directory.
 *
 * Threads: no state; any thread.
 */
#pragma once

#include "base/clock.h"

enum { TREE_FDS_MAX = 16 };

/* Remove `name` and all below it.  What cannot be removed is left. */
void tree_remove(int dir_fd, const char *name);

/* What a step of a removal may cost: there are disks on which a directory takes
 * as long to remove as a thousand files do. */
struct tree_step {
    int budget;                /* entries that may be looked at still */
    const struct clock *clock; /* NULL: it may take any time */
    uint64_t until_ns;         /* by then it ends, once something is removed */
};

/* The same in steps: remove as much as the step has left, and take it off.
 * True: all is removed, or what is left cannot be. */
bool tree_remove_some(int dir_fd, const char *name,
                      struct tree_step *step) must_check;
