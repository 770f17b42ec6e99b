/*
 * helper: a runtime across two processes answers as it does in one, and a
 * helper that dies is told of.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "executor/fake/fake.h"
#include "executor/helper/helper_calls.h"
#include "executor/port/node_set.h"
#include "helper_stub.h"
#include "support.h"
#include "unit.h"

/* A fake runtime of one node in the helper. */
static int open_fake(void *ctx, struct runtime **ret_runtime,
                     struct err *ret_info, struct err *err)
{
    static struct resource_amount amounts[] = {{{"cpu", 3}, 8000}};
    static const struct label labels[] = {{{"a", 1}, {"b", 1}}};
    static const struct taint taints[] = {
        {{"gpu", 3}, {"yes", 3}, TAINT_NO_EXECUTE}};
    static const struct fake_group group = {
        .name = {"n", 1},
        .count = 1,
        .node = {.pool = {"default", 7},
                 .labels = labels,
                 .label_count = 1,
                 .taints = taints,
                 .taint_count = 1,
                 .total = {amounts, 1}},
    };
    struct fake_options options;

    if (ctx) {
        return err_set(err, -ERR_CONFLICT, "somebody has it: %s",
                       (const char *)ctx);
    }
    fake_options_default(&options);
    options.executor_id = STR("e");
    options.groups = &group;
    options.group_count = 1;
    options.distribution = FAKE_FIXED;
    options.run_a_ms = 1;
    (void)snprintf(ret_info->text, sizeof(ret_info->text), "made up");
    return fake_open(&options, &machine_clock, ret_runtime, err);
}

struct fixture {
    struct helper *helper;
    struct runtime *runtime;
    struct err info;
    int lost_count;
};

