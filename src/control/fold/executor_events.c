/* Folds events of executors and their nodes. */
#include "control/fold/executors.h"
#include "control/state/state.h"

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
        executor_drop_nodes(c, executor);
    }
    for (uint32_t i = 0; i < event->nodes.set_count; i++) {
        node_fold(c, executor, event->nodes.pool, &event->nodes.set[i]);
    }
    for (uint32_t i = 0; i < event->nodes.removed_count; i++) {
        node_remove(c, executor, event->nodes.removed[i]);
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
        executor_drop_nodes(c, executor);
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
        bool is_news = executor->state != event->executor.state;
        executor->state = event->executor.state;
        executor_sync(c, executor);
        if (is_news && c->state == CONTROL_LEADING &&
            c->config.hooks.executor_changed) {
            c->config.hooks.executor_changed(c->config.hooks.ctx, executor->id,
                                             executor->state);
        }
    }
}
