/*
 * rpc_server - answers gRPC calls from a table of methods.
 *
 * A server listens on one or more addresses, plain or with TLS, and gives
 * each call to its method's handler on one of its own threads.  The handler
 * may answer at once or keep the call and answer later from any thread.
 *
 * A call's life.  The handler owns one reference, given up by
 * rpc_call_finish(), which must be called exactly once on each call, also on
 * one that was cancelled.  After it the call may only be used through a
 * reference of one's own (rpc_call_ref).  Once finish was called no callback
 * starts, but one that already runs on another thread may still be running:
 * what callbacks point to belongs to the call with rpc_call_own(), which
 * frees it with the last reference.
 *
 * Streams pull: at most one rpc_call_send() and one rpc_call_recv() are
 * outstanding on a call, and the next message is made when the callback says
 * that the last one was taken.  So a peer that does not read costs one
 * message and the transport's window (64 KiB or so), never a growing queue.
 *
 * Callbacks and handlers run on the server's threads with no lock held.  They
 * may call everything here but rpc_server_stop() and rpc_server_destroy(),
 * and should not block for long: there are few threads.
 *
 * Transport rules kept (Armada's contract, 1.1): gzip and deflate requests
 * are inflated, the receive limit holds after that; clients may ping every
 * 10 s, also without calls; connections idle for 5 min are closed; the
 * server pings after 120 s of silence and waits 20 s.
 *
 * Threads: rpc_call_* may be called from any thread; create, stop and destroy
 * of one server from one thread at a time.
 */
#pragma once

#include "rpc/rpc.h"

enum {
    RPC_SERVER_METHODS_MAX = 256,
    RPC_SERVER_ADDRESSES_MAX = 8,
    RPC_SERVER_THREADS_MAX = 64,
    RPC_SERVER_THREADS_DEFAULT = 2,
    /* Calls under way at once, over all connections. */
    RPC_SERVER_CALLS_DEFAULT_MAX = 10000,
    /* Of these, server streams and bidi calls. */
    RPC_SERVER_STREAMS_DEFAULT_MAX = 4000,
    /* Connections in all, and of one address (over loopback: user). */
    RPC_SERVER_CONNECTIONS_DEFAULT_MAX = 4096,
    RPC_SERVER_ADDRESS_DEFAULT_MAX = 1024,
    /* Calls at once on one connection; a client queues what is over it. */
    RPC_SERVER_CONNECTION_CALLS_MAX = 1000,
    /* What the library may hold in buffers, over all connections.  A message is
     * only refused once it has all arrived, so this is what bounds it. */
    RPC_SERVER_BUFFER_BYTES_DEFAULT_MAX = 256 << 20,
    /* Request headers of one call, all together. */
    RPC_SERVER_HEADERS_BYTES_MAX = 16 << 10,
    /* Replies shorter than this are not worth compressing. */
    RPC_SERVER_GZIP_BYTES_MIN = 512,
};

struct rpc_server;
struct rpc_call;

/* Who sends how many messages.  Every kind begins with one request. */
enum rpc_kind {
    RPC_UNARY,         /* one request, one reply */
    RPC_SERVER_STREAM, /* one request, many replies */
    RPC_BIDI,          /* one request and perhaps more, many replies */
};

/* When replies are compressed (to clients that accept it, always). */
enum rpc_gzip {
    RPC_GZIP_IF_SENT,     /* when the client's request was compressed */
    RPC_GZIP_IF_ACCEPTED, /* whenever the client accepts it */
    RPC_GZIP_NEVER,
};

/* Takes a call.  `request` is inflated and valid until the handler returns.
 * For a bidi call it is the first message. */
typedef void rpc_handler_fn(void *ctx, struct rpc_call *call,
                            struct str request);

/* Looks at a call when its headers are there, before its request is taken: true
 * to take it, false if it has finished the call. */
typedef bool rpc_admit_fn(void *ctx, struct rpc_call *call);

/* One row of the table. */
struct rpc_method {
    const char *path; /* "/pkg.Service/Method" */
    enum rpc_kind kind;
    rpc_handler_fn *handle;
    rpc_admit_fn *admit; /* NULL: every call is taken */
    void *ctx;
    /* Limit on one message after decompression; 0: the server's. */
    size_t receive_bytes_max;
};

