/*
 * event_hub - wakes the event streams of a job set when it has new events.
 *
 * A watcher belongs to its owner (some thread feeds it) or to the hub (it
 * waits), or it was removed.  When the projector notifies a job set, the hub's
 * own thread takes the waiting watchers of it and calls their `wake`, which
 * makes that thread the owner.  A notification that comes while an owner is at
 * work is remembered, so none is lost.
 *
 * Threads: notify from the projector's; the rest from any.
 */
#pragma once

#include "base/str.h"

struct event_hub;

/* One stream; embedded in what the owner keeps.  Fields are the hub's. */
struct hub_watcher {
    struct str queue, job_set;          /* borrowed until it is removed */
    void (*wake)(struct hub_watcher *); /* called on the hub's thread */
    struct hub_watcher *next, **link;   /* in its bucket */
    struct hub_watcher *next_ready;
    bool is_dirty;     /* notified since it last looked */
    bool is_waiting;   /* in the hub's hand */
    bool is_ready;     /* among those that the thread will wake */
    bool is_cancelled; /* the owner must end it */
};

/* A hub with its thread, for at most `watcher_count_max` watchers.  NULL: no
 * thread can be had. */
struct event_hub *event_hub_create(uint32_t watcher_count_max,
                                   struct err *err) must_check;
/* Stop the thread.  No watcher may be left.  NULL is fine. */
void event_hub_destroy(struct event_hub *hub);

/* Add a watcher whose names and `wake` are set, in its owner's hand.
 * -ERR_LIMIT: there are too many. */
int event_hub_add(struct event_hub *hub,
                  struct hub_watcher *watcher) must_check;

/* Take it out, by its owner. */
void event_hub_remove(struct event_hub *hub, struct hub_watcher *watcher);

/* The owner found nothing: true, and it is in the hub's hand now; false when
 * it was notified or cancelled meanwhile: look again. */
bool event_hub_wait(struct event_hub *hub,
                    struct hub_watcher *watcher) must_check;

/* Whether it was cancelled; asked by the owner. */
bool event_hub_is_cancelled(struct event_hub *hub, struct hub_watcher *watcher);

/* Cancel, from any thread.  True: it waited, and the caller is the owner now
 * and must end it; false: its owner will see. */
bool event_hub_cancel(struct event_hub *hub,
                      struct hub_watcher *watcher) must_check;

/* A job set has new events. */
void event_hub_notify(struct event_hub *hub, struct str queue,
                      struct str job_set);

/* One watcher has something to do, whatever its job set; does nothing once it
 * was removed. */
void event_hub_wake(struct event_hub *hub, struct hub_watcher *watcher);

/* How many watchers there are. */
uint32_t event_hub_count(struct event_hub *hub);
