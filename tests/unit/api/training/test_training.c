/*
 * TrainingJobs: who may make, change and delete them, what is refused, and
 * the jobs that one becomes.
 */
#include <pthread.h>
#include <stdio.h>

#include "api_fixture.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "unit.h"
#include "wire/log/log_codec.h"
#include "wire/message/message.h"

static const char example[] =
    "apiVersion: paddlepaddle.org/v1\n"
    "kind: TrainingJob\n"
    "metadata:\n"
    "  name: ctr-7\n"
    "  namespace: team-a\n"
    "  labels: {team: a}\n"
    "  annotations: {armadaproject.io/maxHops: '4', note: hello}\n"
    "spec:\n"
    "  fault_tolerant: true\n"
    "  pserver: {min-instance: 2}\n"
    "  master: {resources: {requests: {cpu: 500m, memory: 600Mi}, "
    "limits: {cpu: 1, memory: 1Gi}}}\n"
    "  trainer: {min-instance: 2, max-instance: 10}\n";

static Berth__Api__SubmitTrainingJobResponse *
submit(struct fixture *f, const char *resource, const char *queue)
{
    Berth__Api__SubmitTrainingJobRequest request =
        BERTH__API__SUBMIT_TRAINING_JOB_REQUEST__INIT;

    request.queue = (char *)(uintptr_t)queue;
    request.resource.data = (uint8_t *)(uintptr_t)resource;
    request.resource.len = strlen(resource);
    return fixture_call(f, "/berth.api.Berth/SubmitTrainingJob", &request.base,
                        &berth__api__submit_training_job_response__descriptor);
}

static void start(struct fixture *f)
{
    fixture_init(f);
    fixture_start(f);
    fixture_queue(f, "q");
}

/* What the log tells of the submission. */
struct told {
    struct arena arena;
    Berth__Api__TrainingJob *object;
    struct job_digest digests[32];
    struct gang_terms terms;
    uint32_t count;
    bool has_component_label; /* all pods have one */
};

static int read_item(const struct log_item *item, void *ctx)
{
    struct told *told = ctx;
    ProtobufCMessage *message;
    struct err err;

    if (item->event.type == EVENT_TRAINING_JOB_SET) {
        struct str bytes =
            arena_str(&told->arena, item->event.training_job.encoded);
        assert_int_equal(wire_decode(&berth__api__training_job__descriptor,
                                     bytes, &wire_request_limits, &told->arena,
                                     &message, &err),
                         0);
        told->object = (void *)message;
        /* The object stands before its pods. */
        assert_int_equal(told->count, 0);
    } else if (item->event.type == EVENT_SUBMIT) {
        struct str digest = arena_str(&told->arena, item->event.submit.digest);
        struct str encoded = item->event.submit.encoded;
        assert_int_equal(digest_unpack(digest, &told->digests[told->count++]),
                         0);
        told->has_component_label &=
            memmem(encoded.p, encoded.byte_count, "paddle-job", 10) != NULL;
    }
    return 0;
}

static int read_record(void *ctx, const struct elog_record *record)
{
    auto_arena arena = {0};
    struct err err;

    return log_decode(record->payload, &arena, read_item, ctx, &err);
}

static void read_log(struct fixture *f, struct told *told)
{
    struct elog_reader *reader;
    struct elog_range range = {.from_seq = 1};
    struct err err;

    *told = (struct told){.has_component_label = true};
    assert_int_equal(elog_reader_open(f->log, &reader, &err), 0);
    assert_true(elog_read(reader, &range, read_record, told, &err) >= 0);
    elog_reader_close(reader);
}

static void tj_03_components_become_one_gang(void **state)
{
    static const char *const types[] = {"MASTER", "ETCD", "PSERVER", "TRAINER"};
    static const uint32_t most[] = {1, 1, 2, 10};
    struct fixture f;
    struct told told;

    (void)state;
    start(&f);
    Berth__Api__SubmitTrainingJobResponse *response = submit(&f, example, "q");
    assert_non_null(response);
    assert_string_equal(response->name, "ctr-7");
    assert_string_equal(response->job_set, "ctr-7");
    read_log(&f, &told);
    assert_int_equal(told.count, 14);
    assert_int_equal(told.digests[0].gang_minimum, 6);
    assert_int_equal(told.digests[0].on_preemption, ON_LOSS_REQUEUE);
    assert_true(told.has_component_label);
    assert_int_equal(
        gang_terms_unpack(told.digests[13].gang_terms, &told.terms), 0);
    assert_int_equal(told.terms.kind, GANG_TRAINING_TOLERANT);
    assert_int_equal(told.terms.freezing_window_ms, 300000);
    assert_false(told.terms.has_exclusive_nodes);
    assert_int_equal(told.terms.sub_groups[3].hops_max, 4);
    assert_int_equal(told.terms.sub_groups[2].hops_max, HOPS_ANY);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(told.object->components[i]->type, types[i]);
        assert_int_equal(told.object->components[i]->n_job_ids, most[i]);
        assert_int_equal(told.terms.sub_groups[i].max_count, most[i]);
        assert_int_equal(told.terms.sub_groups[i].is_auxiliary, i < 3);
    }
    assert_string_equal(told.object->gang_id,
                        told.object->components[0]->job_ids[0]);
    assert_string_equal(told.object->priority_class_name, "normal");
    arena_fini(&told.arena);
    fixture_fini(&f);
}

