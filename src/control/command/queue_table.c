#include "control/command/queue_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"

enum { SLOTS_MIN = 64 };

/* One block: the entry, its limits, its bytes. */
struct entry {
    struct queue_entry entry;
    atomic_uint ref_count;
};

struct queue_table {
    pthread_rwlock_t lock;
    struct entry **slots; /* owned; open addressing, NULL is free */
    uint32_t slot_count;  /* power of two */
    uint32_t count;
};

static struct entry *entry_of(const struct queue_entry *entry)
{
    return container_of((struct queue_entry *)(uintptr_t)entry, struct entry,
                        entry);
}

void queue_entry_unref(const struct queue_entry *entry)
{
    if (!entry) {
        return;
    }
    struct entry *e = entry_of(entry);
    ASSERT(atomic_load_explicit(&e->ref_count, memory_order_relaxed) > 0);
    if (atomic_fetch_sub_explicit(&e->ref_count, 1, memory_order_acq_rel) ==
        1) {
        mem_free(e);
    }
}

static struct str copy_str(char **at, struct str s)
{
    struct str copy = {*at, s.byte_count};

    if (s.byte_count) {
        memcpy(*at, s.p, s.byte_count);
    }
    *at += s.byte_count;
    return copy;
}

static size_t quota_bytes(const struct resource_list *quota)
{
    size_t byte_count = quota->count * sizeof(quota->items[0]);

    for (uint32_t i = 0; i < quota->count; i++) {
        byte_count += quota->items[i].name.byte_count;
    }
    return byte_count;
}

static struct entry *entry_create(const struct queue_record *record,
                                  struct str encoded)
{
    size_t limits_bytes = record->limit_count * sizeof(*record->limits);
    size_t byte_count = sizeof(struct entry) + limits_bytes +
                        record->name.byte_count + encoded.byte_count;

    for (uint32_t i = 0; i < record->limit_count; i++) {
        const struct queue_limit *l = &record->limits[i];
        byte_count += l->priority_class.byte_count + l->pool.byte_count +
                      l->resource.byte_count;
    }
    byte_count += quota_bytes(&record->quota);
    struct entry *e = mem_alloc(byte_count);
    struct queue_limit *limits = (struct queue_limit *)(void *)(e + 1);
    struct resource_amount *quota =
        (struct resource_amount *)(void *)((char *)limits + limits_bytes);
    char *at = (char *)(quota + record->quota.count);

    atomic_init(&e->ref_count, 1);
    e->entry.record = *record;
    e->entry.record.limits = limits;
    e->entry.name = copy_str(&at, record->name);
    e->entry.record.name = e->entry.name;
    e->entry.encoded = copy_str(&at, encoded);
    for (uint32_t i = 0; i < record->limit_count; i++) {
        limits[i] = record->limits[i];
        limits[i].priority_class = copy_str(&at, limits[i].priority_class);
        limits[i].pool = copy_str(&at, limits[i].pool);
        limits[i].resource = copy_str(&at, limits[i].resource);
    }
    e->entry.record.quota.items = quota;
    for (uint32_t i = 0; i < record->quota.count; i++) {
        quota[i] = record->quota.items[i];
        quota[i].name = copy_str(&at, quota[i].name);
    }
    return e;
}

static uint32_t home_of(const struct queue_table *table, struct str name)
{
    return (uint32_t)hash_bytes(name.p, name.byte_count, 0) &
           (table->slot_count - 1);
}

/* The slot of `name`, or the free one where it belongs. */
static uint32_t find_slot(const struct queue_table *table, struct str name)
{
    uint32_t at = home_of(table, name);

    ASSERT(table->count < table->slot_count); /* the search has an end */
    while (table->slots[at] && !str_equal(table->slots[at]->entry.name, name)) {
        at = (at + 1) & (table->slot_count - 1);
    }
    return at;
}

/* Whether the entries from a slot to the next empty one are found by their
 * names. */
static bool chain_is_sound(const struct queue_table *table, uint32_t at)
{
    while (table->slots[at] &&
           find_slot(table, table->slots[at]->entry.name) == at) {
        at = (at + 1) & (table->slot_count - 1);
    }
    return !table->slots[at];
}

