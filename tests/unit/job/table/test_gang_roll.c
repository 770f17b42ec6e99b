/* Sentences of job/table/gang_roll.h. */
#include "job/table/gang_roll.h"
#include "table.h"
#include "unit.h"

/* What a member says; zero is a gang of 2 of the default class. */
struct member {
    uint32_t cardinality, minimum;
    const char *uniformity, *priority_class;
    const struct gang_terms *terms;
};

static const struct event_scope scope = {{"q", 1}, {"set", 3}, {"anna", 4}};

static void apply(struct jobs *jobs, const struct event *event)
{
    struct jobs_change change;

    assert_int_equal(jobs_apply(jobs, &scope, event, &change), JOBS_APPLIED);
}

static void submit(struct jobs *jobs, uint32_t n, struct member member)
{
    auto_strbuf terms = {0};

    if (member.terms) {
        gang_terms_pack(&terms, member.terms);
    }
    struct table_submission submission = {
        .scope = scope,
        .class_name = member.priority_class,
        .digest =
            {
                .gang_id = STR("g"),
                .gang_cardinality = member.cardinality ? member.cardinality : 2,
                .gang_minimum = member.minimum ? member.minimum : 2,
                .gang_uniformity = str_of(member.uniformity),
                .gang_terms = strbuf_str(&terms),
            },
    };
    table_submit(jobs, n, &submission);
}

static void lease(struct jobs *jobs, uint32_t n)
{
    struct event event = {.type = EVENT_LEASED,
                          .job = table_id(n),
                          .run = run_id_make(table_id(n), 0),
                          .leased = {.executor_id = STR("e"),
                                     .node_name = STR("n"),
                                     .pool = STR("default")}};

    apply(jobs, &event);
}

static void end(struct jobs *jobs, uint32_t n)
{
    struct event event = {.type = EVENT_RUN_SUCCEEDED,
                          .job = table_id(n),
                          .run = run_id_make(table_id(n), 0)};

    apply(jobs, &event);
    event.type = EVENT_SUCCEEDED;
    apply(jobs, &event);
}

static enum gang_fault judge(const struct jobs *jobs, uint32_t n,
                             struct gang_fault_view *view)
{
    uint32_t job = table_find(jobs, n);
    struct gang_roll roll;
    struct job_view about;

    jobs_get(jobs, job, &about);
    (void)gang_roll_call(jobs, about.gang_index, &roll);
    return gang_roll_check(jobs, &roll, job, view);
}

static void assert_other(const struct gang_fault_view *view, uint32_t n)
{
    assert_int_equal(key128_compare(view->other.v, table_id(n).v), 0);
}

static void members_up_to_the_cardinality_are_right(void **state)
{
    auto_ptr(jobs) jobs = table_create();
    struct gang_fault_view view;

    (void)state;
    /* The youngest is the one too many, whatever came first. */
    submit(jobs, 3, (struct member){0});
    submit(jobs, 1, (struct member){0});
    assert_int_equal(judge(jobs, 3, &view), GANG_FAULT_NONE);
    submit(jobs, 2, (struct member){0});
    assert_int_equal(judge(jobs, 1, &view), GANG_FAULT_NONE);
    assert_int_equal(judge(jobs, 2, &view), GANG_FAULT_NONE);
    assert_int_equal(judge(jobs, 3, &view), GANG_FAULT_FULL);
    assert_int_equal(view.expected_count, 2);
    assert_true(str_equal(view.gang_id, STR("g")));
    assert_true(str_equal(view.queue, STR("q")));
}

static void nobody_joins_a_gang_that_has_begun(void **state)
{
    auto_ptr(jobs) jobs = table_create();
    struct gang_fault_view view;

    (void)state;
    submit(jobs, 1, (struct member){0});
    submit(jobs, 2, (struct member){0});
    lease(jobs, 1);
    lease(jobs, 2);
    end(jobs, 1);
    submit(jobs, 3, (struct member){0});
    assert_int_equal(judge(jobs, 3, &view), GANG_FAULT_BEGUN);
    assert_other(&view, 2);
    /* When the last has ended it is forgotten, and the id is free. */
    end(jobs, 2);
    assert_int_equal(judge(jobs, 3, &view), GANG_FAULT_NONE);
}

