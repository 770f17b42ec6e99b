/* Why jobs wait, in a word: as the explanation, but for those behind others. */
#include "world_fixture.h"

enum { LOOKS = 1000 };

static enum sched_wait wait_of(struct world *w, uint32_t job)
{
    uint32_t looks_left = LOOKS;

    return sched_wait_of(w->sched, job, 0, &looks_left);
}

/* The same, and the explanation agrees. */
static enum sched_wait wait_as_explained(struct world *w, uint32_t job)
{
    struct sched_explanation explanation;

    sched_explain(w->sched, job, 0, &explanation);
    assert_int_equal(wait_of(w, job), explanation.wait);
    return explanation.wait;
}

static void without_nodes_nothing_starts(void **state)
{
    struct world *w = *state;
    uint32_t job = world_submit(w, &(struct world_job){.queue = "A"});

    assert_int_equal(wait_as_explained(w, job), SCHED_WAIT_NO_NODES);
}

/* Only the first of a queue waits for room; the others wait for it. */
static void the_first_waits_for_room_and_others_for_it(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"a", .cores = 2});
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A", .cores = 2}, 3);
    assert_int_equal(wait_as_explained(w, first), SCHED_WAIT_TURN);
    assert_int_equal(wait_of(w, first + 1), SCHED_WAIT_PRIORITY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(wait_as_explained(w, first), SCHED_WAIT_NOT);
    assert_int_equal(wait_as_explained(w, first + 1), SCHED_WAIT_CAPACITY);
    assert_int_equal(wait_of(w, first + 2), SCHED_WAIT_PRIORITY);
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "A", .cores = 2, .priority_class = "high"});
    assert_int_equal(wait_of(w, first + 1), SCHED_WAIT_PRIORITY);
    assert_int_not_equal(wait_of(w, urgent), SCHED_WAIT_PRIORITY);
}

/* What is admitted waits for room, too; whether it has a reservation is told
 * beside it. */
static void an_admitted_job_waits_for_room(void **state)
{
    struct world *w = *state;
    struct sched_admission admission;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 2});
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A", .cores = 2}, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(wait_of(w, first), SCHED_WAIT_NOT);
    assert_true(sched_job_admission(w->sched, first + 1, &admission));
    assert_int_equal(wait_of(w, first + 1), SCHED_WAIT_CAPACITY);
}

static void a_limit_is_told_of_all_that_it_keeps(void **state)
{
    struct world *w = *state;

    w->policy.classes[0].queue_limits[0] =
        (struct resource_fraction){STR("cpu"), 500000};
    w->policy.classes[0].queue_limit_count = 1;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 10});
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 8);
    world_round(w, ROUND_BALANCE, 0);
    for (uint32_t job = first + 5; job < first + 8; job++) {
        assert_int_equal(wait_as_explained(w, job), SCHED_WAIT_QUEUE_LIMIT);
    }
}

static void a_cordoned_queue_waits(void **state)
{
    struct world *w = *state;
    struct queue_record record = queue_record_plain(STR("A"));

    record.is_cordoned = true;
    uint32_t queue = world_queue(w, "A", 1);
    sched_queue_set(w->sched, queue, &record);
    world_node(w, &(struct world_node){"a", .cores = 10});
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 2);
    assert_int_equal(wait_as_explained(w, first), SCHED_WAIT_QUEUE_CORDONED);
    assert_int_equal(wait_as_explained(w, first + 1),
                     SCHED_WAIT_QUEUE_CORDONED);
}

static void a_gang_waits_for_members_and_then_for_room(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "A", .cores = 2, .gang = "g", .cardinality = 3, .minimum = 3};

    world_node(w, &(struct world_node){"a", .cores = 5});
    uint32_t first = world_submit_many(w, &member, 2);
    assert_int_equal(wait_as_explained(w, first), SCHED_WAIT_GANG);
    world_submit(w, &member);
    assert_int_equal(wait_as_explained(w, first), SCHED_WAIT_GANG_CAPACITY);
    assert_int_equal(wait_of(w, first + 2), SCHED_WAIT_GANG_CAPACITY);
    uint32_t behind = world_submit(w, &(struct world_job){.queue = "A"});
    assert_int_equal(wait_of(w, behind), SCHED_WAIT_PRIORITY);
}

/* What nodes say but for room is the reason here, too. */
static void the_first_is_told_what_the_nodes_say(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){
                      "a", .cores = 4, .closes_s = 60, .endless_closes_s = -1});
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 2);
    assert_int_equal(wait_as_explained(w, first), SCHED_WAIT_WINDOW);
    assert_int_equal(wait_of(w, first + 1), SCHED_WAIT_PRIORITY);
    uint32_t large =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 9});
    assert_int_equal(wait_as_explained(w, large), SCHED_WAIT_NEVER_FITS);
}

/* Beyond the bound nothing is looked at. */
static void what_it_may_look_at_is_bounded(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "B", .cores = 2, .gang = "g", .cardinality = 3, .minimum = 3};
    uint32_t looks_left = 2;

    world_node(w, &(struct world_node){"a", .cores = 5});
    world_node(w, &(struct world_node){"b", .cores = 5});
    uint32_t gang = world_submit_many(w, &member, 3);
    uint32_t job = world_submit(w, &(struct world_job){.queue = "A"});
    assert_int_equal(sched_wait_of(w->sched, gang, 0, &looks_left),
                     SCHED_WAIT_NOT);
    assert_int_equal(looks_left, 2);
    assert_int_equal(sched_wait_of(w->sched, job, 0, &looks_left),
                     SCHED_WAIT_TURN);
    assert_int_equal(looks_left, 0);
    assert_int_equal(sched_wait_of(w->sched, job, 0, &looks_left),
                     SCHED_WAIT_CAPACITY);
}

#define WORLD_TEST(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(without_nodes_nothing_starts),
        WORLD_TEST(the_first_waits_for_room_and_others_for_it),
        WORLD_TEST(an_admitted_job_waits_for_room),
        WORLD_TEST(a_limit_is_told_of_all_that_it_keeps),
        WORLD_TEST(a_cordoned_queue_waits),
        WORLD_TEST(a_gang_waits_for_members_and_then_for_room),
        WORLD_TEST(the_first_is_told_what_the_nodes_say),
        WORLD_TEST(what_it_may_look_at_is_bounded),
    };

    return RUN_TESTS(tests);
}
