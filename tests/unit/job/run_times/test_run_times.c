/* How long jobs run, by example. */
#include <stdio.h>

#include "job/run_times/run_times.h"
#include "unit.h"

static struct run_times_of of(const char *queue, const char *user,
                              const char *class_key)
{
    return (struct run_times_of){str_of(queue), str_of(user),
                                 str_of(class_key)};
}

static void note(struct run_times *times, const char *user,
                 const char *class_key, int64_t ms)
{
    struct run_times_of whose = of("q", user, class_key);

    run_times_note(times, &whose, 0, ms);
}

static void expect(const struct run_times *times, struct run_times_of whose,
                   int64_t limit_ms, int64_t age_ms, struct run_time expected)
{
    struct run_time time;

    assert_true(run_times_predict(times, &whose, limit_ms, age_ms, &time));
    assert_int_equal(time.p50_ms, expected.p50_ms);
    assert_int_equal(time.p90_ms, expected.p90_ms);
}

static void test_the_limit_is_all_that_is_known_at_first(void **state)
{
    auto_ptr(run_times) times = run_times_create(1);
    struct run_times_of whose = of("q", "ann", "c");
    struct run_time time;

    (void)state;
    assert_false(run_times_predict(times, &whose, 0, 0, &time));
    expect(times, whose, 500, 0, (struct run_time){500, 500});
    note(times, "ann", "c", 100);
    /* One run does not tell how long the longest are. */
    expect(times, whose, 500, 0, (struct run_time){100, 500});
    expect(times, whose, 0, 0, (struct run_time){100, 100});
}

static void test_the_finest_that_is_known_decides(void **state)
{
    auto_ptr(run_times) times = run_times_create(1);

    (void)state;
    for (int64_t i = 1; i <= RUN_TIMES_MANY; i++) {
        note(times, "bob", "c", i * 1000);
    }
    note(times, "ann", "c", 100);
    note(times, "ann", "c", 300);
    note(times, "ann", "d", 50);
    /* p90 is of the queue, for nothing finer tells of enough. */
    expect(times, of("q", "ann", "c"), 0, 0, (struct run_time){200, 8000});
    expect(times, of("q", "ann", "d"), 0, 0, (struct run_time){50, 8000});
    expect(times, of("q", "ann", "e"), 0, 0, (struct run_time){175, 8000});
    expect(times, of("q", "bob", "c"), 0, 0, (struct run_time){7500, 8000});
    expect(times, of("q", "eve", "c"), 0, 0, (struct run_time){175, 8000});
    expect(times, of("q", "bob", "c"), 7800, 0, (struct run_time){7500, 7800});
    expect(times, of("q", "bob", "c"), 600, 0, (struct run_time){600, 600});
    struct run_times_of other = of("r", "bob", "c");
    struct run_time time;
    assert_false(run_times_predict(times, &other, 0, 0, &time));
}

static void test_who_outlives_others_is_judged_by_its_age(void **state)
{
    auto_ptr(run_times) times = run_times_create(1);
    struct run_times_of ann = of("q", "ann", "c");

    (void)state;
    for (int64_t i = 1; i <= RUN_TIMES_MANY; i++) {
        note(times, "ann", "c", i * 1000);
    }
    note(times, "ann", "c", 500);
    expect(times, ann, 0, 0, (struct run_time){4250, 8000});
    expect(times, ann, 0, 500, (struct run_time){7500, 8000});
    expect(times, ann, 0, 7500, (struct run_time){8000, 8000});
    expect(times, ann, 0, 8000, (struct run_time){16000, 80000});
    expect(times, ann, 20000, 8000, (struct run_time){16000, 20000});
    expect(times, ann, 20000, 30000, (struct run_time){20000, 20000});
    expect(times, ann, 0, INT64_MAX,
           (struct run_time){2 * RUN_TIMES_MS_MAX, 10 * RUN_TIMES_MS_MAX});
}

static void test_old_run_times_go(void **state)
{
    auto_ptr(run_times) times = run_times_create(1);

    (void)state;
    note(times, "ann", "c", 99999);
    for (int i = 0; i < RUN_TIMES_KEPT; i++) {
        note(times, "ann", "c", 70);
    }
    expect(times, of("q", "ann", "c"), 0, 0, (struct run_time){70, 70});
}

