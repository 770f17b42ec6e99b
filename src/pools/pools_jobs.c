/* Jobs: where each is, and what its shard is told of it. */
#include <string.h>

#include "base/hash.h"
#include "pools/router.h"

/* The tables. */

static struct place *place_of(const struct pools *pools, uint32_t job)
{
    ASSERT(job < pools->places.count);
    struct place *place = &pools->places.items[job];

    ASSERT(place->local != NONE);
    return place;
}

static struct place *place_make(struct pools *pools, uint32_t job)
{
    while (pools->places.count <= job) {
        VEC_PUSH(&pools->places, (struct place){.local = NONE});
    }
    ASSERT(pools->places.items[job].local == NONE);
    return &pools->places.items[job];
}

static void local_take(struct pools *pools, uint32_t job, struct shard *shard)
{
    struct place *place = &pools->places.items[job];

    if (shard->spare_jobs.count) {
        place->local = shard->spare_jobs.items[--shard->spare_jobs.count];
    } else {
        place->local = (uint32_t)shard->jobs.count;
        VEC_PUSH(&shard->jobs, NONE);
    }
    shard->jobs.items[place->local] = job;
    place->shard = shard->index;
}

/* Its number there may be another's as soon as the shard knows. */
static void local_give(struct pools *pools, uint32_t job)
{
    struct place *place = &pools->places.items[job];
    struct shard *shard = shard_of(pools, job);

    shard->jobs.items[place->local] = NONE;
    if (shard->is_busy) {
        VEC_PUSH(&shard->limbo, place->local);
    } else {
        VEC_PUSH(&shard->spare_jobs, place->local);
    }
}

static void count_waiting(struct pools *pools, const struct place *place,
                          int sign)
{
    struct shard *shard = pools->shards.items[place->shard];

    if (place->is_foreign) {
        shard->guest_count += (uint32_t)sign;
    } else {
        shard->waiting_count += (uint32_t)sign;
    }
}

/* Gangs. */

static struct key128 gang_key(uint32_t queue, struct str id)
{
    return (struct key128){
        hash_bytes(id.p, id.byte_count, queue),
        hash_bytes(id.p, id.byte_count, hash_mix((uint64_t)queue << 32 | 1)),
    };
}

static uint32_t gang_join(struct pools *pools, const struct sched_job *record)
{
    if (record->gang_id.byte_count == 0 || record->gang_cardinality < 2) {
        return NONE;
    }
    struct key128 key = gang_key(record->queue, record->gang_id);
    uint32_t at = map_find(&pools->gang_map, key);
    if (at == MAP_NONE) {
        if (pools->spare_gangs.count) {
            at = pools->spare_gangs.items[--pools->spare_gangs.count];
        } else {
            at = (uint32_t)pools->gangs.count;
            VEC_PUSH(&pools->gangs, (struct mates){0});
        }
        pools->gangs.items[at] = (struct mates){.key = key};
        map_put(&pools->gang_map, key, at);
    }
    pools->gangs.items[at].count++;
    return at;
}

static void gang_leave(struct pools *pools, uint32_t at)
{
    if (at != NONE && --pools->gangs.items[at].count == 0) {
        map_remove(&pools->gang_map, pools->gangs.items[at].key);
        VEC_PUSH(&pools->spare_gangs, at);
    }
}

/* Where it belongs. */

struct shard *job_home(const struct pools *pools, uint32_t job)
{
    const struct place *place = place_of(pools, job);

    if (place->gang != NONE &&
        pools->gangs.items[place->gang].leased_count > 0) {
        struct shard *anchor =
            pools->shards.items[pools->gangs.items[place->gang].anchor];
        if (anchor && !anchor->is_closed) {
            return anchor;
        }
    }
    return home_of_name(pools, place->name);
}

bool job_is_foreign(const struct pools *pools, uint32_t job,
                    const struct shard *in)
{
    return home_of_name(pools, place_of(pools, job)->name) != in;
}

/* Telling shards. */

static void tell(struct pools *pools, uint32_t job, struct delta *delta)
{
    delta->job = place_of(pools, job)->local;
    deliver(pools, shard_of(pools, job), delta);
}

