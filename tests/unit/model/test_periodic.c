/* periodic: what is done about a moment that has come. */
#include "model/periodic.h"
#include "unit.h"

enum { MIN_MS = 60000, HOUR_MS = 3600000 };

/* 2026-01-01, midnight. */
static const int64_t BEGIN_MS = 1767225600000;

static int32_t utc_offset(const struct zone *zone, int64_t utc_s)
{
    (void)zone;
    (void)utc_s;
    return 0;
}

static const struct zone utc = {.offset_s = utc_offset};

/* Of each hour. */
static struct periodic_terms hourly(enum periodic_policy policy,
                                    int64_t deadline_ms)
{
    struct periodic_terms terms = {
        .zone = &utc, .policy = policy, .deadline_ms = deadline_ms};

    int rc = cron_parse(STR("@hourly"), &terms.cron, NULL);
    assert_int_equal(rc, 0);
    return terms;
}

static struct periodic_step decide(struct periodic_terms terms, int64_t now_ms,
                                   uint32_t live_count)
{
    return periodic_decide(&terms, BEGIN_MS, BEGIN_MS + now_ms, live_count);
}

static void a_moment_is_submitted_when_it_has_come(void **state)
{
    (void)state;
    struct periodic_step step = decide(hourly(PERIODIC_ALLOW, 0), 1500, 3);

    assert_int_equal(step.what, PERIODIC_SUBMIT);
    assert_int_equal(step.moment_ms, BEGIN_MS);
    assert_int_equal(step.next_ms, BEGIN_MS + HOUR_MS);
    assert_false(step.is_replacing);
}

static void of_many_missed_moments_the_last_is_submitted(void **state)
{
    (void)state;
    struct periodic_step step =
        decide(hourly(PERIODIC_ALLOW, 0), 1000 * (int64_t)HOUR_MS + MIN_MS, 0);

    assert_int_equal(step.what, PERIODIC_SUBMIT);
    assert_int_equal(step.moment_ms, BEGIN_MS + 1000 * (int64_t)HOUR_MS);
    assert_int_equal(step.next_ms, BEGIN_MS + 1001 * (int64_t)HOUR_MS);
}

static void behind_the_starting_deadline_it_is_missed(void **state)
{
    (void)state;
    struct periodic_terms terms = hourly(PERIODIC_ALLOW, MIN_MS);

    assert_int_equal(decide(terms, HOUR_MS + MIN_MS, 0).what, PERIODIC_SUBMIT);
    struct periodic_step step = decide(terms, HOUR_MS + MIN_MS + 1, 0);
    assert_int_equal(step.what, PERIODIC_PASS);
    assert_int_equal(step.outcome, PERIODIC_MISSED);
    assert_int_equal(step.next_ms, BEGIN_MS + 2 * HOUR_MS);
}

static void forbid_skips_or_waits_up_to_the_deadline(void **state)
{
    (void)state;
    struct periodic_step step = decide(hourly(PERIODIC_FORBID, 0), 0, 1);

    assert_int_equal(step.what, PERIODIC_PASS);
    assert_int_equal(step.outcome, PERIODIC_SKIPPED);
    struct periodic_terms terms = hourly(PERIODIC_FORBID, MIN_MS);
    assert_int_equal(decide(terms, MIN_MS, 1).what, PERIODIC_WAIT);
    assert_int_equal(decide(terms, MIN_MS, 0).what, PERIODIC_SUBMIT);
    assert_int_equal(decide(terms, MIN_MS + 1, 1).outcome, PERIODIC_SKIPPED);
}

static void replace_cancels_what_has_not_ended(void **state)
{
    (void)state;
    struct periodic_step step = decide(hourly(PERIODIC_REPLACE, 0), 0, 2);

    assert_int_equal(step.what, PERIODIC_SUBMIT);
    assert_true(step.is_replacing);
    assert_false(decide(hourly(PERIODIC_REPLACE, 0), 0, 0).is_replacing);
}

static void runs_do_not_pile_up(void **state)
{
    (void)state;
    struct periodic_terms terms = hourly(PERIODIC_ALLOW, 0);

    assert_int_equal(decide(terms, 0, PERIODIC_RUNS_MAX - 1).what,
                     PERIODIC_SUBMIT);
    struct periodic_step step = decide(terms, 0, PERIODIC_RUNS_MAX);
    assert_int_equal(step.what, PERIODIC_PASS);
    assert_int_equal(step.outcome, PERIODIC_SKIPPED);
    assert_non_null(strstr(step.text, "(16)"));
    assert_int_equal(PERIODIC_RUNS_MAX, 16); /* as the text says */
}

static void a_clock_that_was_ahead_is_healed(void **state)
{
    (void)state;
    struct periodic_terms terms = hourly(PERIODIC_ALLOW, 0);
    int64_t year_ms = INT64_C(365) * 24 * HOUR_MS;
    int64_t last_ms = BEGIN_MS + year_ms, due_ms = last_ms + HOUR_MS;

    assert_int_equal(
        periodic_heal_ms(&terms, due_ms, last_ms, BEGIN_MS + MIN_MS),
        BEGIN_MS + HOUR_MS);
    /* What is a little ahead would be run twice. */
    assert_int_equal(periodic_heal_ms(&terms, BEGIN_MS + HOUR_MS, BEGIN_MS,
                                      BEGIN_MS - MIN_MS),
                     0);
    /* It is right already. */
    assert_int_equal(periodic_heal_ms(&terms, BEGIN_MS + HOUR_MS, last_ms,
                                      BEGIN_MS + MIN_MS),
                     0);
    assert_int_equal(periodic_heal_ms(&terms, due_ms, 0, BEGIN_MS), 0);
}

static void policies_have_kubernetes_names(void **state)
{
    (void)state;
    enum periodic_policy policy;

    for (int i = PERIODIC_ALLOW; i <= PERIODIC_REPLACE; i++) {
        const char *name = periodic_policy_name((enum periodic_policy)i);
        assert_int_equal(periodic_policy_of_name(str_of(name), &policy), 0);
        assert_int_equal(policy, i);
    }
    assert_int_equal(periodic_policy_of_name(STR(""), &policy), 0);
    assert_int_equal(policy, PERIODIC_ALLOW);
    assert_int_equal(periodic_policy_of_name(STR("allow"), &policy),
                     -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_submitted_when_it_has_come),
        cmocka_unit_test(of_many_missed_moments_the_last_is_submitted),
        cmocka_unit_test(behind_the_starting_deadline_it_is_missed),
        cmocka_unit_test(forbid_skips_or_waits_up_to_the_deadline),
        cmocka_unit_test(replace_cancels_what_has_not_ended),
        cmocka_unit_test(runs_do_not_pile_up),
        cmocka_unit_test(a_clock_that_was_ahead_is_healed),
        cmocka_unit_test(policies_have_kubernetes_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
