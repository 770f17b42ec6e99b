/*
 * Groups of pods: what a podGroup may be, and the jobs that it becomes.
 */
#include "api/submission.h"
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "sample.h"
#include "unit.h"
#include "wire/log_codec.h"
#include "wire/message.h"

/* A number field. */
static Google__Protobuf__UInt32Value *number(struct arena *arena,
                                             uint32_t value)
{
    Google__Protobuf__UInt32Value *message =
        wire_new(&google__protobuf__uint32_value__descriptor, arena);

    message->value = value;
    return message;
}

/* An item with a group of sub-groups `ps` (2..2, auxiliary) and `worker`
 * (4..8). */
static Berth__Submission__Item *group_item(struct arena *arena)
{
    static const struct {
        const char *name;
        uint32_t min, max;
        bool is_auxiliary;
    } rows[] = {{"ps", 2, 0, true}, {"worker", 4, 8, false}};
    Berth__Submission__Item *item = sample_item(arena, NULL);
    struct str pod = wire_encode_arena(&sample_pod(arena)->base, arena);

    item->pod_group =
        wire_new(&berth__submission__pod_group__descriptor, arena);
    item->pod_group->sub_groups = arena_alloc_array(
        arena, SUB_GROUPS_MAX + 1, sizeof(*item->pod_group->sub_groups));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        Berth__Submission__SubGroup *group =
            wire_new(&berth__submission__sub_group__descriptor, arena);
        group->name = (char *)(uintptr_t)rows[i].name;
        group->min = rows[i].min;
        group->max = rows[i].max;
        group->auxiliary = rows[i].is_auxiliary;
        group->template_.len = pod.byte_count;
        group->template_.data = (uint8_t *)(uintptr_t)pod.p;
        item->pod_group->sub_groups[item->pod_group->n_sub_groups++] = group;
    }
    return item;
}

static void fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 0x55, byte_count);
}

/* Build the jobs of a request of these items; the text of a refusal, or "". */
static const char *build(Berth__Submission__Item **items, size_t count,
                         struct command *command, struct arena *arena)
{
    struct refusal *refusal = arena_alloc(arena, sizeof(*refusal));
    struct submit_rules rules;
    struct rng rng = {fill};
    struct submission_context context = {
        .rules = &rules, .rng = &rng, .owner = STR("amy"), .now_ms = 1};

    submit_rules_defaults(&rules);
    return submission_build(sample_request_of(arena, items, count), &context,
                            command, refusal) < 0
               ? refusal->text
               : "";
}

static const char *refusal_of(Berth__Submission__Item *item,
                              struct arena *arena)
{
    auto_ptr(command) command = command_create(COMMAND_SUBMIT);

    return build(&item, 1, command, arena);
}

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
    item->pod_group->sub_groups[1]->max_hops = number(&arena, 4);
    item->pod_group->replace_timeout_seconds = number(&arena, 60);
    assert_string_equal(build(&item, 1, command, &arena), "");
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
    assert_true(terms.is_whole_node);
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
    assert_string_equal(build(&item, 1, command, &arena), "");
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
    assert_string_equal(build(&item, 1, command, &arena), "");
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
    assert_string_equal(build(items, 3, command, &arena), "");
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

/* A change of the good group, and what it is refused with. */
struct bad_case {
    const char *text;
    void (*spoil)(Berth__Submission__Item *item, struct arena *arena);
};

static void spoil_min(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[1]->min = 9;
}

static void spoil_zero(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[1]->min = 0;
    item->pod_group->sub_groups[1]->max = 0;
}

static void spoil_none(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->n_sub_groups = 0;
}

static void spoil_many(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    while (item->pod_group->n_sub_groups <= SUB_GROUPS_MAX) {
        item->pod_group->sub_groups[item->pod_group->n_sub_groups++] =
            item->pod_group->sub_groups[1];
    }
}

static void spoil_name(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[0]->name = field("");
}

static void spoil_letters(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[0]->name = field("Ps-");
}

static void spoil_length(Berth__Submission__Item *item, struct arena *arena)
{
    char *name = arena_alloc(arena, SUB_GROUP_NAME_BYTES_MAX + 2);

    memset(name, 'x', SUB_GROUP_NAME_BYTES_MAX + 1);
    item->pod_group->sub_groups[0]->name = name;
}

static void spoil_twice(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[1]->name = field("ps");
}

static void spoil_hops(Berth__Submission__Item *item, struct arena *arena)
{
    item->pod_group->sub_groups[1]->max_hops = number(arena, 17);
}

