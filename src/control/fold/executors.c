/* Executors: what the log says of them. */

#include "control/fold/executors.h"

#include "control/state/named.h"
#include "control/state/state.h"

/* The table. */

struct control_executor *control_find_executor(const struct control *c,
                                               struct str id)
{
    uint32_t index = intern_find(&c->executor_names, id);

    return index == INTERN_NONE ? NULL : c->executors.items[index];
}

uint32_t executor_index(const struct control *c,
                        const struct control_executor *executor)
{
    uint32_t index = intern_find(&c->executor_names, executor->id);

    ASSERT(c->executors.items[index] == executor); /* one of each name */
    return index;
}

struct control_executor *executor_get(struct control *c, struct str id)
{
    struct control_executor *executor = control_find_executor(c, id);

    if (executor) {
        return executor;
    }
    uint32_t index = intern_add(&c->executor_names, id);
    while (c->executors.count <= index) {
        VEC_PUSH(&c->executors, NULL);
    }
    executor = mem_alloc(sizeof(*executor));
    executor->id = intern_get(&c->executor_names, index);
    executor->accepts = true; /* as the scheduler takes it */
    executor->heard_ns = control_mono_ns(c);
    c->executors.items[index] = executor;
    return executor;
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
    pools_node_remove(c->pools, node->sched_node);
    intern_unref(&executor->node_names, index);
    ASSERT(executor->node_count > 0);
    ASSERT(c->metrics.node_count >= executor->node_count);
    executor->node_count--;
    c->metrics.node_count--;
    c->has_lost_nodes = true;
}

static void executor_clear_nodes(struct control *c,
                                 struct control_executor *executor)
{
    for (uint32_t i = 0; i < executor->nodes.count; i++) {
        if (executor->nodes.items[i].bytes) {
            node_drop(c, executor, i);
        }
    }
    ASSERT(executor->node_count == 0);
}

static void executor_free(struct control_executor *executor)
{
    for (size_t k = 0; k < executor->nodes.count; k++) {
        mem_free(executor->nodes.items[k].bytes);
    }
    intern_fini(&executor->node_names);
    VEC_FREE(&executor->nodes);
    VEC_FREE(&executor->unsent);
    VEC_FREE(&executor->cancels);
    mem_free(executor->cordon_reason);
    mem_free(executor->pool);
    mem_free(executor->pending.bytes);
    mem_free(executor->protected.bytes);
    mem_free(executor);
}

/* Make room in the table, if nothing speaks of it any more. */
static void executor_drop_if_unused(struct control *c,
                                    struct control_executor *executor)
{
    uint32_t index = executor_index(c, executor);

    if (executor->is_known || executor->has_settings || executor->is_in_batch ||
        executor->session || executor->unacknowledged_count > 0 ||
        !executor->accepts ||
        jobs_next_on_executor(c->jobs, executor->id, JOBS_NONE) != JOBS_NONE) {
        return;
    }
    ASSERT(executor->node_count == 0); /* without a record it has none */
    executor_free(executor);
    c->executors.items[index] = NULL;
    intern_unref(&c->executor_names, index);
}

void executors_fini(struct control *c)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            executor_free(c->executors.items[i]);
        }
    }
    VEC_FREE(&c->executors);
    intern_fini(&c->executor_names);
    c->metrics.node_count = 0;
}

/* An executor at its limit of unacknowledged leases is closed until a quarter
 * of them is acknowledged: to open and close costs the scheduler a look at
 * all of its nodes. */
static bool has_room(const struct control *c,
                     const struct control_executor *executor)
{
    uint32_t max = c->policy->policy.unacknowledged_max;

    return max == 0 || executor->unacknowledged_count <
                           (executor->accepts ? max : max - max / 4);
}

void executor_sync(struct control *c, struct control_executor *executor)
{
    bool accepts = executor->state == EXECUTOR_LIVE && !executor->is_cordoned &&
                   has_room(c, executor);

    if (accepts != executor->accepts) {
        executor->accepts = accepts;
        pools_executor_set(c->pools, executor->id, accepts);
        c->is_plan_wanted |= accepts;
        c->is_balance_wanted |= accepts;
    }
}

/* Folding. */

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

static void fold_node(struct control *c, struct control_executor *executor,
                      struct str pool, const struct node_record *record)
{
    auto_strbuf buf = {0};
    struct control_node *node = node_get(executor, record->name);

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
    node->sched_node = pools_node_set(c->pools, executor->id, &known, pool);
    node->seen_no = c->exchange_no;
    ASSERT_SLOW(str_equal(pools_node_executor(c->pools, node->sched_node),
                          executor->id));
    ASSERT(executor->node_count <= executor->nodes.count);
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
    fold_node(c, executor, event.nodes.pool, &event.nodes.set[0]);
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

static void fold_node_removed(struct control *c,
                              struct control_executor *executor,
                              struct str name)
{
    uint32_t index = intern_find(&executor->node_names, name);

