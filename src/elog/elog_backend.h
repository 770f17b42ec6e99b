/*
 * elog_backend - what a backend of the log implements.  Private to src/elog.
 *
 * A backend embeds `struct elog` and `struct elog_reader` as first members
 * and comes back from them by container_of.  elog.c checks arguments and
 * limits before it calls an operation, so a backend need not.
 */
#pragma once

#include <stdatomic.h>

#include "elog/elog.h"

/* One operation per function of elog.h, with its contract. */
struct elog_ops {
    int (*acquire)(struct elog *, uint64_t *ret_epoch, struct err *);
    int (*submit)(struct elog *, const struct elog_record *, elog_done_fn *,
                  void *ctx);
    int (*poll)(struct elog *, int timeout_ms);
    int (*checkpoint_put)(struct elog *, const struct elog_checkpoint *,
                          elog_piece_fn *, void *ctx, struct err *);
    int (*trim)(struct elog *, uint64_t before_seq, uint64_t *ret_first_seq,
                struct err *);
    int (*backup)(struct elog *, const char *path, struct err *);
    int (*reader_open)(struct elog *, struct elog_reader **, struct err *);
    void (*close)(struct elog *);
};

struct elog {
    const struct elog_ops *ops;
    uint32_t in_flight_count; /* kept by the backend */
    atomic_bool is_putting;   /* a checkpoint; kept by elog.c */
    char note[ERR_TEXT_BYTES_MAX];
};

/* The reader's half. */
struct elog_reader_ops {
    int (*read)(struct elog_reader *, const struct elog_range *, elog_each_fn *,
                void *ctx, struct err *);
    int (*wait)(struct elog_reader *, uint64_t after_seq, int timeout_ms,
                struct err *);
    void (*interrupt)(struct elog_reader *);
    int (*bounds)(struct elog_reader *, struct elog_bounds *, struct err *);
    int (*checkpoint_get)(struct elog_reader *, struct elog_checkpoint *,
                          elog_checkpoint_fn *, void *ctx, struct err *);
    void (*close)(struct elog_reader *);
};

/* What every backend's reader begins with. */
struct elog_reader {
    const struct elog_reader_ops *ops;
};

/* The checksum of a record: of its payload and of all other fields. */
uint64_t elog_record_checksum(const struct elog_record *record) must_check;

/* Whether a record has its checksum, or that by which it was kept before files
 * had version 2. */
bool elog_record_is_whole(const struct elog_record *record) must_check;

/* Appends that were submitted and not told yet, oldest first.  For backends
 * that append at poll.  Zeroed memory is an empty one. */
struct elog_pending {
    struct elog_pending_item {
        struct elog_record record;
        elog_done_fn *done;
        void *ctx;
    } *items;
    uint32_t count;
    uint32_t capacity;
};

/* Add one to the end. */
void elog_pending_add(struct elog_pending *pending,
                      const struct elog_record *record, elog_done_fn *done,
                      void *ctx);
/* Take all out and tell the first `good_count` of them 0 and the rest
 * `result`; `*in_flight_count` is lowered before each is told.  A callback
 * may submit again: that is not told now.  The number told. */
int elog_pending_tell(struct elog_pending *pending, uint32_t good_count,
                      int result, uint32_t *in_flight_count);
/* Free the memory. */
void elog_pending_fini(struct elog_pending *pending);
/* How many from the first on continue a log whose next record is `next_seq`
 * and whose writer has `epoch`; `*ret_result` is what the rest is to be told
 * (0 when all fit). */
uint32_t elog_pending_fit(const struct elog_pending *pending, uint64_t epoch,
                          uint64_t next_seq, int *ret_result);
