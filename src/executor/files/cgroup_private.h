/*
 * cgroup_private - what finding control groups (cgroup_probe.c) and using them
 * (cgroup.c) share.  Not for use outside these two.
 */
#pragma once

#include "executor/files/cgroup.h"

enum { CGROUP_FILE_BYTES_MAX = CGROUP_PATH_BYTES_MAX + 128 }; /* of a path */

/* The first `capacity - 1` bytes of a file, as a string; "" if unreadable. */
void cgroup_read(const char *path, char *text, size_t capacity);

/* Make a group's directory, or find it there. */
bool cgroup_make_dir(const char *path) must_check;
