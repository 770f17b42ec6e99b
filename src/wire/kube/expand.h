/*
 * expand - how $(NAME) in the arguments and variables of a pod is replaced, and
 * how long they may get: a few that double each other would take all memory.
 *
 * A text is read piece by piece.  $(NAME) is the variable's value if it is set,
 * else it stays as it stands; $$ is $.
 *
 * Threads: no state.
 */
#pragma once

#include "base/str.h"

enum {
    EXPAND_VALUE_BYTES_MAX = 1 << 20, /* of one argument or variable */
    EXPAND_POD_BYTES_MAX = 4 << 20,   /* of all of a pod */
};

/* A piece of a text, borrowed from it. */
struct expand_piece {
    struct str name; /* of a variable; "": none */
    struct str text; /* the piece, if there is no such variable */
};

/* Read the next piece at `*at`, and move on; false: at the end. */
bool expand_next(const char **at, struct expand_piece *ret_piece);

/* Count the bytes of one more argument or variable, expanded, of a pod that has
 * `*pod_byte_count`.  -ERR_INVALID: too many; then nothing is counted. */
int expand_count(size_t *pod_byte_count, size_t value_byte_count,
                 struct err *err) must_check;
