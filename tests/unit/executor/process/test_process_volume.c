/*
 * process: what a pod reads and writes, its volumes and its logs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "executor/files/run_file.h"
#include "executor/process/process.h"
#include "field.h"
#include "process_fixture.h"
#include "unit.h"
#include "wire/message/message.h"

/* Logs. */

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

    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);

    assert_int_equal(query_log(fixture, &job, "", -1, 100000, &buf), 0);
    assert_int_equal(count_lines(&buf), 5);
    /* "2026-01-02T03:04:05.123456789Z" of the second line. */
    char second[31] = "";
    memcpy(second, strchr(buf.bytes, '\n') + 1, 30);
    assert_int_equal(second[29], 'Z');
    assert_int_equal(query_log(fixture, &job, second, -1, 100000, &buf), 0);
    assert_int_equal(count_lines(&buf), 3);
    /* Nanoseconds of 64 bits end in 2262, years in 9999. */
    static const char *const after[] = {"2300-01-01T00:00:00Z",
                                        "9999-12-31T23:59:59.5-23:59"};
    static const char *const before[] = {"0001-01-01T00:00:00Z",
                                         "1600-01-01T00:00:00+01:00"};
    for (size_t i = 0; i < ARRAY_COUNT(after); i++) {
        assert_int_equal(query_log(fixture, &job, after[i], -1, 100000, &buf),
                         0);
        assert_int_equal(count_lines(&buf), 0);
        assert_int_equal(query_log(fixture, &job, before[i], -1, 100000, &buf),
                         0);
        assert_int_equal(count_lines(&buf), 5);
    }
    assert_int_equal(query_log(fixture, &job, "", 2, 100000, &buf), 0);
    assert_int_equal(count_lines(&buf), 2);
    assert_non_null(strstr(buf.bytes, "Z 5\n"));
    /* 1: there is more than that. */
    assert_int_equal(query_log(fixture, &job, "", -1, 70, &buf), 1);
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
    fixture_open(fixture);
    job_make(&job, 41, ARGS("sh", "-c", "seq 1 100000"));

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    auto_mem char *log = fixture_log(fixture, &job, "");
    assert_int_equal(end, RECONCILE_SUCCEEDED);
    assert_non_null(strstr(log, "the log is full (1000 bytes)"));
    assert_true(strlen(log) < 1200);
    job_free(&job);
}

/* Volumes. */

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
    entry.key = field("greeting");
    entry.value = field("hello from a map\n");
    map.n_data = 1;
    map.data = entries;
    meta.name = name.name = field("conf");
    object.objectmeta = &meta;
    object.object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP;
    object.configmap = &map;
    job.submit->n_objects = 1;
    job.submit->objects = objects;
    from.localobjectreference = &name;
    source.configmap = &from;
    add_volume(&job, "my-conf", "/nowhere/.hidden/conf", &source);

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    auto_mem char *log = fixture_log(fixture, &job, "");
    assert_int_equal(end, RECONCILE_SUCCEEDED);
    if (geteuid() == 0) {
        assert_non_null(strstr(log, "hello from a map\n"));
        assert_null(strstr(log, "written"));
    }
    job_free(&job);
}

static void skip_unless_mounting(const struct fixture *fixture)
{
    if (!strstr(fixture->info.text, "are mounted")) {
        print_message("skipped: %s\n", fixture->info.text);
        skip();
    }
}

/* An empty directory at /mnt. */
static void add_scratch(struct job *job)
{
    static K8s__Io__Api__Core__V1__EmptyDirVolumeSource empty =
        K8S__IO__API__CORE__V1__EMPTY_DIR_VOLUME_SOURCE__INIT;
    static K8s__Io__Api__Core__V1__VolumeSource source =
        K8S__IO__API__CORE__V1__VOLUME_SOURCE__INIT;

    source.emptydir = &empty;
    add_volume(job, "scratch", "/mnt", &source);
}

