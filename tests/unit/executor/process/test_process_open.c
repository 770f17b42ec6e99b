/*
 * process: what a crash leaves, and what the next start makes of it.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "executor/files/run_file.h"
#include "executor/process/process.h"
#include "process_fixture.h"
#include "unit.h"

/* Crashes. */

static struct runtime_pod listed;

static void note_pod(void *ctx, const struct runtime_pod *pod)
{
    (*(int *)ctx)++;
    listed = *pod;
}

/* As after a kill: nothing is said to anybody, and opened again. */
static int reopen(struct fixture *fixture)
{
    int count = 0;

    runtime_close(fixture->runtime);
    fixture_open(fixture);
    fixture->runtime->ops->list(fixture->runtime, note_pod, &count);
    return count;
}

static void a_restart_takes_up_what_runs(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 60, ARGS("sh", "-c", "while :; do sleep 0.01; done"));

    fixture_create(fixture, &job);
    (void)fixture_wait(fixture, job.run.run, reconcile_rank(RECONCILE_RUNNING));
    int count = reopen(fixture);

    assert_int_equal(count, 1);
    assert_int_equal(listed.phase, RECONCILE_RUNNING);
    assert_int_equal(key128_compare(listed.job.v, job.run.job.v), 0);
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, 0);
    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_FAILED);
    assert_int_equal(fixture_status(fixture, &job).cause,
                     RUNTIME_CAUSE_STOPPED);
    job_free(&job);
}

static void an_end_while_nobody_looked_is_not_lost(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char path[512], id[ID_TEXT_BYTES_MAX];
    job_make(&job, 61, ARGS("sh", "-c", "exit 9"));

    fixture_create(fixture, &job);
    fixture->runtime->ops->ack(fixture->runtime, job.run.run,
                               RECONCILE_PENDING);
    runtime_close(fixture->runtime);
    /* The shim goes on alone: wait for its last word. */
    snprintf(path, sizeof(path), "%s/runs/%s", fixture->dir,
             run_id_format(job.run.run, id));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    enum run_phase phase = RUN_PENDING;
    while (phase != RUN_FAILED) {
        struct run_state run_state;
        struct err err;
        assert_true(machine_ms() < until_ms);
        (void)poll(NULL, 0, 5);
        if (run_state_read(fd, &run_state, &err) == 0) {
            phase = run_state.phase;
            run_state_fini(&run_state);
        }
    }
    close(fd);
    fixture_open(fixture);
    int count = 0;
    fixture->runtime->ops->list(fixture->runtime, note_pod, &count);

    assert_int_equal(count, 1);
    assert_int_equal(listed.phase, RECONCILE_FAILED);
    assert_int_equal(listed.acked, RECONCILE_PENDING);
    assert_int_equal(fixture_status(fixture, &job).ended[0].exit_code, 9);
    job_free(&job);
}

static int64_t shim_pid(struct fixture *fixture, struct job *job)
{
    char path[512], id[ID_TEXT_BYTES_MAX];
    struct run_state run_state;
    struct err err;

    snprintf(path, sizeof(path), "%s/runs/%s", fixture->dir,
             run_id_format(job->run.run, id));
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(run_state_read(fd, &run_state, &err), 0);
    int64_t pid = run_state.pid;
    run_state_fini(&run_state);
    close(fd);
    return pid;
}

/* Whether the executor can find what a killed shim leaves: by the control
 * group, the namespace, or the environments (docs/security.md). */
static bool can_find_leftovers(const struct fixture *fixture,
                               const struct job *job)
{
    return !fixture->options.has_no_cgroups ||
           strstr(fixture->info.text, "pods have namespaces: ") != NULL ||
           fixture_sees_processes(job);
}

static void a_killed_shim_is_a_failure_and_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 62,
             ARGS("sh", "-c",
                  "(setsid sh -c 'echo $$$$ > inner; exec sleep 1000' &) ; "
                  "while [ ! -s inner ]; do sleep 0.01; done; "
                  "touch up; exec sleep 1000"));

    fixture_create(fixture, &job);
    fixture_wait_file(fixture, &job, "up");
    assert_true(fixture_process_count(&job) >= 2);
    if (!can_find_leftovers(fixture, &job)) {
        fixture->runtime->ops->stop(fixture->runtime, job.run.run, 0);
        (void)fixture_wait_end(fixture, &job);
        job_free(&job);
        print_message("skipped: root may not look at other users' processes\n");
        skip();
    }
    kill((pid_t)shim_pid(fixture, &job), SIGKILL);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(fixture_status(fixture, &job).cause, RUNTIME_CAUSE_LOST);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    while (fixture_process_count(&job) > 0) {
        assert_true(machine_ms() < until_ms);
        (void)poll(NULL, 0, 5);
    }
    job_free(&job);
}

