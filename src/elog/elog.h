/*
 * elog - the append-only log of batches: the only durable truth of Berth.
 *
 * A port.  Backends (elog_memory.h, elog_sqlite.h) open one; what they open is
 * used through this header only, and all pass tests/contract/elog_contract.c.
 *
 *     records   first ... head      contiguous, counted from 1, never changed
 *     writers   epoch 1, 2, ...     the newest alone may append
 *     readers   see records that are durable, in order, without holes
 *
 * Threads: a `struct elog` belongs to one thread, that of the writer, but for
 * elog_reader_open() and elog_checkpoint_put*(), which any thread may call.  A
 * `struct elog_reader` belongs to one thread, but for
 * elog_reader_interrupt().  Close every reader before its log.
 */
#pragma once

#include "base/str.h"

enum {
    ELOG_PAYLOAD_BYTES_MAX = 64 << 20,
    ELOG_IN_FLIGHT_COUNT_MAX = 1024,
    /* Records that one elog_trim() forgets at most. */
    ELOG_TRIM_COUNT_MAX = 4096,
    /* Checkpoints that are kept: the newest and one to fall back to. */
    ELOG_CHECKPOINT_COUNT_MAX = 2,
};

struct elog_record {
    uint64_t seq;            /* 1-based */
    uint64_t epoch;          /* of the writer */
    int64_t time_ms;         /* the writer's, UTC */
    uint32_t format_version; /* of the payload; opaque here */
    uint64_t checksum;       /* of all the rest; filled by elog_read() */
    struct str payload;      /* opaque, at most ELOG_PAYLOAD_BYTES_MAX */
};

struct elog;
struct elog_reader;

/* Told once per submitted record, in the order of submission, and only from
 * elog_poll() or elog_close().  `result`:
 *     0                 durable, and every reader sees it
 *     -ERR_FENCED       another writer has acquired the log; stop
 *     -ERR_CONFLICT     `seq` was not the next one
 *     -ERR_FULL         no space; nothing was appended, may be tried again
 *     -ERR_IO           not known: it may be found after the next opening.
 *                       This handle will append no more; open anew
 *     -ERR_UNAVAILABLE  the log was closed before; nothing was appended */
typedef void elog_done_fn(void *ctx, int result, uint64_t seq);

/* Shown each record that is read; it is borrowed until the return.  Answers 0
 * to go on, 1 to stop after this one, or a negative code that elog_read()
 * then returns. */
typedef int elog_each_fn(void *ctx, const struct elog_record *record);

/* Close the log and free it.  What is in flight is told -ERR_UNAVAILABLE.
 * NULL is fine. */
void elog_close(struct elog *log);
DEFINE_AUTO(elog, elog_close)

/* What opening found that a person should know, such as records that are lost;
 * "" if nothing.  Borrowed until elog_close(). */
const char *elog_note(const struct elog *log);

/* Become the writer: a new epoch, greater than any before.  From the return
 * on no record of an older epoch is appended, whatever its writer has in
 * flight.  Nothing may be in flight on `log` itself. */
int elog_acquire(struct elog *log, uint64_t *ret_epoch,
                 struct err *err) must_check;

/* Start to append `record`, whose seq must be the one after the last that was
 * appended or is in flight; `checksum` is ignored.  The payload is borrowed
 * until `done` is told.  Once a record fails, all that were submitted after
 * it, up to the moment when it is told, fail as well: there are no holes.
 * -ERR_LIMIT if the payload or the number in flight passes its limit; then
 * nothing was started and `done` is not told. */
int elog_submit(struct elog *log, const struct elog_record *record,
                elog_done_fn *done, void *ctx) must_check;

/* Make progress: append what was submitted (as one commit where the backend
 * can), tell what is decided, and wait for up to `timeout_ms` if something is
 * in flight but nothing is decided yet.  The number of records told. */
int elog_poll(struct elog *log, int timeout_ms);

/* The number of records submitted and not told yet. */
uint32_t elog_in_flight_count(const struct elog *log);

/* Store a checkpoint: `bytes` as the state after record `seq`, which must be
 * durable and newer than the newest checkpoint (else -ERR_INVALID).  It
 * counts once it is complete; one that breaks off is never seen.  All but the
 * newest ELOG_CHECKPOINT_COUNT_MAX are then forgotten.  From any thread;
 * appends go on meanwhile.  -ERR_UNAVAILABLE while another is being put. */
