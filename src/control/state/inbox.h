/*
 * inbox - commands that wait for the leader, and their answers.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/command/command.h"

struct control;

/* Tell a command's poster how it ended; `text` is copied. */
void command_answer(struct command *command, enum command_result result,
                    const char *text);
/* Tell it that the limit of `max` of something ("nodes") is reached. */
void command_answer_full(struct command *command, uint32_t max,
                         const char *what);
/* Answer a list of commands. */
void command_answer_all(struct command *command, enum command_result result,
                        const char *text);
/* Take what has been posted to the end of what waits.  While that is enough
 * for a batch the rest stays in the inbox, whose bounds tell those who post. */
void waiting_take(struct control *c);
/* Answer all that waits with COMMAND_UNAVAILABLE. */
void waiting_refuse(struct control *c, const char *text);
