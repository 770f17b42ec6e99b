#include "sched/evict/cooldown.h"
#include "sched/fairness/admitted.h"
#include "sched/state/cfs.h"
#include "sched/state/distance_cap.h"
#include "sched/state/exclusive.h"
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

static uint32_t gang_find(const struct sched *sched, uint32_t queue,
                          struct str id)
{
    uint32_t at = names_first(&sched->gang_names, queue, id);

    while (at != NAMES_NONE) {
        const struct gang *gang = &sched->gangs.items[at];
        if (gang->queue == queue &&
            str_equal(str_make(gang->id, gang->id_bytes), id)) {
            break;
        }
        at = names_next(&sched->gang_names, at);
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
    at = SLOTS_TAKE(&sched->gangs);
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
    exclusive_join(sched, &sched->gangs.items[at]);
    /* What starts as a gang is a part of it. */
    ASSERT(sched->gangs.items[at].minimum <=
           sched->gangs.items[at].cardinality);
    scale_join(sched, at);
    names_put(&sched->gang_names, record->queue, record->gang_id, at);
    distance_cap_join(sched, &sched->gangs.items[at]);
    return at;
}

static void gang_free(struct sched *sched, uint32_t at)
{
    struct gang *gang = &sched->gangs.items[at];

    /* A gang goes with its last member, and then it is in no list. */
    ASSERT(gang->position == NONE && gang->waiting.count == 0 &&
           gang->leased.count == 0);
    ASSERT(!gang->is_admitted); /* it left the window with its last member */
    names_remove(&sched->gang_names, gang->queue,
                 str_make(gang->id, gang->id_bytes), at);
    distance_cap_leave(sched, gang);
    cooldown_forget(sched, at, true);
    list_put(sched, gang->list);
    mem_free(gang->id);
    mem_free(gang->uniformity);
    exclusive_leave(sched, gang);
    scale_leave(sched, at);
    sub_groups_destroy(gang->subs);
    *gang = (struct gang){0};
    SLOTS_GIVE(&sched->gangs, at);
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

void gang_attach(struct sched *sched, uint32_t at)
{
    struct gang *gang = &sched->gangs.items[at];

    ASSERT(gang->position == NONE);
    sub_groups_choose(sched, gang);
    if (gang_is_ready(gang)) {
        ASSERT(gang->waiting.count > 0); /* it stands by one that waits */
        gang->position = seq_last(&gang->waiting);
        join_app(sched, gang);
        seq_insert(&sched->lists.items[gang->list].seq, at, gang_less, sched);
        list_refresh(sched, gang->list);
    }
    admitted_check_gang(sched, at);
    if (gang->waiting.count + gang->leased.count +
            sub_groups_optional_count(gang) ==
        0) {
        gang_free(sched, at);
    }
}
