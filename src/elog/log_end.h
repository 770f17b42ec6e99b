/*
 * log_end - where a log ended, kept beside it in the file `<log>-end`, to
 * notice when the log has lost its tail.
 *
 * It is written after each commit, with a checksum, in two places by turns, and
 * not synced.  After any crash it names the log's last record or an earlier
 * one, never a later one: a log that ends before it has lost records.
 *
 * Threads: log_end_write_out() from any, the rest from the writer's.  Private
 * to src/elog.
 */
#pragma once

#include "base/base.h"

struct log_end;

/* The last record that was durable. */
struct log_end_mark {
    uint64_t seq;      /* 0: none is known */
    uint64_t checksum; /* elog_record_checksum() of it */
};

/* Open the file beside the log `path`, made if missing.  -ERR_FULL, -ERR_IO. */
int log_end_open(const char *path, struct log_end **ret_end,
                 struct err *err) must_check;
/* NULL is fine. */
void log_end_close(struct log_end *end);
DEFINE_AUTO(log_end, log_end_close)

/* Its path, borrowed. */
const char *log_end_path(const struct log_end *end);

/* The newest mark that was found whole, or that was put since. */
struct log_end_mark log_end_get(const struct log_end *end);

/* Whether the file holds something, but no whole mark: nothing is known of the
 * log's end. */
bool log_end_is_damaged(const struct log_end *end);

/* A record is durable.  What fails here weakens a later check, and nothing
 * else, so it is not told. */
void log_end_put(struct log_end *end, struct log_end_mark mark);

/* Forget all marks but `mark`, and sync. */
int log_end_reset(struct log_end *end, struct log_end_mark mark,
                  struct err *err) must_check;

/* Have the kernel write out soon what was put; waits for nothing. */
void log_end_write_out(struct log_end *end);
