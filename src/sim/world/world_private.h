/*
 * world_private - what the parts of a world share; for world*.c only.
 *
 *     world.c             create, clock and log, time
 *     world_commands.c    what is asked of the leader
 *     world_jobs.c        kinds, and the submission of jobs
 */
#pragma once

#include "sim/world/world.h"

/* Free a kind, with the texts of its jobs. */
void world_kind_destroy(struct world_kind_entry *kind);
