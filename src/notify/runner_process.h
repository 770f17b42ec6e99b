/*
 * runner_process - the other side of a runner: what is sent, and the process
 * that runs the commands.
 *
 * Private to src/notify.
 */
#pragma once

#include <sys/types.h>

#include "notify/target.h"

/* What goes before the id and the note in a message to the process. */
struct runner_request {
    uint32_t number;
    uint32_t target;
    uint32_t id_bytes;
};

enum runner_how {
    /* A command has ended; the text is its output. */
    RUNNER_EXITED = 1,
    RUNNER_TIMEOUT,
    RUNNER_FAILED, /* not run, or killed by somebody */
    /* The process itself, the first once before all others. */
    RUNNER_READY,
    RUNNER_ENDING, /* the text says why */
};

/* What goes before the text in a message from the process. */
struct runner_answer {
    uint32_t number; /* of a command */
    enum runner_how how;
    int code;    /* EXITED */
    bool is_cut; /* there was more text */
};

/* The targets of the configuration. */
struct runner_targets {
    const struct notify_target *items;
    uint32_t count;
};

/* Take the head of a message; false: it breaks the protocol. */
bool runner_request_read(const struct runner_targets *targets,
                         struct str message,
                         struct runner_request *ret_request) must_check;

/* Run what is asked for on `fd` until that is closed, the parent ends, or a
 * request breaks the protocol: then it is not the server's.  It writes nothing
 * to the standard error that it has from the server. */
_Noreturn void runner_process(int fd, pid_t parent,
                              const struct runner_targets *targets,
                              int (*begin)(void *ctx, struct err *err),
                              void *ctx);