static void an_empty_dir_is_mounted_for_its_pod_alone(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    skip_unless_mounting(fixture);
    job_make(&job, 51,
             ARGS("sh", "-c", "echo kept > /mnt/file && cat /mnt/file"));
    add_scratch(&job);

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    auto_mem char *log = fixture_log(fixture, &job, "");
    assert_int_equal(end, RECONCILE_SUCCEEDED);
    assert_string_equal(log, "kept\n");
    assert_int_equal(access("/mnt/file", F_OK), -1);
    job_free(&job);
}

/* What a job sees is not below a name that others know, and what it may write
 * is its user's alone. */
static void a_volume_is_private_and_its_path_cannot_be_guessed(void **state)
{
    struct fixture *fixture = *state;
    char path[512], link[256] = "", id[ID_TEXT_BYTES_MAX];
    struct stat st;
    struct job job;
    job_make(&job, 54, ARGS("sh", "-c", "touch $BERTH_VOLUME_SCRATCH/x"));
    add_scratch(&job);
    job.pod->containers[0]->volumemounts[0]->subpath = field("a/b");

    fixture_create(fixture, &job);
    assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_SUCCEEDED);

    run_id_format(job.run.run, id);
    snprintf(path, sizeof(path), "%s/runs/%s", fixture->dir, id);
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    snprintf(path, sizeof(path), "%s/runs/%s/space", fixture->dir, id);
    assert_true(readlink(path, link, sizeof(link) - 1) > 32);
    assert_null(strstr(link, id));
    for (const char *part = "volumes/0\0volumes/0/a\0volumes/0/a/b\0work\0";
         *part; part += strlen(part) + 1) {
        snprintf(path, sizeof(path), "%s/runs/%s/space/%s", fixture->dir, id,
                 part);
        assert_int_equal(lstat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
        assert_int_equal(st.st_uid,
                         geteuid() == 0 ? PROCESS_USER_DEFAULT : geteuid());
    }
    job_free(&job);
}

static void a_sub_path_that_became_a_link_is_not_followed(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    skip_unless_mounting(fixture);
    job_make(&job, 53, ARGS("ls", "/mnt"));
    add_scratch(&job);
    job.pod->containers[0]->volumemounts[0]->subpath = field("sub");
    K8s__Io__Api__Core__V1__Container *first = job_container(
        &job, true,
        ARGS("sh", "-c",
             "cd $BERTH_VOLUME_SCRATCH && rmdir sub && ln -s /root sub"));
    K8s__Io__Api__Core__V1__VolumeMount whole =
        K8S__IO__API__CORE__V1__VOLUME_MOUNT__INIT;
    K8s__Io__Api__Core__V1__VolumeMount *mounts[] = {&whole};
    whole.name = field("scratch");
    whole.mountpath = field("/mnt");
    first->volumemounts = mounts;
    first->n_volumemounts = 1;

    fixture_create(fixture, &job);
    enum reconcile_phase end = fixture_wait_end(fixture, &job);

    struct runtime_status status = fixture_status(fixture, &job);
    assert_int_equal(end, RECONCILE_FAILED);
    assert_int_equal(status.cause, RUNTIME_CAUSE_START);
    job_free(&job);
}

/* A job that lists a directory where its volume is to be. */
static void make_lister(struct job *job, int number, const char *path)
{
    job_make(job, number, ARGS("sh", "-c", "ls /mnt"));
    add_scratch(job);
    job->pod->containers[0]->volumemounts[0]->mountpath = field(path);
}

static void a_mount_that_cannot_be_given_is_refused_by_name(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    struct job job;

    runtime_close(fixture->runtime);
    fixture->options.has_no_namespaces = true;
    fixture_open(fixture);
    make_lister(&job, 55, "/mnt");
    err = fixture_refuse(fixture, &job);
    assert_non_null(strstr(err.text,
                           "volume scratch cannot be mounted at mountPath "
                           "/mnt: this machine allows no mounts; the command "
                           "may use $BERTH_VOLUME_SCRATCH instead"));
    job_free(&job);
    /* Who knows another way to it may run. */
    make_lister(&job, 56, "/mnt");
    job_env(&job, job.pod->containers[0], "DIR", "$(BERTH_VOLUME_SCRATCH)");
    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);
    job_free(&job);
}

