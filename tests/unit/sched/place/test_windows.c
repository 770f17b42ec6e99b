/* windows: what would run into a maintenance window does not start. */
#include "reserve_fixture.h"
#include "sched/state/windows.h"

/* A node of some cores whose window begins at a second; what has no limit
 * starts there until `lead_s` before. */
static void set_node(struct world *w, const char *name, int64_t cores,
                     int64_t closes_s, int64_t lead_s)
{
    world_node(w, &(struct world_node){
                      .name = name,
                      .cores = cores,
                      .closes_s = closes_s,
                      .endless_closes_s = closes_s - lead_s,
                  });
}

static struct sched_explanation why(struct world *w, uint32_t job,
                                    int64_t now_s)
{
    struct sched_explanation answer;

    sched_explain(w->sched, job, now_s * S, &answer);
    return answer;
}

static void a_limit_says_what_starts(void **state)
{
    struct world *w = *state;

    set_node(w, "n", 10, 100, 0);
    world_queue(w, "A", 1);
    uint32_t late = reserve_submit(w, "A", 1, 101, 0);
    uint32_t in_time = reserve_submit(w, "A", 1, 100, 0);
    world_round(w, ROUND_BALANCE, 0);

    assert_false(reserve_runs(w, late));
    assert_true(reserve_runs(w, in_time));
    struct sched_explanation answer = why(w, late, 0);
    assert_int_equal(answer.wait, SCHED_WAIT_WINDOW);
    assert_int_equal(answer.nodes_excluded[SCHED_EXCLUDED_WINDOW], 1);
    assert_int_equal(answer.deadline_ms, 101 * S);
}

static void time_closes_the_node(void **state)
{
    struct world *w = *state;

    set_node(w, "n", 10, 100, 0);
    world_queue(w, "A", 1);
    world_round(w, ROUND_BALANCE, 50 * S);
    uint32_t last = reserve_submit(w, "A", 1, 50, 0);
    world_round(w, ROUND_FAST, 50 * S);
    uint32_t late = reserve_submit(w, "A", 1, 50, 0);
    world_round(w, ROUND_FAST, 50 * S + 1);

    assert_true(reserve_runs(w, last));
    assert_false(reserve_runs(w, late));
}

static void without_a_limit_the_lead_counts(void **state)
{
    struct world *w = *state;

    set_node(w, "n", 10, 100, 60);
    world_queue(w, "A", 1);
    uint32_t early = reserve_submit(w, "A", 1, 0, 0);
    world_round(w, ROUND_FAST, 40 * S - 1);
    uint32_t late = reserve_submit(w, "A", 1, 0, 0);
    world_round(w, ROUND_FAST, 40 * S);

    assert_true(reserve_runs(w, early));
    assert_false(reserve_runs(w, late));
    assert_int_equal(why(w, late, 40).deadline_ms, INT64_MAX);
}

static void nothing_starts_until_the_window_is_gone(void **state)
{
    struct world *w = *state;

    set_node(w, "n", 10, 100, 0);
    world_queue(w, "A", 1);
    uint32_t job = reserve_submit(w, "A", 1, 1, 0);
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_false(reserve_runs(w, job));
    world_round(w, ROUND_BALANCE, 1000 * S);
    assert_false(reserve_runs(w, job));
    assert_true(windows_are_any(w->sched));

    set_node(w, "n", 10, 0, 0);
    assert_false(windows_are_any(w->sched));
    world_round(w, ROUND_FAST, 1000 * S);
    assert_true(reserve_runs(w, job));
}

static void what_runs_stays(void **state)
{
    struct world *w = *state;

    set_node(w, "n", 10, 0, 0);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    uint32_t job = world_submit(
        w, &(struct world_job){.queue = "A", .cores = 10, .lifetime_s = -1});
    world_round(w, ROUND_BALANCE, 0);
    set_node(w, "n", 10, 100, 0);
    uint32_t other = reserve_submit(w, "B", 5, 1000, 0);
    world_round(w, ROUND_BALANCE, 1 * S);

    assert_true(reserve_runs(w, job));
    assert_false(reserve_runs(w, other));
}

static void nobody_is_preempted_for_a_place_that_closes(void **state)
{
    struct world *w = *state;

    set_node(w, "closing", 10, 100, 0);
    set_node(w, "open", 10, 0, 0);
    world_queue(w, "A", 1);
    uint32_t low =
        world_submit_many(w,
                          &(struct world_job){.queue = "A",
                                              .priority_class = "low",
                                              .cores = 10,
                                              .deadline_s = 90},
                          2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, low, 2), 2);
    bool first_is_open = *world_node_of(w, low) == 'o';
    uint32_t urgent =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .priority_class = "high",
                                            .cores = 10,
                                            .deadline_s = 200});
    world_round(w, ROUND_BALANCE, 1 * S);

    assert_string_equal(world_node_of(w, urgent), "open");
    assert_true(w->is_gone[first_is_open ? low : low + 1]);
    assert_false(w->is_gone[first_is_open ? low + 1 : low]);
}

