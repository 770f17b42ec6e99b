/*
 * shim_session - one user in a pod: a connection, and the program behind it.
 *
 * Private to the shim; its one thread.
 */
#pragma once

#include <poll.h>
#include <sys/types.h>

#include "executor/files/exec_frame.h"

struct shim;
struct shim_container;

enum session_phase {
    SESSION_NONE,     /* it is free */
    SESSION_HELLO,    /* connected: the token is to come */
    SESSION_START,    /* then what is wanted */
    SESSION_RUNNING,  /* the program runs, or what it wrote is on its way */
    SESSION_DESERTED, /* the user is gone, the program hung up on */
    SESSION_ENDING,   /* the end is on its way */
};

struct shim_session {
    enum session_phase phase;
    int fd;                   /* the connection, owned; -1: none */
    pid_t pid;                /* of the program; 0: none, or reaped */
    pid_t group;              /* its session; 0: none was started */
    int exit_code;            /* once it was reaped */
    int tty_fd;               /* its terminal's other end, owned; -1: none */
    int input_fd;             /* owned; -1: closed, or a terminal's */
    int output_fds[2];        /* the same */
    enum exec_ending ending;  /* why it was ended; EXITED: it was not */
    int64_t until_ms;         /* of HELLO, START, DESERTED and ENDING */
    int64_t end_ms, heard_ms; /* of all; a byte came or went */
    int64_t time_ms_max;      /* that it was given */
    const struct shim_container *container; /* borrowed */
    struct strbuf in;  /* what came and was not taken yet */
    size_t input_at;   /* how much of the first frame was written */
    struct strbuf out; /* what goes to the user */
    size_t out_at;     /* how much of it went */
};

/* Take a connection up, which it owns. */
void shim_session_open(struct shim_session *session, int fd);
/* Append what it waits for; how many there are. */
size_t shim_session_waits(const struct shim_session *session,
                          struct pollfd *waits);
/* When something is due; INT64_MAX: never. */
int64_t shim_session_wake_ms(const struct shim_session *session);
/* Do what can be done now. */
void shim_session_step(struct shim *shim, struct shim_session *session);
/* Its program has ended with a status of waitpid(). */
void shim_session_reaped(struct shim_session *session, int status);
/* End its program at once, for this reason. */
void shim_session_kill(struct shim_session *session, enum exec_ending ending);
/* Let go of all that it has. */
void shim_session_close(struct shim_session *session);
