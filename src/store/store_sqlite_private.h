/*
 * store_sqlite_private - the store, for store_sqlite.c and
 * store_sqlite_prune.c.
 */
#pragma once

#include "store/projection.h"
#include "store/store.h"
#include "store/store_sqlite_writer.h"

struct store {
    struct store_writer writer;
    struct projection projection;
    char *path;
    int lock_fd; /* -1: none */
    uint64_t seq;
    uint64_t checksum; /* of that record */
    int64_t next_job_number;
};
