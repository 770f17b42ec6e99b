#include "sched/evict/loss_limit.h"

#include <stdlib.h>

#include "base/time_add.h"
#include "sched/data/merge_sort.h"
#include "sched/evict/evictable.h"
#include "sched/evict/losses.h"

enum { MILLI = 1000 };

static int64_t limit_milli(const struct sched *sched, uint32_t pool)
{
    int index = pool == NONE ? -1 : sched->pools.items[pool].policy_index;

    return index < 0 ? 0 : sched->policy->pools[index].loss_limit_milli;
}

/* The sums. */

static uint32_t pool_of(const struct sched *sched, const struct run *run)
{
    return sched->accounts.items[run->account].pool;
}

static const struct resource_vec *request_of(const struct sched *sched,
                                             uint32_t job)
{
    return &sched->classes.items[class_of_job(sched, job)].request;
}

static void add(u128 *sums, const struct resource_vec *request,
                int64_t length_ms)
{
    for (int c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
        if (request->v[c] > 0) {
            sums[c] += (u128)request->v[c] * (u128)length_ms;
        }
    }
}

static struct loss_sums *sums_of(struct sched *sched, uint32_t pool)
{
    struct pool *of = &sched->pools.items[pool];

    if (!of->loss_sums) {
        of->loss_sums = mem_alloc(sizeof(*of->loss_sums));
    }
    return of->loss_sums;
}

static int64_t more_than(int64_t length_ms, int64_t longest_ms)
{
    return length_ms > longest_ms ? length_ms - longest_ms : 0;
}

static void count_lost(struct sched *sched, const struct run *run,
                       int64_t length_ms)
{
    struct loss_sums *sums = sums_of(sched, pool_of(sched, run));
    const struct resource_vec *request = request_of(sched, run->job);

    add(sums->lost, request, length_ms);
    add(sums->useful, request,
        more_than(length_ms, losses_longest_ms(sched, run->job)));
}

void sched_job_lost(struct sched *sched, uint32_t job)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    uint32_t index = sched->jobs.items[job].run;
    const struct run *run = index == NONE ? NULL : &sched->runs.items[index];

    if (run && run->started_ms < sched->now_ms) {
        int64_t length_ms = sched->now_ms - run->started_ms;
        bool is_limited = limit_milli(sched, pool_of(sched, run)) != 0;
        if (is_limited) {
            count_lost(sched, run, length_ms);
        }
        losses_add(sched, job, length_ms, is_limited);
    }
}

void sched_job_ended_well(struct sched *sched, uint32_t job)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    uint32_t index = sched->jobs.items[job].run;
    const struct run *run = index == NONE ? NULL : &sched->runs.items[index];

    if (run && run->started_ms < sched->now_ms &&
        limit_milli(sched, pool_of(sched, run)) != 0) {
        struct loss_sums *sums = sums_of(sched, pool_of(sched, run));
        add(sums->useful, request_of(sched, job),
            more_than(sched->now_ms - run->started_ms,
                      losses_longest_ms(sched, job)));
    }
}

/* Who is spared. */

/* A run whose job has lost one before. */
struct repeat {
    uint32_t run, job;
    u128 excess; /* by how much more is lost than allowed for, in us */
};

/* What a pool has left, in request x us. */
struct slack {
    u128 left[RESOURCE_COLUMNS_MAX];
};

static struct slack slack_of(const struct pool *pool, int64_t milli)
{
    struct slack slack = {0};

    for (int c = 0; pool->loss_sums && c < RESOURCE_COLUMNS_MAX; c++) {
        u128 lost = pool->loss_sums->lost[c] * MILLI;
        u128 most = pool->loss_sums->useful[c] * (u128)milli;
        slack.left[c] = most > lost ? most - lost : 0;
    }
    return slack;
}

/* What a run would add to `lost` beyond what it allows for by what it adds to
 * `useful`. */
static u128 excess_of(const struct round *round, const struct run *run,
                      int64_t longest_ms, int64_t milli)
{
    int64_t length_ms = more_than(round->now_ms, run->started_ms);
    u128 lost = (u128)length_ms * MILLI;
    u128 allowed = (u128)more_than(length_ms, longest_ms) * (u128)milli;

    return lost > allowed ? lost - allowed : 0;
}

static bool take(const struct sched *sched, const struct repeat *repeat,
                 struct slack *slack)
{
    const struct resource_vec *request = request_of(sched, repeat->job);
    struct slack rest = *slack;

    for (int c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
        u128 own = request->v[c] > 0 ? repeat->excess * (u128)request->v[c] : 0;
        if (own > rest.left[c]) {
            return false;
        }
        rest.left[c] -= own;
    }
    *slack = rest;
    return true;
}

static void set_spared(struct sched *sched, uint32_t index, bool is_spared)
{
    struct run *run = &sched->runs.items[index];

    if (run->is_spared != is_spared) {
        evictable_forget(sched, run->account);
        run->is_spared = is_spared;
    }
}

static bool goes_first(const struct sched *sched, const struct repeat *a,
                       const struct repeat *b)
{
    return a->excess != b->excess ? a->excess < b->excess
                                  : job_less(sched, a->job, b->job);
}

static const struct repeat *sort_repeats(struct round *round,
                                         struct repeat *repeats, uint32_t count)
{
    const struct sched *sched = round->sched;
    struct repeat *spare =
        arena_alloc_array(round->arena, (size_t)count + 1, sizeof(*spare));

#define GOES_FIRST(b, a) goes_first(sched, b, a)
    return MERGE_SORT(repeats, spare, count, GOES_FIRST);
#undef GOES_FIRST
}

