/*
 * Submissions and commands about jobs, from the socket to the log and back.
 */
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "sample.h"
#include "unit.h"

/* Submit the items; the ids, or NULL with the status. */
static Api__JobSubmitResponse *
submit(struct fixture *f, Berth__Submission__Item **items, size_t count)
{
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, items, count);

    return fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                        &api__job_submit_response__descriptor);
}

static char *submit_one(struct fixture *f)
{
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Api__JobSubmitResponse *response = submit(f, &item, 1);

    assert_non_null(response);
    assert_int_equal(response->n_job_response_items, 1);
    return response->job_response_items[0]->job_id;
}

/* Ids of a request keep the order of its items, and rise. */
static void test_submit_answers_ids_in_order(void **state)
{
    struct fixture f;
    Berth__Submission__Item *items[3];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    for (int i = 0; i < 3; i++) {
        items[i] = sample_item(&f.arena, sample_pod(&f.arena));
    }
    Api__JobSubmitResponse *response = submit(&f, items, 3);
    assert_non_null(response);
    assert_int_equal(response->n_job_response_items, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(strlen(response->job_response_items[i]->job_id), 26);
        assert_string_equal(response->job_response_items[i]->error, "");
        assert_true(i == 0 ||
                    strcmp(response->job_response_items[i - 1]->job_id,
                           response->job_response_items[i]->job_id) < 0);
    }
    fixture_fini(&f);
}

static void test_submit_of_nothing_is_fine(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    Api__JobSubmitResponse *response = submit(&f, NULL, 0);
    assert_non_null(response);
    assert_int_equal(response->n_job_response_items, 0);
    fixture_fini(&f);
}

/* TRAP-02: an unknown queue is another error on each kind of call, and on
 * submission it comes before validation. */
static void test_trap_02_unknown_queue(void **state)
{
    struct fixture f;
    Api__JobCancelRequest cancel = API__JOB_CANCEL_REQUEST__INIT;
    Api__JobSetRequest events = API__JOB_SET_REQUEST__INIT;
    Api__QueueGetRequest get = API__QUEUE_GET_REQUEST__INIT;
    Berth__Submission__Item bad = BERTH__SUBMISSION__ITEM__INIT;
    Berth__Submission__Item *items[] = {&bad};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    assert_null(submit(&f, items, 1));
    assert_int_equal(f.status.code, RPC_PERMISSION_DENIED);
    assert_string_equal(f.status.message, "could not find queue \"q\"");
    cancel.queue = events.queue = get.name = field("q");
    cancel.job_set_id = events.id = field("s");
    assert_int_equal(fixture_code(&f, "/api.Submit/CancelJobs", &cancel.base),
                     RPC_UNKNOWN);
    assert_non_null(strstr(f.status.message, "could not find queue \"q\""));
    assert_memory_equal(f.status.message, "[x-request-id: \"", 16);
    struct rpc_stream *stream =
        fixture_stream(&f, "/api.Event/GetJobSetEvents", &events.base);
    assert_null(
        fixture_next(&f, stream, &api__event_stream_message__descriptor));
    rpc_stream_close(stream);
    assert_int_equal(f.status.code, RPC_NOT_FOUND);
    assert_string_equal(f.status.message,
                        "[GetJobSetEvents] Queue q does not exist");
    assert_int_equal(fixture_code(&f, "/api.QueueService/GetQueue", &get.base),
                     RPC_NOT_FOUND);
    assert_string_equal(f.status.message, "error: could not find queue \"q\"");
    fixture_fini(&f);
}

