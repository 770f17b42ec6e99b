/*
 * handlers - every method's handler, as the table names them (methods.h).
 * Internal to the API.
 *
 * Each takes a call (api_call.h) and its request's bytes, which are valid until
 * it returns, and ends the call at once or later.
 */
#pragma once

#include "api/core/api_call.h"
#include "api/methods.h"

#define DECLARE_HANDLER(path_, handler_, kind_, permission_, verb_, scope_, \
                        traits_)                                            \
    api_call_handler_fn handle_##handler_;
#define DECLARED_ABOVE(path_, handler_, kind_, permission_, verb_, scope_, \
                       traits_)

API_METHODS(DECLARE_HANDLER, DECLARED_ABOVE)

#undef DECLARE_HANDLER
#undef DECLARED_ABOVE

/* Append one event that stands in no queue in the caller's name, stamped
 * with the time; the call is answered when it is durable
 * (executor_service.c). */
void event_post(struct api_call *call, struct event *event);
