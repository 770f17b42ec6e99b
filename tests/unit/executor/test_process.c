/*
 * process: real pods, run by the real shim.  Each test is a sentence of
 * process.h, shim.h or the guide; waiting is for a condition, with an end.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "executor/process.h"
#include "executor/run_file.h"
#include "support.h"
#include "unit.h"

struct fixture {
    char *dir;
    struct runtime *runtime;
    struct process_options options;
    struct err info;
};

static void open_runtime(struct fixture *fixture)
{
    struct err err = {""};

    int rc = process_open(&fixture->options, &machine_clock, &fixture->runtime,
                          &fixture->info, &err);
    if (rc < 0) {
        fail_msg("%s", err.text);
    }
}

static int set_up(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof(*fixture));
    const char *shim = getenv("BERTH_SHIM");

    assert_non_null(shim);
    fixture->dir = make_dir();
    process_options_default(&fixture->options);
    fixture->options.data_dir = fixture->dir;
    fixture->options.shim_path = shim;
    open_runtime(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    runtime_close(fixture->runtime);
    remove_dir(fixture->dir);
    mem_free(fixture);
    return 0;
}

/* Create, and fail the test when that fails. */
static void create(struct fixture *fixture, struct job *job)
{
    auto_strbuf warnings = {0};
    struct err err = {""};

    int rc = fixture->runtime->ops->create(fixture->runtime, &job->run,
                                           &warnings, &err);
    if (rc < 0) {
        fail_msg("%s", err.text);
    }
}

/* Create, and give the text of the refusal. */
static struct err refused(struct fixture *fixture, struct job *job)
{
    auto_strbuf warnings = {0};
    struct err err = {""};

    int rc = fixture->runtime->ops->create(fixture->runtime, &job->run,
                                           &warnings, &err);
    assert_int_equal(rc, -ERR_INVALID);
    return err;
}

/* Wait until the run has come at least to `rank`; its phase. */
static enum reconcile_phase wait_for(struct fixture *fixture, struct run_id run,
                                     int rank)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    struct pollfd fd = {fixture->runtime->wake_fd, POLLIN, 0};

    while (machine_ms() < until_ms) {
        struct runtime_change changes[16];
        uint32_t count =
            fixture->runtime->ops->poll(fixture->runtime, changes, 16);
        for (uint32_t i = 0; i < count; i++) {
            if (key128_compare(changes[i].run.v, run.v) == 0 &&
                reconcile_rank(changes[i].phase) >= rank) {
                return changes[i].phase;
            }
        }
        (void)poll(&fd, 1, 100);
    }
    fail_msg("the run did not get on in time");
    return RECONCILE_NEVER;
}

static enum reconcile_phase wait_end(struct fixture *fixture,
                                     const struct job *job)
{
    return wait_for(fixture, job->run.run, reconcile_rank(RECONCILE_SUCCEEDED));
}

static struct runtime_status status_of(struct fixture *fixture, struct job *job)
{
    struct runtime_status status;

    assert_true(fixture->runtime->ops->status(fixture->runtime, job->run.run,
                                              &job->arena, &status));
    return status;
}

/* The whole log, times cut off; the caller frees it. */
static char *log_of(struct fixture *fixture, struct job *job,
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

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- ends
 * ----------------------------------------------------------------------- */

static void a_program_that_exits_0_succeeds(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 1, ARGS("echo", "hello", "world"));

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_SUCCEEDED);
    auto_mem char *log = log_of(fixture, &job, "");
    assert_string_equal(log, "hello world\n");
    job_free(&job);
}

static void a_failure_tells_exit_code_and_last_of_stderr(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 2, ARGS("sh", "-c", "echo no; echo why >&2; exit 7"));

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    struct runtime_status status = status_of(fixture, &job);
    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(status.cause, RUNTIME_CAUSE_ERROR);
    assert_int_equal(status.ended_count, 1);
    assert_int_equal(status.ended[0].exit_code, 7);
    assert_true(str_equal(status.ended[0].message, STR("why\n")));
    assert_true(str_equal(status.ended[0].reason, STR("Error")));
    job_free(&job);
}