static void a_directory_is_not_mounted_on_a_file(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    struct job job;

    skip_unless_mounting(fixture);
    make_lister(&job, 57, "/bin/sh");
    err = fixture_refuse(fixture, &job);
    assert_non_null(strstr(err.text, "at mountPath /bin/sh: only one of them "
                                     "is a directory"));
    job_free(&job);
}

static void a_mount_path_leads_below_the_root(void **state)
{
    static const char *const paths[] = {"/",     "//", "/.",   "/./", "a/b",
                                        "/a/..", "..", "/a:b", ""};
    struct fixture *fixture = *state;
    struct err err;
    struct job job;

    for (int i = 0; i < (int)ARRAY_COUNT(paths); i++) {
        make_lister(&job, 70 + i, paths[i]);
        err = fixture_refuse(fixture, &job);
        assert_non_null(strstr(err.text, "must be an absolute path below /"));
        job_free(&job);
    }
}

/* A job that could put its own links there would have us, as root, follow
 * them. */
static void what_the_kernel_shows_of_itself_is_not_covered(void **state)
{
    static const char *const paths[] = {"/proc",          "/proc/self",
                                        "/sys",           "/dev",
                                        "/dev/fd",        "/proc/not-there",
                                        "/dev/not-there", "/sys/fs/cgroup",
                                        "/dev/shm",       "/mnt"};
    enum { REFUSED = 8 };
    struct fixture *fixture = *state;

    skip_unless_mounting(fixture);
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        struct job job;
        if (i >= REFUSED && access(paths[i], F_OK) < 0) {
            continue;
        }
        job_make(&job, 80 + (int)i, ARGS("true"));
        add_scratch(&job);
        job.pod->containers[0]->volumemounts[0]->mountpath =
            arena_strdup(&job.arena, str_of(paths[i]));
        fixture_create(fixture, &job);
        if (fixture_wait_end(fixture, &job) !=
            (i < REFUSED ? RECONCILE_FAILED : RECONCILE_SUCCEEDED)) {
            fail_msg("%s", paths[i]);
        }
        job_free(&job);
    }
}

/* Mount paths below a directory that only root may look into: what comes of
 * them says nothing of what is there. */
static void a_mount_path_is_no_question_about_roots_files(void **state)
{
    struct fixture *fixture = *state;
    /* Not in /tmp, of which each pod has its own. */
    char secret[] = "/var/lib/berth-test-XXXXXX";
    struct err told[2] = {{""}, {""}};
    enum runtime_change_kind kinds[2];
    char path[512];

    skip_unless_mounting(fixture);
    if (geteuid() != 0) {
        skip();
    }
    assert_non_null(mkdtemp(secret));
    snprintf(path, sizeof(path), "%s/file", secret);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < 2; i++) {
        struct job job;
        job_make(&job, 90 + i, ARGS("true"));
        add_scratch(&job);
        snprintf(path, sizeof(path), "%s/%s", secret, i ? "none" : "file");
        job.pod->containers[0]->volumemounts[0]->mountpath =
            arena_strdup(&job.arena, str_of(path));
        kinds[i] = fixture_try(fixture, &job, &told[i]);
        if (kinds[i] == RUNTIME_CREATED) {
            assert_int_equal(fixture_wait_end(fixture, &job), RECONCILE_FAILED);
        }
        job_free(&job);
    }
    snprintf(path, sizeof(path), "%s/file", secret);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(secret), 0);
    assert_int_equal(kinds[0], kinds[1]);
}

/* A job that brings an object needs it. */
static void objects_that_need_a_cluster_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct job job;

    job_make(&job, 79, ARGS("true"));
    Armadaevents__KubernetesObject *object = job_object(&job, "s");
    object->object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_MANIFEST;
    object->manifest = wire_new(&berth__api__manifest__descriptor, &job.arena);
    object->manifest->kind = arena_strdup(&job.arena, STR("Secret"));

    struct err err = fixture_refuse(fixture, &job);

    assert_non_null(strstr(err.text, "objects of kind Secret"));
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

    err = fixture_refuse(fixture, &job);

    assert_non_null(strstr(err.text, "volume \"secret\""));
    auto_mem char *spec = read_file("%s/runs/%s/spec", fixture->dir,
                                    run_id_format(job.run.run, id));
    assert_string_equal(spec, ""); /* nothing is left */
    job_free(&job);
}

