/* Passes work between a lease stream and the leader: an answer of the leader
 * becomes work, a request of the executor an exchange. */
#include "api/core/state.h"
#include "api/leases/lease_stream.h"

void lease_work_destroy(struct work *work)
{
    if (work) {
        arena_fini(&work->arena);
        mem_free(work);
    }
}

void lease_work_add(struct lease_stream *stream, struct work *work)
{
    pthread_mutex_lock(&stream->mutex);
    bool is_ended = stream->is_ended;
    if (!is_ended) {
        if (stream->first) {
            stream->last->next = work;
        } else {
            stream->first = work;
        }
        stream->last = work;
    }
    pthread_mutex_unlock(&stream->mutex);
    if (is_ended) {
        lease_work_destroy(work);
    } else {
        event_hub_wake(stream->call->api->lease_hub, &stream->watcher);
    }
}

struct work *lease_work_take(struct lease_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    struct work *work = stream->first;
    if (work) {
        stream->first = work->next;
    }
    pthread_mutex_unlock(&stream->mutex);
    return work;
}

/* On the leader's thread: an exchange was answered. */
static void on_answered(struct command *command, void *ctx)
{
    struct lease_stream *stream = ctx;
    struct rpc_call *rpc = stream->call->rpc;
    struct work *work = mem_alloc(sizeof(*work));

    work->kind = WORK_ANSWER;
    work->arena = command->arena;
    work->response = command->exchange.response;
    work->result = command->result;
    work->text = arena_str(&work->arena, command->result_text);
    command->arena = (struct arena){0};
    command_destroy(command);
    pthread_mutex_lock(&stream->mutex);
    bool is_new =
        stream->is_held && work->result == COMMAND_OK && !stream->is_attached;
    bool is_late = is_new && stream->is_ended;
    if (is_new) {
        stream->is_attached = true;
        rpc_call_ref(rpc);
    }
    pthread_mutex_unlock(&stream->mutex);
    lease_work_add(stream, work);
    if (is_late) {
        lease_session_end(stream);
    }
    rpc_call_unref(rpc);
}

static const struct taint *copy_taints(struct arena *arena,
                                       const struct taint *from, uint32_t count)
{
    struct taint *taints = arena_alloc_array(arena, count, sizeof(*taints));

    for (uint32_t i = 0; i < count; i++) {
        taints[i] =
            (struct taint){arena_str(arena, from[i].key),
                           arena_str(arena, from[i].value), from[i].effect};
    }
    return taints;
}

static void copy_lease(struct arena *arena, const struct exchange_lease *from,
                       struct exchange_lease *to)
{
    *to = *from;
    to->queue = arena_str(arena, from->queue);
    to->job_set = arena_str(arena, from->job_set);
    to->user = arena_str(arena, from->user);
    to->node_name = arena_str(arena, from->node_name);
    to->pool = arena_str(arena, from->pool);
    to->gang_uniformity_label = arena_str(arena, from->gang_uniformity_label);
    to->away_taints =
        copy_taints(arena, from->away_taints, from->away_taint_count);
    to->gang_uniformity_value = arena_str(arena, from->gang_uniformity_value);
}

/* On the leader's thread: it has something new. */
static void on_push(struct exchange_session *session,
                    const struct exchange_response *response)
{
    struct work *work = mem_alloc(sizeof(*work));
    struct exchange_response *copy = &work->response;

    work->kind = WORK_PUSH;
    copy->leases = arena_alloc_array(&work->arena, response->lease_count,
                                     sizeof(copy->leases[0]));
    for (uint32_t i = 0; i < response->lease_count; i++) {
        copy_lease(&work->arena, &response->leases[i], &copy->leases[i]);
    }
    copy->lease_count = response->lease_count;
    copy->cancels = arena_alloc_array(&work->arena, response->cancel_count,
                                      sizeof(copy->cancels[0]));
    if (response->cancel_count) {
        memcpy(copy->cancels, response->cancels,
               response->cancel_count * sizeof(copy->cancels[0]));
    }
    copy->cancel_count = response->cancel_count;
    lease_work_add(session->ctx, work);
}

/* On the leader's thread: its last word about the session. */
static void on_released(struct exchange_session *session,
                        enum command_result result)
{
    struct lease_stream *stream = session->ctx;
    struct rpc_call *rpc = stream->call->rpc;
    struct work *work = mem_alloc(sizeof(*work));

    work->kind = WORK_RELEASED;
    work->result = result;
    work->text = result == COMMAND_INVALID
                     ? STR("another stream of this executor replaced it")
                     : STR("the scheduler is stopping");
    pthread_mutex_lock(&stream->mutex);
    stream->is_attached = false;
    pthread_mutex_unlock(&stream->mutex);
    lease_work_add(stream, work);
    rpc_call_unref(rpc);
}

static void on_told(struct command *command, void *ctx)
{
    (void)ctx;
    command_destroy(command);
}

void lease_tell(struct lease_stream *stream, struct command *command)
{
    command->done = on_told;
    if (inbox_post(stream->call->api->ports.inbox, command) < 0) {
        command_destroy(command);
    }
}

void lease_session_end(struct lease_stream *stream)
{
    struct command *command = command_create(COMMAND_SESSION_END);

    command->session_end.session = &stream->session;
    lease_tell(stream, command);
}

bool lease_exchange_post(struct lease_stream *stream, struct command *command)
{
    command->exchange.request.session =
        stream->is_held ? &stream->session : NULL;
    command->done = on_answered;
    command->ctx = stream;
    rpc_call_ref(stream->call->rpc);
    if (inbox_post(stream->call->api->ports.inbox, command) == 0) {
        return true;
    }
    command_destroy(command);
    rpc_call_unref(stream->call->rpc);
    return false;
}

void lease_work_fail(struct lease_stream *stream, enum command_result result,
                     const char *text)
{
    struct work *work = mem_alloc(sizeof(*work));

    work->kind = WORK_ANSWER;
    work->result = result;
    work->text = arena_str(&work->arena, str_of(text));
    lease_work_add(stream, work);
}

void lease_work_init(struct lease_stream *stream)
{
    stream->session = (struct exchange_session){on_push, on_released, stream};
    pthread_mutex_init(&stream->mutex, NULL);
}

void lease_work_fini(struct lease_stream *stream)
{
    while (stream->first) {
        struct work *next = stream->first->next;
        lease_work_destroy(stream->first);
        stream->first = next;
    }
    lease_work_destroy(stream->work);
    pthread_mutex_destroy(&stream->mutex);
}
