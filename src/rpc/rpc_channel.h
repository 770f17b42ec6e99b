/*
 * rpc_channel - calls gRPC methods of one server.
 *
 * A channel connects when first used, reconnects by itself (waiting at most
 * 5 s between attempts) and carries any number of calls at once.  Unless a
 * call waits for ready, it fails with UNAVAILABLE while there is no
 * connection.  Nothing is retried: the caller knows what may be repeated.
 *
 * Threads: a channel may be used from any thread.  Callbacks run on the
 * channel's own thread with no lock held and must not block.  A stream has
 * one user, or one who sends and one who takes; rpc_stream_cancel() and
 * rpc_stream_wake() may come from any thread while it is open.
 */
#pragma once

#include "base/strbuf.h"
#include "rpc/rpc.h"

enum {
    RPC_CHANNEL_HEADERS_MAX = 16,
};

struct rpc_channel;
struct rpc_stream;

/* PEM files for a TLS channel. */
struct rpc_channel_tls {
    const char *ca_file;          /* NULL: the system's */
    const char *certificate_file; /* NULL, or shown to the server */
    const char *key_file;         /* of that certificate */
    const char *server_name;      /* expected name; NULL: the address's */
};

/* Whether a channel could use them.  -ERR_IO: the text names the file and the
 * reason. */
int rpc_channel_check_tls(const struct rpc_channel_tls *tls,
                          struct err *err) must_check;

/* What a channel is made from; zero means the default.  All is copied. */
struct rpc_channel_options {
    const char *address;               /* "host:port" */
    const struct rpc_channel_tls *tls; /* NULL: plain */
    size_t receive_bytes_max;          /* RPC_RECEIVE_BYTES_DEFAULT_MAX */
    const char *user_agent; /* goes before the library's own; may be NULL */
};

/* One header of a request. */
struct rpc_header {
    const char *name; /* lower case; "-bin" ones are not supported */
    const char *value;
};

/* How one call is made; zero means the default, so does a NULL pointer. */
struct rpc_call_options {
    int64_t timeout_ms;               /* 0: none; <0: it has passed already */
    const struct rpc_header *headers; /* [header_count], copied */
    uint32_t header_count;
    bool is_gzip;           /* compress what is sent */
    bool is_wait_for_ready; /* wait for a connection instead of failing */
};

/* Make a channel; does not wait for the server.  NULL with `err` set when the
 * address makes no sense or a TLS file cannot be read. */
struct rpc_channel *rpc_channel_open(const struct rpc_channel_options *options,
                                     struct err *err) must_check;

/* Cancel what is under way, wait for its callbacks, and free.  Streams must
 * have been closed.  Not from a callback.  NULL is fine. */
void rpc_channel_close(struct rpc_channel *channel);
DEFINE_AUTO(rpc_channel, rpc_channel_close)

/* Call a unary method and wait.  `ret_reply` is cleared, and filled on RPC_OK;
 * `ret_status` (may be NULL) always says how it ended.  Returns its code. */
enum rpc_code rpc_channel_call(struct rpc_channel *channel, const char *path,
                               struct str request,
                               const struct rpc_call_options *options,
                               struct strbuf *ret_reply,
                               struct rpc_status *ret_status);

/* Told how an asynchronous call ended; both are valid until it returns. */
typedef void rpc_reply_fn(void *ctx, const struct rpc_status *status,
                          struct str reply);

/* Call a unary method (the request is copied) and return at once.  `on_reply`
 * is called exactly once, on the channel's thread. */
void rpc_channel_call_async(struct rpc_channel *channel, const char *path,
                            struct str request,
                            const struct rpc_call_options *options,
                            rpc_reply_fn *on_reply, void *ctx);

/* What waiting on a stream came to. */
enum rpc_wait {
    RPC_WAIT_READY,   /* done */
    RPC_WAIT_TIMEOUT, /* time passed or rpc_stream_wake(); nothing changed */
    RPC_WAIT_ENDED,   /* the call is over: see rpc_stream_status() */
};

/* Begin a server-stream or bidi call.  The caller closes it. */
struct rpc_stream *
rpc_stream_open(struct rpc_channel *channel, const char *path,
                const struct rpc_call_options *options) must_check;

/* Send one message (copied).  Waits up to `timeout_ms` (<0: for ever) until
 * the one before was taken by the transport; READY means that this one is on
 * its way, TIMEOUT that it was not accepted.  Not after close_send. */
enum rpc_wait rpc_stream_send(struct rpc_stream *stream, struct str message,
                              int64_t timeout_ms);

/* Say that no more will be sent; a server stream's one request wants it.
 * Does not wait. */
void rpc_stream_close_send(struct rpc_stream *stream);

/* Wait up to `timeout_ms` (<0: for ever, 0: only look) for the next message
 * and replace the contents of `ret_message` by it.  Up to 64 messages or 64
 * KiB (and the one that exceeds it) are taken from the transport ahead of the
 * reader. */
enum rpc_wait rpc_stream_next(struct rpc_stream *stream, int64_t timeout_ms,
                              struct strbuf *ret_message);

/* Make a waiting rpc_stream_next() return TIMEOUT now, or the following one
 * if none waits (a message that is already there still comes first). */
void rpc_stream_wake(struct rpc_stream *stream);

/* End the call from this side: it is soon RPC_WAIT_ENDED with CANCELLED. */
void rpc_stream_cancel(struct rpc_stream *stream);

/* Whether the call has ended, though what came before may not all be taken:
 * then that is seen by a message that could not be sent, so who takes nothing
 * has to send something now and then. */
bool rpc_stream_is_over(struct rpc_stream *stream) must_check;

/* How the call ended.  Only after RPC_WAIT_ENDED. */
const struct rpc_status *rpc_stream_status(const struct rpc_stream *stream);

/* Cancel if not ended, and free.  NULL is fine. */
void rpc_stream_close(struct rpc_stream *stream);
DEFINE_AUTO(rpc_stream, rpc_stream_close)
