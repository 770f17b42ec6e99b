/* Keeps a lent job counted for its application at home: its home shard learns
 * the result when it is known. */
#include "pools/jobs/lent.h"

#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/tables/pool_names.h"

static struct lent *lent_of(const struct pools *pools, uint32_t job)
{
    uint32_t at = map_find(&pools->lent_map, key_of_u64(job));

    ASSERT(at < pools->lent.count && pools->lent.items[at].job == job);
    return &pools->lent.items[at];
}

static void note(struct lent *out, struct str application)
{
    mem_free(out->application);
    out->application = str_dup(application);
}

static void begin(struct pools *pools, uint32_t job, struct str application)
{
    uint32_t at = (uint32_t)pools->lent.count;

    /* Only a job that waits is lent, and once. */
    ASSERT(pools->jobs.items[job].node == NONE);
    ASSERT(!pools->jobs.items[job].is_lent);
    VEC_PUSH(&pools->lent, (struct lent){.job = job});
    note(&pools->lent.items[at], application);
    map_put(&pools->lent_map, key_of_u64(job), at);
    pools->jobs.items[job].is_lent = true;
    ASSERT(pools->lent_map.count == pools->lent.count);
}

void lent_begin(struct pools *pools, uint32_t job)
{
    const struct pool_job *row = &pools->jobs.items[job];
    struct sched_job record;

    ASSERT(!row->is_lent && !row->is_borrowed && row->node == NONE);
    sched_job_record(shard_of(pools, job)->sched, row->local, &record);
    begin(pools, job, record.application);
}

void lent_end(struct pools *pools, uint32_t job)
{
    struct lent *out = lent_of(pools, job);
    struct lent last = pools->lent.items[--pools->lent.count];

    mem_free(out->application);
    map_remove(&pools->lent_map, key_of_u64(job));
    if (last.job != job) {
        *out = last;
        map_put(&pools->lent_map, key_of_u64(last.job),
                (uint32_t)(out - pools->lent.items));
    }
    pools->jobs.items[job].is_lent = false;
    ASSERT(pools->lent_map.count == pools->lent.count);
}

static void apply_release(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    (void)pools;
    sched_application_release(shard->sched, delta->other, delta->text);
}

void lent_over(struct pools *pools, uint32_t job)
{
    const struct pool_job *row = &pools->jobs.items[job];
    struct delta delta = delta_of(apply_release);

    if (!row->is_lent) {
        return;
    }
    delta.other = row->queue;
    delta.text = str_of(lent_of(pools, job)->application);
    deliver(pools, home_of_name(pools, row->name), &delta);
    lent_end(pools, job);
}

static void apply_ask(struct pools *pools, struct shard *shard,
                      const struct delta *delta)
{
    const struct sched_job *record = delta->record;

    (void)pools;
    sched_application_ask(shard->sched, delta->other, record->application,
                          record);
}

/* It asks its application at home from now on. */
static void tell_asks(struct pools *pools, uint32_t job,
                      const struct sched_job *record)
{
    const struct pool_job *row = &pools->jobs.items[job];
    struct delta delta = delta_of(apply_ask);

    delta.other = row->queue;
    delta.record = record;
    delta.copy = job_copy;
    deliver(pools, home_of_name(pools, row->name), &delta);
}

/* The delta that will add a job to its shard, or NULL: it is applied. */
static const struct delta *told(const struct shard *shard,
                                const struct map *index, uint32_t local)
{
    uint32_t at = map_find(index, key_of_u64(local));

    ASSERT(at == MAP_NONE || shard->deltas.items[at].job == local);
    return at == MAP_NONE ? NULL : &shard->deltas.items[at];
}

/* The record of a job in its shard, or in the delta that will add it. */
static void record_of(const struct pools *pools, uint32_t job,
                      struct sched_job *ret_record)
{
    const struct shard *shard = shard_of(pools, job);
    uint32_t local = pools->jobs.items[job].local;
    const struct delta *added = told(shard, &shard->told_adds, local);
    const struct delta *named = told(shard, &shard->told_names, local);

    if (added) {
        *ret_record = *(const struct sched_job *)added->record;
    } else {
        sched_job_record(shard->sched, local, ret_record);
    }
    if (named) {
        ret_record->application = named->text;
        ret_record->has_stateaware_off = named->flag;
    }
}

void lent_recall(struct pools *pools, uint32_t job)
{
    const struct pool_job *row = &pools->jobs.items[job];
    struct sched_job record;

    if (row->is_lent || !row->is_borrowed ||
        job_home(pools, job) != home_of_name(pools, row->name)) {
        return;
    }
    record_of(pools, job, &record);
    begin(pools, job, record.application);
    tell_asks(pools, job, &record);
}

void lent_ask(struct pools *pools, uint32_t job, struct str application,
              bool has_stateaware_off)
{
    struct sched_job record;

    record_of(pools, job, &record);
    record.application = application;
    record.has_stateaware_off = has_stateaware_off;
    note(lent_of(pools, job), application);
    tell_asks(pools, job, &record);
}

void lent_fini(struct pools *pools)
{
    for (size_t i = 0; i < pools->lent.count; i++) {
        mem_free(pools->lent.items[i].application);
    }
    VEC_FREE(&pools->lent);
    map_fini(&pools->lent_map);
}
