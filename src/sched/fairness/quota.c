#include "sched/fairness/quota.h"

#include <string.h>

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
    ASSERT(amounts_is_sum(amounts));
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

struct resource_vec quota_sum_beside(const struct sched *sched,
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

int quota_find_short(const struct sched *sched, const struct queue *queue,
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

int quota_short_of(const struct sched *sched, uint32_t index,
                   const struct resource_vec *request, int64_t *ret_used)
{
    const struct queue *queue = &sched->queues.items[index];
    struct resource_vec none = {0};

    if (queue->quota_count == 0) {
        return -1;
    }
    struct resource_vec sum = quota_sum_beside(sched, queue, NONE);
    int r = quota_find_short(sched, queue, &sum, &none, request);
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
    struct resource_vec sum = quota_sum_beside(sched, queue, NONE);
    struct resource_vec missing = {0};

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        i128 wanted = (i128)sum.v[r] + request->v[r] - queue->quota.v[r];
        missing.v[r] = request->v[r] > 0 && wanted > 0 ? (int64_t)wanted : 0;
    }
    return missing;
}
