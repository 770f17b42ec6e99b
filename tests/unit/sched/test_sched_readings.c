/* Cases in which the planner and the oracle of tests/prop/sched once read the
 * specification differently, made small; each says what is right. */
#include "unit.h"
#include "world.h"

static const struct queue_record BY_STATE = {.ordering = QUEUE_BY_STATEAWARE};
static const struct queue_record BY_FIFO_ALONE = {
    .ordering = QUEUE_BY_FIFO,
    .is_class_priority_ignored = true,
};

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));

    world_init(world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    assert_true(sched_is_consistent(world->sched));
    world_fini(world);
    mem_free(world);
    return 0;
}

/* Where classes do not order a queue, a more urgent job may come when all that
 * was evicted has won its place back: it takes such a place, and never one
 * that is not free. */
static void an_urgent_job_takes_what_has_returned(void **state)
{
    struct world *w = *state;

    world_queue_by(w, "Q", &BY_FIFO_ALONE);
    world_queue(w, "R", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t older =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    uint32_t newer =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    world_lease(w, older, node, 1);
    world_lease(w, newer, node, 2);
    uint32_t big = world_submit(
        w, &(struct world_job){.queue = "Q", .cores = 4, .application = "a"});
    uint32_t urgent = world_submit(w, &(struct world_job){
                                          .queue = "Q",
                                          .cores = 2,
                                          .application = "a",
                                          .submitted_ms = 1,
                                          .priority_class = "high",
                                      });
    world_round(w, ROUND_BALANCE, 10);
    assert_string_equal(world_node_of(w, older), "n");
    assert_true(w->is_gone[newer]);
    assert_string_equal(world_node_of(w, urgent), "n");
    assert_string_equal(world_node_of(w, big), "");
}

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

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(an_urgent_job_takes_what_has_returned),
        CASE(an_accepted_application_gets_its_share),
    };

    return RUN_TESTS(tests);
}
