/* Borrowers on their way: what a plan decides of who comes and goes is done
 * when the plan stands, and not before. */
#include "pools/jobs/jobs.h"
#include "pools/plan/plan.h"

void move_later(struct shard *shard, uint32_t job, uint32_t local,
                enum move_kind kind, uint16_t to)
{
    struct sched_job record;

    sched_job_record(shard->sched, local, &record);
    VEC_PUSH(&shard->moves, (struct move){record.id, job, to, kind});
}

bool job_is_guest(const struct pools *pools, const struct shard *shard,
                  uint32_t job)
{
    const struct place *place = &pools->places.items[job];

    return job < pools->places.count && place->local != NONE &&
           place->shard == shard->index && place->node == NONE &&
           place->is_borrowed;
}

/* Whether it is still about the job that it was decided about, and that waits
 * where it did. */
static bool move_stands(const struct pools *pools, const struct shard *shard,
                        const struct move *move)
{
    const struct place *place = &pools->places.items[move->job];
    struct sched_job record;

    if (move->job >= pools->places.count || place->local == NONE ||
        place->shard != shard->index || place->node != NONE) {
        return false;
    }
    sched_job_record(shard->sched, place->local, &record);
    return key128_compare(record.id.v, move->id.v) == 0;
}

void guests_settle(struct pools *pools, struct shard *shard)
{
    size_t left = 0;

    for (size_t i = 0; i < shard->guests.count; i++) {
        if (job_is_guest(pools, shard, shard->guests.items[i])) {
            shard->guests.items[left++] = shard->guests.items[i];
        }
    }
    shard->guests.count = left;
}

/* A borrower that found no place goes home, and asks another lender next. */
static void come_back(struct pools *pools, uint32_t job)
{
    struct place *place = &pools->places.items[job];

    place->try_count = (place->try_count + 1U) & TRIES_MAX;
    job_send_home(pools, job);
}

/* A job goes to a lender, unless its gang runs somewhere by now, or it is still
 * admitted: the plan was cut before it said otherwise, and a leader that knows
 * the log alone would count it at home until it is leased. */
static bool go_out(struct pools *pools, const struct move *move)
{
    const struct place *place = &pools->places.items[move->job];
    struct shard *to = pools->shards.items[move->to];
    struct sched_admission admission;

    if (!to || to->is_closed ||
        pools_job_admission(pools, move->job, &admission) ||
        (place->gang != NONE &&
         pools->gangs.items[place->gang].leased_count > 0)) {
        return false;
    }
    job_lend(pools, move->job, to);
    VEC_PUSH(&to->guests, move->job);
    return true;
}

static bool move_now(struct pools *pools, const struct move *move)
{
    switch (move->kind) {
    case MOVE_HOME:
        come_back(pools, move->job);
        return false;
    case MOVE_LEND:
        return go_out(pools, move);
    case MOVE_RESTART:
        pools->places.items[move->job].try_count = 0;
        return false;
    }
    return false;
}

void moves_clear(struct pools *pools, struct shard *shard)
{
    for (size_t i = 0; i < shard->moves.count; i++) {
        pools->places.items[shard->moves.items[i].job].is_going = false;
    }
    shard->moves.count = 0;
    decisions_clear(pools, shard);
}

/* Lenders have no entry for who left: who comes again is in the list once.
 * What is being planned knows its guests by their places in it. */
static void settle_lenders(struct pools *pools, const struct shard *home)
{
    bool lends = false;

    for (size_t i = 0; i < home->moves.count; i++) {
        lends |= home->moves.items[i].kind == MOVE_LEND;
    }
    for (size_t i = 0; lends && i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (shard && !shard->is_busy) {
            guests_settle(pools, shard);
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
    guests_settle(pools, shard);
    shard->asked_count = shard->asked_next;
    return has_lent;
}

void pools_plan_forget(struct pools *pools, uint32_t index)
{
    struct shard *shard = pools->shards.items[index];

    sched_plan_forget(shard->sched);
    moves_clear(pools, shard);
}

void guests_send_home(struct pools *pools)
{
    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (!shard || shard->is_busy) {
            continue;
        }
        for (size_t k = 0; k < shard->guests.count; k++) {
            if (job_is_guest(pools, shard, shard->guests.items[k])) {
                job_send_home(pools, shard->guests.items[k]);
            }
        }
        shard->guests.count = 0;
    }
}

void pools_guests_reset(struct pools *pools)
{
    guests_send_home(pools);
    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (shard && !shard->is_busy) {
            moves_clear(pools, shard);
        }
    }
    for (size_t job = 0; job < pools->places.count; job++) {
        pools->places.items[job].try_count = 0;
    }
}
