/*
 * The executors' side (armada-api.md 6.2, 6.3): the conversation of one
 * request, the edits of a lease, and reports.
 */
#include <stdio.h>

#include "api/leases/lease_message.h"
#include "api/leases/lease_request.h"
#include "armada/executorapi.pb-c.h"
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "lease_fixture.h"
#include "sample.h"
#include "unit.h"
#include "wire/kube/node.h"
#include "wire/log/log_codec.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

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
    lease_begin(&f, &says);
    says.jobs[says.job_count++] = lease_submit(&f);
    says.jobs[says.job_count++] = lease_submit(&f);
    says.cancel = (struct run_id){{1, 2}};
    request.executor_id = field("cluster");
    request.max_jobs_to_lease = 100;
    request.unassigned_job_run_ids = runs;
    request.n_unassigned_job_run_ids = 1;
    struct rpc_stream *stream = lease_ask(&f, &request);
    Executorapi__LeaseStreamMessage *message = lease_next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_CANCEL_RUNS);
    assert_string_equal(message->cancel_runs->job_run_ids_to_cancel[0],
                        run_id_format(says.cancel, text));
    for (int i = 0; i < 2; i++) {
        message = lease_next(&f, stream);
        assert_int_equal(message->event_case,
                         EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE);
        assert_string_equal(message->lease->job->job_id,
                            job_id_format(says.jobs[i], text));
    }
    message = lease_next(&f, stream);
    assert_int_equal(message->event_case,
                     EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_END);
    assert_null(lease_next(&f, stream));
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
    f.on_exchange = lease_on_exchange;
    f.exchange_ctx = &says;
    memcpy(f.config.resource_types, kept, sizeof(kept));
    f.config.resource_type_count = 2;
    fixture_start(&f);
    fixture_queue(&f, "q");
    says.jobs[says.job_count++] = lease_submit(&f);
    request.executor_id = field("cluster");
    struct rpc_stream *stream = lease_ask(&f, &request);
    Executorapi__LeaseStreamMessage *message = lease_next(&f, stream);
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
    lease_begin(&f, &says);
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
    struct rpc_stream *stream = lease_ask(&f, &request);
    do {
        fixture_settle(&f);
    } while (says.exchange_count == 0);
    f.is_store_held = false;
    lease_submit(&f);
    Executorapi__LeaseStreamMessage *message = lease_next(&f, stream);
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
    lease_begin(&f, &says);
    f.is_store_held = true;
    says.jobs[says.job_count++] = lease_submit(&f);
    request.executor_id = field("cluster");
    struct rpc_stream *stream = lease_ask(&f, &request);
    Executorapi__LeaseStreamMessage *message = lease_next(&f, stream);
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
    f.on_exchange = lease_on_exchange;
    f.exchange_ctx = &says;
    fixture_start(&f);
    fixture_queue(&f, "q");
    f.is_store_held = true;
    lease_submit(&f);
    api_unstored(f.api, &job_count, &byte_count);
    assert_int_equal(job_count, 1);
    assert_true(byte_count > 100);
    item = sample_item(&f.arena, sample_pod(&f.arena));
    request = sample_request_of(&f.arena, &item, 1);
    assert_int_equal(fixture_code(&f, "/api.Submit/SubmitJobs", &request->base),
                     RPC_RESOURCE_EXHAUSTED);
    f.is_store_held = false;
    fixture_queue(&f, "other"); /* and the projector goes on */
    lease_submit(&f);
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
    lease_begin(&f, &says);
    says.jobs[says.job_count++] = job_id_make(1, random);
    says.jobs[says.job_count++] = lease_submit(&f);
    request.executor_id = field("cluster");
    struct rpc_stream *stream = lease_ask(&f, &request);
    char id[ID_TEXT_BYTES_MAX];
    Executorapi__LeaseStreamMessage *message = lease_next(&f, stream);
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
    struct rpc_stream *stream = lease_ask(&f, &request);
    assert_null(lease_next(&f, stream));
    assert_int_equal(f.status.code, RPC_PERMISSION_DENIED);
    rpc_stream_close(stream);
    assert_int_equal(
        fixture_code(&f, "/executorapi.ExecutorApi/ReportEvents", &list.base),
        RPC_PERMISSION_DENIED);
    fixture_fini(&f);
}

/* A user that executes jobs does so for its own executors. */
static void an_executor_has_its_own_id(void **state)
{
    static const struct str executors[] = {{"c", 1}};
    static const struct basic_user users[] = {
        {.name = {"cluster", 7}, .password = {"p", 1}},
        {.name = {"amy", 3},
         .password = {"secret", 6},
         .executors = executors,
         .executor_count = 1},
    };
    static const struct {
        const char *credentials, *id;
        bool is_let;
    } rows[] = {
        {"Basic Y2x1c3Rlcjpw", "cluster", true},
        {"Basic Y2x1c3Rlcjpw", "c", false},
        {"Basic YW15OnNlY3JldA==", "c", true},
        {"Basic YW15OnNlY3JldA==", "amy", false},
    };
    struct fixture f;
    char evil[] = "c\x1b[2J";

    (void)state;
    fixture_init(&f);
    f.config.auth.users = users;
    f.config.auth.user_count = ARRAY_COUNT(users);
    fixture_start(&f);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
        Berth__Api__LogAnswer hello = BERTH__API__LOG_ANSWER__INIT;
        request.executor_id = hello.executor_id = field(rows[i].id);
        f.credentials = rows[i].credentials;
        struct rpc_stream *stream = fixture_stream(
            &f, "/executorapi.ExecutorApi/LeaseJobRuns", &request.base);
        while (lease_next(&f, stream)) {
        }
        bool is_let = f.status.code != RPC_PERMISSION_DENIED;
        assert_int_equal(is_let, rows[i].is_let);
        rpc_stream_close(stream);
        /* It is held open for one that may, and ends when it says no more. */
        stream = fixture_stream(&f, "/berth.api.Berth/ServeLogs", &hello.base);
        assert_null(
            fixture_next(&f, stream, &google__protobuf__empty__descriptor));
        assert_int_equal(f.status.code,
                         is_let ? RPC_OK : RPC_PERMISSION_DENIED);
        rpc_stream_close(stream);
    }
    Executorapi__LeaseRequest request = EXECUTORAPI__LEASE_REQUEST__INIT;
    request.executor_id = evil;
    struct rpc_stream *stream = fixture_stream(
        &f, "/executorapi.ExecutorApi/LeaseJobRuns", &request.base);
    assert_false(lease_next(&f, stream));
    assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
    rpc_stream_close(stream);
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
        TEST(test_reports_speak_only_of_runs),
        TEST(test_reports_with_bad_text),
        TEST(test_permission_of_executors),
        TEST(an_executor_has_its_own_id),
    };

    return RUN_TESTS(tests);
}
