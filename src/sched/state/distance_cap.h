/*
 * distance_cap - which gangs cap the distance between their members, and since
 * when they wait, because a cap may end after a while.
 *
 * A gang waits since it was submitted, or since the last of its members that
 * lost its place did.  The latter is history.  Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* A gang was made: pools without levels get a topology for it if it has a
 * cap. */
void distance_cap_join(struct sched *sched, const struct gang *gang);
/* It ends. */
void distance_cap_leave(struct sched *sched, const struct gang *gang);
/* Whether a gang has a cap. */
bool distance_is_capped(const struct gang *gang);
/* A member of a gang waits again, as of the time told last. */
void distance_cap_requeued(struct sched *sched, struct gang *gang);
/* When the cap of a sub-group of a listed gang ends, or INT64_MAX. */
int64_t distance_cap_end_ms(const struct sched *sched, const struct gang *gang,
                            uint32_t sub_group);
/* What is history (history.h). */
void distance_cap_pack(const struct sched *sched, struct strbuf *buf);
struct history_reader;
/* Take it back. */
void distance_cap_unpack(struct sched *sched, struct history_reader *reader);