/* PEM files.  With a client CA file each client must show a certificate that
 * it signed. */
struct rpc_server_tls {
    const char *certificate_file;
    const char *key_file;
    const char *client_ca_file; /* NULL: clients need none */
};

/* Whether a server could use them.  -ERR_IO: the text names the file and the
 * reason. */
int rpc_server_check_tls(const struct rpc_server_tls *tls,
                         struct err *err) must_check;

/* What a server is made from; zero means the default.  All is copied. */
struct rpc_server_options {
    const struct rpc_method *methods; /* [method_count], paths distinct */
    uint32_t method_count;
    /* "host:port", "[v6]:port"; port 0 is any free one. */
    const char *const *addresses; /* [address_count], at least one */
    uint32_t address_count;
    const struct rpc_server_tls *tls; /* NULL: plain */
    uint32_t thread_count;            /* RPC_SERVER_THREADS_DEFAULT */
    size_t receive_bytes_max;         /* RPC_RECEIVE_BYTES_DEFAULT_MAX */
    uint32_t call_count_max;          /* RPC_SERVER_CALLS_DEFAULT_MAX */
    uint32_t stream_count_max;        /* RPC_SERVER_STREAMS_DEFAULT_MAX */
    uint32_t connection_count_max;    /* RPC_SERVER_CONNECTIONS_DEFAULT_MAX, or
                                         as descriptors allow */
    uint32_t address_count_max;       /* RPC_SERVER_ADDRESS_DEFAULT_MAX */
    size_t buffer_bytes_max;          /* RPC_SERVER_BUFFER_BYTES_DEFAULT_MAX */
    enum rpc_gzip gzip;
};

/* Listen and begin to serve.  NULL with `err` set when an address cannot be
 * bound, a TLS file cannot be read or used, or a thread cannot be had. */
struct rpc_server *rpc_server_create(const struct rpc_server_options *options,
                                     struct err *err) must_check;

/* The port that address `address_index` of the options got. */
uint16_t rpc_server_port(const struct rpc_server *server,
                         uint32_t address_index);

/* How its connections stand. */
struct rpc_server_connections {
    uint32_t open_count;
    uint64_t accepted_count;
    uint64_t refused_count; /* over a limit of connections, or no descriptor */
    uint64_t silent_count;  /* ended, for nothing was asked in time */
    uint64_t ended_count;   /* ended, for what they sent */
};
void rpc_server_connections(struct rpc_server *server,
                            struct rpc_server_connections *ret_connections);

/* Whether whoever comes is served: the guard has gone round within `ms_max`,
 * and every listener answered the last probe, which dials it each 5 s, or has
 * failed to for no longer than that.  Cheap: nothing is dialled for it. */
bool rpc_server_is_listening(struct rpc_server *server, uint32_t ms_max);

/* Calls under way. */
uint32_t rpc_server_call_count(const struct rpc_server *server);

/* Stop serving: no new connections or calls; streams are cancelled at once
 * (their callers see UNAVAILABLE); unary calls may finish within `grace_ms`
 * and are then cancelled too.  Returns when the threads have ended; a
 * handler that is running is waited for.  Calls that someone still holds
 * stay valid and do nothing.  Calling it again does nothing. */
void rpc_server_stop(struct rpc_server *server, uint32_t grace_ms);

/* Stop without grace if not yet stopped, and free.  NULL is fine. */
void rpc_server_destroy(struct rpc_server *server);
DEFINE_AUTO(rpc_server, rpc_server_destroy)

/* Take a reference. */
struct rpc_call *rpc_call_ref(struct rpc_call *call);
/* Give one back that rpc_call_ref() took. */
void rpc_call_unref(struct rpc_call *call);

/* End the call and give up the handler's reference.  `message` may be NULL;
 * it is cut at RPC_MESSAGE_BYTES_MAX.  `reply` is copied and sent only by a
 * unary call with RPC_OK; other kinds pass an empty one.  May be called while
 * a send is outstanding: the status follows that message. */
void rpc_call_finish(struct rpc_call *call, enum rpc_code code,
                     const char *message, struct str reply);

/* Let go of a message that is being sent, which the client may not be reading,
 * so that the end of the call, which its handler is about to finish, does not
 * wait for it: the client sees CANCELLED. */
