/*
 * lease_stream - what the parts of a lease stream share (lease.c says how it
 * lives); for lease*.c only.
 *
 *     lease.c        the call, and who owns the stream
 *     lease_work.c   from the leader and to it
 *     lease_steps.c  from work to messages
 *
 * Threads: work is added from any thread; the rest is the owner's, some thread
 * at a time.
 */
#pragma once

#include <pthread.h>

#include "api/core/api_call.h"
#include "api/core/event_hub.h"
#include "control/command/session.h"

/* What there is to pass on. */
enum work_kind {
    WORK_ANSWER,   /* of an exchange; `result` says how it went */
    WORK_PUSH,     /* unasked */
    WORK_RELEASED, /* the leader has let go of the session */
    WORK_CLOSED,   /* the executor will say no more */
};

/* Something that the stream must pass on. */
struct work {
    struct work *next;
    enum work_kind kind;
    struct arena arena; /* owned; what `response` points into */
    struct exchange_response response;
    enum command_result result;
    struct str text;
    bool has_sent_cancels;
    uint32_t lease_at; /* the next lease to send */
};

/* A call of LeaseJobRuns. */
struct lease_stream {
    struct hub_watcher watcher; /* first: the hub gives it back */
    struct exchange_session session;
    struct api_call *call;
    struct str executor_id; /* whose stream it is, in the call's arena */
    bool is_held;

    pthread_mutex_t mutex; /* of what follows, up to the owner's part */
    struct work *first, *last;
    bool is_ended;    /* the call is finished */
    bool is_attached; /* the leader may push */

    /* The owner's. */
    struct work *work; /* being passed on */
    uint64_t answer_count;
    bool is_held_back;   /* the last message, for one that was to follow */
    bool is_behind;      /* waits for the projector */
    uint64_t behind_seq; /* of the log, when the lease at hand was missed */
};

/* lease_work.c */

/* Set up the list of work, and the session that the leader pushes to. */
void lease_work_init(struct lease_stream *stream);
/* Free the work that is left. */
void lease_work_fini(struct lease_stream *stream);
/* Put work, which is taken, into the list and see that somebody does it;
 * without a call any more it is dropped. */
void lease_work_add(struct lease_stream *stream, struct work *work);
/* Work that says that the conversation went wrong on this side. */
void lease_work_fail(struct lease_stream *stream, enum command_result result,
                     const char *text);
/* The first of the list, which is the caller's then, or NULL. */
struct work *lease_work_take(struct lease_stream *stream);
/* Free work; NULL is fine. */
void lease_work_destroy(struct work *work);
/* Post what the executor said; false when it cannot be taken. */
bool lease_exchange_post(struct lease_stream *stream, struct command *command);
/* Post a command, which is taken, whose answer nobody waits for; if the leader
 * takes none now it is lost. */
void lease_tell(struct lease_stream *stream, struct command *command);
/* Tell the leader that nobody listens any more.  If it cannot be told, it
 * finds out when the executor comes back, or when it stops. */
void lease_session_end(struct lease_stream *stream);

/* lease_steps.c */

/* What comes of the work at hand. */
enum lease_step {
    LEASE_SEND,      /* there is a message in the buffer */
    LEASE_SEND_MORE, /* likewise, and another will follow at once */
    LEASE_SKIP,      /* there is none, but more to do */
    LEASE_DONE,      /* nothing is left of it */
    LEASE_WAIT,      /* the projector is behind */
    LEASE_END,       /* the conversation is over, well */
    LEASE_FAILED,    /* it is over, with a code and text */
};

/* Put the next message of the work at hand into `buf`. */
enum lease_step lease_step(struct lease_stream *stream, struct strbuf *buf,
                           struct err *err);
/* Count a stream among those that wait for the projector, or no longer. */
void lease_set_behind(struct lease_stream *stream, bool is_behind);
