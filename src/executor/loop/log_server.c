#include "executor/loop/log_server.h"

#include <pthread.h>
#include <time.h>

#include "base/arena.h"
#include "berth/api.pb-c.h"
#include "executor/loop/exec_server.h"
#include "executor/loop/log_readers.h"
#include "wire/message/message.h"

enum {
    RETRY_MS = 2000,
    RETRY_UNKNOWN_MS = 60000, /* the server does not have the method */
    SEND_TIMEOUT_MS = 30000,
    MS_PER_S = 1000,
    NS_PER_MS = 1000000,
};

struct log_server {
    struct rpc_channel *channel; /* owned */
    struct runtime *runtime;
    char *executor_id;          /* owned */
    struct rpc_header *headers; /* owned with their strings */
    uint32_t header_count;
    int64_t retry_ms;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct rpc_stream *stream; /* the thread's; NULL: none */
    bool is_stopping;
    struct log_readers *readers; /* owned */
    struct exec_server *exec;    /* owned */
    pthread_t thread;
};

static uint32_t rpc_code_of(int code)
{
    switch (code) {
    case -ERR_NOT_FOUND:
        return RPC_NOT_FOUND;
    case -ERR_INVALID:
        return RPC_INVALID_ARGUMENT;
    case -ERR_CONFLICT:
        return RPC_ABORTED;
    case -ERR_LIMIT:
        return RPC_RESOURCE_EXHAUSTED;
    default:
        return RPC_UNAVAILABLE;
    }
}

/* Read what is asked for into `answer`, whose text lives in `text`. */
static int read_log(struct log_server *server,
                    const Berth__Api__LogQuestion *question,
                    Berth__Api__LogAnswer *answer, struct strbuf *text,
                    struct err *err)
{
    struct runtime_log_query query = {
        .container = str_of(question->container),
        .since = str_of(question->since),
        .line_count_max = question->line_count_max,
        .byte_count_max =
            question->byte_count_max > 0 &&
                    question->byte_count_max < RUNTIME_LOG_BYTES_MAX
                ? question->byte_count_max
                : RUNTIME_LOG_BYTES_MAX,
    };
    int rc =
        job_id_parse(str_of(question->job_id), &query.job) < 0
            ? err_set(err, -ERR_NOT_FOUND, "no such job")
            : server->runtime->ops->logs(server->runtime, &query, text, err);

    if (rc >= 0) {
        answer->cut = rc == 1;
        answer->text.data = (uint8_t *)text->bytes;
        answer->text.len = text->byte_count;
    }
    return rc;
}

/* What is asked of files; false: it is out of bounds. */
static bool take_files_query(const Berth__Api__LogQuestion *question,
                             struct runtime_files_query *ret_query)
{
    const Berth__Api__ReadJobFileRequest *read = question->read_file;

    *ret_query = (struct runtime_files_query){
        .path = str_of(read ? read->path : question->list_files->path),
        .is_read = read != NULL,
    };
    if (read) {
        ret_query->offset = read->offset;
        ret_query->file_id = read->file_id;
        ret_query->byte_count_max =
            read->byte_count_max > 0 &&
                    read->byte_count_max < RUNTIME_FILE_BYTES_MAX
                ? read->byte_count_max
                : RUNTIME_FILE_BYTES_MAX;
    }
    return ret_query->offset >= 0 &&
           job_id_parse(str_of(question->job_id), &ret_query->job) == 0;
}

/* The same for files; the answer's message lives in the arena. */
static int read_files(struct log_server *server,
                      const Berth__Api__LogQuestion *question,
                      Berth__Api__LogAnswer *answer, struct strbuf *bytes,
                      struct arena *arena, struct err *err)
{
    struct runtime_files_query query;
    ProtobufCMessage *message = NULL;

    if (!take_files_query(question, &query)) {
        return err_set(err, -ERR_NOT_FOUND, "no such job or part of a file");
    }
    int rc = server->runtime->ops->files(server->runtime, &query, bytes, err);
    if (rc == 0) {
        rc = wire_decode(
            query.is_read ? &berth__api__read_job_file_response__descriptor
                          : &berth__api__list_job_files_response__descriptor,
            strbuf_str(bytes), &wire_request_limits, arena, &message, err);
    }
    if (rc == 0 && query.is_read) {
        answer->part = (Berth__Api__ReadJobFileResponse *)message;
    } else if (rc == 0) {
        answer->files = (Berth__Api__ListJobFilesResponse *)message;
    }
    return rc;
}

