/* Quarantines failing nodes, and releases them (model.md 6.10b). */
#include <inttypes.h>

#include "control/decide/decide.h"
#include "control/state/state.h"

enum { MS_PER_MINUTE = 60000 };

static struct str reason_of(struct control *c,
                            const struct sched_health_change *change)
{
    const struct sched_health *health = &change->health;
    auto_strbuf text = {0};

    switch (health->health) {
    case NODE_OUT:
        strbuf_addf(&text,
                    "%" PRIu64 " of %" PRIu64 " runs failed within %" PRId64
                    " min",
                    health->failed_count, health->ended_count,
                    c->policy->policy.quarantine.window_ms / MS_PER_MINUTE);
        break;
    case NODE_TRIAL:
        strbuf_add_text(&text, "the probation is over");
        break;
    case NODE_NORMAL:
        strbuf_addf(&text, "%u jobs in a row succeeded", health->success_count);
        break;
    }
    return arena_str(&c->batch.arena, strbuf_str(&text));
}

bool batch_add_health(struct control *c)
{
    const struct sched_health_change *changes;
    uint32_t count = pools_health_plan(c->pools, c->batch.time_ms, &changes);
    struct event_scope scope = {0};
    struct event event;

    for (uint32_t i = 0; i < count; i++) {
        const struct sched_health *health = &changes[i].health;
        /* A node is out until some time to come. */
        ASSERT(health->health != NODE_OUT ||
               health->until_ms > c->batch.time_ms);
        memset(&event, 0, sizeof(event));
        event.type = EVENT_NODE_HEALTH;
        event.created_ms = c->batch.time_ms;
        event.health.executor_id =
            pools_node_executor(c->pools, changes[i].node);
        event.health.node_name = pools_node_name(c->pools, changes[i].node);
        event.health.health = health->health;
        event.health.until_ms = health->until_ms;
        event.health.probation_ms = health->probation_ms;
        event.health.reason = reason_of(c, &changes[i]);
        log_batch_add(&c->batch.log, &scope, &event);
    }
    return count > 0;
}
