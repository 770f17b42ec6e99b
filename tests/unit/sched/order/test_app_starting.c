/* Which application starts next, and who waits for one that starts; found by
 * the oracle of tests/prop/sched. */
#include "world_fixture.h"

static const struct queue_record BY_STATE = {.ordering = QUEUE_BY_STATEAWARE};
static const struct queue_record BY_STATE_ALONE = {
    .ordering = QUEUE_BY_STATEAWARE,
    .is_class_priority_ignored = true,
};

/* Also an application that has still to start is waiting work, for which a
 * queue over its share gives way. */
static void an_accepted_application_gets_its_share(void **state)
{
    struct world *w = *state;

    world_queue_by(w, "Q", &BY_STATE);
    world_queue(w, "R", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    for (int i = 0; i < 4; i++) {
        uint32_t job = world_submit(w, &(struct world_job){.queue = "R"});
        world_lease(w, job, node, i);
    }
    uint32_t driver =
        world_submit(w, &(struct world_job){.queue = "Q", .application = "a"});
    world_round(w, ROUND_BALANCE, 10);
    assert_string_equal(world_node_of(w, driver), "n");
    assert_int_equal(w->preempted_count, 1);
}

/* Node x is full with Q's application "a", which is returned; on y, of so many
 * cores, two are R's. */
static uint32_t driver_beside_another(struct world *w, int64_t y_cores)
{
    uint32_t x = world_node(w, &(struct world_node){.name = "x",
                                                    .cores = 2,
                                                    .label_key = "pool",
                                                    .label_value = "x"});
    uint32_t y = world_node(w, &(struct world_node){.name = "y",
                                                    .cores = y_cores,
                                                    .label_key = "pool",
                                                    .label_value = "y"});
    uint32_t driver = world_submit(w, &(struct world_job){
                                          .queue = "Q",
                                          .cores = 2,
                                          .priority_class = "low",
                                          .application = "a",
                                      });
    world_lease(w, driver, x, 1);
    uint32_t other =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    world_lease(w, other, y, 1);
    return driver;
}

/* An application that loses its first lease in the plan that gives it others
 * starts anew, and the next one is its turn when it has: in that plan too, also
 * where it is more urgent than what was decided meanwhile. */
static void the_next_starts_after_one_that_starts_anew(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q",
        .cores = 1,
        .priority_class = "high",
        .application = "a",
        .selector_key = "pool",
        .selector_value = "y",
    };

    world_queue_by(w, "Q", &BY_STATE);
    world_queue(w, "R", 1);
    uint32_t driver = driver_beside_another(w, 6);
    uint32_t second = world_submit(w, &job); /* goes first: 3 cores of Q ... */
    uint32_t taker = world_submit(w, &(struct world_job){
                                         .queue = "R", /* ... then 4 of R */
                                         .cores = 2,
                                         .priority_class = "high",
                                         .selector_key = "pool",
                                         .selector_value = "x",
                                     });
    job.application = "b";
    job.cores = 2;
    job.submitted_ms = 1;
    uint32_t next = world_submit(w, &job);
    job.application = "a";
    job.cores = 1;
    job.priority_class = "low";
    uint32_t third = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 10);
    assert_true(w->is_gone[driver]);
    assert_string_equal(world_node_of(w, taker), "x");
    assert_string_equal(world_node_of(w, second), "y");
    assert_string_equal(world_node_of(w, third), "y");
    assert_string_equal(world_node_of(w, next), "y");
}

/* The same among what is admitted: whose turn had come has none while the one
 * before it starts anew. */
static void nobody_admitted_starts_beside_one_that_starts_anew(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q",
        .priority_class = "high",
        .application = "a",
        .selector_key = "pool",
        .selector_value = "y",
    };

    w->policy.pools[0].admitted_window = 3;
    world_restart(w);
    world_queue_by(w, "Q", &BY_STATE);
    world_queue(w, "R", 1);
    uint32_t x = world_node(w, &(struct world_node){.name = "x",
                                                    .cores = 1,
                                                    .label_key = "pool",
                                                    .label_value = "x"});
    (void)world_node(w, &(struct world_node){.name = "y",
                                             .cores = 2,
                                             .label_key = "pool",
                                             .label_value = "y"});
    uint32_t driver = world_submit(w, &(struct world_job){
                                          .queue = "Q",
                                          .priority_class = "low",
                                          .application = "a",
                                      });
    world_lease(w, driver, x, 1);
    uint32_t second = world_submit(w, &job);
    uint32_t taker = world_submit(w, &(struct world_job){
                                         .queue = "R",
                                         .priority_class = "high",
                                         .selector_key = "pool",
                                         .selector_value = "x",
                                     });
    job.application = "b";
    job.submitted_ms = 1;
    uint32_t next = world_submit(w, &job);
    for (uint32_t i = second; i <= next; i++) {
        sched_job_admit(w->sched, i, STR("default"), SCHED_START_UNKNOWN, 0);
    }
    world_round(w, ROUND_BALANCE, 10);
    assert_true(w->is_gone[driver]);
    assert_string_equal(world_node_of(w, taker), "x");
    assert_string_equal(world_node_of(w, second), "y");
    assert_string_equal(world_node_of(w, next), "");
}

/* Who waits for one that starts anew does not stand before it: its queue's turn
 * is that of what may start now. */
static void what_starts_later_holds_up_nobody(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q",
        .priority_class = "high",
        .application = "a",
        .selector_key = "pool",
        .selector_value = "y",
    };

    world_queue_by(w, "Q", &BY_STATE_ALONE);
    world_queue(w, "R", 1);
    uint32_t driver = driver_beside_another(w, 4);
    uint32_t second = world_submit(w, &job); /* then "b" is chosen ... */
    uint32_t taker = world_submit(w, &(struct world_job){
                                         .queue = "R", /* ... too early */
                                         .cores = 2,
                                         .priority_class = "high",
                                         .selector_key = "pool",
                                         .selector_value = "x",
                                     });
    job.application = "b";
    job.priority_class = "low";
    uint32_t later = world_submit(w, &job);
    job.application = "a";
    job.priority_class = "mid";
    job.priority = 1;
    uint32_t third = world_submit(w, &job);
    job.queue = "R"; /* which has more by now */
    uint32_t rival = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 10);
    assert_true(w->is_gone[driver]);
    assert_string_equal(world_node_of(w, second), "y");
    assert_string_equal(world_node_of(w, taker), "x");
    assert_string_equal(world_node_of(w, third), "y");
    assert_string_equal(world_node_of(w, rival), "");
    assert_string_equal(world_node_of(w, later), "");
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(an_accepted_application_gets_its_share),
        CASE(the_next_starts_after_one_that_starts_anew),
        CASE(what_starts_later_holds_up_nobody),
        CASE(nobody_admitted_starts_beside_one_that_starts_anew),
    };

    return RUN_TESTS(tests);
}
