/*
 * listen - a listening TCP socket from an address as people write it; private
 * to this folder.
 */
#pragma once

#include "base/base.h"

/* Bind and listen on "host:port" or "[v6]:port" (an empty host is all
 * addresses).  The socket is non-blocking and closed on exec.  -ERR_INVALID
 * when the address makes no sense, -ERR_IO when it cannot be had. */
int listen_open(const char *address, int *ret_fd, uint16_t *ret_port,
                struct err *err) must_check;

enum { LISTEN_SOCKETS_MAX = 4 };

/* The same for each address that a name has ("localhost": two), all with one
 * port; those of a kind that this machine does not have are left out. */
int listen_open_each(const char *address, int fds[LISTEN_SOCKETS_MAX],
                     uint32_t *ret_count, uint16_t *ret_port, struct err *err);