/* TRAP-09: one bad item refuses all, with the rule's text alone. */
static void test_trap_09_all_or_nothing(void **state)
{
    struct fixture f;
    Berth__Submission__Item *items[2];
    Api__JobSetRequest events = API__JOB_SET_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    items[0] = sample_item(&f.arena, sample_pod(&f.arena));
    items[1] = sample_item(&f.arena, sample_pod(&f.arena));
    items[1]->namespace_ = field("");
    assert_null(submit(&f, items, 2));
    assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.message, "namespace is a required field");
    assert_string_equal(f.status.field, "job_request_items[1]");
    events.queue = field("q");
    events.id = field("s");
    events.errorifmissing = true;
    struct rpc_stream *stream =
        fixture_stream(&f, "/api.Event/GetJobSetEvents", &events.base);
    assert_null(
        fixture_next(&f, stream, &api__event_stream_message__descriptor));
    rpc_stream_close(stream);
    assert_int_equal(f.status.code, RPC_NOT_FOUND);
    fixture_fini(&f);
}

/* The rules about gangs of one request name an item as well; those about the
 * request name none. */
static void test_a_refusal_says_which_item(void **state)
{
    struct fixture f;
    Berth__Submission__Item *items[3];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    for (int i = 0; i < 3; i++) {
        items[i] = sample_item(&f.arena, sample_pod(&f.arena));
    }
    sample_gang(&f.arena, items[2], "g", "none");
    assert_null(submit(&f, items, 3));
    assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.field, "job_request_items[2]");
    items[2] = sample_item(&f.arena, sample_pod(&f.arena));
    sample_gang(&f.arena, items[2], "g\x1b[2J", "2");
    assert_null(submit(&f, items, 3));
    assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
    assert_non_null(strstr(f.status.message, "control characters"));
    Berth__Submission__Request *request = sample_request_of(&f.arena, items, 2);
    request->job_set_id = field("");
    assert_int_equal(fixture_code(&f, "/api.Submit/SubmitJobs", &request->base),
                     RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.message, "job set id is a required field");
    assert_string_equal(f.status.field, "");
    fixture_fini(&f);
}

/* TRAP-05: commands echo what they are given and do not look. */
static void test_trap_05_commands_are_blind(void **state)
{
    struct fixture f;
    Api__JobCancelRequest cancel = API__JOB_CANCEL_REQUEST__INIT;
    char *ids[] = {field("01jzzzzzzzzzzzzzzzzzzzzzzz"), field("no id at all"),
                   field("01jzzzzzzzzzzzzzzzzzzzzzzz")};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    cancel.queue = field("q");
    cancel.job_set_id = field("s");
    cancel.job_ids = ids;
    cancel.n_job_ids = 3;
    cancel.job_id = field("01jyyyyyyyyyyyyyyyyyyyyyyy");
    Api__CancellationResult *result =
        fixture_call(&f, "/api.Submit/CancelJobs", &cancel.base,
                     &api__cancellation_result__descriptor);
    assert_non_null(result);
    assert_int_equal(result->n_cancelled_ids, 3);
    assert_string_equal(result->cancelled_ids[0], ids[0]);
    assert_string_equal(result->cancelled_ids[1], "no id at all");
    assert_string_equal(result->cancelled_ids[2], cancel.job_id);

    /* No ids: the whole job set, and one empty id in the answer. */
    cancel.n_job_ids = 0;
    cancel.job_id = field("");
    result = fixture_call(&f, "/api.Submit/CancelJobs", &cancel.base,
                          &api__cancellation_result__descriptor);
    assert_non_null(result);
    assert_int_equal(result->n_cancelled_ids, 1);
    assert_string_equal(result->cancelled_ids[0], "");
    fixture_fini(&f);
}

/* A queue with a job, deleted; `cancel` names them. */
static void delete_queue_with_job(struct fixture *f,
                                  Api__JobCancelRequest *cancel)
{
    Api__QueueDeleteRequest delete = API__QUEUE_DELETE_REQUEST__INIT;

    fixture_start(f);
    fixture_queue(f, "q");
    (void)submit_one(f);
    delete.name = cancel->queue = field("q");
    assert_int_equal(fixture_code(f, "/api.Submit/DeleteQueue", &delete.base),
                     RPC_OK);
    fixture_settle(f);
    cancel->job_set_id = field("s");
}

