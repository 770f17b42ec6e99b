#include "sched/evict/losses.h"

#include <stdlib.h>

#include "base/time_add.h"
#include "sched/evict/evictable.h"

enum { MILLI = 1000 };

static struct loss *find(const struct sched *sched, uint32_t job)
{
    uint32_t slot = sched->loss_map.count
                        ? map_find(&sched->loss_map, key_of_u64(job))
                        : MAP_NONE;

    ASSERT(slot == MAP_NONE || sched->losses.items[slot].job == job);
    return slot == MAP_NONE ? NULL : &sched->losses.items[slot];
}

int64_t losses_since_ms(const struct sched *sched, uint32_t job)
{
    const struct loss *loss = find(sched, job);

    return loss ? loss->since_ms : sched->jobs.items[job].submitted_ms;
}

int64_t losses_of_run_ms(const struct sched *sched, const struct run *run)
{
    const struct loss *loss = run->has_loss ? find(sched, run->job) : NULL;

    return loss ? loss->lost_ms : 0;
}

bool losses_has(const struct sched *sched, uint32_t job)
{
    return find(sched, job);
}

int64_t losses_longest_ms(const struct sched *sched, uint32_t job)
{
    const struct loss *loss = find(sched, job);

    return loss ? loss->longest_ms : 0;
}

int64_t losses_protect_until_ms(const struct sched *sched,
                                const struct run *run)
{
    if (!run->has_loss) {
        return INT64_MIN; /* most runs: their pool need not be read */
    }
    uint32_t pool = sched->accounts.items[run->account].pool;
    int index = pool == NONE ? -1 : sched->pools.items[pool].policy_index;
    int64_t factor_milli =
        index < 0 ? 0 : sched->policy->pools[index].loss_protection_milli;

    if (run->is_spared) {
        return INT64_MAX;
    }
    int64_t lost_ms = factor_milli ? losses_of_run_ms(sched, run) : 0;
    if (lost_ms == 0) {
        return INT64_MIN;
    }
    ASSERT(lost_ms > 0 && factor_milli > 0);
    u128 length_ms = ((u128)lost_ms * (u128)factor_milli + MILLI - 1) / MILLI;
    return time_add_saturating(run->started_ms, length_ms < INT64_MAX
                                                    ? (int64_t)length_ms
                                                    : INT64_MAX);
}

/* The row of a job, made when new. */
static struct loss *get(struct sched *sched, uint32_t job)
{
    struct loss *loss = find(sched, job);

    if (!loss) {
        uint32_t slot = SLOTS_TAKE(&sched->losses);
        loss = &sched->losses.items[slot];
        *loss = (struct loss){.job = job,
                              .since_ms = sched->jobs.items[job].submitted_ms};
        map_put(&sched->loss_map, key_of_u64(job), slot);
    }
    return loss;
}

void losses_requeue(struct sched *sched, uint32_t job)
{
    get(sched, job)->since_ms = sched->now_ms;
}

void losses_forget(struct sched *sched, uint32_t job)
{
    uint32_t slot = sched->loss_map.count
                        ? map_remove(&sched->loss_map, key_of_u64(job))
                        : MAP_NONE;

    if (slot != MAP_NONE) {
        ASSERT(sched->losses.items[slot].job == job); /* its own row */
        sched->losses.items[slot] = (struct loss){.job = NONE};
        SLOTS_GIVE(&sched->losses, slot);
    }
}

void losses_add(struct sched *sched, uint32_t job, int64_t length_ms,
                bool is_counted)
{
    struct loss *loss = get(sched, job);

    ASSERT(loss->lost_ms >= 0 && length_ms > 0); /* a sum of lengths */
    loss->lost_ms = time_add_saturating(loss->lost_ms, length_ms);
    if (is_counted && length_ms > loss->longest_ms) {
        loss->longest_ms = length_ms;
    }
}

bool sched_job_loss_get(const struct sched *sched, uint32_t job,
                        struct sched_loss *ret_loss)
{
    const struct loss *loss = find(sched, job);

    if (loss) {
        *ret_loss = (struct sched_loss){loss->since_ms, loss->lost_ms,
                                        loss->longest_ms};
    }
    return loss;
}

/* What a run knows of it. */
static void tell_run(struct sched *sched, uint32_t job)
{
    uint32_t index = sched->jobs.items[job].run;

    if (index != NONE) {
        struct run *run = &sched->runs.items[index];
        evictable_forget(sched, run->account);
        run->has_loss = true;
    }
}

