/*
 * pools - creates, changes and deletes pools as objects.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "model/event.h"
#include "model/node.h"
#include "model/pack.h"

struct control;

/* Fold POOL_SET and POOL_DELETED. */
void pool_fold(struct control *c, const struct event *event);
/* Why a POOL_SET may not be appended, or NULL. */
const char *pool_refusal(const struct control *c, const struct event *event);
/* The pools that match a node if they are more than one, so that it is in the
 * Default pool, as a text in the arena; or "". */
struct str pool_conflict(const struct control *c,
                         const struct node_record *record, struct arena *arena);
/* Whether several do. */
bool pool_has_conflict(const struct control *c,
                       const struct node_record *record);
/* The pool object that a node belongs to, or "". */
struct str pool_object_of(const struct control *c,
                          const struct node_record *record);
/* Append the pools, for a checkpoint. */
void pool_objects_pack(const struct control *c, struct strbuf *buf);
/* Take them back. */
void pool_objects_unpack(struct control *c, struct pack_reader *reader);
