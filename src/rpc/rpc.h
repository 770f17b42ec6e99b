/*
 * rpc - what both ends of a gRPC call share: status codes and status.
 *
 * gRPC itself (HTTP/2, framing, TLS, flow control) comes from a library that
 * nothing outside this folder sees: rpc_server.h is the serving side,
 * rpc_channel.h the calling side.  Messages are opaque bytes here; encoding
 * them is the caller's.  Why this library: docs/decisions/0001.
 *
 * Never fork() in a process that has created a server or a channel: the
 * library's threads do not survive it.  posix_spawn() and clone3() followed
 * at once by exec are fine.  The library starts with the first of them and
 * stays to the end of the process.  All threads started here have all signals
 * blocked.
 */
#pragma once

#include "base/str.h"

/* gRPC's status codes; the numbers go over the wire. */
enum rpc_code {
    RPC_OK = 0,
    RPC_CANCELLED = 1,
    RPC_UNKNOWN = 2,
    RPC_INVALID_ARGUMENT = 3,
    RPC_DEADLINE_EXCEEDED = 4,
    RPC_NOT_FOUND = 5,
    RPC_ALREADY_EXISTS = 6,
    RPC_PERMISSION_DENIED = 7,
    RPC_RESOURCE_EXHAUSTED = 8,
    RPC_FAILED_PRECONDITION = 9,
    RPC_ABORTED = 10,
    RPC_OUT_OF_RANGE = 11,
    RPC_UNIMPLEMENTED = 12,
    RPC_INTERNAL = 13,
    RPC_UNAVAILABLE = 14,
    RPC_DATA_LOSS = 15,
    RPC_UNAUTHENTICATED = 16,
};

enum {
    /* Bytes of a status message, with its NUL; longer ones are cut.  On the
     * wire a byte can become three, and clients take 8 KiB of headers. */
    RPC_MESSAGE_BYTES_MAX = 2304,
    /* Bytes of what a refusal is about, with its NUL. */
    RPC_FIELD_BYTES_MAX = 64,
    /* Bytes of one message after decompression, where nothing else is set. */
    RPC_RECEIVE_BYTES_DEFAULT_MAX = 4 << 20,
};

/* Trailing metadata that says which part of a request was refused, for
 * messages whose text is fixed: "job_request_items[3]". */
#define RPC_FIELD_HEADER "berth-refused-field"

/* How a call ended, as its caller sees it. */
struct rpc_status {
    enum rpc_code code;
    char message[RPC_MESSAGE_BYTES_MAX]; /* UTF-8, may be empty */
    char field[RPC_FIELD_BYTES_MAX];     /* of RPC_FIELD_HEADER, or "" */
};

/* The code's name as gRPC writes it ("NOT_FOUND"); "UNKNOWN" for a number
 * that is no code. */
const char *rpc_code_name(enum rpc_code code);
