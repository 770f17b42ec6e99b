/*
 * process: real pods, run by the real shim.  Each test is a sentence of
 * process.h, shim.h or the guide; waiting is for a condition, with an end.
 */
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/stat.h>

#include "executor/files/run_file.h"
#include "executor/process/process.h"
#include "field.h"
#include "process_fixture.h"
#include "unit.h"

/* Ends. */

static void a_program_that_exits_0_succeeds(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 1, ARGS("echo", "hello", "world"));

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_SUCCEEDED);
    auto_mem char *log = fixture_log(fixture, &job, "");
    assert_string_equal(log, "hello world\n");
    job_free(&job);
}

static void a_failure_tells_exit_code_and_last_of_stderr(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 2, ARGS("sh", "-c", "echo no; echo why >&2; exit 7"));

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    struct runtime_status status = fixture_status(fixture, &job);
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

    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);

    assert_int_equal(fixture_status(fixture, &job).ended[0].exit_code, 137);
    job_free(&job);
}

static void a_word_of_the_shell_is_no_program(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 4, ARGS("exit", "0")); /* TRAP-16 */

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    struct runtime_status status = fixture_status(fixture, &job);
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
    struct err err;
    struct job job;
    job_make(&job, 5, ARGS("true"));

    fixture_create(fixture, &job);
    enum runtime_change_kind during = fixture_try(fixture, &job, &err);
    (void)fixture_wait_end(fixture, &job);
    fixture->runtime->ops->forget(fixture->runtime, job.run.run);
    enum runtime_change_kind after = fixture_try(fixture, &job, &err);

    assert_int_equal(during, RUNTIME_KNOWN);
    assert_int_equal(after, RUNTIME_KNOWN);
    job_free(&job);
}

/* Stopping. */

static void stop_gives_the_program_its_grace(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 6,
             ARGS("sh", "-c",
                  "trap 'echo bye; exit 3' TERM; touch up; "
                  "while :; do sleep 0.01; done"));
    job.pod->terminationgraceperiodseconds = 30;

    fixture_create(fixture, &job);
    fixture_wait_file(fixture, &job, "up");
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, -1);
    (void)fixture_wait_end(fixture, &job);

    struct runtime_status status = fixture_status(fixture, &job);
    assert_int_equal(status.cause, RUNTIME_CAUSE_STOPPED);
    assert_int_equal(status.ended[0].exit_code, 3);
    auto_mem char *log = fixture_log(fixture, &job, "main");
    assert_string_equal(log, "bye\n");
    job_free(&job);
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

    fixture_create(fixture, &job);
    fixture_wait_file(fixture, &job, "up");
    assert_true(fixture_process_count(&job) >= 2);
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, 50);
    (void)fixture_wait_end(fixture, &job);

    assert_int_equal(fixture_status(fixture, &job).ended[0].exit_code, 137);
    assert_int_equal(fixture_process_count(&job), 0);
    job_free(&job);
}

static void without_cgroups_the_whole_tree_is_killed_too(void **state)
{
    struct fixture *fixture = *state;

    runtime_close(fixture->runtime);
    fixture->options.has_no_cgroups = true;
    fixture_open(fixture);
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

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_SUCCEEDED);
    assert_int_equal(fixture_process_count(&job), 0);
    job_free(&job);
}

static void the_deadline_ends_the_pod(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 9, ARGS("sleep", "1000"));
    job.pod->has_activedeadlineseconds = true;
    job.pod->activedeadlineseconds = 1;

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(fixture_status(fixture, &job).cause,
                     RUNTIME_CAUSE_DEADLINE);
    job_free(&job);
}

/* Containers. */

static void init_containers_run_one_after_the_other_and_first(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 10, ARGS("sh", "-c", "echo main >> all; cat all"));
    (void)job_container(&job, true, ARGS("sh", "-c", "echo one >> all"));
    (void)job_container(&job, true, ARGS("sh", "-c", "echo two >> all"));

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_SUCCEEDED);
    auto_mem char *log = fixture_log(fixture, &job, "");
    assert_string_equal(log, "one\ntwo\nmain\n");
    job_free(&job);
}

static void a_failed_init_container_fails_the_pod(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 11, ARGS("touch", "main"));
    (void)job_container(&job, true, ARGS("false"));

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(fixture_status(fixture, &job).ended_count, 1);
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

    fixture_create(fixture, &job);

    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);
    job_free(&job);
}

static void some_system_calls_are_kept_from_a_job(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 26,
             ARGS("sh", "-c",
                  "unshare -U true; unshare -m true; dmesg; "
                  "grep '^Seccomp:' /proc/self/status"));

    fixture_create(fixture, &job);
    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);

    auto_mem char *log = fixture_log(fixture, &job, "");
    assert_non_null(strstr(log, "Seccomp:\t2\n"));
    assert_non_null(strstr(log, "unshare failed: Operation not permitted"));
    job_free(&job);
}

