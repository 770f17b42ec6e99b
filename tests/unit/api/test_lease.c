/*
 * The executors' side (armada-api.md 6.2, 6.3): the conversation of one
 * request, the held stream, the edits of a lease, and reports.
 */
#include <stdio.h>

#include "api/lease_message.h"
#include "api/lease_request.h"
#include "api_fixture.h"
#include "armada/executorapi.pb-c.h"
#include "armada/services.pb-c.h"
#include "control/session.h"
#include "sample.h"
#include "unit.h"
#include "wire/field.h"
#include "wire/log_codec.h"
#include "wire/message.h"
#include "wire/node.h"

static char *field(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* What the leader of these tests has to say, and what it heard. */
struct leader_says {
    struct job_id jobs[4];
    uint32_t job_count;
    struct run_id cancel; /* none: no cancels */
    struct exchange_request heard;
    _Atomic uint32_t exchange_count; /* the test waits for these */
    uint32_t run_count;
    struct exchange_session *session;
    _Atomic uint32_t session_end_count;
    enum command_result result;
    /* What it does when the test next waits for it (fixture_settle). */
    struct job_id to_push;
    bool is_to_release;
};

static struct exchange_lease lease_of(struct job_id job)
{
    static const struct taint away = {{"gpu", 3}, {"*", 1}, TAINT_NO_SCHEDULE};

    return (struct exchange_lease){
        .job = job,
        .run = run_id_make(job, 0),
        .queue = STR("q"),
        .job_set = STR("s"),
        .user = STR("amy"),
        .node_name = STR("node-1"),
        .pool = STR("default"),
        .is_preemptible = true,
        .away_taints = &away,
        .away_taint_count = 1,
    };
}

static void fill_response(struct leader_says *says, struct command *command)
{
    struct exchange_response *response = &command->exchange.response;

    response->leases =
        arena_alloc_array(&command->arena, 4, sizeof(response->leases[0]));
    for (uint32_t i = 0; i < says->job_count; i++) {
        response->leases[response->lease_count++] = lease_of(says->jobs[i]);
    }
    if (!key128_is_none(says->cancel.v)) {
        response->cancels = &says->cancel;
        response->cancel_count = 1;
    }
}

/* What the leader does of its own accord. */
static void do_unasked(struct leader_says *says)
{
    struct exchange_lease lease = lease_of(says->to_push);
    struct exchange_response response = {.leases = &lease, .lease_count = 1};
    char key[] = "gpu";
    struct taint away = {str_of(key), STR("*"), TAINT_NO_SCHEDULE};

    lease.away_taints = &away;
    if (!key128_is_none(says->to_push.v)) {
        says->session->push(says->session, &response);
        says->to_push = (struct job_id){0};
    }
    /* What is pushed is borrowed until the return. */
    memset(key, 'x', sizeof(key) - 1);
    away.effect = TAINT_NO_EXECUTE;
    if (says->is_to_release) {
        says->is_to_release = false;
        says->session->released(says->session, COMMAND_INVALID);
    }
}

/* On the leader's thread. */
static void on_exchange(struct fixture *f, struct command *command)
{
    struct leader_says *says = f->exchange_ctx;

    if (command->kind == COMMAND_SESSION_END) {
        says->session_end_count++;
        says->session->released(says->session, COMMAND_OK);
        says->session = NULL;
        return;
    }
    if (command->kind != COMMAND_EXCHANGE) {
        do_unasked(says);
        return;
    }
    says->heard = command->exchange.request;
    says->exchange_count++;
    says->run_count = command->exchange.request.run_count;
    command->result = says->result;
    if (says->result != COMMAND_OK) {
        command->result_text = STR("not now");
        return;
    }
    if (says->exchange_count == 1 || !command->exchange.request.session) {
        fill_response(says, command);
    }
    if (command->exchange.request.session) {
        says->session = command->exchange.request.session;
    }
}

static void begin(struct fixture *f, struct leader_says *says)
{
    fixture_init(f);
    f->on_exchange = on_exchange;
    f->exchange_ctx = says;
    fixture_start(f);
    fixture_queue(f, "q");
}

static struct job_id submit(struct fixture *f)
{
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request;
    struct job_id id;

    sample_annotation(&f->arena, item, "note", "keep");
    request = sample_request_of(&f->arena, &item, 1);
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    assert_int_equal(
        job_id_parse(str_of(response->job_response_items[0]->job_id), &id), 0);
    return id;
}

/* Open a lease stream and say this, without closing our side. */
static struct rpc_stream *ask(struct fixture *f,
                              const Executorapi__LeaseRequest *request)
{
    struct rpc_call_options options = {.is_gzip = true,
                                       .is_wait_for_ready = true};
    struct rpc_stream *stream = rpc_stream_open(
        f->channel, "/executorapi.ExecutorApi/LeaseJobRuns", &options);
    auto_strbuf bytes = strbuf_make(0);

    /* The leader sees what the test has told it to say. */
    fixture_settle(f);
    wire_encode(&request->base, &bytes);
    assert_int_equal(rpc_stream_send(stream, strbuf_str(&bytes), 10000),
                     RPC_WAIT_READY);
    return stream;
}

static Executorapi__LeaseStreamMessage *next(struct fixture *f,
                                             struct rpc_stream *stream)
{
    return fixture_next(f, stream,
                        &executorapi__lease_stream_message__descriptor);
}

static const char *selector_of(const K8s__Io__Api__Core__V1__PodSpec *pod,
                               const char *key)
{
    for (size_t i = pod->n_nodeselector; i > 0; i--) {
        if (strcmp(pod->nodeselector[i - 1]->key, key) == 0) {
            return pod->nodeselector[i - 1]->value;
        }
    }
    return NULL;
}

static const char *annotation_of(const Armadaevents__ObjectMeta *meta,
                                 const char *key)
{
    for (size_t i = meta->n_annotations; i > 0; i--) {
        if (strcmp(meta->annotations[i - 1]->key, key) == 0) {
            return meta->annotations[i - 1]->value;
        }
    }
    return NULL;
}

/* TRAP-13: one request; cancels, leases, end; then the stream is closed. */
static void test_trap_13_one_request_conversation(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    char *runs[] = {field("00000000-0000-4000-8000-000000000001")};
    char text[ID_TEXT_BYTES_MAX];

    (void)state;
    begin(&f, &says);
    says.jobs[says.job_count++] = submit(&f);
    says.jobs[says.job_count++] = submit(&f);
    says.cancel = (struct run_id){{1, 2}};
    request.executor_id = field("cluster");
    request.max_jobs_to_lease = 100;
    request.unassigned_job_run_ids = runs;
    request.n_unassigned_job_run_ids = 1;
    struct rpc_stream *stream = ask(&f, &request);
    Executorapi__LeaseStreamMessage *message = next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_CANCEL_RUNS);
    assert_string_equal(message->cancel_runs->job_run_ids_to_cancel[0],
                        run_id_format(says.cancel, text));
    for (int i = 0; i < 2; i++) {
        message = next(&f, stream);
        assert_int_equal(message->event_case,
                         EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);
        assert_string_equal(message->lease->job->job_id,
                            job_id_format(says.jobs[i], text));
    }
    message = next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_END);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_OK);
    rpc_stream_close(stream);
    fixture_settle(&f);
    assert_true(says.heard.is_full);
    assert_true(says.heard.has_nodes);
    assert_int_equal(says.heard.lease_max, 100);
    assert_int_equal(says.run_count, 1);
    fixture_fini(&f);
}

