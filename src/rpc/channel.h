/*
 * channel - what rpc_channel.c (connection, unary calls) and rpc_stream.c
 * share; private to this folder.
 *
 * One completion queue and one thread serve all calls of a channel.  Each
 * call under way is on the channel's list, so that closing can cancel it.
 *
 * The thread tells the users of streams that something has come once nothing
 * more is there: a user on another processor would else be woken for each of
 * many small messages.
 */
#pragma once

#include "rpc/core.h"
#include "rpc/rpc_channel.h"

/* The address of one is given to the library; `done` runs on the channel's
 * thread when the batch is. */
struct channel_tag {
    void (*done)(void *owner, bool is_ok);
    void *owner;
};

/* The common half of unary calls and streams. */
struct channel_call {
    struct rpc_channel *channel;
    grpc_call *core;
    struct channel_call *next, *previous; /* under the channel's lock */
    grpc_metadata headers[RPC_CHANNEL_HEADERS_MAX + 1];
    size_t header_count;
    uint32_t head_flags; /* of SEND_INITIAL_METADATA */
    uint32_t send_flags; /* of SEND_MESSAGE */
    grpc_metadata_array head, trailer;
    grpc_status_code code;
    grpc_slice message;
};

struct rpc_channel {
    grpc_channel *core;
    grpc_completion_queue *queue;
    pthread_t thread;
    size_t receive_bytes_max;
    struct rpc_stream *untold; /* streams with news; the thread's own */
    pthread_mutex_t lock;      /* all below */
    pthread_cond_t changed;
    struct channel_call *calls;
};

/* Make the library's half of a call and put it on the list.  A header that is
 * not legal makes a call that ends with INVALID_ARGUMENT. */
void channel_call_begin(struct channel_call *call, struct rpc_channel *channel,
                        const char *path,
                        const struct rpc_call_options *options);

/* Tell the users of all streams that have news; on the channel's thread. */
void channel_tell(struct rpc_channel *channel);

/* Start a batch. */
void channel_call_start(struct channel_call *call, const grpc_op *ops,
                        size_t op_count, struct channel_tag *tag);

/* Take it off the list and free the library's half. */
void channel_call_end(struct channel_call *call);

/* The status that the library reported. */
void channel_call_status(const struct channel_call *call,
                         struct rpc_status *ret_status);

/* Fill `op` with one operation of a call. */
grpc_op channel_op_head(struct channel_call *call);
/* As above. */
grpc_op channel_op_recv_head(struct channel_call *call);
/* As above. */
grpc_op channel_op_send(struct channel_call *call, grpc_byte_buffer *message);
/* As above. */
grpc_op channel_op_recv_status(struct channel_call *call);
