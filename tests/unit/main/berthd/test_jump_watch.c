/* jump_watch: a clock that jumped ahead prunes nothing for a day. */
#include "elog/elog_memory.h"
#include "main/berthd/jump_watch.h"
#include "unit.h"

enum { HOUR_MS = 3600 * 1000, T0 = 1000000000 };

/* A clock that stands where it was set. */
struct fake {
    struct clock clock; /* first */
    int64_t wall_ms;
    int64_t passed_ms; /* of the monotonic one */
};

static uint64_t fake_mono_ns(const struct clock *clock)
{
    return (uint64_t)((const struct fake *)clock)->passed_ms * 1000000;
}

static int64_t fake_wall_ms(const struct clock *clock)
{
    return ((const struct fake *)clock)->wall_ms;
}

static struct fake fake_at(int64_t wall_ms)
{
    return (struct fake){{fake_mono_ns, fake_wall_ms}, wall_ms, 1};
}

/* Time passes as it should. */
static void pass(struct fake *fake, int64_t ms)
{
    fake->wall_ms += ms;
    fake->passed_ms += ms;
}

static const int64_t month_ms = (int64_t)30 * 24 * HOUR_MS;

static void an_honest_clock_is_believed(void **state)
{
    struct fake fake = fake_at(T0);
    struct jump_watch watch;

    (void)state;
    jump_watch_init(&watch, &fake.clock, T0 - 2 * 24 * HOUR_MS);
    assert_true(jump_watch_may_prune(&watch));
    for (int i = 0; i < 100; i++) {
        pass(&fake, month_ms);
        assert_true(jump_watch_may_prune(&watch));
    }
    jump_watch_fini(&watch);
}

static void a_new_log_has_nothing_to_compare_with(void **state)
{
    struct fake fake = fake_at(T0);
    struct jump_watch watch;

    (void)state;
    jump_watch_init(&watch, &fake.clock, 0);
    assert_true(jump_watch_may_prune(&watch));
    jump_watch_fini(&watch);
}

static void a_clock_months_ahead_at_start_is_believed_a_day_later(void **state)
{
    struct fake fake = fake_at(T0 + 6 * month_ms);
    struct jump_watch watch;

    (void)state;
    jump_watch_init(&watch, &fake.clock, T0);
    for (int hour = 0; hour < 24; hour++) {
        assert_false(jump_watch_may_prune(&watch));
        pass(&fake, HOUR_MS);
    }
    assert_true(jump_watch_may_prune(&watch));
    pass(&fake, HOUR_MS);
    assert_true(jump_watch_may_prune(&watch));
    jump_watch_fini(&watch);
}

static void a_clock_that_is_set_right_is_believed_at_once(void **state)
{
    struct fake fake = fake_at(T0 + 6 * month_ms);
    struct jump_watch watch;

    (void)state;
    jump_watch_init(&watch, &fake.clock, T0);
    assert_false(jump_watch_may_prune(&watch));
    pass(&fake, HOUR_MS);
    fake.wall_ms -= 6 * month_ms;
    assert_true(jump_watch_may_prune(&watch));
    /* The next jump is another one. */
    fake.wall_ms += 6 * month_ms;
    assert_false(jump_watch_may_prune(&watch));
    pass(&fake, 23 * HOUR_MS);
    assert_false(jump_watch_may_prune(&watch));
    jump_watch_fini(&watch);
}

static void a_jump_while_it_runs_is_held_too(void **state)
{
    struct fake fake = fake_at(T0);
    struct jump_watch watch;

    (void)state;
    jump_watch_init(&watch, &fake.clock, T0);
    pass(&fake, HOUR_MS);
    assert_true(jump_watch_may_prune(&watch));
    fake.wall_ms += month_ms;
    assert_false(jump_watch_may_prune(&watch));
    jump_watch_fini(&watch);
}

static void a_clock_that_goes_back_deletes_nothing_and_is_believed(void **state)
{
    struct fake fake = fake_at(T0);
    struct jump_watch watch;

    (void)state;
    jump_watch_init(&watch, &fake.clock, T0 + 6 * month_ms);
    assert_true(jump_watch_may_prune(&watch));
    jump_watch_fini(&watch);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

/* What a log says whose records were made at these times. */
static int64_t last_of(const int64_t *times, uint64_t count)
{
    auto_ptr(elog_memory_storage) storage = elog_memory_storage_create();
    auto_ptr(elog) log = elog_memory_open(storage);
    auto_ptr(elog_reader) reader = NULL;
    uint64_t epoch;

    assert_int_equal(elog_acquire(log, &epoch, NULL), 0);
    for (uint64_t i = 0; i < count; i++) {
        struct elog_record record = {
            .seq = i + 1, .epoch = epoch, .time_ms = times[i]};
        assert_int_equal(elog_submit(log, &record, on_done, NULL), 0);
        elog_poll(log, 0);
    }
    assert_int_equal(elog_reader_open(log, &reader, NULL), 0);
    return jump_watch_last_ms(reader);
}

static void a_restart_does_not_believe_a_jump_sooner(void **state)
{
    int64_t jump = T0 + 6 * month_ms;
    int64_t times[] = {T0,
                       T0 + 1,
                       T0 + 2,
                       jump,
                       jump + 3 * HOUR_MS,
                       jump + 20 * HOUR_MS,
                       jump + 25 * HOUR_MS};

    (void)state;
    assert_int_equal(last_of(times, 0), 0);
    assert_int_equal(last_of(times, 1), T0);
    assert_int_equal(last_of(times, 3), T0 + 2);
    for (uint64_t count = 4; count <= 6; count++) {
        assert_int_equal(last_of(times, count), T0 + 2);
    }
    assert_int_equal(last_of(times, 7), jump + 25 * HOUR_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_honest_clock_is_believed),
        TEST(a_new_log_has_nothing_to_compare_with),
        TEST(a_clock_months_ahead_at_start_is_believed_a_day_later),
        TEST(a_clock_that_is_set_right_is_believed_at_once),
        TEST(a_jump_while_it_runs_is_held_too),
        TEST(a_clock_that_goes_back_deletes_nothing_and_is_believed),
        TEST(a_restart_does_not_believe_a_jump_sooner),
    };

    return RUN_TESTS(tests);
}
