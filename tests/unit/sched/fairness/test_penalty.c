/* Jobs that end soon after their start count on (model.md 2.15). */
#include "world_fixture.h"

enum { CUTOFF_MS = 60000 };

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    world->policy.pools[0].short_job_penalty_ms = CUTOFF_MS;
    world_restart(world);
    return 0;
}

/* A job of A with 4 of 8 cores that starts at 0 and ends at `end_ms`. */
static void run_short(struct world *w, int64_t end_ms, bool is_finished)
{
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 4});

    world_queue(w, "B", 1);
    world_lease(w, job, n, 0);
    (void)sched_job_started(w->sched, job);
    sched_set_time(w->sched, end_ms);
    if (is_finished) {
        sched_job_finished(w->sched, job);
    }
    world_end(w, job);
}

/* Whose job goes first onto a node that has room for one. */
static const char *first_at(struct world *w, int64_t now_ms)
{
    world_node(w, &(struct world_node){"n", .cores = 1});
    uint32_t a = world_submit(w, &(struct world_job){.queue = "A"});
    uint32_t b = world_submit(w, &(struct world_job){.queue = "B"});

    world_round(w, ROUND_FAST, now_ms);
    assert_int_equal(w->leased_count, 1);
    return world_node_of(w, a)[0] ? "A" : world_node_of(w, b)[0] ? "B" : "";
}

static void a_short_job_counts_until_the_cutoff(void **state)
{
    struct world *w = *state;

    run_short(w, 5000, true);
    assert_string_equal(first_at(w, CUTOFF_MS - 1), "B");
}

static void after_the_cutoff_it_counts_no_more(void **state)
{
    struct world *w = *state;

    run_short(w, 5000, true);
    assert_string_equal(first_at(w, CUTOFF_MS), "A");
}

static void a_long_job_leaves_nothing(void **state)
{
    struct world *w = *state;

    run_short(w, CUTOFF_MS, true);
    assert_string_equal(first_at(w, CUTOFF_MS), "A");
}

static void preempted_jobs_are_exempt(void **state)
{
    struct world *w = *state;

    run_short(w, 5000, false);
    assert_string_equal(first_at(w, 6000), "A");
}

static void pools_without_a_cutoff_know_none(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].short_job_penalty_ms = 0;
    world_restart(w);
    run_short(w, 5000, true);
    assert_string_equal(first_at(w, 6000), "A");
}

/* It is history: it must survive a checkpoint, byte for byte. */
static void penalties_survive_a_restart(void **state)
{
    struct world *w = *state;
    auto_strbuf before = {0}, after = {0};

    run_short(w, 5000, true);
    sched_history_pack(w->sched, &before);
    world_restart(w);
    sched_set_time(w->sched, 5000);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    world_node(w, &(struct world_node){"n", .cores = 8});
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&before)), 0);
    sched_history_pack(w->sched, &after);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&after)));
    assert_string_equal(first_at(w, 6000), "B");
}

/* Neither a queue before it nor one after it gets what a deleted queue had. */
static void penalties_of_a_deleted_queue_are_nobodys(void **state)
{
    static const char *const others[] = {"0", "B", "AA"};
    struct world *w = *state;
    auto_strbuf before = {0};

    run_short(w, 5000, true);
    sched_history_pack(w->sched, &before);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        auto_strbuf after = {0};
        world_restart(w);
        sched_set_time(w->sched, 5000);
        world_queue(w, others[i], 1);
        assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&before)),
                         0);
        sched_history_pack(w->sched, &after);
        assert_true(after.byte_count < before.byte_count);
    }
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(a_short_job_counts_until_the_cutoff),
        SCENARIO(after_the_cutoff_it_counts_no_more),
        SCENARIO(a_long_job_leaves_nothing),
        SCENARIO(preempted_jobs_are_exempt),
        SCENARIO(pools_without_a_cutoff_know_none),
        SCENARIO(penalties_survive_a_restart),
        SCENARIO(penalties_of_a_deleted_queue_are_nobodys),
    };

    return RUN_TESTS(tests);
}