/* The edits that the scheduler makes to a job before it sends it. */
static void test_edits_of_a_lease(void **state)
{
    static const struct str kept[] = {{"cpu", 3}, {"memory", 6}};
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    f.on_exchange = on_exchange;
    f.exchange_ctx = &says;
    memcpy(f.config.resource_types, kept, sizeof(kept));
    f.config.resource_type_count = 2;
    fixture_start(&f);
    fixture_queue(&f, "q");
    says.jobs[says.job_count++] = submit(&f);
    request.executor_id = field("cluster");
    struct rpc_stream *stream = ask(&f, &request);
    Executorapi__LeaseStreamMessage *message = next(&f, stream);
    const Executorapi__JobRunLease *lease = message->lease;
    const K8s__Io__Api__Core__V1__PodSpec *pod =
        lease->job->mainobject->pod_spec->pod_spec;
    assert_string_equal(lease->queue, "q");
    assert_string_equal(lease->jobset, "s");
    assert_string_equal(lease->user, "amy");
    assert_string_equal(selector_of(pod, "kubernetes.io/hostname"), "node-1");
    assert_string_equal(pod->priorityclassname, "armada-default");
    assert_string_equal(sample_request(pod, 0, "cpu"), "1");
    assert_null(sample_request(pod, 0, "ephemeral-storage"));
    const K8s__Io__Api__Core__V1__Toleration *last =
        pod->tolerations[pod->n_tolerations - 1];
    assert_string_equal(last->key, "gpu");
    assert_string_equal(last->operator_, "Exists");
    assert_null(last->value);
    assert_string_equal(last->effect, "NoSchedule");
    const Armadaevents__ObjectMeta *meta = lease->job->objectmeta;
    assert_string_equal(annotation_of(meta, "armadaproject.io/pool"),
                        "default");
    assert_string_equal(annotation_of(meta, "note"), "keep");
    assert_string_equal(meta->labels[meta->n_labels - 1]->key,
                        "armada_preemptible");
    assert_string_equal(meta->labels[meta->n_labels - 1]->value, "true");
    /* The digest is ours and stays here. */
    assert_int_equal(lease->job->base.n_unknown_fields, 0);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* A job that the store does not have yet is waited for. */
static void test_lease_waits_for_the_projector(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;

    (void)state;
    begin(&f, &says);
    uint8_t random[10] = {0};
    struct job_id job = job_id_make(1, random);
    struct event event = {.type = EVENT_SUBMIT, .created_ms = 1, .job = job};
    char id[ID_TEXT_BYTES_MAX];
    Armadaevents__SubmitJob submit_job = ARMADAEVENTS__SUBMIT_JOB__INIT;
    submit_job.job_id = job_id_format(job, id);
    event.submit.encoded = wire_encode_arena(&submit_job.base, &f.arena);
    struct event_scope scope = {STR("q"), STR("s"), STR("amy")};
    f.is_store_held = true;
    fixture_log(&f, &scope, &event);
    says.jobs[says.job_count++] = job;
    request.executor_id = field("cluster");
    struct rpc_stream *stream = ask(&f, &request);
    do {
        fixture_settle(&f);
    } while (says.exchange_count == 0);
    f.is_store_held = false;
    submit(&f);
    Executorapi__LeaseStreamMessage *message = next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);
    assert_string_equal(message->lease->job->job_id, id);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* Nodes are unpacked one by one: what is kept is little more than what came,
 * so that as many are taken as a message may hold. */
static void many_plain_nodes_take_little_room(void **state)
{
    enum { COUNT = 20000 };
    auto_arena arena = {0};
    auto_strbuf bytes = strbuf_make(0);
    struct resource_amount amounts[] = {{STR("cpu"), 8000},
                                        {STR("memory"), 64000}};
    struct label label = {STR("zone"), STR("a")};
    Executorapi__LeaseRequest rest = EXECUTORAPI__LEASE_REQUEST__INIT;
    auto_ptr(command) command = command_create(COMMAND_EXCHANGE);
    const struct exchange_request *request = &command->exchange.request;
    struct lease_wishes wishes;
    struct err err;

    (void)state;
    rest.executor_id = field("cluster");
    strbuf_add_str(&bytes, wire_encode_arena(&rest.base, &arena));
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof(name), "node-%d", i);
        struct node_record node = {.name = str_of(name),
                                   .labels = &label,
                                   .label_count = 1,
                                   .total = {amounts, 2}};
        field_put_bytes(
            &bytes, 5,
            wire_encode_arena(&node_to_info(&node, &arena)->base, &arena));
    }
    assert_int_equal(lease_request_read(strbuf_str(&bytes), 64 << 20, command,
                                        &wishes, &err),
                     0);
    assert_int_equal(request->node_count, COUNT);
    assert_true(str_equal(request->executor_id, STR("cluster")));
    assert_true(str_equal(request->nodes[COUNT - 1].name, STR("node-19999")));
    assert_true(str_equal(request->nodes[0].labels[0].value, STR("a")));
    assert_int_equal(request->nodes[7].total.items[1].milli, 64000);
    assert_true(command->arena.byte_count < COUNT * 512);
}

