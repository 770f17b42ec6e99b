/* Encodes and decodes lists of admitted work, and the runs that are revocable
 * for it. */
#include <stdlib.h>

#include "sched/fairness/admitted.h"

static void pack_id(struct strbuf *buf, const struct sched *sched, uint32_t job)
{
    pack_key128(buf, sched->jobs.items[job].id.v);
}

static void pack_pool(const struct sched *sched, const struct pool *pool,
                      struct strbuf *buf)
{
    pack_u64(buf, pool->admitted.count);
    for (size_t i = 0; i < pool->admitted.count; i++) {
        const struct admitted *entry = &pool->admitted.items[i];
        pack_id(buf, sched, admitted_job(sched, entry));
        pack_u64(buf, entry->serial);
        pack_i64(buf, entry->start_ms);
        pack_i64(buf, entry->since_ms);
    }
}

/* A revocable run, by its job. */
struct packed {
    struct job_id id;
    uint32_t job, serial;
    bool is_at_once;
    int64_t from_ms;
};

static int compare_packed(const void *a, const void *b)
{
    const struct packed *x = a;
    const struct packed *y = b;

    return key128_compare(x->id.v, y->id.v);
}

static void pack_revocables(const struct sched *sched, struct strbuf *buf)
{
    size_t count = sched->revocables.count;
    auto_mem struct packed *list = mem_alloc_array(count + 1, sizeof(*list));

    for (size_t i = 0; i < count; i++) {
        const struct run *run = &sched->runs.items[sched->revocables.items[i]];
        list[i] = (struct packed){sched->jobs.items[run->job].id, run->job,
                                  run->revocable_for, run->yields_at_once,
                                  run->yields_from_ms};
    }
    qsort(list, count, sizeof(*list), compare_packed);
    pack_u64(buf, count);
    for (size_t i = 0; i < count; i++) {
        pack_id(buf, sched, list[i].job);
        pack_u64(buf, list[i].serial);
        pack_u64(buf, list[i].is_at_once);
        pack_i64(buf, list[i].from_ms);
    }
}

void admitted_pack(const struct sched *sched, struct strbuf *buf)
{
    if (sched->admission_count == 0) {
        return;
    }
    pack_u64(buf, sched->admission_count);
    pack_u64(buf, sched->policy->pool_count);
    for (uint32_t i = 0; i < sched->policy->pool_count; i++) {
        struct str name = sched->policy->pools[i].name;
        pack_str(buf, name);
        pack_pool(sched,
                  &sched->pools.items[intern_find(sched->pool_names, name)],
                  buf);
    }
    pack_revocables(sched, buf);
}

static void unpack_pool(struct sched *sched, struct history_reader *reader)
{
    struct str pool = unpack_str(&reader->pack);
    uint32_t count = unpack_count(&reader->pack, ADMITTED_MAX);

    for (uint32_t i = 0; i < count && !reader->pack.is_bad; i++) {
        uint32_t job = history_read_job(sched, reader);
        uint32_t serial = unpack_count(&reader->pack, UINT32_MAX);
        int64_t start_ms = unpack_i64(&reader->pack);
        int64_t since_ms =
            reader->version > 2 ? unpack_i64(&reader->pack) : sched->now_ms;
        if (job == NONE || serial == 0) {
            reader->pack.is_bad = true;
        } else if (!reader->pack.is_bad) {
            sched->admission_count = serial - 1;
            sched_job_admit(sched, job, pool, start_ms, 0);
            admitted_date(sched, job, since_ms);
        }
    }
}

static void unpack_revocable(struct sched *sched, struct history_reader *reader)
{
    uint32_t job = history_read_job(sched, reader);
    uint32_t serial = unpack_count(&reader->pack, UINT32_MAX);
    bool is_at_once = reader->version > 1 && unpack_count(&reader->pack, 1);
    int64_t from_ms = reader->version > 2 ? unpack_i64(&reader->pack) : 0;

    if (job == NONE || serial == 0 || sched->jobs.items[job].run == NONE ||
        sched->runs.items[sched->jobs.items[job].run].revocable_for) {
        reader->pack.is_bad = true;
    } else if (!reader->pack.is_bad) {
        admitted_note_revocable(sched, sched->jobs.items[job].run, serial,
                                is_at_once, from_ms);
    }
}

void admitted_unpack(struct sched *sched, struct history_reader *reader)
{
    uint32_t last = unpack_count(&reader->pack, UINT32_MAX);

    for (uint32_t n = unpack_count(&reader->pack, POLICY_POOLS_MAX);
         n > 0 && !reader->pack.is_bad; n--) {
        unpack_pool(sched, reader);
    }
    sched->admission_count = last;
    for (uint32_t n = unpack_count(&reader->pack, SCHED_JOBS_MAX);
         n > 0 && !reader->pack.is_bad; n--) {
        unpack_revocable(sched, reader);
    }
}
