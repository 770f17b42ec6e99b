/* The cooldowns that last: begun, ended, found, and in a checkpoint. */
#include <stdlib.h>
#include <string.h>

#include "base/time_add.h"
#include "sched/evict/cooldown.h"
#include "sched/state/sub_groups.h"

static struct key128 key_of(uint32_t item, bool is_gang)
{
    return (struct key128){is_gang, item};
}

struct cooldown *cooldown_find(const struct sched *sched, uint32_t job)
{
    uint32_t gang = sched->jobs.items[job].gang;

    if (sched->cooldown_map.count == 0) {
        return NULL;
    }
    uint32_t serial = map_find(&sched->cooldown_map,
                               key_of(gang == NONE ? job : gang, gang != NONE));
    return serial == MAP_NONE
               ? NULL
               : &sched->cooldowns.items[serial - sched->cooldown_serial];
}

static int64_t end_of(const struct sched *sched,
                      const struct cooldown *cooldown)
{
    int64_t cooldown_ms = sched->policy->cooldown_ms;

    ASSERT(cooldown_ms >= 0);
    return time_add_saturating(cooldown->since_ms, cooldown_ms);
}

static bool is_over(const struct sched *sched, const struct cooldown *cooldown,
                    int64_t now_ms)
{
    return cooldown->news_count != sched->news_count &&
           now_ms >= end_of(sched, cooldown);
}

bool cooldown_holds(const struct sched *sched, uint32_t job, int64_t now_ms,
                    int64_t *ret_until_ms)
{
    const struct cooldown *cooldown = cooldown_find(sched, job);

    if (!cooldown || is_over(sched, cooldown, now_ms)) {
        return false;
    }
    *ret_until_ms = cooldown->news_count != sched->news_count
                        ? end_of(sched, cooldown)
                        : INT64_MAX;
    return true;
}

/* Keeping them.  They are in the order in which they began here, so also in
 * that in which they end; those that came from another state may be over before
 * others that stand before them. */

static void begin(struct sched *sched, uint32_t job, int64_t since_ms,
                  uint64_t news_count)
{
    uint32_t gang = sched->jobs.items[job].gang;
    struct cooldown cooldown = {
        .item = gang == NONE ? job : gang,
        .is_gang = gang != NONE,
        .since_ms = since_ms,
        .news_count = news_count,
    };

    ASSERT(!cooldown_find(sched, job)); /* it has one at most */
    map_put(&sched->cooldown_map, key_of(cooldown.item, cooldown.is_gang),
            sched->cooldown_serial + (uint32_t)sched->cooldowns.count);
    VEC_PUSH(&sched->cooldowns, cooldown);
    if (gang == NONE) {
        sched->job_flags.items[job] |= JOB_COOLDOWN;
    }
}

static void end(struct sched *sched, struct cooldown *cooldown)
{
    ASSERT(cooldown->item != NONE); /* it ends once */
    map_remove(&sched->cooldown_map, key_of(cooldown->item, cooldown->is_gang));
    if (!cooldown->is_gang) {
        sched->job_flags.items[cooldown->item] &= (uint8_t)~JOB_COOLDOWN;
    }
    cooldown->item = NONE;
}

/* End those that are over; their slots are used again once there are as many
 * as others. */
static void sift(struct sched *sched)
{
    while (sched->cooldown_first < sched->cooldowns.count) {
        struct cooldown *cooldown =
            &sched->cooldowns.items[sched->cooldown_first];
        if (cooldown->item != NONE &&
            !is_over(sched, cooldown, sched->now_ms)) {
            break;
        }
        if (cooldown->item != NONE) {
            end(sched, cooldown);
        }
        sched->cooldown_first++;
    }
    /* Those before it are over. */
    ASSERT(sched->cooldown_first <= sched->cooldowns.count);
    if (sched->cooldown_first > sched->cooldowns.count / 2) {
        sched->cooldowns.count -= sched->cooldown_first;
        memmove(sched->cooldowns.items,
                sched->cooldowns.items + sched->cooldown_first,
                sched->cooldowns.count * sizeof(*sched->cooldowns.items));
        sched->cooldown_serial += sched->cooldown_first;
        sched->cooldown_first = 0;
    }
}

static void set_news(struct sched *sched, uint64_t news_count)
{
    sched->news_count = news_count;
    if (sched->cooldowns.count) {
        sift(sched);
    }
}

void cooldown_news(struct sched *sched)
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
        sched->version += sched->cooldowns.count > 0;
        set_news(sched, news_count);
    }
}

void cooldown_advance(struct sched *sched)
{
    if (sched->cooldowns.count) {
        sift(sched);
    }
}

/* Begin one, unless there is one that lasts. */
static void put(struct sched *sched, uint32_t job, int64_t since_ms,
                uint64_t news_count)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    struct cooldown *old = cooldown_find(sched, job);

    sched->version++;
    if (old && !is_over(sched, old, sched->now_ms)) {
        return;
    }
    if (old) {
        end(sched, old);
    }
    begin(sched, job, since_ms, news_count);
}

void sched_job_cooldown(struct sched *sched, uint32_t job)
{
    put(sched, job, sched->now_ms, sched->news_count);
}

