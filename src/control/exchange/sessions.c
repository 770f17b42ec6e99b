/* Held sessions. */
#include "control/exchange/exchange.h"
#include "control/fold/executors.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

/* Whether as many sessions are held as are counted. */
static bool sessions_are_counted(const struct control *c)
{
    uint32_t count = 0;

    for (size_t i = 0; i < c->executors.count; i++) {
        count += c->executors.items[i] && c->executors.items[i]->session;
    }
    return count == (uint32_t)c->metrics.session_count;
}

void session_attach(struct control *c, struct control_executor *executor,
                    struct exchange_session *session)
{
    if (executor->session == session) {
        return;
    }
    if (executor->session) {
        c->metrics.session_count--;
    }
    session_detach(executor, COMMAND_INVALID);
    executor->session = session;
    executor->session_no = ++c->session_no;
    c->metrics.session_count++;
    ASSERT_SLOW(sessions_are_counted(c));
}

void session_end(struct control *c, struct command *command)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        struct control_executor *executor = c->executors.items[i];
        if (executor && executor->session &&
            executor->session == command->session_end.session) {
            c->metrics.session_count--;
            session_detach(executor, COMMAND_OK);
        }
    }
    ASSERT_SLOW(sessions_are_counted(c));
    command_answer(command, COMMAND_OK, "");
}

static void session_push(struct control *c, struct control_executor *executor)
{
    ASSERT(executor->session_no <= c->session_no); /* it was attached */
    auto_arena arena = {0};
    struct exchange_response response = {
        .cancels = executor->cancels.items,
        .cancel_count = (uint32_t)executor->cancels.count,
    };

    if (executor->credit > 0 &&
        executor->unsent_first < executor->unsent.count) {
        response.lease_count =
            lease_unsent(c, executor, &arena, &response.leases);
    }
    if (response.lease_count > 0 || response.cancel_count > 0) {
        executor->session->push(executor->session, &response);
    }
    executor->cancels.count = 0;
}

void sessions_push(struct control *c)
{
    if (c->metrics.session_count == 0) {
        return;
    }
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i] && c->executors.items[i]->session) {
            session_push(c, c->executors.items[i]);
        }
    }
}

void sessions_release(struct control *c)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            session_detach(c->executors.items[i], COMMAND_UNAVAILABLE);
        }
    }
    c->metrics.session_count = 0;
}
