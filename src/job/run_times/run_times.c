#include "job/run_times/run_times.h"

#include "base/hash.h"
#include "job/run_times/run_times_private.h"

enum {
    LEVELS = 3, /* from the coarsest to the finest */
    RECENT = 2, /* make p50 */
    OUTLIVED_P50 = 2,
    OUTLIVED_P90 = 10, /* times as old */
};

struct run_times *run_times_create(uint64_t seed)
{
    struct run_times *times = mem_alloc(sizeof(*times));

    times->index.seed = seed;
    times->oldest = times->newest = RUN_TIMES_NONE;
    return times;
}

void run_times_destroy(struct run_times *times)
{
    if (times) {
        map_fini(&times->index);
        VEC_FREE(&times->rows);
        mem_free(times);
    }
}

/* Keys. */

static struct key128 mix(struct key128 key, struct str text)
{
    return (struct key128){hash_bytes(text.p, text.byte_count, key.hi),
                           hash_bytes(text.p, text.byte_count, key.lo)};
}

/* Each level's key goes on from that of the level above it. */
static void keys_of(const struct run_times_of *of,
                    struct key128 ret_keys[LEVELS])
{
    ret_keys[0] = mix((struct key128){1, 2}, of->queue);
    ret_keys[1] = mix(ret_keys[0], of->user);
    ret_keys[2] = mix(ret_keys[1], of->class_key);
}

/* Rows. */

static void unlink_row(struct run_times *times, uint32_t at)
{
    struct run_times_row *rows = times->rows.items;
    uint32_t older = rows[at].older;
    uint32_t newer = rows[at].newer;

    *(older == RUN_TIMES_NONE ? &times->oldest : &rows[older].newer) = newer;
    *(newer == RUN_TIMES_NONE ? &times->newest : &rows[newer].older) = older;
}

static void link_newest(struct run_times *times, uint32_t at)
{
    struct run_times_row *rows = times->rows.items;

    rows[at].older = times->newest;
    rows[at].newer = RUN_TIMES_NONE;
    *(times->newest == RUN_TIMES_NONE ? &times->oldest
                                      : &rows[times->newest].newer) = at;
    times->newest = at;
}

/* A place for one more row, which is in no list. */
static uint32_t free_row(struct run_times *times)
{
    if (times->rows.count < RUN_TIMES_KEYS_MAX) {
        VEC_PUSH(&times->rows, (struct run_times_row){.count = 0});
        return (uint32_t)times->rows.count - 1;
    }
    uint32_t at = times->oldest;
    unlink_row(times, at);
    uint32_t was = map_remove(&times->index, times->rows.items[at].key);
    ASSERT(was == at); /* a key stands there once */
    return at;
}

struct run_times_row *run_times_row_of(struct run_times *times,
                                       struct key128 key)
{
    uint32_t at = map_find(&times->index, key);

    if (at == MAP_NONE) {
        at = free_row(times);
        times->rows.items[at] = (struct run_times_row){.key = key};
        (void)map_put(&times->index, key, at);
    } else {
        unlink_row(times, at);
    }
    link_newest(times, at);
    return &times->rows.items[at];
}

uint32_t run_times_count(const struct run_times *times)
{
    return (uint32_t)times->rows.count;
}

/* Notes. */

static void add(struct run_times_row *row, uint64_t gang, int64_t ms)
{
    if (gang && row->gang == gang && row->count) {
        int64_t *last = &row->ms[row->count - 1];
        *last = ms > *last ? ms : *last;
        return;
    }
    if (row->count == RUN_TIMES_KEPT) {
        row->count--;
        memmove(row->ms, row->ms + 1, row->count * sizeof(*row->ms));
    }
    row->ms[row->count++] = ms;
    row->gang = gang;
}

void run_times_note(struct run_times *times, const struct run_times_of *of,
                    uint64_t gang, int64_t ms)
{
    struct key128 keys[LEVELS];

    ms = ms < 1 ? 1 : ms < RUN_TIMES_MS_MAX ? ms : RUN_TIMES_MS_MAX;
    keys_of(of, keys);
    /* The coarser, the newer: none is forgotten before those it stands for. */
    for (uint32_t i = LEVELS; i-- > 0;) {
        add(run_times_row_of(times, keys[i]), gang, ms);
    }
}

/* Predictions. */

/* The mean of the last two that are longer than `age_ms`; 0: none is. */
static int64_t recent_of(const struct run_times_row *row, int64_t age_ms)
{
    int64_t sum = 0;
    uint32_t count = 0;

    for (uint32_t i = row->count; i-- > 0 && count < RECENT;) {
        if (row->ms[i] > age_ms) {
            sum += row->ms[i];
            count++;
        }
    }
    return count ? sum / count : 0;
}

/* The longest, if it is longer than `age_ms`; else 0. */
static int64_t longest_of(const struct run_times_row *row, int64_t age_ms)
{
    int64_t longest = 0;

    for (uint32_t i = 0; i < row->count; i++) {
        longest = row->ms[i] > longest ? row->ms[i] : longest;
    }
    return longest > age_ms ? longest : 0;
}

static int64_t within(int64_t ms, int64_t limit_ms)
{
    return limit_ms > 0 && limit_ms < ms ? limit_ms : ms;
}

/* Finer rows overrule coarser ones as far as they can tell. */
static struct run_time judge(const struct run_times_row *const rows[LEVELS],
                             int64_t limit_ms, int64_t age_ms)
{
    struct run_time time = {age_ms * OUTLIVED_P50, age_ms * OUTLIVED_P90};
    bool is_sure = false;

    for (uint32_t i = 0; i < LEVELS && rows[i]; i++) {
        int64_t recent_ms = recent_of(rows[i], age_ms);
        int64_t longest_ms = longest_of(rows[i], age_ms);
        bool is_many = rows[i]->count >= RUN_TIMES_MANY;
        time.p50_ms = recent_ms ? recent_ms : time.p50_ms;
        /* While there are few the limit tells more, if there is one. */
        if (longest_ms && (is_many || !is_sure)) {
            time.p90_ms = longest_ms;
        }
        is_sure |= is_many;
    }
    if (!is_sure && limit_ms > 0) {
        time.p90_ms = limit_ms;
    }
    return time;
}

bool run_times_predict(const struct run_times *times,
                       const struct run_times_of *of, int64_t limit_ms,
                       int64_t age_ms, struct run_time *ret_time)
{
    const struct run_times_row *rows[LEVELS] = {NULL};
    struct key128 keys[LEVELS];

    keys_of(of, keys);
    for (uint32_t i = 0; i < LEVELS; i++) {
        uint32_t at = map_find(&times->index, keys[i]);
        rows[i] = at == MAP_NONE ? NULL : &times->rows.items[at];
    }
    if (!rows[0] && limit_ms <= 0) {
        return false;
    }
    age_ms = age_ms < 0 ? 0 : within(age_ms, RUN_TIMES_MS_MAX);
    struct run_time time = {limit_ms, limit_ms};
    if (rows[0]) {
        time = judge(rows, limit_ms, age_ms);
    }
    time.p90_ms = time.p90_ms > time.p50_ms ? time.p90_ms : time.p50_ms;
    ret_time->p50_ms = within(time.p50_ms, limit_ms);
    ret_time->p90_ms = within(time.p90_ms, limit_ms);
    ASSERT(ret_time->p50_ms >= 1 && ret_time->p50_ms <= ret_time->p90_ms);
    return true;
}
