/*
 * control_checkpoint - where a leader begins: it becomes the writer of the log
 * and reads a checkpoint, then the records after it; and the checkpoints that
 * it writes itself.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/base.h"
#include "base/strbuf.h"

struct control;

/* start.c */

/* Become the writer and find where to begin; then read some records at each
 * call: 1 when all are read. */
int start_acquire(struct control *c, struct err *err) must_check;
/* Set the state up from the newest checkpoint that c->reader shows. */
int start_from_checkpoint(struct control *c, struct err *err) must_check;
/* The like: 1 when all is read, 0 when there is more, or a negative code. */
int start_replay(struct control *c, struct err *err) must_check;

/* encode.c */

/* Append the live state; `is_whole` false leaves out what depends on where the
 * reading of the log began. */
void checkpoint_encode(struct control *c, struct strbuf *buf, bool is_whole);
/* All but the jobs, which come after it. */
void checkpoint_encode_head(struct control *c, struct strbuf *buf,
                            bool is_whole);

/* decode.c */

/* Set the live state up from a checkpoint. */
int checkpoint_decode(struct control *c, struct str bytes,
                      struct err *err) must_check;

/* checkpoint.c */

/* Write one if it is due, and forget some old records. */
void checkpoint_if_due(struct control *c);
/* Encode some more of one that was begun. */
void checkpoint_go_on(struct control *c);
/* Give up one that was begun. */
void checkpoint_abandon(struct control *c);
