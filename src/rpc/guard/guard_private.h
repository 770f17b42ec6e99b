/*
 * guard_private - what the guard's files share: the guard, and its connections.
 * Private to this folder.
 */
#pragma once

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/strbuf.h"
#include "rpc/guard/frames.h"
#include "rpc/guard/guard.h"

enum {
    GUARD_TOKEN_BYTES = 16,
    GUARD_MARK_TEXT_BYTES = 8 + 2 * GUARD_TOKEN_BYTES,
    GUARD_READ_BYTES = 64 << 10,
    GUARD_BUCKETS = 8192, /* of addresses, by hash */
    /* Frames that ask for work and carry nothing, of one connection: at once,
     * and in a second. */
    GUARD_CONTROL_BURST = 4000,
    GUARD_CONTROL_PER_SECOND = 1000,
};

/* Bytes that one side has not taken yet. */
struct spill {
    char *bytes; /* owned; NULL: none */
    size_t at, byte_count;
};

/* What is at the other end of a connection over loopback. */
enum peer_kind { PEER_NOT_LOOKED_AT, PEER_OUTSIDE_JOBS, PEER_OTHER };

/* A connection, in its slot.  Without a client `fd` is -1, and without the
 * library `inner`; a slot without either is free. */
struct connection {
    int fd;              /* of the client */
    int inner;           /* to the library; -1: not handed over yet */
    SSL *ssl;            /* NULL: plain */
    bool is_greeted;     /* the TLS handshake is done, or not needed */
    bool is_inner_over;  /* the library has closed its end */
    bool is_over;        /* to be ended at the end of the round */
    bool is_probe;       /* it is our own, and in no count */
    uint32_t generation; /* of the slot: events of the one before are stale */
    uint32_t watched_fd, watched_inner; /* what epoll watches for */
    bool is_inner_watched;              /* epoll has it, if only for nothing */
    uint32_t bucket;
    int64_t since_ms;   /* accepted */
    int64_t handed_ms;  /* handed over, and not answered yet; 0: it is */
    int64_t control_ms; /* up to when control frames were counted off */
    uint64_t control_left;
    struct frames frames;
    struct spill to_inner, to_client;
    unsigned char token[GUARD_TOKEN_BYTES];
    char mark[FRAMES_MARK_BYTES_MAX]; /* encoded */
    uint32_t mark_bytes;
    struct guard_peer peer;
    enum peer_kind kind;
};

/* What dials the listeners (guard_probe.c). */
struct guard_probe {
    pthread_t thread;
    bool has_thread;
    int wake; /* an eventfd: the thread is to end; -1: there is none */
    SSL_CTX *tls;
    struct sockaddr_storage addresses[GUARD_LISTENERS_MAX];
    struct sockaddr_storage expected; /* the next comes from it; under lock */
    /* When the first probe began that was not answered; 0: the last was. */
    atomic_int_fast64_t failing_ms;
};

struct guard {
    struct guard_options options;
    int listeners[GUARD_LISTENERS_MAX];
    uint32_t listener_count;
    uint32_t slot_count; /* of connections: the clients', then the probe's */
    struct guard_probe probe;
    int epoll, wake; /* wake: an eventfd */
    SSL_CTX *tls;
    pthread_t thread;
    bool has_thread;
    bool is_paused; /* no descriptors: listeners are not watched until `tick` */
    int64_t now_ms, tick_ms;
    struct strbuf passed; /* from frames, of one read */
    char scratch[GUARD_READ_BYTES];
    uint64_t bucket_seed;
    uint16_t buckets[GUARD_BUCKETS];
    uint32_t *dying; /* [dying_count]: slots to end in this round */
    uint32_t dying_count;
    atomic_bool is_closing, is_stopping;
    atomic_int_fast64_t round_ms; /* when the thread last went round */
    /* Since when nobody could be accepted, and the library has not answered the
     * first of those handed over that are still there; 0: neither is so. */
    atomic_int_fast64_t refusing_ms, unanswered_ms;
    pthread_cond_t closed;
    bool is_closed;        /* under lock */
    pthread_mutex_t lock;  /* slots' tokens and peers, and what follows */
    int64_t look_again_ns; /* no look for a process before it */
    struct connection *connections; /* [slot_count] */
    struct guard_counts counts;
};

/* What an event is about, in its data: kind, slot, generation. */
enum { OF_CLIENT = 0, OF_INNER = 1, OF_LISTENER = 2, OF_WAKE = 3 };

/* guard.c: the data of a connection's events. */
uint64_t guard_data_of(const struct guard *guard,
                       const struct connection *connection, unsigned kind);
/* Free the slots of those that are over. */
void guard_bury(struct guard *guard);
/* Count one of `counts`. */
void guard_count(struct guard *guard, uint64_t *counter);
/* Watch the listeners, or do not until the next second. */
void guard_pause(struct guard *guard, bool is_paused);

/* guard_accept.c: take what waits at a listener. */
void guard_accept(struct guard *guard, int listener);
/* Whether it is a connection that has not asked for anything yet. */
bool guard_is_silent(const struct connection *connection);

/* guard.c: end a connection at the end of this round. */
void guard_end(struct guard *guard, struct connection *connection);
/* Watch both sides for what can be done now. */
void guard_watch(struct guard *guard, struct connection *connection);

/* Which way bytes go. */
enum {
    PUMP_IN = 1 << 0,  /* from the client to the library */
    PUMP_OUT = 1 << 1, /* from the library to the client */
};

/* guard_probe.c: dial the listeners each `probe_ms`, if that is not 0. */
int guard_probe_start(struct guard *guard, struct err *err) must_check;
/* Wait for a dial under way to break off; may be called again. */
void guard_probe_stop(struct guard *guard);
/* Whether it is the probe that comes from this address. */
bool guard_is_probe(struct guard *guard,
                    const struct sockaddr_storage *address) must_check;

/* guard_pump.c: move bytes, as far as they go. */
void connection_pump(struct guard *guard, struct connection *connection,
                     unsigned ways);
/* Close the client's side, and tell the library that no more comes. */
void connection_part(struct connection *connection);
/* Of one whose client is gone: read what the library still says, until it has
 * let go. */
void connection_drop(struct guard *guard, struct connection *connection);
/* Close and free all of it but its slot. */
void connection_fini(struct connection *connection);

/* guard_tls.c: NULL with `err` set. */
SSL_CTX *guard_tls_create(const struct guard_tls *tls,
                          struct err *err) must_check;
/* Of a client that takes any certificate, for the probe. */
SSL_CTX *guard_tls_create_client(void) must_check;
/* Go on with the handshake: 1 done, 0 later, -1 failed. */
int guard_tls_greet(SSL *ssl) must_check;
/* As read() and write(), but -1 is «later», and -2 the end. */
ssize_t guard_tls_read(SSL *ssl, void *bytes, size_t byte_count) must_check;
ssize_t guard_tls_write(SSL *ssl, const void *bytes,
                        size_t byte_count) must_check;
