/*
 * runner: commands get the note, their words and a bound of time; how they end
 * and what they write is told, and that nothing can be run any more.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "notify/runner.h"
#include "notify/runner_process.h"
#include "patience.h"
#include "tmpdir.h"
#include "unit.h"

/* How the last command ended. */
struct ended {
    enum outbox_end end;
    char why[64];
    uint32_t count;
    uint32_t line_count;
    uint32_t gone_count;
    char lines[8192]; /* with a '|' behind each */
    char gone[64];
};

static void on_end(void *ctx, struct outbox_item *item, enum outbox_end end,
                   const char *why)
{
    struct ended *ended = ctx;

    (void)item;
    ended->end = end;
    (void)snprintf(ended->why, sizeof(ended->why), "%s", why);
    ended->count++;
}

static void on_line(void *ctx, const struct outbox_item *item, struct str line)
{
    struct ended *ended = ctx;
    size_t used = strlen(ended->lines);

    assert_string_equal(item->id.p, "job-1");
    assert_int_equal(ended->count, 0);
    (void)snprintf(ended->lines + used, sizeof(ended->lines) - used, "%.*s|",
                   STR_ARG(line));
    ended->line_count++;
}

static void on_gone(void *ctx, const char *why)
{
    struct ended *ended = ctx;

    (void)snprintf(ended->gone, sizeof(ended->gone), "%s", why);
    ended->gone_count++;
}

static void listen_to(struct runner *runner, struct ended *ended)
{
    runner_set_events(runner,
                      &(struct runner_events){on_end, on_line, on_gone, ended});
}

