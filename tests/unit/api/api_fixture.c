#include "api_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "armada/services.pb-c.h"
#include "elog/elog_memory.h"
#include "field.h"
#include "patience.h"
#include "store/store_sqlite.h"
#include "unit.h"
#include "wire/log/log_codec.h"
#include "wire/message/message.h"

#define WAIT_MS patient_ms(10000)

struct fixture_leader {
    struct fixture *fixture;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_woken, is_stopping;
    uint64_t next_seq;
    uint64_t epoch;
    struct clock clock;
    struct rng rng;
    uint64_t random;
};

static struct fixture_leader *leader_of_clock(const struct clock *clock)
{
    return container_of((struct clock *)(uintptr_t)clock, struct fixture_leader,
                        clock);
}

static int64_t wall_ms(const struct clock *clock)
{
    return leader_of_clock(clock)->fixture->now_ms;
}

static uint64_t mono_ns(const struct clock *clock)
{
    return (uint64_t)wall_ms(clock) * 1000000;
}

static void fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    static _Atomic uint64_t counter;
    uint8_t *p = bytes;

    (void)rng;
    for (size_t i = 0; i < byte_count; i++) {
        p[i] = (uint8_t)(++counter * 2654435761u >> 13);
    }
}

/* Takes a fact and keeps the queues up to date. */
static int fold(const struct log_item *item, void *ctx)
{
    struct fixture *fixture = ctx;
    const struct event *event = &item->event;
    struct queue_record record = {0};

    if (event->type == EVENT_QUEUE_SET) {
        assert_int_equal(queue_table_put(fixture->queues, &event->queue.record,
                                         event->queue.encoded),
                         0);
    } else if (event->type == EVENT_QUEUE_DELETED) {
        queue_table_remove(fixture->queues, event->queue.record.name);
    } else if (event->type == EVENT_RETRY_POLICY_SET) {
        record.name = event->retry_policy.name;
        assert_int_equal(queue_table_put(fixture->retry_policies, &record,
                                         event->retry_policy.encoded),
                         0);
    } else if (event->type == EVENT_RETRY_POLICY_DELETED) {
        queue_table_remove(fixture->retry_policies, event->retry_policy.name);
    }
    return 0;
}

