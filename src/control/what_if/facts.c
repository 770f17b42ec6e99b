/* What a state consists of, as events. */
#include "control/fold/executors.h"
#include "control/state/state.h"
#include "control/what_if/private.h"
#include "wire/log/log_codec.h"

static void tell_queues(struct what_if *what_if, what_if_fact_fn *fn, void *ctx)
{
    uint32_t count;
    const struct queue_entry **list = queue_table_list(what_if->queues, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct event event = {.type = EVENT_QUEUE_SET};
        event.queue.record = list[i]->record;
        event.queue.encoded = list[i]->encoded;
        fn(ctx, &event);
    }
    queue_list_free(list, count);
}

static void tell_pools(const struct control *c, what_if_fact_fn *fn, void *ctx)
{
    for (size_t i = 0; i < c->pool_table.entries.count; i++) {
        struct event event = {.type = EVENT_POOL_SET};
        event.pool.record = c->pool_table.entries.items[i]->record;
        event.pool.encoded = c->pool_table.entries.items[i]->encoded;
        fn(ctx, &event);
    }
}

static void tell_windows(const struct control *c, what_if_fact_fn *fn,
                         void *ctx)
{
    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        struct event event = {.type = EVENT_WINDOW_SET};
        event.window.record = c->window_table.entries.items[i]->record;
        event.window.encoded = c->window_table.entries.items[i]->encoded;
        fn(ctx, &event);
    }
}

static int tell_nodes(const struct control_executor *executor,
                      what_if_fact_fn *fn, void *ctx, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < executor->nodes.count && rc == 0; i++) {
        const struct control_node *node = &executor->nodes.items[i];
        auto_arena arena = {0};
        struct event event;
        if (!node->bytes) {
            continue;
        }
        rc = log_decode_event(str_make(node->bytes, node->byte_count), &arena,
                              &event, err);
        if (rc == 0) {
            fn(ctx, &event);
        }
    }
    return rc;
}

int what_if_tell(struct what_if *what_if, what_if_fact_fn *fn, void *ctx,
                 struct err *err)
{
    const struct control *c = what_if->control;
    struct event policy = {.type = EVENT_POLICY_SET};
    int rc = 0;

    policy.policy.text = str_of(c->policy->text);
    fn(ctx, &policy);
    tell_queues(what_if, fn, ctx);
    tell_pools(c, fn, ctx);
    tell_windows(c, fn, ctx);
    for (size_t i = 0; i < c->executors.count && rc == 0; i++) {
        if (c->executors.items[i]) {
            rc = tell_nodes(c->executors.items[i], fn, ctx, err);
        }
    }
    return rc;
}
