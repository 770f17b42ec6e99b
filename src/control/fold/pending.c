/* Requests of other schedulers' pods that found no node: each executor reports
 * its own, and the planner divides them among pools. */
#include "control/fold/executors.h"
#include "control/state/state.h"

void pending_encode(struct strbuf *buf, struct str executor_id, struct str pool,
                    const struct resource_list *pending)
{
    struct event event;

    strbuf_clear(buf);
    if (pending->count == 0) {
        return;
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_EXECUTOR_NODES;
    event.nodes.executor_id = executor_id;
    event.nodes.pool = pool;
    event.nodes.has_pending = true;
    event.nodes.pending = *pending;
    log_encode_event(buf, &event);
}

/* Tell the planner what an executor said last. */
static void tell(struct control *c, const struct control_executor *executor,
                 struct str pool)
{
    struct str bytes =
        str_make(executor->pending.bytes, executor->pending.byte_count);
    struct resource_vec amounts = {0};
    auto_arena arena = {0};
    struct event event;
    struct err err;

    if (executor->pending.bytes &&
        log_decode_event(bytes, &arena, &event, &err) == 0) {
        (void)!resource_request(&c->policy->policy.schema, &event.nodes.pending,
                                &amounts);
        pool = event.nodes.pool;
    }
    pools_foreign_pending_set(c->pools, executor->id, pool, &amounts);
}

void pending_sync(struct control *c)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        if (executor && executor->pending.bytes) {
            tell(c, executor, str_of(executor->pool));
        }
    }
}

void pending_fold(struct control *c, struct control_executor *executor,
                  struct str pool, const struct resource_list *pending)
{
    auto_strbuf buf = {0};

    if (!executor->pending.bytes && pending->count == 0) {
        return;
    }
    pending_encode(&buf, executor->id, pool, pending);
    mem_free(executor->pending.bytes);
    executor->pending.byte_count = (uint32_t)buf.byte_count;
    executor->pending.bytes = buf.byte_count ? strbuf_steal(&buf) : NULL;
    tell(c, executor, pool);
}
