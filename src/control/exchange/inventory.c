/* Compares the nodes of an exchange with the log, and adds only changes to the
 * batch. */
#include "control/exchange/exchange.h"
#include "control/fold/executors.h"
#include "control/state/state.h"

static bool node_differs(struct control *c, struct control_executor *executor,
                         struct str pool, const struct node_record *record,
                         struct strbuf *buf)
{
    uint32_t index = intern_find(&executor->node_names, record->name);

    if (index == INTERN_NONE || !executor->nodes.items[index].bytes) {
        return true;
    }
    struct control_node *node = &executor->nodes.items[index];
    node->seen_no = c->exchange_no;
    node_encode(buf, executor->id, pool, record);
    return buf->byte_count != node->byte_count ||
           memcmp(buf->bytes, node->bytes, buf->byte_count) != 0;
}

/* Nodes of a whole inventory that were not seen in this exchange. */
static uint32_t nodes_gone(struct control *c,
                           const struct control_executor *executor,
                           struct str *names)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < executor->nodes.count; i++) {
        if (executor->nodes.items[i].bytes &&
            executor->nodes.items[i].seen_no != c->exchange_no) {
            names[count++] = intern_get(&executor->node_names, i);
        }
    }
    return count;
}

/* Nodes that a delta says are gone, each once; one that it lists as well is
 * there. */
static uint32_t nodes_said_gone(struct control *c,
                                struct control_executor *executor,
                                const struct exchange_request *request,
                                struct str *names)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < request->nodes_gone_count; i++) {
        uint32_t index =
            intern_find(&executor->node_names, request->nodes_gone[i]);
        struct control_node *node =
            index == INTERN_NONE ? NULL : &executor->nodes.items[index];
        if (node && node->bytes && node->seen_no != c->exchange_no) {
            node->seen_no = c->exchange_no;
            names[count++] = intern_get(&executor->node_names, index);
        }
    }
    return count;
}

static bool pending_differs(const struct control_executor *executor,
                            const struct exchange_request *request)
{
    auto_strbuf buf = {0};

    pending_encode(&buf, executor->id, request->pool, &request->pending);
    return buf.byte_count != executor->pending.byte_count ||
           (buf.byte_count &&
            memcmp(buf.bytes, executor->pending.bytes, buf.byte_count) != 0);
}

/* Whether a node changes its pool object with a record. */
static bool moves_node(const struct control *c,
                       const struct control_executor *executor,
                       const struct node_record *record)
{
    return pools_object_count(c->pools) > 0 &&
           pools_node_moves(c->pools, executor->id, record);
}

/* The nodes that are new, or not as they were. */
static void add_set(struct control *c, struct control_executor *executor,
                    const struct exchange_request *request, struct event *event)
{
    auto_strbuf buf = {0};
    struct node_record *set =
        arena_alloc_array(&c->batch.arena, request->node_count, sizeof(*set));

    for (uint32_t i = 0; i < request->node_count; i++) {
        if (request->nodes[i].name.byte_count &&
            node_differs(c, executor, request->pool, &request->nodes[i],
                         &buf)) {
            set[event->nodes.set_count++] = request->nodes[i];
            c->batch.moves_nodes |= moves_node(c, executor, &request->nodes[i]);
        }
    }
    event->nodes.set = set;
}

/* The nodes that are gone; called after add_set(), which marks the nodes that
 * are there. */
static void add_removed(struct control *c, struct control_executor *executor,
                        const struct exchange_request *request,
                        struct event *event)
{
    struct str *gone = arena_alloc_array(&c->batch.arena, executor->nodes.count,
                                         sizeof(*gone));

    if (request->is_full && request->has_nodes) {
        event->nodes.removed_count = nodes_gone(c, executor, gone);
    } else {
        event->nodes.removed_count =
            nodes_said_gone(c, executor, request, gone);
    }
    event->nodes.removed = gone;
}

/* What it says of pods that are not ours, and of budgets. */
static void add_others(struct control *c,
                       const struct control_executor *executor,
                       const struct exchange_request *request,
                       struct event *event)
{
    event->nodes.has_pending =
        request->has_pending && pending_differs(executor, request);
    if (event->nodes.has_pending) {
        event->nodes.pending = request->pending;
    }
    event->nodes.has_protected =
        request->has_protected && protected_differs(executor, request);
    if (event->nodes.has_protected) {
        event->nodes.protected_runs = protected_texts(request, &c->batch.arena);
        event->nodes.protected_count = request->protected_count;
    }
}

bool inventory_add(struct control *c, struct control_executor *executor,
                   const struct exchange_request *request)
{
    struct event_scope scope = {0};
    struct event event;

    ASSERT(!executor->is_in_batch); /* it is compared with what is folded */
    memset(&event, 0, sizeof(event));
    event.type = EVENT_EXECUTOR_NODES;
    event.created_ms = c->batch.time_ms;
    event.nodes.executor_id = executor->id;
    event.nodes.pool = request->pool;
    add_set(c, executor, request, &event);
    add_removed(c, executor, request, &event);
    add_others(c, executor, request, &event);
    /* No more go than there are, and no more come than it lists. */
    ASSERT(event.nodes.removed_count <= executor->node_count);
    ASSERT(event.nodes.set_count <= request->node_count);
    if (executor->is_known && event.nodes.set_count == 0 &&
        event.nodes.removed_count == 0 && !event.nodes.has_pending &&
        !event.nodes.has_protected) {
        return false;
    }
    log_batch_add(&c->batch.log, &scope, &event);
    return true;
}

/* How many of the nodes are not in the table yet. */
static uint32_t count_fresh(const struct control_executor *executor,
                            const struct exchange_request *request)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < request->node_count; i++) {
        count += !executor ||
                 intern_find(&executor->node_names, request->nodes[i].name) ==
                     INTERN_NONE;
    }
    return count;
}

bool inventory_has_room(struct control *c,
                        const struct control_executor *executor,
                        const struct exchange_request *request)
{
    uint32_t fresh_count = count_fresh(executor, request);
    uint64_t total = (uint64_t)c->metrics.node_count +
                     c->batch.fresh_node_count + fresh_count;

    if (fresh_count > 0 && total > NODES_MAX) {
        return false;
    }
    c->batch.fresh_node_count += fresh_count;
    return true;
}

bool inventory_must_wait(const struct control *c,
                         const struct control_executor *executor,
                         const struct exchange_request *request)
{
    if (!request->has_nodes || !pools_is_any_busy(c->pools)) {
        return false;
    }
    for (uint32_t i = 0; i < request->node_count; i++) {
        if (moves_node(c, executor, &request->nodes[i])) {
            return true;
        }
    }
    return false;
}
