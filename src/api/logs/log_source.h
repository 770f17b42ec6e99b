/*
 * log_source - a port to the output of a pod's containers.
 *
 * main wires it to the process runtime inside this program.  Pods that run
 * elsewhere are not found here: log_hub.h asks their executors.
 *
 * Threads: `read` is called on any of the server's threads, on several at once.
 */
#pragma once

#include "base/arena.h"
#include "model/id.h"

enum {
    LOG_LINES_MAX = 100000,
    LOG_BYTES_MAX = 2000000,
};

struct Berth__Api__ListJobFilesRequest;
struct Berth__Api__ReadJobFileRequest;
struct Berth__Api__LogAnswer;

/* What is asked for. */
struct log_query {
    struct job_id job;
    struct str container;  /* "": the first */
    bool is_previous;      /* of the run before the last */
    struct str since;      /* RFC 3339, only lines after it; "": all */
    int64_t tail_lines;    /* only the last ones; < 0: all */
    size_t byte_count_max; /* at most LOG_BYTES_MAX */
    /* Of log_hub.h alone: one of these is asked instead of a log. */
    struct Berth__Api__ListJobFilesRequest *list_files;
    struct Berth__Api__ReadJobFileRequest *read_file;
};

/* What was found. */
struct log_answer {
    struct str text; /* lines "time text", oldest first, time in RFC 3339 */
    bool is_cut;     /* there is more after it */
    /* All that an executor answered; NULL: it was read here. */
    const struct Berth__Api__LogAnswer *message;
};

struct log_source {
    /* The lines of a pod, in the arena: 0.  -ERR_NOT_FOUND: no such pod or
     * container here; -ERR_UNAVAILABLE, -ERR_IO. */
    int (*read)(const struct log_source *source, const struct log_query *query,
                struct arena *arena, struct log_answer *ret_answer,
                struct err *err);
    void *ctx;
};
