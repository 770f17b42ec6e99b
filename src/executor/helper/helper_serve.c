/* The helper's loop: what is asked is checked, and then done. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "executor/files/fd_pass.h"
#include "executor/helper/helper_private.h"
#include "executor/port/node_set.h"

enum { WAIT_MS_MAX = 60000, ENDED = 1 };

struct server {
    const struct helper_options *options;
    struct helper_fds fds;
    struct runtime *runtime; /* NULL until it is opened */
    struct runtime *logs;    /* the same, for the thread of the logs */
    pthread_t logs_thread;
    bool has_thread;
    bool has_woken; /* the other end has not asked since */
    struct strbuf answer, payload;
    struct strbuf changes; /* that were not asked for yet */
    uint32_t change_count;
    uint64_t nodes_version; /* that the other end knows */
};

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Send an answer; one that did not fit is not sent in part. */
static int answer(int fd, int rc, const struct strbuf *payload)
{
    struct str bytes = payload->is_over ? STR("") : strbuf_str(payload);
    struct helper_answer head = {.rc = payload->is_over ? -ERR_LIMIT : rc,
                                 .byte_count = (uint32_t)bytes.byte_count};

    return helper_send(fd, &head, sizeof(head), bytes) < 0 ? ENDED : 0;
}

/* Whoever breaks the protocol is not us. */
static _Noreturn void refuse(const struct err *err)
{
    fprintf(stderr, "berth-helper: %s\n", err->text);
    _exit(HELPER_EXIT_REFUSED);
}

/* The next request, with its payload, or ENDED. */
static int take_request(int fd, bool is_for_logs,
                        struct helper_request *ret_request,
                        struct strbuf *payload)
{
    struct err err;

    strbuf_clear(payload);
    if (helper_receive(fd, ret_request, sizeof(*ret_request)) < 0) {
        return ENDED;
    }
    if (helper_request_check(ret_request, is_for_logs, &err) < 0) {
        refuse(&err);
    }
    return helper_receive_into(fd, payload, ret_request->byte_count) < 0 ? ENDED
                                                                         : 0;
}

/* Logs, files and connections, in a thread of their own: reading one takes as
 * long as it is. */

/* A request that does not decode is nobody's of ours. */

static int read_logs(struct server *server,
                     const struct helper_request *request, struct str payload,
                     struct strbuf *buf, struct err *err)
{
    struct runtime_log_query query = {.job = request->job,
                                      .line_count_max = request->number,
                                      .byte_count_max = request->limit};

    if (helper_take_query(payload, &query, err) < 0) {
        refuse(err);
    }
    return server->logs->ops->logs(server->logs, &query, buf, err);
}

static int read_files(struct server *server,
                      const struct helper_request *request, struct str payload,
                      struct strbuf *buf, struct err *err)
{
    struct runtime_files_query query = {.job = request->job,
                                        .offset = request->number,
                                        .byte_count_max = request->limit};

    if (helper_take_files_query(payload, &query, err) < 0) {
        refuse(err);
    }
    return server->logs->ops->files(server->logs, &query, buf, err);
}

/* The descriptor of a connection follows the answer. */
static int serve_exec(struct server *server,
                      const struct helper_request *request, struct strbuf *text)
{
    struct err err = {""};
    int exec_fd = -1;

    int rc = runtime_exec(server->logs, request->job, &exec_fd, &err);
    strbuf_clear(text);
    if (rc < 0) {
        strbuf_add_text(text, err.text);
    }
    int sent = answer(server->fds.logs_fd, rc, text);
    if (exec_fd >= 0) {
        sent = sent == 0 && fd_pass_send(server->fds.logs_fd, exec_fd) == 0
                   ? 0
                   : ENDED;
        close(exec_fd);
    }
    return sent;
}

static int serve_text(struct server *server,
                      const struct helper_request *request, struct str payload,
                      struct strbuf *text)
{
    struct err err = {""};

