/* Quotas count over all pools, but each shard sees only its own jobs.  So the
 * router keeps what queues have in each shard, tells each shard the sum of the
 * others, and drops from plans what several shards together would use too much.
 *
 * It keeps nothing until the first queue has a quota.  Then it counts all
 * queues in one walk over the jobs, and from then on with each start and end,
 * so that further quotas cost nothing.  Shards get the sums before they plan or
 * explain why a job waits. */
#include "pools/jobs/quota.h"

#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "sched/data/amounts.h"

/* What is kept of a queue; made if it is new. */
static struct quota_book *counts_of(struct pools *pools, uint32_t queue)
{
    while (pools->books.count <= queue) {
        VEC_PUSH(&pools->books, (struct quota_book){.is_kept = false});
    }
    return &pools->books.items[queue];
}

struct quota_book *quota_book_of(const struct pools *pools, uint32_t queue)
{
    return queue < pools->books.count && pools->books.items[queue].is_kept
               ? &pools->books.items[queue]
               : NULL;
}

const struct resource_vec *quota_request(const struct pools *pools,
                                         uint32_t class_index)
{
    struct pool_class *row = &pools->classes.items[class_index];
    auto_arena arena = {0};
    struct requirement requirement;

    if (!row->request) {
        int rc = requirement_unpack(str_make(row->packed, row->packed_bytes),
                                    &arena, &requirement);
        ASSERT(rc == 0); /* we packed it */
        row->request = mem_alloc(sizeof(*row->request));
        (void)!resource_request(&pools->policy->schema, &requirement.requests,
                                row->request);
    }
    return row->request;
}

/* The resources may be others now. */
static void requests_forget(struct pools *pools)
{
    for (size_t i = 0; i < pools->classes.count; i++) {
        mem_free(pools->classes.items[i].request);
        pools->classes.items[i].request = NULL;
    }
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

static void tell_later(struct pools *pools, uint32_t queue)
{
    struct quota_book *book = &pools->books.items[queue];

    if (book->is_kept && !book->is_stale) {
        book->is_stale = true;
        VEC_PUSH(&pools->stale_books, queue);
    }
}

void quotas_settle(struct pools *pools)
{
    for (size_t i = 0; i < pools->stale_books.count; i++) {
        uint32_t queue = pools->stale_books.items[i];
        bool is_kept = pools->books.items[queue].is_kept;
        ASSERT(pools->books.items[queue].is_stale); /* each is listed once */
        pools->books.items[queue].is_stale = false;
        for (size_t s = 0; is_kept && s < pools->shards.count; s++) {
            if (pools->shards.items[s]) {
                tell(pools, pools->shards.items[s], queue);
            }
        }
    }
    pools->stale_books.count = 0;
}

/* Counting. */

static void add(struct pools *pools, const struct pool_job *row, int sign)
{
    const struct resource_vec *request = quota_request(pools, row->class_index);
    struct quota_book *book = counts_of(pools, row->queue);

    ASSERT(row->local != NONE && row->node != NONE); /* leases alone count */
    while (book->by_shard.count <= row->shard) {
        VEC_PUSH(&book->by_shard, (struct resource_vec){0});
    }
    amounts_add_times(&book->by_shard.items[row->shard], request, sign);
    amounts_add_times(&book->sum, request, sign);
}

void quotas_count(struct pools *pools, const struct pool_job *row, int sign)
{
    if (pools->are_books_counted) {
        add(pools, row, sign);
        tell_later(pools, row->queue);
    }
}

static bool is_leased(const struct pool_job *row)
{
    return row->local != NONE && row->node != NONE;
}

/* Count all queues. */
static void count_all(struct pools *pools)
{
    for (uint32_t i = 0; i < pools->books.count; i++) {
        pools->books.items[i].by_shard.count = 0;
        pools->books.items[i].sum = (struct resource_vec){0};
    }
    for (size_t job = 0; job < pools->jobs.count; job++) {
        if (is_leased(&pools->jobs.items[job])) {
            add(pools, &pools->jobs.items[job], 1);
        }
    }
    pools->are_books_counted = true;
    pools->book_count_count++;
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

/* What a queue may have from now on. */
static void book_set(struct pools *pools, uint32_t queue,
                     const struct queue_record *record)
{
    struct quota_book *book = counts_of(pools, queue);

    ASSERT(pools->kept_book_count >= book->is_kept);
    pools->kept_book_count -= book->is_kept;
    book->is_kept = record->quota.count > 0;
    book->quota = quota_of(pools, &record->quota);
    pools->kept_book_count += book->is_kept;
    ASSERT(pools->kept_book_count <= pools->books.count);
}

void quotas_set(struct pools *pools, uint32_t queue,
                const struct queue_record *record)
{
    book_set(pools, queue, record);
    if (record->quota.count > 0 && !pools->are_books_counted) {
        count_all(pools);
    }
    tell_later(pools, queue);
}

void quotas_forget(struct pools *pools, uint32_t queue)
{
    struct queue_record plain = queue_record_plain((struct str){0});

    if (queue < pools->books.count) {
        book_set(pools, queue, &plain);
    }
}

void quotas_renew(struct pools *pools)
{
    const struct sched *first = first_of(pools);
    struct queue_record record;

    requests_forget(pools);
    for (uint32_t i = 0; i < pools->books.count; i++) {
        quotas_forget(pools, i);
    }
    for (uint32_t i = 0; i < sched_queues_end(first); i++) {
        if (sched_queue_record(first, i, &record) && record.quota.count) {
            book_set(pools, i, &record);
        }
    }
    pools->are_books_counted = false;
    if (pools->kept_book_count > 0) {
        count_all(pools);
    }
    for (uint32_t i = 0; i < pools->books.count; i++) {
        tell_later(pools, i);
    }
}

void quotas_fini(struct pools *pools)
{
    for (uint32_t i = 0; i < pools->books.count; i++) {
        VEC_FREE(&pools->books.items[i].by_shard);
    }
    VEC_FREE(&pools->books);
    VEC_FREE(&pools->stale_books);
}

static bool is_nothing(const struct resource_vec *amounts)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (amounts->v[r] != 0) {
            return false;
        }
    }
    return true;
}

/* Give back in a copy of the books what a job has in its shard. */
static bool uncount(const struct pools *pools, struct resource_vec *rests,
                    const struct pool_job *row)
{
    size_t at = (size_t)row->queue * pools->shards.count + row->shard;

    if (row->queue < pools->books.count) {
        amounts_subtract(&rests[at], quota_request(pools, row->class_index));
    }
    return row->queue < pools->books.count;
}

bool quotas_are_right(const struct pools *pools)
{
    size_t width = pools->shards.count, count = pools->books.count * width;
    auto_mem struct resource_vec *rests =
        mem_alloc_array(count + 1, sizeof(*rests));
    bool is_right = true;

    if (!pools->are_books_counted) {
        return pools->kept_book_count == 0;
    }
    for (size_t i = 0; i < pools->books.count; i++) {
        const struct quota_book *book = &pools->books.items[i];
        struct resource_vec sum = book->sum;
        for (size_t s = 0; s < book->by_shard.count; s++) {
            rests[i * width + s] = book->by_shard.items[s];
            amounts_subtract(&sum, &book->by_shard.items[s]);
        }
        is_right &= is_nothing(&sum);
    }
    for (size_t job = 0; job < pools->jobs.count; job++) {
        const struct pool_job *row = &pools->jobs.items[job];
        is_right &= !is_leased(row) || uncount(pools, rests, row);
    }
    for (size_t i = 0; i < count; i++) {
        is_right &= is_nothing(&rests[i]);
    }
    return is_right;
}
