/*
 * object_event - posts the event that makes, changes or deletes an object.
 *
 * Internal to the API.
 */
#pragma once

#include "api/core/api_call.h"

/* An event of now, all else zero. */
struct event event_now(const struct api_call *call, enum event_type type);
/* Post it in the caller's name; the call ends with the leader's answer.
 * `wish` says whether the object is to be there. */
void object_post(struct api_call *call, const struct event *event,
                 enum object_wish wish);
