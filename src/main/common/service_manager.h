/*
 * service_manager - tells the service manager that started this program how it
 * is (sd_notify(3)): systemctl then returns when the program serves.
 *
 * The protocol is one datagram to a socket that $NOTIFY_SOCKET names, which is
 * less than what the library for it brings along.  Threads: any one.
 */
#pragma once

#include "base/base.h"

/* The program serves from now on.  Nothing if nobody asked to be told; -ERR_IO
 * if it cannot be told. */
int service_manager_ready(struct err *err) must_check;
