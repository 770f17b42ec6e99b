#include "store/store.h"

/* Records copied out of the log: what a reader shows is borrowed until the
 * callback returns, and a transaction wants several. */
struct copies {
    struct elog_record items[STORE_APPLY_RECORDS_MAX];
    uint32_t count;
    struct arena arena;
};

static int copy_record(void *ctx, const struct elog_record *record)
{
    struct copies *copies = (struct copies *)ctx;
    struct elog_record *copy = &copies->items[copies->count++];

    *copy = *record;
    copy->payload = arena_str(&copies->arena, record->payload);
    return 0;
}

/* The record that the store wants next. */
static int next_seq(struct store *store, struct elog_reader *reader,
                    uint64_t *ret_seq, struct err *err)
{
    struct elog_bounds bounds;

    if (store_seq(store) > 0) {
        *ret_seq = store_seq(store) + 1;
        return 0;
    }
    int rc = elog_bounds(reader, &bounds, err);
    if (rc < 0) {
        return rc;
    }
    *ret_seq = bounds.first_seq;
    return 0;
}

static int follow(struct store *store, struct elog_reader *reader,
                  struct copies *copies, struct err *err)
{
    struct elog_range range = {
        .record_count_max = STORE_APPLY_RECORDS_MAX,
        .byte_count_max = STORE_FOLLOW_BYTES_MAX,
    };

    int rc = next_seq(store, reader, &range.from_seq, err);
    if (rc < 0) {
        return rc;
    }
    return elog_read(reader, &range, copy_record, copies, err);
}

int store_follow(struct store *store, struct elog_reader *reader,
                 store_changed_fn *changed, void *ctx, struct err *err)
{
    auto_mem struct copies *copies = mem_alloc(sizeof(*copies));

    int count = follow(store, reader, copies, err);
    if (count > 0) {
        int rc =
            store_apply(store, copies->items, copies->count, changed, ctx, err);
        count = rc < 0 ? rc : count;
    }
    arena_fini(&copies->arena);
    return count;
}
