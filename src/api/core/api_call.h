/*
 * api_call - one gRPC call on its way through a handler: its caller, its
 * memory, and the ways to end it.
 *
 * Internal to the API.  A handler gets a call that has passed authentication
 * and its method's own permission, and ends it exactly once with one of
 * api_call_reply*, api_call_fail*, api_call_end; after that it must not touch
 * it.  The call lives as long as the transport's.
 *
 * Errors (armada-api.md 1.2): what is a status of its own goes out as it is;
 * what Armada's handlers return as plain errors is prefixed with the request
 * id and cut.
 *
 * Threads: one at a time.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "api/api.h"
#include "api/core/auth.h"
#include "api/core/leader_questions.h"

enum {
    ERROR_TEXT_BYTES_MAX = 2000,
    NOTE_BYTES_MAX = 1024, /* of an operator's reason */
};

struct api_call;

/* Takes a call and its request. */
typedef void api_call_handler_fn(struct api_call *call, struct str request);

/* Of what a method's permission and verb decide. */
enum method_scope {
    SCOPE_ANYONE, /* who is somebody: it tells of no job and changes nothing */
    SCOPE_SERVER, /* the permission, before the handler is called */
    SCOPE_QUEUE,  /* the permission, or the verb on the request's queue */
    SCOPE_JOBS,   /* the same for each job or row: others are left out */
    SCOPE_EXECUTOR, /* the permission, for one's own executors */
    SCOPE_COUNT,
};

/* What else there is to a method. */
enum {
    METHOD_DENIES_WRAPPED = 1 << 0, /* UNKNOWN with the request's id, where
                                       others say PERMISSION_DENIED */
    METHOD_IS_LARGE = 1 << 1, /* takes messages as long as an executor's */
};

/* One row of the table of methods (api/methods.h): what it is called, who may
 * call it. */
struct method {
    const char *path;
    enum rpc_kind kind;
    api_call_handler_fn *handle;
    enum permission permission; /* enough for anything that it does */
    enum queue_verb verb;       /* or the queue's own grant */
    enum method_scope scope;
    unsigned traits; /* METHOD_... */
};

struct api_call {
    struct api *api;
    const struct method *method;
    struct rpc_call *rpc;
    struct principal principal;
    struct str queue, job_set; /* asked for by it; "" or p NULL: none */
    struct str job;            /* the same, of a session in one */
    const char *request_id;    /* made when first asked for */
    uint64_t began_ns;         /* on the monotonic clock */
    bool is_denied, has_credentials;
    struct str counted_as;           /* for limits; p NULL: it is not counted */
    struct leader_question question; /* that it has before the leader */
    struct arena arena;              /* until the call is over */
    struct str viewed_queue; /* that view.c asked for last; p NULL: none */
    int viewed;              /* enum view: what that queue lets see */
    void *data;              /* the handler's own */
    void (*destroy_data)(void *data);
};

/* The scope as texts write it ("queue"). */
const char *method_scope_name(enum method_scope scope);

/* Take a call from the transport when its headers are there: authenticate, and
 * check the method's permission (where its scope is SERVER or EXECUTOR; else
 * the handler asks for its queue or job).  False: the call is over, and its
 * request, which may be long, is not waited for. */
bool api_call_admit(struct api *api, const struct method *method,
                    struct rpc_call *rpc) must_check;

/* Give a call that was admitted to its handler, with its request. */
void api_call_dispatch(struct rpc_call *rpc, struct str request);

/* Decode a request into the call's arena; false: the call is over. */
bool api_call_decode(struct api_call *call,
                     const ProtobufCMessageDescriptor *type, struct str request,
                     void *ret_message) must_check;

/* The home of a queue's jobs that name no pool, in the arena; "": it has none.
 */
struct str api_default_pool(const struct api *api, struct str queue,
                            struct arena *arena) must_check;

/* Whether a queue's own permissions let somebody do the verb. */
bool api_queue_grants(const struct queue_entry *entry,
                      const struct principal *principal, enum queue_verb verb,
                      struct arena *arena) must_check;

/* Whether the queue's own permissions let the caller do the verb. */
bool api_call_is_granted(struct api_call *call, const struct queue_entry *entry,
                         enum queue_verb verb) must_check;

/* Whether the caller may do the method's verb on a queue that exists; false:
 * the call is over. */
bool api_call_authorize_queue(struct api_call *call,
                              struct str queue) must_check;

/* The same for what is done to jobs of a job set.  The jobs outlive their
 * queue: once it is deleted, and its own grants with it, those who hold the
 * permission for any queue may still act on them. */
bool api_call_authorize_job_set(struct api_call *call, struct str queue,
                                struct str job_set) must_check;

/* Whether that is so of a queue that is not there: the caller holds the
 * permission, and the job set has jobs that are remembered. */
bool api_call_reaches_orphans(struct api_call *call, struct str queue,
                              struct str job_set) must_check;

/* Whether a text of the request has at most so many bytes, and as a name of one
 * line nothing that hides or reorders text; false: the call is over. */
bool api_call_check_name(struct api_call *call, const char *what,
                         struct str text) must_check;
bool api_call_check_note(struct api_call *call, const char *what,
                         struct str text) must_check;

/* Whether the caller may act for the executor of that id; false: the call is
 * over. */
bool api_call_check_executor(struct api_call *call,
                             struct str executor_id) must_check;

/* End a unary call well. */
void api_call_reply(struct api_call *call, const ProtobufCMessage *reply);
void api_call_reply_bytes(struct api_call *call, struct str reply);
void api_call_reply_empty(struct api_call *call);

/* Tell operators that a call which may last has begun. */
void api_call_begun(struct api_call *call);

/* End a stream well. */
void api_call_end(struct api_call *call);

/* End with a status of its own. */
void api_call_fail(struct api_call *call, enum rpc_code code,
                   const char *format, ...) printf_like(3, 4);

/* End with a plain error of Armada's. */
void api_call_fail_wrapped(struct api_call *call, enum rpc_code code,
                           const char *format, ...) printf_like(3, 4);

/* The wrapped error about a field of the request. */
void api_call_fail_field(struct api_call *call, const char *field,
                         const char *value, const char *message);

/* End because a reader or the store failed. */
void api_call_fail_storage(struct api_call *call, const struct err *err);

/* Post a command whose answer `done` takes on the leader's thread, with the
 * call as its ctx; false: the inbox refuses, and the call is over. */
bool api_call_post(struct api_call *call, struct command *command,
                   command_done_fn *done);

/* Answer the leader's refusal; false: it was no refusal and nothing was done.
 * `log_failed` is what Armada says when the log refuses. */
bool api_call_fail_command(struct api_call *call, const struct command *command,
                           const char *log_failed);

/* A command done that says nothing but how it went, answered empty. */
void api_call_done_empty(struct command *command, void *call);

/* Refuse a call that its caller has no right to make. */
void api_call_fail_denied(struct api_call *call, const char *format, ...)
    printf_like(2, 3);
