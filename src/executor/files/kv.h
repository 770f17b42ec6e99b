/*
 * kv - the files that executor and shim exchange: records "key=value", each
 * ended by a NUL, so that values need no quoting and read as C strings.
 *
 * A key holds no '='; a value holds no NUL (kv_add puts '?' in its place).
 * Threads: none of it is shared.
 */
#pragma once

#include "base/strbuf.h"

/* Append a record. */
void kv_add(struct strbuf *buf, const char *key, struct str value);
/* Append a record whose value is a C string. */
void kv_add_text(struct strbuf *buf, const char *key, const char *value);
/* Append a record whose value is a decimal number. */
void kv_add_int(struct strbuf *buf, const char *key, int64_t value);

/* Where a reader is.  `rest` borrows the file's bytes. */
struct kv_reader {
    struct str rest;
    struct str key;    /* of the record last read */
    const char *value; /* of the same; NUL-terminated, borrowed */
};

/* Read the next record.  1: read; 0: at the end; -ERR_CORRUPT: the bytes are
 * not records. */
int kv_next(struct kv_reader *reader) must_check;
/* Whether the record last read has this key. */
bool kv_is(const struct kv_reader *reader, const char *key);
/* The value last read as a decimal number; 0 when it is none. */
int64_t kv_int(const struct kv_reader *reader);
