/*
 * zones - time zones by their names in the system's database ("Europe/Berlin"),
 * by GLib: the process' own zone plays no part.
 *
 * Threads: any; whoever gives the same lock takes turns in GLib.
 */
#pragma once

#include <pthread.h>

#include "base/base.h"
#include "base/str.h"
#include "base/zone.h"

enum { ZONE_NAME_BYTES_MAX = 64 };

/* The zone of a name, "" is UTC, which borrows the lock; zone_close() it.
 * -ERR_INVALID: the system has none of that name. */
int zone_open(struct str name, pthread_mutex_t *lock, struct zone *ret_zone,
              struct err *err) must_check;
/* Free it; one that is zero is fine. */
void zone_close(struct zone *zone);
