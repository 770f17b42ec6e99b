#include "base/hash.h"
#include "sched/evict/cooldown.h"
#include "sched/fairness/admitted.h"
#include "sched/place/exclusive_node.h"
#include "sched/state/cfs.h"
#include "sched/state/distance_cap.h"
#include "sched/state/scale.h"
#include "sched/state/sub_groups.h"

static bool gang_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;

    uint32_t left = sched->gangs.items[a].position;
    uint32_t right = sched->gangs.items[b].position;

    return sched->queues.items[sched->gangs.items[a].queue].ordering ==
                   QUEUE_BY_CFS
               ? cfs_less(sched, left, right)
               : job_less(sched, left, right);
}

static struct key128 gang_key(uint32_t queue, struct str id)
{
    return (struct key128){queue, hash_bytes(id.p, id.byte_count, queue)};
}

static uint32_t gang_find(const struct sched *sched, uint32_t queue,
                          struct str id)
{
    uint32_t at = map_find(&sched->gang_map, gang_key(queue, id));

    while (at != MAP_NONE) {
        const struct gang *gang = &sched->gangs.items[at];
        if (gang->queue == queue &&
            str_equal(str_make(gang->id, gang->id_bytes), id)) {
            break;
        }
        at = gang->next;
    }
    return at;
}

uint32_t gang_get(struct sched *sched, const struct sched_job *record,
                  uint32_t level, uint32_t pool)
{
    uint32_t at = gang_find(sched, record->queue, record->gang_id);

    if (at != NONE) {
        return at;
    }
    if (sched->spare_gangs.count) {
        at = sched->spare_gangs.items[--sched->spare_gangs.count];
    } else {
        at = (uint32_t)sched->gangs.count;
        VEC_PUSH(&sched->gangs, (struct gang){0});
    }
    uint32_t minimum = record->gang_minimum;
    sched->gangs.items[at] = (struct gang){
        .id = str_dup(record->gang_id),
        .id_bytes = (uint32_t)record->gang_id.byte_count,
        .uniformity = str_dup(record->gang_uniformity),
        .queue = record->queue,
        .list = list_get(sched, record->queue, NONE, level, pool, NONE),
        .cardinality = record->gang_cardinality,
        .minimum = minimum > 0 && minimum <= record->gang_cardinality
                       ? minimum
                       : record->gang_cardinality,
        .position = NONE,
        .is_live = true,
        .subs = sub_groups_create(record->gang_terms),
    };
    sched->exclusive_gang_count +=
        exclusive_node_is_for(&sched->gangs.items[at]);
    scale_join(sched, at);
    sched->gangs.items[at].next =
        map_put(&sched->gang_map, gang_key(record->queue, record->gang_id), at);
    hops_join(sched, &sched->gangs.items[at]);
    return at;
}

static void gang_free(struct sched *sched, uint32_t at)
{
    struct gang *gang = &sched->gangs.items[at];
    struct key128 key =
        gang_key(gang->queue, str_make(gang->id, gang->id_bytes));
    uint32_t first = map_find(&sched->gang_map, key);

    if (first != at) {
        while (sched->gangs.items[first].next != at) {
            first = sched->gangs.items[first].next;
        }
        sched->gangs.items[first].next = gang->next;
    } else if (gang->next != NONE) {
        map_put(&sched->gang_map, key, gang->next);
    } else {
        map_remove(&sched->gang_map, key);
    }
    hops_leave(sched, gang);
    cooldown_forget(sched, at, true);
    list_put(sched, gang->list);
    mem_free(gang->id);
    mem_free(gang->uniformity);
    sched->exclusive_gang_count -= exclusive_node_is_for(gang);
    scale_leave(sched, at);
    sub_groups_destroy(gang->subs);
    *gang = (struct gang){0};
    VEC_PUSH(&sched->spare_gangs, at);
}

void gang_detach(struct sched *sched, uint32_t at)
{
    struct gang *gang = &sched->gangs.items[at];

    if (gang->position != NONE) {
        seq_remove(&sched->lists.items[gang->list].seq, at, gang_less, sched);
        gang->position = NONE;
        list_refresh(sched, gang->list);
    }
}

/* A gang stands among the lists of the application that the job is of by
 * which it is listed: that one has a job as long as it is there. */
static void join_app(struct sched *sched, struct gang *gang)
{
    const struct list *own = &sched->lists.items[gang->list];
    uint32_t job_list = sched->jobs.items[gang->position].list;
    uint32_t app = sched->lists.items[job_list].app;

    if (own->app != app) {
        uint32_t list =
            list_get(sched, gang->queue, NONE, list_level(own), own->pool, app);
        list_put(sched, gang->list);
        gang->list = list;
    }
}

bool gang_is_ready(const struct gang *gang)
{
    if (gang->waiting.count == 0) {
        return false;
    }
    return gang->subs ? sub_groups_are_complete(gang)
                      : gang->started_count ||
                            gang->waiting.count + gang->leased.count >=
                                gang->cardinality;
}

uint32_t gang_needed(const struct gang *gang)
{
    uint32_t wanted = gang->waiting.count, running = gang->leased.count;
    uint32_t needed = gang->minimum > running ? gang->minimum - running : 1;

    return gang->subs || needed > wanted ? wanted : needed;
}

uint32_t gang_pool(const struct sched *sched, const struct gang *gang)
{
    uint32_t own = sched->lists.items[gang->list].pool;

    for (struct seq_cursor at = {0};
         own == NONE && !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t index = sched->jobs.items[seq_get(&gang->leased, at)].run;
        const struct run *run = &sched->runs.items[index];
        uint32_t pool = sched->nodes.items[run->node].pool;
        own = pool != NONE && sched->pools.items[pool].policy_index >= 0 ? pool
                                                                         : NONE;
    }
    return own;
}

struct resource_vec gang_least(const struct sched *sched, uint32_t at_gang)
{
    struct gang *gang = &sched->gangs.items[at_gang];
    uint32_t needed = gang_needed(gang), left = needed;
    struct resource_vec sum = {0};

    if (needed == gang->waiting.count) {
        return gang->waiting_sum;
    }
    if (needed == gang->least_count) {
        return gang->least;
    }
    for (struct seq_cursor at = {0}; left > 0; seq_next(&gang->waiting, &at)) {
        const struct job *job = &sched->jobs.items[seq_get(&gang->waiting, at)];
        uint32_t class_index = sched->lists.items[job->list].class_index;
        amounts_add(&sum, &sched->classes.items[class_index].request);
        left--;
    }
    gang->least_count = needed;
    gang->least = sum;
    return sum;
}

void gang_attach(struct sched *sched, uint32_t at)
{
    struct gang *gang = &sched->gangs.items[at];

    ASSERT(gang->position == NONE);
    if (gang->subs) {
        sub_groups_choose(sched, gang);
    }
    if (gang_is_ready(gang)) {
        gang->position = seq_last(&gang->waiting);
        join_app(sched, gang);
        seq_insert(&sched->lists.items[gang->list].seq, at, gang_less, sched);
        list_refresh(sched, gang->list);
    }
    admitted_check_gang(sched, at);
    if (gang->waiting.count + gang->leased.count +
            (gang->subs ? gang->subs->spare_count : 0) ==
        0) {
        gang_free(sched, at);
    }
}
