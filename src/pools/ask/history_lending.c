/* What a checkpoint has of lending: who is lent, and what was tried for it. */
#include <stdlib.h>

#include "pools/ask/history.h"
#include "pools/jobs/jobs.h"
#include "pools/plan/plan.h"

static void pack_id(const struct pools *pools, uint32_t job, struct strbuf *buf)
{
    struct sched_job record;

    sched_job_record(shard_of(pools, job)->sched, pools->jobs.items[job].local,
                     &record);
    pack_key128(buf, record.id.v);
}

static void pack_borrowers(const struct pools *pools, const struct shard *shard,
                           struct strbuf *buf)
{
    uint32_t count = 0;

    for (size_t i = 0; i < shard->borrowers.count; i++) {
        count += job_is_borrower(pools, shard, shard->borrowers.items[i]);
    }
    ASSERT(count <= shard->borrowers.count);
    pack_u64(buf, shard->asked_count);
    pack_u64(buf, count);
    for (size_t i = 0; i < shard->borrowers.count; i++) {
        uint32_t job = shard->borrowers.items[i];
        if (job_is_borrower(pools, shard, job)) {
            pack_id(pools, job, buf);
        }
    }
}

/* Something about a job, in order of ids: where others have been, and where
 * those of gangs are that wait while others of them run. */
struct noted {
    struct job_id id;
    uint64_t what;
};

static int compare_noted(const void *a, const void *b)
{
    const struct noted *x = a;
    const struct noted *y = b;

    return key128_compare(x->id.v, y->id.v);
}

/* What is to be noted of a job that is there; false: nothing. */
typedef bool note_fn(const struct pools *pools, uint32_t job,
                     uint64_t *ret_what);

static bool note_tries(const struct pools *pools, uint32_t job,
                       uint64_t *ret_what)
{
    *ret_what = pools->jobs.items[job].try_count;
    return *ret_what > 0;
}

/* The number of a shard in the order in which they are packed. */
static uint32_t position_of(const struct pools *pools, uint32_t shard)
{
    for (uint32_t i = 0; i < pools->objects.count; i++) {
        if (pools->objects.items[i] == shard) {
            return i + 1;
        }
    }
    ASSERT(shard == POOLS_DEFAULT); /* each other is an object's */
    return 0;
}

static const struct pool_gang *running_gang_of(const struct pools *pools,
                                               uint32_t job)
{
    uint32_t gang = pools->jobs.items[job].gang;

    return gang == NONE || pools->gangs.items[gang].leased_count == 0
               ? NULL
               : &pools->gangs.items[gang];
}

static bool note_member(const struct pools *pools, uint32_t job,
                        uint64_t *ret_what)
{
    const struct pool_job *row = &pools->jobs.items[job];

    if (row->node != NONE || !running_gang_of(pools, job)) {
        return false;
    }
    ASSERT(row->gang != NONE && row->shard < pools->shards.count);
    *ret_what = position_of(pools, row->shard);
    return true;
}

/* Of a gang that runs in several shards: which one it belongs to. */
static bool note_anchor(const struct pools *pools, uint32_t job,
                        uint64_t *ret_what)
{
    const struct pool_job *row = &pools->jobs.items[job];
    const struct pool_gang *gang_row = running_gang_of(pools, job);

    if (row->node == NONE || !gang_row || gang_row->anchor == row->shard) {
        return false;
    }
    ASSERT(gang_row->anchor < pools->shards.count);
    *ret_what = position_of(pools, gang_row->anchor);
    return true;
}

static void pack_noted(const struct pools *pools, note_fn *note,
                       struct strbuf *buf)
{
    VEC(struct noted) list = {0};
    uint64_t what;

    for (uint32_t job = 0; job < pools->jobs.count; job++) {
        struct sched_job record;
        if (pools->jobs.items[job].local == NONE || !note(pools, job, &what)) {
            continue;
        }
        sched_job_record(shard_of(pools, job)->sched,
                         pools->jobs.items[job].local, &record);
        VEC_PUSH(&list, (struct noted){record.id, what});
    }
    if (list.count) {
        qsort(list.items, list.count, sizeof(*list.items), compare_noted);
    }
    pack_u64(buf, list.count);
    for (size_t i = 0; i < list.count; i++) {
        pack_key128(buf, list.items[i].id.v);
        pack_u64(buf, list.items[i].what);
    }
    VEC_FREE(&list);
}