static void death_by_signal_is_128_and_the_number(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 3, ARGS("sh", "-c", "kill -9 $$$$"));

    create(fixture, &job);
    (void)wait_end(fixture, &job);

    assert_int_equal(status_of(fixture, &job).ended[0].exit_code, 137);
    job_free(&job);
}

static void a_word_of_the_shell_is_no_program(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 4, ARGS("exit", "0")); /* armada-api.md trap 16 */

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    struct runtime_status status = status_of(fixture, &job);
    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(status.cause, RUNTIME_CAUSE_START);
    assert_int_equal(status.ended[0].exit_code, 127);
    assert_true(str_equal(status.ended[0].message,
                          STR("exec exit: No such file or directory")));
    job_free(&job);
}

static void a_run_id_starts_once(void **state)
{
    struct fixture *fixture = *state;
    auto_strbuf warnings = {0};
    struct err err;
    struct job job;
    job_make(&job, 5, ARGS("true"));

    create(fixture, &job);
    int during = fixture->runtime->ops->create(fixture->runtime, &job.run,
                                               &warnings, &err);
    (void)wait_end(fixture, &job);
    fixture->runtime->ops->forget(fixture->runtime, job.run.run);
    int after = fixture->runtime->ops->create(fixture->runtime, &job.run,
                                              &warnings, &err);

    assert_int_equal(during, -ERR_CONFLICT);
    assert_int_equal(after, -ERR_CONFLICT);
    job_free(&job);
}

/* --- stopping
 * -------------------------------------------------------------------- */

/* Wait for a file, which the job writes when it has come so far. */
static void wait_file(const struct fixture *fixture, struct job *job,
                      const char *name)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    char path[512], id[ID_TEXT_BYTES_MAX];

    snprintf(path, sizeof(path), "%s/runs/%s/work/%s", fixture->dir,
             run_id_format(job->run.run, id), name);
    while (access(path, F_OK) < 0) {
        assert_true(machine_ms() < until_ms);
        (void)poll(NULL, 0, 5);
    }
}

static char *work_file(const struct fixture *fixture, struct job *job,
                       const char *name)
{
    char id[ID_TEXT_BYTES_MAX];

    return read_file("%s/runs/%s/work/%s", fixture->dir,
                     run_id_format(job->run.run, id), name);
}

static void stop_gives_the_program_its_grace(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 6,
             ARGS("sh", "-c",
                  "trap 'echo bye; exit 3' TERM; touch up; "
                  "while :; do sleep 0.01; done"));
    job.pod->terminationgraceperiodseconds = 30;

    create(fixture, &job);
    wait_file(fixture, &job, "up");
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, -1);
    (void)wait_end(fixture, &job);

    struct runtime_status status = status_of(fixture, &job);
    assert_int_equal(status.cause, RUNTIME_CAUSE_STOPPED);
    assert_int_equal(status.ended[0].exit_code, 3);
    auto_mem char *log = log_of(fixture, &job, "main");
    assert_string_equal(log, "bye\n");
    job_free(&job);
}

static bool is_alive(const char *pid_text)
{
    char path[64], state = 'X';
    int pid = atoi(pid_text);

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    (void)!fscanf(file, "%*d (%*[^)]) %c", &state);
    fclose(file);
    return state != 'Z' && state != 'X';
}

/* A program that ignores SIGTERM, with a grandchild that left its session. */
static const char stubborn[] =
    "trap '' TERM; "
    "(setsid sh -c 'trap \"\" TERM; echo $$$$ > inner; "
    "while :; do sleep 1; done' &) ; "
    "while [ ! -s inner ]; do sleep 0.01; done; touch up; "
    "while :; do sleep 1; done";

