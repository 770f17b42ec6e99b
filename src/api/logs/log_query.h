/*
 * log_query - what is asked of a pod's logs or files, and what comes back.
 *
 * The server has none of them, also of pods that run under this very program:
 * log_hub.h asks the executor that has them, so no call waits for a disk.
 *
 * Threads: plain data.
 */
#pragma once

#include "base/arena.h"
#include "model/id.h"

enum {
    LOG_LINES_MAX = 100000,
    LOG_BYTES_MAX = 2000000,
};

struct api_call;
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
    /* One of these is asked instead of a log. */
    struct Berth__Api__ListJobFilesRequest *list_files;
    struct Berth__Api__ReadJobFileRequest *read_file;
    bool is_exec; /* a session, to which the executor comes: log_hub_claim() */
    /* Told instead of the hub when the caller goes away, also after the
     * answer; ends the call, if it is not over.  NULL: the hub does. */
    void (*gone)(struct api_call *call);
};

/* What was found. */
struct log_answer {
    struct str text; /* lines "time text", oldest first, time in RFC 3339 */
    bool is_cut;     /* there is more after it */
    /* All that the executor answered. */
    const struct Berth__Api__LogAnswer *message;
};
