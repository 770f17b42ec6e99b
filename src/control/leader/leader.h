/*
 * leader - the parts of a leader: its start, and its step from waiting commands
 * to a batch that is durable and folded.
 *
 *     live_state.c  the live state, from its beginning to its end
 *     start.c       become the writer, read checkpoint and log
 *     form.c        form the next batch
 *     commands.c    which commands go into it
 *     flight.c      its way into the log, and its end
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/state/state.h"
#include "wire/log/log_codec.h"

/* A record in flight may outlive the leader: the log tells of it, and lets go
 * of its payload, when it is closed. */
struct flight {
    struct control *control; /* NULL: the leader is gone */
    struct log_batch log;    /* then the payload's, owned */
};

/* control.c */

/* When its next step has something to do, by the clock that never goes back;
 * UINT64_MAX: not before something is posted. */
uint64_t leader_due_ns(struct control *c);

/* live_state.c */

/* Set up empty state under `policy`, which is taken. */
void state_init(struct control *c, struct policy_box *policy, uint64_t seed);
/* Free it. */
void state_fini(struct control *c);

/* start.c */

/* Become the writer and find where to begin; then read some records at each
 * call: 1 when all are read. */
int start_acquire(struct control *c, struct err *err) must_check;
/* Set the state up from the newest checkpoint that c->reader shows. */
int start_from_checkpoint(struct control *c, struct err *err) must_check;
/* Become the writer of an empty log, with the state that a checkpoint's bytes
 * say; nothing is left to be read. */
int start_from_state(struct control *c, struct str bytes,
                     struct err *err) must_check;
/* The like: 1 when all is read, 0 when there is more, or a negative code. */
int start_replay(struct control *c, struct err *err) must_check;

/* form.c */

/* Form the next batch; false if there is nothing to append. */
bool batch_form(struct control *c);

/* commands.c */

/* Take what waits, as long as the batch has room; keep the order of what is
 * left. */
void batch_take_commands(struct control *c);

/* flight.c */

/* Hand the batch to the log; -ERR_LIMIT: it is more than a record may hold. */
int flight_submit(struct control *c) must_check;
/* What became of the batch in flight: once it is durable it is folded and its
 * commands are answered.  0 also if that is not known yet. */
int flight_poll(struct control *c, struct err *err) must_check;
/* Nothing has happened; what was decided is decided again. */
void flight_failed(struct control *c, int result);
/* Answer the commands of the batch with COMMAND_LOG_FAILED. */
void flight_refuse(struct control *c, const char *text);
/* The leader goes; a record in flight stays until the log has told of it. */
void flight_leave(struct control *c);