static void after_the_grace_the_whole_tree_is_killed(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 7, ARGS("sh", "-c", stubborn));

    create(fixture, &job);
    wait_file(fixture, &job, "up");
    auto_mem char *inner = work_file(fixture, &job, "inner");
    assert_true(is_alive(inner));
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, 50);
    (void)wait_end(fixture, &job);

    assert_int_equal(status_of(fixture, &job).ended[0].exit_code, 137);
    assert_false(is_alive(inner));
    job_free(&job);
}

static void without_cgroups_the_whole_tree_is_killed_too(void **state)
{
    struct fixture *fixture = *state;

    runtime_close(fixture->runtime);
    fixture->options.has_no_cgroups = true;
    open_runtime(fixture);
    after_the_grace_the_whole_tree_is_killed(state);
}

static void what_a_program_leaves_behind_goes_with_it(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 8,
             ARGS("sh", "-c",
                  "(setsid sh -c 'echo $$$$ > inner; exec sleep 1000' &) ; "
                  "while [ ! -s inner ]; do sleep 0.01; done"));

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_SUCCEEDED);
    auto_mem char *inner = work_file(fixture, &job, "inner");
    assert_false(is_alive(inner));
    job_free(&job);
}

static void the_deadline_ends_the_pod(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 9, ARGS("sleep", "1000"));
    job.pod->has_activedeadlineseconds = true;
    job.pod->activedeadlineseconds = 1;

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(status_of(fixture, &job).cause, RUNTIME_CAUSE_DEADLINE);
    job_free(&job);
}

/* --- containers
 * -------------------------------------------------------------------- */

static void init_containers_run_one_after_the_other_and_first(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 10, ARGS("sh", "-c", "echo main >> all; cat all"));
    (void)job_container(&job, true, ARGS("sh", "-c", "echo one >> all"));
    (void)job_container(&job, true, ARGS("sh", "-c", "echo two >> all"));

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_SUCCEEDED);
    auto_mem char *log = log_of(fixture, &job, "");
    assert_string_equal(log, "one\ntwo\nmain\n");
    job_free(&job);
}

static void a_failed_init_container_fails_the_pod(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 11, ARGS("touch", "main"));
    (void)job_container(&job, true, ARGS("false"));

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(status_of(fixture, &job).ended_count, 1);
    job_free(&job);
}

static void main_containers_run_together(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    /* Each waits for the other's file. */
    job_make(
        &job, 12,
        ARGS("sh", "-c", "touch a; while [ ! -e b ]; do sleep 0.01; done"));
    (void)job_container(
        &job, false,
        ARGS("sh", "-c", "touch b; while [ ! -e a ]; do sleep 0.01; done"));

    create(fixture, &job);

    assert_int_equal(wait_end(fixture, &job), RECONCILE_SUCCEEDED);
    job_free(&job);
}

/* --- environment
 * -------------------------------------------------------------------- */

static void arguments_and_variables_are_expanded(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 13,
             ARGS("echo", "$(A)", "$(B)", "$(NONE)", "$$(A)", "$(QUOTED)"));
    K8s__Io__Api__Core__V1__Container *main = job.pod->containers[0];
    (void)job_env(&job, main, "A", "1");
    (void)job_env(&job, main, "B", "$(A)2");
    (void)job_env(&job, main, "QUOTED", "a b");

    create(fixture, &job);
    (void)wait_end(fixture, &job);

    auto_mem char *log = log_of(fixture, &job, "");
    assert_string_equal(log, "1 12 $(NONE) $(A) a b\n");
    job_free(&job);
}

