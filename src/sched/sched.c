#include "sched/apps/apps.h"
#include "sched/evict/cooldown.h"
#include "sched/feature_table.h"

struct sched *sched_create(const struct policy *policy)
{
    struct sched *sched = mem_alloc(sizeof(*sched));

    ASSERT(policy->class_count > 0);
    sched->policy = policy;
    sched->version = 1;
    for (size_t i = 0; i < feature_count(); i++) {
        if (feature_at(i)->init) {
            feature_at(i)->init(sched);
        }
    }
    return sched;
}

void sched_destroy(struct sched *sched)
{
    for (size_t i = feature_count(); sched && i > 0; i--) {
        if (feature_at(i - 1)->fini) {
            feature_at(i - 1)->fini(sched);
        }
    }
    mem_free(sched);
}

void sched_set_time(struct sched *sched, int64_t now_ms)
{
    if (now_ms > sched->now_ms) {
        sched->now_ms = now_ms;
        apps_advance(sched, now_ms);
        cooldown_advance(sched);
    }
}

void sched_policy_set(struct sched *sched, const struct policy *policy)
{
    ASSERT(policy->class_count > 0);
    sched->version++;
    sched->is_relinking = true;
    for (size_t i = feature_count(); i > 0; i--) {
        if (feature_at(i - 1)->let_go) {
            feature_at(i - 1)->let_go(sched);
        }
    }
    sched->policy = policy;
    for (size_t i = 0; i < feature_count(); i++) {
        if (feature_at(i)->follow) {
            feature_at(i)->follow(sched);
        }
    }
    sched->is_relinking = false;
}

void sched_queue_remove(struct sched *sched, uint32_t queue)
{
    ASSERT(queue < sched->queues.count);
    const struct queue *record = &sched->queues.items[queue];

    ASSERT(record->name && record->waiting_count == 0 &&
           record->leased_count == 0);
    sched->version++;
    for (size_t i = feature_count(); i > 0; i--) {
        if (feature_at(i - 1)->forget_queue) {
            feature_at(i - 1)->forget_queue(sched, queue);
        }
    }
}