/* Nodes with GPUs are kept for who waits for them, but not for who could not
 * start there any more. */
static void a_node_is_not_kept_for_who_would_run_into_its_window(void **state)
{
    struct world *w = *state;
    struct world_node node = {.name = "gpus", .cores = 8, .gpus = 2};
    struct world_job waiter = {
        .queue = "A", .cores = 1, .gpus = 2, .deadline_s = 200};

    w->policy.pools[0].gpu_keeping = GPUS_KEPT_WAITING;
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t index = world_node(w, &node);
    struct world_job one_gpu = waiter;
    one_gpu.gpus = 1;
    world_lease(w, world_submit(w, &one_gpu), index, 0);
    (void)world_submit(w, &waiter);
    uint32_t small = world_submit(
        w, &(struct world_job){.queue = "A", .cores = 1, .deadline_s = 20});
    world_node(w, &(struct world_node){.name = "plain", .cores = 1});
    uint32_t other = reserve_submit(w, "A", 1, 20, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_not_equal(reserve_runs(w, small), reserve_runs(w, other));

    node.closes_s = node.endless_closes_s = 100;
    world_node(w, &node);
    world_round(w, ROUND_BALANCE, 1 * S);
    assert_true(reserve_runs(w, small) && reserve_runs(w, other));
}

static void a_gang_has_none_of_its_members_there(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "A",
                               .cores = 10,
                               .gang = "g",
                               .cardinality = 2,
                               .minimum = 2,
                               .deadline_s = 200};

    set_node(w, "closing", 10, 100, 0);
    set_node(w, "open", 10, 0, 0);
    world_queue(w, "A", 1);
    uint32_t first = world_submit_many(w, &member, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, first, 2), 0);

    set_node(w, "closing", 10, 0, 0);
    world_round(w, ROUND_BALANCE, 1 * S);
    assert_int_equal(world_running_of(w, first, 2), 2);
}

/* "early" is free at 60, but what starts there would run into its window. */
static void a_reservation_is_where_the_head_would_end_in_time(void **state)
{
    struct world *w = *state;

    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    set_node(w, "early", 10, 0, 0);
    uint32_t first = reserve_submit(w, "A", 10, 60, 0);
    world_round(w, ROUND_BALANCE, 0);
    set_node(w, "late", 10, 0, 0);
    uint32_t second = reserve_submit(w, "A", 10, 80, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, first), "early");
    assert_string_equal(world_node_of(w, second), "late");

    set_node(w, "early", 10, 100, 0);
    uint32_t head = reserve_submit(w, "H", 10, 41, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, head), 80 * S);
    world_end(w, head);
    head = reserve_submit(w, "H", 10, 40, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, head), 60 * S);
}

/* The same of members: two have room at 60 on a node that closes too early,
 * and at 80 on another. */
static void the_reservation_of_a_gang_too(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "H",
                               .priority_class = "fixed",
                               .cores = 5,
                               .gang = "g",
                               .cardinality = 2,
                               .minimum = 2,
                               .deadline_s = 41};

    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    set_node(w, "early", 10, 0, 0);
    (void)reserve_submit(w, "A", 10, 60, 0);
    world_round(w, ROUND_BALANCE, 0);
    set_node(w, "late", 10, 0, 0);
    (void)reserve_submit(w, "A", 10, 80, 0);
    world_round(w, ROUND_BALANCE, 0);

    set_node(w, "early", 10, 100, 0);
    uint32_t first = world_submit_many(w, &member, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, first), 80 * S);

    /* One of a shorter limit has its place on the first. */
    world_end(w, first);
    world_end(w, first + 1);
    member.gang = "h";
    member.deadline_s = 40;
    first = world_submit_many(w, &member, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, first), 60 * S);
}

static void what_cannot_end_anywhere_has_no_reservation(void **state)
{
    struct world *w = *state;

    set_node(w, "n", 10, 100, 0);
    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    (void)reserve_submit(w, "A", 6, 50, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t head = reserve_submit(w, "H", 8, 101, 0);
    uint32_t next = reserve_submit(w, "H", 4, 100, 0);
    world_round(w, ROUND_BALANCE, 0);

    struct sched_admission admission;
    assert_false(sched_job_admission(w->sched, head, &admission));
    assert_true(reserve_runs(w, next));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(a_limit_says_what_starts),
        SCENARIO(time_closes_the_node),
        SCENARIO(without_a_limit_the_lead_counts),
        SCENARIO(nothing_starts_until_the_window_is_gone),
        SCENARIO(what_runs_stays),
        SCENARIO(nobody_is_preempted_for_a_place_that_closes),
        SCENARIO(a_node_is_not_kept_for_who_would_run_into_its_window),
        SCENARIO(a_gang_has_none_of_its_members_there),
        SCENARIO(a_reservation_is_where_the_head_would_end_in_time),
        SCENARIO(the_reservation_of_a_gang_too),
        SCENARIO(what_cannot_end_anywhere_has_no_reservation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
