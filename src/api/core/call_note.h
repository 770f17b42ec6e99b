/*
 * call_note - what is logged about a call when it ends, for operators: who did
 * what, and the result.
 *
 * Everything is borrowed until the callback returns.
 *
 * Threads: the one that ends the call; see the callback.
 */
#pragma once

#include "base/str.h"
#include "rpc/rpc_server.h"

/* One call that is over. */
struct api_note {
    const char *method; /* "/api.Submit/CancelJobs" */
    /* The caller's; where something is to be told, one made up; else "". */
    const char *request_id;
    /* "anna"; "uid:1000"; of who was not let in, the name given, or "". */
    struct str user;
    struct str peer;           /* "ipv4:10.0.0.1:4000" */
    struct str queue, job_set; /* acted on; "": none, or several */
    struct str job;            /* into which a session leads; "": none */
    enum rpc_code code;
    const char *text; /* why not; "" */
    int64_t took_us;
    bool is_begun;  /* not over: a session that may last long */
    bool is_denied; /* the caller may not do that */
    bool is_change; /* of something that people set: not jobs submitted */
    bool is_login;  /* the user's password was right, for the first time since
                       the start */
    bool has_credentials;
};

/* Told of a call; on any thread. */
typedef void api_note_fn(void *ctx, const struct api_note *note);
