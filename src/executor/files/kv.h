/*
 * kv - the files that executor and shim exchange: records "key=value", each
 * ended by a NUL, so that values need no quoting and read as C strings.
 *
 * What an executor or a shim must believe has a checksum: a record `sealed`
 * near the beginning says that there is one, `sum`, at the end.  Older releases
 * pass over both.
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

/* Say that kv_seal() follows: one of the first records. */
void kv_promise_seal(struct strbuf *buf);
/* Append the checksum of all that is there, as the last record. */
void kv_seal(struct strbuf *buf);
/* Whether the bytes are as they were sealed: 0, also for those of an older
 * release, which have no seal; -ERR_CORRUPT. */
int kv_check(struct str bytes) must_check;

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