void rpc_call_break(struct rpc_call *call);

/* Say with the status of a call, which its handler is about to finish, which
 * part of the request it is about (RPC_FIELD_HEADER): printable ASCII, cut at
 * RPC_FIELD_BYTES_MAX. */
void rpc_call_set_field(struct rpc_call *call, const char *field);

/* Told that a message was taken by the transport (is_ok), or that the call is
 * over.  May send the next one. */
typedef void rpc_sent_fn(void *ctx, struct rpc_call *call, bool is_ok);

/* Send one message (copied) of a stream.  None may be outstanding.
 * 0: `on_sent` will be called once, unless the call is finished before.
 * -ERR_UNAVAILABLE: it will not; the call is over or finished. */
int rpc_call_send(struct rpc_call *call, struct str message,
                  rpc_sent_fn *on_sent, void *ctx) must_check;

/* As rpc_call_send(), for a message that another one follows at once: the
 * transport may hold such messages back, up to 64 KiB, and writes them together
 * with the next that is sent without more, or with the status. */
int rpc_call_send_more(struct rpc_call *call, struct str message,
                       rpc_sent_fn *on_sent, void *ctx) must_check;

/* What rpc_call_recv() brought. */
enum rpc_received {
    RPC_RECEIVED,          /* a message */
    RPC_HALF_CLOSED,       /* the client will send no more, but still reads */
    RPC_RECEIVE_CANCELLED, /* the call is over: client gone, or a message that
                              broke the limit */
};

/* Told of the client's next message, valid until the callback returns (empty
 * unless RPC_RECEIVED).  May ask for the next one. */
typedef void rpc_message_fn(void *ctx, struct rpc_call *call,
                            enum rpc_received received, struct str message);

/* Ask for the client's next message (bidi only).  None may be outstanding.
 * 0: `on_message` will be called once, unless the call is finished before.
 * -ERR_UNAVAILABLE: it will not; the call is over, finished or half-closed. */
int rpc_call_recv(struct rpc_call *call, rpc_message_fn *on_message,
                  void *ctx) must_check;

/* Told that the call is over before it was finished: the client went away or
 * cancelled, its deadline passed, or the server stops.  What was outstanding
 * is told too (a send not ok, RPC_RECEIVE_CANCELLED), before or after, on any
 * thread: decide which of them finishes the call. */
typedef void rpc_cancelled_fn(void *ctx, struct rpc_call *call);

/* Be told once of cancellation.  -ERR_UNAVAILABLE: the call is cancelled (or
 * finished) already and `on_cancelled` will not be called. */
int rpc_call_on_cancelled(struct rpc_call *call, rpc_cancelled_fn *on_cancelled,
                          void *ctx);

/* Whether the call is over before it was finished. */
bool rpc_call_is_cancelled(struct rpc_call *call);

/* Tie `data` to the call: `destroy(data)` runs with its last reference, on
 * whichever thread drops it.  At most once per call. */
void rpc_call_own(struct rpc_call *call, void *data, void (*destroy)(void *));

/* What rpc_call_own() tied, or NULL. */
void *rpc_call_data(const struct rpc_call *call);

/* The called method's path; valid as long as the server. */
const char *rpc_call_path(const struct rpc_call *call);

/* The first value of request header `name` (lower case), for instance
 * "authorization", "x-request-id" or "user-agent".  Valid as long as the call;
 * p is NULL when there is none. */
struct str rpc_call_header(const struct rpc_call *call, const char *name);

/* The other end ("ipv4:127.0.0.1:40000"); valid as long as the call.  Not
 * authenticated: for logs only. */
const char *rpc_call_peer(const struct rpc_call *call);

/* The user of this machine who made the connection; false where that cannot be
 * told. */
bool rpc_call_peer_user(const struct rpc_call *call,
                        uint32_t *ret_user_id) must_check;

/* Whether that user runs it outside of jobs (rpc/guard/peer_process.h).  May
 * take some milliseconds, once for a connection. */
bool rpc_call_peer_is_outside_jobs(const struct rpc_call *call) must_check;

/* Milliseconds to the client's deadline, 0 if passed, INT64_MAX if none. */
int64_t rpc_call_remaining_ms(const struct rpc_call *call);
