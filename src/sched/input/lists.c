/* Lists of waiting work: created for their first item, and freed after their
 * last. */
#include "sched/apps/apps.h"
#include "sched/state/list_heap.h"

/* The key of a class's list, or of a list of gangs (class_index NONE) of one
 * level. */
static struct key128 list_key(uint32_t queue, uint32_t class_index,
                              uint32_t level, uint32_t pool, uint32_t app)
{
    uint32_t kind = (class_index == NONE) | (level & LIST_BORROWED ? 2u : 0);

    return (struct key128){
        (uint64_t)queue << 32 |
            (class_index == NONE ? level & UINT8_MAX : class_index),
        (uint64_t)app << 32 | (uint32_t)(pool + 1) << 2 | kind,
    };
}

uint32_t list_get(struct sched *sched, uint32_t queue, uint32_t class_index,
                  uint32_t level, uint32_t pool, uint32_t app)
{
    struct key128 key = list_key(queue, class_index, level, pool, app);
    uint32_t at = map_find(&sched->list_map, key);

    if (at != MAP_NONE) {
        sched->lists.items[at].use_count++;
        return at;
    }
    at = SLOTS_TAKE(&sched->lists);
    ASSERT(at < LIST_NONE);
    struct list *list = &sched->lists.items[at];
    *list = (struct list){
        .queue = queue,
        .class_index = class_index,
        .pool = pool,
        .app = app,
        .account = NONE,
        .use_count = 1,
        .place = NONE,
        .level = (uint8_t)level,
        .is_borrowed = level & LIST_BORROWED,
    };
    if (class_index != NONE) {
        struct class *class = &sched->classes.items[class_index];
        ASSERT(class->is_live); /* work waits in classes that are there */
        class->list_count++;
        list->account = account_get(sched, queue, pool, class->priority_class);
    }
    map_put(&sched->list_map, key, at);
    return at;
}

void list_put(struct sched *sched, uint32_t at)
{
    struct list *list = &sched->lists.items[at];

    ASSERT(list->use_count > 0); /* who gives a list back has taken it */
    if (--list->use_count > 0) {
        return;
    }
    ASSERT(list->seq.count == 0 && list->place == NONE);
    map_remove(&sched->list_map,
               list_key(list->queue, list->class_index, list_level(list),
                        list->pool, list->app));
    if (list->class_index != NONE) {
        ASSERT(sched->classes.items[list->class_index].list_count > 0);
        sched->classes.items[list->class_index].list_count--;
    }
    SLOTS_GIVE(&sched->lists, at);
}

void list_refresh(struct sched *sched, uint32_t at)
{
    const struct list *list = &sched->lists.items[at];
    bool is_in = list->seq.count > 0;

    if (list->app == NONE) {
        list_heap_refresh(sched, at);
    } else if (is_in != (list->place != NONE)) {
        app_list(sched, list->app, at, is_in);
    }
}
