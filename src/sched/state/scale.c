#include "sched/state/scale.h"

#include <string.h>

#include "base/time_add.h"
#include "sched/state/sub_groups.h"

static bool is_elastic(const struct gang *gang)
{
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        const struct sub_group *group = sub_group_terms(gang, i);
        if (group->min_count < group->max_count) {
            return true;
        }
    }
    return false;
}

void scale_join(struct sched *sched, uint32_t index)
{
    struct gang *gang = &sched->gangs.items[index];

    gang->scaled_ms = gang->starting_ms = INT64_MIN;
    gang->elastic_place = NONE;
    if (is_elastic(gang)) {
        gang->elastic_place = (uint32_t)sched->elastic.count;
        VEC_PUSH(&sched->elastic, index);
    }
}

void scale_leave(struct sched *sched, uint32_t index)
{
    uint32_t place = sched->gangs.items[index].elastic_place;

    if (place == NONE) {
        return;
    }
    ASSERT(place < sched->elastic.count); /* it stands among those that grow */
    ASSERT(sched->elastic.items[place] == index);
    uint32_t last = sched->elastic.items[--sched->elastic.count];
    sched->elastic.items[place] = last;
    sched->gangs.items[last].elastic_place = place;
}

int64_t scale_frozen_until(const struct sched *sched, const struct gang *gang)
{
    int64_t window_ms = sub_groups_freezing_window_ms(gang);

    if (window_ms == FREEZING_BY_POLICY) {
        window_ms = sched->policy->elastic.freezing_window_ms;
    }
    if (gang->scaled_ms == INT64_MIN) {
        return INT64_MIN;
    }
    return time_add_saturating(gang->scaled_ms, window_ms);
}

/* Whether all that runs of a gang was leased within the last elastic period.
 * The step asks for each pod, and the answer cannot become false within a step:
 * a new pod is younger, and a pod that ends leaves younger ones. */
static bool is_starting(const struct sched *sched, struct gang *gang,
                        int64_t at_ms)
{
    int64_t before_ms = at_ms - sched->policy->elastic.period_ms;

    if (gang->starting_ms == at_ms) {
        return true;
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        const struct job *job = &sched->jobs.items[seq_get(&gang->leased, at)];
        if (sched->runs.items[job->run].leased_ms <= before_ms) {
            return false;
        }
    }
    gang->starting_ms = at_ms;
    return true;
}

void sched_gang_scaled(struct sched *sched, uint32_t job, int64_t at_ms)
{
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    uint32_t index = sched->jobs.items[job].gang;
    struct gang *gang = index == NONE ? NULL : &sched->gangs.items[index];

    if (gang && gang->elastic_place != NONE && gang->scaled_ms != at_ms &&
        !is_starting(sched, gang, at_ms)) {
        gang->scaled_ms = at_ms;
        sched->version++;
    }
}

void sched_gang_freeze(struct sched *sched, uint32_t job, int64_t at_ms)
{
    uint32_t gang = sched->jobs.items[job].gang;

    if (gang != NONE && sched->gangs.items[gang].elastic_place != NONE) {
        sched->gangs.items[gang].scaled_ms = at_ms;
        sched->version++;
    }
}

void scale_fini(struct sched *sched)
{
    VEC_FREE(&sched->elastic);
}

/* Scores. */

u128 scale_work(const struct sched *sched, struct gang *gang)
{
    uint32_t class_index = NONE;
    uint64_t worth = 0;

    if (gang->work_plan == sched->plan_count) {
        return gang->work;
    }
    gang->work = 0;
    gang->work_plan = sched->plan_count;
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        const struct job *job = &sched->jobs.items[seq_get(&gang->leased, at)];
        const struct run *run = &sched->runs.items[job->run];
        ASSERT_SLOW(&sched->gangs.items[job->gang] == gang);
        uint32_t c = sched->lists.items[job->list].class_index;
        if (c != class_index) {
            class_index = c;
            worth = cfs_worth(sched->policy, &sched->classes.items[c].request);
        }
        if (run->started_ms < sched->plan_now_ms) {
            gang->work +=
                (u128)worth * (uint64_t)(sched->plan_now_ms - run->started_ms);
        }
    }
    return gang->work;
}

bool scale_is_ordered(const struct sched *sched, uint32_t a, uint32_t b)
{
    uint32_t queue = sched->gangs.items[a].queue;

    return queue == sched->gangs.items[b].queue &&
           sched->queues.items[queue].ordering == QUEUE_BY_CFS;
}

static struct cfs_key key_of_gang(const struct sched *sched, uint32_t index)
{
    struct gang *gang = &sched->gangs.items[index];
    struct cfs_key key = cfs_key_of(sched, sub_groups_first(sched, gang));

    ASSERT(gang->elastic_place != NONE);
    key.is_running = true;
    cfs_key_set_work(&key, scale_work(sched, gang));
    return key;
}

int scale_compare(const struct sched *sched, uint32_t a, uint32_t b)
{
    struct cfs_key left = key_of_gang(sched, a), right = key_of_gang(sched, b);

    return cfs_compare(&left, &right, sched->aging_ms);
}

/* History. */

/* Whether it may yet matter when a gang was scaled.  A window of its own ends
 * once; that of the policy may grow, and then counts from the same time. */
static bool is_remembered(const struct sched *sched, const struct gang *gang)
{
    return gang->scaled_ms != INT64_MIN &&
           (sub_groups_freezing_window_ms(gang) == FREEZING_BY_POLICY ||
            scale_frozen_until(sched, gang) > sched->now_ms);
}

void scale_pack(const struct sched *sched, struct strbuf *buf)
{
    auto_mem struct history_item *items =
        mem_alloc_array(sched->elastic.count + 1, sizeof(*items));
    uint32_t count = 0;

    for (size_t i = 0; i < sched->elastic.count; i++) {
        const struct gang *gang = &sched->gangs.items[sched->elastic.items[i]];
        uint32_t first = sub_groups_first(sched, gang);
        if (is_remembered(sched, gang) && first != NONE) {
            items[count++] = (struct history_item){
                .id = sched->jobs.items[first].id,
                .time_ms = gang->scaled_ms,
            };
        }
    }
    history_pack_times(buf, items, count);
}

void scale_unpack(struct sched *sched, struct history_reader *reader)
{
    struct pack_reader *pack = &reader->pack;
    uint32_t count = unpack_count(pack, SCHED_JOBS_MAX);

    for (uint32_t i = 0; i < count && !pack->is_bad; i++) {
        uint32_t job = history_read_job(sched, reader);
        int64_t at_ms = unpack_i64(pack);
        if (job != NONE && !pack->is_bad) {
            sched_gang_freeze(sched, job, at_ms);
        }
    }
}