    if (index != INTERN_NONE) {
        node_drop(c, executor, index);
    }
}

/* The pool of the configuration that a record of an event names. */
static struct str pool_of(const struct event *event,
                          const struct node_record *record)
{
    return record->pool.byte_count ? record->pool : event->nodes.pool;
}

/* Whether a node that is there named another one. */
static bool named_another(const struct control_executor *executor,
                          const struct event *event,
                          const struct node_record *record)
{
    uint32_t at = intern_find(&executor->node_names, record->name);
    auto_arena arena = {0};
    struct event known;

    if (at == INTERN_NONE || !executor->nodes.items[at].bytes) {
        return false;
    }
    const struct control_node *node = &executor->nodes.items[at];
    int rc = log_decode_event(str_make(node->bytes, node->byte_count), &arena,
                              &known, NULL);
    ASSERT(rc == 0); /* we encoded them */
    return !str_equal(pool_of(&known, &known.nodes.set[0]),
                      pool_of(event, record));
}

/* Whether nodes go from pool to pool by an event, or might in between. */
static bool moves_nodes(const struct control *c,
                        const struct control_executor *executor,
                        const struct event *event)
{
    bool moves = event->nodes.is_full || pools_object_count(c->pools) == 0;

    for (uint32_t i = 0; !moves && i < event->nodes.set_count; i++) {
        const struct node_record *record = &event->nodes.set[i];
        moves = named_another(executor, event, record) ||
                pools_node_moves(c->pools, executor->id, record);
    }
    return moves;
}

static void fold_nodes(struct control *c, const struct event *event)
{
    struct control_executor *executor =
        executor_get(c, event->nodes.executor_id);

    bool is_held = moves_nodes(c, executor, event);
    executor->is_known = true;
    mem_free(executor->pool);
    executor->pool = str_dup(event->nodes.pool);
    if (is_held) {
        pools_flows_hold(c->pools);
    }
    if (event->nodes.is_full) {
        executor_clear_nodes(c, executor);
    }
    for (uint32_t i = 0; i < event->nodes.set_count; i++) {
        fold_node(c, executor, event->nodes.pool, &event->nodes.set[i]);
    }
    for (uint32_t i = 0; i < event->nodes.removed_count; i++) {
        fold_node_removed(c, executor, event->nodes.removed[i]);
    }
    if (is_held) {
        pools_flows_keep(c->pools);
    }
    if (event->nodes.has_pending) {
        pending_fold(c, executor, event->nodes.pool, &event->nodes.pending);
    }
    if (event->nodes.has_protected) {
        protected_fold(c, executor, event->nodes.protected_runs,
                       event->nodes.protected_count);
    }
    executor_sync(c, executor);
    c->node_generation++;
    c->is_plan_wanted = c->is_balance_wanted = true;
}

static void fold_node_settings(struct control *c, const struct event *event)
{
    bool is_cordoned =
        event->settings.is_cordoned && !event->settings.is_deleted;

    for (size_t i = 0; i < c->executors.count; i++) {
        struct control_executor *executor = c->executors.items[i];
        if (executor && (event->settings.name.byte_count == 0 ||
                         str_equal(executor->id, event->settings.name))) {
            node_cordon(c, executor, event->settings.node_name, is_cordoned);
        }
    }
}

static void fold_settings(struct control *c, const struct event *event)
{
    if (event->settings.node_name.byte_count) {
        fold_node_settings(c, event);
        return;
    }
    struct control_executor *executor = executor_get(c, event->settings.name);

    executor->has_settings = !event->settings.is_deleted;
    executor->is_cordoned =
        executor->has_settings && event->settings.is_cordoned;
    mem_free(executor->cordon_reason);
    executor->cordon_reason = str_dup(event->settings.reason);
    executor_sync(c, executor);
}

/* The record goes; its runs are left alone, and without a record nobody
 * counts its silence.  It comes back with its next exchange. */
static void fold_deleted(struct control *c, const struct event *event)
{
    struct control_executor *executor =
        control_find_executor(c, event->settings.name);

    if (executor) {
        struct resource_list none = {NULL, 0};
        executor_clear_nodes(c, executor);
        pending_fold(c, executor, str_of(executor->pool), &none);
        protected_fold(c, executor, NULL, 0);
        if (executor->session) {
            /* It begins anew, and says all that it has. */
            c->metrics.session_count--;
            session_detach(executor, COMMAND_NOT_FOUND);
        }
        executor->is_known = false;
        executor->state = EXECUTOR_LIVE;
        executor_sync(c, executor);
        executor_drop_if_unused(c, executor);
    }
}

void executor_fold(struct control *c, const struct event *event)
{
    if (event->type == EVENT_EXECUTOR_NODES) {
        fold_nodes(c, event);
    } else if (event->type == EVENT_EXECUTOR_SETTINGS) {
        fold_settings(c, event);
    } else if (event->type == EVENT_EXECUTOR_DELETED) {
        fold_deleted(c, event);
    } else {
        struct control_executor *executor =
            executor_get(c, event->executor.name);
        executor->state = event->executor.state;
        executor_sync(c, executor);
    }
}
