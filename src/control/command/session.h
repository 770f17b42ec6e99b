/*
 * session - a held lease stream, as the leader sees it: leases and cancels
 * are pushed the moment they are durable, instead of at the next request.
 *
 * The API makes one per stream and names it in each COMMAND_EXCHANGE of that
 * stream (exchange.request.session).  From the first on the leader may push.
 * A later session of the same executor replaces the older one, unless both say
 * that they are different programs: then the later one is refused
 * (COMMAND_EXISTS).  When the stream ends the API posts COMMAND_SESSION_END.
 *
 *     credit   each exchange sets it to its lease_max; each lease that is
 *              answered or pushed takes one.  At 0 leases wait for the next
 *              exchange; cancels are always pushed.
 *     full     an exchange with is_full: every run that it does not list is
 *              leased again, whatever was sent before.  The first exchange of
 *              a session must be full.
 *     delta    else: only what was not sent in this session is leased.
 *
 * Ownership: the API owns the session.  An exchange that is answered
 * COMMAND_OK attaches it: from then on the leader may call `push`, until it
 * calls `released`, once, as its last word about it.  An exchange that is
 * answered otherwise attaches nothing (but does not detach either).
 *
 * Threads: `push` and `released` are called on the leader's thread; they
 * must not block and must not call back into the leader.
 */
#pragma once

#include "control/command/command.h"

struct exchange_session {
    /* Leases to start and runs to stop; all borrowed until the return, so
     * copy what is kept. */
    void (*push)(struct exchange_session *session,
                 const struct exchange_response *response);
    /* The leader has let go, `result` says why: COMMAND_OK after a
     * COMMAND_SESSION_END, COMMAND_INVALID when another session of the same
     * executor took its place, COMMAND_NOT_FOUND when the executor was deleted
     * (begin anew), COMMAND_UNAVAILABLE when the leader stops. */
    void (*released)(struct exchange_session *session,
                     enum command_result result);
    void *ctx; /* the API's */
};
