/*
 * checkpoint - the live state as bytes, and back; and when a leader
 * writes that down.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/base.h"
#include "base/strbuf.h"

struct command;
struct control;

/* encode.c */

/* Append the live state; `is_whole` false leaves out what depends on where the
 * reading of the log began. */
void checkpoint_encode(struct control *c, struct strbuf *buf, bool is_whole);
/* All but the jobs, which come after it. */
void checkpoint_encode_head(struct control *c, struct strbuf *buf,
                            bool is_whole);

/* decode.c */

/* Set the live state up from a checkpoint; the codes are -ERR_CORRUPT,
 * -ERR_VERSION, and what control_hooks.goes_on says. */
int checkpoint_decode(struct control *c, struct str bytes,
                      struct err *err) must_check;

/* checkpoint.c */

/* Write one if it is due, and forget some old records. */
void checkpoint_if_due(struct control *c);
/* Encode some more of one that was begun. */
void checkpoint_go_on(struct control *c);
/* Give up one that was begun. */
void checkpoint_abandon(struct control *c);

/* A COMMAND_WHAT_IF: the next state that is encoded is for it. */
void what_if_take(struct control *c, struct command *command);
/* Answer it COMMAND_UNAVAILABLE, if one waits. */
void what_if_refuse(struct control *c, const char *text);