static void map_jobs(const struct pools *pools, struct map *by_id)
{
    for (uint32_t job = 0; job < pools->jobs.count; job++) {
        struct sched_job record;
        if (pools->jobs.items[job].local != NONE) {
            sched_job_record(shard_of(pools, job)->sched,
                             pools->jobs.items[job].local, &record);
            map_put(by_id, record.id.v, job);
        }
    }
}

/* A job by its id; the map is made when it is first asked for. */
static uint32_t unpack_job(const struct pools *pools,
                           struct pack_reader *reader, struct map *by_id)
{
    struct key128 key = unpack_key128(reader);

    if (by_id->count == 0) {
        map_jobs(pools, by_id);
    }
    uint32_t job = map_find(by_id, key);
    reader->is_bad |= job == MAP_NONE;
    return job;
}

static void unpack_borrowers(struct pools *pools, struct shard *shard,
                             struct pack_reader *reader, struct map *by_id)
{
    shard->asked_count = unpack_count(reader, SCHED_JOBS_MAX);
    shard->asked_next = shard->asked_count;
    uint32_t count = unpack_count(reader, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        uint32_t job = unpack_job(pools, reader, by_id);
        if (!reader->is_bad && pools->jobs.items[job].node == NONE) {
            job_lend(pools, job, shard);
            VEC_PUSH(&shard->borrowers, job);
        }
    }
}

/* What was noted of a job, which is there. */
typedef void take_note_fn(struct pools *pools, uint32_t job, uint64_t what);

static void unpack_noted(struct pools *pools, struct pack_reader *reader,
                         struct map *by_id, take_note_fn *take)
{
    uint32_t count = unpack_count(reader, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        uint32_t job = unpack_job(pools, reader, by_id);
        uint64_t what = unpack_u64(reader);
        if (!reader->is_bad) {
            take(pools, job, what);
        }
    }
}

static void take_tries(struct pools *pools, uint32_t job, uint64_t what)
{
    pools->jobs.items[job].try_count = what & TRIES_MAX;
}

struct shard *history_shard(const struct pools *pools, size_t at)
{
    return pools->shards
        .items[at == 0 ? POOLS_DEFAULT : pools->objects.items[at - 1]];
}

static void take_member(struct pools *pools, uint32_t job, uint64_t what)
{
    if (what <= pools->objects.count && pools->jobs.items[job].node == NONE &&
        history_shard(pools, what) != shard_of(pools, job)) {
        job_move(pools, job, history_shard(pools, what));
    }
}

static void take_anchor(struct pools *pools, uint32_t job, uint64_t what)
{
    uint32_t gang = pools->jobs.items[job].gang;

    if (what <= pools->objects.count && gang != NONE) {
        pools->gangs.items[gang].anchor = history_shard(pools, what)->index;
        gang_recall(pools, gang); /* who is a borrower follows from it */
    }
}

void history_pack_lending(const struct pools *pools, struct strbuf *buf)
{
    for (size_t i = 0; i <= pools->objects.count; i++) {
        pack_borrowers(pools, history_shard(pools, i), buf);
    }
    pack_noted(pools, note_tries, buf);
    pack_noted(pools, note_member, buf);
    pack_noted(pools, note_anchor, buf);
}

void history_unpack_lending(struct pools *pools, struct pack_reader *reader)
{
    struct map by_id = {0};

    for (size_t i = 0; i <= pools->objects.count && !reader->is_bad; i++) {
        unpack_borrowers(pools, history_shard(pools, i), reader, &by_id);
    }
    unpack_noted(pools, reader, &by_id, take_tries);
    unpack_noted(pools, reader, &by_id, take_member);
    unpack_noted(pools, reader, &by_id, take_anchor);
    map_fini(&by_id);
}
