/* Quotas are over all pools, and each shard sees its own: so the router keeps
 * what queues with a quota have in which shard, tells each what the others
 * have, and drops from plans what several of them would take at once. */
#include "pools/router.h"
#include "sched/amounts.h"

static struct quota_book *book_of(const struct pools *pools, uint32_t queue)
{
    return queue < pools->books.count && pools->books.items[queue].is_kept
               ? &pools->books.items[queue]
               : NULL;
}

static struct resource_vec request_of(const struct pools *pools,
                                      uint32_t class_index)
{
    const struct kind *kind = &pools->kinds.items[class_index];
    auto_arena arena = {0};
    struct requirement requirement;
    struct resource_vec request;

    int rc = requirement_unpack(str_make(kind->packed, kind->packed_bytes),
                                &arena, &requirement);
    ASSERT(rc == 0); /* we packed it */
    (void)!resource_request(&pools->policy->schema, &requirement.requests,
                            &request);
    return request;
}

/* Telling shards. */

static void apply_beside(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    (void)pools;
    sched_quota_beside_set(shard->sched, delta->other, delta->record);
}

static void tell(struct pools *pools, struct shard *shard, uint32_t queue)
{
    const struct quota_book *book = &pools->books.items[queue];
    struct resource_vec beside = book->sum;
    struct delta delta = delta_of(apply_beside);

    if (shard->index < book->by_shard.count) {
        amounts_subtract(&beside, &book->by_shard.items[shard->index]);
    }
    delta.other = queue;
    delta.record = &beside;
    delta.copy = amounts_copy;
    deliver(pools, shard, &delta);
}

static void tell_all(struct pools *pools, uint32_t queue, uint32_t but)
{
    for (size_t i = 0; i < pools->shards.count; i++) {
        if (pools->shards.items[i] && i != but) {
            tell(pools, pools->shards.items[i], queue);
        }
    }
}

/* Counting. */

static void add(struct quota_book *book, uint32_t shard,
                const struct resource_vec *request, int sign)
{
    while (book->by_shard.count <= shard) {
        VEC_PUSH(&book->by_shard, (struct resource_vec){0});
    }
    amounts_add_times(&book->by_shard.items[shard], request, sign);
    amounts_add_times(&book->sum, request, sign);
}

void quotas_count(struct pools *pools, const struct place *place, int sign)
{
    struct quota_book *book = book_of(pools, place->queue);

    if (book) {
        struct resource_vec request = request_of(pools, place->class_index);
        add(book, place->shard, &request, sign);
        tell_all(pools, place->queue, place->shard);
    }
}

/* Count for one queue, or for all (NONE), whose books are empty. */
static void count_all(const struct pools *pools, uint32_t queue)
{
    for (size_t job = 0; job < pools->places.count; job++) {
        const struct place *place = &pools->places.items[job];
        bool is_leased = place->local != NONE && place->node != NONE;
        struct quota_book *book =
            is_leased && (queue == NONE || place->queue == queue)
                ? book_of(pools, place->queue)
                : NULL;
        if (book) {
            struct resource_vec request = request_of(pools, place->class_index);
            add(book, place->shard, &request, 1);
        }
    }
}

/* The amounts of a list, without limit for all else. */
static struct resource_vec quota_of(const struct pools *pools,
                                    const struct resource_list *list)
{
    const struct resource_schema *schema = &pools->policy->schema;
    struct resource_vec quota;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        quota.v[r] = INT64_MAX;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        int column = resource_column(schema, list->items[i].name);
        if (column >= 0) {
            quota.v[column] =
                list->items[i].milli / schema->columns[column].unit_milli;
        }
    }
    return quota;
}

/* What a queue may have from now on; whether its book is new, and empty. */
static bool book_set(struct pools *pools, uint32_t queue,
                     const struct queue_record *record)
{
    while (pools->books.count <= queue) {
        VEC_PUSH(&pools->books, (struct quota_book){.is_kept = false});
    }
    struct quota_book *book = &pools->books.items[queue];
    bool was_kept = book->is_kept;
    book->is_kept = record->quota.count > 0;
    book->quota = quota_of(pools, &record->quota);
    if (was_kept || !book->is_kept) {
        return false;
    }
    book->by_shard.count = 0;
    book->sum = (struct resource_vec){0};
    return true;
}

void quotas_set(struct pools *pools, uint32_t queue,
                const struct queue_record *record)
{
    if (book_set(pools, queue, record)) {
        count_all(pools, queue);
        tell_all(pools, queue, NONE);
    }
}

void quotas_forget(struct pools *pools, uint32_t queue)
{
    if (queue < pools->books.count) {
        VEC_FREE(&pools->books.items[queue].by_shard);
        pools->books.items[queue] = (struct quota_book){.is_kept = false};
    }
}

void quotas_renew(struct pools *pools)
{
    const struct sched *first = first_of(pools);
    struct queue_record record;

    for (uint32_t i = 0; i < sched_queues_end(first); i++) {
        quotas_forget(pools, i);
        if (sched_queue_record(first, i, &record) && record.quota.count) {
            (void)book_set(pools, i, &record);
        }
    }
    count_all(pools, NONE); /* jobs are many: one look at each */
    for (uint32_t i = 0; i < pools->books.count; i++) {
        if (pools->books.items[i].is_kept) {
            tell_all(pools, i, NONE);
        }
    }
}

void quotas_fini(struct pools *pools)
{
    for (uint32_t i = 0; i < pools->books.count; i++) {
        VEC_FREE(&pools->books.items[i].by_shard);
    }
    VEC_FREE(&pools->books);
}

bool quotas_are_right(const struct pools *pools)
{
    for (uint32_t i = 0; i < pools->books.count; i++) {
        const struct quota_book *book = &pools->books.items[i];
        struct resource_vec sum = book->sum;
        for (size_t job = 0; book->is_kept && job < pools->places.count;
             job++) {
            const struct place *place = &pools->places.items[job];
            if (place->local != NONE && place->node != NONE &&
                place->queue == i) {
                struct resource_vec request =
                    request_of(pools, place->class_index);
                amounts_subtract(&sum, &request);
            }
        }
        for (int r = 0; book->is_kept && r < RESOURCE_COLUMNS_MAX; r++) {
            if (sum.v[r] != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Plans. */

/* What a decision that is not yet told changes: its book, or NULL. */
static struct quota_book *change_of(const struct pools *pools, uint32_t job,
                                    enum sched_action action,
                                    struct resource_vec *ret_request)
{
    const struct place *place = &pools->places.items[job];
    bool is_start = action == SCHED_LEASE;

    if ((!is_start && action != SCHED_PREEMPT) || place->local == NONE ||
        (place->node == NONE) != is_start) {
        return NULL;
    }
    struct quota_book *book = book_of(pools, place->queue);
    if (book) {
        *ret_request = request_of(pools, place->class_index);
    }
    return book;
}

/* What other shards' last plans start, which nobody was told of yet. */
static void count_decided(struct pools *pools, const struct shard *but)
{
    struct resource_vec request;

    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        for (size_t k = 0; shard && shard != but && k < shard->decisions.count;
             k++) {
            const struct sched_decision *decision = &shard->decisions.items[k];
            bool is_here =
                pools->places.items[decision->job].shard == shard->index;
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
    bool is_any = false;

    for (size_t i = 0; i < pools->books.count; i++) {
        pools->books.items[i].planned = (struct resource_vec){0};
        is_any |= pools->books.items[i].is_kept;
    }
    if (is_any) {
        count_decided(pools, shard);
    }
    return is_any;
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
