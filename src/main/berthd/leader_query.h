/*
 * leader_query - asks the leader a question and waits for the answer.
 *
 * Threads: any but the leader's.
 */
#pragma once

#include "control/command/command.h"

/* The answered query, COMMAND_QUERY_QUEUES or its like, which the caller
 * destroys; NULL if the leader does not answer within `timeout_ms` or
 * refuses. */
struct command *leader_query(struct inbox *inbox, enum command_kind kind,
                             int timeout_ms) must_check;

/* The same of a command that the caller has filled in; it is taken. */
struct command *leader_ask(struct inbox *inbox, struct command *command,
                           int timeout_ms) must_check;
