/*
 * exec_link - ties a user's call to an executor's: what comes on one goes out
 * on the other.
 *
 * Of each direction one message is here at a time: the next is asked for once
 * the last has been taken, so who does not read stops who writes.  The server
 * believes nothing of a message but its length.
 *
 * A link belongs to its calls (api_call.data), and ends both, once: whoever
 * ends one of them does so by the link.
 *
 * Private to api/exec.  Threads: any.
 */
#pragma once

#include "api/core/api_call.h"

enum {
    EXEC_MESSAGE_BYTES_MAX = 128 << 10,
    /* Sessions of one caller who is no administrator, and of all. */
    EXEC_SESSIONS_EACH_MAX = 16,
    EXEC_SESSIONS_MAX = 1024,
};

struct exec_link;

/* The link of a user's call whose first message was `start`; false: there are
 * too many sessions, and the call is over. */
bool exec_link_make(struct api_call *user, struct str start) must_check;
/* The executor has come: begin.  Both calls are the link's from here on. */
void exec_link_join(struct exec_link *link, struct api_call *executor);
/* End it, and its calls: the user's with this status. */
void exec_link_end(struct exec_link *link, enum rpc_code code,
                   const char *text);
