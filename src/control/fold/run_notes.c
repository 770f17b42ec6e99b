/* What executors know about runs, and have yet to learn. */
#include "control/fold/executors.h"
#include "control/state/state.h"

void session_detach(struct control_executor *executor,
                    enum command_result result)
{
    struct exchange_session *session = executor->session;

    ASSERT(executor->unsent_first <= executor->unsent.count);
    executor->session = NULL;
    executor->unsent.count = executor->unsent_first = 0;
    executor->cancels.count = 0;
    if (session) {
        session->released(session, result);
    }
}

void note_run_began(struct control *c, uint32_t run, struct str executor_id,
                    struct run_id id)
{
    struct control_executor *executor = executor_get(c, executor_id);

    while (c->notes.count <= run) {
        VEC_PUSH(&c->notes, (struct run_note){0});
    }
    c->notes.items[run] =
        (struct run_note){.executor = executor_index(c, executor)};
    executor->unacknowledged_count++;
    ASSERT(executor->unacknowledged_count <= jobs_count(c->jobs));
    executor_sync(c, executor);
    if (executor->session) {
        VEC_PUSH(&executor->unsent, (struct unsent_run){run, id});
    }
}

void note_run_acknowledged(struct control *c, uint32_t run)
{
    ASSERT(run < c->notes.count); /* it began before it was reported */
    struct control_executor *executor =
        c->executors.items[c->notes.items[run].executor];

    ASSERT(executor->unacknowledged_count > 0);
    executor->unacknowledged_count--;
    executor_sync(c, executor);
}

void note_run_unwanted(struct control *c, uint32_t run, struct run_id id)
{
    ASSERT(run < c->notes.count); /* it began before it was ended */
    struct control_executor *executor =
        c->executors.items[c->notes.items[run].executor];

    if (executor->session &&
        c->notes.items[run].session_no == executor->session_no) {
        VEC_PUSH(&executor->cancels, id);
    }
}
