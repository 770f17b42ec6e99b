/*
 * submit - the command that a submission asks the leader for.
 *
 * Internal to the API.
 *
 * Threads: that of the call, until the command is posted.
 */
#pragma once

#include "api/core/api_call.h"
#include "api/core/refusal.h"

/* The command that an encoded api.JobSubmitRequest asks for, by every rule that
 * needs no leader; NULL: the call is over. */
struct command *submit_command_make(struct api_call *call,
                                    struct str request) must_check;
/* The same, which also refuses what can never run. */
struct command *submit_command_check(struct api_call *call,
                                     struct str request) must_check;
/* As submit_command_make() for somebody who does not call now, of jobs that
 * wait for no others; NULL with the refusal. */
struct command *submit_command_as(struct api *api,
                                  const struct principal *owner,
                                  struct str request, struct arena *arena,
                                  struct refusal *refusal) must_check;
