/*
 * what_if_thread - answers what-ifs (control/what_if/what_if.h), one at a time:
 * on a thread of its own it plays the course with the changes, and on another
 * meanwhile the one as it is.
 *
 * Forecasts (control/command/forecasts.h) are made by the same two threads.
 * They are broken off as soon as somebody else asks.
 *
 * Threads: what_if_thread_take() from any.
 */
#pragma once

#include "base/clock.h"
#include "control/command/command.h"
#include "control/command/forecasts.h"

struct what_if_thread;

/* Start its thread; clock and forecasts are borrowed.  NULL: there is none to
 * be had. */
struct what_if_thread *what_if_thread_start(const struct clock *clock,
                                            struct forecasts *forecasts,
                                            struct err *err) must_check;
/* Break off what it does and join it; all that it took is answered.  NULL is
 * fine. */
void what_if_thread_stop(struct what_if_thread *thread);
/* Take a command and the state that it is to be answered from (mem_free).  If
 * another is being answered it is refused. */
void what_if_thread_take(struct what_if_thread *thread, struct command *command,
                         char *bytes, size_t byte_count, int64_t now_ms);