static void tj_02_a_broken_rule_of_scaling_makes_a_failed_object(void **state)
{
    struct fixture f;
    struct told told;

    (void)state;
    start(&f);
    Berth__Api__SubmitTrainingJobResponse *response =
        submit(&f,
               "{apiVersion: paddlepaddle.org/v1, kind: TrainingJob, metadata: "
               "{name: a}, spec: {trainer: {min-instance: 2, max-instance: "
               "6}}}",
               "q");
    assert_non_null(response);
    assert_non_null(strstr(response->reason, "max must equal min"));
    read_log(&f, &told);
    assert_int_equal(told.count, 0);
    assert_string_equal(told.object->reason, response->reason);
    arena_fini(&told.arena);
    fixture_fini(&f);
}

static void refusals_say_what_is_wrong(void **state)
{
    static const struct {
        const char *resource, *queue, *text;
    } rows[] = {
        {"[", "q", "line 2"},
        {"{kind: Pod}", "q", "kind: must be TrainingJob"},
        {"{apiVersion: paddlepaddle.org/v1, kind: TrainingJob, metadata: "
         "{name: a}, spec: {trainer: {}}}",
         "", "metadata.annotations.armadaproject.io/queue: a queue is"},
        {"{apiVersion: paddlepaddle.org/v1, kind: TrainingJob, metadata: "
         "{name: a, annotations: {armadaproject.io/priorityClassName: huge}}, "
         "spec: {trainer: {}}}",
         "q",
         "priorityClassName: there is no priority class \"huge\"; jobs may "
         "name armada-default, "},
        {"{apiVersion: paddlepaddle.org/v1, kind: TrainingJob, metadata: "
         "{name: a}, spec: {trainer: {resources: {requests: {memory: 1}}}}}",
         "q", "spec.trainer: container \"trainer\" memory requests (1) below"},
    };
    struct fixture f;

    (void)state;
    start(&f);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_null(submit(&f, rows[i].resource, rows[i].queue));
        assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
        if (!strstr(f.status.message, rows[i].text)) {
            fail_msg("%s", f.status.message);
        }
    }
    fixture_trouble(&f, COMMAND_EXISTS, STR("it is there"));
    assert_null(submit(&f, example, "q"));
    assert_int_equal(f.status.code, RPC_ALREADY_EXISTS);
    fixture_fini(&f);
}

static enum rpc_code change(struct fixture *f, const char *priority_class)
{
    Berth__Api__UpdateTrainingJobRequest request =
        BERTH__API__UPDATE_TRAINING_JOB_REQUEST__INIT;

    request.name = field("a");
    request.queue = field("q");
    request.priority_class_name = (char *)(uintptr_t)priority_class;
    return fixture_code(f, "/berth.api.Berth/UpdateTrainingJob", &request.base);
}

static enum rpc_code delete_one(struct fixture *f, const char *queue,
                                const char *name)
{
    Berth__Api__DeleteTrainingJobRequest request =
        BERTH__API__DELETE_TRAINING_JOB_REQUEST__INIT;

    request.name = (char *)(uintptr_t)name;
    request.queue = (char *)(uintptr_t)queue;
    return fixture_code(f, "/berth.api.Berth/DeleteTrainingJob", &request.base);
}

/* The last command that was not one of the log; the leader's thread writes. */
struct seen {
    pthread_mutex_t mutex;
    char text[64];
};

static void keep_command(struct fixture *f, struct command *command)
{
    struct seen *seen = f->exchange_ctx;

    pthread_mutex_lock(&seen->mutex);
    (void)snprintf(seen->text, sizeof(seen->text), "%d %.*s %.*s",
                   (int)command->kind, STR_ARG(command->training.name),
                   STR_ARG(command->training.priority_class));
    pthread_mutex_unlock(&seen->mutex);
}

static void assert_seen(struct seen *seen, const char *wanted)
{
    pthread_mutex_lock(&seen->mutex);
    assert_string_equal(seen->text, wanted);
    pthread_mutex_unlock(&seen->mutex);
}

