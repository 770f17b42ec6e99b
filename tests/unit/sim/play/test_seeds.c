/*
 * The worked examples of the published designs, as scenarios that are shipped
 * (examples/sim/seeds): each job starts when the design says.
 */
#include <stdio.h>

#include "played.h"

static void play_example(struct played *played, const char *name)
{
    auto_strbuf path = {0}, text = {0};
    char block[4096];
    size_t byte_count;

    strbuf_addf(&path, "%s/seeds/%s.yaml", EXAMPLES, name);
    FILE *file = fopen(strbuf_text(&path), "r");
    assert_non_null(file);
    while ((byte_count = fread(block, 1, sizeof(block), file)) > 0) {
        strbuf_add(&text, block, byte_count);
    }
    (void)fclose(file);
    play_it(played, strbuf_text(&text), 1);
}

/* When the jobs of a stream started, in whole seconds; -1: not. */
static void assert_starts(const struct played *played, const char *stream,
                          const int64_t *starts_s, size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < played->world->jobs.count; i++) {
        const struct world_job *job = &played->world->jobs.items[i];
        struct str name = world_scope(played->world, job->kind).job_set;
        if (!str_equal(name, str_of(stream))) {
            continue;
        }
        assert_true(at < count);
        assert_int_equal(job->started_ms < 0 ? -1 : job->started_ms / 1000,
                         starts_s[at]);
        at++;
    }
    assert_int_equal(at, count);
}

#define ASSERT_STARTS(played, stream, ...)                            \
    assert_starts((played), (stream), (const int64_t[]){__VA_ARGS__}, \
                  sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void seed_000_queues_take_turns_by_their_flow(void **state)
{
    struct played played;

    (void)state;
    play_example(&played, "000-flow");
    ASSERT_STARTS(&played, "a", 0, 1200, -1, -1);
    ASSERT_STARTS(&played, "b", 600, 1800, -1, -1);
    played_fini(&played);
}

static void seed_000_backfill_never_delays_the_head(void **state)
{
    struct played played;

    (void)state;
    play_example(&played, "000-backfill");
    ASSERT_STARTS(&played, "short", 0);
    ASSERT_STARTS(&played, "long", 0);
    ASSERT_STARTS(&played, "head", 89);
    assert_int_equal(played.result.preemption_count, 0);
    played_fini(&played);
}

static void seed_001_one_application_starts_at_a_time(void **state)
{
    struct played played;

    (void)state;
    play_example(&played, "001-stateaware");
    ASSERT_STARTS(&played, "driver-1", 0);
    ASSERT_STARTS(&played, "executors-1", 10, 10);
    ASSERT_STARTS(&played, "driver-2", 10);
    ASSERT_STARTS(&played, "executors-2", 20);
    played_fini(&played);
}

static void seed_002_a_training_job_grows_when_it_may(void **state)
{
    struct played played;

    (void)state;
    play_example(&played, "002-training-job");
    /* Master, etcd, two parameter servers, then the trainers: two of them its
     * minimum, four that fit beside the other job, four when that has ended:
     * what came with its start is no scaling, so that no window is to wait
     * for. */
    ASSERT_STARTS(&played, "ctr-7", 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 100, 100, 100,
                  100);
    assert_int_equal(played.result.succeeded_count, 1 + 10);
    assert_int_equal(played.result.cancelled_count, 4);
    assert_int_equal(played.result.preemption_count, 0);
    played_fini(&played);
}

static void seed_004_jobs_borrow_and_go_home(void **state)
{
    struct played played;

    (void)state;
    play_example(&played, "004-pools");
    /* Four at home, six in the other pool until its own work comes. */
    ASSERT_STARTS(&played, "test-job-cpu", 0, 0, 0, 0, 1, 1, 1, 1, 1, 1);
    ASSERT_STARTS(&played, "train", 30, 30);
    assert_int_equal(played.result.preemption_count, 6);
    assert_int_equal(played.result.succeeded_count, 12);
    for (uint32_t i = 0; i < 10; i++) {
        const struct world_job *job = &played.world->jobs.items[i];
        assert_int_equal(job->start_count, i < 4 ? 1 : 2);
        /* Home is free again at 60 s, the other pool at 90 s. */
        int64_t end_s = i < 4 ? 60 : i < 8 ? 120 : 150;
        assert_int_equal(job->ended_ms / 1000, end_s);
    }
    played_fini(&played);
}

static void seed_004_a_large_job_fills_what_others_leave(void **state)
{
    struct played played;
    uint32_t at_once_count = 0, lent_count = 0, again_count = 0;

    (void)state;
    play_example(&played, "004-priority");
    ASSERT_STARTS(&played, "train", 90);
    assert_int_equal(played.result.succeeded_count, 130 + 1);
    assert_int_equal(played.result.preemption_count, 8);
    for (size_t i = 0; i < played.world->jobs.count; i++) {
        const struct world_job *job = &played.world->jobs.items[i];
        at_once_count += job->started_ms / 1000 == 0;
        lent_count += job->started_ms / 1000 == 1;
        again_count += job->start_count == 2;
        assert_true(job->start_count == 1 || job->start_count == 2);
    }
    /* Home is filled first; the next round hands out the others. */
    assert_int_equal(at_once_count, 4);
    assert_int_equal(lent_count, 16);
    assert_int_equal(again_count, 8);
    played_fini(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seed_000_queues_take_turns_by_their_flow),
        cmocka_unit_test(seed_000_backfill_never_delays_the_head),
        cmocka_unit_test(seed_001_one_application_starts_at_a_time),
        cmocka_unit_test(seed_002_a_training_job_grows_when_it_may),
        cmocka_unit_test(seed_004_jobs_borrow_and_go_home),
        cmocka_unit_test(seed_004_a_large_job_fills_what_others_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
