/*
 * runner - a process beside the server that runs commands for notes: it is
 * forked before the server gives up starting programs, and gives up the same
 * user itself (`begin`).
 *
 *     server  --- number, target, id, note --------->  runner --- fork, exec
 * --->
 *             <--- number, how it ended, output -----
 *
 * What a command is told comes on its standard input (the note) and in two
 * variables; its words are the configuration's alone.  It has the target's
 * timeout; then its process group is killed.  Its output, which may hold what
 * jobs say, comes to the server as lines; what is beyond the bounds is read and
 * dropped.
 *
 * A message that breaks the protocol, or asks for a target that is no command,
 * ends the process, for a server sends none; an answer of an unknown number is
 * dropped.  When the process has ended, for whatever reason, `on_gone` is
 * called once, and each attempt under way or begun later ends as OUTBOX_LATER:
 * nothing can start it again, since the server cannot start programs any more.
 *
 * Threads: one owner.
 */
#pragma once

#include "notify/outbox.h"
#include "notify/target.h"

enum {
    RUNNER_BYTES_MAX = 64 << 10, /* of a note; longer ones are refused */
    RUNNER_FLYING_MAX = NOTIFY_TARGETS_MAX * OUTBOX_OPEN_MAX,
    RUNNER_GRACE_MS = 1000, /* between the polite signal and the other */
    RUNNER_START_MS_MAX = 10000,
    RUNNER_OUTPUT_BYTES_MAX = 4096, /* of a command that are kept */
    RUNNER_LINES_MAX = 16,          /* of a command that are told */
};

struct runner;

/* A command has ended; `why` says what was wrong, "" if nothing. */
typedef void runner_end_fn(void *ctx, struct outbox_item *item,
                           enum outbox_end end, const char *why);

/* A line that a command has written, raw, before its end is told. */
typedef void runner_line_fn(void *ctx, const struct outbox_item *item,
                            struct str line);
/* The process has ended; `why` says what it said last, "" if nothing. */
typedef void runner_gone_fn(void *ctx, const char *why);

/* Who is told. */
struct runner_events {
    runner_end_fn *on_end;
    runner_line_fn *on_line;
    runner_gone_fn *on_gone;
    void *ctx;
};

/* Start it for these targets, which both processes keep; it runs the commands
 * of those that have one.  `begin` is called in the new process.  Waits until
 * that is done, for up to RUNNER_START_MS_MAX.  No thread may be there yet.
 * NULL with `err` set: also if `begin` fails, with its text. */
struct runner *runner_start(const struct notify_target *targets,
                            uint32_t target_count,
                            int (*begin)(void *ctx, struct err *err), void *ctx,
                            struct err *err) must_check;
/* End it; commands under way go on alone.  NULL is fine. */
void runner_stop(struct runner *runner);
DEFINE_AUTO(runner, runner_stop)

/* Who is told; before the first is begun.  The events are copied. */
void runner_set_events(struct runner *runner,
                       const struct runner_events *events);
/* Run the command of the item's target, which may end at once. */
void runner_send(struct runner *runner, struct outbox_item *item);
/* Tell of what has ended; waits for nothing. */
void runner_drive(struct runner *runner);
/* How many commands are under way. */
uint32_t runner_flying_count(const struct runner *runner);
