/*
 * shim_tty - a terminal for a job's program.
 *
 * The program's own process makes it, as the job's user and in what the job
 * sees, and gives the other end to the shim.  So no path that a job could have
 * changed is opened with rights that it has not, and the terminal's file is the
 * job's.
 *
 * Private to the shim.
 */
#pragma once

#include "executor/files/exec_frame.h"

/* In the child, the leader of its session: make a terminal of this size, be its
 * session, have it as input, output and error, and send its other end over
 * `fd`.  -ERR_IO with errno. */
int shim_tty_make(struct exec_size size, int fd) must_check;
/* In the shim: the other end, which never blocks and is the caller's; -1: none
 * came, or what came is no terminal. */
int shim_tty_receive(int fd) must_check;
/* Change its size: the program gets SIGWINCH. */
void shim_tty_resize(int tty_fd, struct exec_size size);
