/*
 * queue_service - what queue_service.c, which makes one queue at a time, shows
 * to queue_batch.c.
 */
#pragma once

#include "api/core/api_call.h"
#include "api/core/refusal.h"
#include "api/core/sequence.h"
#include "armada/services.pb-c.h"

/* Facts about queues stand in no job set. */
struct event_scope queue_event_scope(const struct api_call *call);
/* Add the fact that a queue is now as `queue` says. */
void queue_add_set(struct api_call *call, struct sequence *sequence,
                   const Api__Queue *queue);
/* Check a queue and bring it into the form that is kept. */
int queue_prepare(struct api_call *call, Api__Queue *queue, bool is_new,
                  struct refusal *refusal);
