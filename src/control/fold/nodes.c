/* Nodes of executors: their bytes here, and their handles in the planner. */
#include "control/fold/executors.h"
#include "control/fold/pools.h"
#include "control/fold/windows.h"
#include "control/state/named.h"
#include "control/state/state.h"

static struct control_node *node_get(struct control_executor *executor,
                                     struct str name)
{
    uint32_t index = intern_find(&executor->node_names, name);

    if (index == INTERN_NONE) {
        index = intern_add(&executor->node_names, name);
        while (executor->nodes.count <= index) {
            VEC_PUSH(&executor->nodes, (struct control_node){0});
        }
    }
    return &executor->nodes.items[index];
}

void node_encode(struct strbuf *buf, struct str executor_id, struct str pool,
                 const struct node_record *record)
{
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = EVENT_EXECUTOR_NODES;
    event.nodes.executor_id = executor_id;
    event.nodes.pool = record->pool.byte_count ? (struct str){0} : pool;
    event.nodes.set = record;
    event.nodes.set_count = 1;
    strbuf_clear(buf);
    log_encode_event(buf, &event);
}

/* Which pools and windows mean a node, as the counts of both say. */
static void note_meant(struct control *c, struct control_node *node,
                       bool has_conflict, const struct window_set *about)
{
    ASSERT(!node->has_conflict || c->conflict_count > 0);
    c->conflict_count -= node->has_conflict;
    c->conflict_count += has_conflict;
    node->has_conflict = has_conflict;
    window_table_recount(&c->window_table, &node->about, about);
}

void node_fold(struct control *c, struct control_executor *executor,
               struct str pool, const struct node_record *record)
{
    auto_strbuf buf = {0};
    struct control_node *node = node_get(executor, record->name);
    struct window_set about = {0};

    node_encode(&buf, executor->id, pool, record);
    if (!node->bytes) {
        executor->node_count++;
        c->metrics.node_count++;
    } else {
        c->has_lost_nodes |= !str_equal(str_make(node->bytes, node->byte_count),
                                        strbuf_str(&buf));
    }
    mem_free(node->bytes);
    node->bytes = mem_dup(buf.bytes, buf.byte_count);
    node->byte_count = (uint32_t)buf.byte_count;
    struct node_record known = *record;
    known.is_unschedulable |= node->is_cordoned;
    windows_mark(c, executor->id, pool, &known, &about);
    note_meant(c, node, pool_has_conflict(c, record), &about);
    node->sched_node = pools_node_set(c->pools, executor->id, &known, pool);
    node->seen_no = c->exchange_no;
    ASSERT_SLOW(str_equal(pools_node_executor(c->pools, node->sched_node),
                          executor->id));
    ASSERT(executor->node_count <= executor->nodes.count);
}

/* A node goes, and its name with it: names of nodes that come and go would
 * add up. */
static void node_drop(struct control *c, struct control_executor *executor,
                      uint32_t index)
{
    struct control_node *node = &executor->nodes.items[index];

    mem_free(node->bytes);
    node->bytes = NULL;
    node->is_cordoned = false;
    note_meant(c, node, false, &(struct window_set){0});
    pools_node_remove(c->pools, node->sched_node);
    intern_unref(&executor->node_names, index);
    ASSERT(executor->node_count > 0);
    ASSERT(c->metrics.node_count >= executor->node_count);
    executor->node_count--;
    c->metrics.node_count--;
    c->has_lost_nodes = true;
}

void executor_drop_nodes(struct control *c, struct control_executor *executor)
{
    for (uint32_t i = 0; i < executor->nodes.count; i++) {
        if (executor->nodes.items[i].bytes) {
            node_drop(c, executor, i);
        }
    }
    ASSERT(executor->node_count == 0);
}

void node_remove(struct control *c, struct control_executor *executor,
                 struct str name)
{
    uint32_t index = intern_find(&executor->node_names, name);

    if (index != INTERN_NONE) {
        node_drop(c, executor, index);
    }
}

/* Fold a node's own bytes again, now that its cordon is another. */
static void fold_node_again(struct control *c,
                            struct control_executor *executor,
                            struct control_node *node)
{
    auto_arena arena = {0};
    struct event event;
    auto_mem char *bytes = mem_dup(node->bytes, node->byte_count);

    int rc = log_decode_event(str_make(bytes, node->byte_count), &arena, &event,
                              NULL);
    ASSERT(rc == 0); /* we encoded them */
    node_fold(c, executor, event.nodes.pool, &event.nodes.set[0]);
    c->node_generation++;
    c->is_plan_wanted = c->is_balance_wanted = true;
}

static void nodes_fold_again(struct control *c,
                             struct control_executor *executor)
{
    auto_mem struct named *list =
        mem_alloc_array(executor->nodes.count + 1, sizeof(*list));
    uint32_t count = 0;

    for (uint32_t i = 0; i < executor->nodes.count; i++) {
        if (executor->nodes.items[i].bytes) {
            list[count++] =
                (struct named){intern_get(&executor->node_names, i), i};
        }
    }
    named_sort(list, count);
    for (uint32_t i = 0; i < count; i++) {
        struct control_node *node = &executor->nodes.items[list[i].index];
        uint32_t seen_no = node->seen_no;
        fold_node_again(c, executor, node);
        executor->nodes.items[list[i].index].seen_no = seen_no;
    }
}

void executors_fold_again(struct control *c)
{
    auto_mem struct named *list =
        mem_alloc_array(c->executors.count + 1, sizeof(*list));
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            list[count++] = (struct named){c->executors.items[i]->id, i};
        }
    }
    named_sort(list, count);
    for (uint32_t i = 0; i < count; i++) {
        nodes_fold_again(c, c->executors.items[list[i].index]);
    }
}

void node_cordon(struct control *c, struct control_executor *executor,
                 struct str name, bool is_cordoned)
{
    uint32_t index = intern_find(&executor->node_names, name);

    if (index != INTERN_NONE && executor->nodes.items[index].bytes) {
        executor->nodes.items[index].is_cordoned = is_cordoned;
        fold_node_again(c, executor, &executor->nodes.items[index]);
    }
}
