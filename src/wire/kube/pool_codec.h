/*
 * pool_codec - pools as objects: berth.api.Pool, the model's record, and the
 * resource that people write (`apiVersion: resource.aibee.cn/v1alpha1`,
 * `kind: Pool`; model.md 5.1).
 *
 * A pool comes as a resource or a message, is checked, and stands in the log
 * as the bytes of its message; the record is what is worked with.  Decoding a
 * record from bytes that were checked cannot fail; from others (a foreign log)
 * it may.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include <jansson.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "berth/api.pb-c.h"
#include "model/pool.h"

#define POOL_API_VERSION "resource.aibee.cn/v1alpha1"
#define POOL_KIND "Pool"

enum { POOL_BYTES_MAX = 256 << 10 }; /* of one, encoded */

/* Whether a pool may be made like this.  -ERR_INVALID, -ERR_LIMIT: the text
 * begins with the field. */
int pool_check(const Berth__Api__Pool *pool, struct err *err) must_check;

/* The operator of a label expression that a word names, and the order of
 * `preemptionOrder` ("": the default).  -ERR_INVALID: pools know no such. */
int pool_operator(struct str word,
                  enum affinity_operator *ret_operator) must_check;
/* See above. */
int pool_order(struct str word, enum preemption_order *ret_order) must_check;

/* The record of a checked message, in the arena; strings are borrowed from the
 * message.  -ERR_INVALID: it was not checked. */
int pool_record_of(const Berth__Api__Pool *pool, struct arena *arena,
                   struct pool_record *ret_record, struct err *err) must_check;

/* The record of an encoded message, in the arena. */
int pool_decode(struct str encoded, struct arena *arena,
                struct pool_record *ret_record, struct err *err) must_check;

/* The message of a record, in the arena. */
Berth__Api__Pool *pool_message_of(const struct pool_record *record,
                                  struct arena *arena) must_check;

/* Read a resource: its kind and version, metadata.name and spec.  What v0.2.0
 * of the original declared and never used is passed over, and status; other
 * keys of spec that are unknown are errors.  The message is not checked. */
int pool_resource_read(const json_t *resource, struct arena *arena,
                       Berth__Api__Pool **ret_pool, struct err *err) must_check;

/* The resource of a pool; the caller json_decref()s it.  All three flags are
 * written, so that reading it back sets them. */
json_t *pool_resource_write(const Berth__Api__Pool *pool) must_check;
