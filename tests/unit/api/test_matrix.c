/*
 * matrix - who may call what: every method, by six kinds of callers and one
 * without credentials, on their own queue and on a foreign one.
 *
 * What is expected is said here once more, by hand, and not taken from the
 * table (api/methods.h): whoever changes a row there changes one here.
 */
#include <stdio.h>

#include "api_fixture.h"
#include "patience.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

enum caller { ROOT, GRANTED, OWNER, READER, CLUSTER, STRANGER, ANONYMOUS };
enum { CALLERS = ANONYMOUS + 1 };

static const char *const names[CALLERS] = {
    "root", "granted", "owner", "reader", "cluster", "stranger", "anonymous"};
/* Each has the password p. */
static const char *const credentials[CALLERS] = {"Basic cm9vdDpw",
                                                 "Basic Z3JhbnRlZDpw",
                                                 "Basic b3duZXI6cA==",
                                                 "Basic cmVhZGVyOnA=",
                                                 "Basic Y2x1c3Rlcjpw",
                                                 "Basic c3RyYW5nZXI6cA==",
                                                 NULL};

static const struct str root_group[] = {{"operators", 9}};
static const struct str granted_group[] = {{"granted", 7}};
static const struct str cluster_group[] = {{"clusters", 8}};
static const struct str executing[] = {{"granted", 7}, {"clusters", 8}};
static const struct basic_user users[] = {
    {.name = {"root", 4},
     .password = {"p", 1},
     .groups = root_group,
     .group_count = 1},
    {.name = {"granted", 7},
     .password = {"p", 1},
     .groups = granted_group,
     .group_count = 1},
    {.name = {"owner", 5},
     .password = {"p", 1},
     .groups = NULL,
     .group_count = 0},
    {.name = {"reader", 6},
     .password = {"p", 1},
     .groups = NULL,
     .group_count = 0},
    {.name = {"cluster", 7},
     .password = {"p", 1},
     .groups = cluster_group,
     .group_count = 1},
    {.name = {"stranger", 8},
     .password = {"p", 1},
     .groups = NULL,
     .group_count = 0},
};

/* Who may; READER and OWNER of their own queue only. */
enum who {
    ANYBODY,
    PERMITTED, /* root, granted */
    EXECUTORS, /* and cluster */
    ACTORS,    /* permitted, owner */
    VIEWERS,   /* actors, reader; others are refused */
    SEERS,     /* the same; others see nothing */
};

/* How the request names its queue and its job; 0: it does not. */
struct cell_row {
    const char *path;
    enum who who;
    uint32_t queue_field, job_set_field, job_field;
    uint32_t wrapped_in; /* the job's field is in the message of this field */
    const char *extra;   /* further fields, encoded */
    size_t extra_bytes;
};

#define EXTRA(bytes) .extra = (bytes), .extra_bytes = sizeof(bytes) - 1
#define PLAIN(path_, who_)             \
    {                                  \
        .path = (path_), .who = (who_) \
    }

static const char training_request[] =
    "apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\nmetadata:\n"
    "  name: t\n  namespace: n\nspec:\n"
    "  trainer: {min-instance: 1, max-instance: 1}\n";