static void test_members_of_a_gang_count_once(void **state)
{
    auto_ptr(run_times) times = run_times_create(1);
    struct run_times_of ann = of("q", "ann", "c");

    (void)state;
    run_times_note(times, &ann, 0, 100);
    for (int64_t ms = 1000; ms <= 3000; ms += 500) {
        run_times_note(times, &ann, 7, ms);
        run_times_note(times, &ann, 7, ms - 1);
    }
    expect(times, ann, 0, 0, (struct run_time){1550, 3000});
    run_times_note(times, &ann, 8, 5000);
    expect(times, ann, 0, 0, (struct run_time){4000, 5000});
}

static void user_name(char text[16], int number)
{
    (void)snprintf(text, 16, "u%d", number);
}

static void test_who_was_not_seen_for_longest_is_forgotten_first(void **state)
{
    auto_ptr(run_times) times = run_times_create(1);
    /* A user is two keys, and the queue is one. */
    int room = (RUN_TIMES_KEYS_MAX - 1) / 2;
    char name[16];

    (void)state;
    for (int i = 0; i < room; i++) {
        user_name(name, i);
        note(times, name, "c", 1000 + i);
    }
    note(times, "u0", "c", 1000); /* seen again */
    for (int i = 0; i < 3; i++) {
        user_name(name, room + i);
        note(times, name, "c", 5);
    }
    assert_int_equal(run_times_count(times), RUN_TIMES_KEYS_MAX);
    struct run_time time;
    struct run_times_of kept = of("q", "u0", "c");
    assert_true(run_times_predict(times, &kept, 0, 0, &time));
    assert_int_equal(time.p50_ms, 1000);
    struct run_times_of gone = of("q", "u1", "c");
    assert_true(run_times_predict(times, &gone, 0, 0, &time));
    assert_int_equal(time.p50_ms, 5); /* the queue's */
}

static void test_what_is_packed_comes_back(void **state)
{
    auto_ptr(run_times) times = run_times_create(1);
    auto_ptr(run_times) again = run_times_create(2);
    auto_strbuf bytes = {0};
    auto_strbuf more = {0};
    char name[16];

    (void)state;
    for (int i = 0; i < 100; i++) {
        user_name(name, i * i % 17);
        struct run_times_of whose = of("q", name, "c");
        run_times_note(times, &whose, (uint64_t)(i % 3), i * 977);
    }
    run_times_pack(times, &bytes);
    struct pack_reader reader = {.rest = strbuf_str(&bytes)};
    run_times_unpack(again, &reader);
    assert_false(reader.is_bad);
    assert_int_equal(reader.rest.byte_count, 0);
    run_times_pack(again, &more);
    assert_true(str_equal(strbuf_str(&bytes), strbuf_str(&more)));
}

/* Every cut, and every byte that is another, is read without harm. */
static void test_what_is_broken_is_refused(void **state)
{
    auto_ptr(run_times) times = run_times_create(1);
    auto_strbuf bytes = {0};

    (void)state;
    note(times, "ann", "c", 100);
    note(times, "bob", "c", 200);
    run_times_pack(times, &bytes);
    for (size_t i = 0; i < bytes.byte_count; i++) {
        auto_ptr(run_times) cut = run_times_create(1);
        struct pack_reader reader = {.rest = str_make(bytes.bytes, i)};
        run_times_unpack(cut, &reader);
        assert_true(reader.is_bad);
    }
    for (size_t i = 0; i < bytes.byte_count * 8; i++) {
        auto_ptr(run_times) bent = run_times_create(1);
        struct run_times_of ann = of("q", "ann", "c");
        struct run_time time;
        bytes.bytes[i / 8] ^= (char)(1 << i % 8);
        struct pack_reader reader = {.rest = strbuf_str(&bytes)};
        run_times_unpack(bent, &reader);
        (void)run_times_predict(bent, &ann, 0, 0, &time);
        bytes.bytes[i / 8] ^= (char)(1 << i % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_limit_is_all_that_is_known_at_first),
        cmocka_unit_test(test_the_finest_that_is_known_decides),
        cmocka_unit_test(test_who_outlives_others_is_judged_by_its_age),
        cmocka_unit_test(test_old_run_times_go),
        cmocka_unit_test(test_members_of_a_gang_count_once),
        cmocka_unit_test(test_who_was_not_seen_for_longest_is_forgotten_first),
        cmocka_unit_test(test_what_is_packed_comes_back),
        cmocka_unit_test(test_what_is_broken_is_refused),
    };

    return RUN_TESTS(tests);
}
