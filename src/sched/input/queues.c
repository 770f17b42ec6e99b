#include <string.h>

#include "sched/apps/apps.h"
#include "sched/evict/cooldown.h"
#include "sched/fairness/quota.h"
#include "sched/fairness/usage_ledger.h"

static struct str name_of(const struct queue *queue)
{
    return str_make(queue->name, queue->name_bytes);
}

static bool queue_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;

    return str_compare(name_of(&sched->queues.items[a]),
                       name_of(&sched->queues.items[b])) < 0;
}

static char *copy_str(char *at, struct str *s)
{
    if (s->byte_count) {
        memcpy(at, s->p, s->byte_count);
    }
    s->p = at;
    return at + s->byte_count;
}

/* The limits and their strings, in one block. */
static struct queue_limit *copy_limits(const struct queue_record *record)
{
    size_t byte_count = record->limit_count * sizeof(struct queue_limit);

    for (uint32_t i = 0; i < record->limit_count; i++) {
        byte_count += record->limits[i].priority_class.byte_count +
                      record->limits[i].pool.byte_count +
                      record->limits[i].resource.byte_count;
    }
    if (record->limit_count == 0) {
        return NULL;
    }
    struct queue_limit *limits = mem_alloc(byte_count);
    char *at = (char *)(limits + record->limit_count);
    for (uint32_t i = 0; i < record->limit_count; i++) {
        limits[i] = record->limits[i];
        at = copy_str(at, &limits[i].priority_class);
        at = copy_str(at, &limits[i].pool);
        at = copy_str(at, &limits[i].resource);
    }
    return limits;
}

static struct queue *queue_make(struct sched *sched, uint32_t index,
                                struct str name)
{
    ASSERT(index < QUEUES_MAX);
    while (sched->queues.count <= index) {
        VEC_PUSH(&sched->queues, (struct queue){.active_place = NONE,
                                                .usage_ledger_first = NONE});
    }
    struct queue *queue = &sched->queues.items[index];
    if (queue->name && !str_equal(name_of(queue), name)) {
        seq_remove(&sched->queues_by_name, index, queue_less, sched);
        mem_free(queue->name);
        queue->name = NULL;
    }
    if (!queue->name) {
        queue->name = str_dup(name);
        queue->name_bytes = (uint32_t)name.byte_count;
        seq_insert(&sched->queues_by_name, index, queue_less, sched);
        sched->are_queue_ranks_stale = true;
    }
    return queue;
}

bool sched_goes_by_applications(const struct queue_record *record)
{
    return (record->ordering != QUEUE_BY_PRIORITY &&
            record->ordering != QUEUE_BY_CFS) ||
           record->running_apps_max > 0;
}

/* Its gangs are to stand in another order in their lists. */
static void detach_gangs(struct sched *sched, uint32_t queue)
{
    for (uint32_t i = 0; i < sched->gangs.count; i++) {
        if (sched->gangs.items[i].is_live &&
            sched->gangs.items[i].queue == queue) {
            gang_detach(sched, i);
        }
    }
}

/* And now they do. */
static void attach_gangs(struct sched *sched, uint32_t queue)
{
    for (uint32_t i = 0; i < sched->gangs.count; i++) {
        const struct gang *gang = &sched->gangs.items[i];
        if (gang->is_live && gang->queue == queue && gang->position == NONE) {
            gang_attach(sched, i);
        }
    }
}

void sched_queue_set(struct sched *sched, uint32_t index,
                     const struct queue_record *record)
{
    bool is_new =
        index >= sched->queues.count || !sched->queues.items[index].name;
    struct queue *queue = queue_make(sched, index, record->name);

    if (is_new) {
        queue->account_first = NONE;
        queue->bucket = (struct bucket){0};
    }
    sched->version++;
    cooldown_news(sched);
    sched->are_weights_stale = true;
    queue->factor_micro = record->priority_factor_micro > 0
                              ? record->priority_factor_micro
                              : PRIORITY_FACTOR_ONE_MICRO;
    queue->is_cordoned = record->is_cordoned;
    bool is_resorted =
        (queue->ordering == QUEUE_BY_CFS) != (record->ordering == QUEUE_BY_CFS);
    if (is_resorted) {
        detach_gangs(sched, index);
    }
    queue->ordering = record->ordering;
    queue->is_class_priority_ignored = record->is_class_priority_ignored;
    queue->allows_stateaware_off = record->allows_stateaware_off;
    queue->running_apps_max = record->running_apps_max;
    apps_switch(sched, index, sched_goes_by_applications(record));
    if (is_resorted) {
        attach_gangs(sched, index);
    }
    queue->over_share_ppm = record->over_share_ppm;
    queue->excess_budget_milli = record->excess_budget_milli;
    if (queue_has_own_limits(queue) && !sched->keeps_usage_ledgers) {
        usage_ledgers_sync(sched);
    }
    quota_set(sched, queue, &record->quota);
    mem_free(queue->limits);
    queue->limits = copy_limits(record);
    queue->limit_count = record->limit_count;
}

void queues_forget(struct sched *sched, uint32_t index)
{
    struct queue *queue = &sched->queues.items[index];

    ASSERT(!queue->apps && queue->usage_ledger_first == NONE);
    ASSERT(queue->waiting_count == 0 && queue->leased_count == 0);
    sched->are_weights_stale = true;
    seq_remove(&sched->queues_by_name, index, queue_less, sched);
    while (queue->account_first != NONE) {
        uint32_t account = queue->account_first;
        ASSERT(!sched->accounts.items[account].evictable);
        queue->account_first = sched->accounts.items[account].next;
        SLOTS_GIVE(&sched->accounts, account);
    }
    mem_free(queue->name);
    mem_free(queue->limits);
    quota_fini(queue);
    VEC_FREE(&queue->list_heap);
    *queue = (struct queue){.active_place = NONE, .usage_ledger_first = NONE};
}

void queue_refresh(struct sched *sched, uint32_t index)
{
    struct queue *queue = &sched->queues.items[index];
    bool is_active = queue->waiting_count || queue->leased_count;

    if (is_active && queue->active_place == NONE) {
        queue->active_place = (uint32_t)sched->active.count;
        VEC_PUSH(&sched->active, index);
    } else if (!is_active && queue->active_place != NONE) {
        ASSERT(sched->active.items[queue->active_place] == index);
        uint32_t last = sched->active.items[--sched->active.count];
        sched->active.items[queue->active_place] = last;
        sched->queues.items[last].active_place = queue->active_place;
        queue->active_place = NONE;
    }
}

void queues_fini(struct sched *sched)
{
    for (size_t i = 0; i < sched->queues.count; i++) {
        struct queue *queue = &sched->queues.items[i];
        mem_free(queue->name);
        mem_free(queue->limits);
        quota_fini(queue);
        VEC_FREE(&queue->list_heap);
    }
    VEC_FREE(&sched->queues);
    VEC_FREE(&sched->active);
    SLOTS_FREE(&sched->accounts);
    seq_fini(&sched->queues_by_name);
}