/* Whether the stream of a job set of queue q has an event. */
static bool has_events(struct fixture *f, const char *job_set)
{
    Api__JobSetRequest request = API__JOB_SET_REQUEST__INIT;

    request.queue = field("q");
    request.id = field(job_set);
    request.errorifmissing = true;
    struct rpc_stream *stream =
        fixture_stream(f, "/api.Event/GetJobSetEvents", &request.base);
    bool has_any =
        fixture_next(f, stream, &api__event_stream_message__descriptor) != NULL;
    rpc_stream_close(stream);
    return has_any;
}

/* Jobs outlive their queue; who may act on jobs of any queue still can. */
static void jobs_of_a_deleted_queue_can_be_cancelled(void **state)
{
    struct fixture f;
    Api__JobCancelRequest cancel = API__JOB_CANCEL_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    delete_queue_with_job(&f, &cancel);
    assert_int_equal(fixture_code(&f, "/api.Submit/CancelJobs", &cancel.base),
                     RPC_OK);
    assert_true(has_events(&f, "s"));
    assert_false(has_events(&f, "never heard of"));
    assert_int_equal(f.status.code, RPC_NOT_FOUND);
    cancel.job_set_id = field("never heard of");
    assert_int_equal(fixture_code(&f, "/api.Submit/CancelJobs", &cancel.base),
                     RPC_UNKNOWN);
    assert_non_null(strstr(f.status.message, "could not find queue \"q\""));
    fixture_fini(&f);
}

static void jobs_of_a_deleted_queue_want_the_permission(void **state)
{
    struct fixture f;
    Api__JobCancelRequest cancel = API__JOB_CANCEL_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    f.config.auth.grants[PERMISSION_CANCEL_ANY_JOBS].group_count = 0;
    delete_queue_with_job(&f, &cancel);
    assert_int_equal(fixture_code(&f, "/api.Submit/CancelJobs", &cancel.base),
                     RPC_UNKNOWN);
    fixture_fini(&f);
}

/* The reason comes first, then queue, then job set. */
static void test_checks_of_cancel_in_order(void **state)
{
    struct fixture f;
    Api__JobCancelRequest cancel = API__JOB_CANCEL_REQUEST__INIT;
    char reason[52] = {0};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    memset(reason, 'r', 51);
    cancel.reason = reason;
    assert_int_equal(fixture_code(&f, "/api.Submit/CancelJobs", &cancel.base),
                     RPC_INVALID_ARGUMENT);
    assert_non_null(strstr(f.status.message,
                           "is invalid for field \"Reason\": reason cannot be "
                           "longer than 50 bytes"));
    reason[50] = '\0';
    assert_int_equal(fixture_code(&f, "/api.Submit/CancelJobs", &cancel.base),
                     RPC_INVALID_ARGUMENT);
    assert_non_null(strstr(f.status.message, "queue cannot be empty"));
    cancel.queue = field("q");
    assert_int_equal(fixture_code(&f, "/api.Submit/CancelJobs", &cancel.base),
                     RPC_INVALID_ARGUMENT);
    assert_non_null(strstr(f.status.message, "jobset cannot be empty"));
    fixture_fini(&f);
}

