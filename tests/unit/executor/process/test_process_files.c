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
               "mkdir many; cd many; seq 10100 | xargs touch; cd ..; i=0; "
               "while [ $i -lt 40 ]; do mkdir d; cd d; i=$((i+1)); done");
    const list_t *files = list(fixture, &job, "");
    assert_true(files->cut);
    assert_int_equal(files->n_files, RUNTIME_FILES_MAX);
    files = list(fixture, &job, "d");
    assert_int_equal(files->n_files, RUNTIME_FILE_DEPTH_MAX + 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROCESS_TEST(files_are_listed_in_order_and_read_in_parts),
        PROCESS_TEST(a_running_job_has_files_too),
        PROCESS_TEST(nothing_leads_out_of_the_folder),
        PROCESS_TEST(a_hard_link_to_a_file_of_ours_stays_closed),
        PROCESS_TEST(lists_have_bounds),
        PROCESS_TEST(what_is_gone_says_by_what),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
