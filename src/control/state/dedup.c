#include "control/state/dedup.h"

#include "base/hash.h"

enum { SLOTS_MIN = 64, ENTRIES_MIN = 64, NONE = UINT32_MAX };

struct entry {
    struct key128 key;
    struct job_id job;
    uint64_t seq;
};

struct dedup {
    uint64_t seed;
    struct entry *ring; /* owned; `count` from `first` on, oldest first */
    uint32_t capacity;  /* power of two */
    uint32_t first, count;
    uint32_t *slots; /* owned; places in the ring */
    uint32_t slot_count;
    bool has_forgotten;
};

static bool key_equal(struct key128 a, struct key128 b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

static uint32_t find_slot(const struct dedup *dedup, struct key128 key)
{
    uint32_t mask = dedup->slot_count - 1;
    uint32_t at = (uint32_t)key.lo & mask;

    while (dedup->slots[at] != NONE &&
           !key_equal(dedup->ring[dedup->slots[at]].key, key)) {
        at = (at + 1) & mask;
    }
    return at;
}

static void free_slot(struct dedup *dedup, uint32_t hole)
{
    uint32_t mask = dedup->slot_count - 1;

    for (uint32_t at = (hole + 1) & mask; dedup->slots[at] != NONE;
         at = (at + 1) & mask) {
        uint32_t home = (uint32_t)dedup->ring[dedup->slots[at]].key.lo & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            dedup->slots[hole] = dedup->slots[at];
            hole = at;
        }
    }
    dedup->slots[hole] = NONE;
}

/* Whether the index leads to every entry, and to nothing else. */
static bool dedup_is_sound(const struct dedup *dedup)
{
    uint32_t used_count = 0;

    for (uint32_t i = 0; i < dedup->slot_count; i++) {
        used_count += dedup->slots[i] != NONE;
    }
    for (uint32_t i = 0; i < dedup->count; i++) {
        uint32_t at = (dedup->first + i) & (dedup->capacity - 1);
        if (dedup->slots[find_slot(dedup, dedup->ring[at].key)] != at) {
            return false;
        }
    }
    return used_count == dedup->count;
}

/* Lay the ring out anew in twice the room, and the index beside it. */
static void grow(struct dedup *dedup)
{
    uint32_t capacity = dedup->capacity ? dedup->capacity * 2 : ENTRIES_MIN;
    struct entry *ring = mem_alloc_array(capacity, sizeof(*ring));

    for (uint32_t i = 0; i < dedup->count; i++) {
        ring[i] = dedup->ring[(dedup->first + i) & (dedup->capacity - 1)];
    }
    mem_free(dedup->ring);
    mem_free(dedup->slots);
    dedup->ring = ring;
    dedup->capacity = capacity;
    dedup->first = 0;
    dedup->slot_count = capacity * 2;
    dedup->slots = mem_alloc_array(dedup->slot_count, sizeof(uint32_t));
    memset(dedup->slots, 0xff, dedup->slot_count * sizeof(uint32_t));
    for (uint32_t i = 0; i < dedup->count; i++) {
        dedup->slots[find_slot(dedup, ring[i].key)] = i;
    }
    ASSERT_SLOW(dedup_is_sound(dedup));
}

struct dedup *dedup_create(uint64_t seed)
{
    struct dedup *dedup = mem_alloc(sizeof(*dedup));

    dedup->seed = seed;
    grow(dedup);
    return dedup;
}

void dedup_destroy(struct dedup *dedup)
{
    if (dedup) {
        mem_free(dedup->ring);
        mem_free(dedup->slots);
        mem_free(dedup);
    }
}

struct key128 dedup_key(const struct dedup *dedup, struct str queue,
                        struct str client_id)
{
    uint64_t hi = hash_bytes(queue.p, queue.byte_count, dedup->seed);
    uint64_t lo = hash_bytes(queue.p, queue.byte_count, ~dedup->seed);

    return (struct key128){hash_bytes(client_id.p, client_id.byte_count, hi),
                           hash_bytes(client_id.p, client_id.byte_count, lo)};
}

bool dedup_find(const struct dedup *dedup, struct key128 key,
                struct job_id *ret_job)
{
    uint32_t at = dedup->slots[find_slot(dedup, key)];

    if (at == NONE) {
        return false;
    }
    *ret_job = dedup->ring[at].job;
    return true;
}

void dedup_put(struct dedup *dedup, struct key128 key, struct job_id job,
               uint64_t seq)
{
    uint32_t slot = find_slot(dedup, key);

    if (dedup->slots[slot] != NONE) {
        /* It keeps its age: forgetting early is safe, `seq` says how early. */
        dedup->ring[dedup->slots[slot]].job = job;
        dedup->ring[dedup->slots[slot]].seq = seq;
        return;
    }
    if (dedup->count == dedup->capacity) {
        grow(dedup);
        slot = find_slot(dedup, key);
    }
    uint32_t at = (dedup->first + dedup->count) & (dedup->capacity - 1);
    dedup->ring[at] = (struct entry){key, job, seq};
    dedup->slots[slot] = at;
    dedup->count++;
}

void dedup_forget(struct dedup *dedup, uint64_t seq)
{
    while (dedup->count > DEDUP_RECENT_COUNT &&
           (dedup->ring[dedup->first].seq <= seq ||
            dedup->count > DEDUP_COUNT_MAX)) {
        uint32_t slot = find_slot(dedup, dedup->ring[dedup->first].key);
        ASSERT(dedup->slots[slot] ==
               dedup->first); /* a key stands there once */
        free_slot(dedup, slot);
        dedup->first = (dedup->first + 1) & (dedup->capacity - 1);
        dedup->count--;
        dedup->has_forgotten = true;
    }
    ASSERT_SLOW(dedup_is_sound(dedup));
}

uint32_t dedup_count(const struct dedup *dedup)
{
    return dedup->count;
}

bool dedup_has_forgotten(const struct dedup *dedup)
{
    return dedup->has_forgotten;
}

void dedup_pack(const struct dedup *dedup, struct strbuf *buf)
{
    pack_u64(buf, dedup->seed);
    pack_u64(buf, dedup->has_forgotten);
    pack_u64(buf, dedup->count);
    if (dedup->count == 0) {
        return;
    }
    uint32_t behind = dedup->capacity - dedup->first;
    uint32_t count = dedup->count < behind ? dedup->count : behind;
    strbuf_add(buf, dedup->ring + dedup->first, count * sizeof(struct entry));
    strbuf_add(buf, dedup->ring, (dedup->count - count) * sizeof(struct entry));
}

struct dedup *dedup_unpack(struct pack_reader *reader)
{
    struct dedup *dedup = dedup_create(unpack_u64(reader));

    dedup->has_forgotten = unpack_count(reader, 1);
    uint32_t count = unpack_count(reader, UINT32_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct entry entry;
        if (reader->is_bad || reader->rest.byte_count < sizeof(entry)) {
            reader->is_bad = true;
            break;
        }
        memcpy(&entry, reader->rest.p, sizeof(entry));
        reader->rest.p += sizeof(entry);
        reader->rest.byte_count -= sizeof(entry);
        dedup_put(dedup, entry.key, entry.job, entry.seq);
    }
    if (reader->is_bad) {
        dedup_destroy(dedup);
        return NULL;
    }
    return dedup;
}
