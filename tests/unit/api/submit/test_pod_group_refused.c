/*
 * Groups of pods: what a podGroup may not be.
 */
#include "field.h"
#include "group_sample.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/message.h"

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
    item->pod_group->sub_groups[1]->max_hops = group_number(arena, 17);
}

static void spoil_wait(Berth__Submission__Item *item, struct arena *arena)
{
    item->pod_group->sub_groups[1]->max_hops_wait_seconds =
        group_number(arena, 1);
}

static void spoil_timeout(Berth__Submission__Item *item, struct arena *arena)
{
    item->pod_group->replace_timeout_seconds = group_number(arena, 31622401);
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
    {"podGroup.subGroups[1].maxHopsWaitSeconds: needs maxHops", spoil_wait},
    {"podGroup.replaceTimeoutSeconds: 31622401 is not from 0 to 31622400",
     spoil_timeout},
    {"podGroup.nodeReservation: \"Half\" is neither Whole nor Shared",
     spoil_reservation},
    {"podGroup.subGroups: min is 0 in all; at least one must have min of 1 or "
     "more",
     spoil_minimums},
    {"podGroup.subGroups: all are auxiliary; at least one must not be, because "
     "it determines when the group ends",
     spoil_auxiliary},
    {"podGroup.subGroups[1].template: the pod spec is missing", spoil_template},
    {"podGroup.subGroups[1] (worker): container idle has no resources "
     "specified",
     spoil_container},
    {"podGroup.subGroups[1] (worker): priorityClassName armada-preemptible is "
     "not that of the first sub-group, armada-default; a group has one",
     spoil_class},
    {"podGroup and podSpec(s) are mutually exclusive: give the pods of a group "
     "in its subGroups",
     spoil_pod},
    {"annotation armadaproject.io/gangId is not allowed with podGroup, which "
     "is a gang itself",
     spoil_gang},
    {"annotation armadaproject.io/maxHops is for gangs: podGroup says it "
     "itself",
     spoil_annotation},
    {"namespace is a required field", spoil_namespace},
    {"podGroup.subGroups: max is 100002 in all, more than the 100000 allowed",
     spoil_count},
};

/* What cannot be is refused, and the text names the field. */
static void bad_groups_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(bad_cases); i++) {
        auto_arena arena = {0};
        Berth__Submission__Item *item = group_item(&arena);
        assert_string_equal(group_refusal(item, &arena), "");
        item = group_item(&arena);
        bad_cases[i].spoil(item, &arena);
        assert_string_equal(group_refusal(item, &arena), bad_cases[i].text);
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
    const char *refusal = group_refusal(item, &arena);
    assert_non_null(strstr(refusal, "of the log"));
}

/* The range of a window is the same however a gang is written; of a TrainingJob
 * tests/unit/wire/training/test_training_job.c says it. */
static void windows_have_one_range(void **state)
{
    auto_arena arena = {0};
    Berth__Submission__Item *item = sample_item(&arena, sample_pod(&arena));

    (void)state;
    assert_int_equal(GANG_SECONDS_MAX, 31622400);
    sample_gang(&arena, item, "g", "3");
    sample_annotation(&arena, item, "berth.dev/freezingWindowSeconds",
                      "31622400");
    assert_string_equal(group_refusal(item, &arena), "");
    item = sample_item(&arena, sample_pod(&arena));
    sample_gang(&arena, item, "g", "3");
    sample_annotation(&arena, item, "berth.dev/freezingWindowSeconds",
                      "31622401");
    assert_string_equal(group_refusal(item, &arena),
                        "invalid gang information: annotation "
                        "berth.dev/freezingWindowSeconds must be a whole "
                        "number from 0 to 31622400, not 31622401");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bad_groups_are_refused),
        TEST(a_group_does_not_swell_without_bound),
        TEST(windows_have_one_range),
    };

    return RUN_TESTS(tests);
}
