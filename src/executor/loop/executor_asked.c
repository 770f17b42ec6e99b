/* Stops and forgets that are repeated until they are done. */
#include "executor/loop/executor_private.h"

void executor_note_asked(struct executor *executor, struct run_id id)
{
    int64_t again_ms =
        executor_now_ms(executor) + executor->options.ask_again_ms;

    VEC_PUSH(&executor->asked, (struct asked){id, again_ms});
    executor->may_have_changes = true;
}

/* What was asked for is not done: reconcile asks again. */
static void forget_asking(struct executor *executor, struct run_id id)
{
    uint32_t index;
    struct run *run = executor_find(executor, id, &index);

    if (run && run->row.is_forgetting) {
        run->row.is_forgetting = false;
    } else if (run && run->row.is_stopping &&
               !reconcile_is_ended(run->row.phase)) {
        run->row.is_stopping = false;
    } else {
        return;
    }
    executor->stats.repeat_count++;
    executor_mark(executor, index);
}

/* Give back the places that were read, now and then. */
static void tidy(struct executor *executor)
{
    size_t left_count = executor->asked.count - executor->asked_first;

    if (executor->asked_first > left_count) {
        memmove(executor->asked.items,
                executor->asked.items + executor->asked_first,
                left_count * sizeof(*executor->asked.items));
        executor->asked.count = left_count;
        executor->asked_first = 0;
    }
}

void executor_ask_again(struct executor *executor)
{
    int64_t now_ms = executor_now_ms(executor);

    while (executor_asked_due_ms(executor) <= now_ms) {
        forget_asking(executor,
                      executor->asked.items[executor->asked_first++].id);
    }
    tidy(executor);
}

int64_t executor_asked_due_ms(const struct executor *executor)
{
    return executor->asked_first < executor->asked.count
               ? executor->asked.items[executor->asked_first].again_ms
               : INT64_MAX;
}
