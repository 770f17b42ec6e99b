/*
 * run - what is told to the leader about moments of periodic jobs: runs, and
 * why there was none.
 *
 * Internal to the API.  Each function waits for the leader's answer.  Threads:
 * the one of api_periodic_step().
 */
#pragma once

#include "api/core/state.h"
#include "berth/api.pb-c.h"
#include "control/command/command.h"

/* Post a command and wait for its answer, which command_destroy() frees.  NULL:
 * the leader takes none now. */
struct command *periodic_ask(struct api *api,
                             struct command *command) must_check;
/* Submit the run that a step decided on; `err` says why it is refused.
 * False: it is refused for what it is, and not for what the server is busy
 * with. */
bool periodic_submit(struct api *api, const struct periodic_row *row,
                     const Berth__Api__PeriodicJob *message,
                     const struct periodic_step *step,
                     struct err *err) must_check;
/* Note that a moment came to nothing. */
void periodic_pass(struct api *api, const struct periodic_row *row,
                   const struct periodic_step *step);
/* Cancel what has not ended. */
void periodic_cancel(struct api *api, const struct periodic_row *row,
                     const Berth__Api__PeriodicJob *message);
