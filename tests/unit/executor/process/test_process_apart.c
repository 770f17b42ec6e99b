/*
 * process: what keeps a pod apart from the machine and from other pods.  What
 * this machine does not allow, the runtime must say; then the tests see that
 * pods run all the same.
 */
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor/files/run_file.h"
#include "executor/process/process.h"
#include "field.h"
#include "process_fixture.h"
#include "unit.h"

enum {
    EXIT_SKIP = 77,
    LANDLOCK_SCOPES = 6, /* its first version that knows signals */
};

/* Whether the runtime says that pods have it. */
static bool says(const struct fixture *fixture, const char *layer)
{
    const char *have = strstr(fixture->info.text, "pods have namespaces: ");
    const char *found = have ? strstr(have, layer) : NULL;

    return found && found < strchr(have, ';');
}

/* Run `sh -c script`, which must succeed; its log, which the caller frees. */
static char *run_script(struct fixture *fixture, struct job *job, int number,
                        const char *script)
{
    job_make(job, number, ARGS("sh", "-c", script));
    fixture_create(fixture, job);
    enum reconcile_phase end = fixture_wait_end(fixture, job);
    char *log = fixture_log(fixture, job, "");

    if (end != RECONCILE_SUCCEEDED) {
        fail_msg("%s\n%s", script, log);
    }
    return log;
}

static void a_pod_has_the_namespaces_that_the_runtime_says(void **state)
{
    static const char *const names[] = {"user", "mount", "pid", "ipc", "net"};
    struct fixture *fixture = *state;
    struct job job;
    auto_mem char *log =
        run_script(fixture, &job, 1,
                   "for n in user mnt pid ipc net; do readlink "
                   "/proc/self/ns/$n; done");
    char *rest = log;

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char path[64], ours[64] = "";
        const char *line = strsep(&rest, "\n");
        snprintf(path, sizeof(path), "/proc/self/ns/%s",
                 strcmp(names[i], "mount") == 0 ? "mnt" : names[i]);
        assert_true(readlink(path, ours, sizeof(ours) - 1) > 0);
        assert_int_equal(strcmp(line, ours) != 0, says(fixture, names[i]));
    }
    job_free(&job);
}

static void a_pod_sees_only_its_own_processes(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    auto_mem char *log = run_script(
        fixture, &job, 2, "set -- /proc/[0-9]*; echo $#; cat /proc/1/comm");

    if (says(fixture, "pid")) {
        assert_true(atoi(log) <= 4);
        assert_non_null(strstr(log, "berth-keeper"));
    } else {
        assert_null(strstr(log, "berth-keeper"));
    }
    job_free(&job);
}

static void temporary_files_are_the_pods_own_and_go_with_it(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char script[256], path[64];

    snprintf(script, sizeof(script),
             "for d in /tmp /var/tmp /dev/shm; do echo x > $d/berth-left-%d; "
             "done; ls /tmp | wc -l; echo [$TMPDIR]; mktemp",
             getpid());
    if (!says(fixture, "mount")) {
        auto_mem char *shared =
            run_script(fixture, &job, 3, "echo x > $TMPDIR/own; mktemp");
        assert_non_null(strstr(shared, "/tmp/tmp."));
        assert_true(strncmp(shared, fixture->dir, strlen(fixture->dir)) == 0);
        job_free(&job);
        return;
    }
    auto_mem char *log = run_script(fixture, &job, 3, script);
    assert_non_null(strstr(log, "[]\n"));
    for (const char *dir = "/tmp\0/var/tmp\0/dev/shm\0"; *dir;
         dir += strlen(dir) + 1) {
        snprintf(path, sizeof(path), "%s/berth-left-%d", dir, getpid());
        assert_int_equal(access(path, F_OK), -1);
    }
    job_free(&job);
}

static void of_the_data_directory_a_pod_sees_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    char script[512];

    snprintf(script, sizeof(script),
             "ls %s %s/spaces | grep -c .; cat %s/lock && echo read; "
             "echo x > %s/new && echo written; echo y > $HOME/own; pwd; true",
             fixture->dir, fixture->dir, fixture->dir, fixture->dir);
    auto_mem char *log = run_script(fixture, &job, 4, script);

    bool is_fenced = strstr(fixture->info.text, "Landlock keeps jobs");
    if (says(fixture, "mount") || is_fenced || geteuid() == 0) {
        assert_null(strstr(log, "read\n"));
        assert_null(strstr(log, "written\n"));
    } else {
        assert_non_null(strstr(fixture->info.text, "jobs can change the data"));
    }
    if (says(fixture, "mount")) {
        /* Two names, two headings of ls, an empty line less; its space. */
        assert_int_equal(atoi(log), 4);
    }
    auto_mem char *own = fixture_work_file(fixture, &job, "own");
    assert_string_equal(own, "y\n");
    job_free(&job);
}

