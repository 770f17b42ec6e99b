#include "api/logs/log_hub.h"

#include "api/core/state.h"
#include "api/logs/log_hub_private.h"
#include "berth/api.pb-c.h"
#include "wire/message/message.h"

enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };

void log_question_take_out(struct log_hub *hub, struct question *question)
{
    TAILQ_REMOVE(&question->session->questions, question, of_session);
    TAILQ_REMOVE(&hub->questions, question, of_hub);
    question->session->question_count--;
    question->session = NULL;
}

void log_question_fail(struct question *question, const char *text)
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
            log_question_take_out(hub, first);
            pthread_mutex_unlock(&hub->mutex);
            log_question_fail(first, "the executor does not answer");
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
        log_question_take_out(hub, question);
    }
    pthread_mutex_unlock(&hub->mutex);
    if (question->gone) {
        question->gone(call);
    } else if (is_mine) {
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
    message.list_files = query->list_files;
    message.read_file = query->read_file;
    message.exec = query->is_exec;
    return wire_encode_arena(&message.base, arena);
}

/* With the mutex: how many questions of the same caller wait. */
static uint32_t count_same(const struct session *session,
                           const struct api_call *call)
{
    const struct question *question;
    uint32_t count = 0;

    TAILQ_FOREACH(question, &session->questions, of_session)
    {
        count += call->counted_as.p &&
                 str_equal(question->call->counted_as, call->counted_as);
    }
    return count;
}

/* With the mutex: a code, or 0 when the question is in `session`. */
static int put(struct log_hub *hub, struct session *session,
               struct question *question, const struct log_query *query,
               struct err *err)
{
    if (session->question_count >= LOG_QUESTIONS_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "%d requests for logs and files already wait for this "
                       "executor",
                       LOG_QUESTIONS_MAX);
    }
    if (count_same(session, question->call) >= LOG_QUESTIONS_EACH_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "%d of your requests for logs and files already wait "
                       "for this executor; try again when one is answered",
                       LOG_QUESTIONS_EACH_MAX);
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

    *question = (struct question){
        .call = call, .answered = answered, .gone = query->gone};
    pthread_mutex_lock(&hub->mutex);
    struct session *session = log_session_find(hub, executor_id);
    if (session) {
        rc = put(hub, session, question, query, err);
        session_rpc = rpc_call_ref(session->call->rpc);
    } else {
        rc = err_set(err, -ERR_NOT_FOUND,
                     "executor %.*s does not serve logs and files now",
                     STR_ARG(executor_id));
    }
    pthread_mutex_unlock(&hub->mutex);
    if (rc == 0) {
        log_session_send(session);
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

struct api_call *log_hub_claim(struct log_hub *hub, struct str executor_id,
                               uint64_t number)
{
    struct api_call *call = NULL;
    struct question *question;

    pthread_mutex_lock(&hub->mutex);
    struct session *session = log_session_find(hub, executor_id);
    if (session) {
        TAILQ_FOREACH(question, &session->questions, of_session)
        {
            /* Only a session has somebody to tell when its user goes. */
            if (question->number == number && question->gone) {
                call = question->call;
                (void)rpc_call_ref(call->rpc);
                log_question_take_out(hub, question);
                break;
            }
        }
    }
    pthread_mutex_unlock(&hub->mutex);
    return call;
}
