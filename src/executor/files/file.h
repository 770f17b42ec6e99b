/*
 * file - small files that must be there whole or not at all.
 *
 * All names are relative to an open directory, so that nothing depends on the
 * working directory.  Threads: no state; any thread.
 */
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include "base/strbuf.h"

/* Replace `name` by `bytes`: written to a temporary file, synced, renamed.
 * The directory itself is synced only by file_sync_dir().  -ERR_FULL,
 * -ERR_IO. */
int file_replace(int dir_fd, const char *name, struct str bytes, mode_t mode,
                 struct err *err) must_check;

/* Open a regular file to read.  Neither opening nor reading it can block: a
 * link, a FIFO or a device is -ERR_IO.  Else as file_read(). */
int file_open(int dir_fd, const char *name, struct err *err) must_check;

/* Open `path` below a directory, no part of which may be a link or lead out of
 * it: for what a job may have changed.  `flags` as for open(), which creates
 * nothing.  -1 with errno. */
int file_open_below(int dir_fd, const char *path, int flags) must_check;

/* List a directory from its beginning, by a descriptor of its own, which no
 * program that is started inherits.  The caller's to closedir(); NULL with
 * errno. */
DIR *file_list(int dir_fd) must_check;

/* Append the contents of `name` to `buf`, at most up to its bound.
 * -ERR_NOT_FOUND, -ERR_LIMIT (too big), -ERR_IO. */
int file_read(int dir_fd, const char *name, struct strbuf *buf,
              struct err *err) must_check;

/* Make directory entries durable. */
int file_sync_dir(int dir_fd, struct err *err) must_check;

/* Write a text to an existing file at `path` (cgroup files and their like).
 * -ERR_NOT_FOUND, -ERR_IO. */
int file_poke(const char *path, const char *text) must_check;
