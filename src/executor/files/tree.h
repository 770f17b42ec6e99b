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

#include "base/base.h"

enum { TREE_FDS_MAX = 16 };

/* Remove `name` and all below it.  What cannot be removed is left. */
void tree_remove(int dir_fd, const char *name);

/* The same in steps: remove at most `*budget` entries and take their number
 * off it.  True: all is removed, or what is left cannot be. */
bool tree_remove_some(int dir_fd, const char *name, int *budget) must_check;
