/*
 * shim_exec: the program itself, with users who come to its socket, and with
 * others who are none.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "executor/files/exec_io.h"
#include "executor/files/file.h"
#include "executor/files/kv.h"
#include "executor/files/run_file.h"
#include "support.h"
#include "unit.h"

static const char token[] = "0123456789abcdef";

/* A run that goes on until it is ended. */
struct run {
    char *dir;
    int dir_fd;
    pid_t pid;
};

static void begin(struct run *run)
{
    char *shim = getenv("BERTH_SHIM");
    auto_strbuf spec = {0};
    struct err err;

    run->dir = make_dir();
    run->dir_fd = open(run->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(run->dir_fd, RUN_LOG_NAME, 0700), 0);
    assert_int_equal(mkdirat(run->dir_fd, RUN_WORK_NAME, 0755), 0);
    kv_add_int(&spec, "berth_spec", RUN_FILE_VERSION);
    kv_add_text(&spec, "run_id", "by-hand-exec");
    kv_add_int(&spec, "log_byte_count_max", 1000);
    kv_add_text(&spec, "exec_token", token);
    kv_add_text(&spec, "container", "main");
    kv_add_int(&spec, "kind", RUN_MAIN);
    kv_add_text(&spec, "arg", "/bin/sleep");
    kv_add_text(&spec, "arg", "1000");
    assert_int_equal(
        file_replace(run->dir_fd, RUN_SPEC_NAME, strbuf_str(&spec), 0600, &err),
        0);
    char *argv[] = {shim, run->dir, NULL};
    assert_int_equal(posix_spawn(&run->pid, shim, NULL, NULL, argv, NULL), 0);
    for (int64_t until_ms = machine_ms() + WAIT_MS_MAX;;) {
        struct run_state state;
        if (run_state_read(run->dir_fd, &state, &err) == 0) {
            enum run_phase phase = state.phase;
            run_state_fini(&state);
            if (phase == RUN_RUNNING) {
                break;
            }
        }
        assert_true(machine_ms() < until_ms);
        (void)poll(NULL, 0, 2);
    }
}

static void end(struct run *run)
{
    int status;

    (void)kill(run->pid, SIGTERM);
    assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
    close(run->dir_fd);
    remove_dir(run->dir);
}

static int connect_to(const struct run *run)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
             run->dir_fd, RUN_EXEC_NAME);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)),
                     0);
    return fd;
}

static void put_start(struct strbuf *frames, const char *script)
{
    char shell[] = "/bin/sh", flag[] = "-c", text[200];
    char *args[] = {shell, flag, text};
    struct exec_start start = {.container = "",
                               .args = {.items = args, .count = 3},
                               .has_input = true,
                               .term = "",
                               .time_ms_max = EXEC_TIME_MS_MAX};

    snprintf(text, sizeof(text), "%s", script);
    assert_int_equal(exec_start_put(frames, &start), 0);
}

static int enter(const struct run *run, const char *script)
{
    auto_strbuf frames = {0};
    int fd = connect_to(run);

    exec_frame_put(&frames, EXEC_HELLO, str_of(token));
    put_start(&frames, script);
    assert_int_equal(write(fd, frames.bytes, frames.byte_count),
                     frames.byte_count);
    return fd;
}

/* Read to the end frame; what was written before is in `text`. */
static struct exec_end hear_end(int fd, struct strbuf *text)
{
    auto_strbuf in = strbuf_make(EXEC_IO_BYTES_MAX);
    struct exec_frame frame;
    struct exec_end end;
    size_t byte_count;

    for (;;) {
        int rc = exec_frame_take(strbuf_str(&in), false, &frame, &byte_count);
        assert_true(rc >= 0);
        if (rc == 0) {
            assert_int_equal(exec_io_receive(&in, fd, true), EXEC_IO_SOME);
        } else if (frame.kind == EXEC_END) {
            assert_int_equal(exec_end_take(frame.payload, &end), 0);
            end.reason = STR("");
            return end;
        } else {
            strbuf_add_str(text, frame.payload);
            exec_io_drop(&in, byte_count);
        }
    }
}

