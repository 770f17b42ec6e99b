/*
 * node_record - what an executor reported about a node, in one block of memory.
 *
 * Private to src/sched.
 */
#pragma once

#include "model/node.h"

/* A copy of a record, without pool and type; to be freed with mem_free(). */
struct node_record *node_record_keep(const struct node_record *record);
