/*
 * field - raw protobuf: one field after the other, without descriptors.
 *
 * A message is a run of fields; a field is a number and a value that is
 * either an integer or a run of bytes.  The reader refuses what protobuf
 * forbids (number 0, groups, a length beyond the end) and copies nothing.
 * Numbers, varints and lengths are those of the protobuf encoding.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "base/strbuf.h"

/* The encodings that protobuf still uses. */
enum field_type {
    FIELD_VARINT = 0,
    FIELD_FIXED64 = 1,
    FIELD_BYTES = 2,
    FIELD_FIXED32 = 5,
};

enum { FIELD_NUMBER_MAX = (1 << 29) - 1 };

/* One field as it stands in the bytes. */
struct field {
    uint32_t number;
    enum field_type type;
    uint64_t value;   /* 0 if the type is FIELD_BYTES */
    struct str bytes; /* "" unless it is; borrowed from the message */
};

/* Where a walk over a message stands. */
struct field_cursor {
    const uint8_t *p, *end;
};

/* A walk that begins at the start of `message`, which stays borrowed. */
static inline struct field_cursor field_cursor_make(struct str message)
{
    const uint8_t *p = (const uint8_t *)message.p;

    return (struct field_cursor){p, message.byte_count ? p + message.byte_count
                                                       : p};
}

/* Whether the walk has reached the end. */
static inline bool field_cursor_is_done(const struct field_cursor *cursor)
{
    return cursor->p == cursor->end;
}

/* Read a varint of at most ten bytes; false when it does not end in time. */
bool field_read_varint(struct field_cursor *cursor,
                       uint64_t *ret_value) must_check;

/* Read the next field; false when the bytes are not one.  Must not be called
 * at the end. */
bool field_read(struct field_cursor *cursor,
                struct field *ret_field) must_check;

/* What a varint of `value` takes. */
static inline size_t field_varint_bytes(uint64_t value)
{
    return value ? (size_t)(63 - __builtin_clzll(value)) / 7 + 1 : 1;
}

/* Append a field that is an integer.  The put functions write what they are
 * told, zero too; the put_set ones leave out proto3's defaults. */
void field_put_u64(struct strbuf *buf, uint32_t number, uint64_t value);

/* Append a field that is a run of bytes, a text or an encoded message. */
void field_put_bytes(struct strbuf *buf, uint32_t number, struct str bytes);

/* Append an integer unless it is zero. */
static inline void field_put_set_u64(struct strbuf *buf, uint32_t number,
                                     uint64_t value)
{
    if (value) {
        field_put_u64(buf, number, value);
    }
}

/* Append a signed integer (int32, int64 or enum: negative ones take ten
 * bytes) unless it is zero. */
static inline void field_put_set_i64(struct strbuf *buf, uint32_t number,
                                     int64_t value)
{
    field_put_set_u64(buf, number, (uint64_t)value);
}

/* Append a text or bytes unless empty. */
static inline void field_put_set_bytes(struct strbuf *buf, uint32_t number,
                                       struct str bytes)
{
    if (bytes.byte_count) {
        field_put_bytes(buf, number, bytes);
    }
}

/* Begin a message inside the message: append its tag and room for a length of
 * `length_bytes` (1 to 5), the guess of what that will take.  Returns what
 * field_end_wide() wants. */
size_t field_begin_wide(struct strbuf *buf, uint32_t number,
                        unsigned length_bytes) must_check;

/* End the message that field_begin_wide() began with that guess: its length is
 * written, and where the guess was wrong its bytes move, so that a length never
 * takes more than it needs. */
void field_end_wide(struct strbuf *buf, size_t begin, unsigned length_bytes);

/* The same for a message that has most often fewer than 128 bytes. */
static inline size_t field_begin(struct strbuf *buf, uint32_t number)
{
    return field_begin_wide(buf, number, 1);
}

/* End what field_begin() began. */
static inline void field_end(struct strbuf *buf, size_t begin)
{
    field_end_wide(buf, begin, 1);
}
