#include "sched/evict/cooldown.h"

#include <stdlib.h>
#include <string.h>

#include "base/time_add.h"
#include "sched/order/round.h"
#include "sched/state/sub_groups.h"

static struct key128 key_of(uint32_t item, bool is_gang)
{
    return (struct key128){is_gang, item};
}

/* The truce of a job, or of its gang, or NULL. */
static struct truce *find(const struct sched *sched, uint32_t job)
{
    uint32_t gang = sched->jobs.items[job].gang;

    if (sched->truce_map.count == 0) {
        return NULL;
    }
    uint32_t serial = map_find(&sched->truce_map,
                               key_of(gang == NONE ? job : gang, gang != NONE));
    return serial == MAP_NONE
               ? NULL
               : &sched->truces.items[serial - sched->truce_serial];
}

static int64_t end_of(const struct sched *sched, const struct truce *truce)
{
    int64_t truce_ms = sched->policy->truce_ms;

    return moment_after(truce->since_ms, truce_ms);
}

static bool is_over(const struct sched *sched, const struct truce *truce,
                    int64_t now_ms)
{
    return truce->news_count != sched->news_count &&
           now_ms >= end_of(sched, truce);
}

bool truce_holds(const struct sched *sched, uint32_t job, int64_t now_ms,
                 int64_t *ret_until_ms)
{
    const struct truce *truce = find(sched, job);

    bool is_lifted = truce && sched->truce_lifted != NONE &&
                     find(sched, sched->truce_lifted) == truce;

    if (!truce || is_lifted || is_over(sched, truce, now_ms)) {
        return false;
    }
    *ret_until_ms = truce->news_count != sched->news_count
                        ? end_of(sched, truce)
                        : INT64_MAX;
    return true;
}

bool truce_binds(struct round *round, uint32_t job)
{
    int64_t until_ms;

    if (!truce_holds(round->sched, job, round->now_ms, &until_ms)) {
        return false;
    }
    round_wake_by(round, until_ms);
    return true;
}

/* Whether a victim goes because its queue has more than its share, and not
 * because it is below the level at which the other starts. */
static bool is_for_fairness(const struct sched *sched,
                            const struct sched_decision *decision,
                            uint32_t level)
{
    if (decision->action != SCHED_PREEMPT ||
        (decision->preemption != SCHED_PREEMPT_FAIR_SHARE &&
         decision->preemption != SCHED_PREEMPT_SURPLUS)) {
        return false;
    }
    const struct job *victim = &sched->jobs.items[decision->job];
    const struct list *theirs = &sched->lists.items[victim->list];
    const struct list *own =
        &sched->lists.items[sched->jobs.items[decision->for_job].list];
    return theirs->queue != own->queue &&
           sched->runs.items[victim->run].level >= level;
}

/* What took places for fairness gives way to what is reserved for later than
 * others that were let past it. */
static void put_off(struct round *round, size_t mark)
{
    struct sched *sched = round->sched;
    const struct reservation *hold = round->reserve.hold;

    for (size_t i = mark; i < sched->decisions.count; i++) {
        struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action == SCHED_LEASE &&
            decision->yields_to == hold->job) {
            decision->yields_from_ms = hold->fair_ms;
        }
    }
}

void truce_mark(struct round *round, size_t mark)
{
    struct sched *sched = round->sched;
    struct sched_decision *first = NULL;
    bool is_by_share = false;
    uint32_t level = 0;

    /* Backwards, for victims stand before the lease that they serve. */
    for (size_t i = sched->decisions.count; i > mark; i--) {
        struct sched_decision *decision = &sched->decisions.items[i - 1];
        if (decision->action == SCHED_LEASE) {
            first = decision;
            level = level_of(sched, decision->priority);
        }
        is_by_share |= is_for_fairness(sched, decision, level);
    }
    if (first) {
        first->is_by_share = is_by_share;
    }
    if (is_by_share && round->reserve.hold) {
        put_off(round, mark);
    }
}

/* Keeping them.  They are in the order in which they began here, so also in
 * that in which they end; those that came from another state may be over before
 * others that stand before them. */

