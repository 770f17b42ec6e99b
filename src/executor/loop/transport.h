/*
 * transport - the executor's transport over gRPC: ExecutorApi of one server.
 *
 * Exchanges run on a thread of their own, because a stream has one reader;
 * reports are asynchronous calls.  What arrives is queued and the wake
 * descriptor becomes readable.
 *
 * Threads: the port's functions belong to the executor's thread.
 */
#pragma once

#include "executor/loop/executor.h"
#include "rpc/rpc_channel.h"

enum {
    TRANSPORT_ARRIVALS_BYTES_MAX = 64 << 20, /* then reading waits */
    TRANSPORT_REPORT_TIMEOUT_MS = 30000,
};

struct transport_options {
    const struct rpc_header *headers; /* credentials; copied */
    uint32_t header_count;
    bool is_gzip; /* compress, as Armada's executor does */
};

struct transport;

/* A transport over `channel`, which it takes and closes; its
 * receive_bytes_max should be EXECUTOR_MESSAGE_BYTES_MAX.  NULL: it cannot
 * have a descriptor or a thread; the channel is closed then too. */
struct transport *transport_create(struct rpc_channel *channel,
                                   const struct transport_options *options,
                                   struct err *err) must_check;
/* End what is under way and free.  NULL is fine. */
void transport_destroy(struct transport *transport);
DEFINE_AUTO(transport, transport_destroy)

/* The port, borrowed. */
struct executor_transport *transport_port(struct transport *transport);
/* Readable when next() has something; borrowed. */
int transport_wake_fd(const struct transport *transport);
/* Call after a wake, before executor_step(). */
void transport_clear_wake(struct transport *transport);
