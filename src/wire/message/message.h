/*
 * message - decodes untrusted bytes into a protobuf-c message, and encodes
 * one.
 *
 * protobuf-c alone trusts its input too much: it recurses without bound, takes
 * field number 0, cuts strings at a NUL, passes on what is not UTF-8, and
 * turns two bytes into a kilobyte of structs. wire_decode() walks the raw
 * bytes first, against the descriptor and under limits, and unpacks only what
 * passed.
 *
 * Stricter than protobuf in one point: a message field that is not repeated
 * may come once.  Merging two costs quadratic time and nobody sends them.
 *
 * A decoded message lives in the caller's arena, unknown fields and all, and
 * must not be given to protobuf_c_message_free_unpacked() or changed with
 * literals in mind that outlive it.
 *
 * Threads: everything here may be called from any thread; an arena has one
 * owner.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/strbuf.h"

enum {
    WIRE_DEPTH_MAX = 32,
    WIRE_REQUEST_BYTES_MAX = 4 << 20, /* gRPC's default, which Armada keeps */
    WIRE_REQUEST_FIELDS_MAX = 1 << 20,
    WIRE_REQUEST_MEMORY_BYTES_MAX = 256 << 20,
};

/* What one message may cost. */
struct wire_limits {
    size_t byte_count_max;   /* as it came */
    size_t field_count_max;  /* all levels, items of packed fields too */
    size_t memory_bytes_max; /* unpacked, as estimated from above */
    uint32_t depth_max;      /* 1: no message inside the message */
    /* Bytes in a string field that are not text become '?' instead of an
     * error: for reports whose texts come from programs that the sender does
     * not control and which it would otherwise repeat for ever. */
    bool mends_text;
};

/* The limits for a request from a client. */
extern const struct wire_limits wire_request_limits;

/* Decode `bytes` as a message of `type`.  -ERR_CORRUPT: not such a message.
 * -ERR_LIMIT: beyond a limit.  The text says where. */
int wire_decode(const ProtobufCMessageDescriptor *type, struct str bytes,
                const struct wire_limits *limits, struct arena *arena,
                ProtobufCMessage **ret_message, struct err *err) must_check;

/* The check alone: what passes it, wire_decode() takes. */
int wire_check(const ProtobufCMessageDescriptor *type, struct str bytes,
               const struct wire_limits *limits, struct err *err) must_check;

/* A fresh message of `type` in the arena, every field at its default. */
void *wire_new(const ProtobufCMessageDescriptor *type,
               struct arena *arena) must_check;

/* Append the encoding of `message`; beyond the buffer's bound it is over. */
void wire_encode(const ProtobufCMessage *message, struct strbuf *buf);

/* The encoding of `message`, in the arena. */
struct str wire_encode_arena(const ProtobufCMessage *message,
                             struct arena *arena) must_check;

/* An allocator for protobuf-c that takes from `arena` and frees nothing. */
ProtobufCAllocator wire_allocator(struct arena *arena);