    strbuf_clear(text);
    int rc = (request->kind == HELPER_FILES ? read_files : read_logs)(
        server, request, payload, text, &err);
    if (rc < 0) {
        strbuf_clear(text);
        strbuf_add_text(text, err.text);
    }
    return answer(server->fds.logs_fd, rc, text);
}

static void *serve_logs(void *of)
{
    struct server *server = of;
    auto_strbuf payload = strbuf_make(HELPER_FILES_BYTES_MAX);
    auto_strbuf text = strbuf_make(HELPER_ANSWER_BYTES_MAX);
    struct helper_request request;
    int rc = 0;

    while (rc == 0 &&
           take_request(server->fds.logs_fd, true, &request, &payload) == 0) {
        rc = request.kind == HELPER_EXEC
                 ? serve_exec(server, &request, &text)
                 : serve_text(server, &request, strbuf_str(&payload), &text);
    }
    return NULL;
}

/* The calls. */

static void put_nodes(struct server *server, uint64_t version)
{
    const struct node_set *nodes = server->runtime->ops->nodes(server->runtime);

    helper_put_nodes(&server->answer, nodes, version);
    server->nodes_version = node_set_version(nodes);
}

static int open_runtime(struct server *server)
{
    const struct helper_options *options = server->options;
    struct err err = {""}, info = {""};

    if (server->runtime) {
        helper_put_str(&server->answer, STR("it is open"));
        return -ERR_CONFLICT;
    }
    int rc = options->open(options->open_ctx, &server->runtime, &info, &err);
    helper_put_str(&server->answer, str_of(rc < 0 ? err.text : info.text));
    if (rc < 0) {
        return rc;
    }
    server->logs = server->runtime;
    server->has_thread =
        pthread_create(&server->logs_thread, NULL, serve_logs, server) == 0;
    if (!server->has_thread) {
        runtime_close(server->runtime);
        server->runtime = NULL;
        strbuf_clear(&server->answer);
        helper_put_str(&server->answer, STR("cannot start a thread"));
        return -ERR_IO;
    }
    helper_put_int(&server->answer, server->runtime->create_max);
    put_nodes(server, 0);
    return 0;
}

static void put_pod(void *answer_, const struct runtime_pod *pod)
{
    helper_put_pod(answer_, pod);
}

static void add_change(struct server *server,
                       const struct runtime_change *change)
{
    helper_put_change(&server->changes, change);
    server->change_count++;
}

static void create(struct server *server, const struct helper_request *request)
{
    auto_arena arena = {0};
    struct runtime_run run = {.run = request->run, .job = request->job};
    struct err err = {""};

    if (helper_take_run(strbuf_str(&server->payload), &arena, &run, &err) < 0) {
        add_change(server, &(struct runtime_change){
                               .kind = RUNTIME_REFUSED,
                               .run = request->run,
                               .scope = RUNTIME_SCOPE_CLUSTER,
                               .text = str_of(err.text),
                           });
        return;
    }
    server->runtime->ops->create(server->runtime, &run);
}

static int status(struct server *server, struct run_id run)
{
    auto_arena arena = {0};
    struct runtime_status status;

    if (!server->runtime->ops->status(server->runtime, run, &arena, &status)) {
        return -ERR_NOT_FOUND;
    }
    helper_put_status(&server->answer, &status);
    return 0;
}

/* Take what the runtime has to say, up to what an answer holds. */
static void collect(struct server *server)
{
    struct runtime_change change;

    while (server->change_count < HELPER_POLL_MAX &&
           server->runtime->ops->poll(server->runtime, &change, 1) > 0) {
        add_change(server, &change);
    }
}

static void put_changes(struct server *server)
{
    helper_put_int(&server->answer, server->change_count);
    strbuf_add_str(&server->answer, strbuf_str(&server->changes));
    server->answer.is_over |= server->changes.is_over;
    put_nodes(server, server->nodes_version);
    strbuf_clear(&server->changes);
    server->change_count = 0;
    server->has_woken = false;
}