static struct str held_str(struct arena *arena, struct str s)
{
    return s.byte_count ? arena_str(arena, s) : s;
}

static const void *copy_job(const void *from, struct arena *arena)
{
    struct sched_job *record = arena_alloc(arena, sizeof(*record));

    *record = *(const struct sched_job *)from;
    record->pool = held_str(arena, record->pool);
    record->gang_id = held_str(arena, record->gang_id);
    record->gang_uniformity = held_str(arena, record->gang_uniformity);
    record->application = held_str(arena, record->application);
    record->gang_terms = held_str(arena, record->gang_terms);
    return record;
}

static void apply_add(struct pools *pools, struct shard *shard,
                      const struct delta *delta)
{
    struct sched_job record = *(const struct sched_job *)delta->record;

    record.class_index = shard_class(pools, shard, delta->class_index);
    sched_job_add(shard->sched, delta->job, &record);
}

/* A job that has a place, and no number in a shard, goes to one. */
static void enter(struct pools *pools, uint32_t job, struct shard *shard,
                  const struct sched_job *record)
{
    struct place *place = &pools->places.items[job];
    struct sched_job told = *record;
    struct delta delta = delta_of(apply_add);

    local_take(pools, job, shard);
    place->is_foreign = job_is_foreign(pools, job, shard);
    told.pool = pool_in(pools, shard, place->name);
    told.is_foreign = place->is_foreign;
    delta.class_index = record->class_index;
    delta.record = &told;
    delta.copy = copy_job;
    tell(pools, job, &delta);
}

void pools_job_add(struct pools *pools, uint32_t job,
                   const struct sched_job *record)
{
    if (!pools->is_mapped && record->pool.byte_count &&
        !is_configured(pools, record->pool)) {
        router_begin(pools); /* it is Default's, until there is such a pool */
    }
    if (!pools->is_mapped) {
        sched_job_add(first_of(pools), job, record);
        return;
    }
    struct place *place = place_make(pools, job);
    *place = (struct place){
        .local = 0,
        .node = NONE,
        .name = name_of_pool(pools, record->pool),
        .gang = gang_join(pools, record),
        .queue = record->queue,
    };
    enter(pools, job, job_home(pools, job), record);
    count_waiting(pools, place, 1);
}

static void apply_remove(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)pools;
    sched_job_remove(shard->sched, delta->job);
}

/* Whether the last plan of a shard gave a job a place: that may be in the log
 * by now, and is told next. */
static bool is_being_leased(const struct shard *shard, uint32_t job)
{
    for (size_t i = 0; i < shard->decisions.count; i++) {
        if (shard->decisions.items[i].job == job &&
            shard->decisions.items[i].action == SCHED_LEASE) {
            return true;
        }
    }
    return false;
}

/* What waits of a gang that runs nowhere any more goes home; what may have a
 * place here is a guest until the next plan. */
static void gang_recall(struct pools *pools, struct shard *shard, uint32_t gang)
{
    if (shard->is_busy) {
        VEC_PUSH(&shard->stray_gangs, gang);
        return;
    }
    for (size_t i = 0; i < shard->jobs.count; i++) {
        uint32_t job = shard->jobs.items[i];
        if (job == NONE || pools->places.items[job].gang != gang ||
            pools->places.items[job].node != NONE) {
            continue;
        }
        if (is_being_leased(shard, job)) {
            VEC_PUSH(&shard->guests, job);
        } else {
            job_send_home(pools, job);
        }
    }
}

/* A lease is gone. */
static void unlease(struct pools *pools, struct place *place)
{
    struct mates *mates =
        place->gang == NONE ? NULL : &pools->gangs.items[place->gang];

    post_use(pools, place->node, -1);
    place->node = NONE;
    place->is_aged = false;
    if (mates) {
        mates->leased_count--;
    }
}

/* Whether what waits of a gang is away from home for nothing. */
static bool is_stranded(const struct pools *pools, const struct place *place)
{
    const struct mates *mates =
        place->gang == NONE ? NULL : &pools->gangs.items[place->gang];

    return mates && place->is_foreign && mates->leased_count == 0 &&
           mates->count > 0;
}