static void grow(struct queue_table *table)
{
    struct entry **old = table->slots;
    uint32_t old_count = table->slot_count;

    table->slot_count = old_count ? old_count * 2 : SLOTS_MIN;
    table->slots = mem_alloc_array(table->slot_count, sizeof(*table->slots));
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i]) {
            table->slots[find_slot(table, old[i]->entry.name)] = old[i];
        }
    }
    mem_free(old);
}

struct queue_table *queue_table_create(void)
{
    struct queue_table *table = mem_alloc(sizeof(*table));

    pthread_rwlock_init(&table->lock, NULL);
    grow(table);
    return table;
}

void queue_table_destroy(struct queue_table *table)
{
    if (!table) {
        return;
    }
    for (uint32_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i]) {
            queue_entry_unref(&table->slots[i]->entry);
        }
    }
    mem_free(table->slots);
    pthread_rwlock_destroy(&table->lock);
    mem_free(table);
}

const struct queue_entry *queue_table_find(struct queue_table *table,
                                           struct str name)
{
    pthread_rwlock_rdlock(&table->lock);
    struct entry *e = table->slots[find_slot(table, name)];
    if (e) {
        atomic_fetch_add_explicit(&e->ref_count, 1, memory_order_relaxed);
    }
    pthread_rwlock_unlock(&table->lock);
    return e ? &e->entry : NULL;
}

static int compare_entries(const void *a, const void *b)
{
    const struct queue_entry *const *x = a;
    const struct queue_entry *const *y = b;

    return str_compare((*x)->name, (*y)->name);
}

const struct queue_entry **queue_table_list(struct queue_table *table,
                                            uint32_t *ret_count)
{
    uint32_t count = 0;

    pthread_rwlock_rdlock(&table->lock);
    const struct queue_entry **list =
        mem_alloc_array((size_t)table->count + 1, sizeof(struct queue_entry *));
    for (uint32_t i = 0; i < table->slot_count; i++) {
        if (table->slots[i]) {
            atomic_fetch_add_explicit(&table->slots[i]->ref_count, 1,
                                      memory_order_relaxed);
            list[count++] = &table->slots[i]->entry;
        }
    }
    ASSERT(count == table->count);
    pthread_rwlock_unlock(&table->lock);
    qsort(list, count, sizeof(struct queue_entry *), compare_entries);
    *ret_count = count;
    return list;
}

void queue_list_free(const struct queue_entry **entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        queue_entry_unref(entries[i]);
    }
    mem_free((void *)(uintptr_t)entries);
}

int queue_table_put(struct queue_table *table,
                    const struct queue_record *record, struct str encoded)
{
    struct entry *fresh = entry_create(record, encoded);
    int rc = 0;

    pthread_rwlock_wrlock(&table->lock);
    uint32_t at = find_slot(table, record->name);
    struct entry *old = table->slots[at];
    if (!old && table->count >= QUEUES_MAX) {
        rc = -ERR_LIMIT;
        old = fresh;
    } else {
        table->slots[at] = fresh;
        table->count += old == NULL;
        if ((uint64_t)table->count * 4 > (uint64_t)table->slot_count * 3) {
            grow(table);
        }
    }
    pthread_rwlock_unlock(&table->lock);
    queue_entry_unref(old ? &old->entry : NULL);
    return rc;
}

/* Close the hole at `hole` by shifting back what follows. */
static void shift_back(struct queue_table *table, uint32_t hole)
{
    uint32_t mask = table->slot_count - 1;

    table->slots[hole] = NULL;
    for (uint32_t at = (hole + 1) & mask; table->slots[at];
         at = (at + 1) & mask) {
        uint32_t home = home_of(table, table->slots[at]->entry.name);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            table->slots[hole] = table->slots[at];
            table->slots[at] = NULL;
            hole = at;
        }
    }
}

bool queue_table_remove(struct queue_table *table, struct str name)
{
    pthread_rwlock_wrlock(&table->lock);
    uint32_t at = find_slot(table, name);
    struct entry *old = table->slots[at];
    if (old) {
        ASSERT(table->count > 0);
        shift_back(table, at);
        table->count--;
        ASSERT_SLOW(chain_is_sound(table, at));
    }
    pthread_rwlock_unlock(&table->lock);
    queue_entry_unref(old ? &old->entry : NULL);
    return old != NULL;
}

uint32_t queue_table_count(struct queue_table *table)
{
    pthread_rwlock_rdlock(&table->lock);
    uint32_t count = table->count;
    pthread_rwlock_unlock(&table->lock);
    return count;
}
