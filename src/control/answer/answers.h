/*
 * answers - answers questions to the leader: each function fills in the command
 * and calls command_answer().
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/command/command.h"
#include "control/state/named.h"

struct control;

/* report.c */

/* Fill in the answer of a query. */
void report_answer(struct control *c, struct command *command);

/* applications.c */

/* Answer a COMMAND_QUERY_APPS. */
void apps_answer(struct control *c, struct command *command);

/* clusters.c */

/* Answer a COMMAND_QUERY_EXECUTORS. */
void clusters_answer(struct control *c, struct command *command);

/* gangs.c */

/* Answer a COMMAND_QUERY_GANGS. */
void gangs_answer(struct control *c, struct command *command);

/* nodes.c */

/* Answer a COMMAND_QUERY_NODES. */
void nodes_answer(struct control *c, struct command *command);

/* pools.c */

/* Answer a COMMAND_QUERY_POOLS. */
void pool_objects_answer(struct control *c, struct command *command);

/* queues.c */

/* The queues that are set or have jobs, in order; mem_free() it. */
struct named *queues_sorted(const struct control *c, uint32_t *ret_count);
/* Answer a COMMAND_QUERY_QUEUES. */
void queues_answer(struct control *c, struct command *command);

/* training.c */

/* Answer a COMMAND_QUERY_TRAINING. */
void training_answer(struct control *c, struct command *command);

/* periodic.c */

/* Answer a COMMAND_QUERY_PERIODIC. */
void periodic_answer(struct control *c, struct command *command);

/* windows.c */

/* Answer a COMMAND_QUERY_WINDOWS. */
void windows_answer(struct control *c, struct command *command);

/* jobs.c */

/* Answer a COMMAND_EXPLAIN. */
void explain_answer(struct control *c, struct command *command);
/* Answer a COMMAND_QUERY_ADMISSIONS. */
void admissions_answer(struct control *c, struct command *command);
