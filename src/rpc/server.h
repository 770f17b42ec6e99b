/*
 * server - what rpc_server.c (listening, threads, stopping) and rpc_call.c
 * (the life of one call) share; private to this folder.
 *
 * A call's memory is counted by references.  The library's half of it
 * (`core`) lives shorter: it goes when the library has reported the call
 * closed and no batch is outstanding, even if a handler still holds the call,
 * so that a server can stop without asking its handlers.
 *
 * Locks: a call's lock may be taken under none or under the server's; never
 * the other way round.  Callbacks run under neither.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/strbuf.h"
#include "rpc/core.h"
#include "rpc/guard/guard.h"
#include "rpc/rpc_server.h"

/* What an event of the completion queue is about. */
enum tag_kind {
    TAG_NEW,      /* a call arrived in a posted request */
    TAG_CLOSE,    /* the library is done with the call */
    TAG_RECV,     /* a message was read, or none will be */
    TAG_SEND,     /* a message was taken */
    TAG_STATUS,   /* the status was taken */
    TAG_SHUTDOWN, /* the server has no more calls and connections */
    TAG_KINDS,
};

/* The address of one is given to the library and comes back. */
struct tag {
    enum tag_kind kind;
    struct rpc_call *call; /* NULL for TAG_SHUTDOWN */
};

/* A request header: bytes in the call's `header_bytes`. */
struct header {
    struct str name, value;
};

struct rpc_call {
    atomic_uint ref_count;
    struct rpc_server *server;       /* not to be used once core is NULL */
    const struct rpc_method *method; /* the server's; NULL until known */
    enum rpc_kind kind;
    struct tag tags[TAG_KINDS];

    /* Written before the handler runs, then read only. */
    grpc_call_details details;
    grpc_metadata_array metadata;
    char *header_bytes; /* owned */
    struct header *headers;
    uint32_t header_count;
    gpr_timespec deadline;
    bool has_peer;
    struct guard_peer peer; /* who sent it; has_peer */
    struct str mark;        /* the header by which that is known */

    /* Tied by the handler. */
    void *data;
    void (*destroy_data)(void *);

    /* The list of live calls, under the server's lock. */
    struct rpc_call *next, *previous;
    bool is_counted_stream;

    pthread_mutex_t lock; /* all below */
    grpc_call *core;      /* NULL before it arrives and after it is done */
    uint32_t batch_count; /* outstanding */
    int close_is_cancelled;
    bool is_dispatched; /* the handler has been called */
    bool is_gzip;       /* replies are compressed */
    bool is_headed;     /* initial metadata is sent */
    bool is_sending, is_receiving;
    bool is_receive_over; /* no message will come any more */
    bool is_closed;
    bool is_cancelled;
    bool is_finished;
    bool is_status_due; /* finished while sending */
    grpc_byte_buffer *received, *sent, *reply;
    enum rpc_code code;
    grpc_slice message;
    grpc_slice field;      /* that is refused; empty: none in particular */
    grpc_metadata trailer; /* says so, while the status is sent */
    rpc_sent_fn *on_sent;
    void *on_sent_ctx;
    rpc_message_fn *on_message;
    void *on_message_ctx;
    rpc_cancelled_fn *on_cancelled;
    void *on_cancelled_ctx;
};

struct rpc_server {
    struct rpc_method *methods; /* [method_count], sorted by path */
    uint32_t method_count;
    uint16_t ports[RPC_SERVER_ADDRESSES_MAX];
    uint32_t address_count;
    size_t receive_bytes_max;
    uint32_t call_count_max, stream_count_max;
    enum rpc_gzip gzip;
    grpc_server *core;
    grpc_server_credentials *credentials;
    struct guard *guard;          /* owned; NULL before it listens */
    grpc_completion_queue *queue; /* served by all threads */
    pthread_t threads[RPC_SERVER_THREADS_MAX];
    uint32_t thread_count;
    struct tag shutdown_tag;

    pthread_mutex_t lock; /* all below */
    pthread_cond_t changed;
    struct rpc_call *calls; /* live ones */
    uint32_t call_count, stream_count;
    bool is_stopping, is_shut_down, is_stopped;
};

/* Ask the library for one more call. */
void call_post(struct rpc_server *server);

/* Serve one event of the completion queue. */
void call_event(struct tag *tag, bool is_ok);

/* Ask to be told when the library is done with the call.  The call's lock is
 * held by whoever calls this and the start_ functions below, and `core` is
 * there. */
void call_start_close(struct rpc_call *call);

/* Ask for the client's next message. */
void call_start_recv(struct rpc_call *call);

/* Send a message of a stream; `has_more`: the transport may hold it back. */
void call_start_send(struct rpc_call *call, struct str message, bool has_more);

/* Send the reply, if any, and the status. */
void call_start_status(struct rpc_call *call);

/* Cancel a live call from this side.  The server's lock is held. */
void call_cancel(struct rpc_call *call, const char *message);

/* Put a call that arrived on the list of live ones.  NULL, or why it is
 * refused: then it is on the list, but not counted as a stream. */
const char *server_admit(struct rpc_server *server, struct rpc_call *call,
                         enum rpc_code *ret_code);

/* Take a call off the list; the server may be gone afterwards. */
void server_forget(struct rpc_server *server, struct rpc_call *call);

/* The method with `path`, or NULL. */
const struct rpc_method *server_find(const struct rpc_server *server,
                                     struct str path);

/* Start the threads.  If not all can be had, those that run shut it down. */
int server_start_threads(struct rpc_server *server, struct err *err);