void pools_job_remove(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_remove);

    if (!pools->is_mapped) {
        sched_job_remove(first_of(pools), job);
        return;
    }
    struct place *place = place_of(pools, job);
    struct shard *shard = shard_of(pools, job);
    bool was_leased = place->node != NONE;
    tell(pools, job, &delta);
    local_give(pools, job);
    if (was_leased) {
        unlease(pools, place);
    } else {
        count_waiting(pools, place, -1);
    }
    uint32_t gang = place->gang;
    gang_leave(pools, gang);
    bool strands = was_leased && is_stranded(pools, place);
    *place = (struct place){.local = NONE};
    if (strands) {
        gang_recall(pools, shard, gang);
    }
}

static void apply_lease(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    uint32_t node = shard_node(pools, shard, delta->node);

    sched_job_lease(shard->sched, delta->job, node, delta->priority,
                    delta->at_ms, delta->flag);
}

static void apply_avoid(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    sched_job_avoid(shard->sched, delta->job,
                    shard_node(pools, shard, delta->node));
}

static void apply_age(struct pools *pools, struct shard *shard,
                      const struct delta *delta)
{
    (void)pools;
    sched_job_age_from(shard->sched, delta->job, delta->at_ms);
}

void job_move(struct pools *pools, uint32_t job, struct shard *to)
{
    struct place *place = place_of(pools, job);
    struct shard *from = shard_of(pools, job);
    auto_arena arena = {0};
    struct sched_job record;
    struct sched_run run;
    uint32_t avoid_count;

    ASSERT(!from->is_busy);
    sched_job_record(from->sched, place->local, &record);
    bool is_leased = sched_job_run(from->sched, place->local, &run);
    record.class_index = class_back(from, record.class_index);
    const struct sched_job *held = copy_job(&record, &arena);
    const uint32_t *nodes =
        sched_job_avoided(from->sched, place->local, &avoid_count);
    uint32_t *avoided =
        arena_alloc_array(&arena, avoid_count, sizeof(*avoided));
    for (uint32_t i = 0; i < avoid_count; i++) {
        avoided[i] = node_back(from, nodes[i]);
    }
    if (!is_leased) {
        count_waiting(pools, place, -1);
    }
    sched_job_remove(from->sched, place->local);
    local_give(pools, job);
    enter(pools, job, to, held);
    for (uint32_t i = 0; i < avoid_count; i++) {
        pools_job_avoid(pools, job, avoided[i]);
    }
    if (!is_leased) {
        count_waiting(pools, place, 1);
        return;
    }
    struct delta lease = delta_of(apply_lease);
    lease.node = place->node;
    if (place->gang != NONE) {
        pools->gangs.items[place->gang].anchor = to->index;
    }
    lease.priority = run.priority;
    lease.at_ms = run.leased_ms;
    tell(pools, job, &lease);
    if (run.age_from_ms != INT64_MAX) {
        struct delta age = delta_of(apply_age);
        age.at_ms = run.age_from_ms;
        tell(pools, job, &age);
    }
}

void job_send_home(struct pools *pools, uint32_t job)
{
    const struct place *place = place_of(pools, job);

    if (place->node == NONE && job_home(pools, job) != shard_of(pools, job)) {
        job_move(pools, job, job_home(pools, job));
    }
}

void strays_settle(struct pools *pools, struct shard *shard)
{
    for (size_t i = 0; i < shard->strays.count; i++) {
        uint32_t job = shard->strays.items[i];
        if (job < pools->places.count &&
            pools->places.items[job].local != NONE &&
            shard_of(pools, job) == shard) {
            job_send_home(pools, job);
            pools->has_moved = true;
        }
    }
    shard->strays.count = 0;
    for (size_t i = 0; i < shard->stray_gangs.count; i++) {
        gang_recall(pools, shard, shard->stray_gangs.items[i]);
    }
    shard->stray_gangs.count = 0;
}

static void apply_start(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    (void)pools;
    sched_start_note(shard->sched, delta->other, delta->at_ms);
}

