/* Drops from a plan what several shards together would use above a quota. */
#include "pools/jobs/quota.h"
#include "sched/data/amounts.h"

/* What a decision that is not yet told changes: its book, or NULL. */
static struct quota_book *change_of(const struct pools *pools, uint32_t job,
                                    enum sched_action action,
                                    struct resource_vec *ret_request)
{
    const struct pool_job *row = &pools->jobs.items[job];
    bool is_start = action == SCHED_LEASE;

    if ((!is_start && action != SCHED_PREEMPT) || row->local == NONE ||
        (row->node == NONE) != is_start) {
        return NULL;
    }
    struct quota_book *book = quota_book_of(pools, row->queue);
    if (book) {
        *ret_request = *quota_request(pools, row->class_index);
    }
    return book;
}

/* Starts in the last plans of other shards that are not applied yet. */
static void count_decided(struct pools *pools, const struct shard *but)
{
    struct resource_vec request;

    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        for (size_t k = 0; shard && shard != but && k < shard->decisions.count;
             k++) {
            const struct sched_decision *decision = &shard->decisions.items[k];
            ASSERT(decision->job < pools->jobs.count);
            bool is_here =
                pools->jobs.items[decision->job].shard == shard->index;
            struct quota_book *book =
                decision->action == SCHED_LEASE && is_here
                    ? change_of(pools, decision->job, SCHED_LEASE, &request)
                    : NULL;
            if (book) {
                amounts_add(&book->planned, &request);
            }
        }
    }
}

bool quotas_begin(struct pools *pools, const struct shard *shard)
{
    if (pools->kept_book_count == 0) {
        return false;
    }
    ASSERT(pools->are_books_counted); /* since the first queue has a quota */
    for (size_t i = 0; i < pools->books.count; i++) {
        pools->books.items[i].planned = (struct resource_vec){0};
    }
    count_decided(pools, shard);
    return true;
}

static bool is_within(const struct quota_book *book,
                      const struct resource_vec *request)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0 &&
            book->sum.v[r] + book->planned.v[r] > book->quota.v[r]) {
            return false;
        }
    }
    return true;
}

/* Count what a group changes, or take it back. */
static void plan_group(struct pools *pools, const struct shard *shard,
                       const struct sched_decision *decisions, uint32_t count,
                       bool is_counted)
{
    struct resource_vec request;

    for (uint32_t i = 0; i < count; i++) {
        enum sched_action action = decisions[i].action;
        struct quota_book *book = change_of(
            pools, shard->jobs.items[decisions[i].job], action, &request);
        if (book && (action == SCHED_LEASE) == is_counted) {
            amounts_add(&book->planned, &request);
        } else if (book) {
            amounts_subtract(&book->planned, &request);
        }
    }
}

bool quotas_allow(struct pools *pools, const struct shard *shard,
                  const struct sched_decision *decisions, uint32_t count)
{
    struct resource_vec request;
    bool is_allowed = true;

    plan_group(pools, shard, decisions, count, true);
    for (uint32_t i = 0; i < count && is_allowed; i++) {
        struct quota_book *book =
            decisions[i].action == SCHED_LEASE
                ? change_of(pools, shard->jobs.items[decisions[i].job],
                            SCHED_LEASE, &request)
                : NULL;
        is_allowed = !book || is_within(book, &request);
    }
    if (!is_allowed) {
        plan_group(pools, shard, decisions, count, false);
    }
    return is_allowed;
}
