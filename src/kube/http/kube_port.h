/*
 * kube_port - how an API server is asked: a port, with http_client.c as the
 * real one.
 *
 * A watch is a request whose bytes are taken as they come: `on_bytes` gets the
 * body of answers of 2xx alone; other bodies are kept for the result.
 *
 * Threads: one owner.  Callbacks never come from within ask or cancel; they may
 * ask and cancel.
 */
#pragma once

#include "base/str.h"

/* No server makes us wait longer. */
enum { KUBE_RETRY_AFTER_MS_MAX = 600000 };

/* How a request ended. */
struct http_result {
    int rc;     /* 0: the server answered; -ERR_UNAVAILABLE, -ERR_LIMIT, or
                 * what credential_get() says: it did not */
    int status; /* of HTTP; 0: no answer */
    int64_t retry_after_ms;   /* as the server wishes, at most
                               * KUBE_RETRY_AFTER_MS_MAX; -1: it says nothing */
    struct str body;          /* of what was not given to on_bytes */
    const char *content_type; /* of the body; "" */
    const char *text;         /* why there was no answer; "" */
};

/* What to ask.  All is copied but ctx. */
struct http_ask {
    const char *method;       /* GET, POST, PUT, PATCH, DELETE */
    const char *path;         /* "/api/v1/pods?limit=500" */
    const char *accept;       /* NULL: any */
    const char *content_type; /* of the body; NULL: there is none */
    struct str body;
    /* No byte for so long ends it; 0: it may wait for ever. */
    int64_t silence_ms_max;
    /* It ends after so long, however the bytes come; 0: it has no end. */
    int64_t total_ms_max;
    /* A larger body that is kept for the result ends it with -ERR_LIMIT; 0: the
     * port's own bound. */
    size_t byte_count_max;
    /* NULL: the body is in the result.  False: enough, end it. */
    bool (*on_bytes)(void *ctx, struct str bytes);
    /* The end, once, unless it was cancelled; valid for the call. */
    void (*on_end)(void *ctx, const struct http_result *result);
    void *ctx;
};

/* The port; a backend embeds it. */
struct kube_port {
    /* Begin a request; its number, for cancelling.  0: too many wait to be
     * sent; nobody is called, ask again later. */
    uint64_t (*ask)(struct kube_port *, const struct http_ask *ask);
    /* It ends without a word; nothing happens to one that has ended. */
    void (*cancel)(struct kube_port *, uint64_t request);
    /* Do what can be done now; callbacks come from here. */
    void (*drive)(struct kube_port *);
    int fd; /* readable when drive() has something to do */
};
