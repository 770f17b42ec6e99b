/*
 * log_codec - converts between the bytes of the log and `struct event`.
 *
 * A record's payload is a berth.log.Batch: sequences (queue, job set, user),
 * each a run of events (proto/berth/log.proto).  Decoding copies nothing:
 * strings point into the payload, and the arrays of the rare events that have
 * some live in the caller's arena.  Types that this release does not know, and
 * events whose ids are no ids, are still handed over, as EVENT_NONE, so that
 * everybody counts a record's events alike.
 *
 * Encoding is the inverse for every event that Berth itself decides; where an
 * event holds an `encoded` part, that part is written as it is.
 *
 * Threads: everything here may be called from any thread; a batch and an
 * arena have one owner.
 */
#pragma once

#include "base/arena.h"
#include "model/event.h"
#include "model/retry.h"

enum { LOG_LIST_ITEMS_MAX = 1 << 20 }; /* in one list of an event */

/* One event in its place. */
struct log_item {
    struct event_scope scope;
    struct event event;
    struct str encoded;      /* armadaevents.EventSequence.Event */
    uint32_t sequence_index; /* in the record, from 0 */
    uint32_t index;          /* in the record, from 0, over all sequences */
    bool is_last;            /* of the record */
};

/* Takes one item; it and what it borrows are valid until the call returns
 * (arrays: as long as the arena).  Non-zero ends the walk. */
typedef int log_item_fn(const struct log_item *item, void *ctx);

/* Hand over every event of a payload, in order.  Returns 0, or what `fn`
 * returned if that was not 0, or -ERR_CORRUPT. */
int log_decode(struct str payload, struct arena *arena, log_item_fn *fn,
               void *ctx, struct err *err) must_check;

/* Takes one event of a job set, encoded: an EventSequence.Event.  Non-zero
 * ends the walk. */
typedef int log_encoded_fn(const struct event_scope *scope, struct str encoded,
                           void *ctx);

/* Hand over the events of one job set, in order and not decoded: what other
 * job sets have in the record costs next to nothing.  Returns as log_decode()
 * does. */
int log_walk_job_set(struct str payload, struct str queue, struct str job_set,
                     log_encoded_fn *fn, void *ctx, struct err *err) must_check;

/* What whoever takes items can do beforehand, each some items earlier than the
 * last: 0, 1, ... below LOG_SOON_STAGES. */
enum { LOG_SOON_STAGES = 4, LOG_SOON_DISTANCE = 3 };

/* Told that an item will be handed over soon: what it is about may lie far
 * away in memory, and is better fetched while others are at work.  Whether it
 * is the last is not known then.  The last items of a payload are told of in
 * fewer stages, as nothing comes after them. */
typedef void log_soon_fn(const struct log_item *item, uint32_t stage,
                         void *ctx);

/* Who takes items, and hears of them before. */
struct log_taker {
    log_item_fn *fn;
    log_soon_fn *soon;
    void *ctx;
};

/* As log_decode(), telling of items before they are handed over.  `fn` must
 * leave the arena as it is; before -ERR_CORRUPT some sound events may not have
 * been handed over. */
int log_decode_ahead(struct str payload, struct arena *arena,
                     const struct log_taker *taker, struct err *err) must_check;

/* The same for one encoded armadaevents.EventSequence. */
int log_decode_sequence_ahead(struct str sequence, struct arena *arena,
                              const struct log_taker *taker,
                              struct err *err) must_check;

/* Decode one encoded EventSequence.Event; -ERR_CORRUPT, and then what is in
 * `*ret_event` means nothing. */
int log_decode_event(struct str encoded, struct arena *arena,
                     struct event *ret_event, struct err *err) must_check;

/* The ordering of a word of QueueScheduling; QUEUE_ORDERINGS: not one. */
enum queue_ordering log_queue_ordering(struct str word);

/* Decode an encoded api.Queue into the record that scheduling needs; limits
 * live in the arena.  Amounts beyond what a record can hold are clamped. */
int log_decode_queue(struct str encoded, struct arena *arena,
                     struct queue_record *ret_record,
                     struct err *err) must_check;

/* The first retry policy that an encoded api.Queue names, which is the one
 * that counts; "": none. */
struct str log_queue_retry_policy(struct str encoded);

/* Decode an encoded api.RetryPolicy; all of it lives in the arena. */
int log_decode_retry_policy(struct str encoded, struct arena *arena,
                            struct retry_policy *ret_policy,
                            struct err *err) must_check;

/* Append the encoding of one EventSequence.Event (its fields, without the
 * tag that it has in a sequence).  A submit's `encoded` must already hold the
 * digest (log_put_submit() makes one that does). */
void log_encode_event(struct strbuf *buf, const struct event *event);

/* Append an EventSequence.Event for a job's submission: `submit_job` is an
 * encoded armadaevents.SubmitJob without a digest, `digest` a packed one. */
void log_put_submit(struct strbuf *buf, int64_t created_ms,
                    struct str submit_job, struct str digest);

/* A payload under construction.  Zeroed memory is an empty one; set
 * `buf.byte_count_max` first if it is to have a bound. */
struct log_batch {
    struct strbuf buf;
    struct strbuf scope;   /* the open sequence's head, encoded */
    struct strbuf scratch; /* the next one's */
    size_t sequence_begin; /* of the open sequence; 0: none is open */
    uint32_t event_count;
};

/* Free what the batch holds and leave an empty one. */
void log_batch_fini(struct log_batch *batch);

/* Forget the contents, keep the memory. */
void log_batch_clear(struct log_batch *batch);

/* Add an event; events of equal scope that follow one another share a
 * sequence. */
void log_batch_add(struct log_batch *batch, const struct event_scope *scope,
                   const struct event *event);

/* Add an event that is encoded already (an EventSequence.Event). */
void log_batch_add_encoded(struct log_batch *batch,
                           const struct event_scope *scope, struct str encoded);

/* Add a whole encoded armadaevents.EventSequence of `event_count` events. */
void log_batch_add_sequence(struct log_batch *batch, struct str sequence,
                            uint32_t event_count);

/* What the payload takes so far, from above. */
static inline size_t log_batch_bytes(const struct log_batch *batch)
{
    return batch->buf.byte_count;
}

/* The payload, borrowed until the next change.  After this only
 * log_batch_clear() and log_batch_fini().  Ask batch->buf.is_over too. */
struct str log_batch_finish(struct log_batch *batch) must_check;

#define auto_log_batch __attribute__((cleanup(log_batch_fini))) struct log_batch
