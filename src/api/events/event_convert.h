/*
 * event_convert - from facts of the log to the events that clients see
 * (armada-api.md 2.2, 2.3).
 *
 * A fact gives no, one or several events.  Reasons of cancellations and
 * groups are left out.  Pure but for memory, which is the arena's.
 */
#pragma once

#include "armada/armadaevents.pb-c.h"
#include "armada/event.pb-c.h"
#include "base/arena.h"
#include "model/event.h"

/* Takes one event, valid until it returns; non-zero ends the conversion. */
typedef int event_sink_fn(void *ctx, const Api__EventMessage *message);

/* Convert one encoded armadaevents.EventSequence.Event that stands in a
 * sequence about `scope`.  0, what the sink returned if not 0, or
 * -ERR_CORRUPT. */
int event_convert(struct str encoded, const struct event_scope *scope,
                  struct arena *arena, event_sink_fn *sink, void *ctx,
                  struct err *err) must_check;

/* The job as its submission shows it (`submitted.job`, and the spec in
 * queries), in the arena.  `created_ms` is the submission's. */
Api__Job *event_convert_job(const Armadaevents__SubmitJob *submit,
                            const struct event_scope *scope, int64_t created_ms,
                            struct arena *arena) must_check;