/* A process without any environment, which is nobody's. */
static pid_t start_bare(void)
{
    char *argv[] = {(char[]){"sleep"}, (char[]){"60"}, NULL};
    char *none[] = {NULL};
    pid_t pid = fork();

    if (pid == 0) {
        execve("/bin/sleep", argv, none);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static void without_cgroups_a_killed_shim_leaves_nothing_either(void **state)
{
    struct fixture *fixture = *state;
    pid_t bare = start_bare();
    int status;

    runtime_close(fixture->runtime);
    fixture->options.has_no_cgroups = true;
    fixture_open(fixture);
    a_killed_shim_is_a_failure_and_leaves_nothing(state);
    kill(bare, SIGTERM);
    assert_int_equal(waitpid(bare, &status, 0), bare);
    assert_true(WIFSIGNALED(status)); /* it went on until here */
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void a_run_without_a_spec_never_started_and_may(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char path[512], id[ID_TEXT_BYTES_MAX];
    job_make(&job, 63, ARGS("true"));
    snprintf(path, sizeof(path), "%s/runs/%s", fixture->dir,
             run_id_format(job.run.run, id));
    assert_int_equal(mkdir(path, 0711), 0);

    int count = reopen(fixture);

    assert_int_equal(count, 0);
    fixture_create(fixture, &job);
    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);
    job_free(&job);
}

static void note_forgotten(void *ctx, const struct runtime_pod *pod)
{
    struct run_id *runs = ctx;

    if (pod->phase == RECONCILE_FORGOTTEN) {
        runs[runs[0].v.lo != 0 ? 1 : 0] = pod->run;
    }
}

/* Half a line, as a full disk leaves it, takes no other with it. */
static void a_torn_line_of_what_is_forgotten_hides_no_other(void **state)
{
    struct fixture *fixture = *state;
    struct run_id runs[2] = {{{0, 0}}, {{0, 0}}};
    struct job one, other;
    char path[512], id[ID_TEXT_BYTES_MAX];
    job_make(&one, 65, ARGS("true"));
    job_make(&other, 66, ARGS("true"));

    runtime_close(fixture->runtime);
    snprintf(path, sizeof(path), "%s/forgotten", fixture->dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "%s\n", run_id_format(one.run.run, id));
    fprintf(file, "%.20s", id);
    fprintf(file, "%s\n", run_id_format(other.run.run, id));
    assert_int_equal(fclose(file), 0);
    fixture_open(fixture);
    fixture->runtime->ops->list(fixture->runtime, note_forgotten, runs);

    assert_int_equal(key128_compare(runs[0].v, one.run.run.v), 0);
    assert_int_equal(key128_compare(runs[1].v, other.run.run.v), 0);
    job_free(&one);
    job_free(&other);
}

/* Flip a bit in the middle of a file of the run, or lose the file. */
static void damage(const struct fixture *fixture, const struct job *job,
                   const char *name, bool is_lost)
{
    char path[512], id[ID_TEXT_BYTES_MAX], byte;

    snprintf(path, sizeof(path), "%s/runs/%s/%s", fixture->dir,
             run_id_format(job->run.run, id), name);
    if (is_lost) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    int fd = open(path, O_RDWR | O_CLOEXEC);
    off_t at = lseek(fd, 0, SEEK_END) / 2;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void
what_runs_by_a_damaged_spec_ends_and_never_starts_again(void **state)
{
    struct fixture *fixture = *state;

    for (int is_lost = 0; is_lost < 2; is_lost++) {
        struct job job;
        struct err text;
        job_make(&job, 70 + is_lost,
                 ARGS("sh", "-c", "touch up; exec sleep 1000"));
        fixture_create(fixture, &job);
        fixture_wait_file(fixture, &job, "up");
        damage(fixture, &job, RUN_SPEC_NAME, is_lost);
        assert_int_equal(reopen(fixture), 0);
        int64_t until_ms = machine_ms() + WAIT_MS_MAX;
        while (fixture_process_count(&job) > 0) {
            assert_true(machine_ms() < until_ms);
            (void)poll(NULL, 0, 5);
        }
        assert_int_equal(fixture_try(fixture, &job, &text), RUNTIME_KNOWN);
        job_free(&job);
    }
}

static void a_run_whose_state_is_damaged_is_lost(void **state)
{
    struct fixture *fixture = *state;

    for (int is_lost = 0; is_lost < 2; is_lost++) {
        struct job job;
        job_make(&job, 72 + is_lost, ARGS("false"));
        fixture_create(fixture, &job);
        assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_FAILED);
        assert_int_equal(fixture_status(fixture, &job).cause,
                         RUNTIME_CAUSE_ERROR);
        damage(fixture, &job, RUN_STATE_NAME, is_lost);
        (void)reopen(fixture);
        assert_int_equal(fixture_status(fixture, &job).cause,
                         RUNTIME_CAUSE_LOST);
        job_free(&job);
    }
}

/* A report that the server has not acknowledged would not come again. */
static void a_damaged_acknowledgement_is_none(void **state)
{
    struct fixture *fixture = *state;
    struct job job;

    job_make(&job, 74, ARGS("true"));
    fixture_create(fixture, &job);
    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);
    fixture->runtime->ops->ack(fixture->runtime, job.run.run,
                               RECONCILE_RUNNING);
    (void)reopen(fixture);
    assert_int_equal(listed.acked, RECONCILE_RUNNING);
    damage(fixture, &job, RUN_ACKED_NAME, false);
    (void)reopen(fixture);
    assert_int_equal(listed.acked, RECONCILE_NEVER);
    job_free(&job);
}

/* In a process of its own: open the runtime, and crash over the job. */
static void crash_over(struct fixture *fixture, struct job *job)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct rlimit no_core = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(SIGSEGV, SIG_DFL);
        fixture_open(fixture);
        job->pod->containers[0]->n_env = 1;
        job->pod->containers[0]->env = (void *)(uintptr_t)8;
        fixture_create(fixture, job);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
}