/* A path of so many directories and a name. */
static char *deep_path(struct arena *arena, int number, int folder_count)
{
    auto_strbuf path = {0};

    for (int i = 0; i < folder_count; i++) {
        strbuf_addf(&path, "%d/", i ? 0 : number);
    }
    strbuf_addf(&path, "%d", number);
    return arena_strdup(arena, strbuf_str(&path));
}

/* A volume of a config map with so many keys, and some that lie deep. */
static void add_big_map(struct job *job, int flat_count, int deep_count)
{
    int key_count = flat_count + deep_count;
    K8s__Io__Api__Core__V1__ConfigMap *map =
        arena_alloc(&job->arena, sizeof(*map));
    K8s__Io__Api__Core__V1__ConfigMapVolumeSource *from =
        arena_alloc(&job->arena, sizeof(*from));
    K8s__Io__Api__Core__V1__VolumeSource *source =
        arena_alloc(&job->arena, sizeof(*source));
    Armadaevents__KubernetesObject *object =
        arena_alloc(&job->arena, sizeof(*object));

    k8s__io__api__core__v1__config_map__init(map);
    k8s__io__api__core__v1__config_map_volume_source__init(from);
    k8s__io__api__core__v1__volume_source__init(source);
    armadaevents__kubernetes_object__init(object);
    map->data =
        arena_alloc_array(&job->arena, (size_t)key_count, sizeof(*map->data));
    for (; map->n_data < (size_t)key_count; map->n_data++) {
        K8s__Io__Api__Core__V1__ConfigMap__DataEntry *entry =
            arena_alloc(&job->arena, sizeof(*entry));
        k8s__io__api__core__v1__config_map__data_entry__init(entry);
        entry->key = deep_path(&job->arena, (int)map->n_data,
                               map->n_data < (size_t)flat_count ? 0 : 30);
        map->data[map->n_data] = entry;
    }
    object->object_case = ARMADAEVENTS__KUBERNETES_OBJECT__OBJECT_CONFIG_MAP;
    object->configmap = map;
    job->submit->objects = arena_alloc(&job->arena, sizeof(object));
    job->submit->objects[0] = object;
    job->submit->n_objects = 1;
    source->configmap = from;
    add_volume(job, "big", "/mnt", source);
}

/* They are made one by one, while nothing else is done.  Directories count,
 * too: the last keys lie in many. */
static void a_pod_has_a_bounded_number_of_files(void **state)
{
    static const int key_counts[][2] = {{1100, 0}, {1000, 3}};
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_COUNT(key_counts); i++) {
        struct job job;
        job_make(&job, 70 + (int)i, ARGS("true"));
        add_big_map(&job, key_counts[i][0], key_counts[i][1]);
        struct err err = fixture_refuse(fixture, &job);
        assert_non_null(
            strstr(err.text, "more than the 1024 files and folders allowed"));
        job_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(logs_are_cut_by_time_lines_and_bytes),
        PROCESS_TEST(a_log_stops_at_its_limit_and_the_program_goes_on),
        PROCESS_TEST(an_inline_config_map_is_a_directory),
        PROCESS_TEST(an_empty_dir_is_mounted_for_its_pod_alone),
        PROCESS_TEST(a_volume_is_private_and_its_path_cannot_be_guessed),
        PROCESS_TEST(a_sub_path_that_became_a_link_is_not_followed),
        PROCESS_TEST(a_mount_that_cannot_be_given_is_refused_by_name),
        PROCESS_TEST(a_directory_is_not_mounted_on_a_file),
        PROCESS_TEST(a_mount_path_leads_below_the_root),
        PROCESS_TEST(what_the_kernel_shows_of_itself_is_not_covered),
        PROCESS_TEST(a_mount_path_is_no_question_about_roots_files),
        PROCESS_TEST(a_mounted_secret_is_refused),
        PROCESS_TEST(objects_that_need_a_cluster_are_refused),
        PROCESS_TEST(a_pod_has_a_bounded_number_of_files),
    };
    return RUN_TESTS(tests);
}