/* Limits on all starts, and on a queue's, are over all pools. */
static void count_start(struct pools *pools, const struct shard *in,
                        uint32_t queue, int64_t now_ms)
{
    struct delta delta = delta_of(apply_start);

    if (pools->policy->rate_global.rate_milli_per_s <= 0 &&
        pools->policy->rate_per_queue.rate_milli_per_s <= 0) {
        return;
    }
    delta.other = queue;
    delta.at_ms = now_ms;
    for (size_t i = 0; i < pools->shards.count; i++) {
        struct shard *shard = pools->shards.items[i];
        if (shard && shard != in) {
            deliver(pools, shard, &delta);
        }
    }
}

void pools_job_lease(struct pools *pools, uint32_t job, uint32_t node,
                     int32_t priority, int64_t now_ms, bool is_counted)
{
    struct delta delta = delta_of(apply_lease);

    if (!pools->is_mapped) {
        sched_job_lease(first_of(pools), job, node, priority, now_ms,
                        is_counted);
        return;
    }
    struct shard *shard = pools->shards.items[pools->posts.items[node].shard];
    if (shard_of(pools, job) != shard) {
        job_move(pools, job, shard);
    }
    struct place *place = place_of(pools, job);
    count_waiting(pools, place, -1);
    delta.node = node;
    delta.priority = priority;
    delta.at_ms = now_ms;
    delta.flag = is_counted;
    tell(pools, job, &delta);
    place->node = node;
    post_use(pools, node, 1);
    if (place->gang != NONE) {
        pools->gangs.items[place->gang].leased_count++;
        pools->gangs.items[place->gang].anchor = shard->index;
    }
    if (is_counted) {
        count_start(pools, shard, place->queue, now_ms);
    }
}

static void apply_repack(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)sched_job_repack(shard->sched, delta->job,
                           shard_node(pools, shard, delta->node));
}

void pools_job_repack(struct pools *pools, uint32_t job, uint32_t node)
{
    struct delta delta = delta_of(apply_repack);

    if (!pools->is_mapped) {
        (void)sched_job_repack(first_of(pools), job, node);
        return;
    }
    struct place *place = place_of(pools, job);
    if (pools->posts.items[node].shard != place->shard || place->node == node) {
        return;
    }
    delta.node = node;
    tell(pools, job, &delta);
    post_use(pools, node, 1);
    post_use(pools, place->node, -1);
    place->node = node;
}

static void apply_requeue(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    uint32_t node = delta->node == NONE ? SCHED_NONE
                                        : shard_node(pools, shard, delta->node);

    sched_job_requeue(shard->sched, delta->job, node);
}

void pools_job_requeue(struct pools *pools, uint32_t job, uint32_t avoid_node)
{
    struct delta delta = delta_of(apply_requeue);

    if (!pools->is_mapped) {
        sched_job_requeue(first_of(pools), job, avoid_node);
        return;
    }
    struct place *place = place_of(pools, job);
    struct shard *shard = shard_of(pools, job);
    delta.node = avoid_node;
    tell(pools, job, &delta);
    unlease(pools, place);
    count_waiting(pools, place, 1);
    if (is_stranded(pools, place)) {
        gang_recall(pools, shard, place->gang);
    } else if (shard->is_busy) {
        VEC_PUSH(&shard->strays, job);
    } else {
        job_send_home(pools, job);
    }
}

void pools_job_avoid(struct pools *pools, uint32_t job, uint32_t node)
{
    struct delta delta = delta_of(apply_avoid);

    if (!pools->is_mapped) {
        sched_job_avoid(first_of(pools), job, node);
        return;
    }
    delta.node = node;
    tell(pools, job, &delta);
}

void pools_job_age_from(struct pools *pools, uint32_t job, int64_t at_ms)
{
    struct delta delta = delta_of(apply_age);

    if (!pools->is_mapped) {
        sched_job_age_from(first_of(pools), job, at_ms);
        return;
    }
    delta.at_ms = at_ms;
    tell(pools, job, &delta);
    place_of(pools, job)->is_aged = true;
}

static void apply_started(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    (void)pools;
    (void)sched_job_started(shard->sched, delta->job);
}

