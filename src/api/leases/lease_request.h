/*
 * lease_request - decodes an executor's LeaseRequest for the leader.
 */
#pragma once

#include "control/command/command.h"

/* What a request says beside what the leader wants to know. */
struct lease_wishes {
    bool is_held;  /* asks for a held stream */
    bool is_delta; /* tells only what changed */
};

/* Decode `bytes` into the request of a fresh COMMAND_EXCHANGE, in its arena;
 * nodes without a name are passed over.  -ERR_CORRUPT, -ERR_LIMIT,
 * -ERR_INVALID with a text. */
int lease_request_read(struct str bytes, size_t byte_count_max,
                       struct command *command, struct lease_wishes *ret_wishes,
                       struct err *err) must_check;