static void what_ended_the_executor_twice_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct job job, other;
    job_make(&job, 66, ARGS("true"));
    job_make(&other, 67, ARGS("true"));
    runtime_close(fixture->runtime);

    crash_over(fixture, &job);
    crash_over(fixture, &job);
    fixture_open(fixture);
    struct err err = fixture_refuse(fixture, &job);

    assert_non_null(strstr(err.text, "crashed the executor 2 times"));
    fixture_create(fixture, &other);
    assert_int_equal(fixture_wait_end(fixture, &other), RECONCILE_SUCCEEDED);
    job_free(&other);
    job_free(&job);
}

static void an_executor_that_is_not_root_says_what_its_jobs_can_do(void **state)
{
    const struct fixture *fixture = *state;
    bool is_said =
        strstr(fixture->info.text, "jobs can change the data directory") != 0;
    bool is_hidden = strstr(fixture->info.text, "volumes are mounted") != 0 ||
                     strstr(fixture->info.text, "Landlock keeps jobs") != 0;

    assert_int_equal(is_said, geteuid() != 0 && !is_hidden);
}

static void a_data_directory_has_one_executor(void **state)
{
    struct fixture *fixture = *state;
    struct process_options options = fixture->options;
    struct runtime *second;
    struct err info, err;

    options.lock_wait_ms = 100;
    int rc = process_open(&options, &machine_clock, &second, &info, &err);

    assert_int_equal(rc, -ERR_CONFLICT);
}

/* Let the runtime work until a path is gone. */
static void wait_gone(struct fixture *fixture, const char *path)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;

    while (access(path, F_OK) == 0) {
        struct runtime_change change;
        assert_true(machine_ms() < until_ms);
        (void)fixture->runtime->ops->poll(fixture->runtime, &change, 1);
        (void)poll(NULL, 0, 5);
    }
}

static void what_is_forgotten_is_removed_in_time(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char path[512], id[ID_TEXT_BYTES_MAX];
    job_make(&job, 64, ARGS("true"));

    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);
    fixture->runtime->ops->forget(fixture->runtime, job.run.run);
    snprintf(path, sizeof(path), "%s/runs/%s", fixture->dir,
             run_id_format(job.run.run, id));
    assert_int_equal(access(path, F_OK), 0); /* kept for its logs */
    runtime_close(fixture->runtime);
    fixture->options.keep_ms = 1;
    fixture_open(fixture);
    wait_gone(fixture, path);
    int count = reopen(fixture);

    assert_int_equal(count, 1);
    assert_int_equal(listed.phase, RECONCILE_FORGOTTEN);
    job_free(&job);
}

/* Also when it is opened anew, and not a second time. */
static void folders_go_before_logs(void **state)
{
    struct fixture *fixture = *state;
    char space[PATH_MAX], real[PATH_MAX], log[PATH_MAX];
    char id[ID_TEXT_BYTES_MAX];
    struct job job;
    job_make(&job, 65, ARGS("sh", "-c", "echo hello; echo more >file"));

    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);
    (void)run_id_format(job.run.run, id);
    snprintf(space, sizeof(space), "%s/runs/%s/space", fixture->dir, id);
    snprintf(log, sizeof(log), "%s/runs/%s/log/0", fixture->dir, id);
    assert_non_null(realpath(space, real));
    fixture->runtime->ops->forget(fixture->runtime, job.run.run);
    for (int i = 0; i < 2; i++) {
        runtime_close(fixture->runtime);
        fixture->options.folder_ms = 0;
        fixture_open(fixture);
        wait_gone(fixture, real);
        assert_int_equal(access(log, F_OK), 0);
    }
    struct stat st;
    assert_int_equal(lstat(space, &st), -1);
    job_free(&job);
}

