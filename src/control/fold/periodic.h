/*
 * periodic - periodic jobs: creates, changes and deletes them, and notes their
 * runs.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/state/periodic_table.h"
#include "model/event.h"
#include "model/pack.h"

struct control;

/* Fold PERIODIC_SET, PERIODIC_DELETED and PERIODIC_RUN. */
void periodic_fold(struct control *c, const struct event_scope *scope,
                   const struct event *event);
/* Forget the runs of one that have ended. */
void periodic_prune(const struct control *c, struct periodic_entry *entry);
/* Append the periodic jobs, for a checkpoint. */
void periodic_pack(const struct control *c, struct strbuf *buf);
/* Take them back. */
void periodic_unpack(struct control *c, struct pack_reader *reader);
