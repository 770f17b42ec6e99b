/*
 * log_source - a port: what the containers of a pod have written.
 *
 * main wires it to the process runtime inside this program.  Pods that run
 * elsewhere are not found.
 */
#pragma once

#include "base/arena.h"
#include "model/id.h"

enum {
    LOG_LINES_MAX = 100000,
    LOG_BYTES_MAX = 2000000,
};

/* What is asked for. */
struct log_query {
    struct job_id job;
    struct str container;  /* "": the first */
    bool is_previous;      /* of the run before the last */
    int64_t since_ms;      /* only lines after it; INT64_MIN: all */
    int64_t tail_lines;    /* only the last ones; < 0: all */
    size_t byte_count_max; /* at most LOG_BYTES_MAX */
};

struct log_line {
    int64_t time_ns; /* since the epoch */
    struct str text; /* without the newline */
};

struct log_source {
    /* The lines of a pod, oldest first, in the arena: their count.
     * -ERR_NOT_FOUND: no such pod or container here; -ERR_UNAVAILABLE: it
     * runs elsewhere; -ERR_IO. */
    int (*read)(const struct log_source *source, const struct log_query *query,
                struct arena *arena, struct log_line **ret_lines,
                struct err *err);
    void *ctx;
};