static void spoil_wait(Berth__Submission__Item *item, struct arena *arena)
{
    item->pod_group->sub_groups[1]->max_hops_wait_seconds = number(arena, 1);
}

static void spoil_timeout(Berth__Submission__Item *item, struct arena *arena)
{
    item->pod_group->replace_timeout_seconds = number(arena, 31622401);
}

static void spoil_reservation(Berth__Submission__Item *item,
                              struct arena *arena)
{
    (void)arena;
    item->pod_group->node_reservation = field("Half");
}

static void spoil_minimums(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[0]->min = 0;
    item->pod_group->sub_groups[0]->max = 1;
    item->pod_group->sub_groups[1]->min = 0;
}

static void spoil_auxiliary(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[1]->auxiliary = true;
}

static void spoil_template(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[1]->template_.len = 0;
}

static void spoil_container(Berth__Submission__Item *item, struct arena *arena)
{
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(arena);

    sample_container(arena, pod, "idle", false);
    struct str bytes = wire_encode_arena(&pod->base, arena);
    item->pod_group->sub_groups[1]->template_.len = bytes.byte_count;
    item->pod_group->sub_groups[1]->template_.data =
        (uint8_t *)(uintptr_t)bytes.p;
}

static void spoil_class(Berth__Submission__Item *item, struct arena *arena)
{
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(arena);

    pod->priorityclassname = field("armada-preemptible");
    struct str bytes = wire_encode_arena(&pod->base, arena);
    item->pod_group->sub_groups[1]->template_.len = bytes.byte_count;
    item->pod_group->sub_groups[1]->template_.data =
        (uint8_t *)(uintptr_t)bytes.p;
}

static void spoil_pod(Berth__Submission__Item *item, struct arena *arena)
{
    const Berth__Submission__Item *other =
        sample_item(arena, sample_pod(arena));

    item->n_pod_spec = other->n_pod_spec;
    item->pod_spec = other->pod_spec;
}

static void spoil_gang(Berth__Submission__Item *item, struct arena *arena)
{
    sample_gang(arena, item, "g", "2");
}

static void spoil_annotation(Berth__Submission__Item *item, struct arena *arena)
{
    sample_annotation(arena, item, "armadaproject.io/maxHops", "2");
}

static void spoil_namespace(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->namespace_ = field("");
}

static void spoil_count(Berth__Submission__Item *item, struct arena *arena)
{
    (void)arena;
    item->pod_group->sub_groups[1]->max = 100000;
}

static const struct bad_case bad_cases[] = {
    {"podGroup.subGroups[1].min: 9 is more than max, which is 8", spoil_min},
    {"podGroup.subGroups[1].max: 0 with min 0 is a sub-group without pods; it "
     "must be at least 1",
     spoil_zero},
    {"podGroup.subGroups: 0 of them are not from 1 to 16", spoil_none},
    {"podGroup.subGroups: 17 of them are not from 1 to 16", spoil_many},
    {"podGroup.subGroups[0].name: \"\" is not 1 to 63 lower-case letters, "
     "digits and inner dashes",
     spoil_name},
    {"podGroup.subGroups[0].name: \"Ps-\" is not 1 to 63 lower-case letters, "
     "digits and inner dashes",
     spoil_letters},
    {"podGroup.subGroups[0].name: "
     "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxx\" is not 1 to 63 lower-case letters, digits and "
     "inner dashes",
     spoil_length},
    {"podGroup.subGroups[1].name: \"ps\" is the name of subGroups[0] too",
     spoil_twice},
    {"podGroup.subGroups[1].maxHops: 17 is not from 0 to 16", spoil_hops},
    {"podGroup.subGroups[1].maxHopsWaitSeconds: there is no maxHops to wait "
     "for",
     spoil_wait},
    {"podGroup.replaceTimeoutSeconds: 31622401 is not from 0 to 31622400",
     spoil_timeout},
    {"podGroup.nodeReservation: \"Half\" is neither Whole nor Shared",
     spoil_reservation},
    {"podGroup.subGroups: min is 0 in all; a group needs at least one pod to "
     "start with",
     spoil_minimums},
    {"podGroup.subGroups: all are auxiliary; at least one must not be, for it "
     "says when the group ends",
     spoil_auxiliary},
    {"podGroup.subGroups[1].template: the pod spec is missing", spoil_template},
    {"podGroup.subGroups[1] (worker): container idle has no resources "
     "specified",
     spoil_container},
    {"podGroup.subGroups[1] (worker): priorityClassName armada-preemptible is "
     "not that of the first sub-group, armada-default; a group has one",
     spoil_class},
    {"podGroup and podSpec(s) are exclusive: the pods of a group are those of "
     "its subGroups",
     spoil_pod},
    {"annotation armadaproject.io/gangId cannot stand beside podGroup, which "
     "is a gang by itself",
     spoil_gang},
    {"annotation berth.dev/maxHops is for gangs: podGroup says it itself",
     spoil_annotation},
    {"namespace is a required field", spoil_namespace},
    {"100002 jobs in one request, more than the 100000 allowed", spoil_count},
};

