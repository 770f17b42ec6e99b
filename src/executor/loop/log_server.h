/*
 * log_server - answers the server's requests for logs, files and sessions.
 *
 * The executor holds a stream open (Berth.ServeLogs) on which the server asks
 * and it answers, several questions at a time (log_readers.h); the server
 * cannot reach it otherwise.  With a server that does not know this method
 * (Armada's), the executor tries again only now and then.
 *
 * Threads: one of its own, and its readers; the runtime's logs() and files()
 * may be called from any.
 */
#pragma once

#include "executor/runtime.h"
#include "rpc/rpc_channel.h"

struct log_server_options {
    struct str executor_id;           /* copied */
    struct runtime *runtime;          /* borrowed; must outlive it */
    const struct rpc_header *headers; /* credentials; copied */
    uint32_t header_count;
    int64_t retry_ms; /* after a stream that ended; 0: the default */
};

struct log_server;

/* Serve over `channel`, which it takes and closes.  NULL: no thread can be
 * had; the channel is closed then too. */
struct log_server *log_server_start(struct rpc_channel *channel,
                                    const struct log_server_options *options,
                                    struct err *err) must_check;
/* Stop and free.  NULL is fine. */
void log_server_stop(struct log_server *server);
DEFINE_AUTO(log_server, log_server_stop)
