/*
 * process: a full disk, and many pods at once.  The disk is a small one in
 * memory, mounted for this test alone, which takes root.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "process_fixture.h"
#include "unit.h"

enum { DISK_BYTES = 1 << 20, PODS = 200 };

/* Put a small disk under the fixture's runtime, or skip the test. */
static void use_small_disk(struct fixture *fixture)
{
    char options[64];

    runtime_close(fixture->runtime);
    fixture->runtime = NULL;
    snprintf(options, sizeof(options), "size=%d,mode=0711", DISK_BYTES);
    if (unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", fixture->dir, "tmpfs", 0, options) < 0) {
        print_message("skipped: no mounting here: %s\n", strerror(errno));
        skip();
    }
    fixture_open(fixture);
}

static int remove_small_disk(void **state)
{
    struct fixture *fixture = *state;

    runtime_close(fixture->runtime);
    fixture->runtime = NULL;
    (void)umount2(fixture->dir, MNT_DETACH);
    return fixture_tear_down(state);
}

/* Take all room that is left. */
static void fill(const struct fixture *fixture)
{
    static const char bytes[4096] = "x";
    char path[512];

    snprintf(path, sizeof(path), "%s/ballast", fixture->dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    while (write(fd, bytes, sizeof(bytes)) > 0) {
    }
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

static void make_room(const struct fixture *fixture)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/ballast", fixture->dir);
    assert_int_equal(unlink(path), 0);
}

static void without_room_a_run_is_given_back_and_may_come_again(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {""};
    struct job job;
    use_small_disk(fixture);
    job_make(&job, 70, ARGS("true"));

    fill(fixture);
    enum runtime_change_kind kind = fixture_try(fixture, &job, &err);
    make_room(fixture);

    assert_int_equal(kind, RUNTIME_RETURNED);
    fixture_create(fixture, &job);
    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);
    job_free(&job);
}

static void an_exit_code_waits_for_room(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    use_small_disk(fixture);
    job_make(&job, 71,
             ARGS("sh", "-c",
                  "touch up; while [ ! -e go ]; do sleep "
                  "0.01; done; "
                  "exit 5"));
    fixture_create(fixture, &job);
    fixture_wait_file(fixture, &job, "up");
    (void)fixture_wait(fixture, job.run.run, reconcile_rank(RECONCILE_RUNNING));

    char path[512], id[ID_TEXT_BYTES_MAX];
    snprintf(path, sizeof(path), "%s/runs/%s/space/work/go", fixture->dir,
             run_id_format(job.run.run, id));
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    close(fd);
    fill(fixture);
    /* Whether the end comes before the disk is full or after, it is kept. */
    while (fixture_process_count(&job) > 0) {
        (void)poll(NULL, 0, 5);
    }
    make_room(fixture);

    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_FAILED);
    assert_int_equal(fixture_status(fixture, &job).ended[0].exit_code, 5);
    job_free(&job);
}

static void hundreds_of_pods_at_once_are_fine(void **state)
{
    struct fixture *fixture = *state;
    struct job *jobs = mem_alloc_array(PODS, sizeof(*jobs));
    int ended_count = 0;
    int64_t began_ms = machine_ms();

    for (int i = 0; i < PODS; i++) {
        job_make(&jobs[i], 1000 + i, ARGS("true"));
        fixture_create(fixture, &jobs[i]);
    }
    int64_t created_ms = machine_ms();
    while (ended_count < PODS) {
        struct runtime_change change;
        assert_true(machine_ms() < created_ms + 3 * WAIT_MS_MAX);
        while (fixture_next(fixture, &change)) {
            if (change.kind != RUNTIME_PHASE) {
                continue;
            }
            assert_int_not_equal(change.phase, RECONCILE_FAILED);
            ended_count += change.phase == RECONCILE_SUCCEEDED;
        }
        struct pollfd fd = {fixture->runtime->wake_fd, POLLIN, 0};
        (void)poll(&fd, 1, 100);
    }
    print_message("%d pods: made in %lld ms, ended %lld ms later\n", PODS,
                  (long long)(created_ms - began_ms),
                  (long long)(machine_ms() - created_ms));
    for (int i = 0; i < PODS; i++) {
        job_free(&jobs[i]);
    }
    mem_free(jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(hundreds_of_pods_at_once_are_fine),
        cmocka_unit_test_setup_teardown(
            without_room_a_run_is_given_back_and_may_come_again, fixture_set_up,
            remove_small_disk),
        cmocka_unit_test_setup_teardown(an_exit_code_waits_for_room,
                                        fixture_set_up, remove_small_disk),
    };
    return RUN_TESTS(tests);
}