/* From when on a run costs nothing, as it is so much longer than the longest
 * before; the limit is more than 1. */
static void wake_for(struct round *round, const struct run *run, int64_t milli)
{
    u128 length_ms = (u128)losses_longest_ms(round->sched, run->job) *
                         (u128)milli / (u128)(milli - MILLI) +
                     1;

    if (length_ms < INT64_MAX) {
        round_wake_by(round,
                      time_add_saturating(run->started_ms, (int64_t)length_ms));
    }
}

/* The runs of a round's pool whose jobs have lost one; the others are not
 * spared. */
static uint32_t list_repeats(struct round *round, int64_t milli,
                             struct repeat *ret_repeats)
{
    struct sched *sched = round->sched;
    uint32_t count = 0;

    for (size_t i = 0; i < sched->losses.count; i++) {
        const struct loss *loss = &sched->losses.items[i];
        uint32_t job = loss->job;
        uint32_t index = job == NONE ? NONE : sched->jobs.items[job].run;
        const struct run *run =
            index == NONE ? NULL : &sched->runs.items[index];
        if (!run || pool_of(sched, run) != round->p) {
            continue;
        }
        if (milli == 0 || loss->longest_ms == 0 || !run->has_loss) {
            set_spared(sched, index, false);
            continue;
        }
        ret_repeats[count++] = (struct repeat){
            index, job, excess_of(round, run, loss->longest_ms, milli)};
    }
    return count;
}

void loss_limit_spare(struct round *round)
{
    struct sched *sched = round->sched;
    int64_t milli = limit_milli(sched, round->p);

    if (sched->loss_map.count == 0) {
        return;
    }
    struct repeat *all =
        arena_alloc_array(round->arena, sched->losses.count, sizeof(*all));
    uint32_t count = list_repeats(round, milli, all);
    const struct repeat *repeats = sort_repeats(round, all, count);
    struct slack slack = slack_of(round->pool, milli);
    for (uint32_t i = 0; i < count; i++) {
        bool is_spared = !take(sched, &repeats[i], &slack);
        set_spared(sched, repeats[i].run, is_spared);
        if (is_spared && milli > MILLI) {
            wake_for(round, &sched->runs.items[repeats[i].run], milli);
        }
    }
}

bool loss_limit_bars(const struct round *round, uint32_t job)
{
    const struct sched *sched = round->sched;
    uint32_t index = sched->jobs.items[job].gang;

    if (sched->loss_map.count == 0 || limit_milli(sched, round->p) == 0) {
        return false;
    }
    if (index == NONE) {
        return losses_longest_ms(sched, job) > 0;
    }
    const struct gang *gang = &sched->gangs.items[index];
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->waiting, at);
         seq_next(&gang->waiting, &at)) {
        if (losses_longest_ms(sched, seq_get(&gang->waiting, at)) > 0) {
            return true;
        }
    }
    return false;
}

/* History. */

/* The sums of a pool, by its name. */
struct named_sums {
    struct str name;
    const struct loss_sums *sums;
};

static int compare_names(const void *a, const void *b)
{
    const struct named_sums *x = a;
    const struct named_sums *y = b;

    return str_compare(x->name, y->name);
}

static void pack_sums(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct named_sums *list =
        mem_alloc_array(sched->pools.count + 1, sizeof(*list));
    uint32_t count = 0;

    for (uint32_t i = 0; i < sched->pools.count; i++) {
        if (sched->pools.items[i].loss_sums) {
            list[count++] =
                (struct named_sums){intern_get(sched->pool_names, i),
                                    sched->pools.items[i].loss_sums};
        }
    }
    qsort(list, count, sizeof(*list), compare_names);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_str(buf, list[i].name);
        pack_u64(buf, RESOURCE_COLUMNS_MAX);
        for (int c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
            pack_u128(buf, list[i].sums->lost[c]);
            pack_u128(buf, list[i].sums->useful[c]);
        }
    }
}

static void unpack_sums(struct sched *sched, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        struct str name = unpack_str(reader);
        uint32_t columns = unpack_count(reader, RESOURCE_COLUMNS_MAX);
        if (reader->is_bad || name.byte_count == 0) {
            reader->is_bad = true;
            return;
        }
        struct loss_sums *sums = sums_of(sched, pool_get(sched, name));
        for (uint32_t c = 0; c < columns; c++) {
            sums->lost[c] = unpack_u128(reader);
            sums->useful[c] = unpack_u128(reader);
        }
    }
}

void loss_limit_pack(const struct sched *sched, struct strbuf *buf)
{
    bool is_any = false;

    for (size_t i = 0; i < sched->pools.count; i++) {
        is_any |= sched->pools.items[i].loss_sums != NULL;
    }
    if (is_any) {
        pack_sums(sched, buf);
        losses_pack_longest(sched, buf);
    }
}

void loss_limit_unpack(struct sched *sched, struct history_reader *reader)
{
    unpack_sums(sched, &reader->pack);
    losses_unpack_longest(sched, reader);
}

void loss_limit_fini(struct sched *sched)
{
    for (size_t i = 0; i < sched->pools.count; i++) {
        mem_free(sched->pools.items[i].loss_sums);
        sched->pools.items[i].loss_sums = NULL;
    }
}