static const struct cell_row rows[] = {
    {"/api.Submit/SubmitJobs", ACTORS, 1, 2, 0, 0, NULL, 0},
    {"/api.Submit/CancelJobs", ACTORS, 3, 2, 1, 0, NULL, 0},
    {"/api.Submit/CancelJobSet", ACTORS, 2, 1, 0, 0, NULL, 0},
    {"/api.Submit/ReprioritizeJobs", ACTORS, 3, 2, 1, 0, NULL, 0},
    {"/api.Submit/PreemptJobs", ACTORS, 1, 2, 3, 0, NULL, 0},
    {"/berth.api.Berth/CheckJobs", ACTORS, 1, 2, 0, 0, NULL, 0},
    {"/berth.api.Berth/HoldJobs", ACTORS, 1, 2, 3, 0, NULL, 0},
    PLAIN("/api.Submit/CreateQueue", PERMITTED),
    PLAIN("/api.Submit/CreateQueues", PERMITTED),
    PLAIN("/api.Submit/UpdateQueue", PERMITTED),
    PLAIN("/api.Submit/UpdateQueues", PERMITTED),
    PLAIN("/api.Submit/DeleteQueue", PERMITTED),
    {"/api.Submit/GetQueue", ANYBODY, 1, 0, 0, 0, NULL, 0},
    PLAIN("/api.Submit/GetQueues", ANYBODY),
    PLAIN("/api.Submit/Health", ANYBODY),
    PLAIN("/api.QueueService/CreateQueue", PERMITTED),
    PLAIN("/api.QueueService/CreateQueues", PERMITTED),
    PLAIN("/api.QueueService/UpdateQueue", PERMITTED),
    PLAIN("/api.QueueService/UpdateQueues", PERMITTED),
    PLAIN("/api.QueueService/DeleteQueue", PERMITTED),
    {"/api.QueueService/GetQueue", ANYBODY, 1, 0, 0, 0, NULL, 0},
    PLAIN("/api.QueueService/GetQueues", ANYBODY),
    PLAIN("/api.QueueService/CordonQueue", PERMITTED),
    PLAIN("/api.QueueService/UncordonQueue", PERMITTED),
    PLAIN("/api.QueueService/CancelOnQueue", PERMITTED),
    PLAIN("/api.QueueService/PreemptOnQueue", PERMITTED),
    PLAIN("/api.RetryPolicyService/CreateRetryPolicy", PERMITTED),
    PLAIN("/api.RetryPolicyService/UpdateRetryPolicy", PERMITTED),
    PLAIN("/api.RetryPolicyService/DeleteRetryPolicy", PERMITTED),
    PLAIN("/api.RetryPolicyService/GetRetryPolicy", ANYBODY),
    PLAIN("/api.RetryPolicyService/GetRetryPolicies", ANYBODY),
    {"/api.Event/GetJobSetEvents", VIEWERS, 4, 1, 0, 0, NULL, 0},
    {"/api.Event/Watch", VIEWERS, 1, 2, 0, 0, NULL, 0},
    PLAIN("/api.Event/Health", ANYBODY),
    PLAIN("/berth.api.Berth/UncordonNode", PERMITTED),
    {"/berth.api.Berth/ListJobs", SEERS, 0, 0, 6, 0, NULL, 0},
    {"/berth.api.Berth/ExplainJob", SEERS, 0, 0, 1, 0, NULL, 0},
    PLAIN("/berth.api.Berth/GetQueueShares", ANYBODY),
    PLAIN("/berth.api.Berth/GetPermissions", ANYBODY),
    PLAIN("/berth.api.Berth/WhatIf", PERMITTED),
    PLAIN("/berth.api.Berth/ListNodes", ANYBODY),
    PLAIN("/berth.api.Berth/ListExecutors", ANYBODY),
    PLAIN("/berth.api.Berth/QuarantineNode", PERMITTED),
    PLAIN("/berth.api.Berth/ReleaseNode", PERMITTED),
    {"/berth.api.Berth/GetApplications", VIEWERS, 1, 0, 0, 0, NULL, 0},
    PLAIN("/berth.api.Berth/CreatePool", PERMITTED),
    PLAIN("/berth.api.Berth/UpdatePool", PERMITTED),
    PLAIN("/berth.api.Berth/DeletePool", PERMITTED),
    PLAIN("/berth.api.Berth/ListPools", ANYBODY),
    {"/berth.api.Berth/ListPodGroups", VIEWERS, 1, 0, 0, 0, NULL, 0},
    {"/berth.api.Berth/ListJobSets", VIEWERS, 1, 0, 0, 0, NULL, 0},
    {"/berth.api.Berth/GetUsage", VIEWERS, 1, 0, 0, 0, NULL, 0},
    {"/berth.api.Berth/SubmitTrainingJob", ACTORS, 1, 2, 0, 0, NULL, 0},
    {"/berth.api.Berth/UpdateTrainingJob", ACTORS, 2, 0, 0, 0,
     EXTRA("\x0a\x01t")},
    {"/berth.api.Berth/DeleteTrainingJob", ACTORS, 2, 0, 0, 0,
     EXTRA("\x0a\x01t")},
    {"/berth.api.Berth/ListTrainingJobs", VIEWERS, 1, 0, 0, 0, NULL, 0},
    PLAIN("/berth.api.Berth/Backup", PERMITTED),
    {"/api.Jobs/GetJobStatus", SEERS, 0, 0, 1, 0, NULL, 0},
    {"/api.Jobs/GetJobStatusUsingExternalJobUri", SEERS, 1, 2, 0, 0,
     EXTRA("\x1a\x03uri")},
    {"/api.Jobs/GetJobDetails", SEERS, 0, 0, 1, 0, EXTRA("\x10\x01\x18\x01")},
    {"/api.Jobs/GetJobErrors", SEERS, 0, 0, 1, 0, NULL, 0},
    {"/api.Jobs/GetJobRunDetails", SEERS, 0, 0, 1, 0, NULL, 0},
    PLAIN("/api.Jobs/GetActiveQueues", ANYBODY),
    PLAIN("/api.Executor/UpsertExecutorSettings", PERMITTED),
    PLAIN("/api.Executor/DeleteExecutorSettings", PERMITTED),
    PLAIN("/api.Executor/DeleteExecutor", PERMITTED),
    PLAIN("/api.Executor/CancelOnExecutor", PERMITTED),
    PLAIN("/api.Executor/PreemptOnExecutor", PERMITTED),
    PLAIN("/api.Node/CancelOnNode", PERMITTED),
    PLAIN("/api.Node/PreemptOnNode", PERMITTED),
    {"/schedulerobjects.SchedulerReporting/GetSchedulingReport", SEERS, 0, 0, 1,
     2, NULL, 0},
    PLAIN("/schedulerobjects.SchedulerReporting/GetQueueReport", ANYBODY),
    {"/schedulerobjects.SchedulerReporting/GetJobReport", SEERS, 0, 0, 1, 0,
     NULL, 0},
    {"/binoculars.Binoculars/Logs", SEERS, 0, 0, 1, 0, EXTRA("\x2a\x00")},
    PLAIN("/binoculars.Binoculars/Cordon", PERMITTED),
    PLAIN("/grpc.health.v1.Health/Check", ANYBODY),
    PLAIN("/grpc.health.v1.Health/Watch", ANYBODY),
    PLAIN("/berth.api.Berth/ServeLogs", EXECUTORS),
    PLAIN("/executorapi.ExecutorApi/LeaseJobRuns", EXECUTORS),
    PLAIN("/executorapi.ExecutorApi/ReportEvents", EXECUTORS),
};

