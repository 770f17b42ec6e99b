/* What pods that are not Berth's ask for and find no node for: each executor
 * says its own, the planner is told the sum of a pool. */
#include "control/control_private.h"

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

static void add_pending(const struct control *c,
                        const struct control_executor *executor,
                        struct str pool, struct resource_vec *sum)
{
    auto_arena arena = {0};
    struct event event;
    struct err err;
    struct str bytes =
        str_make(executor->pending.bytes, executor->pending.byte_count);

    if (!executor->pending.bytes ||
        log_decode_event(bytes, &arena, &event, &err) < 0 ||
        !str_equal(event.nodes.pool, pool)) {
        return;
    }
    struct resource_vec amounts;
    (void)!resource_request(&c->policy->policy.schema, &event.nodes.pending,
                            &amounts);
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t room = INT64_MAX / 2 - sum->v[r];
        sum->v[r] += amounts.v[r] < room ? amounts.v[r] : room;
    }
}

static void tell(struct control *c, struct str pool)
{
    struct resource_vec sum = {0};

    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            add_pending(c, c->executors.items[i], pool, &sum);
        }
    }
    pools_foreign_pending_set(c->pools, pool, &sum);
}

void pending_sync(struct control *c)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        if (executor && executor->pending.bytes) {
            tell(c, str_of(executor->pool));
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
    tell(c, pool);
}
