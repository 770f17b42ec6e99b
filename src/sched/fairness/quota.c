#include "sched/fairness/quota.h"

#include <string.h>

#include "sched/fairness/admitted.h"
#include "sched/state/what_if.h"

void quota_resolve(const struct sched *sched, struct queue *queue)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        queue->quota.v[r] = INT64_MAX;
    }
    for (uint32_t i = 0; i < queue->quota_count; i++) {
        int column =
            resource_column(&sched->policy->schema, queue->quota_items[i].name);
        if (column >= 0) {
            queue->quota.v[column] =
                queue->quota_items[i].milli /
                sched->policy->schema.columns[column].unit_milli;
        }
    }
}

/* The items and their names, in one block. */
static struct resource_amount *copy_items(const struct resource_list *list)
{
    size_t byte_count = list->count * sizeof(list->items[0]);

    for (uint32_t i = 0; i < list->count; i++) {
        byte_count += list->items[i].name.byte_count;
    }
    struct resource_amount *items = mem_alloc(byte_count);
    char *at = (char *)(items + list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        items[i] = list->items[i];
        if (items[i].name.byte_count) {
            memcpy(at, items[i].name.p, items[i].name.byte_count);
        }
        items[i].name.p = at;
        at += items[i].name.byte_count;
    }
    return items;
}

void quota_set(struct sched *sched, struct queue *queue,
               const struct resource_list *list)
{
    mem_free(queue->quota_items);
    queue->quota_items = list->count ? copy_items(list) : NULL;
    queue->quota_count = list->count;
    quota_resolve(sched, queue);
}

void sched_quota_beside_set(struct sched *sched, uint32_t index,
                            const struct resource_vec *amounts)
{
    ASSERT(index < sched->queues.count);
    struct queue *queue = &sched->queues.items[index];

    if (memcmp(&queue->quota_beside, amounts, sizeof(*amounts)) != 0) {
        queue->quota_beside = *amounts;
        sched->version++;
    }
}

void quota_fini(struct queue *queue)
{
    mem_free(queue->quota_items);
    queue->quota_items = NULL;
    queue->quota_count = 0;
}

/* What a queue has in all pools but one (or NONE). */
static struct resource_vec sum_beside(const struct sched *sched,
                                      const struct queue *queue, uint32_t pool)
{
    struct resource_vec sum = queue->quota_beside;

    for (uint32_t at = queue->account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        if (account->pool != pool || pool == NONE) {
            amounts_add(&sum, &account->allocated);
        }
    }
    return sum;
}

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
    lane->quota->elsewhere = sum_beside(sched, queue, round->p);
    if (queue->quota_plan == sched->plan_count) {
        amounts_add(&lane->quota->elsewhere, &queue->quota_planned);
    }
    add_admitted(round, lane->queue, &lane->quota->elsewhere);
    lane->quota->before = lane->all;
}

static int find_short(const struct sched *sched, const struct queue *queue,
                      const struct resource_vec *has,
                      const struct resource_vec *more,
                      const struct resource_vec *request)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        i128 sum = (i128)has->v[r] + more->v[r] + request->v[r];
        if (request->v[r] > 0 && sum > what_if_quota(sched, queue, r)) {
            return r;
        }
    }
    return -1;
}

int quota_short_indeed(const struct round *round, const struct lane *lane,
                       const struct resource_vec *request)
{
    return find_short(round->sched, &round->sched->queues.items[lane->queue],
                      &lane->quota->elsewhere, &lane->all, request);
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

int quota_short_of(const struct sched *sched, uint32_t index,
                   const struct resource_vec *request, int64_t *ret_used)
{
    const struct queue *queue = &sched->queues.items[index];
    struct resource_vec none = {0};

    if (queue->quota_count == 0) {
        return -1;
    }
    struct resource_vec sum = sum_beside(sched, queue, NONE);
    int r = find_short(sched, queue, &sum, &none, request);
    if (r >= 0) {
        *ret_used = sum.v[r];
    }
    return r;
}

struct resource_vec queue_quota_missing(const struct sched *sched,
                                        uint32_t index,
                                        const struct resource_vec *request)
{
    const struct queue *queue = &sched->queues.items[index];
    struct resource_vec sum = sum_beside(sched, queue, NONE);
    struct resource_vec missing = {0};

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        i128 wanted = (i128)sum.v[r] + request->v[r] - queue->quota.v[r];
        missing.v[r] = request->v[r] > 0 && wanted > 0 ? (int64_t)wanted : 0;
    }
    return missing;
}
