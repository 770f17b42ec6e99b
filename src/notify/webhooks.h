/*
 * webhooks - delivers notes over HTTP: a POST of the note's text, with its id,
 * the time and a signature (signature.h) in its headers.
 *
 * Only a target's own URL is asked: no redirect is followed, no proxy of the
 * environment is used, certificates are verified.  Of the answer only the
 * status counts; at most WEBHOOKS_ANSWER_BYTES_MAX of it are read, headers and
 * body together.
 *
 * Threads: one owner, but for webhooks_wake().
 */
#pragma once

#include "base/clock.h"
#include "notify/outbox.h"
#include "notify/target.h"

enum {
    WEBHOOKS_ANSWER_BYTES_MAX = 64 << 10,
    WEBHOOKS_CONNECT_MS_MAX = 10000,
};

struct webhooks;

/* An attempt has ended; `why` says what was wrong, "" if nothing. */
typedef void webhooks_end_fn(void *ctx, struct outbox_item *item,
                             enum outbox_end end, const char *why);

/* `targets` and all else is borrowed.  NULL with `err` set. */
struct webhooks *webhooks_create(const struct notify_target *targets,
                                 const struct clock *clock,
                                 webhooks_end_fn *on_end, void *ctx,
                                 struct err *err) must_check;
/* What is under way is broken off without a word.  NULL is fine. */
void webhooks_destroy(struct webhooks *webhooks);

/* Begin an attempt, which may end at once. */
void webhooks_send(struct webhooks *webhooks, struct outbox_item *item);
/* How many attempts are under way. */
uint32_t webhooks_flying_count(const struct webhooks *webhooks);
/* Go on with what is under way, for up to `timeout_ms` while nothing comes. */
void webhooks_drive(struct webhooks *webhooks, int timeout_ms);
/* Make the webhooks_drive() that goes on, or else the next one, return.  From
 * any thread. */
void webhooks_wake(struct webhooks *webhooks);

/* What an answer with this status of HTTP means. */
enum outbox_end webhooks_end_of(long status) must_check;
