/* What fits nowhere is rejected, and told why; what fits nowhere now waits. */
#include "leader_stage.h"
#include "unit.h"

static void a_job_that_fits_nowhere_is_rejected(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job =
        stage_submit(s, "q", (struct stage_job){.cpu_milli = 11000});

    (void)state;
    STAGE_HISTORY(s, job, "submit failed");
    auto_mem char *text = stage_failure(s, job);
    assert_non_null(strstr(text, "Nearest is node n0, which even when empty "
                                 "lacks 1 cpu.\n"));
    stage_end(s);
}

static void a_resource_that_is_not_scheduled_is_named(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id job =
        stage_submit(s, "q", (struct stage_job){.also = "example.com/fpga"});

    (void)state;
    stage_settle(s);
    auto_mem char *why = stage_failure(s, job);
    assert_string_equal(
        why, "The job does not fit on any node. It asks for example.com/fpga, "
             "and jobs are scheduled by nvidia.com/gpu, cpu, memory, "
             "ephemeral-storage alone (scheduling.supportedResourceTypes).\n");
    stage_end(s);
}

static void too_much_of_what_is_of_no_node_is_told(void **state)
{
    struct stage s;

    (void)state;
    stage_init(&s);
    s.policy.schema.columns[0].name = STR("licence");
    s.policy.is_floating[0] = true;
    s.policy.has_floating = true;
    stage_start(&s);
    stage_queue(&s, "q");
    stage_exchange(&s, "e", 1, NULL, 0);
    struct job_id job =
        stage_submit(&s, "q", (struct stage_job){.also = "licence"});
    stage_settle(&s);
    auto_mem char *why = stage_failure(&s, job);
    assert_non_null(strstr(why, "It asks for 1 cpu, 1 licence.\nNo pool has "
                                "more than 0 licence "
                                "(scheduling.floatingResources).\n"));
    stage_fini(&s);
}

/* Of one node of 10 cpu: five members of 3 cpu never fit at once. */
static void a_gang_that_fits_nowhere_is_rejected(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job member = {
        .cpu_milli = 3000, .gang = "g", .gang_cardinality = 5};
    struct job_id first = stage_submit(s, "q", member);

    (void)state;
    for (int i = 0; i < 3; i++) {
        stage_submit(s, "q", member);
    }
    STAGE_HISTORY(s, first, "submit"); /* not complete: nobody can tell */
    struct job_id last = stage_submit(s, "q", member);
    STAGE_HISTORY(s, first, "submit failed");
    STAGE_HISTORY(s, last, "submit failed");
    auto_mem char *text = stage_failure(s, first);
    assert_string_equal(
        text, "The gang can never start: 5 of its members must fit at once in "
              "one cluster; the nearest, cluster e of pool default, holds at "
              "most 3 of them when empty.\n");
    member.gang = "h";
    member.gang_minimum = 3;
    struct job_id third = {{0, 0}};
    for (int i = 0; i < 5; i++) {
        third = stage_submit(s, "q", member);
    }
    stage_settle(s);
    auto_mem char *history = stage_history(s, third);
    assert_null(strstr(history, "rejected"));
    assert_int_equal(stage_count(s, EVENT_LEASED), 3);
    stage_end(s);
}

/* Two on one node, which holds one of them. */
static void a_gang_that_is_never_near_enough_is_rejected(void **state)
{
    struct stage *s = stage_begin(3);
    struct gang_terms terms = {
        .sub_group_count = 1,
        .sub_groups = {{STR("worker"), 2, 2, .hops_max = 0}},
    };
    struct stage_job member = {.cpu_milli = 6000,
                               .gang = "g",
                               .gang_cardinality = 2,
                               .gang_minimum = 2,
                               .terms = &terms};
    struct stage_job members[] = {member, member};

    (void)state;
    stage_do(s, stage_submit_command(s, "q", members, 2));
    assert_int_equal(s->answer->result, COMMAND_OK);
    struct job_id first = s->answer->submit.items[0].ret_job;
    stage_settle(s);
    STAGE_HISTORY(s, first, "submit failed");
    auto_mem char *text = stage_failure(s, first);
    assert_string_equal(
        text, "The gang can never start: 2 members of sub-group worker must "
              "fit on one node (topology); the nearest, node n0 of cluster e "
              "of pool default, holds at most 1 when empty.\n");
    stage_end(s);
}

static void what_a_member_lacks_by_itself_is_told_of_its_gang(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job member = {
        .cpu_milli = 3000, .gang = "g", .gang_cardinality = 2};
    struct job_id first = stage_submit(s, "q", member);

    (void)state;
    member.cpu_milli = 12000;
    stage_submit(s, "q", member);
    STAGE_HISTORY(s, first, "submit failed");
    auto_mem char *text = stage_failure(s, first);
    assert_non_null(strstr(text, "The gang can never start: 2 of its members"));
    assert_non_null(strstr(text, "One of them by itself does not fit on any "
                                 "node. It asks for 12 cpu"));
    assert_non_null(strstr(text, "Nearest is node n0, which even when empty "
                                 "lacks 2 cpu.\n"));
    stage_end(s);
}

/* Whether the answer to a question about a job that waits says so. */
static bool is_told(struct stage *s, struct job_id job, const char *part)
{
    auto_mem char *text = str_dup(stage_explain(s, job)->explain.text);

    return strstr(text, part) != NULL;
}

static void the_nearest_node_is_told_where_none_has_room(void **state)
{
    struct stage_job endless = {.priority_class = "armada-default",
                                .cpu_milli = 9000};
    struct stage *s = stage_begin(2);

    (void)state;
    (void)stage_leased(s, endless);
    endless.gang = "g";
    endless.gang_cardinality = 2;
    struct job_id member = stage_submit(s, "q", endless);
    (void)stage_submit(s, "q", endless);
    stage_settle(s);
    assert_true(is_told(s, member, "It fits on 1 of 2 nodes now.\n"));
    assert_false(is_told(s, member, " comes nearest"));
    stage_end(s);
    s = stage_begin(1);
    (void)stage_leased(s, (struct stage_job){.priority_class = "armada-default",
                                             .cpu_milli = 9000});
    member = stage_submit(s, "q",
                          (struct stage_job){.priority_class = "armada-default",
                                             .cpu_milli = 2000});
    stage_settle(s);
    assert_true(is_told(s, member, "Node n0 comes nearest, with 1 cpu"));
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_that_fits_nowhere_is_rejected),
        TEST(a_resource_that_is_not_scheduled_is_named),
        TEST(too_much_of_what_is_of_no_node_is_told),
        TEST(a_gang_that_fits_nowhere_is_rejected),
        TEST(a_gang_that_is_never_near_enough_is_rejected),
        TEST(what_a_member_lacks_by_itself_is_told_of_its_gang),
        TEST(the_nearest_node_is_told_where_none_has_room),
    };

    return RUN_TESTS(tests);
}
