/*
 * fake: made-up nodes and pods.  What is drawn depends on seed and run alone.
 */
#include "executor/fake/fake.h"
#include "executor/port/node_set.h"
#include "server.h"
#include "support.h"
#include "unit.h"

enum { RUNS = 1000 };

/* The same in each process, since what is drawn depends on it. */
static void set_id(struct job *job, int number)
{
    const uint8_t random[10] = {(uint8_t)(number >> 8), (uint8_t)number};

    job->run.job = job_id_make(1700000000000, random);
    job->run.run = run_id_make(job->run.job, 0);
    job->run.node_name = STR("");
}

/* Create runs in the given order and note when each ended, and how. */
static void play(const struct fake_options *options, bool is_reversed,
                 int64_t *ret_ms, enum reconcile_phase *ret_phases)
{
    struct test_clock clock;
    struct runtime *runtime;
    struct err err;
    struct job *jobs = mem_alloc_array(RUNS, sizeof(*jobs));
    int ended = 0;

    test_clock_init(&clock);
    assert_int_equal(fake_open(options, &clock.clock, &runtime, &err), 0);
    for (int n = 0; n < RUNS; n++) {
        int i = is_reversed ? RUNS - 1 - n : n;
        job_make(&jobs[i], i, NULL);
        set_id(&jobs[i], i);
        runtime->ops->create(runtime, &jobs[i].run);
    }
    while (ended < RUNS) {
        struct runtime_change change;
        while (runtime->ops->poll(runtime, &change, 1) == 1) {
            for (int i = 0; reconcile_is_ended(change.phase) && i < RUNS; i++) {
                if (key128_compare(jobs[i].run.run.v, change.run.v) == 0) {
                    ret_ms[i] = clock.now_ms - 1000000;
                    ret_phases[i] = change.phase;
                    ended++;
                }
            }
        }
        clock.now_ms = ended < RUNS ? runtime->ops->next_wake_ms(runtime) : 0;
    }
    runtime_close(runtime);
    for (int i = 0; i < RUNS; i++) {
        job_free(&jobs[i]);
    }
    mem_free(jobs);
}

static void what_happens_depends_on_seed_and_run_alone(void **state)
{
    (void)state;
    static int64_t first_ms[RUNS], second_ms[RUNS];
    static enum reconcile_phase first[RUNS], second[RUNS];
    struct fake_options options;
    fake_options_default(&options);
    options.distribution = FAKE_EXPONENTIAL;
    options.run_a_ms = 1000;
    options.failure_ppm = 100000;

    play(&options, false, first_ms, first);
    play(&options, true, second_ms, second);
    assert_memory_equal(first_ms, second_ms, sizeof(first_ms));
    assert_memory_equal(first, second, sizeof(first));
    options.seed++;
    play(&options, false, second_ms, second);
    assert_memory_not_equal(first_ms, second_ms, sizeof(first_ms));
}

static void run_times_and_failures_are_spread_as_asked(void **state)
{
    (void)state;
    static int64_t ms[RUNS];
    static enum reconcile_phase phases[RUNS];
    struct fake_options options;
    int64_t sum = 0;
    int failed = 0;
    fake_options_default(&options);
    options.distribution = FAKE_EXPONENTIAL;
    options.run_a_ms = 1000;
    options.start_delay_ms = 100;
    options.failure_ppm = 100000;

    play(&options, false, ms, phases);
    for (int i = 0; i < RUNS; i++) {
        assert_true(ms[i] >= 100);
        sum += ms[i] - 100;
        failed += phases[i] == RECONCILE_FAILED;
    }
    assert_in_range((uint64_t)(sum / RUNS), 900, 1100);
    assert_in_range((uint64_t)failed, 70, 130);

    options.distribution = FAKE_UNIFORM;
    options.run_b_ms = 2000;
    play(&options, false, ms, phases);
    for (int i = 0; i < RUNS; i++) {
        assert_in_range((uint64_t)ms[i], 1100, 2100);
    }
}

/* Take all changes: how many, and the last one. */
static uint32_t poll_all(struct runtime *runtime,
                         struct runtime_change *ret_last)
{
    uint32_t count = 0;

    while (runtime->ops->poll(runtime, ret_last, 1) == 1) {
        count++;
    }
    return count;
}

