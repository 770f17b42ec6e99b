/* Who makes way for what is more urgent (model.md 6.6): found by the oracle of
 * tests/prop/sched. */
#include "world_fixture.h"

static const struct queue_record BY_FIFO_ALONE = {
    .ordering = QUEUE_BY_FIFO,
    .is_class_priority_ignored = true,
};

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

static void who_never_preempts_waits(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t low = world_submit(
        w,
        &(struct world_job){.queue = "Q", .cores = 4, .priority_class = "low"});
    world_round(w, ROUND_FAST, 0);
    uint32_t urgent = world_submit(w, &(struct world_job){
                                          .queue = "R",
                                          .cores = 4,
                                          .priority_class = "high",
                                          .never_preempts = true,
                                      });
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    world_end(w, low);
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, urgent), "n");
}

/* Work that its class protects, but that its lifetime lets go, counts as room
 * for a more urgent job beside what urgency takes. */
static void urgency_and_evicted_work_make_room_together(void **state)
{
    struct world *w = *state;

    world_queue(w, "Q", 4);
    world_queue(w, "R", 4);
    world_queue(w, "S", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t evicted =
        world_submit(w, &(struct world_job){.queue = "R",
                                            .cores = 4,
                                            .priority_class = "fixed",
                                            .lifetime_s = -1});
    uint32_t steady =
        world_submit(w, &(struct world_job){.queue = "S", .cores = 4});
    world_lease(w, evicted, node, 0);
    world_lease(w, steady, node, 0);
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "Q", .cores = 8, .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, urgent), "n");
    assert_int_equal(w->preempted_count, 2);
}

/* A node that is overcommitted has room for nobody, until what asks for too
 * much has gone: then it is the best for the gang's next member, for there is
 * what would win its place back last. */
static void an_overcommitted_node_is_looked_at_again(void **state)
{
    struct world *w = *state;
    struct world_node node = {.name = "n", .cores = 8, .memory_gb = 2};

    w->policy.is_urgency_preemption_off = true;
    w->policy.pools[0].protected_fraction_ppm = 0;
    world_restart(w);
    uint32_t n = world_node(w, &node);
    uint32_t m = world_node(w, &(struct world_node){.name = "m", .cores = 2});
    struct world_job large = {.queue = "A", .cores = 2, .memory_gb = 1};
    uint32_t own = world_submit(w, &large);
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "high", .memory_gb = 1});
    uint32_t late =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 4});
    uint32_t early =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 2});
    world_lease(w, own, n, 0);
    world_lease(w, other, n, 0);
    world_lease(w, early, m, 0);
    world_lease(w, late, n, 1);
    node.memory_gb = 1;
    world_node(w, &node);
    uint32_t gang = world_submit_many(w,
                                      &(struct world_job){
                                          .queue = "A",
                                          .priority_class = "high",
                                          .cores = 2,
                                          .gang = "g",
                                          .cardinality = 2,
                                      },
                                      2);
    world_round(w, ROUND_BALANCE, 100);
    assert_int_equal(world_running_of(w, gang, 2), 2);
    assert_string_equal(world_node_of(w, early), "m");
    assert_true(w->is_gone[late]);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_urgent_job_takes_what_has_returned),
        CASE(urgency_and_evicted_work_make_room_together),
        CASE(who_never_preempts_waits),
        CASE(an_overcommitted_node_is_looked_at_again),
    };

    return RUN_TESTS(tests);
}