static void field_references_are_filled_in(void **state)
{
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__ObjectFieldSelector fields[2];
    K8s__Io__Api__Core__V1__EnvVarSource sources[2];
    char *const paths[] = {
        (char *)(uintptr_t) "metadata.name",
        (char *)(uintptr_t) "metadata.annotations['team/color']"};
    struct job job;
    job_make(&job, 14, ARGS("echo", "$(V0)", "$(V1)"));
    job_annotate(&job, "team/color", "blue");
    for (int i = 0; i < 2; i++) {
        char name[] = {'V', (char)('0' + i), '\0'};
        k8s__io__api__core__v1__object_field_selector__init(&fields[i]);
        k8s__io__api__core__v1__env_var_source__init(&sources[i]);
        fields[i].fieldpath = paths[i];
        sources[i].fieldref = &fields[i];
        job_env(&job, job.pod->containers[0], name, NULL)->valuefrom =
            &sources[i];
    }

    create(fixture, &job);
    (void)wait_end(fixture, &job);

    auto_mem char *log = log_of(fixture, &job, "");
    assert_string_equal(log, "armada-pod-0 blue\n");
    job_free(&job);
}

static void jobs_know_their_names_and_none_of_ours(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char id[ID_TEXT_BYTES_MAX];
    job_make(&job, 15,
             ARGS("sh", "-c",
                  "echo $BERTH_QUEUE $BERTH_JOB_ID "
                  "$ARMADA_JOB_SET_ID [$BERTH_SHIM]"));

    create(fixture, &job);
    (void)wait_end(fixture, &job);

    char expected[256];
    snprintf(expected, sizeof(expected), "queue %s set []\n",
             job_id_format(job.run.job, id));
    auto_mem char *log = log_of(fixture, &job, "");
    assert_string_equal(log, expected);
    job_free(&job);
}

static void members_of_a_gang_share_a_directory(void **state)
{
    struct fixture *fixture = *state;
    struct job jobs[2];
    for (int i = 0; i < 2; i++) {
        job_make(&jobs[i], 20 + i,
                 ARGS("sh", "-c",
                      "touch $BERTH_GANG_DIR/$BERTH_GANG_MEMBER_INDEX; "
                      "while [ ! -e $BERTH_GANG_DIR/0 ] || "
                      "[ ! -e $BERTH_GANG_DIR/1 ]; do sleep 0.01; done; "
                      "cat $BERTH_GANG_DIR/members/* | wc -l"));
        job_annotate(&jobs[i], "armadaproject.io/gangId", "g");
        job_annotate(&jobs[i], "armadaproject.io/gangCardinality", "2");
    }

    create(fixture, &jobs[0]);
    create(fixture, &jobs[1]);
    assert_int_equal(wait_end(fixture, &jobs[0]), RECONCILE_SUCCEEDED);

    auto_mem char *log = log_of(fixture, &jobs[0], "");
    assert_string_equal(log, "2\n");
    job_free(&jobs[0]);
    job_free(&jobs[1]);
}

/* --- users and limits
 * ---------------------------------------------------------------- */

static void jobs_run_as_nobody_when_we_are_root(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    if (geteuid() != 0) {
        print_message("skipped: only root may become another user\n");
        skip();
    }
    job_make(&job, 30, ARGS("sh", "-c", "id -u; id -G; touch mine"));

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    auto_mem char *log = log_of(fixture, &job, "");
    assert_int_equal(end, RECONCILE_SUCCEEDED);
    assert_string_equal(log, "65534\n65534\n");
    job_free(&job);
}

static void a_job_that_would_be_root_is_refused(void **state)
{
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__PodSecurityContext security =
        K8S__IO__API__CORE__V1__POD_SECURITY_CONTEXT__INIT;
    struct job job;
    job_make(&job, 31, ARGS("true"));
    security.has_runasuser = true;
    security.runasuser = geteuid() == 0 ? 0 : 12345;
    job.pod->securitycontext = &security;

    struct err err = refused(fixture, &job);

    assert_non_null(strstr(err.text, geteuid() == 0 ? "allow_root_jobs"
                                                    : "not run as root"));
    job_free(&job);
}

/* Wants 200 MB. */
static const char hungry[] =
    "head -c 200000000 /dev/zero | tail -c 200000000 > /dev/null";

