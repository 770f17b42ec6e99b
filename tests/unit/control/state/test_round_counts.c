/*
 * round_counts: what a plan did is in the numbers that are shown of it.
 */
#include "control/state/round_counts.h"
#include "sched/sched.h"
#include "unit.h"

static void
a_time_is_in_the_bucket_of_the_least_bound_that_holds_it(void **state)
{
    static const struct {
        uint64_t took_us;
        uint32_t bucket;
    } rows[] = {
        {0, 0},
        {1000, 0},
        {1001, 1},
        {2000, 1},
        {2001, 2},
        {16384000, ROUND_COUNTS_BUCKETS - 1},
        {16384001, ROUND_COUNTS_BUCKETS},
        {UINT64_MAX, ROUND_COUNTS_BUCKETS},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct round_counts counts = {0};
        round_counts_took(&counts, rows[i].took_us);
        assert_int_equal(counts.took_counts[rows[i].bucket], 1);
    }
}

static void victims_count_by_why_and_by_whom_they_made_room_for(void **state)
{
    const struct sched_decision home[] = {
        {.action = SCHED_PREEMPT, .preemption = SCHED_PREEMPT_HOME},
        {.action = SCHED_PREEMPT, .preemption = SCHED_PREEMPT_HOME},
        {.action = SCHED_LEASE, .for_job = SCHED_NONE},
    };
    const struct sched_decision scaled[] = {
        {.action = SCHED_PREEMPT,
         .preemption = SCHED_PREEMPT_SCALED,
         .for_job = SCHED_NONE,
         .is_scaling = true},
        {.action = SCHED_LEASE, .for_job = SCHED_NONE, .is_scaling = true},
    };
    struct round_counts counts = {0};

    (void)state;
    round_counts_group(&counts, home, ARRAY_COUNT(home));
    round_counts_group(&counts, scaled, ARRAY_COUNT(scaled));
    assert_int_equal(counts.preempted_counts[SCHED_PREEMPT_HOME], 2);
    assert_int_equal(counts.preempted_counts[SCHED_PREEMPT_SCALED], 1);
    assert_int_equal(counts.preempting_count, 1);
    assert_int_equal(counts.victim_count_last, 2);
    assert_int_equal(counts.shrunk_count, 1);
    assert_int_equal(counts.grown_count, 1);
}

static void losses_and_waits_for_fairness_add_up(void **state)
{
    const struct sched_decision taken[] = {
        {.action = SCHED_PREEMPT, .preemption = SCHED_PREEMPT_FAIR_SHARE},
        {.action = SCHED_LEASE,
         .for_job = SCHED_NONE,
         .is_by_share = true,
         .waited_ms = 5000},
    };
    struct round_counts counts = {0};

    (void)state;
    round_counts_group(&counts, taken, ARRAY_COUNT(taken));
    round_counts_group(&counts, taken, ARRAY_COUNT(taken));
    round_counts_lost(&counts, &taken[0], 700);
    round_counts_lost(&counts, &taken[0], -1); /* the clock went back */
    round_counts_lost(&counts, &taken[0], 300);
    assert_int_equal(counts.preempted_ms[SCHED_PREEMPT_FAIR_SHARE], 1000);
    assert_int_equal(counts.taking_count, 2);
    assert_int_equal(counts.taking_waited_ms, 10000);
}

static void searches_in_vain_add_up(void **state)
{
    struct sched_plan plan = {.counters = {.failed_searches = 3}};
    struct round_counts counts = {0};

    (void)state;
    round_counts_plan(&counts, &plan);
    round_counts_plan(&counts, &plan);
    assert_int_equal(counts.miss_count, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_time_is_in_the_bucket_of_the_least_bound_that_holds_it),
        TEST(victims_count_by_why_and_by_whom_they_made_room_for),
        TEST(losses_and_waits_for_fairness_add_up),
        TEST(searches_in_vain_add_up),
    };

    return RUN_TESTS(tests);
}
