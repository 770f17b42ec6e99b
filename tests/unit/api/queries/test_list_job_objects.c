/*
 * What belongs to a job in its cluster, as far as executors have told.
 */
#include "api_fixture.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/message.h"

static const struct event_scope scope = {{"q", 1}, {"s", 1}, {"anonymous", 9}};

static const char secret[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\"},"
    "\"data\":{\"k\":\"dg==\"}}";
static const char map[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                          "\"metadata\":{\"name\":\"m\"}}";

static void add_object(struct fixture *f, Berth__Submission__Item *item,
                       const char *json)
{
    K8s__Io__Apimachinery__Pkg__Runtime__RawExtension *raw = wire_new(
        &k8s__io__apimachinery__pkg__runtime__raw_extension__descriptor,
        &f->arena);

    raw->has_raw = true;
    raw->raw.data = (uint8_t *)arena_strdup(&f->arena, str_of(json));
    raw->raw.len = strlen(json);
    item->objects[item->n_objects++] = raw;
}

static char *submit(struct fixture *f)
{
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);

    item->objects = arena_alloc_array(&f->arena, 2, sizeof(*item->objects));
    add_object(f, item, secret);
    add_object(f, item, map);
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    return response->job_response_items[0]->job_id;
}

static void log_event(struct fixture *f, const char *job, struct event event)
{
    assert_int_equal(job_id_parse(str_of(job), &event.job), 0);
    event.run = run_id_make(event.job, 0);
    event.created_ms = f->now_ms;
    fixture_log(f, &scope, &event);
}

static Berth__Api__JobObject **objects_of(struct fixture *f, char *id)
{
    Berth__Api__ListJobObjectsRequest request =
        BERTH__API__LIST_JOB_OBJECTS_REQUEST__INIT;

    request.job_id = id;
    Berth__Api__ListJobObjectsResponse *response =
        fixture_call(f, "/berth.api.Berth/ListJobObjects", &request.base,
                     &berth__api__list_job_objects_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_objects, 3);
    return response->objects;
}

static void assert_states(struct fixture *f, char *id,
                          Berth__Api__JobObject__State pod,
                          Berth__Api__JobObject__State first,
                          Berth__Api__JobObject__State second)
{
    Berth__Api__JobObject **objects = objects_of(f, id);

    assert_int_equal(objects[0]->state, pod);
    assert_int_equal(objects[1]->state, first);
    assert_int_equal(objects[2]->state, second);
}

#define STATE(name) BERTH__API__JOB_OBJECT__STATE__##name

/* The first is there, the second was refused. */
static void tell(struct fixture *f, const char *id)
{
    Berth__Api__JobObject made = BERTH__API__JOB_OBJECT__INIT;
    Berth__Api__JobObject refused = BERTH__API__JOB_OBJECT__INIT;

    made.name = field("armada-s");
    made.uid = field("u");
    made.state = STATE(PRESENT);
    refused.index = 1;
    refused.state = STATE(REJECTED);
    refused.message = field("no");
    const struct str told[] = {wire_encode_arena(&made.base, &f->arena),
                               wire_encode_arena(&refused.base, &f->arena)};
    log_event(f, id,
              (struct event){.type = EVENT_INGRESS_INFO,
                             .ingress = {.objects = told,
                                         .object_count = ARRAY_COUNT(told)}});
}

static void test_states(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    char *id = submit(&f);
    assert_states(&f, id, STATE(WANTED), STATE(WANTED), STATE(WANTED));
    log_event(&f, id,
              (struct event){.type = EVENT_LEASED,
                             .leased = {.executor_id = STR("cluster"),
                                        .node_name = STR("node"),
                                        .pool = STR("default")}});
    assert_states(&f, id, STATE(CREATING), STATE(CREATING), STATE(CREATING));
    tell(&f, id);
    log_event(&f, id, (struct event){.type = EVENT_RUN_RUNNING});
    assert_states(&f, id, STATE(RUNNING), STATE(PRESENT), STATE(REJECTED));

    Berth__Api__JobObject **objects = objects_of(&f, id);
    assert_string_equal(objects[0]->kind, "Pod");
    assert_string_equal(objects[1]->kind, "Secret");
    assert_string_equal(objects[1]->name, "armada-s");
    assert_string_equal(objects[1]->namespace_, "default");
    assert_string_equal(objects[1]->executor, "cluster");
    assert_string_equal(objects[1]->uid, "u");
    assert_int_equal(objects[1]->attempt, 1);
    assert_string_equal(objects[2]->kind, "ConfigMap");
    assert_string_equal(objects[2]->message, "no");

    log_event(&f, id, (struct event){.type = EVENT_RUN_SUCCEEDED});
    log_event(&f, id, (struct event){.type = EVENT_SUCCEEDED});
    assert_states(&f, id, STATE(SUCCEEDED), STATE(UNWANTED), STATE(REJECTED));
    fixture_fini(&f);
}

static void test_unknown_jobs(void **state)
{
    Berth__Api__ListJobObjectsRequest request =
        BERTH__API__LIST_JOB_OBJECTS_REQUEST__INIT;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    request.job_id = field("01jzzzzzzzzzzzzzzzzzzzzzzz");
    assert_int_equal(
        fixture_code(&f, "/berth.api.Berth/ListJobObjects", &request.base),
        RPC_NOT_FOUND);
    request.job_id = field("nonsense");
    assert_int_equal(
        fixture_code(&f, "/berth.api.Berth/ListJobObjects", &request.base),
        RPC_NOT_FOUND);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_unknown_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
