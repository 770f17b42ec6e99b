/*
 * shim_exec - lets users into a pod: programs that are started beside those of
 * the spec, each for a session on a connection (exec_frame.h).
 *
 * The shim listens at a socket in the run's directory, which no job sees, and
 * believes nobody who does not bring the run's token.  What it starts is of the
 * pod: the container's user, limits, control group, namespaces and filter; it
 * ends with the session, at the latest with the container.
 *
 * It never waits: a user who does not read stops his program and nobody else,
 * and a program that does not read stops its user.
 *
 * Private to the shim; its one thread.
 */
#pragma once

#include <poll.h>
#include <sys/types.h>

#include "executor/files/exec_frame.h"

struct shim;
struct shim_container;
struct shim_session;

enum {
    /* What is waited for: the socket, and of each session its connection, the
     * input and both outputs of its program. */
    SHIM_EXEC_WAITS_MAX = 1 + 4 * EXEC_SESSIONS_JOB_MAX,
};

struct shim_exec {
    int listen_fd;                 /* -1: nobody is let in */
    struct shim_session *sessions; /* owned; NULL: there never was one */
};

/* Listen, if the run has a token.  Without a socket nobody is let in, and the
 * pod runs all the same. */
void shim_exec_open(struct shim *shim);
/* Append what is to be waited for; how many there are. */
size_t shim_exec_waits(struct shim *shim, struct pollfd *waits);
/* When something is due though nothing comes, on the monotonic clock. */
int64_t shim_exec_wake_ms(const struct shim *shim);
/* Do what can be done now. */
void shim_exec_step(struct shim *shim);
/* A child has been reaped. */
void shim_exec_reaped(struct shim *shim, pid_t pid, int status);
/* A container has ended: so does what was started in it; NULL: all of them. */
void shim_exec_end(struct shim *shim, const struct shim_container *container);
/* Tell the users how it ended, as far as they listen, and let go. */
void shim_exec_close(struct shim *shim);