/* What cannot be is refused, and the text names the field. */
static void bad_groups_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(bad_cases); i++) {
        auto_arena arena = {0};
        Berth__Submission__Item *item = group_item(&arena);
        assert_string_equal(refusal_of(item, &arena), "");
        item = group_item(&arena);
        bad_cases[i].spoil(item, &arena);
        assert_string_equal(refusal_of(item, &arena), bad_cases[i].text);
    }
}

/* A few bytes that ask for a great many jobs cost no more than a large
 * request. */
static void a_group_does_not_swell_without_bound(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = group_item(&arena);
    K8s__Io__Api__Core__V1__PodSpec *pod = sample_pod(&arena);
    char *text = arena_alloc(&arena, 32001);

    (void)state;
    memset(text, 'x', 32000);
    pod->hostname = text;
    struct str bytes = wire_encode_arena(&pod->base, &arena);
    item->pod_group->sub_groups[1]->template_.len = bytes.byte_count;
    item->pod_group->sub_groups[1]->template_.data =
        (uint8_t *)(uintptr_t)bytes.p;
    item->pod_group->sub_groups[1]->max = 90000;
    const char *refusal = refusal_of(item, &arena);
    assert_non_null(strstr(refusal, "of the log"));
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
    assert_string_equal(build(&item, 1, command, &arena), "");
    submit_event(command, 0, &arena, &digest);
    assert_int_equal(gang_terms_unpack(digest.gang_terms, &terms), 0);
    assert_true(terms.is_whole_node);
    assert_int_equal(terms.sub_group_count, 1);
    assert_int_equal(terms.sub_groups[0].min_count, 3);
    assert_int_equal(terms.sub_groups[0].max_count, 3);
    assert_int_equal(terms.sub_groups[0].hops_max, 2);
    item = sample_item(&arena, sample_pod(&arena));
    sample_annotation(&arena, item, "berth.dev/maxHops", "2");
    assert_string_equal(refusal_of(item, &arena),
                        "annotation berth.dev/maxHops is for gangs: it needs "
                        "armadaproject.io/gangId or a podGroup");
    item = sample_item(&arena, sample_pod(&arena));
    sample_gang(&arena, item, "g", "3");
    sample_annotation(&arena, item, "berth.dev/maxHops", "17");
    assert_string_equal(refusal_of(item, &arena),
                        "invalid gang information: annotation "
                        "berth.dev/maxHops must be a whole number from 0 to "
                        "16, not 17");
}

/* The range of a window is the same however a gang is written; of a TrainingJob
 * tests/unit/wire/test_training_job.c says it. */
static void windows_have_one_range(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    assert_int_equal(GANG_SECONDS_MAX, 31622400);
    sample_gang(&arena, item, "g", "3");
    sample_annotation(&arena, item, "berth.dev/freezingWindowSeconds",
                      "31622400");
    assert_string_equal(refusal_of(item, &arena), "");
    item = sample_item(&arena, sample_pod(&arena));
    sample_gang(&arena, item, "g", "3");
    sample_annotation(&arena, item, "berth.dev/freezingWindowSeconds",
                      "31622401");
    assert_string_equal(refusal_of(item, &arena),
                        "invalid gang information: annotation "
                        "berth.dev/freezingWindowSeconds must be a whole "
                        "number from 0 to 31622400, not 31622401");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pod_is_a_job_of_the_gang),
        cmocka_unit_test(onpreemption_fail_is_heard),
        cmocka_unit_test(pods_are_told_their_place),
        cmocka_unit_test(groups_stand_beside_jobs),
        cmocka_unit_test(a_group_has_one_answer_and_one_client_id),
        cmocka_unit_test(bad_groups_are_refused),
        cmocka_unit_test(a_group_does_not_swell_without_bound),
        cmocka_unit_test(annotation_gangs_may_have_terms),
        cmocka_unit_test(windows_have_one_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
