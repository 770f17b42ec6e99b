/*
 * view: who sees the values of environment variables.
 */
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "sample.h"
#include "unit.h"

/* Each has the password p. */
static const struct str submitters[] = {{"submitters", 10}};
static const struct basic_user users[] = {
    {.name = {"root", 4},
     .password = {"p", 1},
     .groups = submitters,
     .group_count = 1},
    {.name = {"owner", 5},
     .password = {"p", 1},
     .groups = NULL,
     .group_count = 0},
    {.name = {"reader", 6},
     .password = {"p", 1},
     .groups = NULL,
     .group_count = 0},
    {.name = {"stranger", 8},
     .password = {"p", 1},
     .groups = NULL,
     .group_count = 0},
};
static const char as_root[] = "Basic cm9vdDpw";
static const char as_owner[] = "Basic b3duZXI6cA==";
static const char as_reader[] = "Basic cmVhZGVyOnA=";
static const char as_stranger[] = "Basic c3RyYW5nZXI6cA==";

static void make_queue(struct fixture *f)
{
    Api__Queue queue = fixture_queue_message("q", 1.0);
    Api__Queue__Permissions__Subject reader =
        API__QUEUE__PERMISSIONS__SUBJECT__INIT;
    Api__Queue__Permissions__Subject *subjects[] = {&reader};
    Api__Queue__Permissions reading = API__QUEUE__PERMISSIONS__INIT;
    Api__Queue__Permissions *permissions[] = {&reading};
    char user[] = "User", name[] = "reader", owner[] = "owner", view[] = "view";
    char *verbs[] = {view}, *owners[] = {owner};

    reader.kind = user;
    reader.name = name;
    reading.subjects = subjects;
    reading.n_subjects = 1;
    reading.verbs = verbs;
    reading.n_verbs = 1;
    queue.permissions = permissions;
    queue.n_permissions = 1;
    queue.user_owners = owners;
    queue.n_user_owners = 1;
    assert_int_equal(fixture_code(f, "/api.Submit/UpdateQueue", &queue.base),
                     RPC_OK);
}

/* Submit a pod with a secret, as whoever the fixture's credentials are. */
static char *submit(struct fixture *f)
{
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&f->arena);
    K8s__Io__Api__Core__V1__EnvVar variable =
        K8S__IO__API__CORE__V1__ENV_VAR__INIT;
    K8s__Io__Api__Core__V1__EnvVar *variables[] = {&variable};
    char name[] = "TOKEN", value[] = "secret";

    variable.name = name;
    variable.value = value;
    pod->containers[0]->env = variables;
    pod->containers[0]->n_env = 1;
    Berth__Submission__Item *item = sample_item(&f->arena, pod);
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    fixture_settle(f);
    return response->job_response_items[0]->job_id;
}

static const char *value_in(const K8s__Io__Api__Core__V1__PodSpec *pod)
{
    assert_string_equal(pod->containers[0]->env[0]->name, "TOKEN");
    return pod->containers[0]->env[0]->value;
}

/* The value as a query shows it; NULL: the job is not shown. */
static const char *queried(struct fixture *f, char *id, const char *caller)
{
    Api__JobDetailsRequest request = API__JOB_DETAILS_REQUEST__INIT;

    f->credentials = caller;
    request.job_ids = &id;
    request.n_job_ids = 1;
    request.expand_job_spec = true;
    Api__JobDetailsResponse *response =
        fixture_call(f, "/api.Jobs/GetJobDetails", &request.base,
                     &api__job_details_response__descriptor);
    assert_non_null(response);
    return response->n_job_details == 0
               ? NULL
               : value_in(response->job_details[0]->value->job_spec->pod_spec);
}

/* The value as the stream of events shows it. */
static const char *watched(struct fixture *f, const char *id,
                           const char *caller)
{
    Api__JobSetRequest request = API__JOB_SET_REQUEST__INIT;
    char queue[] = "q", job_set[] = "s";
    Api__EventStreamMessage *message;
    const char *value = NULL;

    f->credentials = caller;
    request.queue = queue;
    request.id = job_set;
    auto_ptr(rpc_stream) stream =
        fixture_stream(f, "/api.Event/GetJobSetEvents", &request.base);
    while ((message = fixture_next(f, stream,
                                   &api__event_stream_message__descriptor))) {
        const Api__EventMessage *event = message->message;
        if (event->events_case == API__EVENT_MESSAGE__EVENTS_SUBMITTED &&
            strcmp(event->submitted->job_id, id) == 0) {
            value = value_in(event->submitted->job->pod_spec);
        }
    }
    return value;
}

static void secrets_are_shown_to_owners_and_administrators(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.config.auth.is_anonymous_allowed = false;
    f.config.auth.users = users;
    f.config.auth.user_count = ARRAY_COUNT(users);
    f.config.auth.administrators = (struct permission_grant){submitters, 1};
    for (int i = 0; i < PERMISSION_COUNT; i++) {
        f.config.auth.grants[i] = (struct permission_grant){0};
    }
    fixture_start(&f);
    f.credentials = as_root;
    make_queue(&f);
    char *of_root = submit(&f);
    assert_string_equal(queried(&f, of_root, as_root), "secret");
    assert_string_equal(queried(&f, of_root, as_owner), "secret");
    assert_string_equal(queried(&f, of_root, as_reader), "<redacted>");
    assert_null(queried(&f, of_root, as_stranger));
    assert_string_equal(watched(&f, of_root, as_owner), "secret");
    assert_string_equal(watched(&f, of_root, as_reader), "<redacted>");
    assert_null(watched(&f, of_root, as_stranger));
    assert_int_equal(f.status.code, RPC_PERMISSION_DENIED);
    fixture_fini(&f);
}

/* How a question for the caller's own usage ends. */
static enum rpc_code asked_usage(struct fixture *f, const char *caller)
{
    Berth__Api__GetUsageRequest request = BERTH__API__GET_USAGE_REQUEST__INIT;

    f->credentials = caller;
    request.mine = true;
    return fixture_code(f, "/berth.api.Berth/GetUsage", &request.base);
}

/* Who may submit, but not read, sees their own jobs. */
static void submitters_see_their_own_jobs(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.config.auth.users = users;
    f.config.auth.user_count = ARRAY_COUNT(users);
    f.config.auth.grants[PERMISSION_WATCH_ALL_EVENTS] =
        (struct permission_grant){0};
    fixture_start(&f);
    make_queue(&f);
    f.credentials = as_stranger;
    char *own = submit(&f);
    f.credentials = NULL;
    char *foreign = submit(&f);
    assert_string_equal(queried(&f, own, as_stranger), "secret");
    assert_null(queried(&f, foreign, as_stranger));
    /* `anonymous` is nobody's name. */
    assert_null(queried(&f, foreign, NULL));
    assert_int_equal(asked_usage(&f, as_stranger), RPC_OK);
    assert_int_equal(asked_usage(&f, NULL), RPC_PERMISSION_DENIED);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(secrets_are_shown_to_owners_and_administrators),
        TEST(submitters_see_their_own_jobs),
    };

    return RUN_TESTS(tests);
}