/* What was submitted here is at hand until the store has it. */
static void a_lease_does_not_wait_for_the_projector(void **state)
{
    struct fixture f;
    struct leader_says says = {0};
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    char id[ID_TEXT_BYTES_MAX];

    (void)state;
    begin(&f, &says);
    f.is_store_held = true;
    says.jobs[says.job_count++] = submit(&f);
    request.executor_id = field("cluster");
    struct rpc_stream *stream = ask(&f, &request);
    Executorapi__LeaseStreamMessage *message = next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);
    assert_string_equal(message->lease->job->job_id,
                        job_id_format(says.jobs[0], id));
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* How far the store may fall behind is bounded, by refusing submissions. */
static void submissions_are_refused_while_the_store_is_far_behind(void **state)
{
    struct fixture f;
    struct leader_says says = {0};
    Berth__Submission__Item *item;
    Berth__Submission__Request *request;
    uint64_t job_count;
    size_t byte_count;

    (void)state;
    fixture_init(&f);
    f.config.unstored_bytes_max = 1;
    f.on_exchange = on_exchange;
    f.exchange_ctx = &says;
    fixture_start(&f);
    fixture_queue(&f, "q");
    f.is_store_held = true;
    submit(&f);
    api_unstored(f.api, &job_count, &byte_count);
    assert_int_equal(job_count, 1);
    assert_true(byte_count > 100);
    item = sample_item(&f.arena, sample_pod(&f.arena));
    request = sample_request_of(&f.arena, &item, 1);
    assert_int_equal(fixture_code(&f, "/api.Submit/SubmitJobs", &request->base),
                     RPC_RESOURCE_EXHAUSTED);
    f.is_store_held = false;
    fixture_queue(&f, "other"); /* and the projector goes on */
    submit(&f);
    fixture_settle(&f);
    api_unstored(f.api, &job_count, &byte_count);
    assert_int_equal(job_count + byte_count, 0);
    fixture_fini(&f);
}