static int set_up(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof(*fixture));
    const struct helper_options options = {.open = open_fake,
                                           .lost = count_lost,
                                           .lost_ctx = &fixture->lost_count};
    struct err err = {""};

    fixture->helper = helper_start(&options, &err);
    if (!fixture->helper || helper_open(fixture->helper, &fixture->runtime,
                                        &fixture->info, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    runtime_close(fixture->runtime);
    helper_stop(fixture->helper);
    mem_free(fixture);
    return 0;
}

/* Wait for the next change. */
static struct runtime_change next_change(struct runtime *runtime)
{
    struct runtime_change change = {0};
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;

    while (runtime->ops->poll(runtime, &change, 1) == 0) {
        struct pollfd wait = {.fd = runtime->wake_fd, .events = POLLIN};
        assert_true(machine_ms() < until_ms);
        (void)poll(&wait, 1, (int)WAIT_MS_MAX);
    }
    return change;
}

static void a_pod_runs_as_in_one_process(void **state)
{
    struct fixture *fixture = *state;
    struct runtime *runtime = fixture->runtime;
    struct runtime_status status;
    struct job job;

    job_make(&job, 1, (const char *const[]){"true", NULL});
    job.run.node_name = STR("e-n-0");
    assert_int_equal(next_change(runtime).kind, RUNTIME_LISTED);
    runtime->ops->create(runtime, &job.run);
    struct runtime_change change = next_change(runtime);
    assert_int_equal(key128_compare(change.run.v, job.run.run.v), 0);
    assert_int_equal(change.kind, RUNTIME_CREATED);
    assert_int_equal(next_change(runtime).phase, RECONCILE_RUNNING);
    assert_int_equal(next_change(runtime).phase, RECONCILE_SUCCEEDED);
    assert_true(
        runtime->ops->status(runtime, job.run.run, &job.arena, &status));
    assert_true(status.ended_ms >= status.started_ms);
    runtime->ops->ack(runtime, job.run.run, RECONCILE_SUCCEEDED);
    runtime->ops->stop(runtime, job.run.run, -1);
    runtime->ops->forget(runtime, job.run.run);
    assert_int_equal(next_change(runtime).kind, RUNTIME_FORGOTTEN);
    assert_false(
        runtime->ops->status(runtime, job.run.run, &job.arena, &status));
    assert_int_equal(fixture->lost_count, 0);
    job_free(&job);
}

static void what_opening_says_arrives(void **state)
{
    struct fixture *fixture = *state;
    const struct node_record *node = node_set_find(
        fixture->runtime->ops->nodes(fixture->runtime), STR("e-n-0"));

    assert_string_equal(fixture->info.text, "made up");
    assert_non_null(node);
    assert_true(str_equal(node->pool, STR("default")));
    assert_int_equal(resource_list_get(&node->total, STR("cpu")), 8000);
    assert_true(node->label_count >= 1);
    assert_int_equal(node->taint_count, 1);
    assert_true(str_equal(node->taints[0].key, STR("gpu")));
    assert_true(str_equal(node->taints[0].value, STR("yes")));
    assert_int_equal(node->taints[0].effect, TAINT_NO_EXECUTE);
}

static void logs_that_are_not_there_are_not_found(void **state)
{
    struct fixture *fixture = *state;
    auto_strbuf text = {0};
    struct err err = {""};
    struct runtime_log_query query = {.job.v = {1, 2},
                                      .container = STR(""),
                                      .since = STR(""),
                                      .line_count_max = -1,
                                      .byte_count_max = 100};

    assert_int_equal(helper_logs(fixture->helper, &query, &text, &err),
                     -ERR_NOT_FOUND);
    assert_true(err.text[0]);
}

static void a_query_of_logs_beyond_its_bound_says_so(void **state)
{
    struct fixture *fixture = *state;
    char name[HELPER_LOGS_BYTES_MAX];
    auto_strbuf text = {0};
    struct err err = {""};
    struct runtime_log_query query = {.job.v = {1, 2},
                                      .container = str_make(name, 1009),
                                      .since = STR(""),
                                      .line_count_max = -1,
                                      .byte_count_max = 100};

    memset(name, 'c', sizeof(name));
    assert_int_equal(helper_logs(fixture->helper, &query, &text, &err),
                     -ERR_INVALID);
    assert_string_equal(err.text, "container and time are too long (together "
                                  "at most 1008 bytes)");
    query.container.byte_count = 1008;
    assert_int_equal(helper_logs(fixture->helper, &query, &text, &err),
                     -ERR_NOT_FOUND);
}

static void files_are_asked_for_in_the_same_way(void **state)
{
    struct fixture *fixture = *state;
    auto_strbuf bytes = {0};
    struct err err = {""};
    struct runtime_files_query query = {.job.v = {1, 2}, .path = STR("")};

    assert_int_equal(helper_files(fixture->helper, &query, &bytes, &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(err.text, "pods of the runtime fake have no files");
}

static void an_opening_that_fails_says_why(void **state)
{
    (void)state;
    static char who[] = "the other";
    const struct helper_options options = {
        .open = open_fake, .open_ctx = who, .lost = count_lost};
    struct runtime *runtime;
    struct err info, err;
    struct helper *helper = helper_start(&options, &err);

    assert_non_null(helper);
    assert_int_equal(helper_open(helper, &runtime, &info, &err), -ERR_CONFLICT);
    assert_string_equal(err.text, "somebody has it: the other");
    helper_stop(helper);
}

static void a_helper_that_is_killed_is_told_of_once(void **state)
{
    struct fixture *fixture = *state;
    struct runtime *runtime = fixture->runtime;
    struct pollfd wait = {.fd = runtime->wake_fd, .events = POLLIN};
    struct runtime_change change;
    struct job job;

    job_make(&job, 2, (const char *const[]){"true", NULL});
    assert_int_equal(kill(helper_pid(fixture->helper), SIGKILL), 0);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    while (fixture->lost_count == 0 && machine_ms() < until_ms) {
        (void)poll(&wait, 1, (int)WAIT_MS_MAX);
        (void)runtime->ops->poll(runtime, &change, 1);
    }
    assert_int_equal(fixture->lost_count, 1);
    runtime->ops->create(runtime, &job.run);
    runtime->ops->stop(runtime, job.run.run, 0);
    assert_int_equal(fixture->lost_count, 1);
    job_free(&job);
}

/* A runtime that has something to say at once, but not when it is opened. */
static uint32_t late_poll(struct runtime *runtime,
                          struct runtime_change *ret_changes,
                          uint32_t change_max)
{
    static int count;

    (void)runtime;
    (void)change_max;
    *ret_changes = (struct runtime_change){.kind = RUNTIME_LISTED};
    return ++count == 2;
}

static int64_t late_next_wake_ms(struct runtime *runtime)
{
    (void)runtime;
    return INT64_MIN;
}

static int open_late(void *ctx, struct runtime **ret_runtime,
                     struct err *ret_info, struct err *err)
{
    static struct runtime_ops ops;
    int rc = open_stub(ctx, ret_runtime, ret_info, err);

    ops = *(*ret_runtime)->ops;
    ops.poll = late_poll;
    ops.next_wake_ms = late_next_wake_ms;
    (*ret_runtime)->ops = &ops;
    return rc;
}

static void a_runtime_that_wants_no_pause_gets_none(void **state)
{
    (void)state;
    const struct helper_options options = {.open = open_late,
                                           .lost = count_lost};
    struct runtime *runtime;
    struct err info, err;
    struct helper *helper = helper_start(&options, &err);

    assert_non_null(helper);
    assert_int_equal(helper_open(helper, &runtime, &info, &err), 0);
    assert_int_equal(next_change(runtime).kind, RUNTIME_LISTED);
    runtime_close(runtime);
    helper_stop(helper);
}

/* A front end that is told of a pod. */
struct told {
    struct runtime *runtime;
    int count;
};

static void ask_more(void *of, const struct runtime_pod *pod)
{
    struct told *told = of;
    auto_arena arena = {0};
    struct runtime_status status;

    told->count +=
        told->runtime->ops->status(told->runtime, pod->run, &arena, &status) &&
        str_equal(pod->queue, STR("q"));
}

static void who_is_told_of_a_pod_may_ask_for_more(void **state)
{
    (void)state;
    const struct helper_options options = {.open = open_stub,
                                           .lost = count_lost};
    struct told told = {0};
    struct err info, err;
    struct helper *helper = helper_start(&options, &err);

    assert_non_null(helper);
    assert_int_equal(helper_open(helper, &told.runtime, &info, &err), 0);
    told.runtime->ops->list(told.runtime, ask_more, &told);
    assert_int_equal(told.count, 1);
    runtime_close(told.runtime);
    helper_stop(helper);
}

#define WITH_HELPER(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_HELPER(a_pod_runs_as_in_one_process),
        WITH_HELPER(what_opening_says_arrives),
        WITH_HELPER(logs_that_are_not_there_are_not_found),
        WITH_HELPER(a_query_of_logs_beyond_its_bound_says_so),
        WITH_HELPER(files_are_asked_for_in_the_same_way),
        WITH_HELPER(a_helper_that_is_killed_is_told_of_once),
        TEST(an_opening_that_fails_says_why),
        TEST(a_runtime_that_wants_no_pause_gets_none),
        TEST(who_is_told_of_a_pod_may_ask_for_more),
    };

    return RUN_TESTS(tests);
}
