/* Moves a job to another shard with its state. */
#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/jobs/lent.h"
#include "pools/jobs/quota.h"
#include "pools/tables/classes.h"
#include "pools/tables/node_table.h"
#include "pools/tables/pool_names.h"

void job_enter(struct pools *pools, uint32_t job, struct shard *shard,
               const struct sched_job *record)
{
    struct pool_job *row = &pools->jobs.items[job];
    struct sched_job told = *record;
    struct delta delta = delta_of(apply_add);

    job_take(pools, job, shard);
    row->is_borrowed = job_is_borrowed(pools, job, shard);
    told.pool = pool_in(pools, shard, row->name);
    told.is_borrowed = row->is_borrowed;
    delta.class_index = record->class_index;
    delta.record = &told;
    delta.copy = job_copy;
    job_tell(pools, job, &delta);
}

static const void *copy_memory(const void *from, struct arena *arena)
{
    struct sched_gang_memory *memory = arena_alloc(arena, sizeof(*memory));

    *memory = *(const struct sched_gang_memory *)from;
    return memory;
}

static void apply_memory(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)pools;
    sched_gang_remember(shard->sched, delta->job, delta->record);
}

/* What the gang of a job remembers goes with each of its members. */
static void tell_memory(struct pools *pools, uint32_t job,
                        const struct sched_gang_memory *memory)
{
    struct delta delta = delta_of(apply_memory);

    if (memory->sub_group_count) {
        delta.record = memory;
        delta.copy = copy_memory;
        job_tell(pools, job, &delta);
    }
}

static void apply_cooldown_put(struct pools *pools, struct shard *shard,
                               const struct delta *delta)
{
    struct sched_cooldown cooldown = {delta->at_ms, (uint64_t)delta->amount};

    (void)pools;
    sched_job_cooldown_put(shard->sched, delta->job, &cooldown);
}

/* A move ends no cooldown: otherwise a job that borrows without success could
 * preempt for fairness each time it returns. */
static void tell_cooldown(struct pools *pools, uint32_t job,
                          const struct sched_cooldown *cooldown)
{
    struct delta delta = delta_of(apply_cooldown_put);

    delta.at_ms = cooldown->since_ms;
    delta.amount = (int64_t)cooldown->news_count;
    job_tell(pools, job, &delta);
}

static void apply_loss_put(struct pools *pools, struct shard *shard,
                           const struct delta *delta)
{
    (void)pools;
    sched_job_loss_put(shard->sched, delta->job, delta->record);
}

static const void *copy_loss(const void *record, struct arena *arena)
{
    struct sched_loss *copy = arena_alloc(arena, sizeof(*copy));

    memcpy(copy, record, sizeof(*copy));
    return copy;
}

/* Nor does it forget what it has lost, before it has its run again. */
static void tell_loss(struct pools *pools, uint32_t job,
                      const struct sched_loss *loss)
{
    struct delta delta = delta_of(apply_loss_put);

    delta.record = loss;
    delta.copy = copy_loss;
    job_tell(pools, job, &delta);
}

/* It leaves its shard for another; one that is lent goes on asking at home. */
static void change_shards(struct pools *pools, uint32_t job, struct shard *to,
                          const struct sched_job *held)
{
    const struct pool_job *row = pool_job_get(pools, job);
    struct sched *from = shard_of(pools, job)->sched;
    struct sched_job record = *held;
    bool is_leaving_home = row->is_lent && !row->is_borrowed;

    record.is_returning = row->is_lent && row->is_borrowed &&
                          to == home_of_name(pools, row->name);
    if (is_leaving_home) {
        sched_job_lend(from, row->local);
    } else {
        sched_job_remove(from, row->local);
    }
    job_give(pools, job);
    job_enter(pools, job, to, &record);
    if (record.is_returning) {
        lent_end(pools, job);
    } else if (!is_leaving_home) {
        lent_over(pools, job);
    }
}

