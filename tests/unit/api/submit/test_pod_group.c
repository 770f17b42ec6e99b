/*
 * Groups of pods: the jobs that they become.
 */
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "group_sample.h"
#include "sample.h"
#include "unit.h"
#include "wire/log/log_codec.h"

/* What the log says of a job of a command. */
static struct event submit_event(const struct command *command, uint32_t index,
                                 struct arena *arena,
                                 struct job_digest *ret_digest)
{
    struct event event;

    assert_int_equal(log_decode_event(command->submit.items[index].event, arena,
                                      &event, NULL),
                     0);
    assert_int_equal(digest_unpack(event.submit.digest, ret_digest), 0);
    return event;
}

/* How many pods the first job of a command asks for, in thousandths. */
static int64_t pods_of(const struct command *command, struct arena *arena)
{
    struct job_digest digest;
    struct requirement requirement;

    (void)submit_event(command, 0, arena, &digest);
    assert_int_equal(requirement_unpack(digest.class_key, arena, &requirement),
                     0);
    return resource_list_get(&requirement.requests, STR("pods"));
}

static void a_job_is_a_pod_where_pods_are_counted(void **state)
{
    auto_arena arena = {0};
    auto_ptr(command) plain = command_create(COMMAND_SUBMIT);
    auto_ptr(command) counted = command_create(COMMAND_SUBMIT);
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    assert_string_equal(group_build(&item, 1, plain, &arena), "");
    assert_string_equal(group_build_counted(&item, 1, counted, &arena), "");

    assert_int_equal(pods_of(plain, &arena), 0);
    assert_int_equal(pods_of(counted, &arena), 1000);
}

/* Every pod is a job of one gang, whose id is the first job's, and says of
 * which sub-group it is; all have the same terms. */
static void every_pod_is_a_job_of_the_gang(void **state)
{
    auto_arena arena = {0};
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);
    Berth__Submission__Item *item = group_item(&arena);
    struct job_digest digest;
    struct gang_terms terms;
    char id[ID_TEXT_BYTES_MAX];

    (void)state;
    item->pod_group->sub_groups[1]->max_hops = group_number(&arena, 4);
    item->pod_group->replace_timeout_seconds = group_number(&arena, 60);
    assert_string_equal(group_build(&item, 1, command, &arena), "");
    assert_int_equal(command->submit.item_count, 10);
    job_id_format(command->submit.items[0].job, id);
    for (uint32_t i = 0; i < 10; i++) {
        submit_event(command, i, &arena, &digest);
        assert_int_equal(command->submit.items[i].is_further, i > 0);
        assert_true(str_equal(digest.gang_id, str_of(id)));
        assert_int_equal(digest.gang_cardinality, 10);
        assert_int_equal(digest.gang_minimum, 6);
        assert_int_equal(digest.sub_group, i < 2 ? 0 : 1);
        assert_false(digest.is_fail_fast);
        assert_int_equal(digest.on_preemption, ON_LOSS_REQUEUE);
        assert_int_equal(digest.on_executor_lost, ON_LOSS_REQUEUE);
    }
    assert_int_equal(gang_terms_unpack(digest.gang_terms, &terms), 0);
    assert_int_equal(terms.kind, GANG_POD_GROUP);
    assert_true(terms.has_exclusive_nodes);
    assert_int_equal(terms.freezing_window_ms, FREEZING_BY_POLICY);
    assert_int_equal(terms.replace_timeout_ms, 60000);
    assert_int_equal(terms.sub_group_count, 2);
    assert_true(terms.sub_groups[0].is_auxiliary);
    assert_int_equal(terms.sub_groups[0].min_count, 2);
    assert_int_equal(terms.sub_groups[0].max_count, 2);
    assert_int_equal(terms.sub_groups[0].hops_max, HOPS_ANY);
    assert_true(str_equal(terms.sub_groups[1].name, STR("worker")));
    assert_int_equal(terms.sub_groups[1].max_count, 8);
    assert_int_equal(terms.sub_groups[1].hops_max, 4);
}

static void onpreemption_fail_is_heard(void **state)
{
    auto_arena arena = {0};
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);
    Berth__Submission__Item *item = group_item(&arena);
    struct job_digest digest;

    (void)state;
    sample_annotation(&arena, item, "armadaproject.io/onPreemption", "fail");
    assert_string_equal(group_build(&item, 1, command, &arena), "");
    submit_event(command, 0, &arena, &digest);
    assert_int_equal(digest.on_preemption, ON_LOSS_FAIL);
}

/* Whether the bytes hold the text. */
static bool holds(struct str bytes, const char *text)
{
    return memmem(bytes.p, bytes.byte_count, text, strlen(text)) != NULL;
}

/* Labels tell a pod its place, and its environment refers to them; what the
 * user put there has each job's own id. */