enum { UNKNOWN_ID_AT = 2 };

/* The queues, and what stands for a job that is not there. */
static const char *const queues[] = {"own", "foreign"};
static const char unknown_id[] = "01jzzzzzzzzzzzzzzzzzzzzzzz";

struct matrix {
    struct fixture f;
    char jobs[2][ID_TEXT_BYTES_MAX], runs[2][ID_TEXT_BYTES_MAX];
};

/* How a call came out. */
struct outcome {
    enum rpc_code code;
    const char *message;
    struct str reply;
};

/* The leader's answers to questions about one job. */
static void answer(struct fixture *f, struct command *command)
{
    (void)f;
    if (command->kind == COMMAND_EXPLAIN) {
        command->explain.text = STR("it waits");
        command->explain.json = STR("{}");
    }
}

/* A queue whose permissions are: OWNER all verbs, READER that of reading. */
static void make_queue(struct fixture *f, const char *name, bool is_own)
{
    Api__Queue queue = fixture_queue_message(name, 1.0);
    Api__Queue__Permissions__Subject reader =
        API__QUEUE__PERMISSIONS__SUBJECT__INIT;
    Api__Queue__Permissions__Subject *subjects[] = {&reader};
    Api__Queue__Permissions reading = API__QUEUE__PERMISSIONS__INIT;
    Api__Queue__Permissions *permissions[] = {&reading};
    char user[] = "User", reader_name[] = "reader", owner[] = "owner";
    char other[] = "somebody", view[] = "view";
    char *verbs[] = {view}, *owners[] = {is_own ? owner : other};

    reader.kind = user;
    reader.name = is_own ? reader_name : other;
    reading.subjects = subjects;
    reading.n_subjects = 1;
    reading.verbs = verbs;
    reading.n_verbs = 1;
    queue.permissions = permissions;
    queue.n_permissions = 1;
    queue.user_owners = owners;
    queue.n_user_owners = 1;
    f->credentials = credentials[ROOT];
    assert_int_equal(fixture_code(f, "/api.Submit/UpdateQueue", &queue.base),
                     RPC_OK);
}