bool sched_job_cooldown_get(const struct sched *sched, uint32_t job,
                            struct sched_cooldown *ret_cooldown)
{
    const struct cooldown *cooldown = cooldown_find(sched, job);

    if (!cooldown || is_over(sched, cooldown, sched->now_ms)) {
        return false;
    }
    *ret_cooldown =
        (struct sched_cooldown){cooldown->since_ms, cooldown->news_count};
    return true;
}

void sched_job_cooldown_put(struct sched *sched, uint32_t job,
                            const struct sched_cooldown *cooldown)
{
    put(sched, job, cooldown->since_ms, cooldown->news_count);
}

void cooldown_forget(struct sched *sched, uint32_t item, bool is_gang)
{
    uint32_t serial =
        sched->cooldown_map.count
            ? map_find(&sched->cooldown_map, key_of(item, is_gang))
            : MAP_NONE;

    if (serial != MAP_NONE) {
        end(sched, &sched->cooldowns.items[serial - sched->cooldown_serial]);
        sift(sched);
    }
}

/* Whether what a cooldown is of is there. */
static bool is_of_something(const struct sched *sched,
                            const struct cooldown *cooldown)
{
    return cooldown->is_gang
               ? sched->gangs.items[cooldown->item].is_live
               : sched->jobs.items[cooldown->item].list != LIST_NONE &&
                     sched->job_flags.items[cooldown->item] & JOB_COOLDOWN;
}

bool cooldowns_are_right(const struct sched *sched, struct arena *scratch)
{
    uint32_t count = 0, job_count = 0, flagged_count = 0;

    (void)scratch;
    for (uint32_t i = sched->cooldown_first; i < sched->cooldowns.count; i++) {
        const struct cooldown *cooldown = &sched->cooldowns.items[i];
        if (cooldown->item == NONE) {
            continue;
        }
        if (!is_of_something(sched, cooldown) ||
            map_find(&sched->cooldown_map,
                     key_of(cooldown->item, cooldown->is_gang)) !=
                sched->cooldown_serial + i) {
            return false;
        }
        count++;
        job_count += !cooldown->is_gang;
    }
    for (size_t i = 0; i < sched->jobs.count; i++) {
        flagged_count += (sched->job_flags.items[i] & JOB_COOLDOWN) != 0;
    }
    return count == sched->cooldown_map.count && job_count == flagged_count;
}

/* History. */

/* The first of a gang's members, by id. */
static uint32_t first_member(const struct sched *sched, const struct gang *gang)
{
    const struct seq *seqs[] = {&gang->leased, &gang->waiting};
    uint32_t first =
        gang_has_terms(gang) ? sub_groups_first(sched, gang) : NONE;

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
    const struct cooldown *cooldown;
    struct job_id id;
};

/* In the order in which they began. */
static int compare_packed(const void *a, const void *b)
{
    const struct packed *x = a;
    const struct packed *y = b;

    if (x->cooldown->since_ms != y->cooldown->since_ms) {
        return x->cooldown->since_ms < y->cooldown->since_ms ? -1 : 1;
    }
    return key128_compare(x->id.v, y->id.v);
}

/* Those that last.  What moved between states stands elsewhere in the list
 * than where it began, and may hide others that are over. */
void cooldown_pack(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct packed *list =
        mem_alloc_array(sched->cooldowns.count + 1, sizeof(*list));
    uint32_t count = 0;

    for (size_t i = sched->cooldown_first; i < sched->cooldowns.count; i++) {
        const struct cooldown *cooldown = &sched->cooldowns.items[i];
        if (cooldown->item == NONE || is_over(sched, cooldown, sched->now_ms)) {
            continue;
        }
        uint32_t job =
            cooldown->is_gang
                ? first_member(sched, &sched->gangs.items[cooldown->item])
                : cooldown->item;
        list[count++] = (struct packed){cooldown, sched->jobs.items[job].id};
    }
    if (count == 0) {
        return;
    }
    qsort(list, count, sizeof(*list), compare_packed);
    pack_u64(buf, count);
    for (uint32_t i = 0; i < count; i++) {
        pack_key128(buf, list[i].id.v);
        pack_i64(buf, list[i].cooldown->since_ms);
        pack_u64(buf, list[i].cooldown->news_count != sched->news_count);
    }
}

void cooldown_unpack(struct sched *sched, struct history_reader *reader)
{
    struct pack_reader *pack = &reader->pack;
    uint32_t count = unpack_count(pack, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !pack->is_bad; i++) {
        struct job_id id = {unpack_key128(pack)};
        int64_t since_ms = unpack_i64(pack);
        bool had_news = unpack_count(pack, 1);
        uint32_t job = history_job(sched, reader, id);
        if (job == NONE || cooldown_find(sched, job)) {
            pack->is_bad = true;
        } else if (!pack->is_bad) {
            begin(sched, job, since_ms, sched->news_count - had_news);
        }
    }
}

void cooldown_fini(struct sched *sched)
{
    VEC_FREE(&sched->cooldowns);
    map_fini(&sched->cooldown_map);
}