int elog_checkpoint_put(struct elog *log, uint64_t seq, uint32_t format_version,
                        struct str bytes, struct err *err) must_check;

/* Gives the next piece of a checkpoint, borrowed until the next call, and
 * answers 1; 0 at the end; or a negative code, which breaks it off. */
typedef int elog_piece_fn(void *ctx, struct str *ret_piece);

/* The same for a state that is not in one piece of memory. */
int elog_checkpoint_put_pieces(struct elog *log, uint64_t seq,
                               uint32_t format_version, elog_piece_fn *next,
                               void *ctx, struct err *err) must_check;

/* Forget records before `before_seq`, but none that the newest valid
 * checkpoint does not cover, and in one call at most ELOG_TRIM_COUNT_MAX, or
 * fewer that are big.  `*ret_first_seq` is then the first that is kept: call
 * again until it stands still.  Without a valid checkpoint nothing is
 * forgotten. */
int elog_trim(struct elog *log, uint64_t before_seq, uint64_t *ret_first_seq,
              struct err *err) must_check;

/* Write a copy of the log as it is now to the new file `path`, and check each
 * record of it; appends and reads go on.  From any thread.  -ERR_CORRUPT names
 * a record that is damaged, and there is no copy then; -ERR_CONFLICT if `path`
 * exists; -ERR_UNAVAILABLE if the backend keeps no files. */
int elog_backup(struct elog *log, const char *path, struct err *err) must_check;

/* A reader of `log` for the calling thread. */
int elog_reader_open(struct elog *log, struct elog_reader **ret_reader,
                     struct err *err) must_check;
/* NULL is fine. */
void elog_reader_close(struct elog_reader *reader);
DEFINE_AUTO(elog_reader, elog_reader_close)

/* What to read: from a record on, until either maximum is reached.  A first
 * record longer than `byte_count_max` is given nevertheless. */
struct elog_range {
    uint64_t from_seq;         /* 1 or more */
    uint32_t record_count_max; /* 0: as many as there are */
    size_t byte_count_max;     /* of payloads; 0: no bound */
};

/* Show the records of a range in order.  The number shown, 0 when there is
 * none yet.  Until the return a backend may hold back room that the log could
 * use again: bound what is slow to show.  -ERR_NOT_FOUND if `from_seq` has
 * been trimmed away: read the checkpoint.  -ERR_CORRUPT with a text that says
 * what to do. */
int elog_read(struct elog_reader *reader, const struct elog_range *range,
              elog_each_fn *each, void *ctx, struct err *err) must_check;

/* Wait until there is a record after `after_seq`: 1.  0 when `timeout_ms` is
 * over or elog_reader_interrupt() was called. */
int elog_wait(struct elog_reader *reader, uint64_t after_seq, int timeout_ms,
              struct err *err) must_check;

/* Make the elog_wait() that goes on, or else the next one, return at once.
 * From any thread. */
void elog_reader_interrupt(struct elog_reader *reader);

struct elog_bounds {
    uint64_t first_seq; /* of the oldest record; head_seq + 1 if none */
    uint64_t head_seq;  /* of the newest record ever; 0 if none */
};

/* Which records there are now. */
int elog_bounds(struct elog_reader *reader, struct elog_bounds *ret_bounds,
                struct err *err) must_check;

struct elog_checkpoint {
    uint64_t seq; /* the state after this record */
    uint32_t format_version;
    uint64_t byte_count;
};

/* Shown each piece of a checkpoint in order, all of them verified; borrowed
 * until the return.  A negative answer breaks off and is returned. */
typedef int elog_checkpoint_fn(void *ctx, const struct elog_checkpoint *about,
                               struct str piece);

/* Show the newest valid checkpoint that the log still continues: 1; 0 if
 * there is none and the log goes back to its first record; -ERR_CORRUPT if
 * there is none though there must be. */
int elog_checkpoint_get(struct elog_reader *reader,
                        struct elog_checkpoint *ret_about,
                        elog_checkpoint_fn *each, void *ctx,
                        struct err *err) must_check;
