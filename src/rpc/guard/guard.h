/*
 * guard - accepts the clients' connections in front of the gRPC library, and
 * hands it their bytes, once they have passed.
 *
 *     client <- TCP, TLS -> guard <- socket pair -> gRPC library
 *
 * The library (1.51) takes what a client sends before it is known who that is
 * without a bound (frames.h), and never accepts again after it ran out of
 * descriptors.  Here connections are counted, in all and per address, and for
 * those over loopback per user; those that say nothing are ended; and each
 * request is marked with its connection, by which guard_find() tells who is at
 * the other end.  docs/decisions/0023 has what was measured.
 *
 * Memory: a connection costs its row until it has sent the preface of HTTP/2,
 * then the library's; and what its other side has not taken, which is at most
 * one read: nothing more is read meanwhile.
 *
 * Each listener is dialled now and then by a probe, as a client does it, up to
 * the library's first answer.  The probe has a place of its own beside the
 * limits, is in no count, and needs no certificate.
 *
 * Threads: the guard has one, which owns the connections, and one that probes.
 * guard_find() and guard_counts() are for any; the rest for one at a time.
 */
#pragma once

#include "base/base.h"
#include "base/str.h"

enum {
    GUARD_LISTENERS_MAX = 16,
    GUARD_CONNECTIONS_MAX = 65536,
    GUARD_PEER_BYTES_MAX = 64,
    GUARD_DESCRIPTORS_EACH = 3, /* of a connection: its own, and the pair */
};

/* The request header by which guard_find() knows the connection. */
extern const char guard_header[];

/* Who is at the other end. */
struct guard_peer {
    char name[GUARD_PEER_BYTES_MAX]; /* "ipv4:127.0.0.1:40000" */
    bool has_user;                   /* user_id is the user of its socket */
    uint32_t user_id;
    uint32_t inode; /* of that socket */
};

/* PEM files; NULL: clients need no certificate. */
struct guard_tls {
    const char *certificate_file, *key_file, *client_ca_file;
};

/* Whether the files can be used; of a client, either may be NULL.  -ERR_IO: the
 * text names the file and the reason. */
int guard_tls_check(const struct guard_tls *tls, struct err *err) must_check;

struct guard_options {
    const int *fds; /* listening sockets; the guard owns them */
    uint32_t fd_count;
    uint32_t connection_count_max; /* in all, 1..GUARD_CONNECTIONS_MAX */
    uint32_t address_count_max;    /* of one address or local user */
    uint32_t silence_ms_max;       /* from accepting to the first request */
    uint32_t probe_ms; /* between two probes of its own; 0: there are none */
    const struct guard_tls *tls; /* NULL: plain */
    /* Takes a connected socket, which it owns from then on; on the guard's
     * thread. */
    void (*hand_over)(void *ctx, int fd);
    void *ctx;
};

/* What became of connections. */
struct guard_counts {
    uint32_t open_count;
    uint64_t accepted_count;
    uint64_t refused_count; /* over a limit of connections, or no descriptor */
    uint64_t silent_count;  /* ended, for nothing was asked in time */
    uint64_t ended_count;   /* ended, for what they sent */
};

struct guard;

/* Take connections.  NULL: a TLS file does not do, or no thread is to be had;
 * the sockets are closed then, too. */
struct guard *guard_create(const struct guard_options *options,
                           struct err *err) must_check;
/* Take no more connections, and hand over none from now on; those that were
 * handed over go on. */
void guard_close(struct guard *guard);
/* End them, and free.  NULL is fine. */
void guard_destroy(struct guard *guard);

/* Whose request has this value of guard_header; false: nobody's who is still
 * there. */
bool guard_find(struct guard *guard, struct str mark,
                struct guard_peer *ret_peer) must_check;

/* Whether a process outside of jobs is at the other end of the connection over
 * loopback that has this value of guard_header (peer_process.h).  Looked up
 * once for a connection; soon after a look in vain, which a job may ask for
 * again and again, it is false without one. */
bool guard_is_outside_jobs(struct guard *guard, struct str mark) must_check;

/* How things stand. */
void guard_counts(struct guard *guard, struct guard_counts *ret_counts);

/* Whether whoever comes is served: within `ms_max` the thread has gone round
 * (it does so each second), somebody could be accepted if anybody came, the
 * library has answered all who were handed over, and so have all listeners the
 * probe. */
bool guard_is_alive(struct guard *guard, uint32_t ms_max);
