/*
 * queue_convert - a queue as users write it and as it is kept (armada-api.md
 * 1.5): validation, and owners turned into permissions.
 *
 * Messages are changed in place; what is added lives in the arena.  Pure but
 * for memory.
 */
#pragma once

#include "api/core/refusal.h"
#include "armada/queue.pb-c.h"
#include "base/arena.h"

/* Check a queue but for its retry policies.  -ERR_INVALID. */
int queue_validate(const Api__Queue *queue, struct refusal *refusal) must_check;

/* Make `owner` the only user owner if no user owner is named. */
void queue_default_owner(Api__Queue *queue, struct str owner,
                         struct arena *arena);

/* Turn owners into one permissions entry, placed first, and empty what is
 * never read back (owners, resource_limits, labels_deprecated). */
void queue_to_stored(Api__Queue *queue, struct arena *arena);
