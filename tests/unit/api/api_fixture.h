/*
 * api_fixture - the API behind a real server on a loopback port, with a
 * leader that takes everything: what is posted is logged (in memory), folded
 * into queues and query store, and answered.
 *
 * Threads: one test's; the leader has its own.
 */
#pragma once

#include <stdatomic.h>

#include "api/api.h"
#include "armada/services.pb-c.h"
#include "rpc/rpc_channel.h"
#include "tmpdir.h"

/* How the leader answers while it is told to be difficult. */
struct fixture_trouble {
    enum command_result result; /* COMMAND_OK: no trouble */
    struct str text;
};

struct fixture {
    struct api_config config; /* change it before fixture_start() */
    struct inbox *inbox;
    struct queue_table *queues, *retry_policies;
    struct elog_memory_storage *storage;
    struct elog *log;
    struct store *store;
    struct api *api;
    struct rpc_server *server;
    struct rpc_channel *channel;
    struct tmpdir directory;
    int64_t now_ms;          /* what the clock says */
    const char *credentials; /* header of calls; NULL: none */
    /* Answers exchanges; NULL: nothing to lease. */
    void (*on_exchange)(struct fixture *fixture, struct command *command);
    atomic_int pool_wish; /* of the last COMMAND_EVENTS */
    void *exchange_ctx;
    const struct log_source *logs; /* NULL: none */
    _Atomic bool is_store_held;    /* the store stays behind the log */
    struct fixture_trouble trouble;
    struct rpc_status status; /* of the last call */
    struct arena arena;       /* replies; until the fixture ends */
    struct fixture_leader *leader;
};

/* A configuration in which anonymous callers may do everything. */
void fixture_init(struct fixture *fixture);
/* Start serving. */
void fixture_start(struct fixture *fixture);
/* From now on the leader answers so; COMMAND_OK: as usual again. */
void fixture_trouble(struct fixture *fixture, enum command_result result,
                     struct str text);
/* Stop and free all. */
void fixture_fini(struct fixture *fixture);

/* Call a unary method: the reply's message, or NULL with `status`. */
void *fixture_call(struct fixture *fixture, const char *path,
                   const ProtobufCMessage *request,
                   const ProtobufCMessageDescriptor *reply_type);

/* The code of a call whose reply does not matter. */
enum rpc_code fixture_code(struct fixture *fixture, const char *path,
                           const ProtobufCMessage *request);

/* Open a server stream with its one request. */
struct rpc_stream *fixture_stream(struct fixture *fixture, const char *path,
                                  const ProtobufCMessage *request);

/* The next message of a stream within 10 s, or NULL when it has ended (its
 * status is then in `status`). */
void *fixture_next(struct fixture *fixture, struct rpc_stream *stream,
                   const ProtobufCMessageDescriptor *type);

/* Create a queue of this name that nobody owns in particular. */
void fixture_queue(struct fixture *fixture, const char *name);

/* Append a fact to the log, as the leader would. */
void fixture_log(struct fixture *fixture, const struct event_scope *scope,
                 const struct event *event);

/* For the leader's thread (on_exchange): bring the store up to the log, unless
 * it is to stay behind. */
void fixture_project(struct fixture *fixture);

/* Wait until the projector has all that was logged. */
void fixture_settle(struct fixture *fixture);

/* A queue of a name and a priority factor, all else as it is by default. */
Api__Queue fixture_queue_message(const char *name, double factor);
/* The queue as the API has it, or NULL with `status`. */
Api__Queue *fixture_get_queue(struct fixture *fixture, const char *name);
