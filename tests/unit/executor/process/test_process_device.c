/*
 * process: GPUs by their device files, and resources that are only counted.
 */
#include <fcntl.h>
#include <stdio.h>

#include "executor/port/node_set.h"
#include "field.h"
#include "process_fixture.h"
#include "unit.h"

/* A runtime anew, beside whose data are device files of three GPUs. */
static void open_with_devices(struct fixture *fixture)
{
    static const char *const names[] = {"nvidia10",   "nvidia0",    "nvidia2",
                                        "nvidia",     "nvidiactl",  "nvidia1x",
                                        "nvidia-uvm", "nvidia-caps"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char path[256];
        snprintf(path, sizeof(path), "%.200s/%s", fixture->dir, names[i]);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    runtime_close(fixture->runtime);
    fixture->options.device_dir = fixture->dir;
    fixture_open(fixture);
}

static int64_t offered(struct fixture *fixture, const char *name)
{
    uint32_t count;
    const struct node_record *node =
        node_set_all(fixture->runtime->ops->nodes(fixture->runtime), &count);

    return resource_list_get(&node->total, str_of(name));
}

/* A job that asks for that many and tells which it has. */
static void make_gpu_job(struct job *job, int number, const char *count,
                         bool goes_on)
{
    job_make(job, number,
             ARGS("sh", "-c",
                  goes_on ? "echo $CUDA_VISIBLE_DEVICES > own; mv own up; "
                            "sleep 600"
                          : "echo \"<$CUDA_VISIBLE_DEVICES>\""));
    if (count) {
        job_limit(job, job->pod->containers[0], "nvidia.com/gpu", count);
    }
}

/* Create a pod that goes on, and wait until it runs. */
static void begin(struct fixture *fixture, struct job *job, int number,
                  const char *count, const char *devices)
{
    make_gpu_job(job, number, count, true);
    fixture_create(fixture, job);
    fixture_wait_file(fixture, job, "up");
    auto_mem char *told = fixture_work_file(fixture, job, "up");
    assert_string_equal(told, devices);
}

/* Whether such a pod finds enough GPUs now; it is not kept. */
static enum runtime_change_kind try_to_begin(struct fixture *fixture,
                                             int number, const char *count)
{
    struct err err = {""};
    struct job job;

    make_gpu_job(&job, number, count, true);
    enum runtime_change_kind kind = fixture_try(fixture, &job, &err);
    job_free(&job);
    return kind;
}

static void each_gpu_is_given_to_one_pod(void **state)
{
    struct fixture *fixture = *state;
    struct job first, second;

    open_with_devices(fixture);
    assert_int_equal(offered(fixture, "nvidia.com/gpu"), 3000);
    begin(fixture, &first, 70, "2", "0,2\n");
    assert_int_equal(try_to_begin(fixture, 71, "2"), RUNTIME_RETURNED);
    /* A later executor knows who has which. */
    runtime_close(fixture->runtime);
    fixture_open(fixture);
    begin(fixture, &second, 72, "1", "10\n");
    assert_int_equal(try_to_begin(fixture, 73, "1"), RUNTIME_RETURNED);
    /* What has ended has none. */
    fixture->runtime->ops->stop(fixture->runtime, first.run.run, 0);
    (void)fixture_wait_end(fixture, &first);
    job_free(&first);
    begin(fixture, &first, 74, "1", "0\n");
    fixture->runtime->ops->stop(fixture->runtime, first.run.run, 0);
    (void)fixture_wait_end(fixture, &first);
    fixture->runtime->ops->stop(fixture->runtime, second.run.run, 0);
    (void)fixture_wait_end(fixture, &second);
    job_free(&first);
    job_free(&second);
}

static void a_pod_that_asks_for_none_sees_none(void **state)
{
    struct fixture *fixture = *state;
    struct job job;

    open_with_devices(fixture);
    make_gpu_job(&job, 75, NULL, false);
    (void)job_env(&job, job.pod->containers[0], "CUDA_VISIBLE_DEVICES", "0");
    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);
    auto_mem char *log = fixture_log(fixture, &job, "");
    assert_string_equal(log, "<>\n");
    job_free(&job);
}

static void containers_of_a_pod_have_different_ones(void **state)
{
    struct fixture *fixture = *state;
    struct job job;

    open_with_devices(fixture);
    make_gpu_job(&job, 76, "1", false);
    K8s__Io__Api__Core__V1__Container *init = job_container(
        &job, true, ARGS("sh", "-c", "echo $CUDA_VISIBLE_DEVICES"));
    K8s__Io__Api__Core__V1__Container *other = job_container(
        &job, false, ARGS("sh", "-c", "echo $CUDA_VISIBLE_DEVICES"));
    other->name = field("other");
    job_limit(&job, init, "nvidia.com/gpu", "3");
    job_limit(&job, other, "nvidia.com/gpu", "2");
    fixture_create(fixture, &job);
    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);
    auto_mem char *of_init = fixture_log(fixture, &job, init->name);
    auto_mem char *of_main =
        fixture_log(fixture, &job, job.pod->containers[0]->name);
    auto_mem char *of_other = fixture_log(fixture, &job, other->name);
    assert_string_equal(of_init, "0,2,10\n");
    assert_string_equal(of_main, "<0>\n");
    assert_string_equal(of_other, "2,10\n");
    job_free(&job);
}

static void any_resource_is_offered(void **state)
{
    struct fixture *fixture = *state;
    struct resource_amount amounts[] = {{STR("a.com/licence"), 5000},
                                        {STR("nvidia.com/gpu"), 2000}};
    struct err text;
    struct job job;

    runtime_close(fixture->runtime);
    fixture->options.others = (struct resource_list){amounts, 2};
    fixture_open(fixture);
    assert_int_equal(offered(fixture, "a.com/licence"), 5000);
    assert_int_equal(offered(fixture, "nvidia.com/gpu"), 2000);
    assert_int_equal(offered(fixture, "ephemeral-storage"),
                     PROCESS_STORAGE_BYTES * 1000);
    assert_false(process_has_devices(fixture->runtime));
    /* There is none to give, which is said. */
    make_gpu_job(&job, 77, "1", false);
    assert_int_equal(fixture_try(fixture, &job, &text), RUNTIME_CREATED);
    assert_non_null(strstr(text.text, "nvidia.com/gpu: this machine has none"));
    (void)fixture_wait_end(fixture, &job);
    job_free(&job);
    /* More than there are cannot be offered. */
    amounts[1].milli = 9000;
    open_with_devices(fixture);
    assert_int_equal(offered(fixture, "nvidia.com/gpu"), 3000);
    assert_true(process_has_devices(fixture->runtime));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(each_gpu_is_given_to_one_pod),
        PROCESS_TEST(a_pod_that_asks_for_none_sees_none),
        PROCESS_TEST(containers_of_a_pod_have_different_ones),
        PROCESS_TEST(any_resource_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
