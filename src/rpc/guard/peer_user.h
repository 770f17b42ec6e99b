/*
 * peer_user - which user of this machine a connection over loopback belongs to,
 * by the kernel's socket tables.
 *
 * Threads: any.
 */
#pragma once

#include <sys/socket.h>

#include "base/base.h"

/* The user whose socket is the other end of `fd`, a connected TCP socket, and
 * the inode of that socket: true.
 * False where it cannot be told: the other end is on another machine, or it is
 * closed by now (of a socket that nobody holds any more the kernel says that it
 * is root's). */
bool peer_user_find(int fd, uint32_t *ret_user_id,
                    uint32_t *ret_inode) must_check;

/* Whether an address is one of this machine's loopback addresses. */
bool peer_user_is_loopback(const struct sockaddr_storage *address);
