/*
 * process: the files of a job's folder, as others may have them.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "berth/api.pb-c.h"
#include "executor/files/run_file.h"
#include "process_fixture.h"
#include "unit.h"
#include "wire/message/message.h"
#include "wire/text/inner_path.h"

typedef Berth__Api__ListJobFilesResponse list_t;
typedef Berth__Api__ReadJobFileResponse part_t;

/* Ask, and decode what comes into the job's arena; the code. */
static int ask(struct fixture *fixture, struct job *job,
               const struct runtime_files_query *query, void *ret_message,
               struct err *err)
{
    auto_strbuf bytes = {0};
    struct runtime_files_query own = *query;
    ProtobufCMessage *message;

    own.job = job->run.job;
    *err = (struct err){""};
    int rc = fixture->runtime->ops->files(fixture->runtime, &own, &bytes, err);
    if (rc == 0) {
        struct str copy = arena_str(&job->arena, strbuf_str(&bytes));
        assert_int_equal(
            wire_decode(query->is_read
                            ? &berth__api__read_job_file_response__descriptor
                            : &berth__api__list_job_files_response__descriptor,
                        copy, &wire_request_limits, &job->arena, &message, err),
            0);
        memcpy(ret_message, &message, sizeof(message));
    }
    return rc;
}

static const list_t *list(struct fixture *fixture, struct job *job,
                          const char *path)
{
    const struct runtime_files_query query = {.path = str_of(path)};
    const list_t *files;
    struct err err;

    if (ask(fixture, job, &query, &files, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return files;
}

/* The paths of a list, each with a space behind it. */
static const char *paths_of(struct job *job, const list_t *files)
{
    auto_strbuf paths = {0};

    for (size_t i = 0; i < files->n_files; i++) {
        strbuf_addf(&paths, "%s%s ", files->files[i]->path,
                    files->files[i]->folder ? "/" : "");
    }
    return arena_strdup(&job->arena, strbuf_str(&paths));
}

static int read_part(struct fixture *fixture, struct job *job, const char *path,
                     int64_t offset, int64_t count, uint64_t file_id,
                     const part_t **ret_part, struct err *err)
{
    const struct runtime_files_query query = {.path = str_of(path),
                                              .is_read = true,
                                              .offset = offset,
                                              .byte_count_max = count,
                                              .file_id = file_id};

    return ask(fixture, job, &query, ret_part, err);
}

/* Run a shell script to its end. */
static void run_script(struct fixture *fixture, struct job *job, int number,
                       const char *script)
{
    job_make(job, number, ARGS("sh", "-c", script));
    fixture_create(fixture, job);
    assert_int_equal(fixture_wait_end(fixture, job), RECONCILE_SUCCEEDED);
}

static void files_are_listed_in_order_and_read_in_parts(void **state)
{
    struct fixture *fixture = *state;
    struct job job;
    const part_t *part;
    struct err err;

    run_script(fixture, &job, 60,
               "umask 022; mkdir -p a/b none; printf 0123456789 > a/b/data; "
               "printf x > a.sh; chmod +x a.sh; : > z");
    const list_t *files = list(fixture, &job, "");
    assert_string_equal(paths_of(&job, files),
                        "a/ a.sh a/b/ a/b/data none/ z ");
    assert_false(files->cut);
    assert_int_equal(files->passed_over, 0);
    assert_true(files->files[1]->executable);
    assert_int_equal(files->files[3]->byte_count, 10);
    assert_false(files->files[3]->executable);
    assert_true(files->files[3]->modified->seconds > 1500000000);
    assert_string_equal(paths_of(&job, list(fixture, &job, "a")),
                        "a/b/ a/b/data ");
    assert_string_equal(paths_of(&job, list(fixture, &job, "a/b/data")),
                        "a/b/data ");

    assert_int_equal(read_part(fixture, &job, "a/b/data", 0, 4, 0, &part, &err),
                     0);
    assert_true(
        str_equal(str_make(part->bytes.data, part->bytes.len), STR("0123")));
    assert_int_equal(part->byte_count, 10);
    uint64_t id = part->file_id;
    assert_int_equal(
        read_part(fixture, &job, "a/b/data", 8, 4, id, &part, &err), 0);
    assert_true(
        str_equal(str_make(part->bytes.data, part->bytes.len), STR("89")));
    assert_int_equal(
        read_part(fixture, &job, "a/b/data", INT64_MAX, 4, id, &part, &err), 0);
    assert_int_equal(part->bytes.len, 0);
    assert_int_equal(
        read_part(fixture, &job, "a/b/data", 0, 4, id + 1, &part, &err),
        -ERR_CONFLICT);
    job_free(&job);
}

static void a_running_job_has_files_too(void **state)
{
    struct fixture *fixture = *state;
    struct job job;

    job_make(&job, 61, ARGS("sh", "-c", "printf 1 > now; exec sleep 600"));
    fixture_create(fixture, &job);
    fixture_wait_file(fixture, &job, "now");
    assert_string_equal(paths_of(&job, list(fixture, &job, "")), "now ");
    fixture->runtime->ops->stop(fixture->runtime, job.run.run, 0);
    (void)fixture_wait_end(fixture, &job);
    job_free(&job);
}

/* Whatever stands there, nothing but the job's own files is told of. */
static void nothing_leads_out_of_the_folder(void **state)
{
    static const char *const bad[] = {"..",     "/etc/passwd", "a/../..", ".",
                                      "a//out", "out/",        "./out"};
    static const char *const closed[] = {"out", "dir/passwd", "fifo", "gone",
                                         "in/x"};
    struct fixture *fixture = *state;
    struct job job;
    const part_t *part;
    struct err err;

    run_script(fixture, &job, 62,
               "ln -s /etc/passwd out; ln -s /etc dir; mkfifo fifo; "
               "mkdir real; printf r > real/x; ln -s real in; "
               "printf '' > \"$(printf 'n\\377')\"");
    const list_t *files = list(fixture, &job, "");
    assert_string_equal(paths_of(&job, files), "real/ real/x ");
    assert_int_equal(files->passed_over, 5);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(
            read_part(fixture, &job, bad[i], 0, 10, 0, &part, &err),
            -ERR_INVALID);
    }
    assert_int_equal(read_part(fixture, &job, "", 0, 10, 0, &part, &err),
                     -ERR_INVALID);
    for (size_t i = 0; i < ARRAY_COUNT(closed); i++) {
        assert_true(read_part(fixture, &job, closed[i], 0, 10, 0, &part, &err) <
                    0);
    }
    assert_int_equal(read_part(fixture, &job, "out", 0, 10, 0, &part, &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(err.text, "out: links are not followed");
    assert_int_equal(read_part(fixture, &job, "fifo", 0, 10, 0, &part, &err),
                     -ERR_INVALID);
    assert_int_equal(read_part(fixture, &job, "real", 0, 10, 0, &part, &err),
                     -ERR_INVALID);
    job_free(&job);
}

/* As where protected_hardlinks is off: a link to what the job may not read. */
static void a_hard_link_to_a_file_of_ours_stays_closed(void **state)
{
    struct fixture *fixture = *state;
    char path[512], link_path[512], id[ID_TEXT_BYTES_MAX];
    const part_t *part;
    struct job job;
    struct err err;

    if (geteuid() != 0) {
        skip();
    }
    run_script(fixture, &job, 63, "mkdir d; printf 1 > d/own; chmod 0 d/own");
    (void)snprintf(path, sizeof(path), "%s/secret", fixture->dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "s", 1), 1);
    close(fd);
    (void)snprintf(link_path, sizeof(link_path), "%s/runs/%s/space/work/d/hard",
                   fixture->dir, run_id_format(job.run.run, id));
    assert_int_equal(link(path, link_path), 0);
    assert_int_equal(read_part(fixture, &job, "d/hard", 0, 10, 0, &part, &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(err.text, "d/hard: the job's user may not read it");
    /* What the job closed to itself is closed. */
    assert_int_equal(read_part(fixture, &job, "d/own", 0, 10, 0, &part, &err),
                     -ERR_NOT_FOUND);
    job_free(&job);
}

static void lists_have_bounds(void **state)
{
    struct fixture *fixture = *state;
    struct job job;

    run_script(fixture, &job, 64,
               /* More than a megabyte of paths. */
               "many=$(head -c 250 /dev/zero | tr '\\0' m); mkdir $many; "
               "cd $many; seq -f %0250.0f 2200 | xargs touch; cd ..; i=0; "
               "while [ $i -lt 40 ]; do mkdir d; cd d; i=$((i+1)); done");
    const list_t *files = list(fixture, &job, "");
    assert_true(files->cut);
    assert_in_range(files->n_files, 2000, 2199);
    files = list(fixture, &job, "d");
    assert_int_equal(files->n_files, RUNTIME_FILE_DEPTH_MAX + 1);
    assert_int_equal(files->passed_over, 1);
    assert_false(files->cut);
    job_free(&job);
}

/* A folder whose path is as long as a path can be is listed, and lists none. */
static void the_longest_path_is_listed(void **state)
{
    struct fixture *fixture = *state;
    char path[INNER_PATH_BYTES_MAX + 1];
    struct job job;

    for (size_t i = 0; i < INNER_PATH_BYTES_MAX; i++) {
        path[i] = i % 256 == 255 ? '/' : 'n';
    }
    path[INNER_PATH_BYTES_MAX] = '\0';
    run_script(fixture, &job, 69,
               "name=$(head -c 255 /dev/zero | tr '\\0' n); path=$name; i=1; "
               "while [ $i -lt 16 ]; do path=$path/$name; i=$((i+1)); done; "
               "mkdir -p $path; env -C $path touch file");
    const list_t *files = list(fixture, &job, path);
    assert_int_equal(files->n_files, 0);
    assert_int_equal(files->passed_over, 1);
    assert_false(files->cut);
    job_free(&job);
}

static void what_is_gone_says_by_what(void **state)
{
    struct fixture *fixture = *state;
    const struct runtime_files_query query = {.path = STR("")};
    struct runtime_change change;
    const list_t *files;
    struct err err;
    struct job job;

    job_make(&job, 65, ARGS("true"));
    assert_int_equal(ask(fixture, &job, &query, &files, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "it has not started there"));
    fixture_create(fixture, &job);
    (void)fixture_wait_end(fixture, &job);
    fixture->runtime->ops->forget(fixture->runtime, job.run.run);
    runtime_close(fixture->runtime);
    fixture->options.folder_ms = 0;
    fixture_open(fixture);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    while (ask(fixture, &job, &query, &files, &err) == 0) {
        assert_true(machine_ms() < until_ms);
        (void)fixture->runtime->ops->poll(fixture->runtime, &change, 1);
        (void)poll(NULL, 0, 5);
    }
    assert_non_null(strstr(err.text, "executor.process.retention.folders"));
    job_free(&job);
}

static void reopen(struct fixture *fixture)
{
    runtime_close(fixture->runtime);
    fixture_open(fixture);
}

/* Wait until what is asked of the job's files says `text`, or until it has a
 * list if that is NULL. */
static const char *wait_for(struct fixture *fixture, struct job *job,
                            const char *text)
{
    const struct runtime_files_query query = {.path = STR("")};
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    struct runtime_change change;
    const list_t *files;
    struct err err;

    for (;;) {
        int rc = ask(fixture, job, &query, &files, &err);
        if (text ? rc == -ERR_NOT_FOUND && strstr(err.text, text) : rc == 0) {
            return rc == 0 ? paths_of(job, files) : "";
        }
        if (machine_ms() >= until_ms) {
            fail_msg("%d: %s", rc, err.text);
        }
        (void)fixture->runtime->ops->poll(fixture->runtime, &change, 1);
        (void)poll(NULL, 0, 5);
    }
}

static bool is_there(const struct fixture *fixture, const char *folder,
                     const char *name)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/%s/%s", fixture->dir, folder, name);
    return access(path, F_OK) == 0;
}

/* Until a file of ours is removed. */
static void wait_gone(struct fixture *fixture, const char *folder,
                      const char *name)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    struct runtime_change change;

    while (is_there(fixture, folder, name)) {
        assert_true(machine_ms() < until_ms);
        (void)fixture->runtime->ops->poll(fixture->runtime, &change, 1);
        (void)poll(NULL, 0, 5);
    }
}

/* Run a job to its end, with a folder for results, and be done with it. */
static void leave(struct fixture *fixture, struct job *job)
{
    job_annotate(job, "berth.dev/outputPath", "/results");
    fixture_create(fixture, job);
    assert_int_equal(fixture_wait_end(fixture, job), RECONCILE_SUCCEEDED);
    fixture->runtime->ops->forget(fixture->runtime, job->run.run);
}

/* A job that leaves results, and is done with. */
static void leave_results(struct fixture *fixture, struct job *job, int number,
                          const char *script)
{
    job_make(job, number, ARGS("sh", "-c", script));
    leave(fixture, job);
}

static void results_outlive_folders_and_logs(void **state)
{
    struct fixture *fixture = *state;
    char run[ID_TEXT_BYTES_MAX], id[ID_TEXT_BYTES_MAX], space[64];
    struct job job;

    leave_results(fixture, &job, 70,
                  "cd $BERTH_OUTPUT_DIR; mkdir d; echo 1 > d/model; "
                  "echo 2 > $HOME/other; chmod 0 d");
    (void)snprintf(space, sizeof(space), "%s/space",
                   run_id_format(job.run.run, run));
    job_id_format(job.run.job, id);
    /* As they are while the folders are there, and kept after that. */
    assert_string_equal(paths_of(&job, list(fixture, &job, "")), "d/ ");
    fixture->options.folder_ms = 0;
    reopen(fixture);
    wait_gone(fixture, "runs", space);
    assert_true(is_there(fixture, "outputs", id));
    assert_string_equal(wait_for(fixture, &job, NULL), "d/ ");
    /* The logs go first. */
    fixture->options.keep_ms = 1;
    reopen(fixture);
    wait_gone(fixture, "runs", run);
    assert_string_equal(wait_for(fixture, &job, NULL), "d/ ");
    fixture->options.output_ms = 1;
    reopen(fixture);
    (void)wait_for(fixture, &job, "it has not started there, or");
    assert_false(is_there(fixture, "outputs", id));
    job_free(&job);
}

static void results_have_bounds_that_are_named(void **state)
{
    static const char big[] = "head -c 300000 /dev/urandom > $BERTH_OUTPUT_DIR/"
                              "big; head -c 20000 /dev/zero > small";
    struct fixture *fixture = *state;
    struct job jobs[3];

    runtime_close(fixture->runtime);
    fixture->options.folder_ms = 0;
    fixture->options.output_byte_count_max = 200000;
    fixture_open(fixture);
    leave_results(fixture, &jobs[0], 71, big);
    reopen(fixture);
    (void)wait_for(fixture, &jobs[0], "retention.maxOutputBytesPerJob");
    runtime_close(fixture->runtime);
    fixture->options.output_byte_count_max = 400000;
    fixture->options.outputs_byte_count_max = 500000;
    fixture_open(fixture);
    /* The older of two goes. */
    leave_results(fixture, &jobs[1], 72, big);
    reopen(fixture);
    leave_results(fixture, &jobs[2], 73, big);
    reopen(fixture);
    (void)wait_for(fixture, &jobs[1],
                   "by executor.process.retention.maxOutput");
    assert_string_equal(wait_for(fixture, &jobs[2], NULL), "big ");
    runtime_close(fixture->runtime);
    fixture->options.output_count_max = 0;
    fixture_open(fixture);
    (void)wait_for(fixture, &jobs[2], "retention.maxOutputs");
    for (int i = 0; i < 3; i++) {
        job_free(&jobs[i]);
    }
}

/* Step by step, until what a job left is kept. */
static void wait_kept(struct fixture *fixture, const char *id)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    struct runtime_change change;

    while (!is_there(fixture, "outputs", id)) {
        assert_true(machine_ms() < until_ms);
        (void)fixture->runtime->ops->poll(fixture->runtime, &change, 1);
        (void)poll(NULL, 0, 5);
    }
}

/* Whoever has most makes room: the others keep theirs. */
static void who_keeps_most_makes_room(void **state)
{
    struct fixture *fixture = *state;
    struct job jobs[4];

    for (int i = 0; i < 4; i++) {
        job_make(&jobs[i], 80 + i,
                 ARGS("sh", "-c", "echo 1 > $BERTH_OUTPUT_DIR/own"));
        jobs[i].run.queue = i == 0 ? STR("quiet") : STR("loud");
        leave(fixture, &jobs[i]);
        reopen(fixture); /* in this order */
    }
    runtime_close(fixture->runtime);
    fixture->options.folder_ms = 0;
    fixture->options.output_count_max = 3;
    fixture_open(fixture);
    (void)wait_for(fixture, &jobs[1], "by executor.process.retention.maxOut");
    /* The queue is known of what an earlier life has kept, too. */
    fixture->options.output_count_max = 2;
    reopen(fixture);
    (void)wait_for(fixture, &jobs[2], "by executor.process.retention.maxOut");
    assert_string_equal(wait_for(fixture, &jobs[0], NULL), "own ");
    assert_string_equal(wait_for(fixture, &jobs[3], NULL), "own ");
    for (int i = 0; i < 4; i++) {
        job_free(&jobs[i]);
    }
}

static void an_empty_folder_is_not_kept(void **state)
{
    struct fixture *fixture = *state;
    struct job job;

    leave_results(fixture, &job, 85, "true");
    fixture->options.folder_ms = 0;
    reopen(fixture);
    (void)wait_for(fixture, &job, "were removed: there were none");
    job_free(&job);
}

/* A clock that is wrong by as much as a test likes. */
static int64_t ahead_ms;

static uint64_t ahead_mono_ns(const struct clock *clock)
{
    (void)clock;
    return machine_clock.mono_ns(&machine_clock);
}

static int64_t ahead_wall_ms(const struct clock *clock)
{
    (void)clock;
    return machine_clock.wall_ms(&machine_clock) + ahead_ms;
}

static void reopen_ahead(struct fixture *fixture, int64_t by_ms)
{
    static const struct clock clock = {ahead_mono_ns, ahead_wall_ms};
    struct err err = {""};

    ahead_ms = by_ms;
    runtime_close(fixture->runtime);
    fixture->runtime = NULL;
    if (process_open(&fixture->options, &clock, &fixture->runtime,
                     &fixture->info, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* What is kept outlives a clock that is wrong at the start, and what a start
 * with such a clock leaves for the next. */
static void a_wrong_clock_removes_nothing(void **state)
{
    const int64_t month_ms = (int64_t)30 * 24 * 3600 * 1000;
    struct fixture *fixture = *state;
    struct runtime_change change;
    char id[ID_TEXT_BYTES_MAX], run[ID_TEXT_BYTES_MAX];
    struct job job;

    leave_results(fixture, &job, 78, "echo 1 > $BERTH_OUTPUT_DIR/one");
    job_id_format(job.run.job, id);
    run_id_format(job.run.run, run);
    fixture->options.folder_ms = 0;
    reopen(fixture);
    wait_kept(fixture, id);
    for (int i = 0; i < 2; i++) {
        reopen_ahead(fixture, month_ms);
        for (int step = 0; step < 3; step++) {
            (void)fixture->runtime->ops->poll(fixture->runtime, &change, 1);
        }
        assert_true(is_there(fixture, "outputs", id));
        assert_true(is_there(fixture, "runs", run));
    }
    /* Within the bound it is believed. */
    fixture->options.output_ms = 3600 * 1000;
    reopen_ahead(fixture, 2 * 3600 * 1000);
    wait_gone(fixture, "outputs", id);
    job_free(&job);
}

/* Root's loop does a bounded part of measuring in one step. */
static void results_are_measured_a_part_at_a_time(void **state)
{
    struct fixture *fixture = *state;
    char ids[2][ID_TEXT_BYTES_MAX];
    struct job jobs[2];

    leave_results(fixture, &jobs[0], 76,
                  "cd $BERTH_OUTPUT_DIR && seq 10001 | xargs touch");
    reopen(fixture);
    leave_results(fixture, &jobs[1], 77, "echo 1 > $BERTH_OUTPUT_DIR/one");
    fixture->options.folder_ms = 0;
    reopen(fixture);
    for (int i = 0; i < 2; i++) {
        job_id_format(jobs[i].run.job, ids[i]);
    }
    wait_kept(fixture, ids[0]);
    assert_false(is_there(fixture, "outputs", ids[1]));
    wait_kept(fixture, ids[1]);
    for (int i = 0; i < 2; i++) {
        job_free(&jobs[i]);
    }
}

/* The job may do with the folder what it likes: what is kept is a folder of
 * the job's, and nothing else is touched. */
static void results_are_the_jobs_own(void **state)
{
    struct fixture *fixture = *state;
    struct err err;
    struct job job;

    leave_results(fixture, &job, 74,
                  "rmdir $BERTH_OUTPUT_DIR || :; cd $BERTH_OUTPUT_DIR && "
                  "ln -s /etc/passwd link && mkfifo fifo && echo 1 > own");
    assert_string_equal(paths_of(&job, list(fixture, &job, "")), "own ");
    fixture->options.folder_ms = 0;
    reopen(fixture);
    assert_string_equal(wait_for(fixture, &job, NULL), "own ");
    job_free(&job);
    job_make(&job, 75, ARGS("true"));
    job_annotate(&job, "armadaproject.io/outputPath", "/a/../b");
    err = fixture_refuse(fixture, &job);
    assert_non_null(strstr(err.text, "outputPath \"/a/../b\" must be"));
    job_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(files_are_listed_in_order_and_read_in_parts),
        PROCESS_TEST(a_running_job_has_files_too),
        PROCESS_TEST(nothing_leads_out_of_the_folder),
        PROCESS_TEST(a_hard_link_to_a_file_of_ours_stays_closed),
        PROCESS_TEST(lists_have_bounds),
        PROCESS_TEST(the_longest_path_is_listed),
        PROCESS_TEST(what_is_gone_says_by_what),
        PROCESS_TEST(results_outlive_folders_and_logs),
        PROCESS_TEST(results_have_bounds_that_are_named),
        PROCESS_TEST(results_are_measured_a_part_at_a_time),
        PROCESS_TEST(who_keeps_most_makes_room),
        PROCESS_TEST(an_empty_folder_is_not_kept),
        PROCESS_TEST(a_wrong_clock_removes_nothing),
        PROCESS_TEST(results_are_the_jobs_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
