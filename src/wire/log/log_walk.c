/* Walks over the sequences of a record, and their events. */
#include "wire/log/log_codec.h"
#include "wire/log/log_records.h"
#include "wire/message/field.h"

/* Items that a walk holds back: one, so as to know the last one, or as many as
 * are told of before. */
enum { AHEAD_MAX = 16 };

_Static_assert(LOG_SOON_STAGES *LOG_SOON_DISTANCE < AHEAD_MAX,
               "a walk holds back what it tells of");

/* A walk over events. */
struct walk {
    struct arena *arena;
    struct log_taker taker;
    struct err *err;
    uint32_t ahead; /* how many are held back: at most AHEAD_MAX */
    uint32_t taken_count, given_count;
    struct log_item items[AHEAD_MAX]; /* a ring: by their index */
};

static void walk_begin(struct walk *walk, struct arena *arena,
                       const struct log_taker *taker, struct err *err)
{
    walk->arena = arena;
    walk->taker = *taker;
    walk->err = err;
    walk->ahead = taker->soon ? LOG_SOON_STAGES * LOG_SOON_DISTANCE : 1;
    walk->taken_count = walk->given_count = 0;
}

static struct log_item *item_at(struct walk *walk, uint32_t index)
{
    return &walk->items[index % AHEAD_MAX];
}

/* Tell of the items whose time it is, once one more has come. */
static void tell_soon(struct walk *walk)
{
    uint32_t newest = walk->taken_count - 1;

    for (uint32_t stage = 0; walk->taker.soon && stage < LOG_SOON_STAGES;
         stage++) {
        uint32_t back = stage * LOG_SOON_DISTANCE;
        if (newest >= back && newest - back >= walk->given_count) {
            walk->taker.soon(item_at(walk, newest - back), stage,
                             walk->taker.ctx);
        }
    }
}

static int hand_over(struct walk *walk, bool is_last)
{
    struct log_item *item = item_at(walk, walk->given_count);

    item->is_last = is_last;
    walk->given_count++;
    return walk->taker.fn(item, walk->taker.ctx);
}

/* Hand over what is held back: nothing comes after it. */
static int hand_over_all(struct walk *walk)
{
    int rc = 0;

    while (rc == 0 && walk->given_count < walk->taken_count) {
        rc = hand_over(walk, walk->given_count + 1 == walk->taken_count);
    }
    return rc;
}

static int walk_event(struct walk *walk, const struct event_scope *scope,
                      uint32_t sequence_index, struct str encoded)
{
    int rc = walk->taken_count - walk->given_count == walk->ahead
                 ? hand_over(walk, false)
                 : 0;

    if (rc != 0) {
        return rc;
    }
    struct log_item *item = item_at(walk, walk->taken_count);
    rc = log_decode_event(encoded, walk->arena, &item->event, walk->err);
    if (rc < 0) {
        return rc;
    }
    item->scope = *scope;
    item->encoded = encoded;
    item->sequence_index = sequence_index;
    item->index = walk->taken_count++;
    item->is_last = false; /* nobody knows yet */
    tell_soon(walk);
    return 0;
}

static int read_scope(struct str sequence, struct event_scope *ret_scope,
                      struct err *err)
{
    struct field_cursor cursor = field_cursor_make(sequence);
    struct event_scope scope = {0};

    while (!field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return log_corrupt(err, "a sequence is malformed");
        }
        if (field.type != FIELD_BYTES) {
            continue;
        }
        if (field.number == 1) {
            scope.queue = field.bytes;
        } else if (field.number == 2) {
            scope.job_set = field.bytes;
        } else if (field.number == 3) {
            scope.user = field.bytes;
        }
    }
    *ret_scope = scope;
    return 0;
}

static int walk_sequence(struct walk *walk, struct str sequence,
                         uint32_t sequence_index)
{
    struct field_cursor cursor = field_cursor_make(sequence);
    struct event_scope scope;
    int rc = read_scope(sequence, &scope, walk->err);

    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return log_corrupt(walk->err, "a sequence is malformed");
        }
        if (field.number == 5 && field.type == FIELD_BYTES) {
            rc = walk_event(walk, &scope, sequence_index, field.bytes);
        }
    }
    return rc;
}

int log_decode_sequence_ahead(struct str sequence, struct arena *arena,
                              const struct log_taker *taker, struct err *err)
{
    struct walk walk;

    walk_begin(&walk, arena, taker, err);
    int rc = walk_sequence(&walk, sequence, 0);
    return rc ? rc : hand_over_all(&walk);
}

int log_decode_ahead(struct str payload, struct arena *arena,
                     const struct log_taker *taker, struct err *err)
{
    struct field_cursor cursor = field_cursor_make(payload);
    uint32_t sequence_index = 0;
    struct walk walk;
    int rc = 0;

    walk_begin(&walk, arena, taker, err);
    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return log_corrupt(err, "a batch is malformed");
        }
        if (field.number == 1 && field.type == FIELD_BYTES) {
            rc = walk_sequence(&walk, field.bytes, sequence_index++);
        }
    }
    return rc ? rc : hand_over_all(&walk);
}

int log_decode(struct str payload, struct arena *arena, log_item_fn *fn,
               void *ctx, struct err *err)
{
    struct log_taker taker = {fn, NULL, ctx};

    return log_decode_ahead(payload, arena, &taker, err);
}

static int walk_encoded(struct str sequence, const struct event_scope *scope,
                        log_encoded_fn *fn, void *ctx, struct err *err)
{
    struct field_cursor cursor = field_cursor_make(sequence);
    int rc = 0;

    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct field field;
        if (!field_read(&cursor, &field)) {
            return log_corrupt(err, "a sequence is malformed");
        }
        if (field.number == 5 && field.type == FIELD_BYTES) {
            rc = fn(scope, field.bytes, ctx);
        }
    }
    return rc;
}

int log_walk_job_set(struct str payload, struct str queue, struct str job_set,
                     log_encoded_fn *fn, void *ctx, struct err *err)
{
    struct field_cursor cursor = field_cursor_make(payload);
    int rc = 0;

    while (rc == 0 && !field_cursor_is_done(&cursor)) {
        struct event_scope scope;
        struct field field;
        if (!field_read(&cursor, &field)) {
            return log_corrupt(err, "a batch is malformed");
        }
        if (field.number != 1 || field.type != FIELD_BYTES) {
            continue;
        }
        rc = read_scope(field.bytes, &scope, err);
        if (rc == 0 && str_equal(scope.queue, queue) &&
            str_equal(scope.job_set, job_set)) {
            rc = walk_encoded(field.bytes, &scope, fn, ctx, err);
        }
    }
    return rc;
}
