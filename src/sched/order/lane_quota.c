#include "sched/order/lane_quota.h"

#include "sched/fairness/admitted.h"
#include "sched/fairness/quota.h"
#include "sched/order/lane_held.h"

/* What an admitted entry asks for; NULL: nothing, or the plan has started it.
 */
static const struct resource_vec *asked_by(const struct sched *sched,
                                           const struct admitted *entry)
{
    uint32_t job = admitted_job(sched, entry);

    if (job == NONE || sched->job_flags.items[job] & JOB_PLANNED) {
        return NULL;
    }
    return entry->is_gang
               ? &sched->gangs.items[entry->item].waiting_sum
               : &sched->classes.items[class_of_job(sched, job)].request;
}

static bool is_later(const struct round *round, const struct pool *pool)
{
    return pool->policy_index > round->pool->policy_index;
}

/* What a queue has admitted in the pools whose turn in the plan is yet to come;
 * what the plan has started of it counts there. */
static void add_admitted(const struct round *round, uint32_t queue,
                         struct resource_vec *sum)
{
    const struct sched *sched = round->sched;

    for (size_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; is_later(round, pool) && i < pool->admitted.count;
             i++) {
            const struct admitted *entry = &pool->admitted.items[i];
            const struct resource_vec *asked =
                entry->queue == queue ? asked_by(sched, entry) : NULL;
            if (asked) {
                amounts_add(sum, asked);
            }
        }
    }
}

void quota_count_own(const struct round *round, struct lane *lane,
                     uint32_t item, bool is_gang, int sign)
{
    const struct sched *sched = round->sched;
    uint32_t p, job = is_gang ? sched->gangs.items[item].position : item;
    const struct admitted *entry =
        job == NONE ? NULL : admitted_anywhere(sched, job, &p);
    const struct resource_vec *asked =
        entry && is_later(round, &sched->pools.items[p])
            ? asked_by(sched, entry)
            : NULL;

    if (asked) {
        amounts_add_times(&lane->quota->elsewhere, asked, sign);
    }
}

void quota_begin(const struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct queue *queue = &sched->queues.items[lane->queue];

    if (queue->quota_count == 0) {
        return;
    }
    lane->quota = arena_alloc(round->arena, sizeof(*lane->quota));
    ASSERT(queue->quota_plan <= sched->plan_count);
    lane->quota->elsewhere = quota_sum_beside(sched, queue, round->p);
    if (queue->quota_plan == sched->plan_count) {
        amounts_add(&lane->quota->elsewhere, &queue->quota_planned);
    }
    add_admitted(round, lane->queue, &lane->quota->elsewhere);
    lane->quota->before = lane->all;
}

int quota_short_indeed(const struct round *round, const struct lane *lane,
                       const struct resource_vec *request)
{
    return quota_find_short(round->sched, round->what_if,
                            &round->sched->queues.items[lane->queue],
                            &lane->quota->elsewhere, &lane->all, request);
}

int quota_short_beside(const struct round *round, const struct lane *lane,
                       const struct resource_vec *request)
{
    if (!lane->quota) {
        return -1;
    }
    struct resource_vec all = lane->all;
    amounts_add(&all, &lane->quota->earlier);
    if (lane->held) {
        amounts_subtract(&all, &lane->held->asked);
    }
    return quota_find_short(round->sched, round->what_if,
                            &round->sched->queues.items[lane->queue],
                            &lane->quota->elsewhere, &all, request);
}

void quota_end(const struct round *round)
{
    const struct sched *sched = round->sched;

    for (uint32_t i = 0; i < round->lane_count; i++) {
        const struct lane *lane = &round->lanes[i];
        if (!lane->quota) {
            continue;
        }
        struct queue *queue = &sched->queues.items[lane->queue];
        if (queue->quota_plan != sched->plan_count) {
            queue->quota_plan = sched->plan_count;
            queue->quota_planned = (struct resource_vec){0};
        }
        amounts_add(&queue->quota_planned, &lane->all);
        amounts_subtract(&queue->quota_planned, &lane->quota->before);
    }
}