static void the_memory_limit_kills_and_says_so(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    if (!strstr(fixture->info.text, "cgroup version")) {
        print_message("skipped: %s\n", fixture->info.text);
        skip();
    }
    job_make(&job, 32, ARGS("sh", "-c", hungry));
    job_limit(&job, job.pod->containers[0], "memory", "32Mi");

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    struct runtime_status status = status_of(fixture, &job);
    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(status.cause, RUNTIME_CAUSE_OOM);
    assert_true(str_equal(status.ended[0].reason, STR("OOMKilled")));
    job_free(&job);
}

static void without_cgroups_memory_is_limited_by_rlimits(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    runtime_close(fixture->runtime);
    fixture->options.has_no_cgroups = true;
    open_runtime(fixture);
    job_make(&job, 33, ARGS("sh", "-c", hungry));
    job_limit(&job, job.pod->containers[0], "memory", "32Mi");

    create(fixture, &job);

    assert_int_equal(wait_end(fixture, &job), RECONCILE_FAILED);
    job_free(&job);
}

/* --- logs
 * ------------------------------------------------------------------------------
 */

static int query_log(struct fixture *fixture, struct job *job,
                     const char *since, int64_t line_count_max,
                     int64_t byte_count_max, struct strbuf *buf)
{
    struct err err;
    struct runtime_log_query query = {.job = job->run.job,
                                      .since = str_of(since),
                                      .line_count_max = line_count_max,
                                      .byte_count_max = byte_count_max};

    strbuf_clear(buf);
    return fixture->runtime->ops->logs(fixture->runtime, &query, buf, &err);
}

static int count_lines(const struct strbuf *buf)
{
    int count = 0;

    for (size_t i = 0; i < buf->byte_count; i++) {
        count += buf->bytes[i] == '\n';
    }
    return count;
}

static void logs_are_cut_by_time_lines_and_bytes(void **state)
{
    struct fixture *fixture = *state;
    auto_strbuf buf = {0};
    struct job job;
    job_make(&job, 40,
             ARGS("sh", "-c",
                  "for i in 1 2 3 4 5; do echo $i; "
                  "sleep 0.01; done"));

    create(fixture, &job);
    (void)wait_end(fixture, &job);

    assert_int_equal(query_log(fixture, &job, "", -1, 100000, &buf), 0);
    assert_int_equal(count_lines(&buf), 5);
    /* "2026-01-02T03:04:05.123456789Z" of the second line. */
    char second[31] = "";
    memcpy(second, strchr(buf.bytes, '\n') + 1, 30);
    assert_int_equal(second[29], 'Z');
    assert_int_equal(query_log(fixture, &job, second, -1, 100000, &buf), 0);
    assert_int_equal(count_lines(&buf), 3);
    assert_int_equal(query_log(fixture, &job, "", 2, 100000, &buf), 0);
    assert_int_equal(count_lines(&buf), 2);
    assert_non_null(strstr(buf.bytes, "Z 5\n"));
    assert_int_equal(query_log(fixture, &job, "", -1, 70, &buf), 0);
    assert_int_equal(count_lines(&buf), 2);
    assert_int_equal(query_log(fixture, &job, "soon", -1, 70, &buf),
                     -ERR_INVALID);
    job.run.job.v.lo++;
    assert_int_equal(query_log(fixture, &job, "", -1, 70, &buf),
                     -ERR_NOT_FOUND);
    job_free(&job);
}

static void a_log_stops_at_its_limit_and_the_program_goes_on(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    runtime_close(fixture->runtime);
    fixture->options.log_byte_count_max = 1000;
    open_runtime(fixture);
    job_make(&job, 41, ARGS("sh", "-c", "seq 1 100000"));

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    auto_mem char *log = log_of(fixture, &job, "");
    assert_int_equal(end, RECONCILE_SUCCEEDED);
    assert_non_null(strstr(log, "the log is full (1000 bytes)"));
    assert_true(strlen(log) < 1200);
    job_free(&job);
}

