/* Moves jobs that are lent or return when the plan that decided it takes
 * effect, and not before. */
#include "pools/jobs/jobs.h"
#include "pools/plan/plan.h"

void move_later(struct shard *shard, uint32_t job, uint32_t local,
                enum move_kind kind, uint16_t to)
{
    struct sched_job record;

    /* Who comes and goes is decided when the plan is back. */
    ASSERT(!shard->is_busy && shard->jobs.items[local] == job);
    ASSERT(kind != MOVE_LEND || to != shard->index);
    sched_job_record(shard->sched, local, &record);
    VEC_PUSH(&shard->moves, (struct move){record.id, job, to, kind});
}

bool job_is_borrower(const struct pools *pools, const struct shard *shard,
                     uint32_t job)
{
    const struct pool_job *row = &pools->jobs.items[job];

    return job < pools->jobs.count && row->local != NONE &&
           row->shard == shard->index && row->node == NONE && row->is_borrowed;
}

/* Whether it is still about the job that it was decided about, and that waits
 * where it did. */
static bool move_stands(const struct pools *pools, const struct shard *shard,
                        const struct move *move)
{
    const struct pool_job *row = &pools->jobs.items[move->job];
    struct sched_job record;

    if (move->job >= pools->jobs.count || row->local == NONE ||
        row->shard != shard->index || row->node != NONE) {
        return false;
    }
    sched_job_record(shard->sched, row->local, &record);
    return key128_compare(record.id.v, move->id.v) == 0;
}

void borrowers_settle(struct pools *pools, struct shard *shard)
{
    size_t left = 0;

    for (size_t i = 0; i < shard->borrowers.count; i++) {
        if (job_is_borrower(pools, shard, shard->borrowers.items[i])) {
            shard->borrowers.items[left++] = shard->borrowers.items[i];
        }
    }
    shard->borrowers.count = left;
}

/* A borrower that found no place goes home, and asks another lender next. */
static void return_home(struct pools *pools, uint32_t job)
{
    struct pool_job *row = &pools->jobs.items[job];

    row->try_count = (row->try_count + 1U) & TRIES_MAX;
    job_send_home(pools, job);
}

/* A job goes to a lender, unless its gang runs somewhere by now, or it is still
 * admitted: the plan was cut before it said otherwise, and a leader that knows
 * the log alone would count it at home until it is leased. */
static bool lend_now(struct pools *pools, const struct move *move)
{
    const struct pool_job *row = &pools->jobs.items[move->job];
    struct shard *to = pools->shards.items[move->to];
    struct sched_admission admission;

    if (!to || to->is_closed ||
        pools_job_admission(pools, move->job, &admission) ||
        (row->gang != NONE && pools->gangs.items[row->gang].leased_count > 0)) {
        return false;
    }
    ASSERT(move->to != row->shard); /* a lender is another pool */
    job_lend(pools, move->job, to);
    VEC_PUSH(&to->borrowers, move->job);
    return true;
}

static bool move_now(struct pools *pools, const struct move *move)
{
    switch (move->kind) {
    case MOVE_HOME:
        return_home(pools, move->job);
        return false;
    case MOVE_LEND:
        return lend_now(pools, move);
    case MOVE_RESTART:
        pools->jobs.items[move->job].try_count = 0;
        return false;
    }
    return false;
}

void moves_clear(struct pools *pools, struct shard *shard)
{
    for (size_t i = 0; i < shard->moves.count; i++) {
        pools->jobs.items[shard->moves.items[i].job].is_leaving = false;
    }
    shard->moves.count = 0;
    decisions_clear(pools, shard);
}

/* Lenders have no entry for who left: who comes again is in the list once.
 * A plan in the making knows its borrowers by their indexes in it. */
static void settle_lenders(struct pools *pools, const struct shard *home)
{
    bool lends = false;

    for (size_t i = 0; i < home->moves.count; i++) {
        lends |= home->moves.items[i].kind == MOVE_LEND;
    }
    for (size_t i = 0; lends && i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (shard && !shard->is_busy) {
            borrowers_settle(pools, shard);
        }
    }
}

bool pools_plan_commit(struct pools *pools, uint32_t index)
{
    struct shard *shard =
        index < pools->shards.count ? pools->shards.items[index] : NULL;
    bool has_lent = false;

    if (!pools->is_mapped || !shard || shard->is_busy) {
        return false;
    }
    settle_lenders(pools, shard);
    for (size_t i = 0; i < shard->moves.count; i++) {
        struct move move = shard->moves.items[i];
        if (move_stands(pools, shard, &move)) {
            has_lent |= move_now(pools, &move);
        }
    }
    moves_clear(pools, shard);
    borrowers_settle(pools, shard);
    shard->asked_count = shard->asked_next;
    return has_lent;
}

void pools_plan_forget(struct pools *pools, uint32_t index)
{
    struct shard *shard = pools->shards.items[index];

    sched_plan_forget(shard->sched);
    moves_clear(pools, shard);
}

void borrowers_send_home(struct pools *pools)
{
    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (!shard || shard->is_busy) {
            continue;
        }
        for (size_t k = 0; k < shard->borrowers.count; k++) {
            if (job_is_borrower(pools, shard, shard->borrowers.items[k])) {
                job_send_home(pools, shard->borrowers.items[k]);
            }
        }
        shard->borrowers.count = 0;
    }
}

void pools_borrowers_reset(struct pools *pools)
{
    borrowers_send_home(pools);
    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (shard && !shard->is_busy) {
            moves_clear(pools, shard);
        }
    }
    for (size_t job = 0; job < pools->jobs.count; job++) {
        pools->jobs.items[job].try_count = 0;
    }
}
