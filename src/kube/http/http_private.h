/*
 * http_private - what the files of the client share: a request, the client, and
 * what each file does for the others.
 *
 * Threads: one owner.
 */
#pragma once

#include <curl/curl.h>
#include <sys/epoll.h>

#include "base/map.h"
#include "base/slots.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/http/credential.h"
#include "kube/http/http_client.h"

enum { URL_BYTES_MAX = 64 << 10, MS_PER_S = 1000 };

/* What epoll says is ready, beside curl's own descriptors. */
enum { READY_CURL_TIMER = -1, READY_OWN_TIMER = -2, READY_CREDENTIAL = -3 };

struct request {
    struct http_client *client;
    uint64_t number;
    struct http_ask ask;        /* its texts are in `arena` */
    struct arena arena;         /* owned */
    CURL *easy;                 /* owned while it flies */
    struct curl_slist *headers; /* owned while it flies */
    struct strbuf body;         /* of the answer, unless on_bytes takes it */
    struct strbuf type;         /* of the body */
    char problem[CURL_ERROR_SIZE];
    uint64_t version;  /* of the credential */
    size_t head_bytes; /* of the answer's headers */
    int try_count;
    bool wants_no_more;  /* on_bytes said so */
    bool is_beyond_held; /* HTTP_CLIENT_HELD_BYTES_MAX would be passed */
    bool is_cancelled;   /* from within a callback of curl */
};

struct http_client {
    struct kube_port port;
    const struct kube_config *config;
    struct credential *credential;
    CURLM *multi;
    int epoll_fd;
    int curl_timer_fd;             /* set by curl */
    int own_timer_fd;              /* set for what waits to be sent */
    struct curl_slist *connect_to; /* owned: see tls_server_name; NULL */
    bool is_in_curl;         /* which must not be called from its callbacks */
    VEC(uint64_t) cancelled; /* meanwhile */
    struct strbuf base;      /* the URL before the path */
    SLOTS(struct request *) requests; /* owned; NULL: free */
    struct map by_number;
    uint64_t last_number;
    struct http_client_stats stats;
    uint32_t flying_count;
    size_t held_byte_count; /* of the requests' bodies */
    VEC(uint64_t) waiting;  /* to be sent, in order */
};

/* http_events.c: descriptors and timers. */

/* Make what is waited on and curl's multi handle; false: it cannot be had. */
bool http_open_multi(struct http_client *client) must_check;
/* Have epoll say `what` when this descriptor is readable. */
bool http_watch_fd(struct http_client *client, int fd, int what);
/* Let a timer expire in so many ms; < 0: never. */
void http_set_timer(int timer_fd, int64_t ms);
/* A descriptor or a timer is ready. */
void http_take_event(struct http_client *client,
                     const struct epoll_event *event);

/* http_flight.c: a request on its way. */

/* Send it with this credential; false: curl does not take it. */
bool http_begin_flight(struct http_client *client, struct request *request,
                       const struct credential_now *now) must_check;
/* It flies no more; nothing happens to one that does not. */
void http_end_flight(struct http_client *client, struct request *request);
/* The status of HTTP that has come; 0: none yet. */
int64_t http_status_of(const struct request *request);

/* Let go of what has come of its body. */
void http_drop_body(struct http_client *client, struct request *request);

/* http_end.c: how requests end. */

/* Tell that there was no answer, and free the request. */
void http_end_without_answer(struct http_client *client,
                             struct request *request, int rc, const char *text);
/* Tell of all that curl has ended. */
void http_take_ends(struct http_client *client);

/* http_client.c */

/* Take it out of the table and free it. */
void http_free_request(struct http_client *client, struct request *request);
