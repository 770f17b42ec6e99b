/*
 * runner - a process beside the server that runs commands for notes: it is
 * forked before the server gives up starting programs, and gives up the same
 * user itself (`begin`).
 *
 *     server  --- number, target, id, note --->  runner --- fork, exec --->
 *             <--- number, how it ended -------
 *
 * What a command is told comes on its standard input (the note) and in two
 * variables; its words are the configuration's alone.  It has the target's
 * timeout; then its process group is killed.  Its output goes to the server's
 * standard error.
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
};

struct runner;

/* A command has ended; `why` says what was wrong, "" if nothing. */
typedef void runner_end_fn(void *ctx, struct outbox_item *item,
                           enum outbox_end end, const char *why);

/* Start it for these targets, which both processes keep; it runs the commands
 * of those that have one, and a request for another ends it.  `begin` is called
 * in the new process, which ends if that fails.  No thread may be there yet.
 * NULL with `err` set. */
struct runner *runner_start(const struct notify_target *targets,
                            uint32_t target_count,
                            int (*begin)(void *ctx, struct err *err), void *ctx,
                            struct err *err) must_check;
/* End it; commands under way go on alone.  NULL is fine. */
void runner_stop(struct runner *runner);
DEFINE_AUTO(runner, runner_stop)

/* Who is told of ends; before the first is begun. */
void runner_set_end(struct runner *runner, runner_end_fn *on_end, void *ctx);
/* Run the command of the item's target, which may end at once. */
void runner_send(struct runner *runner, struct outbox_item *item);
/* Tell of what has ended; waits for nothing. */
void runner_drive(struct runner *runner);
/* How many commands are under way. */
uint32_t runner_flying_count(const struct runner *runner);