static void wait_end(struct runner *runner, const struct ended *ended)
{
    for (int64_t left = patient_ms(20000); left > 0 && ended->count == 0;
         left--) {
        runner_drive(runner);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(ended->count, 1);
}

/* Run words with a note, and wait for the end. */
static struct ended run(const char *const *words, uint32_t count,
                        int64_t timeout_ms)
{
    struct str command[8];
    struct ended ended = {.count = 0};
    struct err err;
    struct outbox_item item = {.id = STR("job-1"), .body = STR("{\"a\":1}")};
    struct notify_target target = {.name = STR("t"),
                                   .command = command,
                                   .command_count = count,
                                   .timeout_ms = timeout_ms};

    for (uint32_t i = 0; i < count; i++) {
        command[i] = str_of(words[i]);
    }
    auto_ptr(runner) runner = runner_start(&target, 1, NULL, NULL, &err);
    assert_non_null(runner);
    listen_to(runner, &ended);
    runner_send(runner, &item);
    assert_int_equal(runner_flying_count(runner), 1 - ended.count);
    wait_end(runner, &ended);
    assert_int_equal(runner_flying_count(runner), 0);
    return ended;
}

#define RUN(timeout_ms, ...)                \
    run((const char *const[]){__VA_ARGS__}, \
        ARRAY_COUNT(((const char *const[]){__VA_ARGS__})), timeout_ms)

static void a_command_reads_the_note_and_knows_its_id(void **state)
{
    auto_tmpdir dir = {""};
    char path[TMPDIR_PATH_BYTES_MAX], text[256] = "";

    (void)state;
    tmpdir_init(&dir);
    (void)tmpdir_path(&dir, "out", path);
    struct ended ended =
        RUN(20000, "/bin/sh", "-c",
            "{ cat; echo \" $BERTH_NOTIFICATION_ID $#\"; } >\"$1\"", "sh", path,
            "; rm -rf x");
    assert_int_equal(ended.end, OUTBOX_SENT);
    int fd = open(path, O_RDONLY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    assert_string_equal(text, "{\"a\":1} job-1 2\n");
}

static void how_a_command_ends_is_told(void **state)
{
    (void)state;
    struct ended ended = RUN(20000, "/bin/sh", "-c", "exit 7");
    assert_int_equal(ended.end, OUTBOX_LATER);
    assert_string_equal(ended.why, "exit code 7");
    ended = RUN(20000, "/nowhere/program");
    assert_string_equal(ended.why, "exit code 127");
    ended = RUN(20000, "/bin/sh", "-c", "kill -9 $$");
    assert_string_equal(ended.why, "it cannot be run, or was killed");
}

static void a_command_that_takes_too_long_is_killed_with_its_group(void **state)
{
    (void)state;
    struct ended ended =
        RUN(50, "/bin/sh", "-c", "trap '' TERM; sleep 1000 & sleep 1000");
    assert_int_equal(ended.end, OUTBOX_LATER);
    assert_string_equal(ended.why, "it took too long");
}

/* It need not be the command: memory may be short. */
static void whose_watcher_is_killed_may_be_run_again(void **state)
{
    (void)state;
    struct ended ended =
        RUN(20000, "/bin/sh", "-c", "kill -9 $PPID; exec sleep 1000");
    assert_int_equal(ended.end, OUTBOX_LATER);
    assert_string_equal(ended.why, "it cannot be run, or was killed");
}

static void what_a_command_writes_is_told_in_lines(void **state)
{
    (void)state;
    struct ended ended = RUN(20000, "/bin/sh", "-c",
                             "echo one; printf 'two\\033[2J\\n\\n' >&2; "
                             "printf three; exit 3");
    assert_string_equal(ended.lines, "one|two\033[2J|three|");
    assert_string_equal(ended.why, "exit code 3");
    ended = RUN(20000, "/nowhere/program");
    assert_string_equal(ended.lines,
                        "/nowhere/program: No such file or directory|");
    ended = RUN(50, "/bin/sh", "-c", "echo before; exec sleep 1000");
    assert_string_equal(ended.lines, "before|");
}

static void a_command_may_write_more_than_is_told(void **state)
{
    (void)state;
    struct ended ended =
        RUN(20000, "/bin/sh", "-c", "yes | head -c 1000000; exit 5");
    assert_string_equal(ended.why, "exit code 5"); /* nothing broke it off */
    assert_int_equal(ended.line_count, RUNNER_LINES_MAX + 1);
    assert_non_null(strstr(ended.lines, "y|y|(more was dropped)|"));
    ended =
        RUN(20000, "/bin/sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x");
    assert_int_equal(ended.end, OUTBOX_SENT);
    assert_int_equal(ended.line_count, 2);
    assert_int_equal(strlen(ended.lines),
                     RUNNER_OUTPUT_BYTES_MAX + strlen("|(more was dropped)|"));
    /* Who writes on and on is killed in time all the same. */
    ended = RUN(50, "/bin/sh", "-c", "while :; do echo x; done");
    assert_string_equal(ended.why, "it took too long");
}

static int refuse(void *ctx, struct err *err)
{
    (void)ctx;
    return err_set(err, -ERR_INVALID, "not today");
}

static int vanish(void *ctx, struct err *err)
{
    (void)ctx;
    (void)err;
    _exit(0);
}

static void a_process_that_cannot_begin_is_not_started(void **state)
{
    struct str command = STR("/bin/true");
    struct notify_target target = {.command = &command, .command_count = 1};
    struct err err;

    (void)state;
    assert_null(runner_start(&target, 1, refuse, NULL, &err));
    assert_string_equal(err.text, "the process for commands: not today");
    assert_null(runner_start(&target, 1, vanish, NULL, &err));
    assert_string_equal(err.text,
                        "the process for commands: it has ended at its start");
}

static int keep_pid(void *ctx, struct err *err)
{
    pid_t *pid = ctx;

    (void)err;
    *pid = getpid();
    return 0;
}

static void without_its_process_all_attempts_end(void **state)
{
    struct str command = STR("/bin/true");
    struct notify_target target = {.command = &command, .command_count = 1};
    struct outbox_item item = {.id = STR("job-1"), .body = STR("{}")};
    struct ended ended = {.count = 0};
    struct err err;
    pid_t *pid = mmap(NULL, sizeof(*pid), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    (void)state;
    auto_ptr(runner) runner = runner_start(&target, 1, keep_pid, pid, &err);
    assert_non_null(runner);
    listen_to(runner, &ended);
    assert_int_equal(kill(*pid, SIGKILL), 0);
    for (int64_t left = patient_ms(20000); left > 0 && !ended.gone_count;
         left--) {
        runner_drive(runner); /* also with nothing under way */
        (void)poll(NULL, 0, 1);
    }
    runner_send(runner, &item);
    assert_int_equal(ended.end, OUTBOX_LATER);
    runner_send(runner, &item);
    assert_int_equal(ended.count, 2);
    runner_drive(runner);
    assert_int_equal(ended.gone_count, 1);
    (void)munmap(pid, sizeof(*pid));
}

/* Whoever sends this is no server: it ends the process. */
static void a_request_for_no_command_runs_nothing(void **state)
{
    static const uint32_t wrong[] = {1, 2, 1 << 20, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        struct str command = STR("/bin/true");
        /* The second is a webhook. */
        struct notify_target targets[] = {
            {.command = &command, .command_count = 1, .timeout_ms = 20000},
            {.command_count = 0}};
        struct outbox_item item = {
            .id = STR("x"), .body = STR("{}"), .target = wrong[i]};
        struct ended ended = {.count = 0};
        struct err err;
        auto_ptr(runner) runner =
            runner_start(targets, ARRAY_COUNT(targets), NULL, NULL, &err);
        assert_non_null(runner);
        listen_to(runner, &ended);
        runner_send(runner, &item);
        wait_end(runner, &ended);
        assert_string_equal(ended.why,
                            "the process that runs commands has ended");
        assert_int_equal(ended.gone_count, 1);
        assert_string_equal(ended.gone, "a request is malformed");
    }
}

static uint32_t count_children(pid_t pid)
{
    char path[64], text[8192];
    uint32_t count = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
             (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof(text));
    for (ssize_t i = 0; i < bytes; i++) {
        count += text[i] == ' ';
    }
    if (fd >= 0) {
        close(fd);
    }
    return count;
}

/* However much is asked for. */
static void no_more_commands_run_than_a_server_asks_for(void **state)
{
    enum { MORE = 20, LOOKS = 100 };
    struct str command[] = {STR("/bin/sleep"), STR("1000")};
    struct notify_target target = {
        .command = command, .command_count = 2, .timeout_ms = 1000};
    struct runner_targets targets = {&target, 1};
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(pair[0]);
        runner_process(pair[1], parent, &targets, NULL, NULL);
    }
    close(pair[1]);
    for (uint32_t i = 0; i < RUNNER_FLYING_MAX + MORE; i++) {
        struct runner_request request = {i % RUNNER_FLYING_MAX, 0, 0};
        bool is_more = i >= RUNNER_FLYING_MAX; /* it may not be read */
        ssize_t count = send(pair[0], &request, sizeof(request),
                             is_more ? MSG_DONTWAIT : 0);
        assert_true(is_more || count == sizeof(request));
    }
    for (int64_t left = patient_ms(20000);
         left > 0 && count_children(pid) < RUNNER_FLYING_MAX; left--) {
        (void)poll(NULL, 0, 1);
    }
    for (int i = 0; i < LOOKS; i++) {
        assert_true(count_children(pid) <= RUNNER_FLYING_MAX);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(pair[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_command_reads_the_note_and_knows_its_id),
        TEST(how_a_command_ends_is_told),
        TEST(a_command_that_takes_too_long_is_killed_with_its_group),
        TEST(whose_watcher_is_killed_may_be_run_again),
        TEST(what_a_command_writes_is_told_in_lines),
        TEST(a_command_may_write_more_than_is_told),
        TEST(a_process_that_cannot_begin_is_not_started),
        TEST(without_its_process_all_attempts_end),
        TEST(a_request_for_no_command_runs_nothing),
        TEST(no_more_commands_run_than_a_server_asks_for),
    };

    return RUN_TESTS(tests);
}
