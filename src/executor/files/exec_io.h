/*
 * exec_io - receives frames (exec_frame.h) from a socket into a buffer.
 *
 * Threads: the buffer's owner.
 */
#pragma once

#include "executor/files/exec_frame.h"

enum {
    /* What a buffer must be able to hold. */
    EXEC_IO_BYTES_MAX =
        EXEC_HEAD_BYTES + EXEC_START_BYTES_MAX + EXEC_DATA_BYTES_MAX,
};

enum exec_io {
    EXEC_IO_SOME,    /* something came */
    EXEC_IO_NOTHING, /* nothing is there now; only without waiting */
    EXEC_IO_GONE,    /* the other end is */
};

/* Append what comes, up to EXEC_DATA_BYTES_MAX, to a buffer without a whole
 * frame in it. */
enum exec_io exec_io_receive(struct strbuf *in, int fd, bool waits) must_check;
/* Forget the first bytes. */
void exec_io_drop(struct strbuf *in, size_t byte_count);
