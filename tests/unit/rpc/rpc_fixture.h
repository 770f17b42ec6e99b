/*
 * rpc_fixture - a server on a free loopback port, a channel to it, and
 * counters that a test waits for instead of sleeping.
 */
#pragma once

#include <pthread.h>

#include "patience.h"
#include "rpc/rpc_channel.h"
#include "rpc/rpc_server.h"
#include "unit.h"

/* Longest that any single thing in these tests may take. */
#define FIXTURE_WAIT_MS patient_ms(20000)

/* A number that threads raise and tests wait for. */
struct counter {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int value;
};

#define COUNTER_INIT                                           \
    {                                                          \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 \
    }

/* Raise by `delta`; the new value. */
int counter_add(struct counter *counter, int delta);
/* The value now. */
int counter_value(struct counter *counter);
/* Wait until the value is at least `value`; false after FIXTURE_WAIT_MS. */
bool counter_wait(struct counter *counter, int value);
/* Wait until the value has not changed for 100 ms; the value. */
int counter_settle(struct counter *counter);

/* A server and a channel to it. */
struct fixture {
    struct rpc_server *server;
    struct rpc_channel *channel;
    char address[64];
};

/* Fill in one loopback address where `options` has none, serve, and open a
 * plain channel.  Fails the test if that does not work. */
void fixture_start(struct fixture *f, struct rpc_server_options options);
/* Close both. */
void fixture_stop(struct fixture *f);

/* A server with one method "/t.T/M". */
void fixture_start_one(struct fixture *f, enum rpc_kind kind,
                       rpc_handler_fn *handle, void *ctx);

/* A handler that answers with what it was asked. */
void fixture_echo(void *ctx, struct rpc_call *call, struct str request);

/* Milliseconds that go up. */
int64_t fixture_now_ms(void);

/* A connected TCP socket to 127.0.0.1:`port`; fails the test if not. */
int fixture_connect(uint16_t port);

/* A certificate for "localhost" and its key. */
struct fixture_pem {
    char directory[256], certificate[300], key[300];
};

/* Have openssl make them; false: there is none. */
bool fixture_pem_make(struct fixture_pem *pem) must_check;
/* Remove them. */
void fixture_pem_remove(const struct fixture_pem *pem);