/* Begin a session, which is the answer; 0 then. */
static int begin_exec(struct log_server *server,
                      const Berth__Api__LogQuestion *question, struct err *err)
{
    struct job_id job;

    return job_id_parse(str_of(question->job_id), &job) < 0
               ? err_set(err, -ERR_NOT_FOUND, "no such job")
               : exec_server_begin(server->exec, question->number, job, err);
}

/* Answer one question, which is passed over if it is none.  NULL as the reason:
 * by reading what it asks for; else it is refused. */
static void write_answer(struct log_server *server, struct str bytes,
                         const char *refusal, struct strbuf *out)
{
    Berth__Api__LogAnswer answer = BERTH__API__LOG_ANSWER__INIT;
    auto_arena arena = {0};
    auto_strbuf text = strbuf_make(0);
    ProtobufCMessage *message;
    struct err err;
    int rc;

    if (wire_decode(&berth__api__log_question__descriptor, bytes,
                    &wire_request_limits, &arena, &message, &err) < 0) {
        return;
    }
    const Berth__Api__LogQuestion *question = (const void *)message;
    if (refusal) {
        rc = err_set(&err, -ERR_UNAVAILABLE, "%s", refusal);
    } else if (question->exec) {
        rc = begin_exec(server, question, &err);
        if (rc == 0) {
            return;
        }
    } else if (question->list_files || question->read_file) {
        rc = read_files(server, question, &answer, &text, &arena, &err);
    } else {
        rc = read_log(server, question, &answer, &text, &err);
    }
    answer.number = question->number;
    if (rc < 0) {
        answer.code = rpc_code_of(rc);
        answer.message = err.text;
    }
    wire_encode(&answer.base, out);
}

/* Of a reader. */
static void on_question(void *ctx, struct str question, struct strbuf *answer)
{
    write_answer(ctx, question, NULL, answer);
}

/* Of a reader. */
static void on_answer(void *ctx)
{
    struct log_server *server = ctx;

    pthread_mutex_lock(&server->lock);
    if (server->stream) {
        rpc_stream_wake(server->stream);
    }
    pthread_mutex_unlock(&server->lock);
}

static enum rpc_wait send_bytes(struct rpc_stream *stream, struct str bytes)
{
    return bytes.byte_count > 0
               ? rpc_stream_send(stream, bytes, SEND_TIMEOUT_MS)
               : RPC_WAIT_READY;
}

/* Send what is ready. */
static enum rpc_wait send_answers(struct log_server *server,
                                  struct rpc_stream *stream)
{
    auto_strbuf answer = strbuf_make(0);
    enum rpc_wait wait = RPC_WAIT_READY;

    while (wait == RPC_WAIT_READY &&
           log_readers_take(server->readers, &answer)) {
        wait = send_bytes(stream, strbuf_str(&answer));
    }
    return wait;
}

static enum rpc_wait take_question(struct log_server *server,
                                   struct rpc_stream *stream, struct str bytes)
{
    auto_strbuf answer = strbuf_make(0);

    if (log_readers_ask(server->readers, bytes)) {
        return RPC_WAIT_READY;
    }
    write_answer(server, bytes, "too many logs are being read", &answer);
    return send_bytes(stream, strbuf_str(&answer));
}

/* Serve on a stream until it ends. */
static void serve(struct log_server *server, struct rpc_stream *stream)
{
    Berth__Api__LogAnswer hello = BERTH__API__LOG_ANSWER__INIT;
    auto_arena arena = {0};
    auto_strbuf bytes = strbuf_make(0);

    hello.executor_id = server->executor_id;
    enum rpc_wait wait =
        send_bytes(stream, wire_encode_arena(&hello.base, &arena));
    while (wait == RPC_WAIT_READY) {
        wait = rpc_stream_next(stream, -1, &bytes);
        if (wait == RPC_WAIT_READY) {
            wait = take_question(server, stream, strbuf_str(&bytes));
        } else if (wait == RPC_WAIT_TIMEOUT) {
            wait = RPC_WAIT_READY; /* a reader has woken us */
        }
        if (wait == RPC_WAIT_READY) {
            wait = send_answers(server, stream);
        }
    }
    if (wait != RPC_WAIT_ENDED) {
        rpc_stream_cancel(stream); /* the server does not read */
    }
}

/* Show the stream to who stops us; false: we are to stop. */
static bool set_stream(struct log_server *server, struct rpc_stream *stream)
{
    pthread_mutex_lock(&server->lock);
    bool goes_on = !server->is_stopping;
    server->stream = goes_on ? stream : NULL;
    pthread_mutex_unlock(&server->lock);
    return goes_on;
}

