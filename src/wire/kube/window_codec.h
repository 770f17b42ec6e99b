/*
 * window_codec - maintenance windows: berth.api.MaintenanceWindow and the
 * model's record.
 *
 * A window comes as a message, is checked, and stands in the log as the bytes
 * of its message; the record is what is worked with.  Decoding a record from
 * bytes that were checked cannot fail; from others (a foreign log) it may.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "base/arena.h"
#include "berth/api.pb-c.h"
#include "model/window.h"

/* Whether a window may be made like this.  -ERR_INVALID, -ERR_LIMIT: the text
 * begins with the field, if one field is to blame. */
int window_check(const Berth__Api__MaintenanceWindow *window,
                 struct err *err) must_check;
/* The record of an encoded message, in the arena.  It may be one that older
 * rules let in: longer, or one that repeats after less. */
int window_decode(struct str encoded, struct arena *arena,
                  struct window_record *ret_record, struct err *err) must_check;
/* The encoding of a window that repeats and is over, moved on to the first time
 * at which it ends in the future; in the arena.  "": there is no such time.
 * One that repeats after less than WINDOW_REPEAT_S_MIN repeats after that from
 * then on. */
struct str window_encode_next(struct str encoded, int64_t now_ms,
                              struct arena *arena) must_check;
