/*
 * exchange - handles executors' reports and sends them leases (until they are
 * reported) and cancels, at once or over a held session.
 *
 *     exchange.c   take one, answer it
 *     inventory.c  what it says of nodes
 *     leases.c     what it is given
 *     sessions.c   what is pushed
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/command/command.h"
#include "control/command/session.h"

struct control;
struct control_executor;

/* exchange.c */

/* Take an exchange: true when its events are in the batch and it is to be
 * answered with it; false when it was answered. */
bool exchange_take(struct control *c, struct command *command);
/* Whether it must wait for the batch after this one. */
bool exchange_must_wait(struct control *c, const struct command *command);
/* Answer an exchange on the state as it is now. */
void exchange_answer(struct control *c, struct command *command);

/* inventory.c */

/* Whether the table has room for all nodes, with those of this batch; then
 * they are counted among those. */
bool inventory_has_room(struct control *c,
                        const struct control_executor *executor,
                        const struct exchange_request *request);
/* Whether it moves nodes from pool to pool while a plan is being made: that
 * waits for the plan, as all does that changes pools. */
bool inventory_must_wait(const struct control *c,
                         const struct control_executor *executor,
                         const struct exchange_request *request);
/* Add what changed in an inventory; false if nothing did. */
bool inventory_add(struct control *c, struct control_executor *executor,
                   const struct exchange_request *request);

/* leases.c */

/* A whole exchange: lease what is not held, oldest first. */
void lease_full(struct control *c, struct control_executor *executor,
                struct command *command, bool is_session);
/* Lease from the list of what the session does not know, within its credit;
 * the number of leases, which are in the arena. */
uint32_t lease_unsent(struct control *c, struct control_executor *executor,
                      struct arena *arena, struct exchange_lease **ret_leases);

/* sessions.c */

/* Attach a session to its executor, in the place of one that it has. */
void session_attach(struct control *c, struct control_executor *executor,
                    struct exchange_session *session);
/* End a session. */
void session_end(struct control *c, struct command *command);
/* Release all sessions. */
void sessions_release(struct control *c);
/* Push what is new to the sessions. */
void sessions_push(struct control *c);
