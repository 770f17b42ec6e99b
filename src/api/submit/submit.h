/*
 * submit - the command that a submission asks the leader for.
 *
 * Internal to the API.
 *
 * Threads: that of the call, until the command is posted.
 */
#pragma once

#include "api/core/api_call.h"

/* The command that an encoded api.JobSubmitRequest asks for, by every rule that
 * needs no leader; NULL: the call is over. */
struct command *submit_command_make(struct api_call *call,
                                    struct str request) must_check;