static void a_job_can_mount_nothing_over_what_it_has(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    auto_mem char *log = run_script(
        fixture, &job, 5,
        "umount /tmp && echo gone; mount -t tmpfs x /mnt && echo mounted; "
        "chroot / true && echo moved; grep CapEff /proc/self/status; true");

    assert_null(strstr(log, "gone\n"));
    assert_null(strstr(log, "mounted\n"));
    assert_null(strstr(log, "moved\n"));
    assert_non_null(strstr(log, "CapEff:\t0000000000000000\n"));
    job_free(&job);
}

static void containers_of_a_pod_share_what_is_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 6,
             ARGS("sh", "-c",
                  "cd ${TMPDIR:-/tmp}; echo a > a; "
                  "while [ ! -e b ]; do sleep 0.01; done"));
    (void)job_container(&job, false,
                        ARGS("sh", "-c",
                             "cd ${TMPDIR:-/tmp}; echo b > b; "
                             "while [ ! -e a ]; do sleep 0.01; done"));

    fixture_create(fixture, &job);

    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);
    job_free(&job);
}

/* Forks on and on, each in a session of its own, deaf to SIGTERM. */
static const char deaf[] =
    "trap '' TERM HUP INT; i=0; while [ $i -lt 30 ]; do i=$((i+1)); "
    "setsid sh -c 'trap \"\" TERM; (setsid sleep 1000 &) ; "
    "while :; do sleep 1 & wait; done' & done; touch up; "
    "while :; do sleep 1; done";

static void a_job_is_gone_5_s_after_its_grace_whatever_it_does(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    job_make(&job, 7, ARGS("sh", "-c", deaf));

    fixture_create(fixture, &job);
    fixture_wait_file(fixture, &job, "up");
    assert_true(fixture_process_count(&job) > 30);
    int64_t began_ms = machine_ms();
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, 1000);
    (void)fixture_wait_end(fixture, &job);
    int64_t took_ms = machine_ms() - began_ms;

    assert_int_equal(fixture_process_count(&job), 0);
    print_message("gone after %lld ms\n", (long long)took_ms);
    assert_true(took_ms >= 1000 && took_ms <= 1000 + patient_ms(5000));
    job_free(&job);
}

/* One container stops what starts in the others, before it is their program. */
static void who_stops_what_starts_does_not_stop_the_shim(void **state)
{
    enum { OTHERS = 20 };
    struct fixture *fixture = *state;
    struct job job;

    if (!says(fixture, "pid")) {
        skip(); /* it would stop other jobs of its user, too */
    }
    job_make(&job, 8,
             ARGS("sh", "-c",
                  "touch up; while :; do kill -STOP -1 2>/dev/null; done"));
    for (int i = 0; i < OTHERS; i++) {
        (void)job_container(&job, false, ARGS("sleep", "60"));
    }

    fixture_create(fixture, &job);
    fixture_wait_file(fixture, &job, "up");
    int64_t began_ms = machine_ms();
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, 500);
    (void)fixture_wait_end(fixture, &job);

    assert_true(machine_ms() - began_ms <= 500 + patient_ms(5000));
    assert_int_equal(fixture_process_count(&job), 0);
    job_free(&job);
}

static void without_layers_it_is_gone_as_well(void **state)
{
    struct fixture *fixture = *state;

    runtime_close(fixture->runtime);
    fixture->options.has_no_cgroups = true;
    fixture->options.has_no_namespaces = true;
    fixture_open(fixture);
    assert_non_null(strstr(fixture->info.text, "namespaces are switched off"));
    assert_false(says(fixture, "pid"));
    a_job_is_gone_5_s_after_its_grace_whatever_it_does(state);
}

/* Each link is gone before a search of all processes gets to it. */
static const char chain[] =
    "trap '' TERM; echo ': > beat; setsid sh link &' > link; "
    "for i in 1 2 3 4 5 6 7 8; do sh link; done; touch up; "
    "while :; do sleep 1; done";

static void wait_still(const char *path)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    struct timespec now;
    struct stat st;

    do {
        assert_true(machine_ms() < until_ms);
        (void)poll(NULL, 0, 50);
        assert_int_equal(stat(path, &st), 0);
        clock_gettime(CLOCK_REALTIME, &now);
    } while (now.tv_sec - st.st_mtim.tv_sec < 2);
}

