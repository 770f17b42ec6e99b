/* Lists nodes for operators. */
#include <stdlib.h>

#include "control/answer/answers.h"
#include "control/explain/amounts.h"
#include "control/fold/executors.h"
#include "control/fold/pools.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

/* A node that is to be listed. */
struct listed {
    struct str name;
    const struct control_executor *executor;
    const struct control_node *node;
};

static int compare_places(struct str a_name, struct str a_executor,
                          struct str b_name, struct str b_executor)
{
    int c = str_compare(a_name, b_name);

    return c ? c : str_compare(a_executor, b_executor);
}

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a;
    const struct listed *y = b;

    return compare_places(x->name, x->executor->id, y->name, y->executor->id);
}

static bool is_wanted(const struct control *c, const struct command *command,
                      const struct listed *item)
{
    struct str pool = command->nodes.pool, name = command->nodes.name;
    struct str executor = command->nodes.executor;

    return (!name.byte_count || str_equal(name, item->name)) &&
           (!executor.byte_count || str_equal(executor, item->executor->id)) &&
           (!pool.byte_count ||
            str_equal(pool,
                      pools_node_pool(c->pools, item->node->sched_node))) &&
           compare_places(command->nodes.after_name,
                          command->nodes.after_executor, item->name,
                          item->executor->id) < 0;
}

/* All that are wanted, in order of names; mem_free() them. */
static struct listed *collect(const struct control *c,
                              const struct command *command,
                              uint32_t *ret_count)
{
    struct listed *items =
        mem_alloc_array((size_t)c->metrics.node_count + 1, sizeof(*items));
    uint32_t count = 0;

    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        for (uint32_t n = 0; executor && n < executor->nodes.count; n++) {
            const struct control_node *node = &executor->nodes.items[n];
            if (!node->bytes) {
                continue;
            }
            ASSERT(count < (uint32_t)c->metrics.node_count);
            items[count] = (struct listed){intern_get(&executor->node_names, n),
                                           executor, node};
            count += is_wanted(c, command, &items[count]);
        }
    }
    qsort(items, count, sizeof(*items), compare_listed);
    *ret_count = count;
    return items;
}

/* The first that holds of: its executor's silence, cordons, its health; else
 * which pools are at odds about it. */
static void set_state(const struct control *c, struct node_status *status,
                      const struct listed *item,
                      const struct node_record *record,
                      const struct sched_health *health, struct arena *arena)
{
    static const char *const words[] = {
        [NODE_NORMAL] = "ready",
        [NODE_OUT] = "quarantined",
        [NODE_TRIAL] = "trial",
    };

    if (item->executor->state != EXECUTOR_LIVE) {
        bool is_lost = item->executor->state == EXECUTOR_LOST;
        status->state = is_lost ? "lost" : "stale";
        status->reason = STR("its executor does not report");
        return;
    }
    if (item->executor->is_cordoned || item->node->is_cordoned ||
        record->is_unschedulable) {
        status->state = "cordoned";
        status->reason =
            item->executor->is_cordoned
                ? arena_str(arena, str_of(item->executor->cordon_reason))
                : (struct str){0};
        return;
    }
    status->state = health->is_pinned ? "pinned" : words[health->health];
    status->until_ms = health->until_ms;
    if (health->health != NODE_NORMAL) {
        status->reason = arena_str(arena, health->reason);
    } else {
        status->reason = pool_conflict(c, record, arena);
    }
}

/* The record of a node, in the arena. */
static void get_record(const struct listed *item, struct arena *arena,
                       struct node_record *ret_record)
{
    auto_arena scratch = {0};
    struct event event;

    int rc =
        log_decode_event(str_make(item->node->bytes, item->node->byte_count),
                         &scratch, &event, NULL);
    ASSERT(rc == 0); /* we encoded them */
    ASSERT(event.nodes.set_count == 1 &&
           str_equal(event.nodes.set[0].name, item->name));
    node_record_copy(&event.nodes.set[0],
                     arena_alloc(arena, node_record_bytes(&event.nodes.set[0])),
                     ret_record);
}

/* The maintenance windows about a node. */
static void add_windows(const struct control *c,
                        const struct control_node *node, struct arena *arena,
                        struct node_status *status)
{
    const struct window_table *table = &c->window_table;
    struct node_window *windows =
        arena_alloc_array(arena, table->entries.count, sizeof(*windows));

    for (size_t i = 0; i < table->entries.count; i++) {
        const struct window_entry *entry = table->entries.items[i];
        if (window_set_has(&node->about, entry->slot)) {
            windows[status->window_count++] = (struct node_window){
                .name = arena_str(arena, entry->record.name),
                .begin_ms = entry->record.begin_ms,
                .end_ms = entry->record.end_ms,
            };
        }
    }
    status->windows = windows;
}

static void fill_status(struct control *c, const struct listed *item,
                        struct arena *arena, struct node_status *status)
{
    struct sched_node_stats stats;
    struct sched_health health;
    struct node_record record;
    uint32_t node = item->node->sched_node;

    get_record(item, arena, &record);
    pools_node_stats(c->pools, node, &stats);
    pools_health_get(c->pools, node, c->now_ms, &health);
    ASSERT(health.failed_count <=
           health.ended_count); /* only what ends fails */
    *status = (struct node_status){
        .name = arena_str(arena, item->name),
        .executor = arena_str(arena, item->executor->id),
        .pool = arena_str(arena, pools_node_pool(c->pools, node)),
        .capacity = name_amounts(c, &stats.capacity, arena),
        .free = name_amounts(c, &stats.free, arena),
        .run_count = stats.run_count,
        .ended_count = health.ended_count,
        .failed_count = health.failed_count,
        .labels = record.labels,
        .taints = record.taints,
        .label_count = record.label_count,
        .taint_count = record.taint_count,
    };
    set_state(c, status, item, &record, &health, arena);
    add_windows(c, item->node, arena, status);
}

void nodes_answer(struct control *c, struct command *command)
{
    uint32_t count;
    auto_mem struct listed *items = collect(c, command, &count);

    command->nodes.has_more = count > command->nodes.count_max;
    if (command->nodes.has_more) {
        count = command->nodes.count_max;
    }
    command->nodes.node_count = count;
    command->nodes.nodes = arena_alloc_array(&command->arena, count,
                                             sizeof(*command->nodes.nodes));
    for (uint32_t i = 0; i < count; i++) {
        fill_status(c, &items[i], &command->arena, &command->nodes.nodes[i]);
    }
    command_answer(command, COMMAND_OK, "");
}
