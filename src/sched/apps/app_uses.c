/* The non-empty lists and the resources of applications. */
#include "sched/apps/app_table.h"

void app_list(struct sched *sched, uint32_t index, uint32_t list, bool is_in)
{
    struct app *app = app_at(sched, index);
    uint32_t *place = &sched->lists.items[list].place;
    bool changes = is_in ? app->lists.count == 0 : app->lists.count == 1;

    if (changes) {
        app_detach(sched, index);
    }
    if (is_in) {
        ASSERT(sched->lists.items[list].app == index);
        *place = (uint32_t)app->lists.count;
        VEC_PUSH(&app->lists, list);
    } else {
        ASSERT(app->lists.items[*place] == list);
        uint32_t last = app->lists.items[--app->lists.count];
        app->lists.items[*place] = last;
        sched->lists.items[last].place = *place;
        *place = NONE;
    }
    if (changes) {
        app_attach(sched, index);
    }
}

void app_use(struct sched *sched, uint32_t index, uint32_t pool,
             const struct resource_vec *amounts, int sign)
{
    struct app *app = app_at(sched, index);
    uint32_t at = app->use_first;

    while (at != NONE && sched->app_uses.items[at].pool != pool) {
        at = sched->app_uses.items[at].next;
    }
    if (at == NONE) {
        at = SLOTS_TAKE(&sched->app_uses);
        sched->app_uses.items[at] = (struct app_use){
            .pool = pool,
            .next = app->use_first,
        };
        app->use_first = at;
    }
    amounts_add_times(&sched->app_uses.items[at].allocated, amounts, sign);
    ASSERT(amounts_is_sum(&sched->app_uses.items[at].allocated));
}

const struct resource_vec *app_used(const struct sched *sched, uint32_t index,
                                    uint32_t pool)
{
    for (uint32_t at = app_at(sched, index)->use_first; at != NONE;
         at = sched->app_uses.items[at].next) {
        if (sched->app_uses.items[at].pool == pool) {
            return &sched->app_uses.items[at].allocated;
        }
    }
    return NULL;
}
