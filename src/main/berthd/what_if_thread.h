/*
 * wonderer - answers what-ifs (control/what_if/what_if.h), one at a time: on a
 * thread of its own it plays the course as it is, and on another meanwhile the
 * one with the changes.
 *
 * Threads: wonderer_take() from any.
 */
#pragma once

#include "base/clock.h"
#include "control/command/command.h"

struct wonderer;

/* Start its thread; the clock is borrowed.  NULL: there is none to be had. */
struct wonderer *wonderer_start(const struct clock *clock,
                                struct err *err) must_check;
/* Break off what it does and join it; all that it took is answered.  NULL is
 * fine. */
void wonderer_stop(struct wonderer *wonderer);
/* Take a command and the state that it is to be answered from (mem_free).  If
 * another is being answered it is refused. */
void wonderer_take(struct wonderer *wonderer, struct command *command,
                   char *bytes, size_t byte_count, int64_t now_ms);