/* --- volumes
 * ---------------------------------------------------------------------------
 */

static void add_volume(struct job *job, const char *name, const char *path,
                       K8s__Io__Api__Core__V1__VolumeSource *source)
{
    K8s__Io__Api__Core__V1__Volume *volume =
        arena_alloc(&job->arena, sizeof(*volume));
    K8s__Io__Api__Core__V1__VolumeMount *mount =
        arena_alloc(&job->arena, sizeof(*mount));

    k8s__io__api__core__v1__volume__init(volume);
    k8s__io__api__core__v1__volume_mount__init(mount);
    volume->name = mount->name = arena_strdup(&job->arena, str_of(name));
    volume->volumesource = source;
    mount->mountpath = arena_strdup(&job->arena, str_of(path));
    job->pod->volumes = arena_alloc(&job->arena, sizeof(void *));
    job->pod->volumes[0] = volume;
    job->pod->n_volumes = 1;
    job->pod->containers[0]->volumemounts =
        arena_alloc(&job->arena, sizeof(void *));
    job->pod->containers[0]->volumemounts[0] = mount;
    job->pod->containers[0]->n_volumemounts = 1;
}

static void an_inline_config_map_is_a_directory(void **state)
{
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__ConfigMap map =
        K8S__IO__API__CORE__V1__CONFIG_MAP__INIT;
    K8s__Io__Api__Core__V1__ConfigMap__DataEntry entry =
        K8S__IO__API__CORE__V1__CONFIG_MAP__DATA_ENTRY__INIT;
    K8s__Io__Api__Core__V1__ConfigMapVolumeSource from =
        K8S__IO__API__CORE__V1__CONFIG_MAP_VOLUME_SOURCE__INIT;
    K8s__Io__Api__Core__V1__LocalObjectReference name =
        K8S__IO__API__CORE__V1__LOCAL_OBJECT_REFERENCE__INIT;
    K8s__Io__Api__Core__V1__VolumeSource source =
        K8S__IO__API__CORE__V1__VOLUME_SOURCE__INIT;
    Armadaevents__KubernetesObject object =
        ARMADAEVENTS__KUBERNETES_OBJECT__INIT;
    Armadaevents__KubernetesObject *objects[] = {&object};
    Armadaevents__ObjectMeta meta = ARMADAEVENTS__OBJECT_META__INIT;
    K8s__Io__Api__Core__V1__ConfigMap__DataEntry *entries[] = {&entry};
    struct job job;
    job_make(&job, 50,
             ARGS("sh", "-c",
                  "cat $BERTH_VOLUME_MY_CONF/greeting; "
                  "echo x > $BERTH_VOLUME_MY_CONF/new "
                  "&& echo written; true"));
    entry.key = (char *)(uintptr_t) "greeting";
    entry.value = (char *)(uintptr_t) "hello from a map\n";
    map.n_data = 1;
    map.data = entries;
    meta.name = name.name = (char *)(uintptr_t) "conf";
    object.objectmeta = &meta;
    object.object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP;
    object.configmap = &map;
    job.submit->n_objects = 1;
    job.submit->objects = objects;
    from.localobjectreference = &name;
    source.configmap = &from;
    add_volume(&job, "my-conf", "/nowhere/.hidden/conf", &source);

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    auto_mem char *log = log_of(fixture, &job, "");
    assert_int_equal(end, RECONCILE_SUCCEEDED);
    if (geteuid() == 0) {
        assert_non_null(strstr(log, "hello from a map\n"));
        assert_null(strstr(log, "written"));
    }
    job_free(&job);
}