static void a_chain_of_processes_is_gone_too(void **state)
{
    struct fixture *fixture = *state;
    char path[512], id[ID_TEXT_BYTES_MAX];
    struct job job;
    job_make(&job, 41, ARGS("sh", "-c", chain));

    fixture_create(fixture, &job);
    fixture_wait_file(fixture, &job, "up");
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, 100);
    (void)fixture_wait_end(fixture, &job);

    snprintf(path, sizeof(path), "%s/runs/%s/space/work/beat", fixture->dir,
             run_id_format(job.run.run, id));
    wait_still(path);
    job_free(&job);
}

static void without_layers_the_chain_is_gone_as_well(void **state)
{
    struct fixture *fixture = *state;

    runtime_close(fixture->runtime);
    fixture->options.has_no_cgroups = true;
    fixture->options.has_no_namespaces = true;
    fixture_open(fixture);
    a_chain_of_processes_is_gone_too(state);
}

/* Mount paths. */

static void mount_scratch(struct job *job, const char *path)
{
    static K8s__Io__Api__Core__V1__EmptyDirVolumeSource empty;
    static K8s__Io__Api__Core__V1__VolumeSource source;
    K8s__Io__Api__Core__V1__Volume *volume =
        arena_alloc(&job->arena, sizeof(*volume));
    K8s__Io__Api__Core__V1__VolumeMount *mount =
        arena_alloc(&job->arena, sizeof(*mount));
    K8s__Io__Api__Core__V1__Container *container = job->pod->containers[0];

    k8s__io__api__core__v1__empty_dir_volume_source__init(&empty);
    k8s__io__api__core__v1__volume_source__init(&source);
    k8s__io__api__core__v1__volume__init(volume);
    k8s__io__api__core__v1__volume_mount__init(mount);
    source.emptydir = &empty;
    volume->volumesource = &source;
    volume->name = mount->name = field("scratch");
    mount->mountpath = arena_strdup(&job->arena, str_of(path));
    job->pod->volumes = arena_alloc(&job->arena, sizeof(void *));
    job->pod->volumes[0] = volume;
    job->pod->n_volumes = 1;
    container->volumemounts = arena_alloc(&job->arena, sizeof(void *));
    container->volumemounts[0] = mount;
    container->n_volumemounts = 1;
}

/* A volume at a path that the machine does not have. */
static void check_missing_path(struct fixture *fixture, int number,
                               const char *path)
{
    char script[512];
    struct job job;
    snprintf(script, sizeof(script),
             "echo kept > %s/file && cat %s/file && ls /etc/passwd /usr/bin/env"
             " /dev/null && echo x > /dev/null && id > /dev/null",
             path, path);
    job_make(&job, number, ARGS("sh", "-c", script));
    mount_scratch(&job, path);

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    auto_mem char *log = fixture_log(fixture, &job, "");
    if (says(fixture, "mount")) {
        if (end != RECONCILE_SUCCEEDED) {
            fail_msg("%s: %s", path,
                     fixture_status(fixture, &job).ended[0].message.p);
        }
        assert_string_equal(log,
                            "kept\n/dev/null\n/etc/passwd\n/usr/bin/env\n");
    } else {
        assert_int_equal(end, RECONCILE_FAILED);
    }
    assert_int_equal(access(path, F_OK), -1);
    job_free(&job);
}

static void a_missing_mount_path_is_made_for_the_pod_alone(void **state)
{
    struct fixture *fixture = *state;
    static const char *const roots[] = {"", "/opt", "/etc", "/usr/local/share",
                                        "/tmp"};
    char path[128];

    for (int i = 0; i < (int)ARRAY_COUNT(roots); i++) {
        snprintf(path, sizeof(path), "%s/berth-none-%d", roots[i], getpid());
        check_missing_path(fixture, 20 + i, path);
        snprintf(path, sizeof(path), "%s/berth-none-%d/.a/b", roots[i],
                 getpid());
        check_missing_path(fixture, 30 + i, path);
    }
}

/* Root as containers and hardened units have it: what it starts can make no
 * namespace but one of users. */
static bool lose_sys_admin(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3];

    if (geteuid() != 0 || syscall(SYS_capget, &header, now) < 0) {
        return false;
    }
    now[0].effective &= ~(1U << CAP_SYS_ADMIN);
    now[0].permitted &= ~(1U << CAP_SYS_ADMIN);
    now[0].inheritable &= ~(1U << CAP_SYS_ADMIN);
    return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) == 0 &&
           syscall(SYS_capset, &header, now) == 0;
}

