/*
 * control_answers - questions to the leader, and who answers them: each fills
 * in the command and calls command_answer().
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/command/command.h"
#include "control/state/named.h"

struct control;

/* inbox.c */

/* Tell a command's poster how it ended; `text` is copied. */
void command_answer(struct command *command, enum command_result result,
                    const char *text);
/* The same of a list of commands. */
void command_answer_all(struct command *command, enum command_result result,
                        const char *text);
/* Take what has been posted to the end of what waits.  While that is enough
 * for a batch the rest stays in the inbox, whose bounds tell those who post. */
void waiting_take(struct control *c);
/* Answer all that waits with COMMAND_UNAVAILABLE. */
void waiting_refuse(struct control *c, const char *text);

/* answer/report.c */

/* Fill in the answer of a query. */
void report_answer(struct control *c, struct command *command);

/* fold/apps.c */

/* Answer a COMMAND_QUERY_APPS. */
void apps_answer(struct control *c, struct command *command);

/* clusters.c */

/* Answer a COMMAND_QUERY_EXECUTORS. */
void clusters_answer(struct control *c, struct command *command);

/* explain/explain.c */

/* Answer a COMMAND_EXPLAIN. */
void explain_answer(struct control *c, struct command *command);

/* answer/gangs.c */

/* Answer a COMMAND_QUERY_GANGS. */
void gangs_answer(struct control *c, struct command *command);

/* answer/nodes.c */

/* Answer a COMMAND_QUERY_NODES. */
void nodes_answer(struct control *c, struct command *command);

/* fold/pools.c */

/* Answer a COMMAND_QUERY_POOLS. */
void pool_objects_answer(struct control *c, struct command *command);

/* explain/queues.c */

/* The queues that are set or have jobs, in order; mem_free() it. */
struct named *queues_sorted(const struct control *c, uint32_t *ret_count);
/* Answer a COMMAND_QUERY_QUEUES. */
void queues_answer(struct control *c, struct command *command);

/* fold/training.c */

/* Answer a COMMAND_QUERY_TRAINING. */
void training_answer(struct control *c, struct command *command);

/* transitions.c */

/* Put the counts into the answer of a COMMAND_QUERY_QUEUES. */
void transitions_answer(struct control *c, struct command *command);

/* explain/waiting.c */

/* Answer a COMMAND_QUERY_ADMISSIONS. */
void admissions_answer(struct control *c, struct command *command);
