/*
 * shares - ask the leader for the queues' shares and wait for the answer.
 *
 * Threads: any but the leader's.
 */
#pragma once

#include "control/command.h"

/* The answered command, which the caller destroys; NULL if the leader does
 * not answer within `timeout_ms` or refuses. */
struct command *shares_get(struct inbox *inbox, int timeout_ms) must_check;