/* Counts the runs that were reported to have failed. */
static int count_failed(const struct log_item *item, void *ctx)
{
    *(uint32_t *)ctx +=
        item->event.type == EVENT_RUN_ERRORS && item->event.error.is_terminal;
    return 0;
}

static int decode_record(void *ctx, const struct elog_record *record)
{
    auto_arena arena = {0};
    struct err err;

    return log_decode(record->payload, &arena, count_failed, ctx, &err);
}

/* A job that the store will never have fails, and holds up no other. */
static void test_lease_of_a_lost_job_fails_its_run(void **state)
{
    auto_ptr(elog_reader) reader = NULL;
    struct elog_range range = {.from_seq = 1};
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    uint8_t random[10] = {0};
    uint32_t failed_count = 0;
    struct err err;

    (void)state;
    begin(&f, &says);
    says.jobs[says.job_count++] = job_id_make(1, random);
    says.jobs[says.job_count++] = submit(&f);
    request.executor_id = field("cluster");
    struct rpc_stream *stream = ask(&f, &request);
    char id[ID_TEXT_BYTES_MAX];
    Executorapi__LeaseStreamMessage *message = next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);
    assert_string_equal(message->lease->job->job_id,
                        job_id_format(says.jobs[1], id));
    fixture_settle(&f);
    assert_int_equal(elog_reader_open(f.log, &reader, &err), 0);
    assert_true(elog_read(reader, &range, decode_record, &failed_count, &err) >
                0);
    assert_int_equal(failed_count, 1);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* A held stream: an answer ends in a heartbeat, pushes come unasked, deltas
 * are heard as such, and the leader hears of its end. */
