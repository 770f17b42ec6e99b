/*
 * shim_log - a container's log file: what it prints, line by line, each with
 * the time at which the line was complete, as Kubernetes shows it:
 *
 *     2026-01-02T03:04:05.123456789Z text of the line
 *
 * Standard output and standard error share the file.  Beyond `byte_count_max`
 * one line says that the log is full, and the rest is read and dropped, so
 * that the writer never blocks.  The last of standard error is kept for the
 * report of a failure.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/str.h"

enum {
    SHIM_LOG_LINE_BYTES_MAX = 16384, /* longer lines are broken */
    SHIM_LOG_TAIL_BYTES_MAX = 2048,
    SHIM_LOG_STREAMS = 2, /* 0: standard output, 1: standard error */
};

struct shim_log {
    int fd; /* owned; -1: closed */
    int64_t byte_count;
    int64_t byte_count_max;
    bool is_full;
    struct {
        char line[SHIM_LOG_LINE_BYTES_MAX];
        size_t byte_count;
    } streams[SHIM_LOG_STREAMS];
    char tail[SHIM_LOG_TAIL_BYTES_MAX]; /* of standard error */
    size_t tail_byte_count;
};

/* Open (append) `name` in `dir_fd`.  -ERR_IO. */
int shim_log_open(struct shim_log *log, int dir_fd, const char *name,
                  int64_t byte_count_max, struct err *err) must_check;

/* Take what a stream printed. */
void shim_log_take(struct shim_log *log, int stream, struct str bytes);

/* Write out unfinished lines and close the file. */
void shim_log_close(struct shim_log *log);

/* Write the time `wall_ns` (since the epoch) as RFC 3339 with nanoseconds and
 * a NUL; returns `text`. */
char *shim_log_time(int64_t wall_ns, char text[40]);
