/*
 * outbox - notes that their targets have not got yet.
 *
 *     add -> waiting -> next -> under way -> sent
 *                        ^         |
 *                        +- later -+--> given up
 *
 * Each target has a bound of its own, and OUTBOX_OPEN_MAX notes that are under
 * way or to be tried again: one that is away, whose last attempt was in vain,
 * loses what has no room and holds up nobody; one note that a target does not
 * take holds up no others.  Of a target that answers nothing is lost, as long
 * as the caller asks for room before.  A note is tried again
 * after OUTBOX_RETRY_MS_MIN, then twice as long each time up to _MAX, and given
 * up when it is `keep_ms` old.
 *
 * Pure: the caller says what time it is.  Threads: one owner.
 */
#pragma once

#include "base/str.h"

enum {
    OUTBOX_OPEN_MAX = 4,
    OUTBOX_RETRY_MS_MIN = 1000,
    OUTBOX_RETRY_MS_MAX = 300000,
};

/* How an attempt ended. */
enum outbox_end {
    OUTBOX_SENT,
    OUTBOX_LATER,   /* it may work another time */
    OUTBOX_REFUSED, /* it never will */
};

/* A note for one target; owned by the outbox. */
struct outbox_item {
    uint32_t target;
    uint64_t seq;    /* of the record that it comes from */
    struct str id;   /* ends in a NUL */
    struct str body; /* likewise */
    uint32_t attempt_count;
    int64_t added_ms;
    int64_t due_ms;
    bool is_flying;
};

struct outbox_counts {
    uint64_t waiting_count; /* now, also those under way */
    uint64_t sent_count;
    uint64_t retry_count;   /* attempts that were in vain */
    uint64_t full_count;    /* dropped since there was no room */
    uint64_t refused_count; /* dropped since they were refused */
    uint64_t expired_count; /* dropped since they were too old */
};

struct outbox;

/* For so many targets, of which each keeps `item_count_max`. */
struct outbox *outbox_create(uint32_t target_count, uint32_t item_count_max,
                             int64_t keep_ms) must_check;
/* NULL is fine. */
void outbox_destroy(struct outbox *outbox);
DEFINE_AUTO(outbox, outbox_destroy)

/* Whether each target has room for one more, or is away. */
bool outbox_has_room(const struct outbox *outbox) must_check;

/* Add a note, whose texts are copied.  False: its target's bound is reached,
 * and the note is dropped. */
bool outbox_add(struct outbox *outbox, uint32_t target, uint64_t seq,
                struct str id, struct str body, int64_t now_ms);

/* One to be sent now, which is then under way; NULL: none. */
struct outbox_item *outbox_next(struct outbox *outbox, int64_t now_ms);

/* It is not under way any more; `item` is gone unless it is tried again.
 * Whether it was given up. */
bool outbox_end(struct outbox *outbox, struct outbox_item *item,
                enum outbox_end end, int64_t now_ms);

/* When there will be one to be sent, if nothing ends before; INT64_MAX: never
 * by itself. */
int64_t outbox_due_ms(const struct outbox *outbox);

/* Up to which record a target has got all it wants, when records up to
 * `read_seq` have been added; looks at all that it has not got. */
uint64_t outbox_position(const struct outbox *outbox, uint32_t target,
                         uint64_t read_seq);

/* How a target stands. */
struct outbox_counts outbox_counts(const struct outbox *outbox,
                                   uint32_t target);
