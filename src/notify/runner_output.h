/*
 * runner_output - what a command writes to its standard output and error, up
 * to a bound, and the time that it has to end.
 *
 * Private to src/notify.  Threads: one owner.
 */
#pragma once

#include <sys/types.h>

#include "notify/runner.h"

struct runner_output {
    int fd; /* owned, our end of the pipe; -1: it is closed */
    size_t byte_count;
    bool is_cut; /* more was read, and dropped */
    char bytes[RUNNER_OUTPUT_BYTES_MAX];
};

/* Make the pipe.  The command's end, which the caller closes; -1 with errno: it
 * cannot be made. */
int runner_output_open(struct runner_output *output) must_check;
void runner_output_close(struct runner_output *output);

/* Whether the process has ended within `timeout_ms`; meanwhile its output is
 * read, so that it need not wait for us. */
bool runner_output_await(struct runner_output *output, pid_t pid,
                         int timeout_ms) must_check;

/* Read what is in the pipe and has room; waits for nothing. */
void runner_output_finish(struct runner_output *output);