static void pods_are_told_their_place(void **state)
{
    auto_arena arena = {0};
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);
    Berth__Submission__Item *item = group_item(&arena);
    struct job_digest digest;
    char id[ID_TEXT_BYTES_MAX];

    (void)state;
    sample_annotation(&arena, item, "url", "http://x/{JobId}");
    assert_string_equal(group_build(&item, 1, command, &arena), "");
    struct event event = submit_event(command, 3, &arena, &digest);
    struct str spec = event.submit.encoded;
    assert_true(holds(spec, "berth.dev/pod-group"));
    assert_true(holds(spec, "berth.dev/sub-group\x12\x06worker"));
    assert_true(holds(spec, "berth.dev/pod-index\x12\x01"
                            "1"));
    assert_true(holds(spec, "armadaproject.io/gangCardinality\x12\x02"
                            "10"));
    assert_true(holds(spec, "BERTH_POD_INDEX"));
    assert_true(holds(spec, "metadata.labels['berth.dev/sub-group']"));
    assert_true(holds(spec, "http://x/"));
    job_id_format(command->submit.items[3].job, id);
    assert_true(holds(spec, id));
    assert_false(holds(spec, "{JobId}"));
}

/* Groups and jobs in one request: their ids rise in order. */
static void groups_stand_beside_jobs(void **state)
{
    auto_arena arena = {0};
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);
    Berth__Submission__Item *items[] = {
        sample_item(&arena, sample_pod(&arena)), group_item(&arena),
        sample_item(&arena, sample_pod(&arena))};
    struct job_digest digest;

    (void)state;
    assert_string_equal(group_build(items, 3, command, &arena), "");
    assert_int_equal(command->submit.item_count, 12);
    for (uint32_t i = 0; i < 12; i++) {
        struct event event = submit_event(command, i, &arena, &digest);
        bool is_member = i > 0 && i < 11;
        assert_int_equal(digest.gang_terms.byte_count > 0, is_member);
        assert_int_equal(command->submit.items[i].is_further,
                         is_member && i > 1);
        assert_int_equal(holds(event.submit.encoded, "BERTH_POD_INDEX"),
                         is_member);
        assert_true(i == 0 ||
                    key128_compare(command->submit.items[i - 1].job.v,
                                   command->submit.items[i].job.v) < 0);
    }
}

/* One id answers for a group, the first's; the same client id again makes no
 * jobs. */
static void a_group_has_one_answer_and_one_client_id(void **state)
{
    struct fixture f;
    Berth__Submission__Item *items[2];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    items[0] = group_item(&f.arena);
    items[0]->client_id = field("mine");
    items[1] = sample_item(&f.arena, sample_pod(&f.arena));
    Api__JobSubmitResponse *response =
        fixture_call(&f, "/api.Submit/SubmitJobs",
                     &sample_request_of(&f.arena, items, 2)->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_job_response_items, 2);
    assert_true(strcmp(response->job_response_items[0]->job_id,
                       response->job_response_items[1]->job_id) < 0);
    fixture_fini(&f);
}

/* A gang by annotations that says how it is to lie has the terms of a group
 * with one sub-group; others have none. */
static void annotation_gangs_may_have_terms(void **state)
{
    auto_arena arena = {0};
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));
    struct job_digest digest;
    struct gang_terms terms;

    (void)state;
    sample_gang(&arena, item, "g", "3");
    sample_annotation(&arena, item, "armadaproject.io/maxHops", "2");
    sample_annotation(&arena, item, "berth.dev/nodeReservation", "Whole");
    assert_string_equal(group_build(&item, 1, command, &arena), "");
    submit_event(command, 0, &arena, &digest);
    assert_int_equal(gang_terms_unpack(digest.gang_terms, &terms), 0);
    assert_true(terms.has_exclusive_nodes);
    assert_int_equal(terms.sub_group_count, 1);
    assert_int_equal(terms.sub_groups[0].min_count, 3);
    assert_int_equal(terms.sub_groups[0].max_count, 3);
    assert_int_equal(terms.sub_groups[0].hops_max, 2);
    item = sample_item(&arena, sample_pod(&arena));
    sample_annotation(&arena, item, "berth.dev/maxHops", "2");
    assert_string_equal(group_refusal(item, &arena),
                        "annotation berth.dev/maxHops is for gangs: it needs "
                        "armadaproject.io/gangId or a podGroup");
    item = sample_item(&arena, sample_pod(&arena));
    sample_gang(&arena, item, "g", "3");
    sample_annotation(&arena, item, "berth.dev/maxHops", "17");
    assert_string_equal(group_refusal(item, &arena),
                        "invalid gang information: annotation "
                        "berth.dev/maxHops must be a whole number from 0 to "
                        "16, not 17");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_a_pod_where_pods_are_counted),
        TEST(every_pod_is_a_job_of_the_gang),
        TEST(onpreemption_fail_is_heard),
        TEST(pods_are_told_their_place),
        TEST(groups_stand_beside_jobs),
        TEST(a_group_has_one_answer_and_one_client_id),
        TEST(annotation_gangs_may_have_terms),
    };

    return RUN_TESTS(tests);
}
