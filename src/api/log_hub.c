/*
 * Locks.  One mutex guards who is connected and what is asked; no callback
 * and no rpc_call_*() is made with it held.  Whoever takes a question out
 * under it answers it: so each is answered once.
 *
 * Memory.  A session lives in its stream's call, a question in the asker's;
 * both calls live until they are finished and nobody holds them.
 */
#include "api/log_hub.h"

#include <pthread.h>
#include <sys/queue.h>
#include <time.h>

#include "api/handlers.h"
#include "api/state.h"
#include "berth/api.pb-c.h"
#include "wire/message.h"

enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };

struct question {
    TAILQ_ENTRY(question) of_session, of_hub;
    struct session *session; /* NULL: it was taken out */
    struct api_call *call;
    log_answered_fn *answered;
    struct timespec deadline;
    uint64_t number;
    struct str bytes; /* encoded */
    bool is_sent;
};

TAILQ_HEAD(questions, question);

struct session {
    TAILQ_ENTRY(session) link;
    struct log_hub *hub;
    struct api_call *call;
    struct str executor_id;
    struct questions questions; /* oldest first */
    uint32_t question_count;
    bool is_sending, is_over;
};

struct log_hub {
    pthread_mutex_t mutex; /* of all that follows, and what it leads to */
    pthread_cond_t changed;
    pthread_t thread;
    TAILQ_HEAD(, session) sessions;
    uint32_t session_count;
    struct questions questions; /* all, the first to time out first */
    uint64_t number;            /* of the last question */
    uint32_t timeout_ms;
    bool is_stopping;
};

/* With the mutex: the caller must answer it. */
static void take_out(struct log_hub *hub, struct question *question)
{
    TAILQ_REMOVE(&question->session->questions, question, of_session);
    TAILQ_REMOVE(&hub->questions, question, of_hub);
    question->session->question_count--;
    question->session = NULL;
}

static void fail(struct question *question, const char *text)
{
    struct err err;

    int rc = err_set(&err, -ERR_UNAVAILABLE, "%s", text);
    question->answered(question->call, rc, NULL, &err);
}

/* Time. */

static bool is_due(const struct question *question)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > question->deadline.tv_sec ||
           (now.tv_sec == question->deadline.tv_sec &&
            now.tv_nsec >= question->deadline.tv_nsec);
}

static void *run(void *ctx)
{
    struct log_hub *hub = ctx;

    pthread_mutex_lock(&hub->mutex);
    while (!hub->is_stopping) {
        struct question *first = TAILQ_FIRST(&hub->questions);
        if (!first) {
            pthread_cond_wait(&hub->changed, &hub->mutex);
        } else if (is_due(first)) {
            take_out(hub, first);
            pthread_mutex_unlock(&hub->mutex);
            fail(first, "the executor does not answer");
            pthread_mutex_lock(&hub->mutex);
        } else {
            struct timespec until = first->deadline; /* it may go */
            (void)pthread_cond_timedwait(&hub->changed, &hub->mutex, &until);
        }
    }
    pthread_mutex_unlock(&hub->mutex);
    return NULL;
}

static struct timespec deadline_in(uint32_t timeout_ms)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += timeout_ms / MS_PER_S;
    at.tv_nsec += (long)(timeout_ms % MS_PER_S) * NS_PER_MS;
    if (at.tv_nsec >= (long)MS_PER_S * NS_PER_MS) {
        at.tv_sec++;
        at.tv_nsec -= (long)MS_PER_S * NS_PER_MS;
    }
    return at;
}

static void hub_free(struct log_hub *hub)
{
    pthread_cond_destroy(&hub->changed);
    pthread_mutex_destroy(&hub->mutex);
    mem_free(hub);
}

struct log_hub *log_hub_create(uint32_t timeout_ms, struct err *err)
{
    struct log_hub *hub = mem_alloc(sizeof(*hub));
    pthread_condattr_t attributes;

    hub->timeout_ms = timeout_ms;
    TAILQ_INIT(&hub->sessions);
    TAILQ_INIT(&hub->questions);
    pthread_mutex_init(&hub->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&hub->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&hub->thread, NULL, run, hub) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        hub_free(hub);
        return NULL;
    }
    return hub;
}

void log_hub_destroy(struct log_hub *hub)
{
    if (!hub) {
        return;
    }
    pthread_mutex_lock(&hub->mutex);
    hub->is_stopping = true;
    pthread_cond_signal(&hub->changed);
    pthread_mutex_unlock(&hub->mutex);
    pthread_join(hub->thread, NULL);
    ASSERT(hub->session_count == 0 && TAILQ_EMPTY(&hub->questions));
    hub_free(hub);
}

/* Executors' streams. */

static void send_next(struct session *session);