/* TRAP-12: pending and running only together; what else is queued. */
static void test_trap_12_filter_of_cancel_job_set(void **state)
{
    static const struct {
        Api__JobState states[3];
        size_t count;
        enum rpc_code code;
    } cases[] = {
        {{0}, 0, RPC_OK},
        {{API__JOB_STATE__QUEUED}, 1, RPC_OK},
        {{API__JOB_STATE__PENDING}, 1, RPC_UNKNOWN},
        {{API__JOB_STATE__RUNNING, API__JOB_STATE__QUEUED}, 2, RPC_UNKNOWN},
        {{API__JOB_STATE__PENDING, API__JOB_STATE__RUNNING}, 2, RPC_OK},
        {{API__JOB_STATE__SUCCEEDED}, 1, RPC_OK},
    };
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        Api__JobSetCancelRequest request = API__JOB_SET_CANCEL_REQUEST__INIT;
        Api__JobSetFilter filter = API__JOB_SET_FILTER__INIT;
        Api__JobState states[3];
        char set[] = {(char)('a' + i), '\0'};
        memcpy(states, cases[i].states, sizeof(states));
        filter.states = states;
        filter.n_states = cases[i].count;
        request.queue = field("q");
        request.job_set_id = set;
        request.filter = &filter;
        /* What is wrong with it is told before what is of the queue. */
        assert_int_equal(
            fixture_code(&f, "/api.Submit/CancelJobSet", &request.base),
            RPC_UNKNOWN);
        assert_non_null(
            strstr(f.status.message, cases[i].code == RPC_OK
                                         ? "could not find queue"
                                         : "must always be used together"));
        fixture_queue(&f, "q");
        assert_int_equal(
            fixture_code(&f, "/api.Submit/CancelJobSet", &request.base),
            cases[i].code);
        Api__QueueDeleteRequest delete = API__QUEUE_DELETE_REQUEST__INIT;
        delete.name = field("q");
        assert_int_equal(
            fixture_code(&f, "/api.Submit/DeleteQueue", &delete.base), RPC_OK);
    }
    fixture_fini(&f);
}

static void test_reprioritize_and_preempt_answer_maps(void **state)
{
    struct fixture f;
    Api__JobReprioritizeRequest all = API__JOB_REPRIORITIZE_REQUEST__INIT;
    Api__JobPreemptRequest preempt = API__JOB_PREEMPT_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    char *id = submit_one(&f);
    all.queue = preempt.queue = field("q");
    all.job_set_id = preempt.job_set_id = field("s");
    Api__JobReprioritizeResponse *response =
        fixture_call(&f, "/api.Submit/ReprioritizeJobs", &all.base,
                     &api__job_reprioritize_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_reprioritization_results, 1);
    assert_string_equal(response->reprioritization_results[0]->key,
                        "all jobs in job set s");
    assert_string_equal(response->reprioritization_results[0]->value, "");
    Api__PreemptionResult *result =
        fixture_call(&f, "/api.Submit/PreemptJobs", &preempt.base,
                     &api__preemption_result__descriptor);
    assert_non_null(result);
    assert_int_equal(result->n_preemption_results, 0);
    preempt.job_ids = &id;
    preempt.n_job_ids = 1;
    result = fixture_call(&f, "/api.Submit/PreemptJobs", &preempt.base,
                          &api__preemption_result__descriptor);
    assert_non_null(result);
    assert_int_equal(result->n_preemption_results, 1);
    assert_string_equal(result->preemption_results[0]->key, id);
    fixture_fini(&f);
}

/* What the leader refuses, the client learns in Armada's codes. */
static void test_leader_s_refusals(void **state)
{
    static const struct {
        enum command_result result;
        enum rpc_code code;
        const char *text;
    } cases[] = {
        {COMMAND_LOG_FAILED, RPC_INTERNAL,
         "Failed to send events to Pulsar: no space"},
        {COMMAND_UNAVAILABLE, RPC_UNAVAILABLE, "no space"},
        {COMMAND_OVERLOADED, RPC_RESOURCE_EXHAUSTED, "no space"},
        {COMMAND_UNKNOWN_QUEUE, RPC_PERMISSION_DENIED,
         "could not find queue \"q\""},
    };
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    Berth__Submission__Item *item = sample_item(&f.arena, sample_pod(&f.arena));
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        fixture_settle(&f);
        fixture_trouble(&f, cases[i].result, STR("no space"));
        fixture_settle(&f);
        assert_null(submit(&f, &item, 1));
        assert_int_equal(f.status.code, cases[i].code);
        assert_string_equal(f.status.message, cases[i].text);
    }
    fixture_fini(&f);
}

