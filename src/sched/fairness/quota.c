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

/* How much more than it may have a queue would have of a column with `has`,
 * `more` and a request; 0: nothing. */
static i128 over_of(const struct sched *sched, const struct what_if *what_if,
                    const struct queue *queue, const struct resource_vec *has,
                    const struct resource_vec *more,
                    const struct resource_vec *request, int column)
{
    int64_t asked = request->v[column];
    i128 over = (i128)has->v[column] + more->v[column] + asked -
                what_if_quota(what_if, sched, queue, column);

    return asked > 0 && over > 0 ? over : 0;
}

int quota_find_short(const struct sched *sched, const struct what_if *what_if,
                     const struct queue *queue, const struct resource_vec *has,
                     const struct resource_vec *more,
                     const struct resource_vec *request)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (over_of(sched, what_if, queue, has, more, request, r) > 0) {
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
    int r = quota_find_short(sched, NULL, queue, &sum, &none, request);
    if (r >= 0) {
        *ret_used = sum.v[r];
    }
    return r;
}

struct resource_vec quota_missing(const struct sched *sched, uint32_t index,
                                  const struct resource_vec *request)
{
    const struct queue *queue = &sched->queues.items[index];
    struct resource_vec sum = quota_sum_beside(sched, queue, NONE);
    struct resource_vec missing = {0}, none = {0};

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        missing.v[r] =
            (int64_t)over_of(sched, NULL, queue, &sum, &none, request, r);
    }
    return missing;
}