/* Wait before the next stream; false: we are to stop. */
static bool pause_ms(struct log_server *server, int64_t ms)
{
    struct timespec until;
    int rc = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / MS_PER_S;
    until.tv_nsec += ms % MS_PER_S * NS_PER_MS;
    if (until.tv_nsec >= (long)MS_PER_S * NS_PER_MS) {
        until.tv_sec++;
        until.tv_nsec -= (long)MS_PER_S * NS_PER_MS;
    }
    pthread_mutex_lock(&server->lock);
    while (!server->is_stopping && rc == 0) {
        rc = pthread_cond_timedwait(&server->changed, &server->lock, &until);
    }
    bool goes_on = !server->is_stopping;
    pthread_mutex_unlock(&server->lock);
    return goes_on;
}

static bool is_unknown(const struct rpc_stream *stream)
{
    enum rpc_code code = rpc_stream_status(stream)->code;

    return code == RPC_UNIMPLEMENTED || code == RPC_PERMISSION_DENIED ||
           code == RPC_UNAUTHENTICATED;
}

static void *run(void *ctx)
{
    struct log_server *server = ctx;
    struct rpc_call_options options = {
        .headers = server->headers,
        .header_count = server->header_count,
        .is_wait_for_ready = true,
    };
    int64_t retry_ms = 0;

    while (pause_ms(server, retry_ms)) {
        struct rpc_stream *stream = rpc_stream_open(
            server->channel, "/berth.api.Berth/ServeLogs", &options);
        if (set_stream(server, stream)) {
            auto_strbuf rest = strbuf_make(0);
            serve(server, stream);
            (void)set_stream(server, NULL);
            log_readers_clear(server->readers);
            while (rpc_stream_next(stream, -1, &rest) != RPC_WAIT_ENDED) {
            }
            retry_ms = is_unknown(stream) ? RETRY_UNKNOWN_MS : server->retry_ms;
        }
        rpc_stream_close(stream);
    }
    return NULL;
}

/* What is left when its thread has ended, or never began. */
static void release(struct log_server *server)
{
    log_readers_stop(server->readers);
    exec_server_destroy(server->exec);
    rpc_channel_close(server->channel);
    for (uint32_t i = 0; i < server->header_count; i++) {
        mem_free((char *)(uintptr_t)server->headers[i].name);
        mem_free((char *)(uintptr_t)server->headers[i].value);
    }
    mem_free(server->headers);
    mem_free(server->executor_id);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    mem_free(server);
}

static struct log_server *make(struct rpc_channel *channel,
                               const struct log_server_options *options)
{
    struct log_server *server = mem_alloc(sizeof(*server));
    pthread_condattr_t attributes;

    server->channel = channel;
    server->runtime = options->runtime;
    server->executor_id = str_dup(options->executor_id);
    server->retry_ms = options->retry_ms ? options->retry_ms : RETRY_MS;
    server->header_count = options->header_count;
    server->headers =
        mem_alloc_array(options->header_count + 1, sizeof(struct rpc_header));
    for (uint32_t i = 0; i < options->header_count; i++) {
        server->headers[i] =
            (struct rpc_header){mem_strdup(options->headers[i].name),
                                mem_strdup(options->headers[i].value)};
    }
    pthread_mutex_init(&server->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&server->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    server->exec = exec_server_create(
        channel, options->runtime,
        &(struct exec_server_options){options->executor_id, server->headers,
                                      server->header_count});
    return server;
}

struct log_server *log_server_start(struct rpc_channel *channel,
                                    const struct log_server_options *options,
                                    struct err *err)
{
    struct log_server *server = make(channel, options);
    const struct log_readers_options readers = {
        .answer = on_question, .wake = on_answer, .ctx = server};

    server->readers = log_readers_start(&readers, err);
    if (!server->readers) {
        release(server);
        return NULL;
    }
    if (pthread_create(&server->thread, NULL, run, server) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        release(server);
        return NULL;
    }
    return server;
}

void log_server_stop(struct log_server *server)
{
    if (!server) {
        return;
    }
    pthread_mutex_lock(&server->lock);
    server->is_stopping = true;
    if (server->stream) {
        rpc_stream_cancel(server->stream);
    }
    pthread_cond_signal(&server->changed);
    pthread_mutex_unlock(&server->lock);
    pthread_join(server->thread, NULL);
    release(server);
}