/* Wait for the first bytes that a program writes. */
static void hear_some(int fd)
{
    auto_strbuf in = strbuf_make(EXEC_IO_BYTES_MAX);
    struct exec_frame frame = {.kind = EXEC_STARTED};
    size_t byte_count;

    while (frame.kind != EXEC_OUTPUT) {
        int rc = exec_frame_take(strbuf_str(&in), false, &frame, &byte_count);
        assert_true(rc >= 0);
        if (rc == 0) {
            assert_int_equal(exec_io_receive(&in, fd, true), EXEC_IO_SOME);
        } else {
            exec_io_drop(&in, byte_count);
        }
    }
}

/* Whether the shim closes without a word. */
static bool is_shut(int fd)
{
    char byte;
    struct pollfd wait = {fd, POLLIN, 0};

    bool is = poll(&wait, 1, (int)WAIT_MS_MAX) == 1 &&
              recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
    close(fd);
    return is;
}

static void a_program_runs_and_says_how_it_ended(void **state)
{
    struct run run;
    auto_strbuf text = {0};

    (void)state;
    begin(&run);
    int fd = enter(&run, "cat; echo $0 done; exit 9");
    auto_strbuf frames = {0};
    exec_frame_put(&frames, EXEC_INPUT, STR("typed\n"));
    exec_frame_put(&frames, EXEC_INPUT_END, STR(""));
    assert_int_equal(write(fd, frames.bytes, frames.byte_count),
                     frames.byte_count);
    struct exec_end ended = hear_end(fd, &text);
    assert_int_equal(ended.ending, EXEC_EXITED);
    assert_int_equal(ended.code, 9);
    assert_string_equal(strbuf_text(&text), "typed\n/bin/sh done\n");
    close(fd);
    end(&run);
}

static void who_has_not_the_token_is_shut_out(void **state)
{
    static const char *const others[] = {"", "0123456789abcdeF",
                                         "0123456789abcdef0"};
    struct run run;

    (void)state;
    begin(&run);
    for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
        auto_strbuf frames = {0};
        int fd = connect_to(&run);
        exec_frame_put(&frames, EXEC_HELLO, str_of(others[i]));
        put_start(&frames, "touch entered");
        assert_int_equal(write(fd, frames.bytes, frames.byte_count),
                         frames.byte_count);
        assert_true(is_shut(fd));
    }
    /* Nor who says nothing of the kind. */
    auto_strbuf start = {0};
    put_start(&start, "touch entered");
    int fd = connect_to(&run);
    assert_int_equal(write(fd, start.bytes, start.byte_count),
                     start.byte_count);
    assert_true(is_shut(fd));
    fd = connect_to(&run);
    assert_int_equal(write(fd, "GET / HTTP/1.1\r\n\r\n", 18), 18);
    assert_true(is_shut(fd));
    assert_int_equal(faccessat(run.dir_fd, "work/entered", F_OK, 0), -1);
    end(&run);
}

static void nonsense_ends_the_session_alone(void **state)
{
    struct run run;
    auto_strbuf text = {0};

    (void)state;
    begin(&run);
    int good = enter(&run, "read line; echo $line; exit 4");
    int bad = enter(&run, "echo in; sleep 1000");
    hear_some(bad);
    /* An INPUT of 4 GiB. */
    assert_int_equal(write(bad, "\3\xff\xff\xff\xff", 5), 5);
    assert_true(is_shut(bad));
    auto_strbuf frames = {0};
    exec_frame_put(&frames, EXEC_INPUT, STR("still\n"));
    assert_int_equal(write(good, frames.bytes, frames.byte_count),
                     frames.byte_count);
    assert_int_equal(hear_end(good, &text).code, 4);
    assert_string_equal(strbuf_text(&text), "still\n");
    close(good);
    end(&run);
}

static void a_job_that_ends_ends_its_users(void **state)
{
    struct run run;
    auto_strbuf text = {0};

    (void)state;
    begin(&run);
    int fd = enter(&run, "trap '' HUP TERM INT; echo in; sleep 1000; sleep 9");
    hear_some(fd);
    (void)kill(run.pid, SIGTERM);
    struct exec_end ended = hear_end(fd, &text);
    assert_int_equal(ended.ending, EXEC_JOB_ENDED);
    assert_int_equal(ended.code, 128 + SIGKILL);
    close(fd);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_program_runs_and_says_how_it_ended),
        TEST(who_has_not_the_token_is_shut_out),
        TEST(nonsense_ends_the_session_alone),
        TEST(a_job_that_ends_ends_its_users),
    };
    return RUN_TESTS(tests);
}
