/*
 * follow - keeps up with a collection of an API server: lists it, page by page,
 * and watches it from there on.
 *
 *     begin, object*, listed, then object and gone as they happen;
 *     and again from begin when the server has forgotten where we were (410)
 *
 * Begin is told before the collection is asked for, and between it and listed
 * the collection is told whole: what was there at begin and is not told by then
 * is gone.  A watch that ends is opened again where it was, so nothing is
 * told twice or lost.  Failures are repeated for ever (retry.h), and counted.
 * An event that cannot be taken (it does not decode, is larger than
 * FOLLOW_FRAME_BYTES_MAX or leaves no version to go on from) makes it list
 * again: the watch would meet it for ever.
 *
 * Objects are encoded protobuf, valid for the call.  Threads: one owner;
 * callbacks come from the port's callbacks, begin from follow_drive().
 */
#pragma once

#include "base/clock.h"
#include "base/rng.h"
#include "kube/http/kube_port.h"

enum {
    FOLLOW_PAGE_MAX = 500,
    FOLLOW_FRAME_BYTES_MAX = 16 << 20,
    FOLLOW_WATCH_S_MIN = 240, /* a watch lasts so long, to twice that */
    FOLLOW_SILENCE_MS_MAX = 150000,
    FOLLOW_WATCH_MS_MAX = 600000, /* whatever the server was asked for */
    FOLLOW_PAGE_MS_MAX = 300000,  /* a page of a list */
    FOLLOW_LASTED_MS = 10000,     /* then a watch that ends is no failure */
    FOLLOW_WATCH_MS_MIN = 200,    /* from the beginning of one to the next */
    FOLLOW_OBJECTS_MAX = 4 << 20, /* of a list; a page counts as a full one */
    FOLLOW_VERSION_BYTES_MAX = 1024,
    FOLLOW_CONTINUE_BYTES_MAX = 16 << 10,
};

/* Who is told. */
struct follow_told {
    void (*begin)(void *ctx);
    void (*object)(void *ctx, struct str object); /* it is there, or changed */
    void (*gone)(void *ctx, struct str object);   /* as it was last */
    void (*listed)(void *ctx);
    void *ctx;
};

struct follow_options {
    const char *path;  /* "/api/v1/pods" */
    const char *query; /* "fieldSelector=...", escaped; "" */
    struct follow_told told;
};

struct follow_stats {
    uint64_t list_count, watch_count, object_count, gone_count;
    uint64_t failure_count;
    uint64_t bad_count; /* events that could not be taken */
    bool is_listed;     /* at least once */
    bool is_failing;    /* nothing has come since the last failure */
    struct err failure; /* the last one; "" */
};

struct follow;

/* Begin to follow; the port, clock and rng are borrowed, the options copied. */
struct follow *follow_create(struct kube_port *port, const struct clock *clock,
                             const struct rng *rng,
                             const struct follow_options *options) must_check;
/* Stop. */
void follow_destroy(struct follow *follow);
DEFINE_AUTO(follow, follow_destroy)
/* Do what is due; in how many ms it wants to be called again (INT64_MAX: when
 * the port has called back). */
int64_t follow_drive(struct follow *follow);
/* How it goes. */
const struct follow_stats *follow_stats(const struct follow *follow);
