/* Encodes and decodes run times, oldest key first. */
#include "job/run_times/run_times_private.h"

void run_times_pack(const struct run_times *times, struct strbuf *buf)
{
    const struct run_times_row *rows = times->rows.items;

    pack_u64(buf, times->rows.count);
    for (uint32_t at = times->oldest; at != RUN_TIMES_NONE;
         at = rows[at].newer) {
        pack_key128(buf, rows[at].key);
        pack_u64(buf, rows[at].gang);
        pack_u64(buf, rows[at].count);
        for (uint32_t i = 0; i < rows[at].count; i++) {
            pack_u64(buf, (uint64_t)rows[at].ms[i]);
        }
    }
}

static void unpack_row(struct run_times *times, struct pack_reader *reader)
{
    struct key128 key = unpack_key128(reader);
    struct run_times_row *row = run_times_row_of(times, key);

    reader->is_bad |= row->count > 0; /* it was there already */
    row->gang = unpack_u64(reader);
    uint32_t count = unpack_count(reader, RUN_TIMES_KEPT);
    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        uint64_t ms = unpack_u64(reader);
        reader->is_bad |= ms < 1 || ms > (uint64_t)RUN_TIMES_MS_MAX;
        row->ms[i] = (int64_t)ms;
    }
    reader->is_bad |= count == 0;
    row->count = reader->is_bad ? 0 : count;
}

void run_times_unpack(struct run_times *times, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, RUN_TIMES_KEYS_MAX);

    ASSERT(times->rows.count == 0);
    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        unpack_row(times, reader);
    }
}
