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
struct window_set;

/* Fold WINDOW_SET and WINDOW_DELETED. */
void window_fold(struct control *c, const struct event *event);
/* Say in the record of a node of an executor what the windows about it mean to
 * it; they are put into `ret_about`, which is empty.  It is of `pool` unless
 * its record names one, or an object selects it. */
void windows_mark(const struct control *c, struct str executor, struct str pool,
                  struct node_record *node, struct window_set *ret_about);
/* Whether the windows' counts of nodes are those of the nodes' own windows, and
 * with slow asserts: whether these are what the nodes' records mean. */
bool windows_add_up(const struct control *c) must_check;
/* Append the windows, for a checkpoint. */
void windows_pack(const struct control *c, struct strbuf *buf);
/* Take them back; before the nodes. */
void windows_unpack(struct control *c, struct pack_reader *reader);
