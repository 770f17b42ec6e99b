/* The streams on which the server requests logs from executors. */
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/logs/log_hub_private.h"
#include "berth/api.pb-c.h"
#include "wire/message/message.h"

struct session *log_session_find(struct log_hub *hub, struct str executor_id)
{
    struct session *session;

    TAILQ_FOREACH(session, &hub->sessions, link)
    {
        if (str_equal(session->executor_id, executor_id)) {
            return session;
        }
    }
    return NULL;
}

static void on_question_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    struct session *session = ctx;

    (void)rpc;
    pthread_mutex_lock(&session->hub->mutex);
    session->is_sending = false;
    pthread_mutex_unlock(&session->hub->mutex);
    if (is_ok) {
        log_session_send(session);
    }
}

void log_session_send(struct session *session)
{
    struct log_hub *hub = session->hub;
    struct rpc_call *rpc = NULL;
    struct question *question;
    auto_strbuf bytes = strbuf_make(0);

    pthread_mutex_lock(&hub->mutex);
    if (!session->is_sending && !session->is_over) {
        TAILQ_FOREACH(question, &session->questions, of_session)
        {
            if (!question->is_sent) {
                /* Its asker may go away: send a copy. */
                strbuf_add_str(&bytes, question->bytes);
                question->is_sent = session->is_sending = true;
                rpc = rpc_call_ref(session->call->rpc);
                break;
            }
        }
    }
    pthread_mutex_unlock(&hub->mutex);
    if (rpc) {
        /* If it cannot be sent the stream is over, which ends the session. */
        (void)!rpc_call_send(rpc, strbuf_str(&bytes), on_question_sent,
                             session);
        rpc_call_unref(rpc);
    }
}

/* End a session and fail its questions.  Only who gets true may end its call,
 * and nobody may touch it afterwards. */
static bool session_end(struct session *session)
{
    struct log_hub *hub = session->hub;
    struct questions left;

    TAILQ_INIT(&left);
    pthread_mutex_lock(&hub->mutex);
    bool is_first = !session->is_over;
    if (is_first) {
        session->is_over = true;
        TAILQ_REMOVE(&hub->sessions, session, link);
        hub->session_count--;
    }
    while (!TAILQ_EMPTY(&session->questions)) {
        struct question *question = TAILQ_FIRST(&session->questions);
        log_question_take_out(hub, question);
        TAILQ_INSERT_TAIL(&left, question, of_session);
    }
    pthread_mutex_unlock(&hub->mutex);
    struct question *question;
    while ((question = TAILQ_FIRST(&left))) {
        TAILQ_REMOVE(&left, question, of_session);
        log_question_fail(question, "the executor has disconnected");
    }
    return is_first;
}

static void on_session_cancelled(void *ctx, struct rpc_call *rpc)
{
    (void)rpc;
    struct session *session = ctx;

    if (session_end(session)) {
        api_call_fail(session->call, RPC_CANCELLED, "cancelled");
    }
}

/* The question that is answered, taken out; NULL: it was given up. */
static struct question *take_answered(struct session *session, uint64_t number)
{
    struct question *question;

    pthread_mutex_lock(&session->hub->mutex);
    TAILQ_FOREACH(question, &session->questions, of_session)
    {
        if (question->number == number) {
            log_question_take_out(session->hub, question);
            break;
        }
    }
    pthread_mutex_unlock(&session->hub->mutex);
    return question;
}

static int code_of(uint32_t code)
{
    switch (code) {
    case RPC_NOT_FOUND:
        return -ERR_NOT_FOUND;
    case RPC_INVALID_ARGUMENT:
        return -ERR_INVALID;
    case RPC_ABORTED:
        return -ERR_CONFLICT;
    case RPC_RESOURCE_EXHAUSTED:
        return -ERR_LIMIT;
    default:
        return -ERR_UNAVAILABLE;
    }
}

static void pass_on(struct session *session,
                    const Berth__Api__LogAnswer *message)
{
    struct question *question = take_answered(session, message->number);
    struct log_answer answer = {
        .text = str_make((const char *)message->text.data, message->text.len),
        .is_cut = message->cut,
        .message = message,
    };
    struct err err;

    if (!question) {
        return;
    }
    int rc = message->code == RPC_OK ? 0
                                     : err_set(&err, code_of(message->code),
                                               "%s", message->message);
    question->answered(question->call, rc, &answer, &err);
}

static void on_answer(void *ctx, struct rpc_call *rpc,
                      enum rpc_received received, struct str bytes)
{
    struct session *session = ctx;
    struct wire_limits limits = wire_request_limits;
    auto_arena arena = {0};
    ProtobufCMessage *message;
    struct err err;

    if (received == RPC_RECEIVE_CANCELLED) {
        return; /* on_session_cancelled() is told too */
    }
    if (received == RPC_HALF_CLOSED) {
        if (session_end(session)) {
            api_call_end(session->call);
        }
        return;
    }
    if (wire_decode(&berth__api__log_answer__descriptor, bytes, &limits, &arena,
                    &message, &err) < 0) {
        if (session_end(session)) {
            api_call_fail(session->call, RPC_INVALID_ARGUMENT, "%s", err.text);
        }
        return;
    }
    pass_on(session, (const Berth__Api__LogAnswer *)message);
    /* If nothing more can come, the call is over and says so. */
    (void)!rpc_call_recv(rpc, on_answer, session);
}

/* Put a session into the hub; the older one of the executor is given back
 * with a reference to its call.  False: there are too many. */
static bool add_session(struct log_hub *hub, struct session *session,
                        struct session **ret_older)
{
    pthread_mutex_lock(&hub->mutex);
    struct session *older = log_session_find(hub, session->executor_id);
    bool has_room = hub->session_count < LOG_SESSIONS_MAX;
    if (has_room) {
        TAILQ_INSERT_HEAD(&hub->sessions, session, link);
        hub->session_count++;
    }
    *ret_older = has_room ? older : NULL;
    if (*ret_older) {
        rpc_call_ref(older->call->rpc);
    }
    pthread_mutex_unlock(&hub->mutex);
    return has_room;
}

void handle_serve_logs(struct api_call *call, struct str request)
{
    struct session *session = arena_alloc(&call->arena, sizeof(*session));
    struct rpc_call *rpc = rpc_call_ref(call->rpc);
    Berth__Api__LogAnswer *message;
    struct session *older;

    if (!api_call_decode(call, &berth__api__log_answer__descriptor, request,
                         &message)) {
        rpc_call_unref(rpc);
        return;
    }
    *session = (struct session){
        .hub = call->api->log_hub,
        .call = call,
        .executor_id = str_of(message->executor_id),
    };
    TAILQ_INIT(&session->questions);
    if (session->executor_id.byte_count == 0) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "the executor has no id");
    } else if (!api_call_check_executor(call, session->executor_id)) {
        rpc_call_unref(rpc);
        return;
    } else if (!add_session(session->hub, session, &older)) {
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED, "too many log streams");
    } else {
        if (older) {
            struct rpc_call *older_rpc = older->call->rpc;
            if (session_end(older)) {
                api_call_fail(older->call, RPC_ABORTED,
                              "another stream of this executor replaced it");
            }
            rpc_call_unref(older_rpc);
        }
        (void)!rpc_call_recv(rpc, on_answer, session);
        if (rpc_call_on_cancelled(rpc, on_session_cancelled, session) < 0) {
            on_session_cancelled(session, rpc);
        }
    }
    rpc_call_unref(rpc);
}
