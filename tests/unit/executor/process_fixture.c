#include "process_fixture.h"

#include <dirent.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "unit.h"

void fixture_open(struct fixture *fixture)
{
    struct err err = {""};

    int rc = process_open(&fixture->options, &machine_clock, &fixture->runtime,
                          &fixture->info, &err);
    if (rc < 0) {
        fail_msg("%s", err.text);
    }
}

int fixture_set_up(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof(*fixture));
    const char *shim = getenv("BERTH_SHIM");

    assert_non_null(shim);
    fixture->dir = make_dir();
    process_options_default(&fixture->options);
    fixture->options.data_dir = fixture->dir;
    fixture->options.shim_path = shim;
    fixture->options.rng = &machine_rng;
    fixture_open(fixture);
    *state = fixture;
    return 0;
}

int fixture_tear_down(void **state)
{
    struct fixture *fixture = *state;

    change_queue_fini(&fixture->passed_over);
    runtime_close(fixture->runtime);
    remove_dir(fixture->dir);
    mem_free(fixture);
    return 0;
}

bool fixture_next(struct fixture *fixture, struct runtime_change *ret_change)
{
    return change_queue_take(&fixture->passed_over, ret_change, 1) == 1 ||
           fixture->runtime->ops->poll(fixture->runtime, ret_change, 1) == 1;
}

static bool is_end_of_creation(const struct runtime_change *change,
                               struct run_id run)
{
    return change->kind != RUNTIME_PHASE && change->kind != RUNTIME_FORGOTTEN &&
           key128_compare(change->run.v, run.v) == 0;
}

/* This runtime answers at once. */
enum runtime_change_kind fixture_try(struct fixture *fixture, struct job *job,
                                     struct err *ret_text)
{
    const struct runtime_ops *ops = fixture->runtime->ops;
    struct runtime_change change;

    ops->create(fixture->runtime, &job->run);
    while (ops->poll(fixture->runtime, &change, 1) == 1) {
        if (is_end_of_creation(&change, job->run.run)) {
            (void)snprintf(ret_text->text, sizeof(ret_text->text), "%.*s",
                           STR_ARG(change.text));
            return change.kind;
        }
        change_queue_push(&fixture->passed_over, &change);
    }
    fail_msg("the creation did not end");
    return RUNTIME_LISTED;
}

/* Create, and fail the test when that fails. */
void fixture_create(struct fixture *fixture, struct job *job)
{
    struct err err = {""};

    if (fixture_try(fixture, job, &err) != RUNTIME_CREATED) {
        fail_msg("%s", err.text);
    }
}

/* Create, and give the text of the refusal. */
struct err fixture_refuse(struct fixture *fixture, struct job *job)
{
    struct err err = {""};

    assert_int_equal(fixture_try(fixture, job, &err), RUNTIME_REFUSED);
    return err;
}

/* Wait until the run has come at least to `rank`; its phase. */
enum reconcile_phase fixture_wait(struct fixture *fixture, struct run_id run,
                                  int rank)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    struct pollfd fd = {fixture->runtime->wake_fd, POLLIN, 0};

    while (machine_ms() < until_ms) {
        struct runtime_change change;
        while (fixture_next(fixture, &change)) {
            if (change.kind == RUNTIME_PHASE &&
                key128_compare(change.run.v, run.v) == 0 &&
                reconcile_rank(change.phase) >= rank) {
                return change.phase;
            }
        }
        (void)poll(&fd, 1, 100);
    }
    fail_msg("the run did not get on in time");
    return RECONCILE_NEVER;
}

enum reconcile_phase fixture_wait_end(struct fixture *fixture,
                                      const struct job *job)
{
    return fixture_wait(fixture, job->run.run,
                        reconcile_rank(RECONCILE_SUCCEEDED));
}

struct runtime_status fixture_status(struct fixture *fixture, struct job *job)
{
    struct runtime_status status;

    assert_true(fixture->runtime->ops->status(fixture->runtime, job->run.run,
                                              &job->arena, &status));
    return status;
}

/* The whole log, times cut off; the caller frees it. */
char *fixture_log(struct fixture *fixture, struct job *job,
                  const char *container)
{
    auto_strbuf raw = {0};
    struct strbuf plain = {0};
    struct err err = {""};
    struct runtime_log_query query = {.job = job->run.job,
                                      .container = str_of(container),
                                      .line_count_max = -1,
                                      .byte_count_max = RUNTIME_LOG_BYTES_MAX};

    int rc = fixture->runtime->ops->logs(fixture->runtime, &query, &raw, &err);
    if (rc < 0) {
        fail_msg("%s", err.text);
    }
    char *rest = raw.bytes;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *space = strchr(line, ' ');
        if (space) {
            strbuf_addf(&plain, "%s\n", space + 1);
        }
    }
    return strbuf_steal(&plain);
}

/* Wait for a file, which the job writes when it has come so far. */
void fixture_wait_file(const struct fixture *fixture, struct job *job,
                       const char *name)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    char path[512], id[ID_TEXT_BYTES_MAX];

    snprintf(path, sizeof(path), "%s/runs/%s/space/work/%s", fixture->dir,
             run_id_format(job->run.run, id), name);
    while (access(path, F_OK) < 0) {
        assert_true(machine_ms() < until_ms);
        (void)poll(NULL, 0, 5);
    }
}

char *fixture_work_file(const struct fixture *fixture, struct job *job,
                        const char *name)
{
    char id[ID_TEXT_BYTES_MAX];

    return read_file("%s/runs/%s/space/work/%s", fixture->dir,
                     run_id_format(job->run.run, id), name);
}

static bool is_of_run(int proc_fd, const char *pid, struct str variable)
{
    char path[300];
    auto_strbuf environment = strbuf_make(1 << 20);
    struct err err;

    snprintf(path, sizeof(path), "%.255s/environ", pid);
    return file_read(proc_fd, path, &environment, &err) == 0 &&
           environment.byte_count > 0 &&
           memmem(environment.bytes, environment.byte_count, variable.p,
                  variable.byte_count) != NULL;
}

/* As who may look at the jobs' environments, whatever root is kept from. */
static void become_user_of_jobs(void)
{
    enum { NOBODY = 65534 };

    if (geteuid() == 0 &&
        (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
         setresuid(NOBODY, NOBODY, NOBODY) < 0)) {
        abort();
    }
}

static int count_processes(const struct job *job)
{
    char id[ID_TEXT_BYTES_MAX], variable[ID_TEXT_BYTES_MAX + 16];
    int count = 0;
    int n = snprintf(variable, sizeof(variable), "BERTH_RUN_ID=%s",
                     run_id_format(job->run.run, id));
    DIR *dir = opendir("/proc");

    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        /* A zombie's environment is empty. */
        count +=
            atoi(entry->d_name) > 0 &&
            is_of_run(dirfd(dir), entry->d_name, str_make(variable, (size_t)n));
    }
    closedir(dir);
    return count;
}

bool fixture_sees_processes(const struct job *job)
{
    return count_processes(job) > 0;
}

int fixture_process_count(const struct job *job)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        become_user_of_jobs();
        int count = count_processes(job);
        _exit(count < FIXTURE_PROCESSES_MAX ? count : FIXTURE_PROCESSES_MAX);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}
