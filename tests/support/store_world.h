/*
 * store_world - a query store in a folder of its own, and records made of
 * events to fill it with.  For tests of src/store.
 */
#pragma once

#include "store/store_sqlite.h"
#include "tmpdir.h"
#include "wire/log/log_codec.h"

struct store_world {
    struct tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct store *store;
    struct store_reader *reader;
    struct log_batch batch; /* of the next record */
    uint64_t seq;           /* of the last record */
};

/* An empty store. */
void store_world_init(struct store_world *world);
/* Close it and remove the folder. */
void store_world_fini(struct store_world *world);
/* Close and open again. */
void store_world_reopen(struct store_world *world);

/* Add an event of job set `set` in queue "q", by user "ann", to the next
 * record. */
void store_world_add(struct store_world *world, const char *set,
                     const struct event *event);
/* Apply what was added as the next record. */
void store_world_apply(struct store_world *world);

/* Append an encoded armadaevents.SubmitJob. */
void store_world_encode_submit(struct strbuf *buf, struct job_id job,
                               const char *client_id, const char *uri);

/* Append all rows of all tables of a closed store in a fixed order. */
void store_world_dump(const char *path, struct strbuf *buf);
