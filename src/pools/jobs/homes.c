/* Homes: where a job belongs, and how it gets there.  A job that cannot go yet
 * counts as gone: see docs/rules/pools.md. */
#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/jobs/lent.h"
#include "pools/jobs/quota.h"
#include "pools/tables/classes.h"
#include "pools/tables/node_table.h"
#include "pools/tables/pool_names.h"

struct shard *job_home(const struct pools *pools, uint32_t job)
{
    const struct pool_job *row = pool_job_get(pools, job);

    if (row->gang != NONE && pools->gangs.items[row->gang].leased_count > 0) {
        struct shard *anchor =
            pools->shards.items[pools->gangs.items[row->gang].anchor];
        if (anchor && !anchor->is_closed) {
            return anchor;
        }
    }
    return home_of_name(pools, row->name);
}

bool job_is_borrowed(const struct pools *pools, uint32_t job,
                     const struct shard *in)
{
    const struct pool_job *row = pool_job_get(pools, job);

    return home_of_name(pools, row->name) != in ||
           (row->node == NONE && job_home(pools, job) != in);
}

static void apply_borrowed(struct pools *pools, struct shard *shard,
                           const struct delta *delta)
{
    (void)pools;
    sched_job_borrowed_set(shard->sched, delta->job, delta->flag);
}

void job_borrowed_set(struct pools *pools, uint32_t job, bool is_borrowed)
{
    struct pool_job *row = pool_job_get(pools, job);
    struct delta delta = delta_of(apply_borrowed);
    bool is_waiting = row->node == NONE;

    if (row->is_borrowed == is_borrowed) {
        return;
    }
    if (is_waiting) {
        job_count_waiting(pools, row, -1);
    }
    row->is_borrowed = is_borrowed;
    if (is_waiting) {
        job_count_waiting(pools, row, 1);
    }
    delta.flag = is_borrowed;
    job_tell(pools, job, &delta);
}

void job_recall_home(struct pools *pools, uint32_t job)
{
    struct shard *shard = shard_of(pools, job);
    bool is_home = job_home(pools, job) == shard;

    if (!is_home && !shard->is_busy && !pools->jobs.items[job].is_chosen) {
        job_send_home(pools, job);
        return;
    }
    job_borrowed_set(pools, job, job_is_borrowed(pools, job, shard));
    if (is_home) {
        return;
    }
    lent_recall(pools, job);
    if (shard->is_busy) {
        VEC_PUSH(&shard->returning, job);
    } else {
        VEC_PUSH(&shard->borrowers, job); /* its lease may be told next */
    }
}

void gang_anchor(struct pools *pools, uint32_t gang, const struct shard *in)
{
    struct pool_gang *gang_row = &pools->gangs.items[gang];
    ASSERT(gang_row->leased_count > 0); /* a gang is where it runs */
    bool is_same = gang_row->anchor == in->index && gang_row->leased_count > 1;

    gang_row->anchor = in->index;
    if (!is_same) {
        gang_recall(pools, gang);
    }
}

bool gang_is_split(const struct pool_gang *gang_row)
{
    /* A variance is never negative. */
    ASSERT((u128)gang_row->count * gang_row->shard_square_sum >=
           (u128)gang_row->shard_sum * gang_row->shard_sum);
    return (u128)gang_row->count * gang_row->shard_square_sum !=
           (u128)gang_row->shard_sum * gang_row->shard_sum;
}

void gang_tell_others(struct pools *pools, uint32_t job, struct delta *delta)
{
    const struct pool_job *row = pool_job_get(pools, job);
    bool is_told[POOLS_SHARDS_MAX] = {false};

    if (row->gang == NONE || !gang_is_split(&pools->gangs.items[row->gang])) {
        return;
    }
    for (uint32_t member = pools->gangs.items[row->gang].first; member != NONE;
         member = pools->jobs.items[member].gang_next) {
        uint32_t in = pools->jobs.items[member].shard;
        if (in == row->shard) {
            continue;
        }
        /* Which of them stands for all must not matter. */
        job_touch(pools, member);
        if (!is_told[in]) {
            is_told[in] = true;
            job_tell(pools, member, delta);
        }
    }
}

/* The member with the least id that runs. */
static uint32_t first_leased(const struct pools *pools, uint32_t gang)
{
    uint32_t first = NONE;
    struct sched_job record, least;

    for (uint32_t job = pools->gangs.items[gang].first; job != NONE;
         job = pools->jobs.items[job].gang_next) {
        if (pools->jobs.items[job].node == NONE) {
            continue;
        }
        sched_job_record(shard_of(pools, job)->sched,
                         pools->jobs.items[job].local, &record);
        if (first == NONE || key128_compare(record.id.v, least.id.v) < 0) {
            first = job;
            least = record;
        }
    }
    ASSERT(first != NONE); /* who has leases has members with a node */
    return first;
}

