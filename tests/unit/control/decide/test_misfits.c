/* Jobs for which there are no nodes: refused when nothing that is there could
 * ever hold them; but what had its nodes waits when they go, under the leader
 * that saw it and under each that comes after. */
#include "leader_stage.h"
#include "unit.h"

enum { SMALL = 1, LARGE = 2 }; /* n0 of 4 cpu alone; n1 of 10 cpu as well */

/* The whole inventory of e. */
static void say_nodes(struct stage *s, uint32_t node_count)
{
    struct command *command = stage_exchange_command("e", node_count, NULL, 0);
    struct node_record *nodes =
        (struct node_record *)(uintptr_t)command->exchange.request.nodes;
    struct resource_amount *total =
        arena_alloc_array(&command->arena, 2, sizeof(*total));

    total[0] = (struct resource_amount){STR("cpu"), 4000};
    total[1] = (struct resource_amount){STR("memory"), (int64_t)1 << 50};
    nodes[0].total = (struct resource_list){total, 2};
    stage_do(s, command);
    stage_settle(s);
}

static struct stage *begin(uint32_t node_count)
{
    struct stage *s = mem_alloc(sizeof(*s));

    stage_init(s);
    stage_start(s);
    stage_queue(s, "q");
    say_nodes(s, node_count);
    return s;
}

static void cordon(struct stage *s, const char *node, bool is_cordoned)
{
    struct event event = stage_event_make(EVENT_EXECUTOR_SETTINGS);

    event.settings.node_name = str_of(node);
    event.settings.is_cordoned = is_cordoned;
    stage_event(s, "", "", "root", &event);
    stage_settle(s);
}

static bool is_refused(struct stage *s, struct job_id job)
{
    stage_settle(s);
    auto_mem char *history = stage_history(s, job);

    return strstr(history, "failed");
}

static void restart(struct stage *s, bool has_checkpoint)
{
    stage_settle(s);
    if (has_checkpoint) {
        assert_int_equal(control_checkpoint(s->control, NULL), 0);
    }
    stage_crash(s);
    stage_start(s);
    stage_settle(s);
}

static void a_job_whose_nodes_went_waits_also_after_a_restart(void **state)
{
    (void)state;
    for (int has_checkpoint = 0; has_checkpoint < 2; has_checkpoint++) {
        struct stage *s = begin(LARGE);
        struct stage_job large = {.cpu_milli = 8000};
        struct job_id first = stage_leased(s, large);
        struct job_id second = stage_leased(s, large);
        say_nodes(s, SMALL);
        restart(s, has_checkpoint);
        assert_false(is_refused(s, second));
        restart(s, has_checkpoint);
        assert_false(is_refused(s, second));
        /* What ran has had its nodes too. */
        stage_give_back(s, first, false);
        STAGE_HISTORY(s, first, "submit leased run-errors requeued");
        restart(s, has_checkpoint);
        STAGE_HISTORY(s, first, "submit leased run-errors requeued");
        say_nodes(s, LARGE);
        assert_int_equal(stage_count(s, EVENT_LEASED), 2);
        stage_end(s);
    }
}

static void a_job_that_comes_after_its_nodes_went_is_refused(void **state)
{
    (void)state;
    for (int has_restart = 0; has_restart < 2; has_restart++) {
        struct stage *s = begin(LARGE);
        struct stage_job large = {.cpu_milli = 8000};
        (void)stage_leased(s, large);
        struct job_id second = stage_leased(s, large);
        say_nodes(s, SMALL);
        if (has_restart) {
            restart(s, false);
        }
        /* The same as others that wait. */
        struct job_id third = stage_leased(s, large);
        assert_true(is_refused(s, third));
        assert_false(is_refused(s, second));
        stage_end(s);
    }
}

/* Nobody could say anything while there were no nodes. */
static void a_job_that_came_before_all_nodes_is_refused_then(void **state)
{
    (void)state;
    for (int has_checkpoint = -1; has_checkpoint < 2; has_checkpoint++) {
        struct stage *s = mem_alloc(sizeof(*s));
        stage_init(s);
        stage_start(s);
        stage_queue(s, "q");
        struct job_id job =
            stage_leased(s, (struct stage_job){.cpu_milli = 8000});
        STAGE_HISTORY(s, job, "submit");
        if (has_checkpoint >= 0) {
            restart(s, has_checkpoint);
        }
        say_nodes(s, SMALL);
        STAGE_HISTORY(s, job, "submit failed");
        stage_end(s);
    }
}

static void closed_nodes_are_a_place_for_what_they_hold_alone(void **state)
{
    struct stage *s = begin(LARGE);

    (void)state;
    cordon(s, "n1", true);
    struct job_id fits = stage_leased(s, (struct stage_job){.cpu_milli = 8000});
    struct job_id huge =
        stage_leased(s, (struct stage_job){.cpu_milli = 11000});
    STAGE_HISTORY(s, fits, "submit");
    STAGE_HISTORY(s, huge, "submit failed");
    restart(s, true);
    STAGE_HISTORY(s, fits, "submit");
    cordon(s, "n1", false);
    STAGE_HISTORY(s, fits, "submit leased");
    stage_end(s);
}

static void what_only_a_closed_node_held_waits_when_that_goes(void **state)
{
    (void)state;
    for (int has_checkpoint = -1; has_checkpoint < 2; has_checkpoint++) {
        struct stage *s = begin(LARGE);
        struct stage_job member = {
            .cpu_milli = 3000, .gang = "g", .gang_cardinality = 4};
        cordon(s, "n1", true);
        struct job_id fits =
            stage_leased(s, (struct stage_job){.cpu_milli = 8000});
        struct job_id pods[4];
        for (int i = 0; i < 4; i++) {
            pods[i] = stage_leased(s, member);
        }
        say_nodes(s, SMALL);
        if (has_checkpoint >= 0) {
            restart(s, has_checkpoint);
        }
        STAGE_HISTORY(s, fits, "submit");
        STAGE_HISTORY(s, pods[0], "submit");
        STAGE_HISTORY(s, pods[3], "submit");
        say_nodes(s, LARGE);
        cordon(s, "n1", false);
        STAGE_HISTORY(s, fits, "submit leased");
        stage_end(s);
    }
}

/* The last member that comes is asked about, on the nodes that are there. */
static void a_gang_that_is_whole_after_its_nodes_went_is_refused(void **state)
{
    (void)state;
    for (int has_checkpoint = -1; has_checkpoint < 2; has_checkpoint++) {
        struct stage *s = begin(LARGE);
        struct stage_job member = {
            .cpu_milli = 3000, .gang = "g", .gang_cardinality = 4};
        struct job_id first = stage_leased(s, member);
        for (int i = 0; i < 2; i++) {
            (void)stage_leased(s, member);
        }
        say_nodes(s, SMALL);
        if (has_checkpoint >= 0) {
            restart(s, has_checkpoint);
        }
        struct job_id last = stage_leased(s, member);
        STAGE_HISTORY(s, first, "submit failed");
        STAGE_HISTORY(s, last, "submit failed");
        stage_end(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_job_whose_nodes_went_waits_also_after_a_restart),
        TEST(a_job_that_comes_after_its_nodes_went_is_refused),
        TEST(a_job_that_came_before_all_nodes_is_refused_then),
        TEST(closed_nodes_are_a_place_for_what_they_hold_alone),
        TEST(what_only_a_closed_node_held_waits_when_that_goes),
        TEST(a_gang_that_is_whole_after_its_nodes_went_is_refused),
    };

    return RUN_TESTS(tests);
}