static void on_question_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    struct session *session = ctx;

    (void)rpc;
    pthread_mutex_lock(&session->hub->mutex);
    session->is_sending = false;
    pthread_mutex_unlock(&session->hub->mutex);
    if (is_ok) {
        send_next(session);
    }
}

/* Send the oldest question that was not, unless one is on its way. */
static void send_next(struct session *session)
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
        take_out(hub, question);
        TAILQ_INSERT_TAIL(&left, question, of_session);
    }
    pthread_mutex_unlock(&hub->mutex);
    struct question *question;
    while ((question = TAILQ_FIRST(&left))) {
        TAILQ_REMOVE(&left, question, of_session);
        fail(question, "the executor has gone away");
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

/* The one of an executor, or NULL.  With the mutex. */
static struct session *find_session(struct log_hub *hub, struct str executor_id)
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

/* The question that is answered, taken out; NULL: it was given up. */
static struct question *take_answered(struct session *session, uint64_t number)
{
    struct question *question;

    pthread_mutex_lock(&session->hub->mutex);
    TAILQ_FOREACH(question, &session->questions, of_session)
    {
        if (question->number == number) {
            take_out(session->hub, question);
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
    struct session *older = find_session(hub, session->executor_id);
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
    } else if (!add_session(session->hub, session, &older)) {
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED, "too many log streams");
    } else {
        if (older) {
            struct rpc_call *older_rpc = older->call->rpc;
            if (session_end(older)) {
                api_call_fail(older->call, RPC_ABORTED,
                              "another stream of this executor took its "
                              "place");
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

/* Askers. */

static void on_asker_cancelled(void *ctx, struct rpc_call *rpc)
{
    struct question *question = ctx;
    struct api_call *call = question->call;
    struct log_hub *hub = call->api->log_hub;

    (void)rpc;
    pthread_mutex_lock(&hub->mutex);
    bool is_mine = question->session != NULL;
    if (is_mine) {
        take_out(hub, question);
    }
    pthread_mutex_unlock(&hub->mutex);
    if (is_mine) {
        api_call_fail(call, RPC_CANCELLED, "cancelled");
    }
}

static struct str encode(const struct log_query *query, uint64_t number,
                         struct arena *arena)
{
    Berth__Api__LogQuestion message = BERTH__API__LOG_QUESTION__INIT;
    char id[ID_TEXT_BYTES_MAX];

    message.number = number;
    message.job_id = arena_strdup(arena, str_of(job_id_format(query->job, id)));
    message.container = arena_strdup(arena, query->container);
    message.since = arena_strdup(arena, query->since);
    message.line_count_max = query->tail_lines;
    message.byte_count_max = (int64_t)query->byte_count_max;
    return wire_encode_arena(&message.base, arena);
}

/* With the mutex: a code, or 0 when the question is in `session`. */
static int put(struct log_hub *hub, struct session *session,
               struct question *question, const struct log_query *query,
               struct err *err)
{
    if (session->question_count >= LOG_QUESTIONS_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "%d questions for logs wait for this executor",
                       LOG_QUESTIONS_MAX);
    }
    question->number = ++hub->number;
    question->bytes = encode(query, question->number, &question->call->arena);
    question->session = session;
    question->deadline = deadline_in(hub->timeout_ms);
    TAILQ_INSERT_TAIL(&session->questions, question, of_session);
    TAILQ_INSERT_TAIL(&hub->questions, question, of_hub);
    session->question_count++;
    pthread_cond_signal(&hub->changed);
    return 0;
}

int log_hub_ask(struct log_hub *hub, struct str executor_id,
                const struct log_query *query, struct api_call *call,
                log_answered_fn *answered, struct err *err)
{
    struct question *question = arena_alloc(&call->arena, sizeof(*question));
    struct rpc_call *rpc = rpc_call_ref(call->rpc), *session_rpc = NULL;
    int rc;

    *question = (struct question){.call = call, .answered = answered};
    pthread_mutex_lock(&hub->mutex);
    struct session *session = find_session(hub, executor_id);
    if (session) {
        rc = put(hub, session, question, query, err);
        session_rpc = rpc_call_ref(session->call->rpc);
    } else {
        rc = err_set(err, -ERR_NOT_FOUND,
                     "executor %.*s does not serve logs now",
                     STR_ARG(executor_id));
    }
    pthread_mutex_unlock(&hub->mutex);
    if (rc == 0) {
        send_next(session);
        if (rpc_call_on_cancelled(rpc, on_asker_cancelled, question) < 0) {
            on_asker_cancelled(question, rpc);
        }
    }
    if (session_rpc) {
        rpc_call_unref(session_rpc);
    }
    rpc_call_unref(rpc);
    return rc;
}
