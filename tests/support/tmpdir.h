/*
 * tmpdir - a folder of a test's own, gone at the end with all that is in it.
 */
#pragma once

#include "base/str.h"

enum { TMPDIR_PATH_BYTES_MAX = 256 };

struct tmpdir {
    char path[TMPDIR_PATH_BYTES_MAX];
};

/* Make an empty folder under $TMPDIR (or /tmp).  Asserts if it cannot. */
void tmpdir_init(struct tmpdir *dir);
/* Remove it with all files and folders in it. */
void tmpdir_fini(struct tmpdir *dir);
/* "<folder>/<name>" in `path`, which has TMPDIR_PATH_BYTES_MAX bytes: returns
 * it. */
const char *tmpdir_path(const struct tmpdir *dir, const char *name, char *path);

#define auto_tmpdir __attribute__((cleanup(tmpdir_fini))) struct tmpdir
