/*
 * http_client - requests to one API server: HTTP/2 where it speaks that, TLS
 * verified, many at once over few connections.
 *
 * Nothing waits.  A request is begun; http_client_drive() does what can be done
 * now and calls back as bytes come and when a request has ended.  Requests wait
 * while a credential is fetched; one that the server answers 401 makes the
 * client get another credential and is sent once more.
 *
 * Threads: one owner; callbacks come from within drive.
 */
#pragma once

#include "base/clock.h"
#include "kube/config/kube_config.h"
#include "kube/http/kube_port.h"

enum {
    HTTP_CLIENT_REQUESTS_MAX = 4096,   /* under way at once; others wait */
    HTTP_CLIENT_WAITING_MAX = 1 << 14, /* beyond that none is taken */
    HTTP_CLIENT_ANSWER_BYTES_MAX = 256 << 20,
    HTTP_CLIENT_ERROR_BYTES_MAX = 1 << 20,
    HTTP_CLIENT_HELD_BYTES_MAX = 512 << 20, /* of all answers on their way */
    HTTP_CLIENT_HEAD_BYTES_MAX = 256 << 10, /* all headers of an answer */
    HTTP_CLIENT_CONNECT_MS_MAX = 10000,
    HTTP_CLIENT_CONNECTIONS_MAX = 32,
};

/* Counters since the start. */
struct http_client_stats {
    uint64_t answer_count;
    uint64_t http2_count; /* of these came over HTTP/2 */
};

struct http_client;

/* A client of this configuration, which is borrowed.  NULL: why not. */
struct http_client *http_client_create(const struct kube_config *config,
                                       const struct clock *clock,
                                       struct err *err) must_check;
/* End all requests without a word and free it. */
void http_client_destroy(struct http_client *client);
DEFINE_AUTO(http_client, http_client_destroy)

/* The client as the port that the rest of kube asks; it lives as long. */
struct kube_port *http_client_port(struct http_client *client);

/* Do what can be done now. */
void http_client_drive(struct http_client *client);
/* Readable when http_client_drive() has something to do. */
int http_client_fd(const struct http_client *client);
/* How it goes. */
const struct http_client_stats *
http_client_stats(const struct http_client *client);
