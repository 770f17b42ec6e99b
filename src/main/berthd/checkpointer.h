/*
 * checkpointer - the thread that writes checkpoints, while the leader goes on.
 *
 * One at a time: who has one asks first whether it is taken.
 */
#pragma once

#include "elog/elog.h"

struct checkpointer;

/* Writes to `log`, borrowed until checkpointer_stop().  NULL: no thread can be
 * had. */
struct checkpointer *checkpointer_start(struct elog *log,
                                        struct err *err) must_check;
/* Finish the one under way, and free.  NULL is fine. */
void checkpointer_stop(struct checkpointer *checkpointer);

/* Whether no checkpoint is being written or waits to be; that stays so until
 * the next checkpointer_put(). */
bool checkpointer_is_idle(struct checkpointer *checkpointer);
/* Take `bytes` (mem_free) while it is idle, and write them as the state after
 * record `seq`. From one thread at a time. */
void checkpointer_put(struct checkpointer *checkpointer, uint64_t seq,
                      char *bytes, size_t byte_count);