static void who_says_otherwise_than_an_older_gang_is_wrong(void **state)
{
    struct gang_terms terms = {
        .sub_group_count = 1,
        .sub_groups = {{STR("worker"), 2, 2, HOPS_ANY, 0, false}},
    };
    const struct {
        struct member member;
        enum gang_fault fault;
    } cases[] = {
        {{.cardinality = 3}, GANG_FAULT_CARDINALITY},
        {{.minimum = 1}, GANG_FAULT_MINIMUM},
        {{.uniformity = "rack"}, GANG_FAULT_UNIFORMITY},
        {{.terms = &terms}, GANG_FAULT_TERMS},
        {{.priority_class = "other"}, GANG_FAULT_CLASS},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        auto_ptr(jobs) jobs = table_create();
        struct gang_fault_view view;
        submit(jobs, 5, cases[i].member);
        assert_int_equal(judge(jobs, 5, &view), GANG_FAULT_NONE);
        submit(jobs, 4, (struct member){0});
        assert_int_equal(judge(jobs, 4, &view), GANG_FAULT_NONE);
        assert_int_equal(judge(jobs, 5, &view), cases[i].fault);
        assert_other(&view, 4);
    }
}

static void an_elder_that_is_being_cancelled_is_gone(void **state)
{
    auto_ptr(jobs) jobs = table_create();
    struct gang_fault_view view;
    struct event event = {.type = EVENT_CANCEL, .job = table_id(1)};

    (void)state;
    submit(jobs, 1, (struct member){.cardinality = 3});
    submit(jobs, 2, (struct member){0});
    assert_int_equal(judge(jobs, 2, &view), GANG_FAULT_CARDINALITY);
    assert_int_equal(view.expected_count, 3);
    assert_int_equal(view.got_count, 2);
    apply(jobs, &event);
    assert_int_equal(judge(jobs, 2, &view), GANG_FAULT_NONE);
}

/* Who comes late to one that has terms may take a place that is free, and no
 * other: it would wait for as long as the gang is there. */
static void groups_with_terms_have_no_more_than_their_cardinality(void **state)
{
    auto_ptr(jobs) jobs = table_create();
    struct gang_fault_view view;
    struct gang_terms terms = {
        .sub_group_count = 1,
        .sub_groups = {{STR("worker"), 1, 2, HOPS_ANY, 0, false}},
    };
    struct member member = {.cardinality = 2, .minimum = 1, .terms = &terms};

    (void)state;
    submit(jobs, 1, member);
    lease(jobs, 1);
    submit(jobs, 2, member);
    assert_int_equal(judge(jobs, 2, &view), GANG_FAULT_NONE);
    submit(jobs, 3, member);
    assert_int_equal(judge(jobs, 2, &view), GANG_FAULT_NONE);
    assert_int_equal(judge(jobs, 3, &view), GANG_FAULT_FULL);
    assert_int_equal(view.expected_count, 2);
    lease(jobs, 2);
    end(jobs, 2);
    assert_int_equal(judge(jobs, 3, &view), GANG_FAULT_NONE);
}

/* Submissions say at least 1; a foreign log may say 0. */
static void a_cardinality_of_0_limits_nothing(void **state)
{
    auto_ptr(jobs) jobs = table_create();
    struct table_submission submission = {
        .scope = scope,
        .digest = {.gang_id = STR("g")},
    };
    struct gang_fault_view view;

    (void)state;
    table_submit(jobs, 1, &submission);
    table_submit(jobs, 2, &submission);
    assert_int_equal(judge(jobs, 1, &view), GANG_FAULT_NONE);
    assert_int_equal(judge(jobs, 2, &view), GANG_FAULT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(members_up_to_the_cardinality_are_right),
        TEST(nobody_joins_a_gang_that_has_begun),
        TEST(who_says_otherwise_than_an_older_gang_is_wrong),
        TEST(an_elder_that_is_being_cancelled_is_gone),
        TEST(groups_with_terms_have_no_more_than_their_cardinality),
        TEST(a_cardinality_of_0_limits_nothing),
    };

    return RUN_TESTS(tests);
}