/* A job of the queue with a run that has failed. */
static void make_job(struct matrix *m, int which)
{
    struct fixture *f = &m->f;
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);
    struct event_scope scope = {str_of(queues[which]), {"s", 1}, {"root", 4}};
    struct event leased = {.type = EVENT_LEASED,
                           .leased = {.executor_id = STR("elsewhere"),
                                      .node_name = STR("node"),
                                      .pool = STR("default")}};
    struct event failed = {.type = EVENT_FAILED,
                           .error = {.kind = ERROR_POD,
                                     .is_terminal = true,
                                     .message = STR("it broke")}};
    char uri[] = "uri";

    request->queue = (char *)(uintptr_t)queues[which];
    item->external_job_uri = uri;
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    snprintf(m->jobs[which], ID_TEXT_BYTES_MAX, "%s",
             response->job_response_items[0]->job_id);
    assert_int_equal(job_id_parse(str_of(m->jobs[which]), &leased.job), 0);
    leased.run = run_id_make(leased.job, 0);
    leased.created_ms = failed.created_ms = f->now_ms;
    failed.job = leased.job;
    failed.run = leased.run;
    run_id_format(leased.run, m->runs[which]);
    fixture_log(f, &scope, &leased);
    fixture_log(f, &scope, &failed);
}

static void start(struct matrix *m)
{
    *m = (struct matrix){0};
    fixture_init(&m->f);
    struct auth_config *auth = &m->f.config.auth;
    for (int i = 0; i < PERMISSION_COUNT; i++) {
        auth->grants[i] = (struct permission_grant){granted_group, 1};
    }
    auth->grants[PERMISSION_EXECUTE_JOBS] =
        (struct permission_grant){executing, 2};
    auth->administrators = (struct permission_grant){root_group, 1};
    auth->users = users;
    auth->user_count = ARRAY_COUNT(users);
    m->f.on_exchange = answer;
    fixture_start(&m->f);
    for (int i = 0; i < 2; i++) {
        make_queue(&m->f, queues[i], i == 0);
        make_job(m, i);
    }
    fixture_settle(&m->f);
}

/* The request of a row; `which` is UNKNOWN_ID_AT for a job that is not
 * there. */
static void make_request(const struct matrix *m, const struct cell_row *row,
                         enum caller caller, int which, struct strbuf *out)
{
    bool is_known = which < UNKNOWN_ID_AT;
    bool is_about_run = strstr(row->path, "JobRunDetails") != NULL;
    const char *id = !is_known      ? unknown_id
                     : is_about_run ? m->runs[which]
                                    : m->jobs[which];
    auto_strbuf job = strbuf_make(0);

    if (row->who == EXECUTORS && !strstr(row->path, "ReportEvents")) {
        field_put_bytes(out, 1, str_of(names[caller])); /* its executor's id */
    }
    if (row->queue_field) {
        field_put_bytes(out, row->queue_field,
                        str_of(is_known ? queues[which] : "nowhere"));
    }
    if (row->job_set_field) {
        field_put_bytes(out, row->job_set_field, STR("s"));
    }
    if (row->job_field && row->wrapped_in) {
        field_put_bytes(&job, row->job_field, str_of(id));
        field_put_bytes(out, row->wrapped_in, strbuf_str(&job));
    } else if (row->job_field) {
        field_put_bytes(out, row->job_field, str_of(id));
    }
    if (strstr(row->path, "SubmitTrainingJob")) {
        field_put_bytes(out, 3, str_of(training_request));
    }
    strbuf_add(out, row->extra ? row->extra : "", row->extra_bytes);
}

/* Call as a stream, whatever the kind: the first message, or the status. */
static struct outcome call(struct matrix *m, const struct cell_row *row,
                           enum caller caller, int which)
{
    struct rpc_header header = {"authorization", credentials[caller]};
    struct rpc_call_options options = {.headers = &header,
                                       .header_count = header.value != NULL,
                                       .is_wait_for_ready = true};
    auto_strbuf request = strbuf_make(0), reply = strbuf_make(0);
    int64_t wait_ms = patient_ms(10000);

    make_request(m, row, caller, which, &request);
    auto_ptr(rpc_stream) stream =
        rpc_stream_open(m->f.channel, row->path, &options);
    (void)rpc_stream_send(stream, strbuf_str(&request), wait_ms);
    rpc_stream_close_send(stream);
    enum rpc_wait wait = rpc_stream_next(stream, wait_ms, &reply);
    assert_int_not_equal(wait, RPC_WAIT_TIMEOUT);
    if (wait == RPC_WAIT_READY) {
        return (struct outcome){RPC_OK, "",
                                arena_str(&m->f.arena, strbuf_str(&reply))};
    }
    const struct rpc_status *status = rpc_stream_status(stream);
    return (struct outcome){status->code,
                            arena_strdup(&m->f.arena, str_of(status->message)),
                            STR("")};
}

