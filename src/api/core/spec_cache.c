#include "api/core/spec_cache.h"

#include <pthread.h>

#include "base/map.h"
#include "base/vec.h"
#include "model/event.h"
#include "wire/message/field.h"

enum { NONE = UINT32_MAX };

/* A job that is held. */
struct slot {
    struct job_id job;
    struct str event; /* in the command's arena */
    uint32_t next;    /* of its hold, or of the free ones, or NONE */
};

struct spec_hold {
    struct spec_hold *next;  /* settled later */
    struct command *command; /* owned, once settled */
    uint64_t seq;
    size_t byte_count;
    uint32_t first_slot;
};

struct spec_cache {
    pthread_mutex_t mutex; /* of all that follows */
    size_t byte_count, byte_count_max;
    VEC(struct slot) slots;
    uint32_t free_slot;
    struct map map;                 /* job to slot */
    struct spec_hold *first, *last; /* settled, in order of their records */
    uint64_t stored_seq;
};

struct spec_cache *spec_cache_create(size_t byte_count_max)
{
    struct spec_cache *cache = mem_alloc(sizeof(*cache));

    pthread_mutex_init(&cache->mutex, NULL);
    cache->byte_count_max = byte_count_max;
    cache->free_slot = NONE;
    return cache;
}

static void hold_destroy(struct spec_hold *hold)
{
    command_destroy(hold->command);
    mem_free(hold);
}

void spec_cache_destroy(struct spec_cache *cache)
{
    if (!cache) {
        return;
    }
    while (cache->first) {
        struct spec_hold *next = cache->first->next;
        hold_destroy(cache->first);
        cache->first = next;
    }
    VEC_FREE(&cache->slots);
    map_fini(&cache->map);
    pthread_mutex_destroy(&cache->mutex);
    mem_free(cache);
}

static void put_job(struct spec_cache *cache, struct spec_hold *hold,
                    const struct submit_item *item)
{
    uint32_t index = cache->free_slot;

    if (index == NONE) {
        index = (uint32_t)cache->slots.count;
        VEC_PUSH(&cache->slots, (struct slot){0});
    } else {
        cache->free_slot = cache->slots.items[index].next;
    }
    cache->slots.items[index] =
        (struct slot){item->job, item->event, hold->first_slot};
    hold->first_slot = index;
    map_put(&cache->map, item->job.v, index);
}

struct spec_hold *spec_cache_hold(struct spec_cache *cache,
                                  const struct command *command)
{
    uint32_t count = command->submit.item_count;
    size_t byte_count = sizeof(*command) + command->arena.byte_count +
                        count * sizeof(struct slot);
    struct spec_hold *hold = NULL;

    pthread_mutex_lock(&cache->mutex);
    if (cache->byte_count == 0 ||
        (cache->byte_count <= cache->byte_count_max &&
         byte_count <= cache->byte_count_max - cache->byte_count)) {
        hold = mem_alloc(sizeof(*hold));
        hold->byte_count = byte_count;
        hold->first_slot = NONE;
        cache->byte_count += byte_count;
        for (uint32_t i = 0; i < count; i++) {
            put_job(cache, hold, &command->submit.items[i]);
        }
    }
    pthread_mutex_unlock(&cache->mutex);
    return hold;
}

/* With the mutex. */
static void take_out(struct spec_cache *cache, const struct spec_hold *hold)
{
    uint32_t index = hold->first_slot;

    while (index != NONE) {
        struct slot *slot = &cache->slots.items[index];
        uint32_t next = slot->next;
        map_remove(&cache->map, slot->job.v);
        slot->next = cache->free_slot;
        cache->free_slot = index;
        index = next;
    }
    cache->byte_count -= hold->byte_count;
    if (cache->byte_count == 0) {
        /* Give back what a flood has taken. */
        VEC_FREE(&cache->slots);
        map_fini(&cache->map);
        cache->map = (struct map){0};
        cache->free_slot = NONE;
    }
}

void spec_cache_drop(struct spec_cache *cache, struct spec_hold *hold)
{
    pthread_mutex_lock(&cache->mutex);
    take_out(cache, hold);
    pthread_mutex_unlock(&cache->mutex);
    hold_destroy(hold);
}

void spec_cache_settle(struct spec_cache *cache, struct spec_hold *hold,
                       struct command *command)
{
    hold->command = command;
    hold->seq = command->log_seq;
    pthread_mutex_lock(&cache->mutex);
    bool is_over = hold->seq <= cache->stored_seq;
    if (is_over) {
        take_out(cache, hold);
    } else if (cache->first) {
        ASSERT(hold->seq >= cache->last->seq);
        cache->last->next = hold;
        cache->last = hold;
    } else {
        cache->first = cache->last = hold;
    }
    pthread_mutex_unlock(&cache->mutex);
    if (is_over) {
        hold_destroy(hold);
    }
}

void spec_cache_forget(struct spec_cache *cache, uint64_t seq)
{
    struct spec_hold *over = NULL;
    struct spec_hold **end = &over;

    pthread_mutex_lock(&cache->mutex);
    if (seq > cache->stored_seq) {
        cache->stored_seq = seq;
    }
    while (cache->first && cache->first->seq <= cache->stored_seq) {
        struct spec_hold *hold = cache->first;
        cache->first = hold->next;
        take_out(cache, hold);
        *end = hold;
        end = &hold->next;
        hold->next = NULL;
    }
    pthread_mutex_unlock(&cache->mutex);
    while (over) {
        struct spec_hold *next = over->next;
        hold_destroy(over);
        over = next;
    }
}

/* The field of an encoded event that is a SubmitJob. */
static bool find_submit_job(struct str event, struct str *ret_spec)
{
    struct field_cursor cursor = field_cursor_make(event);
    struct field field;

    while (!field_cursor_is_done(&cursor) && field_read(&cursor, &field)) {
        if (field.number == EVENT_SUBMIT && field.type == FIELD_BYTES) {
            *ret_spec = field.bytes;
            return true;
        }
    }
    return false;
}

bool spec_cache_find(struct spec_cache *cache, struct job_id job,
                     struct arena *arena, struct str *ret_spec)
{
    struct str spec;
    bool is_found = false;

    pthread_mutex_lock(&cache->mutex);
    uint32_t index = map_find(&cache->map, job.v);
    if (index != MAP_NONE &&
        find_submit_job(cache->slots.items[index].event, &spec)) {
        *ret_spec = arena_str(arena, spec);
        is_found = true;
    }
    pthread_mutex_unlock(&cache->mutex);
    return is_found;
}

bool spec_cache_has(struct spec_cache *cache, struct job_id job)
{
    pthread_mutex_lock(&cache->mutex);
    bool has = map_find(&cache->map, job.v) != MAP_NONE;
    pthread_mutex_unlock(&cache->mutex);
    return has;
}

void spec_cache_stats(struct spec_cache *cache, uint64_t *ret_job_count,
                      size_t *ret_byte_count)
{
    pthread_mutex_lock(&cache->mutex);
    *ret_job_count = cache->map.count;
    *ret_byte_count = cache->byte_count;
    pthread_mutex_unlock(&cache->mutex);
}