static void test_held_stream(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    char run[ID_TEXT_BYTES_MAX];
    char *added[] = {run}, *gone[] = {field("node-9")};

    (void)state;
    begin(&f, &says);
    struct job_id first = submit(&f), second = submit(&f);
    says.jobs[says.job_count++] = first;
    request.executor_id = field("cluster");
    request.held_stream = true;
    struct rpc_stream *stream = ask(&f, &request);
    assert_int_equal(next(&f, stream)->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);
    Executorapi__LeaseStreamMessage *message = next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT);
    assert_int_equal(message->heartbeat->request_count, 1);

    says.to_push = second;
    fixture_settle(&f);
    message = next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);

    auto_strbuf bytes = strbuf_make(0);
    run_id_format(run_id_make(first, 0), run);
    request.is_delta = true;
    request.run_ids_added = added;
    request.n_run_ids_added = 1;
    request.node_names_removed = gone;
    request.n_node_names_removed = 1;
    request.says_protected = true;
    request.protected_run_ids = added;
    request.n_protected_run_ids = 1;
    wire_encode(&request.base, &bytes);
    assert_int_equal(rpc_stream_send(stream, strbuf_str(&bytes), 10000),
                     RPC_WAIT_READY);
    message = next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT);
    assert_int_equal(message->heartbeat->request_count, 2);
    fixture_settle(&f);
    assert_false(says.heard.is_full);
    assert_true(says.heard.has_nodes);
    assert_int_equal(says.heard.nodes_gone_count, 1);
    assert_true(says.heard.has_protected);
    assert_int_equal(says.heard.protected_count, 1);
    assert_int_equal(says.run_count, 1);
    rpc_stream_close(stream);
    do {
        fixture_settle(&f);
    } while (says.session_end_count == 0);
    fixture_fini(&f);
}

/* Nothing of a pushed lease is looked at after the push. */
static void a_pushed_lease_is_copied_whole(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;

    (void)state;
    begin(&f, &says);
    struct job_id job = submit(&f);
    request.executor_id = field("cluster");
    request.held_stream = true;
    struct rpc_stream *stream = ask(&f, &request);
    assert_int_equal(next(&f, stream)->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT);
    says.to_push = job;
    fixture_settle(&f);
    const K8s__Io__Api__Core__V1__PodSpec *pod =
        next(&f, stream)->lease->job->mainobject->pod_spec->pod_spec;
    const K8s__Io__Api__Core__V1__Toleration *last =
        pod->tolerations[pod->n_tolerations - 1];
    assert_string_equal(last->key, "gpu");
    assert_string_equal(last->effect, "NoSchedule");
    rpc_stream_close(stream);
    do {
        fixture_settle(&f);
    } while (says.session_end_count == 0);
    fixture_fini(&f);
}

/* When the leader lets go (another stream took over) the call ends. */
static void test_held_stream_released_by_the_leader(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;

    (void)state;
    begin(&f, &says);
    request.executor_id = field("cluster");
    request.held_stream = true;
    struct rpc_stream *stream = ask(&f, &request);
    assert_non_null(next(&f, stream));
    says.is_to_release = true;
    fixture_settle(&f);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_ABORTED);
    rpc_stream_close(stream);
    fixture_settle(&f);
    assert_int_equal(says.session_end_count, 0);
    fixture_fini(&f);
}

/* A stream that goes on under the name of another executor is ended: the
 * leader knows a session by one executor. */
static void test_held_stream_is_one_executors(void **state)
{
    struct leader_says says = {0};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    auto_strbuf bytes = strbuf_make(0);

    (void)state;
    begin(&f, &says);
    request.executor_id = field("cluster");
    request.held_stream = true;
    struct rpc_stream *stream = ask(&f, &request);
    assert_non_null(next(&f, stream));
    request.executor_id = field("another");
    wire_encode(&request.base, &bytes);
    assert_int_equal(rpc_stream_send(stream, strbuf_str(&bytes), 10000),
                     RPC_WAIT_READY);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
    rpc_stream_close(stream);
    do {
        fixture_settle(&f);
    } while (says.session_end_count == 0);
    assert_int_equal(says.exchange_count, 1);
    fixture_fini(&f);
}

static void test_refused_exchange(void **state)
{
    struct leader_says says = {.result = COMMAND_UNAVAILABLE};
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;

    (void)state;
    begin(&f, &says);
    request.executor_id = field("cluster");
    struct rpc_stream *stream = ask(&f, &request);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_UNAVAILABLE);
    assert_string_equal(f.status.message, "not now");
    rpc_stream_close(stream);
    fixture_fini(&f);
}

static Armadaevents__EventSequence__Event
running_event(Armadaevents__JobRunRunning *running)
{
    Armadaevents__EventSequence__Event event =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__INIT;

    event.event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_RUNNING;
    event.jobrunrunning = running;
    return event;
}