static void begin(struct sched *sched, uint32_t job, int64_t since_ms,
                  uint64_t news_count)
{
    uint32_t gang = sched->jobs.items[job].gang;
    struct truce truce = {
        .item = gang == NONE ? job : gang,
        .is_gang = gang != NONE,
        .since_ms = since_ms,
        .news_count = news_count,
    };

    map_put(&sched->truce_map, key_of(truce.item, truce.is_gang),
            sched->truce_serial + (uint32_t)sched->truces.count);
    VEC_PUSH(&sched->truces, truce);
    if (gang == NONE) {
        sched->job_flags.items[job] |= JOB_TRUCE;
    }
}

static void end(struct sched *sched, struct truce *truce)
{
    map_remove(&sched->truce_map, key_of(truce->item, truce->is_gang));
    if (!truce->is_gang) {
        sched->job_flags.items[truce->item] &= (uint8_t)~JOB_TRUCE;
    }
    truce->item = NONE;
}

/* End those that are over; their slots are used again once there are as many
 * as others. */
static void sift(struct sched *sched)
{
    while (sched->truce_first < sched->truces.count) {
        struct truce *truce = &sched->truces.items[sched->truce_first];
        if (truce->item != NONE && !is_over(sched, truce, sched->now_ms)) {
            break;
        }
        if (truce->item != NONE) {
            end(sched, truce);
        }
        sched->truce_first++;
    }
    if (sched->truce_first > sched->truces.count / 2) {
        sched->truces.count -= sched->truce_first;
        memmove(sched->truces.items, sched->truces.items + sched->truce_first,
                sched->truces.count * sizeof(*sched->truces.items));
        sched->truce_serial += sched->truce_first;
        sched->truce_first = 0;
    }
}

static void set_news(struct sched *sched, uint64_t news_count)
{
    sched->news_count = news_count;
    if (sched->truces.count) {
        sift(sched);
    }
}

void truce_news(struct sched *sched)
{
    if (!sched->is_told_news) {
        set_news(sched, sched->news_count + 1);
    }
}

uint64_t sched_news_follow(struct sched *sched)
{
    sched->is_told_news = true;
    return sched->news_count;
}

void sched_news_set(struct sched *sched, uint64_t news_count)
{
    ASSERT(sched->is_told_news && news_count >= sched->news_count);
    if (news_count != sched->news_count) {
        /* Nothing else goes by news: a pool at rest stays so. */
        sched->version += sched->truces.count > 0;
        set_news(sched, news_count);
    }
}

void truce_advance(struct sched *sched)
{
    if (sched->truces.count) {
        sift(sched);
    }
}

/* Begin one, unless there is one that lasts. */
static void put(struct sched *sched, uint32_t job, int64_t since_ms,
                uint64_t news_count)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    struct truce *old = find(sched, job);

    sched->version++;
    if (old && !is_over(sched, old, sched->now_ms)) {
        return;
    }
    if (old) {
        end(sched, old);
    }
    begin(sched, job, since_ms, news_count);
}

void sched_job_truce(struct sched *sched, uint32_t job)
{
    put(sched, job, sched->now_ms, sched->news_count);
}

bool sched_job_truce_get(const struct sched *sched, uint32_t job,
                         struct sched_truce *ret_truce)
{
    const struct truce *truce = find(sched, job);

    if (!truce || is_over(sched, truce, sched->now_ms)) {
        return false;
    }
    *ret_truce = (struct sched_truce){truce->since_ms, truce->news_count};
    return true;
}

void sched_job_truce_put(struct sched *sched, uint32_t job,
                         const struct sched_truce *truce)
{
    put(sched, job, truce->since_ms, truce->news_count);
}

void truce_forget(struct sched *sched, uint32_t item, bool is_gang)
{
    uint32_t serial = sched->truce_map.count
                          ? map_find(&sched->truce_map, key_of(item, is_gang))
                          : MAP_NONE;

    if (serial != MAP_NONE) {
        end(sched, &sched->truces.items[serial - sched->truce_serial]);
        sift(sched);
    }
}