/* What a job takes along; its arena has what it points to. */
struct baggage {
    struct arena arena;
    const struct sched_job *record;
    struct sched_run run; /* if it has one */
    bool is_leased, has_cooldown, has_loss;
    struct sched_gang_memory memory;
    struct sched_cooldown cooldown;
    struct sched_loss loss;
    uint32_t *avoided; /* in the router's handles */
    uint32_t avoid_count;
};

static void pack_baggage(struct pools *pools, const struct shard *from,
                         uint32_t local, struct baggage *ret)
{
    struct sched_job record;

    sched_gang_memory(from->sched, local, &ret->memory);
    ret->has_cooldown =
        sched_job_cooldown_get(from->sched, local, &ret->cooldown);
    ret->has_loss = sched_job_loss_get(from->sched, local, &ret->loss);
    sched_job_record(from->sched, local, &record);
    ret->is_leased = sched_job_run(from->sched, local, &ret->run);
    record.class_index = class_back(from, record.class_index);
    ret->record = job_copy(&record, &ret->arena);
    const uint32_t *nodes =
        sched_job_avoided(from->sched, local, &ret->avoid_count);
    ret->avoided =
        arena_alloc_array(&ret->arena, ret->avoid_count, sizeof(*ret->avoided));
    for (uint32_t i = 0; i < ret->avoid_count; i++) {
        /* The shard knows its name as long as somebody avoids it; the number
         * here may be another node's since it went. */
        ret->avoided[i] =
            pool_node_get(pools, sched_node_executor(from->sched, nodes[i]),
                          sched_node_name(from->sched, nodes[i]));
    }
}

/* One more (1) or less (-1) waits, or has a lease, where a job is. */
static void count_job(struct pools *pools, const struct pool_job *row,
                      bool is_leased, int sign)
{
    if (is_leased) {
        quotas_count(pools, row, sign);
    } else {
        job_count_waiting(pools, row, sign);
    }
}

/* Its run goes on where it came to. */
static void tell_run(struct pools *pools, uint32_t job,
                     const struct sched_run *run)
{
    struct delta lease = delta_of(apply_lease);

    lease.node = pool_job_get(pools, job)->node;
    lease.priority = run->priority;
    lease.at_ms = run->leased_ms;
    job_tell(pools, job, &lease);
    if (run->age_from_ms != INT64_MAX) {
        struct delta age = delta_of(apply_age);
        age.at_ms = run->age_from_ms;
        job_tell(pools, job, &age);
    }
    if (run->is_protected) {
        struct delta protect = delta_of(apply_protect);
        protect.flag = true;
        job_tell(pools, job, &protect);
    }
}

void job_move(struct pools *pools, uint32_t job, struct shard *to)
{
    struct pool_job *row = pool_job_get(pools, job);
    struct shard *from = shard_of(pools, job);
    struct baggage baggage = {0};

    ASSERT(!from->is_busy);
    pack_baggage(pools, from, row->local, &baggage);
    /* The router knows who has a lease as the shard does. */
    ASSERT(baggage.is_leased == (row->node != NONE));
    count_job(pools, row, baggage.is_leased, -1);
    change_shards(pools, job, to, baggage.record);
    tell_memory(pools, job, &baggage.memory);
    if (baggage.has_cooldown) {
        tell_cooldown(pools, job, &baggage.cooldown);
    }
    if (baggage.has_loss) {
        tell_loss(pools, job, &baggage.loss);
    }
    for (uint32_t i = 0; i < baggage.avoid_count; i++) {
        pools_job_avoid(pools, job, baggage.avoided[i]);
    }
    count_job(pools, row, baggage.is_leased, 1);
    if (baggage.is_leased) {
        tell_run(pools, job, &baggage.run);
        if (row->gang != NONE) {
            gang_anchor(pools, row->gang, to);
        }
    }
    arena_fini(&baggage.arena);
}
