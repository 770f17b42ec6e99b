#include "sched/fairness/penalty.h"

#include <stdlib.h>

void sched_job_finished(struct sched *sched, uint32_t job)
{
    uint32_t at = sched->jobs.items[job].run;

    ASSERT(at != NONE);
    struct run *run = &sched->runs.items[at];
    uint32_t p = sched->accounts.items[run->account].pool;
    int policy_index = p == NONE ? -1 : sched->pools.items[p].policy_index;
    int64_t cutoff_ms =
        policy_index < 0
            ? 0
            : sched->policy->pools[policy_index].short_job_penalty_ms;
    ASSERT(cutoff_ms >= 0);
    if (cutoff_ms > 0 && run->started_ms < INT64_MAX - cutoff_ms) {
        run->penalty_until_ms = run->started_ms + cutoff_ms;
    }
}

/* Forget what is over; and the oldest, if there are too many. */
static void sift(struct sched *sched)
{
    size_t kept = 0;

    for (size_t i = 0; i < sched->penalties.count; i++) {
        if (sched->penalties.items[i].until_ms > sched->now_ms) {
            sched->penalties.items[kept++] = sched->penalties.items[i];
        }
    }
    if (kept >= PENALTIES_MAX) {
        kept--;
        memmove(sched->penalties.items, sched->penalties.items + 1,
                kept * sizeof(sched->penalties.items[0]));
    }
    ASSERT(kept < PENALTIES_MAX); /* there is room for one more */
    sched->penalties.count = kept;
}

static void add(struct sched *sched, const struct penalty *penalty)
{
    if (sched->penalties.count == sched->penalties.capacity ||
        sched->penalties.count >= PENALTIES_MAX) {
        sift(sched);
    }
    VEC_PUSH(&sched->penalties, *penalty);
}

void penalty_take(struct sched *sched, const struct run *run)
{
    const struct account *account = &sched->accounts.items[run->account];
    uint32_t list = sched->jobs.items[run->job].list;
    uint32_t c = sched->lists.items[list].class_index;

    if (run->penalty_until_ms > sched->now_ms) {
        struct penalty penalty = {
            .until_ms = run->penalty_until_ms,
            .queue = account->queue,
            .pool = account->pool,
            .sum = sched->classes.items[c].request,
        };
        add(sched, &penalty);
    }
}

void penalty_drop_queue(struct sched *sched, uint32_t queue)
{
    size_t kept = 0;

    for (size_t i = 0; i < sched->penalties.count; i++) {
        if (sched->penalties.items[i].queue != queue) {
            sched->penalties.items[kept++] = sched->penalties.items[i];
        }
    }
    sched->penalties.count = kept;
}

/* Packing: in an order that does not depend on how they came. */

struct named {
    struct str queue, pool;
    const struct penalty *penalty;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int c = str_compare(x->queue, y->queue);

    c = c ? c : str_compare(x->pool, y->pool);
    if (c == 0 && x->penalty->until_ms != y->penalty->until_ms) {
        c = x->penalty->until_ms < y->penalty->until_ms ? -1 : 1;
    }
    for (int r = 0; c == 0 && r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t left = x->penalty->sum.v[r], right = y->penalty->sum.v[r];
        c = (left > right) - (left < right);
    }
    return c;
}

static void pack_sum(const struct sched *sched, struct strbuf *buf,
                     const struct resource_vec *sum)
{
    uint32_t count = sched->policy->schema.column_count;

    pack_u64(buf, count);
    for (uint32_t r = 0; r < count; r++) {
        pack_str(buf, sched->policy->schema.columns[r].name);
        pack_i64(buf, sum->v[r]);
    }
}

void penalty_pack(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct named *named =
        mem_alloc_array(sched->penalties.count + 1, sizeof(*named));
    uint32_t count = 0;

    for (size_t i = 0; i < sched->penalties.count; i++) {
        const struct penalty *penalty = &sched->penalties.items[i];
        const struct queue *queue = &sched->queues.items[penalty->queue];
        ASSERT(queue->name); /* penalties go with their queue */
        if (penalty->until_ms > sched->now_ms) {
            named[count++] = (struct named){
                str_make(queue->name, queue->name_bytes),
                intern_get(sched->pool_names, penalty->pool), penalty};
        }
    }
    if (count == 0) {
        return;
    }
    qsort(named, count, sizeof(*named), compare_named);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_str(buf, named[i].queue);
        pack_str(buf, named[i].pool);
        pack_i64(buf, named[i].penalty->until_ms);
        pack_sum(sched, buf, &named[i].penalty->sum);
    }
}

static void unpack_one(struct sched *sched, struct pack_reader *reader)
{
    struct penalty penalty = {.queue =
                                  queue_by_name(sched, unpack_str(reader))};

    penalty.pool = pool_get(sched, unpack_str(reader));
    penalty.until_ms = unpack_i64(reader);
    uint32_t count = unpack_count(reader, RESOURCE_COLUMNS_MAX);
    for (uint32_t r = 0; r < count && !reader->is_bad; r++) {
        int column =
            resource_column(&sched->policy->schema, unpack_str(reader));
        int64_t amount = unpack_i64(reader);
        if (column >= 0) {
            penalty.sum.v[column] = amount;
        }
    }
    if (penalty.queue != NONE && !reader->is_bad) {
        add(sched, &penalty);
    }
}

void penalty_unpack(struct sched *sched, struct history_reader *reader)
{
    uint32_t count = unpack_count(&reader->pack, PENALTIES_MAX);

    for (uint32_t i = 0; i < count && !reader->pack.is_bad; i++) {
        unpack_one(sched, &reader->pack);
    }
}
