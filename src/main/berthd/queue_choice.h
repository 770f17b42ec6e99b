/*
 * queue_choice - which queues have metrics of their own, so that a page of
 * them stays within bounds however many queues clients make.
 *
 * Pure.
 */
#pragma once

#include "control/command/command.h"

/* Leave at most `count_max` queues in an answered COMMAND_QUERY_QUEUES: those
 * that have jobs before those that have none, then by name; what is left stays
 * in its order.  Returns how many queues were taken out. */
uint32_t queue_choice_keep(struct command *command, uint32_t count_max);
