/*
 * windows - maintenance windows: creates, changes and deletes them, and tells
 * the planner what they mean to each node.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "model/event.h"
#include "model/node.h"
#include "model/pack.h"

struct control;

/* Fold WINDOW_SET and WINDOW_DELETED. */
void window_fold(struct control *c, const struct event *event);
/* Whether a window is about a node of an executor, which is of that pool unless
 * its record names one, or an object selects it. */
bool window_is_about(const struct control *c,
                     const struct window_record *window, struct str executor,
                     struct str pool, const struct node_record *node);
/* Say in a node's record what the windows about it mean to it. */
void windows_mark(const struct control *c, struct str executor, struct str pool,
                  struct node_record *node);
/* Append the windows, for a checkpoint. */
void windows_pack(const struct control *c, struct strbuf *buf);
/* Take them back; before the nodes. */
void windows_unpack(struct control *c, struct pack_reader *reader);
