/* Lists executors for operators. */
#include <stdlib.h>

#include "control/answer/answers.h"
#include "control/explain/amounts.h"
#include "control/fold/executors.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

/* What an executor offers to one pool, while it is added up. */
struct offer {
    const struct control_executor *executor;
    struct str pool;
    struct resource_vec capacity, available, free;
    uint32_t node_count, open_count, run_count;
};

struct offers {
    VEC(struct offer) items;
};

static void add_vec(struct resource_vec *sum, const struct resource_vec *v)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        sum->v[r] += v->v[r];
    }
}

/* The offer to a pool among those from `first` on, made when new. */
static struct offer *offer_get(struct offers *offers, size_t first,
                               const struct control_executor *executor,
                               struct str pool)
{
    for (size_t i = first; i < offers->items.count; i++) {
        if (str_equal(offers->items.items[i].pool, pool)) {
            return &offers->items.items[i];
        }
    }
    VEC_PUSH(&offers->items,
             ((struct offer){.executor = executor, .pool = pool}));
    return &offers->items.items[offers->items.count - 1];
}

static void add_executor(const struct control *c, struct offers *offers,
                         const struct control_executor *executor)
{
    size_t first = offers->items.count;

    for (size_t n = 0; n < executor->nodes.count; n++) {
        const struct control_node *node = &executor->nodes.items[n];
        struct sched_node_stats stats;
        if (!node->bytes) {
            continue;
        }
        pools_node_stats(c->pools, node->sched_node, &stats);
        struct offer *offer =
            offer_get(offers, first, executor,
                      pools_node_pool(c->pools, node->sched_node));
        add_vec(&offer->capacity, &stats.capacity);
        offer->node_count++;
        offer->run_count += stats.run_count;
        if (stats.is_open) {
            add_vec(&offer->available, &stats.capacity);
            add_vec(&offer->free, &stats.free);
            offer->open_count++;
        }
    }
    ASSERT(offers->items.count - first <= executor->node_count);
    if (offers->items.count == first && executor->is_known) {
        (void)offer_get(offers, first, executor, (struct str){0});
    }
}

static int compare_offers(const void *a, const void *b)
{
    const struct offer *x = a;
    const struct offer *y = b;
    int c = str_compare(x->executor->id, y->executor->id);

    return c ? c : str_compare(x->pool, y->pool);
}

static void fill_row(struct control *c, const struct offer *offer,
                     struct arena *arena, struct executor_status *row)
{
    static const char *const words[] = {
        [EXECUTOR_LIVE] = "live",
        [EXECUTOR_STALE] = "stale",
        [EXECUTOR_LOST] = "lost",
    };
    const struct control_executor *executor = offer->executor;

    ASSERT(offer->open_count <= offer->node_count);
    ASSERT(offer->node_count <= executor->node_count);
    *row = (struct executor_status){
        .name = arena_str(arena, executor->id),
        .pool = arena_str(arena, offer->pool),
        .state =
            executor->state == EXECUTOR_LIVE && executor_is_silent(c, executor)
                ? words[EXECUTOR_STALE]
                : words[executor->state],
        .is_cordoned = executor->is_cordoned,
        .is_held = executor->session != NULL,
        .silent_ms = executor_silent_ms(c, executor),
        .node_count = offer->node_count,
        .open_node_count = offer->open_count,
        .run_count = offer->run_count,
        .capacity = name_amounts(c, &offer->capacity, arena),
        .available = name_amounts(c, &offer->available, arena),
        .free = name_amounts(c, &offer->free, arena),
    };
    if (executor->is_cordoned && executor->cordon_reason) {
        row->cordon_reason = arena_str(arena, str_of(executor->cordon_reason));
    }
}

void clusters_answer(struct control *c, struct command *command)
{
    struct offers offers = {0};
    struct arena *arena = &command->arena;

    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            add_executor(c, &offers, c->executors.items[i]);
        }
    }
    uint32_t count = (uint32_t)offers.items.count;
    if (count) {
        qsort(offers.items.items, count, sizeof(struct offer), compare_offers);
    }
    command->executors.row_count = count;
    command->executors.rows =
        arena_alloc_array(arena, count, sizeof(*command->executors.rows));
    for (uint32_t i = 0; i < count; i++) {
        fill_row(c, &offers.items.items[i], arena, &command->executors.rows[i]);
    }
    VEC_FREE(&offers.items);
    command_answer(command, COMMAND_OK, "");
}
