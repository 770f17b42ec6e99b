#include "executor/loop/exec_server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "berth/api.pb-c.h"
#include "executor/files/exec_io.h"
#include "executor/loop/exec_message.h"
#include "wire/message/message.h"

enum {
    LOOK_MS = 1000,  /* between two looks for a user who is gone */
    ALIVE_MS = 3000, /* of silence, after which an empty message is sent */
};

/* A user in a pod. */
struct session {
    LIST_ENTRY(session) link;
    struct exec_server *server;
    struct rpc_stream *stream; /* owned */
    int fd;                    /* of the pod's side, owned */
    uint64_t number;
};

struct exec_server {
    struct rpc_channel *channel;
    struct runtime *runtime;
    struct exec_server_options options; /* owned */
    struct rpc_header *headers;         /* owned */
    pthread_mutex_t lock;               /* of what follows */
    pthread_cond_t changed;
    LIST_HEAD(, session) sessions;
    uint32_t count; /* of them, and of those that begin */
    bool is_stopping;
};

struct exec_server *
exec_server_create(struct rpc_channel *channel, struct runtime *runtime,
                   const struct exec_server_options *options)
{
    struct exec_server *server = mem_alloc(sizeof(*server));

    server->channel = channel;
    server->runtime = runtime;
    server->options = *options;
    server->options.executor_id = str_make(str_dup(options->executor_id),
                                           options->executor_id.byte_count);
    server->headers =
        mem_alloc_array(options->header_count + 1, sizeof(struct rpc_header));
    for (uint32_t i = 0; i < options->header_count; i++) {
        server->headers[i] =
            (struct rpc_header){mem_strdup(options->headers[i].name),
                                mem_strdup(options->headers[i].value)};
    }
    server->options.headers = server->headers;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    return server;
}

/* Copying. */

/* Send all to the pod, however long that takes; false: it, or the user, is
 * gone. */