void gangs_leave(struct pools *pools, const struct shard *shard)
{
    for (uint32_t gang = 0; gang < pools->gangs.count; gang++) {
        struct pool_gang *gang_row = &pools->gangs.items[gang];
        if (gang_row->leased_count > 0 && gang_row->anchor == shard->index) {
            gang_row->anchor =
                pools->jobs.items[first_leased(pools, gang)].shard;
            /* What ran in a shard that ends has left it with its nodes. */
            ASSERT(gang_row->anchor != shard->index);
        }
    }
}

void gang_recall(struct pools *pools, uint32_t gang)
{
    uint32_t next;

    for (uint32_t job = pools->gangs.items[gang].first; job != NONE;
         job = next) {
        next = pools->jobs.items[job].gang_next;
        if (pools->jobs.items[job].node == NONE) {
            if (job_is_borrowed(pools, job, job_home(pools, job))) {
                lent_over(pools, job); /* it is where its gang runs now */
            }
            job_recall_home(pools, job);
        }
    }
}

void gang_follow(struct pools *pools, uint32_t job, struct shard *to)
{
    const struct pool_job *row = pool_job_get(pools, job);
    const struct shard *from = shard_of(pools, job);
    uint32_t next;

    if (row->gang == NONE || pools->gangs.items[row->gang].leased_count > 0) {
        job_move(pools, job, to);
        return;
    }
    for (uint32_t member = pools->gangs.items[row->gang].first; member != NONE;
         member = next) {
        next = pools->jobs.items[member].gang_next;
        if (shard_of(pools, member) == from) {
            job_move(pools, member, to);
        }
    }
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

/* Nor is a cooldown over since a job moves: else who borrows in vain could take
 * for fairness whenever it comes home. */
static void tell_cooldown(struct pools *pools, uint32_t job,
                          const struct sched_cooldown *cooldown)
{
    struct delta delta = delta_of(apply_cooldown_put);

    delta.at_ms = cooldown->since_ms;
    delta.amount = (int64_t)cooldown->news_count;
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
    bool is_leased, has_cooldown;
    struct sched_gang_memory memory;
    struct sched_cooldown cooldown;
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

void job_lend(struct pools *pools, uint32_t job, struct shard *to)
{
    const struct pool_job *row = pool_job_get(pools, job);

    ASSERT(row->node == NONE); /* what runs is not lent */
    if (!row->is_borrowed && to != shard_of(pools, job)) {
        lent_begin(pools, job);
    }
    job_move(pools, job, to);
}

void job_send_home(struct pools *pools, uint32_t job)
{
    const struct pool_job *row = pool_job_get(pools, job);

    if (row->node == NONE && job_home(pools, job) != shard_of(pools, job)) {
        job_move(pools, job, job_home(pools, job));
    }
}

void returning_settle(struct pools *pools, struct shard *shard)
{
    for (size_t i = 0; i < shard->returning.count; i++) {
        uint32_t job = shard->returning.items[i];
        if (job < pools->jobs.count && pools->jobs.items[job].local != NONE &&
            pools->jobs.items[job].node == NONE &&
            shard_of(pools, job) == shard) {
            job_recall_home(pools, job);
            pools->has_moved = true;
        }
    }
    shard->returning.count = 0;
}

/* Whether the shard was told another pool than the one that it waits for. */
static bool is_misnamed(const struct pools *pools, const struct pool_job *row)
{
    const struct shard *shard = pools->shards.items[row->shard];
    struct sched_job record;

    if (!pools->are_names_stale || row->shard != POOLS_DEFAULT) {
        return false;
    }
    sched_job_record(shard->sched, row->local, &record);
    return !str_equal(record.pool, pool_in(pools, shard, row->name));
}

void jobs_rehome(struct pools *pools)
{
    ASSERT(pools->busy_count == 0); /* no job of a plan in the making moves */
    for (uint32_t job = 0; job < pools->jobs.count; job++) {
        const struct pool_job *row = &pools->jobs.items[job];
        if (row->local == NONE) {
            continue;
        }
        struct shard *in = shard_of(pools, job);
        struct shard *to = row->node == NONE ? job_home(pools, job) : in;
        bool is_borrowed = job_is_borrowed(pools, job, to);
        if (to != in || is_misnamed(pools, row)) {
            job_move(pools, job, to);
        } else {
            job_borrowed_set(pools, job, is_borrowed);
        }
    }
    pools->are_names_stale = false;
}
