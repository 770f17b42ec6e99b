#include "elog/elog_recent.h"

void elog_recent_init(struct elog_recent *recent, uint64_t first_seq,
                      uint64_t next_seq)
{
    ASSERT(first_seq >= 1 && first_seq <= next_seq);
    pthread_mutex_init(&recent->mutex, NULL);
    recent->first_seq = first_seq;
    recent->next_seq = next_seq;
    recent->items =
        mem_alloc(ELOG_RECENT_COUNT_MAX * sizeof(struct elog_recent_item *));
    recent->count = 0;
    recent->byte_count = 0;
}

static struct elog_recent_item **slot_of(struct elog_recent *recent,
                                         uint64_t seq)
{
    return &recent->items[seq % ELOG_RECENT_COUNT_MAX];
}

/* Under the mutex. */
static void drop_oldest(struct elog_recent *recent)
{
    struct elog_recent_item **slot =
        slot_of(recent, recent->next_seq - recent->count);

    ASSERT(recent->count > 0 &&
           recent->byte_count >= (*slot)->record.payload.byte_count);
    recent->byte_count -= (*slot)->record.payload.byte_count;
    recent->count--;
    elog_recent_release(*slot);
    *slot = NULL;
}

void elog_recent_fini(struct elog_recent *recent)
{
    while (recent->count > 0) {
        drop_oldest(recent);
    }
    ASSERT(recent->byte_count == 0);
    mem_free(recent->items);
    pthread_mutex_destroy(&recent->mutex);
}

static struct elog_recent_item *copy_of(const struct elog_record *record)
{
    size_t byte_count = record->payload.byte_count;
    struct elog_recent_item *item = mem_alloc(sizeof(*item) + byte_count);

    atomic_init(&item->holder_count, 1);
    item->record = *record;
    item->record.payload = str_make(item->bytes, byte_count);
    if (byte_count > 0) {
        memcpy(item->bytes, record->payload.p, byte_count);
    }
    return item;
}

void elog_recent_add(struct elog_recent *recent,
                     const struct elog_record *record)
{
    size_t byte_count = record->payload.byte_count;
    bool is_kept = byte_count <= ELOG_RECENT_BYTES_MAX;
    struct elog_recent_item *item = is_kept ? copy_of(record) : NULL;

    pthread_mutex_lock(&recent->mutex);
    ASSERT(record->seq == recent->next_seq);
    while (recent->count > 0 &&
           (!is_kept || recent->count == ELOG_RECENT_COUNT_MAX ||
            recent->byte_count + byte_count > ELOG_RECENT_BYTES_MAX)) {
        drop_oldest(recent);
    }
    recent->next_seq++;
    if (is_kept) {
        *slot_of(recent, record->seq) = item;
        recent->count++;
        recent->byte_count += byte_count;
    }
    pthread_mutex_unlock(&recent->mutex);
}

void elog_recent_trim(struct elog_recent *recent, uint64_t first_seq)
{
    pthread_mutex_lock(&recent->mutex);
    ASSERT(first_seq >= recent->first_seq && first_seq <= recent->next_seq);
    recent->first_seq = first_seq;
    while (recent->next_seq - recent->count < first_seq) {
        drop_oldest(recent);
    }
    pthread_mutex_unlock(&recent->mutex);
}

struct elog_bounds elog_recent_bounds(struct elog_recent *recent)
{
    pthread_mutex_lock(&recent->mutex);
    struct elog_bounds bounds = {recent->first_seq, recent->next_seq - 1};
    pthread_mutex_unlock(&recent->mutex);
    return bounds;
}

struct elog_recent_item *elog_recent_hold(struct elog_recent *recent,
                                          uint64_t seq)
{
    struct elog_recent_item *item = NULL;

    pthread_mutex_lock(&recent->mutex);
    if (seq < recent->next_seq && seq >= recent->next_seq - recent->count) {
        item = *slot_of(recent, seq);
        atomic_fetch_add(&item->holder_count, 1);
    }
    pthread_mutex_unlock(&recent->mutex);
    ASSERT(!item || item->record.seq == seq);
    return item;
}

void elog_recent_release(struct elog_recent_item *item)
{
    if (atomic_fetch_sub(&item->holder_count, 1) == 1) {
        mem_free(item);
    }
}
