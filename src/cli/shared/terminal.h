/*
 * terminal - the user's own terminal, while what he types goes elsewhere.
 *
 * Threads: one, but for terminal_size().
 */
#pragma once

#include <termios.h>

#include "base/base.h"

struct terminal {
    int fd;
    bool is_raw; /* it is to be set back */
    struct termios before;
};

/* Its columns and rows, at least 1; of what is no terminal 80 and 24. */
void terminal_size(int fd, uint32_t *ret_columns, uint32_t *ret_rows);
/* Let each key through as it is, if `fd` is a terminal. */
void terminal_begin(struct terminal *terminal, int fd);
/* As it was.  Twice is fine. */
void terminal_end(struct terminal *terminal);