static void the_oldest_logs_go_when_there_are_too_many(void **state)
{
    enum { JOBS = 3 };
    struct fixture *fixture = *state;
    char logs[JOBS][PATH_MAX], id[ID_TEXT_BYTES_MAX];
    struct job jobs[JOBS];

    for (int i = 0; i < JOBS; i++) {
        job_make(&jobs[i], 66 + i,
                 ARGS("sh", "-c", "head -c 20000 /dev/zero | tr '\\0' 'a'"));
        fixture_create(fixture, &jobs[i]);
        (void)fixture_wait_end(fixture, &jobs[i]);
        fixture->runtime->ops->forget(fixture->runtime, jobs[i].run.run);
        snprintf(logs[i], sizeof(logs[i]), "%s/runs/%s/log/0", fixture->dir,
                 run_id_format(jobs[i].run.run, id));
        assert_int_equal(access(logs[i], F_OK), 0);
    }
    /* Room for two of them: each takes 20,000 bytes and a little. */
    runtime_close(fixture->runtime);
    fixture->options.keep_byte_count_max = 60000;
    fixture_open(fixture);
    wait_gone(fixture, logs[0]);
    assert_int_equal(access(logs[1], F_OK), 0);
    assert_int_equal(access(logs[2], F_OK), 0);
    runtime_close(fixture->runtime);
    fixture->options.keep_count_max = 1;
    fixture_open(fixture);
    wait_gone(fixture, logs[1]);
    assert_int_equal(access(logs[2], F_OK), 0);
    for (int i = 0; i < JOBS; i++) {
        job_free(&jobs[i]);
    }
}

/* Whatever the order in which runs are found: those that are done do not take
 * the directory with them while another member runs. */
static void a_gang_that_runs_keeps_its_directory(void **state)
{
    enum { MEMBERS = 6 };
    struct fixture *fixture = *state;
    struct job jobs[MEMBERS];
    char path[512], id[ID_TEXT_BYTES_MAX];

    for (int i = 0; i < MEMBERS; i++) {
        job_make(&jobs[i], 70 + i,
                 i > 0 ? ARGS("true")
                       : ARGS("sh", "-c",
                              "until [ -e go ]; do sleep 0.01; done; "
                              "[ -d $BERTH_GANG_DIR ]"));
        job_annotate(&jobs[i], "armadaproject.io/gangId", "g");
        job_annotate(&jobs[i], "armadaproject.io/gangCardinality", "6");
        fixture_create(fixture, &jobs[i]);
        if (i > 0) {
            (void)fixture_wait_end(fixture, &jobs[i]);
            fixture->runtime->ops->forget(fixture->runtime, jobs[i].run.run);
        }
    }
    (void)reopen(fixture);
    snprintf(path, sizeof(path), "%s/runs/%s/space/work/go", fixture->dir,
             run_id_format(jobs[0].run.run, id));
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(fixture_wait_end(fixture, &jobs[0]), RECONCILE_SUCCEEDED);
    for (int i = 0; i < MEMBERS; i++) {
        job_free(&jobs[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(a_restart_takes_up_what_runs),
        PROCESS_TEST(an_end_while_nobody_looked_is_not_lost),
        PROCESS_TEST(a_killed_shim_is_a_failure_and_leaves_nothing),
        PROCESS_TEST(without_cgroups_a_killed_shim_leaves_nothing_either),
        PROCESS_TEST(a_run_without_a_spec_never_started_and_may),
        PROCESS_TEST(what_runs_by_a_damaged_spec_ends_and_never_starts_again),
        PROCESS_TEST(a_run_whose_state_is_damaged_is_lost),
        PROCESS_TEST(a_damaged_acknowledgement_is_none),
        PROCESS_TEST(what_ended_the_executor_twice_is_refused),
        PROCESS_TEST(a_torn_line_of_what_is_forgotten_hides_no_other),
        PROCESS_TEST(an_executor_that_is_not_root_says_what_its_jobs_can_do),
        PROCESS_TEST(a_data_directory_has_one_executor),
        PROCESS_TEST(what_is_forgotten_is_removed_in_time),
        PROCESS_TEST(folders_go_before_logs),
        PROCESS_TEST(the_oldest_logs_go_when_there_are_too_many),
        PROCESS_TEST(a_gang_that_runs_keeps_its_directory),
    };
    return RUN_TESTS(tests);
}