static bool send_all(struct session *session, struct str bytes)
{
    struct pollfd wait = {session->fd, POLLOUT, 0};

    while (bytes.byte_count > 0 && !rpc_stream_is_over(session->stream)) {
        ssize_t n = send(session->fd, bytes.p, bytes.byte_count,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            bytes = str_make(bytes.p + n, bytes.byte_count - (size_t)n);
        } else if (errno == EAGAIN) {
            (void)poll(&wait, 1, LOOK_MS);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return bytes.byte_count == 0;
}

/* What the user sends, to the pod, until either goes. */
static void copy_input(struct session *session)
{
    auto_strbuf message = {0}, frames = {0};
    bool is_first = true, goes_on = true;
    struct err err;

    while (goes_on &&
           rpc_stream_next(session->stream, -1, &message) == RPC_WAIT_READY) {
        strbuf_clear(&frames);
        goes_on = exec_message_to_frames(strbuf_str(&message), is_first,
                                         &frames, &err) == 0 &&
                  send_all(session, strbuf_str(&frames));
        is_first = false;
    }
    /* The pod is to know, and who waits for it. */
    (void)shutdown(session->fd, SHUT_RDWR);
}

/* The pod's next message, the last with `ret_is_end`; what is no message ends
 * the session too. */
static void next_message(struct session *session, struct strbuf *in,
                         struct strbuf *message, bool *ret_is_end)
{
    struct pollfd wait = {session->fd, POLLIN, 0};
    struct exec_frame frame;
    size_t byte_count;
    bool is_there = true;
    int rc = 0;

    strbuf_clear(message);
    while (is_there && (rc = exec_frame_take(strbuf_str(in), false, &frame,
                                             &byte_count)) == 0) {
        if (poll(&wait, 1, ALIVE_MS) == 0) {
            return; /* an empty one, by which we learn that the user is gone */
        }
        is_there = exec_io_receive(in, session->fd, true) == EXEC_IO_SOME;
    }
    if (rc == 1 && exec_message_of_frame(&frame, message) == 0) {
        *ret_is_end = frame.kind == EXEC_END;
        exec_io_drop(in, byte_count);
    } else {
        *ret_is_end = true;
        strbuf_clear(message);
        exec_message_broken("the job's supervisor has ended the connection",
                            message);
    }
}

/* What the pod sends, to the user, until either goes; always with an end. */
static void copy_output(struct session *session)
{
    auto_strbuf in = strbuf_make(EXEC_IO_BYTES_MAX), message = {0};
    bool is_end = false, goes_on = true;

    while (goes_on && !is_end) {
        next_message(session, &in, &message, &is_end);
        goes_on = rpc_stream_send(session->stream, strbuf_str(&message), -1) ==
                      RPC_WAIT_READY &&
                  !rpc_stream_is_over(session->stream);
    }
    rpc_stream_close_send(session->stream);
}

static void *run_output(void *ctx)
{
    struct session *session = ctx;

    copy_output(session);
    /* Nobody reads the rest: who writes it is to know. */
    (void)shutdown(session->fd, SHUT_RDWR);
    return NULL;
}

/* Sessions. */

static bool say_hello(const struct session *session)
{
    Berth__Api__ExecOutput hello = BERTH__API__EXEC_OUTPUT__INIT;
    auto_strbuf bytes = {0};

    hello.executor_id =
        (char *)(uintptr_t)session->server->options.executor_id.p;
    hello.number = session->number;
    wire_encode(&hello.base, &bytes);
    return rpc_stream_send(session->stream, strbuf_str(&bytes), -1) ==
           RPC_WAIT_READY;
}

/* The server ends what was told to have ended. */
static void await_end(struct session *session)
{
    auto_strbuf rest = {0};
    enum rpc_wait wait;

    do {
        wait = rpc_stream_next(session->stream, EXEC_SERVER_END_MS_MAX, &rest);
    } while (wait == RPC_WAIT_READY);
}

static void end_session(struct session *session)
{
    struct exec_server *server = session->server;

    pthread_mutex_lock(&server->lock);
    LIST_REMOVE(session, link);
    pthread_mutex_unlock(&server->lock);
    rpc_stream_close(session->stream);
    close(session->fd);
    mem_free(session);
    pthread_mutex_lock(&server->lock);
    server->count--;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

static void *run_session(void *ctx)
{
    struct session *session = ctx;
    pthread_t output;

    if (say_hello(session) &&
        pthread_create(&output, NULL, run_output, session) == 0) {
        copy_input(session);
        (void)pthread_join(output, NULL);
        await_end(session);
    }
    end_session(session);
    return NULL;
}

/* Take a place; false: there is none. */
static bool take_place(struct exec_server *server)
{
    pthread_mutex_lock(&server->lock);
    bool has_room =
        !server->is_stopping && server->count < EXEC_SERVER_SESSIONS_MAX;
    server->count += has_room;
    pthread_mutex_unlock(&server->lock);
    return has_room;
}

static void give_place_back(struct exec_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->count--;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* Begin a session on a connection, which it owns; there is a place for it. */
static int begin_on(struct exec_server *server, uint64_t number, int fd,
                    struct err *err)
{
    struct session *session = mem_alloc(sizeof(*session));
    struct rpc_call_options options = {
        .headers = server->headers,
        .header_count = server->options.header_count,
    };
    pthread_attr_t detached;
    pthread_t thread;

    *session = (struct session){.server = server, .fd = fd, .number = number};
    session->stream = rpc_stream_open(server->channel,
                                      "/berth.api.Berth/ServeExec", &options);
    pthread_mutex_lock(&server->lock);
    LIST_INSERT_HEAD(&server->sessions, session, link);
    if (server->is_stopping) {
        rpc_stream_cancel(session->stream);
    }
    pthread_mutex_unlock(&server->lock);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&thread, &detached, run_session, session);
    pthread_attr_destroy(&detached);
    if (rc != 0) {
        end_session(session);
        return err_set(err, -ERR_IO, "cannot start a thread");
    }
    return 0;
}

int exec_server_begin(struct exec_server *server, uint64_t number,
                      struct job_id job, struct err *err)
{
    int fd = -1;

    if (!take_place(server)) {
        return err_set(err, -ERR_LIMIT,
                       "%d sessions, as many as an executor may have, are open "
                       "in this one",
                       EXEC_SERVER_SESSIONS_MAX);
    }
    int rc = runtime_exec(server->runtime, job, &fd, err);
    if (rc < 0) {
        give_place_back(server);
        return rc;
    }
    return begin_on(server, number, fd, err);
}

void exec_server_destroy(struct exec_server *server)
{
    struct session *session;

    if (!server) {
        return;
    }
    pthread_mutex_lock(&server->lock);
    server->is_stopping = true;
    LIST_FOREACH(session, &server->sessions, link)
    {
        rpc_stream_cancel(session->stream);
        (void)shutdown(session->fd, SHUT_RDWR);
    }
    while (server->count > 0) {
        pthread_cond_wait(&server->changed, &server->lock);
    }
    pthread_mutex_unlock(&server->lock);
    for (uint32_t i = 0; i < server->options.header_count; i++) {
        mem_free((char *)(uintptr_t)server->headers[i].name);
        mem_free((char *)(uintptr_t)server->headers[i].value);
    }
    mem_free(server->headers);
    mem_free((char *)(uintptr_t)server->options.executor_id.p);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    mem_free(server);
}