static void changes_name_what_they_are_about(void **state)
{
    struct fixture f;
    struct seen seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    char wanted[64];

    (void)state;
    fixture_init(&f);
    f.on_exchange = keep_command;
    f.exchange_ctx = &seen;
    fixture_start(&f);
    fixture_queue(&f, "q");
    assert_int_equal(change(&f, "huge"), RPC_INVALID_ARGUMENT);
    assert_int_equal(change(&f, ""), RPC_INVALID_ARGUMENT);
    assert_int_equal(change(&f, "offline"), RPC_OK);
    (void)snprintf(wanted, sizeof(wanted), "%d a offline",
                   COMMAND_TRAINING_UPDATE);
    assert_seen(&seen, wanted);
    assert_int_equal(delete_one(&f, "", "a"), RPC_INVALID_ARGUMENT);
    assert_int_equal(delete_one(&f, "q", ""), RPC_INVALID_ARGUMENT);
    assert_int_equal(delete_one(&f, "q", "a"), RPC_OK);
    (void)snprintf(wanted, sizeof(wanted), "%d a ", COMMAND_TRAINING_DELETE);
    assert_seen(&seen, wanted);
    fixture_fini(&f);
}

static void rights_are_those_to_jobs_of_the_queue(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.config.auth.grants[PERMISSION_SUBMIT_ANY_JOBS].group_count = 0;
    f.config.auth.grants[PERMISSION_CANCEL_ANY_JOBS].group_count = 0;
    f.config.auth.grants[PERMISSION_REPRIORITIZE_ANY_JOBS].group_count = 0;
    fixture_start(&f);
    fixture_queue(&f, "q");
    assert_null(submit(&f, example, "q"));
    assert_int_equal(f.status.code, RPC_PERMISSION_DENIED);
    assert_int_equal(change(&f, "offline"), RPC_PERMISSION_DENIED);
    assert_int_equal(delete_one(&f, "q", "a"), RPC_PERMISSION_DENIED);
    fixture_fini(&f);
}

/* The leader's answer to a question. */
static void tell_rows(struct fixture *f, struct command *command)
{
    Berth__Api__TrainingJob object = BERTH__API__TRAINING_JOB__INIT;
    Berth__Api__TrainingComponent part = BERTH__API__TRAINING_COMPONENT__INIT;
    Berth__Api__TrainingComponent *parts[] = {&part};
    struct training_row *row = arena_alloc(&command->arena, sizeof(*row));
    char name[] = "a", type[] = "TRAINER";

    (void)f;
    if (command->kind != COMMAND_QUERY_TRAINING) {
        return;
    }
    assert_true(str_equal(command->training.after_queue, STR("q")));
    assert_true(str_equal(command->training.after_name, STR("0")));
    assert_int_equal(command->training.count_max, 7);
    command->training.has_more = true;
    object.name = name;
    part.type = type;
    part.min = 2;
    part.max = 5;
    object.components = parts;
    object.n_components = 1;
    row->encoded = wire_encode_arena(&object.base, &command->arena);
    row->phase = "scaling";
    row->created_ms = 1000;
    row->started_ms = 2000;
    row->part_count = 1;
    row->parts = arena_alloc(&command->arena, sizeof(*row->parts));
    row->parts[0] = (struct gang_part_status){.min_count = 2,
                                              .max_count = 5,
                                              .waiting_count = 1,
                                              .running_count = 4,
                                              .starting_count = 1};
    command->training.rows = row;
    command->training.row_count = 1;
}

static void a_list_tells_phases_and_replicas(void **state)
{
    Berth__Api__ListTrainingJobsRequest request =
        BERTH__API__LIST_TRAINING_JOBS_REQUEST__INIT;
    char after_queue[] = "q", after_name[] = "0";
    struct fixture f;

    (void)state;
    request.after_queue = after_queue;
    request.after_name = after_name;
    request.limit = 7;
    fixture_init(&f);
    f.on_exchange = tell_rows;
    fixture_start(&f);
    Berth__Api__ListTrainingJobsResponse *response =
        fixture_call(&f, "/berth.api.Berth/ListTrainingJobs", &request.base,
                     &berth__api__list_training_jobs_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_training_jobs, 1);
    assert_true(response->has_more);
    const Berth__Api__TrainingJobStatus *job = response->training_jobs[0];
    assert_string_equal(job->name, "a");
    assert_string_equal(job->phase, "scaling");
    assert_int_equal(job->min_instance, 2);
    assert_int_equal(job->max_instance, 5);
    assert_int_equal(job->running_instance, 3);
    assert_int_equal(job->started->seconds, 2);
    assert_null(job->completed);
    const Berth__Api__TrainingReplicas *trainers = job->replicas[0];
    assert_string_equal(trainers->state, "running");
    /* Those that were not wanted any more are not told. */
    assert_int_equal(trainers->n_resource_states, 3);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tj_03_components_become_one_gang),
        TEST(tj_02_a_broken_rule_of_scaling_makes_a_failed_object),
        TEST(refusals_say_what_is_wrong),
        TEST(changes_name_what_they_are_about),
        TEST(rights_are_those_to_jobs_of_the_queue),
        TEST(a_list_tells_phases_and_replicas),
    };

    return RUN_TESTS(tests);
}