static void without_cgroups_a_job_has_limits_all_the_same(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    runtime_close(fixture->runtime);
    fixture->options.has_no_cgroups = true;
    fixture->options.pids_max = 500;
    fixture_open(fixture);
    job_make(&job, 27, ARGS("cat", "/proc/self/limits"));

    fixture_create(fixture, &job);
    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);

    auto_mem char *log = fixture_log(fixture, &job, "");
    const char *processes = strstr(log, "Max processes");
    const char *files = strstr(log, "Max open files");
    long long soft, hard;
    assert_non_null(processes);
    assert_int_equal(sscanf(processes, "Max processes %lld %lld", &soft, &hard),
                     2);
    assert_true(hard <= 2000);
    assert_non_null(files);
    assert_int_equal(sscanf(files, "Max open files %lld %lld", &soft, &hard),
                     2);
    assert_true(hard <= 65536);
    job_free(&job);
}

/* Environment. */

/* 27 KB of these took gigabytes, and the executor with them. */
static void variables_that_expand_each_other_have_a_bound(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char name[16], value[64];
    job_make(&job, 25, ARGS("true"));
    job_env(&job, job.pod->containers[0], "V0",
            "0123456789012345678901234567890123456789");
    for (int i = 1; i < 14; i++) {
        snprintf(name, sizeof(name), "V%d", i);
        snprintf(value, sizeof(value), "$(V%d)$(V%d)", i - 1, i - 1);
        job_env(&job, job.pod->containers[0], name, value);
    }
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "W%d", i);
        job_env(&job, job.pod->containers[0], name, "$(V13)");
    }

    struct err err = fixture_refuse(fixture, &job);

    assert_non_null(strstr(err.text, "expanded, are longer than 4194304"));
    job_free(&job);
}

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

    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);

    auto_mem char *log = fixture_log(fixture, &job, "");
    assert_string_equal(log, "1 12 $(NONE) $(A) a b\n");
    job_free(&job);
}

static void field_references_are_filled_in(void **state)
{
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__ObjectFieldSelector fields[2];
    K8s__Io__Api__Core__V1__EnvVarSource sources[2];
    char *const paths[] = {field("metadata.name"),
                           field("metadata.annotations['team/color']")};
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

    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);

    auto_mem char *log = fixture_log(fixture, &job, "");
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

    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);

    char expected[256];
    snprintf(expected, sizeof(expected), "queue %s set []\n",
             job_id_format(job.run.job, id));
    auto_mem char *log = fixture_log(fixture, &job, "");
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

    fixture_create(fixture, &jobs[0]);
    fixture_create(fixture, &jobs[1]);
    assert_int_equal(fixture_wait_end(fixture, &jobs[0]), RECONCILE_SUCCEEDED);

    auto_mem char *log = fixture_log(fixture, &jobs[0], "");
    assert_string_equal(log, "2\n");
    job_free(&jobs[0]);
    job_free(&jobs[1]);
}

/* The mode of the only directory of a gang that there is. */
static mode_t gang_mode(const struct fixture *fixture)
{
    char pattern[512];
    struct stat st;
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/gangs/*", fixture->dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(stat(found.gl_pathv[0], &st), 0);
    globfree(&found);
    return st.st_mode & 07777;
}

static void a_gang_directory_is_open_to_its_members_groups(void **state)
{
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__PodSecurityContext security =
        K8S__IO__API__CORE__V1__POD_SECURITY_CONTEXT__INIT;
    const char *script = "touch $BERTH_GANG_DIR/$BERTH_GANG_MEMBER_INDEX; "
                         "touch up; while [ ! -e $BERTH_GANG_DIR/1 ]; do "
                         "sleep 0.01; done";
    struct job jobs[2];
    for (int i = 0; i < 2; i++) {
        job_make(&jobs[i], 39 + i, ARGS("sh", "-c", script));
        job_annotate(&jobs[i], "armadaproject.io/gangId", "g");
        job_annotate(&jobs[i], "armadaproject.io/gangCardinality", "2");
    }

    fixture_create(fixture, &jobs[0]);
    fixture_wait_file(fixture, &jobs[0], "up");
    assert_int_equal(gang_mode(fixture), geteuid() == 0 ? 01770 : 0700);
    if (geteuid() == 0) { /* one of another user and group joins */
        security.has_runasuser = security.has_runasgroup = true;
        security.runasuser = security.runasgroup = 3987654321;
        jobs[1].pod->securitycontext = &security;
    }
    fixture_create(fixture, &jobs[1]);

    assert_int_equal(fixture_wait_end(fixture, &jobs[0]), RECONCILE_SUCCEEDED);
    assert_int_equal(gang_mode(fixture), geteuid() == 0 ? 01777 : 0700);
    job_free(&jobs[0]);
    job_free(&jobs[1]);
}

/* Users and limits. */

