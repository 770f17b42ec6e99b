/*
 * fd_pass - gives a descriptor to another process, over a socket.
 *
 * Threads: no state; any thread.
 */
#pragma once

#include "base/base.h"

/* Send a descriptor, with a byte 0, over a socket; the caller keeps his.
 * -ERR_IO with errno. */
int fd_pass_send(int socket_fd, int fd) must_check;
/* Wait for one, which is the caller's and closed at exec; -1: the other end is
 * gone, or sent something else, which then stays to be read. */
int fd_pass_receive(int socket_fd) must_check;
