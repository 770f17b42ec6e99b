/* Records older than what is kept are trimmed, unless the clock may be wrong.
 */
#include "leader_stage.h"
#include "unit.h"

enum { HOUR_MS = 3600 * 1000, CHANGES = 40 };

static bool ask(void *ctx)
{
    return *(bool *)ctx;
}

static uint64_t first_seq(struct stage *s)
{
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds;

    assert_int_equal(elog_reader_open(s->log, &reader, NULL), 0);
    assert_int_equal(elog_bounds(reader, &bounds, NULL), 0);
    return bounds.first_seq;
}

/* Changes, an hour apart, with checkpoints. */
static void live(struct stage *s)
{
    for (int i = 0; i < CHANGES; i++) {
        stage_queue(s, "q");
        s->wall_ms += HOUR_MS;
        s->mono_ns += (uint64_t)HOUR_MS * 1000000;
        stage_settle(s);
    }
}

static struct stage *begin(bool *may_trim)
{
    struct stage *s = mem_alloc(sizeof(*s));

    stage_init(s);
    s->checkpoint_events = 5;
    s->retention_ms = 10 * HOUR_MS;
    s->hooks.ctx = may_trim;
    s->hooks.may_trim = ask;
    stage_start(s);
    return s;
}

static void what_is_old_is_trimmed(void **state)
{
    bool may_trim = true;
    struct stage *s = begin(&may_trim);

    (void)state;
    live(s);
    assert_true(first_seq(s) > 10);
    stage_end(s);
}

static void nothing_is_trimmed_while_the_clock_may_be_wrong(void **state)
{
    bool may_trim = false;
    struct stage *s = begin(&may_trim);

    (void)state;
    live(s);
    assert_int_equal(first_seq(s), 1);
    may_trim = true;
    live(s);
    assert_true(first_seq(s) > 10);
    stage_end(s);
}

static void a_clock_that_was_set_back_trims_by_what_it_says(void **state)
{
    bool may_trim = true;
    struct stage *s = begin(&may_trim);

    (void)state;
    s->wall_ms += 1000LL * HOUR_MS;
    stage_queue(s, "q");
    s->wall_ms -= 1000LL * HOUR_MS;
    for (int i = 0; i < CHANGES; i++) {
        stage_queue(s, "q");
        stage_settle(s);
    }
    assert_int_equal(first_seq(s), 1);
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_old_is_trimmed),
        TEST(nothing_is_trimmed_while_the_clock_may_be_wrong),
        TEST(a_clock_that_was_set_back_trims_by_what_it_says),
    };

    return RUN_TESTS(tests);
}
