/*
 * exec_table - the sessions that users have open in jobs, for their limits.
 *
 * Internal to the API.  Threads: any.
 */
#pragma once

#include "base/base.h"

struct exec_table;

/* An empty table. */
struct exec_table *exec_table_create(void) must_check;
/* Only when no call is left.  NULL is fine. */
void exec_table_destroy(struct exec_table *table);