/* Reports may speak of runs and of nothing else. */
static void test_reports_speak_only_of_runs(void **state)
{
    struct fixture f;
    Armadaevents__JobRunRunning running = ARMADAEVENTS__JOB_RUN_RUNNING__INIT;
    Armadaevents__EventSequence__Event event = running_event(&running);
    Armadaevents__EventSequence__Event *events[] = {&event};
    Armadaevents__EventSequence sequence = ARMADAEVENTS__EVENT_SEQUENCE__INIT;
    Armadaevents__EventSequence *sequences[] = {&sequence};
    Executorapi__EventList list = EXECUTORAPI__EVENT_LIST__INIT;
    Armadaevents__CancelJobSet cancel = ARMADAEVENTS__CANCEL_JOB_SET__INIT;
    ProtobufCMessageUnknownField unknown = {
        .tag = EVENT_QUEUE_DELETED,
        .wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED,
        .len = 4,
        .data = (uint8_t[]){3, 0x0a, 0x01, 'q'}};
    static const char *const path = "/executorapi.ExecutorApi/ReportEvents";

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    running.job_id = field("01jzzzzzzzzzzzzzzzzzzzzzzz");
    running.run_id = field("00000000-0000-4000-8000-000000000001");
    sequence.queue = field("q");
    sequence.job_set_name = field("s");
    sequence.events = events;
    sequence.n_events = 1;
    list.events = sequences;
    list.n_events = 1;
    assert_int_equal(fixture_code(&f, path, &list.base), RPC_OK);
    /* A fact of ours, hidden where armadaevents has no field. */
    event.base.n_unknown_fields = 1;
    event.base.unknown_fields = &unknown;
    assert_int_equal(fixture_code(&f, path, &list.base), RPC_INVALID_ARGUMENT);
    event.base.n_unknown_fields = 0;
    event.event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_CANCEL_JOB_SET;
    event.canceljobset = &cancel;
    assert_int_equal(fixture_code(&f, path, &list.base), RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.message, "an executor may not report event 6");
    list.n_events = 0;
    assert_int_equal(fixture_code(&f, path, &list.base), RPC_OK);
    fixture_fini(&f);
}

/* What a program writes into its last words is mended, not refused. */
static void test_reports_with_bad_text(void **state)
{
    struct fixture f;
    Armadaevents__JobRunRunning running = ARMADAEVENTS__JOB_RUN_RUNNING__INIT;
    Armadaevents__EventSequence__Event event = running_event(&running);
    Armadaevents__EventSequence__Event *events[] = {&event};
    Armadaevents__EventSequence sequence = ARMADAEVENTS__EVENT_SEQUENCE__INIT;
    Armadaevents__EventSequence *sequences[] = {&sequence};
    Executorapi__EventList list = EXECUTORAPI__EVENT_LIST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    running.pool = field("\xff\xfe");
    sequence.events = events;
    sequence.n_events = 1;
    list.events = sequences;
    list.n_events = 1;
    assert_int_equal(
        fixture_code(&f, "/executorapi.ExecutorApi/ReportEvents", &list.base),
        RPC_OK);
    fixture_fini(&f);
}

/* execute_jobs guards both. */
static void test_permission_of_executors(void **state)
{
    struct fixture f;
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    Executorapi__EventList list = EXECUTORAPI__EVENT_LIST__INIT;

    (void)state;
    fixture_init(&f);
    f.config.auth.grants[PERMISSION_EXECUTE_JOBS] =
        (struct permission_grant){NULL, 0};
    fixture_start(&f);
    struct rpc_stream *stream = ask(&f, &request);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_PERMISSION_DENIED);
    rpc_stream_close(stream);
    assert_int_equal(
        fixture_code(&f, "/executorapi.ExecutorApi/ReportEvents", &list.base),
        RPC_PERMISSION_DENIED);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_trap_13_one_request_conversation),
        TEST(test_edits_of_a_lease),
        TEST(test_lease_waits_for_the_projector),
        TEST(many_plain_nodes_take_little_room),
        TEST(a_lease_does_not_wait_for_the_projector),
        TEST(submissions_are_refused_while_the_store_is_far_behind),
        TEST(test_lease_of_a_lost_job_fails_its_run),
        TEST(test_held_stream),
        TEST(a_pushed_lease_is_copied_whole),
        TEST(test_held_stream_released_by_the_leader),
        TEST(test_held_stream_is_one_executors),
        TEST(test_refused_exchange),
        TEST(test_reports_speak_only_of_runs),
        TEST(test_reports_with_bad_text),
        TEST(test_permission_of_executors),
    };

    return RUN_TESTS(tests);
}