static void an_empty_dir_is_mounted_for_its_pod_alone(void **state)
{
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__EmptyDirVolumeSource empty =
        K8S__IO__API__CORE__V1__EMPTY_DIR_VOLUME_SOURCE__INIT;
    K8s__Io__Api__Core__V1__VolumeSource source =
        K8S__IO__API__CORE__V1__VOLUME_SOURCE__INIT;
    struct job job;
    if (!strstr(fixture->info.text, "are mounted")) {
        print_message("skipped: %s\n", fixture->info.text);
        skip();
    }
    job_make(&job, 51,
             ARGS("sh", "-c", "echo kept > /mnt/file && cat /mnt/file"));
    source.emptydir = &empty;
    add_volume(&job, "scratch", "/mnt", &source);

    create(fixture, &job);
    enum reconcile_phase end = wait_end(fixture, &job);

    auto_mem char *log = log_of(fixture, &job, "");
    assert_int_equal(end, RECONCILE_SUCCEEDED);
    assert_string_equal(log, "kept\n");
    assert_int_equal(access("/mnt/file", F_OK), -1);
    job_free(&job);
}

static void a_mounted_secret_is_refused(void **state)
{
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__SecretVolumeSource secret =
        K8S__IO__API__CORE__V1__SECRET_VOLUME_SOURCE__INIT;
    K8s__Io__Api__Core__V1__VolumeSource source =
        K8S__IO__API__CORE__V1__VOLUME_SOURCE__INIT;
    auto_strbuf warnings = {0};
    struct err err;
    struct job job;
    char id[ID_TEXT_BYTES_MAX];
    job_make(&job, 52, ARGS("true"));
    source.secret = &secret;
    add_volume(&job, "secret", "/mnt", &source);

    err = refused(fixture, &job);

    assert_non_null(strstr(err.text, "volume \"secret\""));
    auto_mem char *spec = read_file("%s/runs/%s/spec", fixture->dir,
                                    run_id_format(job.run.run, id));
    assert_string_equal(spec, ""); /* nothing is left */
    job_free(&job);
}

/* --- crashes
 * ----------------------------------------------------------------------------
 */

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
    open_runtime(fixture);
    fixture->runtime->ops->list(fixture->runtime, note_pod, &count);
    return count;
}

static void a_restart_takes_up_what_runs(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 60, ARGS("sh", "-c", "while :; do sleep 0.01; done"));

    create(fixture, &job);
    (void)wait_for(fixture, job.run.run, reconcile_rank(RECONCILE_RUNNING));
    int count = reopen(fixture);

    assert_int_equal(count, 1);
    assert_int_equal(listed.phase, RECONCILE_RUNNING);
    assert_int_equal(key128_compare(listed.job.v, job.run.job.v), 0);
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, 0);
    assert_int_equal(wait_end(fixture, &job), RECONCILE_FAILED);
    assert_int_equal(status_of(fixture, &job).cause, RUNTIME_CAUSE_STOPPED);
    job_free(&job);
}

static void an_end_while_nobody_looked_is_not_lost(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char path[512], id[ID_TEXT_BYTES_MAX];
    job_make(&job, 61, ARGS("sh", "-c", "exit 9"));

    create(fixture, &job);
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
    open_runtime(fixture);
    int count = 0;
    fixture->runtime->ops->list(fixture->runtime, note_pod, &count);

    assert_int_equal(count, 1);
    assert_int_equal(listed.phase, RECONCILE_FAILED);
    assert_int_equal(listed.acked, RECONCILE_PENDING);
    assert_int_equal(status_of(fixture, &job).ended[0].exit_code, 9);
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

static void a_killed_shim_is_a_failure_and_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 62,
             ARGS("sh", "-c",
                  "echo $$$$ > inner; touch up; "
                  "exec sleep 1000"));

    create(fixture, &job);
    wait_file(fixture, &job, "up");
    auto_mem char *inner = work_file(fixture, &job, "inner");
    kill((pid_t)shim_pid(fixture, &job), SIGKILL);
    enum reconcile_phase end = wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(status_of(fixture, &job).cause, RUNTIME_CAUSE_LOST);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    while (is_alive(inner)) {
        assert_true(machine_ms() < until_ms);
        (void)poll(NULL, 0, 5);
    }
    job_free(&job);
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
    create(fixture, &job);
    assert_int_equal(wait_end(fixture, &job), RECONCILE_SUCCEEDED);
    job_free(&job);
}