static void jobs_run_as_nobody_when_we_are_root(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    if (geteuid() != 0) {
        print_message("skipped: only root may become another user\n");
        skip();
    }
    job_make(&job, 30, ARGS("sh", "-c", "id -u; id -G; touch mine"));

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    auto_mem char *log = fixture_log(fixture, &job, "");
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

    struct err err = fixture_refuse(fixture, &job);

    assert_non_null(
        strstr(err.text, geteuid() == 0 ? "allowRootJobs" : "not run as root"));
    job_free(&job);
}

/* With root jobs allowed, so that it is not refused as one of the system. */
static void an_account_of_the_machine_must_be_listed(void **state)
{
    static const struct str listed[] = {{"no-such-account", 15}, {"1", 1}};
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__PodSecurityContext security =
        K8S__IO__API__CORE__V1__POD_SECURITY_CONTEXT__INIT;
    struct job refused, allowed, free_id;
    if (geteuid() != 0 || !getpwuid(1)) {
        print_message("skipped: no other user to become\n");
        skip();
    }
    security.has_runasuser = security.has_runasgroup = true;
    security.runasgroup = PROCESS_USER_DEFAULT;
    job_make(&refused, 36, ARGS("true"));
    job_make(&allowed, 37, ARGS("true"));
    job_make(&free_id, 38, ARGS("sh", "-c", "id -u"));
    refused.pod->securitycontext = allowed.pod->securitycontext =
        free_id.pod->securitycontext = &security;
    runtime_close(fixture->runtime);
    fixture->options.allows_root_jobs = true;
    fixture_open(fixture);

    security.runasuser = 1;
    struct err err = fixture_refuse(fixture, &refused);
    security.runasuser = 3987654321; /* which nobody has */
    fixture_create(fixture, &free_id);
    assert_int_equal(fixture_wait_end(fixture, &free_id), RECONCILE_SUCCEEDED);
    runtime_close(fixture->runtime);
    fixture->options.allowed_users = listed;
    fixture->options.allowed_user_count = ARRAY_COUNT(listed);
    fixture_open(fixture);
    security.runasuser = 1;
    fixture_create(fixture, &allowed);

    assert_non_null(strstr(err.text, "executor.process.allowedUsers"));
    assert_int_equal(fixture_wait_end(fixture, &allowed), RECONCILE_SUCCEEDED);
    job_free(&refused);
    job_free(&allowed);
    job_free(&free_id);
}

/* Such as disk (6) and shadow (42), which are as good as root. */
static void
a_job_that_would_be_in_a_group_of_the_system_is_refused(void **state)
{
    struct fixture *fixture = *state;
    K8s__Io__Api__Core__V1__PodSecurityContext security =
        K8S__IO__API__CORE__V1__POD_SECURITY_CONTEXT__INIT;
    struct job job;
    job_make(&job, 32, ARGS("true"));
    security.has_runasgroup = true;
    security.runasgroup = 6;
    job.pod->securitycontext = &security;

    struct err err = fixture_refuse(fixture, &job);

    assert_non_null(strstr(err.text, geteuid() == 0 ? "system group 6"
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
    if (!strstr(fixture->info.text, "limits are enforced by")) {
        print_message("skipped: %s\n", fixture->info.text);
        skip();
    }
    job_make(&job, 32, ARGS("sh", "-c", hungry));
    job_limit(&job, job.pod->containers[0], "memory", "32Mi");

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    struct runtime_status status = fixture_status(fixture, &job);
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
    fixture_open(fixture);
    job_make(&job, 33, ARGS("sh", "-c", hungry));
    job_limit(&job, job.pod->containers[0], "memory", "32Mi");

    fixture_create(fixture, &job);

    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_FAILED);
    job_free(&job);
}

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
        PROCESS_TEST(some_system_calls_are_kept_from_a_job),
        PROCESS_TEST(without_cgroups_a_job_has_limits_all_the_same),
        PROCESS_TEST(variables_that_expand_each_other_have_a_bound),
        PROCESS_TEST(arguments_and_variables_are_expanded),
        PROCESS_TEST(field_references_are_filled_in),
        PROCESS_TEST(jobs_know_their_names_and_none_of_ours),
        PROCESS_TEST(members_of_a_gang_share_a_directory),
        PROCESS_TEST(a_gang_directory_is_open_to_its_members_groups),
        PROCESS_TEST(jobs_run_as_nobody_when_we_are_root),
        PROCESS_TEST(a_job_that_would_be_root_is_refused),
        PROCESS_TEST(an_account_of_the_machine_must_be_listed),
        PROCESS_TEST(a_job_that_would_be_in_a_group_of_the_system_is_refused),
        PROCESS_TEST(the_memory_limit_kills_and_says_so),
        PROCESS_TEST(without_cgroups_memory_is_limited_by_rlimits),
    };
    return RUN_TESTS(tests);
}