bool pools_job_started(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_started);

    if (!pools->is_mapped) {
        return sched_job_started(first_of(pools), job);
    }
    if (!shard_of(pools, job)->is_busy) {
        return sched_job_started(shard_of(pools, job)->sched,
                                 place_of(pools, job)->local);
    }
    tell(pools, job, &delta);
    return true; /* it may be so */
}

int64_t pools_job_age_of(const struct pools *pools, uint32_t job)
{
    if (!pools->is_mapped) {
        return sched_job_age_of(first_of(pools), job);
    }
    const struct place *place = place_of(pools, job);
    const struct shard *shard = shard_of(pools, job);
    if (!shard->is_busy) {
        return sched_job_age_of(shard->sched, place->local);
    }
    return place->is_aged ? INT64_MAX : pools->now_ms;
}

static void apply_yield(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    (void)pools;
    sched_job_yield(shard->sched, delta->job, delta->other);
}

void pools_job_yield(struct pools *pools, uint32_t job, uint32_t for_job)
{
    struct delta delta = delta_of(apply_yield);

    if (!pools->is_mapped) {
        sched_job_yield(first_of(pools), job, for_job);
    } else if (shard_of(pools, job) == shard_of(pools, for_job)) {
        delta.other = place_of(pools, for_job)->local;
        tell(pools, job, &delta);
    }
}

static void apply_admit(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    (void)pools;
    sched_job_admit(shard->sched, delta->job, delta->text, delta->at_ms,
                    delta->amount);
}

void pools_job_admit(struct pools *pools, uint32_t job, struct str pool,
                     int64_t start_ms, int64_t charge)
{
    struct delta delta = delta_of(apply_admit);

    if (!pools->is_mapped) {
        sched_job_admit(first_of(pools), job, pool, start_ms, charge);
        return;
    }
    delta.text = pool;
    delta.at_ms = start_ms;
    delta.amount = charge;
    tell(pools, job, &delta);
}

static void apply_dismiss(struct pools *pools, struct shard *shard,
                          const struct delta *delta)
{
    (void)pools;
    sched_job_dismiss(shard->sched, delta->job);
}

void pools_job_dismiss(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_dismiss);

    if (!pools->is_mapped) {
        sched_job_dismiss(first_of(pools), job);
        return;
    }
    tell(pools, job, &delta);
}

static void apply_charge(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)pools;
    sched_job_charge(shard->sched, delta->job, delta->text, delta->amount);
}

void pools_job_charge(struct pools *pools, uint32_t job, struct str pool,
                      int64_t charge)
{
    struct delta delta = delta_of(apply_charge);

    if (!pools->is_mapped) {
        sched_job_charge(first_of(pools), job, pool, charge);
        return;
    }
    delta.text = pool;
    delta.amount = charge;
    tell(pools, job, &delta);
}

static void apply_reprioritise(struct pools *pools, struct shard *shard,
                               const struct delta *delta)
{
    (void)pools;
    sched_job_reprioritise(shard->sched, delta->job, delta->other);
}

void pools_job_reprioritise(struct pools *pools, uint32_t job,
                            uint32_t priority)
{
    struct delta delta = delta_of(apply_reprioritise);

    if (!pools->is_mapped) {
        sched_job_reprioritise(first_of(pools), job, priority);
        return;
    }
    delta.other = priority;
    tell(pools, job, &delta);
}

static void apply_application(struct pools *pools, struct shard *shard,
                              const struct delta *delta)
{
    (void)pools;
    sched_job_application(shard->sched, delta->job, delta->text, delta->flag);
}

void pools_job_application(struct pools *pools, uint32_t job, struct str id,
                           bool has_stateaware_off)
{
    struct delta delta = delta_of(apply_application);

    if (!pools->is_mapped) {
        sched_job_application(first_of(pools), job, id, has_stateaware_off);
        return;
    }
    delta.text = id;
    delta.flag = has_stateaware_off;
    tell(pools, job, &delta);
}

static void apply_ended(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    struct sched_outcome outcome = {
        .pool = delta->text,
        .is_failed = delta->flag,
        .is_exit = delta->priority != 0,
        .job_set = (uint64_t)delta->amount,
    };

    (void)pools;
    sched_run_ended(shard->sched, delta->job, &outcome);
}

