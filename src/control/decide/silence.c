/* Notices silent executors, and adds the events that follow to the batch. */
#include "control/decide/decide.h"
#include "control/fold/executors.h"
#include "control/state/state.h"

void batch_add_state(struct control *c, const struct control_executor *executor,
                     enum executor_state state)
{
    struct event_scope scope = {0};
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = EVENT_EXECUTOR_STATE;
    event.created_ms = c->batch.time_ms;
    event.executor.name = executor->id;
    event.executor.state = state;
    log_batch_add(&c->batch.log, &scope, &event);
}

static uint64_t ns_of_ms(int64_t ms)
{
    return (uint64_t)ms * NS_PER_MS;
}

/* When its state is next to change if it stays silent. */
static uint64_t executor_due_ns(const struct control *c,
                                const struct control_executor *executor)
{
    const struct policy *policy = &c->policy->policy;
    uint64_t stale_ns =
        executor->heard_ns + ns_of_ms(policy->executor_timeout_ms);
    uint64_t lost_ns =
        executor->heard_ns + ns_of_ms(policy->executor_lost_timeout_ms);

    if (!executor->is_known || executor->state == EXECUTOR_LOST) {
        return UINT64_MAX;
    }
    return executor->state == EXECUTOR_LIVE && stale_ns < lost_ns ? stale_ns
                                                                  : lost_ns;
}

uint64_t executors_due_ns(const struct control *c)
{
    uint64_t due_ns = UINT64_MAX;

    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            uint64_t ns = executor_due_ns(c, c->executors.items[i]);
            due_ns = ns < due_ns ? ns : due_ns;
        }
    }
    return due_ns;
}

void batch_add_silence(struct control *c)
{
    uint64_t now_ns = control_mono_ns(c);
    int64_t lost_ms = c->policy->policy.executor_lost_timeout_ms;

    for (size_t i = 0; i < c->executors.count; i++) {
        struct control_executor *executor = c->executors.items[i];
        if (!executor || executor->is_in_batch ||
            now_ns < executor_due_ns(c, executor)) {
            continue;
        }
        ASSERT(executor->is_known); /* whom the log knows can be missed */
        ASSERT(executor->state != EXECUTOR_LOST); /* once */
        bool is_lost = now_ns >= executor->heard_ns + ns_of_ms(lost_ms);
        batch_add_state(c, executor, is_lost ? EXECUTOR_LOST : EXECUTOR_STALE);
    }
}

void executors_forgive(struct control *c, uint64_t pause_ns)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            c->executors.items[i]->heard_ns += pause_ns;
        }
    }
}