static int do_call(struct server *server, const struct helper_request *request)
{
    struct runtime *runtime = server->runtime;

    if (request->kind == HELPER_OPEN) {
        return open_runtime(server);
    }
    if (!runtime) {
        return -ERR_CONFLICT;
    }
    switch ((enum helper_kind)request->kind) {
    case HELPER_LIST:
        runtime->ops->list(runtime, put_pod, &server->answer);
        return 0;
    case HELPER_CREATE:
        create(server, request);
        return 0;
    case HELPER_STOP:
        runtime->ops->stop(runtime, request->run, request->number);
        return 0;
    case HELPER_ACK:
        runtime->ops->ack(runtime, request->run,
                          (enum reconcile_phase)request->number);
        return 0;
    case HELPER_FORGET:
        runtime->ops->forget(runtime, request->run);
        return 0;
    case HELPER_POLL:
        put_changes(server);
        return 0;
    case HELPER_STATUS:
        return status(server, request->run);
    case HELPER_OPEN:
    case HELPER_LOGS:
    case HELPER_FILES:
    case HELPER_EXEC:
    case HELPER_KINDS:
        break;
    }
    return -ERR_INVALID;
}

static int serve_call(struct server *server)
{
    struct helper_request request;

    if (take_request(server->fds.calls_fd, false, &request, &server->payload) ==
        ENDED) {
        return ENDED;
    }
    strbuf_clear(&server->answer);
    int rc = do_call(server, &request);
    return helper_is_answered(request.kind)
               ? answer(server->fds.calls_fd, rc, &server->answer)
               : 0;
}

/* How long nothing need be done unasked. */
static int wait_ms(const struct server *server)
{
    if (!server->runtime || server->change_count >= HELPER_POLL_MAX) {
        return WAIT_MS_MAX;
    }
    int64_t wake_ms = server->runtime->ops->next_wake_ms(server->runtime);
    int64_t now = now_ms();
    return wake_ms <= now                 ? 0
           : wake_ms - now <= WAIT_MS_MAX ? (int)(wake_ms - now)
                                          : WAIT_MS_MAX;
}

static void wake(struct server *server)
{
    bool has_news =
        server->change_count > 0 ||
        node_set_version(server->runtime->ops->nodes(server->runtime)) !=
            server->nodes_version;

    if (has_news && !server->has_woken) {
        server->has_woken = true;
        (void)!write(server->fds.wake_fd, "", 1);
    }
}

static int step(struct server *server)
{
    bool is_full = server->change_count >= HELPER_POLL_MAX;
    struct pollfd waits[] = {
        {.fd = server->fds.calls_fd, .events = POLLIN},
        {.fd = server->runtime && !is_full ? server->runtime->wake_fd : -1,
         .events = POLLIN},
    };

    (void)poll(waits, ARRAY_COUNT(waits), wait_ms(server));
    if (waits[0].revents && serve_call(server) == ENDED) {
        return ENDED;
    }
    if (server->runtime) {
        collect(server);
        wake(server);
    }
    return 0;
}

int helper_serve(const struct helper_options *options,
                 const struct helper_fds *fds)
{
    struct server server = {
        .options = options,
        .fds = *fds,
        .answer = strbuf_make(HELPER_ANSWER_BYTES_MAX),
        .payload = strbuf_make(HELPER_CREATE_BYTES_MAX),
        .changes = strbuf_make(HELPER_ANSWER_BYTES_MAX / 2),
    };

    while (step(&server) == 0) {
    }
    if (server.has_thread) {
        (void)shutdown(server.fds.logs_fd, SHUT_RDWR);
        (void)pthread_join(server.logs_thread, NULL);
    }
    runtime_close(server.runtime);
    strbuf_fini(&server.answer);
    strbuf_fini(&server.payload);
    strbuf_fini(&server.changes);
    return 0;
}