static void root_without_sys_admin_uses_a_user_namespace(void **state)
{
    struct fixture *fixture = *state;
    struct job job;

    if (says(fixture, "mount") && !says(fixture, "user")) {
        fail_msg("%s", fixture->info.text);
    }
    /* The user in there is the one that jobs have anyway. */
    auto_mem char *log = run_script(fixture, &job, 40, "id -u; id -g");
    assert_string_equal(log, "65534\n65534\n");
    job_free(&job);
}

/* As containers do it that let nobody make a namespace of users. */
static bool lose_user_namespaces(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool is_lost =
        filter && seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0) == 0 &&
        seccomp_rule_add(
            filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 1,
            SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER)) == 0 &&
        seccomp_load(filter) == 0;

    seccomp_release(filter);
    return is_lost;
}

/* All jobs have one user then. */
static void where_there_are_no_namespaces_jobs_are_fenced(void **state)
{
    struct fixture *fixture = *state;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
    struct job one, other;
    char script[64];

    assert_null(strstr(fixture->info.text, "pods have namespaces"));
    assert_non_null(strstr(fixture->info.text, "namespaces missing: mount"));
    assert_int_equal(strstr(fixture->info.text, "Landlock keeps") != NULL,
                     version >= 1);
    job_make(&one, 41,
             ARGS("sh", "-c",
                  "echo $$$$ >new; mv new up; while :; do sleep 1; done"));
    fixture_create(fixture, &one);
    fixture_wait_file(fixture, &one, "up");
    auto_mem char *pid = fixture_work_file(fixture, &one, "up");
    (void)snprintf(script, sizeof(script),
                   "kill -0 %d && echo reached; echo done",
                   (int)strtol(pid, NULL, 10));
    auto_mem char *log = run_script(fixture, &other, 42, script);
    if (version >= LANDLOCK_SCOPES) {
        assert_null(strstr(log, "reached"));
    }
    assert_non_null(strstr(log, "done"));
    job_free(&one);
    job_free(&other);
}

static int run_without_namespaces(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(where_there_are_no_namespaces_jobs_are_fenced),
        PROCESS_TEST(a_pod_has_the_namespaces_that_the_runtime_says),
        PROCESS_TEST(a_chain_of_processes_is_gone_too),
    };

    return geteuid() == 0 && lose_user_namespaces() && lose_sys_admin()
               ? RUN_TESTS(tests)
               : EXIT_SKIP;
}

static int run_without_sys_admin(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(root_without_sys_admin_uses_a_user_namespace),
        PROCESS_TEST(a_pod_has_the_namespaces_that_the_runtime_says),
        PROCESS_TEST(a_pod_sees_only_its_own_processes),
        PROCESS_TEST(temporary_files_are_the_pods_own_and_go_with_it),
        PROCESS_TEST(of_the_data_directory_a_pod_sees_its_own),
        PROCESS_TEST(a_job_can_mount_nothing_over_what_it_has),
        PROCESS_TEST(containers_of_a_pod_share_what_is_its_own),
        PROCESS_TEST(a_chain_of_processes_is_gone_too),
        PROCESS_TEST(a_missing_mount_path_is_made_for_the_pod_alone),
    };

    return lose_sys_admin() ? RUN_TESTS(tests) : EXIT_SKIP;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(a_pod_has_the_namespaces_that_the_runtime_says),
        PROCESS_TEST(a_pod_sees_only_its_own_processes),
        PROCESS_TEST(temporary_files_are_the_pods_own_and_go_with_it),
        PROCESS_TEST(of_the_data_directory_a_pod_sees_its_own),
        PROCESS_TEST(a_job_can_mount_nothing_over_what_it_has),
        PROCESS_TEST(containers_of_a_pod_share_what_is_its_own),
        PROCESS_TEST(a_job_is_gone_5_s_after_its_grace_whatever_it_does),
        PROCESS_TEST(who_stops_what_starts_does_not_stop_the_shim),
        PROCESS_TEST(without_layers_it_is_gone_as_well),
        PROCESS_TEST(a_chain_of_processes_is_gone_too),
        PROCESS_TEST(without_layers_the_chain_is_gone_as_well),
        PROCESS_TEST(a_missing_mount_path_is_made_for_the_pod_alone),
    };
    if (argc > 1 && strcmp(argv[1], "without-sys-admin") == 0) {
        return run_without_sys_admin();
    }
    if (argc > 1 && strcmp(argv[1], "without-namespaces") == 0) {
        return run_without_namespaces();
    }
    return RUN_TESTS(tests);
}
