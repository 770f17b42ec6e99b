/*
 * usage: what runs hold and jobs wait is charged to the days over which it
 * goes, by queue and owner, and by what became of it.
 */
#include "model/digest.h"
#include "model/requirement.h"
#include "store/usage.h"
#include "store_fixture.h"

enum { HOUR_MS = 3600 * 1000 };

static const int64_t DAY = 24 * (int64_t)HOUR_MS;

static struct usage_note ran(int64_t from_ms, int64_t to_ms,
                             enum stored_run_state state)
{
    return (struct usage_note){
        .queue = STR("q"),
        .owner = STR("ann"),
        .kind = USAGE_RAN,
        .from_ms = from_ms,
        .to_ms = to_ms,
        .run_state = state,
        .request = {.core_milli = 2000, .gpu_milli = 1000},
    };
}

/* An amount of a day; 0 if there is none. */
static int64_t amount_of(const struct usage_changes *changes, int64_t day,
                         enum stored_usage_amount amount)
{
    for (size_t i = 0; i < changes->items.count; i++) {
        if (changes->items.items[i].day == day) {
            return changes->items.items[i].amounts[amount];
        }
    }
    return 0;
}

static void a_run_over_midnight_is_of_two_days(void **state)
{
    struct usage_changes changes = {0};
    struct usage_note note =
        ran(3 * DAY - HOUR_MS, 3 * DAY + 2 * HOUR_MS, STORED_RUN_FAILED);

    usage_changes_add(&changes, &note);
    assert_int_equal(changes.items.count, 2);
    assert_int_equal(amount_of(&changes, 2, STORED_USAGE_CORE_USED),
                     INT64_C(2000) * HOUR_MS);
    assert_int_equal(amount_of(&changes, 3, STORED_USAGE_CORE_USED),
                     INT64_C(4000) * HOUR_MS);
    assert_int_equal(amount_of(&changes, 3, STORED_USAGE_CORE_WASTED),
                     INT64_C(4000) * HOUR_MS);
    assert_int_equal(amount_of(&changes, 3, STORED_USAGE_GPU_USED),
                     INT64_C(2000) * HOUR_MS);
    assert_int_equal(amount_of(&changes, 2, STORED_USAGE_RUNS), 0);
    assert_int_equal(amount_of(&changes, 3, STORED_USAGE_RUNS), 1);
    assert_int_equal(amount_of(&changes, 2, STORED_USAGE_RAN_MS), HOUR_MS);
    usage_changes_fini(&changes);
    (void)state;
}

static void what_became_of_a_run_says_what_its_time_was(void **state)
{
    static const struct {
        enum stored_run_state state;
        enum stored_usage_amount amount;
    } cases[] = {
        {STORED_RUN_FAILED, STORED_USAGE_CORE_WASTED},
        {STORED_RUN_LEASE_EXPIRED, STORED_USAGE_CORE_WASTED},
        {STORED_RUN_CANCELLED, STORED_USAGE_CORE_CANCELLED},
        {STORED_RUN_PREEMPTED, STORED_USAGE_CORE_PREEMPTED},
    };

    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct usage_changes changes = {0};
        struct usage_note good = ran(0, 10, STORED_RUN_SUCCEEDED);
        struct usage_note other = ran(0, 5, cases[i].state);
        usage_changes_add(&changes, &good);
        usage_changes_add(&changes, &other);
        assert_int_equal(amount_of(&changes, 0, STORED_USAGE_CORE_USED),
                         15 * 2000);
        assert_int_equal(amount_of(&changes, 0, cases[i].amount), 5 * 2000);
        usage_changes_fini(&changes);
    }
    (void)state;
}

static void times_that_make_no_sense_cost_little(void **state)
{
    struct usage_changes changes = {0};
    struct usage_note back = ran(10, 5, STORED_RUN_SUCCEEDED);
    struct usage_note ages = ran(-5, INT64_MAX / 4, STORED_RUN_SUCCEEDED);

    usage_changes_add(&changes, &back);
    assert_int_equal(amount_of(&changes, 0, STORED_USAGE_RAN_MS), 0);
    ages.request.core_milli = INT64_MAX;
    usage_changes_add(&changes, &ages);
    assert_true(changes.items.count <= 2);
    usage_changes_fini(&changes);
    (void)state;
}