static bool is_denied(const struct outcome *outcome)
{
    return outcome->code == RPC_PERMISSION_DENIED ||
           outcome->code == RPC_UNAUTHENTICATED ||
           (outcome->code == RPC_UNKNOWN &&
            strstr(outcome->message, "lacks permission"));
}

/* Replace ids, by which the outcomes for two jobs differ anyway. */
static void blank_ids(const struct matrix *m, struct outcome *outcome)
{
    const char *ids[] = {m->jobs[0], m->jobs[1], m->runs[0], m->runs[1],
                         unknown_id};
    char *text = (char *)(uintptr_t)outcome->reply.p;

    for (size_t i = 0; i < ARRAY_COUNT(ids); i++) {
        size_t bytes = strlen(ids[i]);
        for (size_t at = 0; at + bytes <= outcome->reply.byte_count; at++) {
            if (memcmp(text + at, ids[i], bytes) == 0) {
                memset(text + at, '#', bytes);
            }
        }
    }
}

/* Whether an outcome tells more than one about a job that is not there. */
static bool tells_of_job(struct matrix *m, const struct cell_row *row,
                         struct outcome outcome)
{
    struct outcome nothing = call(m, row, STRANGER, UNKNOWN_ID_AT);

    blank_ids(m, &outcome);
    blank_ids(m, &nothing);
    return outcome.code != nothing.code ||
           strcmp(outcome.message, nothing.message) != 0 ||
           !str_equal(outcome.reply, nothing.reply);
}

/* Whether a caller is meant to be let. */
static bool is_meant(enum who who, enum caller caller, bool is_own)
{
    bool is_permitted = caller == ROOT || caller == GRANTED;

    switch (who) {
    case ANYBODY:
        return true;
    case PERMITTED:
        return is_permitted;
    case EXECUTORS:
        return is_permitted || caller == CLUSTER;
    case ACTORS:
        return is_permitted || (is_own && caller == OWNER);
    case VIEWERS:
    case SEERS:
        break;
    }
    return is_permitted || (is_own && (caller == OWNER || caller == READER));
}

static void check_cell(struct matrix *m, const struct cell_row *row,
                       enum caller caller, int which)
{
    struct outcome outcome = call(m, row, caller, which);
    bool is_let = row->who == SEERS ? tells_of_job(m, row, outcome)
                                    : !is_denied(&outcome);

    if (is_let != is_meant(row->who, caller, which == 0)) {
        fail_msg("%s by %s on %s: %s, %d %s", row->path, names[caller],
                 queues[which], is_let ? "let" : "not let", outcome.code,
                 outcome.message);
    }
    assert_false(row->who == SEERS && is_denied(&outcome));
}

static void each_cell_is_as_meant(void **state)
{
    struct matrix m;

    (void)state;
    start(&m);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        for (int caller = 0; caller < CALLERS; caller++) {
            for (int which = 0; which < 2; which++) {
                check_cell(&m, &rows[i], (enum caller)caller, which);
            }
        }
    }
    fixture_fini(&m.f);
}

/* Whoever adds a method says here who may call it. */
static void each_method_is_in_the_matrix(void **state)
{
    struct matrix m;
    uint32_t count;

    (void)state;
    start(&m);
    const struct rpc_method *methods = api_methods(m.f.api, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool is_there = false;
        for (size_t r = 0; r < ARRAY_COUNT(rows) && !is_there; r++) {
            is_there = strcmp(rows[r].path, methods[i].path) == 0;
        }
        if (!is_there) {
            fail_msg("%s has no row", methods[i].path);
        }
    }
    assert_int_equal(count, ARRAY_COUNT(rows));
    fixture_fini(&m.f);
}

/* Without anonymous access there is nobody without credentials. */
static void nobody_is_let_without_credentials(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.config.auth.is_anonymous_allowed = false;
    f.config.auth.users = users;
    f.config.auth.user_count = ARRAY_COUNT(users);
    fixture_start(&f);
    struct matrix m = {.f = f};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct outcome outcome = call(&m, &rows[i], ANONYMOUS, UNKNOWN_ID_AT);
        assert_int_equal(outcome.code, RPC_UNAUTHENTICATED);
    }
    f.arena = m.f.arena;
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_cell_is_as_meant),
        TEST(each_method_is_in_the_matrix),
        TEST(nobody_is_let_without_credentials),
    };

    return RUN_TESTS(tests);
}