static void a_data_directory_has_one_executor(void **state)
{
    struct fixture *fixture = *state;
    struct runtime *second;
    struct err info, err;

    int rc =
        process_open(&fixture->options, &machine_clock, &second, &info, &err);

    assert_int_equal(rc, -ERR_CONFLICT);
}

static void what_is_forgotten_is_removed_in_time(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char path[512], id[ID_TEXT_BYTES_MAX];
    job_make(&job, 64, ARGS("true"));

    create(fixture, &job);
    (void)wait_end(fixture, &job);
    fixture->runtime->ops->forget(fixture->runtime, job.run.run);
    snprintf(path, sizeof(path), "%s/runs/%s", fixture->dir,
             run_id_format(job.run.run, id));
    assert_int_equal(access(path, F_OK), 0); /* kept for its logs */
    runtime_close(fixture->runtime);
    fixture->options.keep_ms = 1;
    open_runtime(fixture);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    while (access(path, F_OK) == 0) {
        struct runtime_change change;
        assert_true(machine_ms() < until_ms);
        (void)fixture->runtime->ops->poll(fixture->runtime, &change, 1);
        (void)poll(NULL, 0, 5);
    }
    int count = reopen(fixture);

    assert_int_equal(count, 1);
    assert_int_equal(listed.phase, RECONCILE_FORGOTTEN);
    job_free(&job);
}

#define PROCESS_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(a_program_that_exits_0_succeeds),
        PROCESS_TEST(a_failure_tells_exit_code_and_last_of_stderr),
        PROCESS_TEST(death_by_signal_is_128_and_the_number),
        PROCESS_TEST(a_word_of_the_shell_is_no_program),
        PROCESS_TEST(a_run_id_starts_once),
        PROCESS_TEST(stop_gives_the_program_its_grace),
        PROCESS_TEST(after_the_grace_the_whole_tree_is_killed),
        PROCESS_TEST(without_cgroups_the_whole_tree_is_killed_too),
        PROCESS_TEST(what_a_program_leaves_behind_goes_with_it),
        PROCESS_TEST(the_deadline_ends_the_pod),
        PROCESS_TEST(init_containers_run_one_after_the_other_and_first),
        PROCESS_TEST(a_failed_init_container_fails_the_pod),
        PROCESS_TEST(main_containers_run_together),
        PROCESS_TEST(arguments_and_variables_are_expanded),
        PROCESS_TEST(field_references_are_filled_in),
        PROCESS_TEST(jobs_know_their_names_and_none_of_ours),
        PROCESS_TEST(members_of_a_gang_share_a_directory),
        PROCESS_TEST(jobs_run_as_nobody_when_we_are_root),
        PROCESS_TEST(a_job_that_would_be_root_is_refused),
        PROCESS_TEST(the_memory_limit_kills_and_says_so),
        PROCESS_TEST(without_cgroups_memory_is_limited_by_rlimits),
        PROCESS_TEST(logs_are_cut_by_time_lines_and_bytes),
        PROCESS_TEST(a_log_stops_at_its_limit_and_the_program_goes_on),
        PROCESS_TEST(an_inline_config_map_is_a_directory),
        PROCESS_TEST(an_empty_dir_is_mounted_for_its_pod_alone),
        PROCESS_TEST(a_mounted_secret_is_refused),
        PROCESS_TEST(a_restart_takes_up_what_runs),
        PROCESS_TEST(an_end_while_nobody_looked_is_not_lost),
        PROCESS_TEST(a_killed_shim_is_a_failure_and_leaves_nothing),
        PROCESS_TEST(a_run_without_a_spec_never_started_and_may),
        PROCESS_TEST(a_data_directory_has_one_executor),
        PROCESS_TEST(what_is_forgotten_is_removed_in_time),
    };
    return RUN_TESTS(tests);
}