void sched_job_loss_put(struct sched *sched, uint32_t job,
                        const struct sched_loss *from)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].run == NONE);
    struct loss *loss = get(sched, job);

    loss->since_ms = from->since_ms;
    loss->lost_ms = from->lost_ms;
    loss->longest_ms = from->longest_ms;
    sched->version++;
}

bool losses_are_right(const struct sched *sched, struct arena *scratch)
{
    uint32_t count = 0;

    (void)scratch;
    for (uint32_t i = 0; i < sched->losses.count; i++) {
        const struct loss *loss = &sched->losses.items[i];
        if (loss->job == NONE) {
            continue;
        }
        if (sched->jobs.items[loss->job].list == LIST_NONE ||
            find(sched, loss->job) != loss || loss->lost_ms < 0 ||
            loss->longest_ms < 0 || loss->longest_ms > loss->lost_ms) {
            return false;
        }
        count++;
    }
    return count == sched->loss_map.count;
}

/* History. */

/* One that is written, by its job. */
struct packed {
    const struct loss *loss;
    struct job_id id;
};

static int compare_packed(const void *a, const void *b)
{
    const struct packed *x = a;
    const struct packed *y = b;

    return key128_compare(x->id.v, y->id.v);
}

/* The rows by their jobs' ids, all or those that say a longest run. */
static uint32_t sort_rows(const struct sched *sched, bool is_longest,
                          struct packed *ret_list)
{
    uint32_t count = 0;

    for (size_t i = 0; i < sched->losses.count; i++) {
        const struct loss *loss = &sched->losses.items[i];
        if (loss->job != NONE && (!is_longest || loss->longest_ms)) {
            ret_list[count++] =
                (struct packed){loss, sched->jobs.items[loss->job].id};
        }
    }
    qsort(ret_list, count, sizeof(*ret_list), compare_packed);
    return count;
}

void losses_pack_longest(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct packed *list =
        mem_alloc_array(sched->losses.count + 1, sizeof(*list));
    uint32_t count = sort_rows(sched, true, list);

    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_key128(buf, list[i].id.v);
        pack_i64(buf, list[i].loss->longest_ms);
    }
}

void losses_pack(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct packed *list =
        mem_alloc_array(sched->losses.count + 1, sizeof(*list));
    uint32_t count = sort_rows(sched, false, list);

    if (count == 0) {
        return;
    }
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_key128(buf, list[i].id.v);
        pack_i64(buf, list[i].loss->since_ms);
        pack_i64(buf, list[i].loss->lost_ms);
    }
}

void losses_unpack(struct sched *sched, struct history_reader *reader)
{
    struct pack_reader *pack = &reader->pack;
    uint32_t count = unpack_count(pack, SCHED_JOBS_MAX);
    struct job_id id = {0}, last = {0};

    for (uint32_t i = 0; i < count && !pack->is_bad; i++, last = id) {
        id.v = unpack_key128(pack);
        int64_t since_ms = unpack_i64(pack);
        int64_t lost_ms = unpack_i64(pack);
        uint32_t job = history_job(sched, reader, id);
        if (job == NONE || lost_ms < 0 ||
            (i > 0 && key128_compare(last.v, id.v) >= 0)) {
            pack->is_bad = true;
        } else if (!pack->is_bad) {
            *get(sched, job) = (struct loss){job, since_ms, lost_ms, 0};
            tell_run(sched, job);
        }
    }
}

void losses_unpack_longest(struct sched *sched, struct history_reader *reader)
{
    struct pack_reader *pack = &reader->pack;
    uint32_t count = unpack_count(pack, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !pack->is_bad; i++) {
        struct job_id id = {unpack_key128(pack)};
        int64_t longest_ms = unpack_i64(pack);
        uint32_t job = pack->is_bad ? NONE : history_job(sched, reader, id);
        struct loss *loss = job == NONE ? NULL : find(sched, job);
        if (!loss || loss->longest_ms || longest_ms <= 0 ||
            longest_ms > loss->lost_ms) {
            pack->is_bad = true;
            return;
        }
        loss->longest_ms = longest_ms;
        tell_run(sched, job);
    }
}

void losses_fini(struct sched *sched)
{
    SLOTS_FREE(&sched->losses);
    map_fini(&sched->loss_map);
}
