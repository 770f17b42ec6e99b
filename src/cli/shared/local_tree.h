/*
 * local_tree - files that are written below one folder and nowhere else,
 * whatever their paths say and whatever stands there already.
 *
 * A path is an inner_path.h; no link below the folder is followed.  A file is
 * there whole or not at all: it is written under another name and then renamed,
 * over a file or a link that has its own.
 *
 * Threads: one; two programs may write into one folder.
 */
#pragma once

#include "base/str.h"

/* A file that is being written. */
struct local_file {
    int fd;        /* to write to; owned */
    int folder_fd; /* owned */
    char name[256], temporary[64];
};

/* Make a folder, and those on the way, where they are not.  -ERR_INVALID: the
 * path is none; -ERR_IO. */
int local_tree_make(int folder_fd, const char *path,
                    struct err *err) must_check;
/* Begin a file, with the folders on the way.  As above. */
int local_tree_begin(int folder_fd, const char *path, bool is_executable,
                     struct local_file *ret_file, struct err *err) must_check;
/* End it; unless `is_good`, nothing is left of it.  -ERR_IO. */
int local_tree_end(struct local_file *file, bool is_good,
                   struct err *err) must_check;