/* Whether what a truce is of is there. */
static bool is_of_something(const struct sched *sched,
                            const struct truce *truce)
{
    return truce->is_gang ? sched->gangs.items[truce->item].is_live
                          : sched->jobs.items[truce->item].list != LIST_NONE &&
                                sched->job_flags.items[truce->item] & JOB_TRUCE;
}

bool truces_are_right(const struct sched *sched)
{
    uint32_t count = 0, job_count = 0, flagged_count = 0;

    for (uint32_t i = sched->truce_first; i < sched->truces.count; i++) {
        const struct truce *truce = &sched->truces.items[i];
        if (truce->item == NONE) {
            continue;
        }
        if (!is_of_something(sched, truce) ||
            map_find(&sched->truce_map, key_of(truce->item, truce->is_gang)) !=
                sched->truce_serial + i) {
            return false;
        }
        count++;
        job_count += !truce->is_gang;
    }
    for (size_t i = 0; i < sched->jobs.count; i++) {
        flagged_count += (sched->job_flags.items[i] & JOB_TRUCE) != 0;
    }
    return count == sched->truce_map.count && job_count == flagged_count;
}

/* History. */

/* The first of a gang's members, by id. */
static uint32_t first_member(const struct sched *sched, const struct gang *gang)
{
    const struct seq *seqs[] = {&gang->leased, &gang->waiting};
    uint32_t first = gang->subs ? sub_groups_first(sched, gang->subs) : NONE;

    for (size_t i = 0; i < ARRAY_COUNT(seqs); i++) {
        for (struct seq_cursor at = {0}; !seq_is_end(seqs[i], at);
             seq_next(seqs[i], &at)) {
            uint32_t job = seq_get(seqs[i], at);
            if (first == NONE ||
                key128_compare(sched->jobs.items[job].id.v,
                               sched->jobs.items[first].id.v) < 0) {
                first = job;
            }
        }
    }
    return first;
}

/* One that is written, by its job. */
struct packed {
    const struct truce *truce;
    struct job_id id;
};

/* In the order in which they began. */
static int compare_packed(const void *a, const void *b)
{
    const struct packed *x = a;
    const struct packed *y = b;

    if (x->truce->since_ms != y->truce->since_ms) {
        return x->truce->since_ms < y->truce->since_ms ? -1 : 1;
    }
    return key128_compare(x->id.v, y->id.v);
}

/* Those that last.  What moved between states stands elsewhere in the list
 * than where it began, and may hide others that are over. */
void truce_pack(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct packed *list =
        mem_alloc_array(sched->truces.count + 1, sizeof(*list));
    uint32_t count = 0;

    for (size_t i = sched->truce_first; i < sched->truces.count; i++) {
        const struct truce *truce = &sched->truces.items[i];
        if (truce->item == NONE || is_over(sched, truce, sched->now_ms)) {
            continue;
        }
        uint32_t job =
            truce->is_gang
                ? first_member(sched, &sched->gangs.items[truce->item])
                : truce->item;
        list[count++] = (struct packed){truce, sched->jobs.items[job].id};
    }
    if (count == 0) {
        return;
    }
    qsort(list, count, sizeof(*list), compare_packed);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_u64(buf, list[i].id.v.hi);
        pack_u64(buf, list[i].id.v.lo);
        pack_i64(buf, list[i].truce->since_ms);
        pack_u64(buf, list[i].truce->news_count != sched->news_count);
    }
}

void truce_unpack(struct sched *sched, struct history_reader *reader)
{
    struct pack_reader *pack = &reader->pack;
    uint32_t count = unpack_count(pack, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !pack->is_bad; i++) {
        struct job_id id;
        id.v.hi = unpack_u64(pack);
        id.v.lo = unpack_u64(pack);
        int64_t since_ms = unpack_i64(pack);
        bool had_news = unpack_count(pack, 1);
        uint32_t job = history_job(sched, reader, id);
        if (job == NONE || find(sched, job)) {
            pack->is_bad = true;
        } else if (!pack->is_bad) {
            begin(sched, job, since_ms, sched->news_count - had_news);
        }
    }
}

void truce_fini(struct sched *sched)
{
    VEC_FREE(&sched->truces);
    map_fini(&sched->truce_map);
}
