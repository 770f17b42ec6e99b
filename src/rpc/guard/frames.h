/*
 * frames - what a client sends over HTTP/2, frame by frame, on its way to the
 * gRPC library: checked, and each request marked with its connection.
 *
 *     bytes of the client -> frames -> the same bytes, and after each header
 *                                      block one more header: the mark
 *
 * The library keeps a header block in memory until it is complete, however
 * large it grows; here one ends at FRAMES_HEADER_BYTES_MAX.  The mark tells
 * whose request it is (guard.h).  It stands in a CONTINUATION frame of its own
 * behind what the client sent, so that nothing of that is decoded, moved or
 * resized.  A client can make the mark the value of a header of its own, by a
 * block that breaks off in the middle; its request is then without one.
 *
 * Pure; in one thread's hand.
 */
#pragma once

#include "base/str.h"
#include "base/strbuf.h"

enum {
    FRAMES_HEADER_BYTES_MAX = 32 << 10, /* of one header block */
    FRAMES_BLOCK_FRAMES_MAX = 32,       /* that it may be cut into */
    FRAMES_HEAD_BYTES = 9,
    FRAMES_MARK_BYTES_MAX = 128,
};

/* Why a connection is ended. */
enum frames_fault {
    FRAMES_OK,
    FRAMES_NOT_HTTP2,    /* it does not begin as HTTP/2 does */
    FRAMES_TOO_LARGE,    /* a header block over one of the limits */
    FRAMES_OUT_OF_ORDER, /* a frame that no client may send there */
};

/* Zeroed memory is a connection before its first byte. */
struct frames {
    uint32_t preface_count; /* bytes of the preface seen */
    unsigned char head[FRAMES_HEAD_BYTES];
    uint32_t head_count; /* bytes of `head` seen */
    uint32_t rest_count; /* bytes of the payload to come */
    bool is_mark_due;    /* the mark follows this frame */
    bool is_in_block;    /* a CONTINUATION of `stream` must come */
    uint32_t stream;     /* of the block */
    uint32_t block_bytes, block_frames;
    uint64_t request_count; /* header blocks completed */
    uint64_t control_count; /* frames that ask for work and carry nothing */
};

/* Take the next bytes, and append to `out` what goes on to the library.
 * `mark` is an encoded header (frames_mark()).  After a fault the connection
 * is over; what was appended to `out` before it may still be sent. */
enum frames_fault frames_take(struct frames *frames, struct str bytes,
                              struct str mark, struct strbuf *out) must_check;

/* Encode a header as the mark is: literal, never indexed (RFC 7541 6.2.3). */
void frames_mark(struct str name, struct str value, struct strbuf *out);

/* What is sent to a client before its connection is ended on purpose: a GOAWAY
 * with ENHANCE_YOUR_CALM. */
struct str frames_goaway(void);
