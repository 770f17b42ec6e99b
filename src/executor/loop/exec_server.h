/*
 * exec_server - takes users into the pods of this executor.
 *
 * The server asks for a session on the stream of the logs (log_server.h); the
 * executor connects to the pod and opens a stream of its own for the session
 * (Berth.ServeExec), on which both copy what comes: nothing is kept but the
 * message under way, so who does not read stops who writes.
 *
 * A session ends with its stream, its connection, or the server; the pod's side
 * then ends the program.
 *
 * Threads: two for each session; all functions may be called from any.
 */
#pragma once

#include "executor/runtime.h"
#include "rpc/rpc_channel.h"

enum {
    EXEC_SERVER_SESSIONS_MAX = 32,
    /* Until the server has ended a session whose end it was told. */
    EXEC_SERVER_END_MS_MAX = 30000,
};

struct exec_server_options {
    struct str executor_id;           /* copied, as all that follows */
    const struct rpc_header *headers; /* credentials */
    uint32_t header_count;
};

struct exec_server;

/* Serve over `channel` what `runtime` has; both are borrowed. */
struct exec_server *
exec_server_create(struct rpc_channel *channel, struct runtime *runtime,
                   const struct exec_server_options *options) must_check;
/* Begin the session that question `number` is about.  -ERR_INVALID: the
 * runtime lets nobody in; -ERR_LIMIT: there are too many; errors of
 * runtime_ops.exec; -ERR_IO. */
int exec_server_begin(struct exec_server *server, uint64_t number,
                      struct job_id job, struct err *err) must_check;
/* End all sessions and free.  NULL is fine. */
void exec_server_destroy(struct exec_server *server);