void pools_run_ended(struct pools *pools, uint32_t job,
                     const struct sched_outcome *outcome)
{
    struct delta delta = delta_of(apply_ended);

    if (!pools->is_mapped) {
        sched_run_ended(first_of(pools), job, outcome);
        return;
    }
    delta.text = outcome->pool;
    delta.flag = outcome->is_failed;
    delta.priority = outcome->is_exit;
    delta.amount = (int64_t)outcome->job_set;
    tell(pools, job, &delta);
}

static void apply_finished(struct pools *pools, struct shard *shard,
                           const struct delta *delta)
{
    (void)pools;
    sched_job_finished(shard->sched, delta->job);
}

void pools_job_finished(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_finished);

    if (!pools->is_mapped) {
        sched_job_finished(first_of(pools), job);
        return;
    }
    tell(pools, job, &delta);
}

static void apply_succeeded(struct pools *pools, struct shard *shard,
                            const struct delta *delta)
{
    (void)pools;
    sched_job_succeeded(shard->sched, delta->job);
}

void pools_job_succeeded(struct pools *pools, uint32_t job)
{
    struct delta delta = delta_of(apply_succeeded);

    if (!pools->is_mapped) {
        sched_job_succeeded(first_of(pools), job);
        return;
    }
    tell(pools, job, &delta);
}

uint32_t pools_job_node(const struct pools *pools, uint32_t job)
{
    if (!pools->is_mapped) {
        return sched_job_node(first_of(pools), job);
    }
    return job < pools->places.count && pools->places.items[job].local != NONE
               ? pools->places.items[job].node
               : SCHED_NONE;
}

/* Pools change. */

/* Whether the shard was told another pool than the one that it waits for. */
static bool is_misnamed(const struct pools *pools, const struct place *place)
{
    const struct shard *shard = pools->shards.items[place->shard];
    struct sched_job record;

    if (!pools->are_names_stale || place->shard != POOLS_DEFAULT) {
        return false;
    }
    sched_job_record(shard->sched, place->local, &record);
    return !str_equal(record.pool, pool_in(pools, shard, place->name));
}

void jobs_rehome(struct pools *pools)
{
    for (uint32_t job = 0; job < pools->places.count; job++) {
        const struct place *place = &pools->places.items[job];
        if (place->local == NONE) {
            continue;
        }
        struct shard *in = shard_of(pools, job);
        struct shard *to = place->node == NONE ? job_home(pools, job) : in;
        if (to != in || job_is_foreign(pools, job, to) != place->is_foreign ||
            is_misnamed(pools, place)) {
            job_move(pools, job, to);
        }
    }
    pools->are_names_stale = false;
}

void jobs_adopt(struct pools *pools)
{
    struct shard *shard = pools->shards.items[POOLS_DEFAULT];
    uint32_t end = sched_jobs_end(shard->sched);

    for (uint32_t job = 0; job < end; job++) {
        struct sched_job record;
        struct sched_run run;
        if (!sched_job_is_known(shard->sched, job)) {
            VEC_PUSH(&shard->jobs, NONE);
            VEC_PUSH(&shard->spare_jobs, job);
            VEC_PUSH(&pools->places, (struct place){.local = NONE});
            continue;
        }
        sched_job_record(shard->sched, job, &record);
        bool is_leased = sched_job_run(shard->sched, job, &run);
        struct place place = {
            .local = job,
            .node = is_leased ? run.node : NONE,
            .name = name_of_pool(pools, record.pool),
            .gang = gang_join(pools, &record),
            .queue = record.queue,
            .is_aged = is_leased && run.age_from_ms != INT64_MAX,
        };
        VEC_PUSH(&shard->jobs, job);
        VEC_PUSH(&pools->places, place);
        if (is_leased) {
            post_use(pools, run.node, 1);
            if (place.gang != NONE) {
                pools->gangs.items[place.gang].leased_count++;
            }
        } else {
            count_waiting(pools, &place, 1);
        }
    }
}

void places_fini(struct pools *pools)
{
    VEC_FREE(&pools->places);
    VEC_FREE(&pools->gangs);
    VEC_FREE(&pools->spare_gangs);
    map_fini(&pools->gang_map);
}