static void annotations_decide_where_they_are(void **state)
{
    (void)state;
    struct test_clock clock;
    struct fake_options options;
    struct runtime *runtime;
    struct runtime_change change;
    struct runtime_status status;
    struct job job;
    struct err err;
    test_clock_init(&clock);
    fake_options_default(&options);
    assert_int_equal(fake_open(&options, &clock.clock, &runtime, &err), 0);
    job_make(&job, 1, NULL);
    job_annotate(&job, "berth.dev/fakeRunMs", "7");
    job_annotate(&job, "berth.dev/fakeExitCode", "3");
    job.run.node_name = STR("fake-node-0");

    runtime->ops->create(runtime, &job.run);
    assert_int_equal(poll_all(runtime, &change), 3);
    assert_int_equal(change.phase, RECONCILE_RUNNING);
    clock.now_ms += 6;
    assert_int_equal(runtime->ops->poll(runtime, &change, 1), 0);
    clock.now_ms += 1;
    assert_int_equal(runtime->ops->poll(runtime, &change, 1), 1);

    assert_int_equal(change.phase, RECONCILE_FAILED);
    assert_true(
        runtime->ops->status(runtime, job.run.run, &job.arena, &status));
    assert_int_equal(status.ended[0].exit_code, 3);
    runtime_close(runtime);
    job_free(&job);
}

static void services_are_not_left_out_in_silence(void **state)
{
    (void)state;
    struct test_clock clock;
    struct fake_options options;
    struct runtime *runtime;
    struct runtime_change changes[2];
    struct job job;
    struct err err;
    test_clock_init(&clock);
    fake_options_default(&options);
    assert_int_equal(fake_open(&options, &clock.clock, &runtime, &err), 0);
    job_make(&job, 1, NULL);
    job_service(&job, "service");
    job.run.node_name = STR("fake-node-0");

    runtime->ops->create(runtime, &job.run);
    assert_int_equal(runtime->ops->poll(runtime, changes, 2), 2);

    assert_int_equal(changes[1].kind, RUNTIME_CREATED);
    assert_true(str_equal(changes[1].text,
                          STR("services and ingresses are not created\n")));
    runtime_close(runtime);
    job_free(&job);
}

static void a_pod_that_runs_for_ever_never_ends(void **state)
{
    (void)state;
    struct test_clock clock;
    struct fake_options options;
    struct runtime *runtime;
    struct runtime_change change;
    struct job job;
    struct err err;
    test_clock_init(&clock);
    fake_options_default(&options);
    assert_int_equal(fake_open(&options, &clock.clock, &runtime, &err), 0);
    job_make(&job, 1, NULL);
    job_annotate(&job, "berth.dev/fakeRunMs", "9223372036854775807");
    job.run.node_name = STR("fake-node-0");

    runtime->ops->create(runtime, &job.run);
    (void)poll_all(runtime, &change);
    clock.now_ms += INT64_C(1) << 40;
    assert_int_equal(poll_all(runtime, &change), 0);
    assert_int_equal(change.phase, RECONCILE_RUNNING);
    assert_int_equal(runtime->ops->next_wake_ms(runtime), INT64_MAX);
    runtime_close(runtime);
    job_free(&job);
}

static void nodes_are_named_and_labelled(void **state)
{
    (void)state;
    struct test_clock clock;
    struct fake_options options;
    struct runtime *runtime;
    struct err err;
    uint32_t count;
    struct label labels[] = {{STR("a"), STR("1")}, {STR("zone"), STR("z")}};
    struct fake_group group = {.name = STR("big"), .count = 3};
    group.node.labels = labels;
    group.node.label_count = 2;
    test_clock_init(&clock);
    fake_options_default(&options);
    options.groups = &group;
    assert_int_equal(fake_open(&options, &clock.clock, &runtime, &err), 0);

    const struct node_record *nodes =
        node_set_all(runtime->ops->nodes(runtime), &count);

    assert_int_equal(count, 3);
    assert_true(str_equal(nodes[2].name, STR("fake-big-2")));
    assert_int_equal(nodes[2].label_count, 3);
    assert_true(str_equal(nodes[2].labels[1].value, nodes[2].name));
    runtime_close(runtime);
    options.groups = &(struct fake_group){.count = FAKE_NODES_MAX + 1};
    assert_int_equal(fake_open(&options, &clock.clock, &runtime, &err),
                     -ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_happens_depends_on_seed_and_run_alone),
        TEST(run_times_and_failures_are_spread_as_asked),
        TEST(annotations_decide_where_they_are),
        TEST(services_are_not_left_out_in_silence),
        TEST(a_pod_that_runs_for_ever_never_ends),
        TEST(nodes_are_named_and_labelled),
    };
    return RUN_TESTS(tests);
}
