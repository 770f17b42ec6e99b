/* Exchanges: handles an executor's request and answers it, at once or over a
 * session. */
#include "control/exchange/exchange.h"

#include <stdio.h>

#include "control/decide/decide.h"
#include "control/fold/executors.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

/* What comes within a second of something else is news, and no beat. */
static void hear(struct control *c, struct control_executor *executor)
{
    uint64_t now_ns = control_mono_ns(c);
    uint64_t gap_ns = now_ns - executor->heard_ns;

    if (gap_ns >= (uint64_t)EXECUTOR_GAP_MS * NS_PER_MS) {
        executor->gap_ns = gap_ns;
    }
    executor->heard_ns = now_ns;
}

bool exchange_must_wait(struct control *c, const struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;
    struct control_executor *executor =
        control_find_executor(c, request->executor_id);

    if (executor && inventory_must_wait(c, executor, request)) {
        hear(c, executor);
        c->holds_plans = true;
        return true;
    }
    return executor && executor->is_in_batch;
}

/* Whether another program than the one that holds the executor's stream goes
 * by the same id.  The two would take each other's leases and have each other's
 * nodes forgotten, in turns.  A program that comes again, with a new stream, is
 * the same one, and one that does not say who it is has the benefit of the
 * doubt.  A stream may outlive its machine by minutes, but nothing is heard on
 * it: whoever comes in its stead does not wait for that. */
static bool is_duplicate(struct control *c,
                         const struct control_executor *executor,
                         const struct exchange_request *request)
{
    uint64_t silent_ns = control_mono_ns(c) - executor->heard_ns;
    bool is_heard = silent_ns < (uint64_t)CONTROL_DUPLICATE_ID_MS * NS_PER_MS;

    return is_heard && executor->session &&
           request->session != executor->session && executor->instance &&
           request->instance && executor->instance != request->instance;
}

static void answer_duplicate(struct control *c, struct command *command)
{
    struct str id = command->exchange.request.executor_id;
    char text[ERR_TEXT_BYTES_MAX];

    (void)snprintf(text, sizeof(text),
                   "another executor with the id \"%.*s\" is connected; give "
                   "each executor its own id (--id, executor.id)",
                   STR_ARG(id));
    c->metrics.duplicate_id_count++;
    if (c->config.hooks.duplicate_id) {
        c->config.hooks.duplicate_id(c->config.hooks.ctx, id);
    }
    command_answer(command, COMMAND_EXISTS, text);
}

/* Whether an exchange can be taken; else it is answered. */
static bool may_take(struct control *c, struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;

    if (request->executor_id.byte_count == 0) {
        command_answer(command, COMMAND_INVALID, "the executor has no id");
        return false;
    }
    struct control_executor *executor =
        control_find_executor(c, request->executor_id);
    if (!executor && intern_live_count(&c->executor_names) >= EXECUTORS_MAX) {
        command_answer_full(command, EXECUTORS_MAX, "executors");
        return false;
    }
    if (executor && is_duplicate(c, executor, request)) {
        answer_duplicate(c, command);
        return false;
    }
    if (!inventory_has_room(c, executor, request)) {
        command_answer_full(command, NODES_MAX, "nodes");
        return false;
    }
    return true;
}

bool exchange_take(struct control *c, struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;
    bool is_logged = false;

    if (!may_take(c, command)) {
        return false;
    }
    struct control_executor *executor = executor_get(c, request->executor_id);
    ASSERT(!executor->is_in_batch); /* one exchange of each in a batch */
    hear(c, executor);
    c->exchange_no++;
    if (!executor->is_known || request->has_nodes || request->has_protected) {
        is_logged = inventory_add(c, executor, request);
    }
    if (executor->state != EXECUTOR_LIVE) {
        batch_add_state(c, executor, EXECUTOR_LIVE);
        is_logged = true;
    }
    if (!is_logged) {
        exchange_answer(c, command);
        return false;
    }
    executor->is_in_batch = true;
    return true;
}

/* Note what an executor says that it holds, and collect what it must stop:
 * runs that are not known, or not of this executor. */
static void note_held(struct control *c,
                      const struct control_executor *executor,
                      struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;
    struct exchange_response *response = &command->exchange.response;
    uint32_t index = executor_index(c, executor);

    response->cancels = arena_alloc_array(&command->arena, request->run_count,
                                          sizeof(*response->cancels));
    for (uint32_t i = 0; i < request->run_count; i++) {
        uint32_t run = jobs_run_index(c->jobs, request->runs[i]);
        ASSERT(run == JOBS_NONE || run < c->notes.count);
        if (run == JOBS_NONE || c->notes.items[run].executor != index) {
            response->cancels[response->cancel_count++] = request->runs[i];
            continue;
        }
        c->notes.items[run].exchange_no = c->exchange_no;
        c->notes.items[run].session_no = executor->session_no;
    }
    for (uint32_t i = 0; i < request->runs_gone_count; i++) {
        uint32_t run = jobs_run_index(c->jobs, request->runs_gone[i]);
        if (run != JOBS_NONE && c->notes.items[run].executor == index) {
            c->notes.items[run].session_no = 0;
        }
    }
}

void exchange_answer(struct control *c, struct command *command)
{
    const struct exchange_request *request = &command->exchange.request;
    struct exchange_response *response = &command->exchange.response;
    struct control_executor *executor = executor_get(c, request->executor_id);

    executor->is_in_batch = false;
    hear(c, executor);
    c->exchange_no++;
    if (request->session) {
        session_attach(c, executor, request->session);
        executor->instance = request->instance;
    }
    note_held(c, executor, command);
    if (!request->session || request->is_full) {
        lease_full(c, executor, command, request->session != NULL);
    } else {
        executor->credit = request->lease_max;
        response->lease_count =
            lease_unsent(c, executor, &command->arena, &response->leases);
    }
    ASSERT(response->lease_count <= request->lease_max); /* its credit */
    command_answer(command, COMMAND_OK, "");
}