/* A queue whose entry grants a verb to a group serves the group's members. */
static void test_queue_permissions(void **state)
{
    static const struct str staff[] = {{"staff", 5}};
    static const struct basic_user users[] = {{.name = {"amy", 3},
                                               .password = {"secret", 6},
                                               .groups = staff,
                                               .group_count = 1},
                                              {.name = {"bob", 3},
                                               .password = {"hunter2", 7},
                                               .groups = NULL,
                                               .group_count = 0}};
    static const struct str everyone[] = {{"everyone", 8}};
    struct fixture f;
    Google__Protobuf__Empty empty = GOOGLE__PROTOBUF__EMPTY__INIT;
    Api__Queue queue = API__QUEUE__INIT;
    Api__Queue__Permissions entry = API__QUEUE__PERMISSIONS__INIT;
    Api__Queue__Permissions__Subject subject =
        API__QUEUE__PERMISSIONS__SUBJECT__INIT;
    Api__Queue__Permissions__Subject *subjects[] = {&subject};
    Api__Queue__Permissions *entries[] = {&entry};
    char *verbs[] = {field("submit")};

    (void)state;
    fixture_init(&f);
    f.config.auth = (struct auth_config){.users = users, .user_count = 2};
    f.config.auth.grants[PERMISSION_CREATE_QUEUE] =
        (struct permission_grant){everyone, 1};
    fixture_start(&f);
    subject.kind = field("Group");
    subject.name = field("staff");
    entry.subjects = subjects;
    entry.n_subjects = 1;
    entry.verbs = verbs;
    entry.n_verbs = 1;
    queue.name = field("q");
    queue.priority_factor = 1;
    queue.permissions = entries;
    queue.n_permissions = 1;
    f.credentials = "Basic Ym9iOmh1bnRlcjI="; /* bob */
    assert_int_equal(
        fixture_code(&f, "/api.QueueService/UpdateQueue", &queue.base), RPC_OK);
    Berth__Submission__Item *item = sample_item(&f.arena, sample_pod(&f.arena));
    assert_null(submit(&f, &item, 1));
    assert_int_equal(f.status.code, RPC_PERMISSION_DENIED);
    assert_string_equal(f.status.message,
                        "bob lacks permission submit_any_jobs required for "
                        "action submit; members of everyone can grant the "
                        "verb submit on the queue");
    f.credentials = "basic YW15OnNlY3JldA=="; /* amy */
    assert_non_null(submit(&f, &item, 1));
    Api__JobSetCancelRequest cancel = API__JOB_SET_CANCEL_REQUEST__INIT;
    cancel.queue = field("q");
    cancel.job_set_id = field("s");
    assert_int_equal(fixture_code(&f, "/api.Submit/CancelJobSet", &cancel.base),
                     RPC_UNKNOWN);
    f.credentials = "basic YW15OndyZm5n"; /* amy, another password */
    assert_null(submit(&f, &item, 1));
    assert_int_equal(f.status.code, RPC_UNAUTHENTICATED);
    f.credentials = NULL;
    assert_int_equal(fixture_code(&f, "/api.Submit/Health", &empty.base),
                     RPC_UNAUTHENTICATED);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_submit_answers_ids_in_order),
        TEST(test_submit_of_nothing_is_fine),
        TEST(test_trap_02_unknown_queue),
        TEST(test_trap_09_all_or_nothing),
        TEST(test_a_refusal_says_which_item),
        TEST(test_trap_05_commands_are_blind),
        TEST(jobs_of_a_deleted_queue_can_be_cancelled),
        TEST(jobs_of_a_deleted_queue_want_the_permission),
        TEST(test_checks_of_cancel_in_order),
        TEST(test_trap_12_filter_of_cancel_job_set),
        TEST(test_reprioritize_and_preempt_answer_maps),
        TEST(test_leader_s_refusals),
        TEST(test_queue_permissions),
    };

    return RUN_TESTS(tests);
}