static void on_appended(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

void fixture_project(struct fixture *fixture)
{
    auto_ptr(elog_reader) reader = NULL;
    struct err err;
    int count = 1;

    assert_int_equal(elog_reader_open(fixture->log, &reader, &err), 0);
    while (count > 0 && !fixture->is_store_held) {
        count = store_follow(fixture->store, reader, api_on_changed,
                             fixture->api, &err);
    }
    if (count < 0) {
        fail_msg("%s", err.text);
    }
}

/* Make a batch durable, fold it and project it. */
static void append(struct fixture_leader *leader, struct log_batch *batch)
{
    struct fixture *fixture = leader->fixture;
    auto_arena arena = {0};
    struct err err;
    struct elog_record record = {
        .seq = leader->next_seq++,
        .epoch = leader->epoch,
        .time_ms = fixture->now_ms,
        .format_version = 1,
        .payload = log_batch_finish(batch),
    };

    assert_int_equal(elog_submit(fixture->log, &record, on_appended, leader),
                     0);
    while (elog_in_flight_count(fixture->log)) {
        elog_poll(fixture->log, 100);
    }
    assert_int_equal(log_decode(record.payload, &arena, fold, fixture, &err),
                     0);
    fixture_project(fixture);
}

static void take_submit(struct fixture_leader *leader, struct command *command)
{
    auto_log_batch batch = {0};

    if (command->submit.training_name.byte_count) {
        log_batch_add_encoded(&batch, &command->scope,
                              command->submit.training_event);
    }
    for (uint32_t i = 0; i < command->submit.item_count; i++) {
        struct submit_item *item = &command->submit.items[i];
        item->ret_job = item->job;
        log_batch_add_encoded(&batch, &command->scope, item->event);
    }
    command->log_seq = leader->next_seq;
    append(leader, &batch);
}

static void take_events(struct fixture_leader *leader, struct command *command)
{
    auto_log_batch batch = {0};

    for (uint32_t i = 0; i < command->events.sequence_count; i++) {
        log_batch_add_sequence(&batch, command->events.sequences[i].bytes, 1);
    }
    append(leader, &batch);
}

static void take(struct fixture_leader *leader, struct command *command)
{
    struct fixture *fixture = leader->fixture;

    pthread_mutex_lock(&leader->mutex);
    command->result = fixture->trouble.result;
    command->result_text = fixture->trouble.text;
    pthread_mutex_unlock(&leader->mutex);
    if (command->kind == COMMAND_EVENTS) {
        fixture->pool_wish = (int)command->events.pool_wish;
    }
    if (command->result == COMMAND_OK) {
        switch ((int)command->kind) {
        case COMMAND_SUBMIT:
            take_submit(leader, command);
            break;
        case COMMAND_EVENTS:
            take_events(leader, command);
            break;
        default:
            if (fixture->on_exchange) {
                fixture->on_exchange(fixture, command);
            }
            break;
        }
    }
    command->done(command, command->ctx);
}

static void *lead(void *ctx)
{
    struct fixture_leader *leader = ctx;
    bool is_stopping = false;

    while (!is_stopping) {
        pthread_mutex_lock(&leader->mutex);
        while (!leader->is_woken && !leader->is_stopping) {
            pthread_cond_wait(&leader->changed, &leader->mutex);
        }
        leader->is_woken = false;
        is_stopping = leader->is_stopping;
        pthread_mutex_unlock(&leader->mutex);
        struct command *command = inbox_take(leader->fixture->inbox);
        while (command) {
            struct command *next = command->next;
            take(leader, command);
            command = next;
        }
    }
    return NULL;
}

static void wake(void *ctx)
{
    struct fixture_leader *leader = ctx;

    pthread_mutex_lock(&leader->mutex);
    leader->is_woken = true;
    pthread_cond_signal(&leader->changed);
    pthread_mutex_unlock(&leader->mutex);
}

static const struct str everyone[] = {{"everyone", 8}};

void fixture_init(struct fixture *fixture)
{
    *fixture = (struct fixture){.now_ms = 1700000000123};
    api_config_defaults(&fixture->config);
    fixture->config.log_timeout_ms =
        (uint32_t)patient_ms((int)fixture->config.log_timeout_ms);
    fixture->config.auth.is_anonymous_allowed = true;
    for (int i = 0; i < PERMISSION_COUNT; i++) {
        fixture->config.auth.grants[i] = (struct permission_grant){everyone, 1};
    }
}

static void start_leader(struct fixture *fixture)
{
    struct fixture_leader *leader = mem_alloc(sizeof(*leader));
    struct err err;

    leader->fixture = fixture;
    leader->next_seq = 1;
    leader->clock = (struct clock){mono_ns, wall_ms};
    leader->rng = (struct rng){fill};
    pthread_mutex_init(&leader->mutex, NULL);
    pthread_cond_init(&leader->changed, NULL);
    fixture->leader = leader;
    fixture->inbox = inbox_create(wake, leader);
    assert_int_equal(elog_acquire(fixture->log, &leader->epoch, &err), 0);
}

static void start_server(struct fixture *fixture)
{
    static const char *const addresses[] = {"127.0.0.1:0"};
    struct rpc_server_options options = {.addresses = addresses,
                                         .address_count = 1};
    char address[64];
    struct err err;

    options.methods = api_methods(fixture->api, &options.method_count);
    fixture->server = rpc_server_create(&options, &err);
    assert_non_null(fixture->server);
    snprintf(address, sizeof(address), "127.0.0.1:%u",
             rpc_server_port(fixture->server, 0));
    struct rpc_channel_options channel = {.address = address,
                                          .receive_bytes_max = 64 << 20};
    fixture->channel = rpc_channel_open(&channel, &err);
    assert_non_null(fixture->channel);
}

void fixture_start(struct fixture *fixture)
{
    char path[TMPDIR_PATH_BYTES_MAX];
    struct err err;

    tmpdir_init(&fixture->directory);
    tmpdir_path(&fixture->directory, "store", path);
    fixture->storage = elog_memory_storage_create();
    fixture->log = elog_memory_open(fixture->storage);
    assert_int_equal(store_sqlite_open(path, &fixture->store, &err), 0);
    fixture->queues = queue_table_create();
    fixture->retry_policies = queue_table_create();
    start_leader(fixture);
    struct api_ports ports = {
        .clock = &fixture->leader->clock,
        .rng = &fixture->leader->rng,
        .inbox = fixture->inbox,
        .queues = fixture->queues,
        .retry_policies = fixture->retry_policies,
        .store = fixture->store,
        .log = fixture->log,
        .logs = fixture->logs,
    };
    fixture->api = api_create(&fixture->config, &ports, &err);
    assert_non_null(fixture->api);
    assert_int_equal(
        pthread_create(&fixture->leader->thread, NULL, lead, fixture->leader),
        0);
    start_server(fixture);
}

static void stop_leader(struct fixture *fixture)
{
    struct fixture_leader *leader = fixture->leader;

    inbox_close(fixture->inbox);
    pthread_mutex_lock(&leader->mutex);
    leader->is_stopping = true;
    pthread_cond_signal(&leader->changed);
    pthread_mutex_unlock(&leader->mutex);
    pthread_join(leader->thread, NULL);
    inbox_destroy(fixture->inbox);
    pthread_cond_destroy(&leader->changed);
    pthread_mutex_destroy(&leader->mutex);
    mem_free(leader);
}

void fixture_trouble(struct fixture *fixture, enum command_result result,
                     struct str text)
{
    pthread_mutex_lock(&fixture->leader->mutex);
    fixture->trouble = (struct fixture_trouble){result, text};
    pthread_mutex_unlock(&fixture->leader->mutex);
}

void fixture_fini(struct fixture *fixture)
{
    rpc_channel_close(fixture->channel);
    rpc_server_stop(fixture->server, 0);
    stop_leader(fixture);
    rpc_server_destroy(fixture->server);
    api_destroy(fixture->api);
    store_close(fixture->store);
    elog_close(fixture->log);
    elog_memory_storage_destroy(fixture->storage);
    queue_table_destroy(fixture->queues);
    queue_table_destroy(fixture->retry_policies);
    tmpdir_fini(&fixture->directory);
    arena_fini(&fixture->arena);
}

static struct rpc_call_options options_of(const struct fixture *fixture,
                                          struct rpc_header *header)
{
    struct rpc_call_options options = {
        .timeout_ms = WAIT_MS, .is_wait_for_ready = true, .is_gzip = true};

    if (fixture->credentials) {
        *header = (struct rpc_header){"authorization", fixture->credentials};
        options.headers = header;
        options.header_count = 1;
    }
    return options;
}

void *fixture_call(struct fixture *fixture, const char *path,
                   const ProtobufCMessage *request,
                   const ProtobufCMessageDescriptor *reply_type)
{
    struct rpc_header header;
    struct rpc_call_options options = options_of(fixture, &header);
    auto_strbuf bytes = strbuf_make(0);
    auto_strbuf reply = strbuf_make(0);
    ProtobufCMessage *message;
    struct err err;

    wire_encode(request, &bytes);
    if (rpc_channel_call(fixture->channel, path, strbuf_str(&bytes), &options,
                         &reply, &fixture->status) != RPC_OK) {
        return NULL;
    }
    int rc =
        wire_decode(reply_type, arena_str(&fixture->arena, strbuf_str(&reply)),
                    &wire_request_limits, &fixture->arena, &message, &err);
    assert_int_equal(rc, 0);
    return message;
}

enum rpc_code fixture_code(struct fixture *fixture, const char *path,
                           const ProtobufCMessage *request)
{
    fixture_call(fixture, path, request, &google__protobuf__empty__descriptor);
    return fixture->status.code;
}

struct rpc_stream *fixture_stream(struct fixture *fixture, const char *path,
                                  const ProtobufCMessage *request)
{
    struct rpc_header header;
    struct rpc_call_options options = options_of(fixture, &header);
    auto_strbuf bytes = strbuf_make(0);

    options.timeout_ms = 0;
    struct rpc_stream *stream =
        rpc_stream_open(fixture->channel, path, &options);
    wire_encode(request, &bytes);
    /* Who may not ask may have been told so by now. */
    assert_int_not_equal(rpc_stream_send(stream, strbuf_str(&bytes), WAIT_MS),
                         RPC_WAIT_TIMEOUT);
    rpc_stream_close_send(stream);
    return stream;
}

void *fixture_next(struct fixture *fixture, struct rpc_stream *stream,
                   const ProtobufCMessageDescriptor *type)
{
    auto_strbuf bytes = strbuf_make(0);
    ProtobufCMessage *message;
    struct err err;

    switch (rpc_stream_next(stream, WAIT_MS, &bytes)) {
    case RPC_WAIT_ENDED:
        fixture->status = *rpc_stream_status(stream);
        return NULL;
    case RPC_WAIT_TIMEOUT:
        fail_msg("nothing came in time");
        return NULL;
    case RPC_WAIT_READY:
        break;
    }
    int rc = wire_decode(type, arena_str(&fixture->arena, strbuf_str(&bytes)),
                         &wire_request_limits, &fixture->arena, &message, &err);
    assert_int_equal(rc, 0);
    return message;
}

void fixture_queue(struct fixture *fixture, const char *name)
{
    Api__Queue queue = API__QUEUE__INIT;

    queue.name = (char *)(uintptr_t)name;
    queue.priority_factor = 1.0;
    assert_int_equal(
        fixture_code(fixture, "/api.Submit/UpdateQueue", &queue.base), RPC_OK);
}

/* Lets a test wait for the leader. */
struct waiter {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_done;
};

static void on_waited(struct command *command, void *ctx)
{
    struct waiter *waiter = ctx;

    command_destroy(command);
    pthread_mutex_lock(&waiter->mutex);
    waiter->is_done = true;
    pthread_cond_signal(&waiter->changed);
    pthread_mutex_unlock(&waiter->mutex);
}

static void post_and_wait(struct fixture *fixture, struct command *command)
{
    struct waiter waiter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                            false};

    command->done = on_waited;
    command->ctx = &waiter;
    assert_int_equal(inbox_post(fixture->inbox, command), 0);
    pthread_mutex_lock(&waiter.mutex);
    while (!waiter.is_done) {
        pthread_cond_wait(&waiter.changed, &waiter.mutex);
    }
    pthread_mutex_unlock(&waiter.mutex);
}

void fixture_log(struct fixture *fixture, const struct event_scope *scope,
                 const struct event *event)
{
    struct command *command = command_create(COMMAND_SUBMIT);
    auto_strbuf bytes = strbuf_make(0);

    log_encode_event(&bytes, event);
    command->scope = *scope;
    command->submit.items =
        arena_alloc(&command->arena, sizeof(command->submit.items[0]));
    command->submit.items[0].event =
        arena_str(&command->arena, strbuf_str(&bytes));
    command->submit.item_count = 1;
    post_and_wait(fixture, command);
}

void fixture_settle(struct fixture *fixture)
{
    post_and_wait(fixture, command_create(COMMAND_QUERY_QUEUES));
}

Api__Queue fixture_queue_message(const char *name, double factor)
{
    Api__Queue queue = API__QUEUE__INIT;

    queue.name = field(name);
    queue.priority_factor = factor;
    return queue;
}

Api__Queue *fixture_get_queue(struct fixture *f, const char *name)
{
    Api__QueueGetRequest request = API__QUEUE_GET_REQUEST__INIT;

    request.name = field(name);
    return fixture_call(f, "/api.Submit/GetQueue", &request.base,
                        &api__queue__descriptor);
}