/* The digest of a job whose class asks for these. */
static void put_digest(struct strbuf *digest, struct resource_amount *amounts,
                       uint32_t count)
{
    struct requirement requirement = {.requests = {amounts, count}};
    auto_strbuf class = {0};

    requirement_pack(&class, &requirement);
    digest_pack(digest, &(struct job_digest){.class_key = strbuf_str(&class),
                                             .gang_cardinality = 1,
                                             .gang_minimum = 1});
}

static void a_digest_says_what_is_asked_for(void **state)
{
    struct resource_amount amounts[] = {{STR("amd.com/gpu"), 2000},
                                        {STR("cpu"), 1500},
                                        {STR("memory"), 7},
                                        {STR("nvidia.com/mig-1g.5gb"), 1000}};
    struct resource_amount other_amounts[] = {{STR("cpu"), 250}};
    auto_strbuf digest = {0}, other = {0};
    struct usage_class last = {0};

    put_digest(&digest, amounts, ARRAY_COUNT(amounts));
    put_digest(&other, other_amounts, ARRAY_COUNT(other_amounts));
    for (int i = 0; i < 2; i++) {
        struct usage_request request =
            usage_request_of(&last, strbuf_str(&digest));
        assert_int_equal(request.core_milli, 1500);
        assert_int_equal(request.gpu_milli, 3000);
        request = usage_request_of(&last, strbuf_str(&digest));
        assert_int_equal(request.core_milli, 1500);
        request = usage_request_of(&last, strbuf_str(&other));
        assert_int_equal(request.core_milli, 250);
        assert_int_equal(request.gpu_milli, 0);
    }
    assert_int_equal(usage_request_of(&last, STR("")).core_milli, 0);
    assert_int_equal(usage_request_of(&last, STR("nonsense")).core_milli, 0);
    usage_class_fini(&last);
    (void)state;
}

static void usage_is_summed_as_it_is_asked_for(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_usage *rows;

    store_submit_plain(world, 1);
    store_submit_as(world, 2, "set", "", "");
    store_add_lease(world, 1, 0, T0 + DAY);
    store_add_event(world,
                    store_event_about(EVENT_RUN_SUCCEEDED, 1, T0 + DAY + 10));
    store_add_event(world,
                    store_event_about(EVENT_SUCCEEDED, 1, T0 + DAY + 11));
    store_add_event(world, store_event_about(EVENT_CANCELLED, 2, T0 + 12));
    store_world_apply(world);
    struct store_usage_filter filter = {.to_day = 100, .count_max = 10};
    assert_int_equal(store_usage(world->reader, &filter, &arena, &rows, NULL),
                     1);
    assert_int_equal(rows[0].day, -1);
    assert_int_equal(rows[0].amounts[STORED_USAGE_SUBMITTED], 2);
    assert_int_equal(rows[0].amounts[STORED_USAGE_SUCCEEDED], 1);
    assert_int_equal(rows[0].amounts[STORED_USAGE_CANCELLED], 1);
    assert_int_equal(rows[0].amounts[STORED_USAGE_RAN_MS], 10);
    assert_int_equal(rows[0].amounts[STORED_USAGE_WAITED_MS], DAY - 1 + 12 - 2);
    filter.by_day = filter.by_queue = true;
    assert_int_equal(store_usage(world->reader, &filter, &arena, &rows, NULL),
                     2);
    assert_int_equal(rows[1].day, 1);
    assert_str(rows[1].queue, "q");
    assert_int_equal(rows[1].amounts[STORED_USAGE_RUNS], 1);
    filter.from_day = 2;
    assert_int_equal(store_usage(world->reader, &filter, &arena, &rows, NULL),
                     0);
    filter.from_day = 0;
    filter.queue = STR("other");
    assert_int_equal(store_usage(world->reader, &filter, &arena, &rows, NULL),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_over_midnight_is_of_two_days),
        TEST(what_became_of_a_run_says_what_its_time_was),
        TEST(times_that_make_no_sense_cost_little),
        TEST(a_digest_says_what_is_asked_for),
        cmocka_unit_test_setup_teardown(usage_is_summed_as_it_is_asked_for,
                                        store_set_up, store_tear_down),
    };

    return RUN_TESTS(tests);
}
