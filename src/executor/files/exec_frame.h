/*
 * exec_frame - what goes between an executor and a shim while somebody uses a
 * job's program: a session on a socket of its own.
 *
 * A frame is its kind, a byte, the number of bytes that follow, four bytes,
 * least first, and these.  Each kind has a bound; whoever gets a longer frame,
 * or one that is not for him, believes nothing more of that connection.
 *
 *     to the shim     HELLO START (INPUT | INPUT_END | SIZE)*
 *     from the shim   STARTED? (OUTPUT | ERROR_OUTPUT)* END
 *
 * Pure.  Threads: no state.
 */
#pragma once

#include "base/strbuf.h"
#include "base/vec.h"

enum {
    EXEC_HEAD_BYTES = 5,
    EXEC_TOKEN_BYTES_MAX = 64,
    EXEC_START_BYTES_MAX = 96 << 10,
    EXEC_ARGS_MAX = 1024,
    EXEC_DATA_BYTES_MAX = 16 << 10, /* of one INPUT, OUTPUT or ERROR_OUTPUT */
    EXEC_REASON_BYTES_MAX = 512,
    EXEC_TEXT_BYTES_MAX = 256, /* of a container's name, of a terminal's kind */
    EXEC_SIDE_MAX = 10000,     /* columns or rows of a terminal */
    EXEC_TIME_MS_MAX = 24 * 3600 * 1000, /* of a session */
    EXEC_IDLE_MS_MAX = 4 * 3600 * 1000,  /* without a byte either way */
    EXEC_BEGIN_MS_MAX = 10000,           /* until START has come */
    EXEC_HANGUP_MS = 2000, /* from SIGHUP to SIGKILL, when the user is gone */
    EXEC_SESSIONS_JOB_MAX = 8,
};

enum exec_kind {
    EXEC_HELLO = 1,     /* the run's token */
    EXEC_START = 2,     /* struct exec_start */
    EXEC_INPUT = 3,     /* bytes */
    EXEC_INPUT_END = 4, /* there is no more */
    EXEC_SIZE = 5,      /* struct exec_size */
    EXEC_STARTED = 16,
    EXEC_OUTPUT = 17,       /* bytes; of a terminal all of them */
    EXEC_ERROR_OUTPUT = 18, /* bytes */
    EXEC_END = 19,          /* struct exec_end; the last */
};

struct exec_frame {
    enum exec_kind kind;
    struct str payload; /* borrowed */
};

/* A terminal's. */
struct exec_size {
    uint16_t columns, rows; /* 1 to EXEC_SIDE_MAX */
};

/* What is wanted. */
struct exec_start {
    struct strbuf bytes;   /* owned: what the texts point into */
    const char *container; /* "": the first main one */
    VEC(char *) args;      /* ended by NULL */
    bool is_tty, has_input;
    struct exec_size size; /* of its terminal */
    const char *term;      /* TERM in it; "": not set */
    int64_t time_ms_max;   /* 1 to EXEC_TIME_MS_MAX */
};

/* How a session ended. */
enum exec_ending {
    EXEC_EXITED,    /* the program has, with `code` */
    EXEC_REFUSED,   /* it was not started */
    EXEC_TIMED_OUT, /* its time is over */
    EXEC_IDLE,      /* nothing came or went for too long */
    EXEC_JOB_ENDED, /* the container, and all in it, has */
    EXEC_BROKEN,    /* the connection makes no sense, or is lost */
    EXEC_ENDINGS,
};

struct exec_end {
    enum exec_ending ending;
    int32_t code;      /* 128 + n when killed by signal n */
    struct str reason; /* for people; "" */
};

/* Append a frame, whose payload is within its bound. */
void exec_frame_put(struct strbuf *buf, enum exec_kind kind,
                    struct str payload);
/* The first frame of `bytes`: 1, with how many bytes it has; 0: it is not whole
 * yet; -ERR_CORRUPT: it is none that may be believed.  `is_to_shim`: which way
 * it came. */
int exec_frame_take(struct str bytes, bool is_to_shim,
                    struct exec_frame *ret_frame,
                    size_t *ret_byte_count) must_check;

/* Append a START; `start->bytes` is not used.  -ERR_LIMIT: it is too long. */
int exec_start_put(struct strbuf *buf, const struct exec_start *start);
/* The payload of one, copied.  -ERR_CORRUPT: nothing is left to free. */
int exec_start_take(struct str payload, struct exec_start *ret) must_check;
/* Free what it owns. */
void exec_start_fini(struct exec_start *start);

/* Append a SIZE. */
void exec_size_put(struct strbuf *buf, struct exec_size size);
/* The payload of one.  -ERR_CORRUPT. */
int exec_size_take(struct str payload, struct exec_size *ret_size) must_check;

/* Append an END; a reason that is too long is cut. */
void exec_end_put(struct strbuf *buf, const struct exec_end *end);
/* The payload of one; borrows it.  -ERR_CORRUPT. */
int exec_end_take(struct str payload, struct exec_end *ret_end) must_check;
