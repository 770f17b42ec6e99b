/*
 * helper: whatever a hostile front end sends, the helper does what is within
 * bounds, or ends.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "executor/helper/helper_private.h"
#include "helper_stub.h"
#include "prop.h"
#include "support.h"
#include "unit.h"

enum { FUZZ_RUNS = 150, REQUESTS_MAX = 12 };

/* A helper by hand, without the front end's care; its connections. */
static pid_t serve(int ret_fds[3])
{
    const struct helper_options options = {.open = open_stub};
    int pairs[3][2];

    for (int i = 0; i < 3; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
    }
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct helper_fds fds = {pairs[0][1], pairs[1][1], pairs[2][1]};
        int null_fd = open("/dev/null", O_WRONLY);
        (void)dup2(null_fd, STDERR_FILENO);
        for (int i = 0; i < 3; i++) {
            close(pairs[i][0]);
        }
        _exit(helper_serve(&options, &fds));
    }
    for (int i = 0; i < 3; i++) {
        close(pairs[i][1]);
        ret_fds[i] = pairs[i][0];
    }
    return pid;
}

/* Close it; how it ended. */
static int end(pid_t pid, const int fds[3])
{
    int status = 0;

    for (int i = 0; i < 3; i++) {
        (void)shutdown(fds[i], SHUT_WR);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    for (int i = 0; i < 3; i++) {
        close(fds[i]);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void answer_is(int fd, int rc)
{
    auto_strbuf payload = {0};
    struct helper_answer answer;

    assert_int_equal(helper_receive(fd, &answer, sizeof(answer)), 0);
    assert_int_equal(answer.rc, rc);
    assert_int_equal(helper_receive_into(fd, &payload, answer.byte_count), 0);
}

static void what_breaks_the_protocol_ends_the_helper(void **state)
{
    (void)state;
    const struct run_id run = {{1, 2}};
    const struct job_id job = {{3, 4}};
    const struct helper_request bad[] = {
        {.kind = HELPER_KINDS},
        {.kind = UINT32_MAX},
        {.kind = HELPER_LOGS, .job = job, .number = -1, .limit = 1},
        {.kind = HELPER_FILES, .job = job, .limit = 1},
        {.kind = HELPER_OPEN, .byte_count = 1},
        {.kind = HELPER_LIST, .number = 1},
        {.kind = HELPER_CREATE, .run = run},
        {.kind = HELPER_CREATE,
         .run = run,
         .job = job,
         .byte_count = HELPER_CREATE_BYTES_MAX + 1},
        {.kind = HELPER_STOP, .run = run, .number = -2},
        {.kind = HELPER_STOP, .run = run, .number = HELPER_GRACE_MS_MAX + 1},
        {.kind = HELPER_STOP},
        {.kind = HELPER_ACK, .run = run},
        {.kind = HELPER_ACK, .run = run, .number = RECONCILE_LOST + 1},
        {.kind = HELPER_FORGET, .run = run, .job = job},
        {.kind = HELPER_POLL, .number = 1},
        {.kind = HELPER_STATUS, .run = run, .limit = 1},
    };

    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        int fds[3];
        pid_t pid = serve(fds);
        const struct helper_request open = {.kind = HELPER_OPEN};
        assert_int_equal(helper_send(fds[0], &open, sizeof(open), STR("")), 0);
        answer_is(fds[0], 0);
        assert_int_equal(helper_send(fds[0], &bad[i], sizeof(bad[i]), STR("")),
                         0);
        assert_int_equal(end(pid, fds), HELPER_EXIT_REFUSED);
    }
}

static void nothing_is_done_before_it_is_open(void **state)
{
    (void)state;
    const struct helper_request requests[] = {
        {.kind = HELPER_LIST},
        {.kind = HELPER_STATUS, .run = {{1, 2}}},
    };
    int fds[3];
    pid_t pid = serve(fds);

    for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
        assert_int_equal(
            helper_send(fds[0], &requests[i], sizeof(requests[i]), STR("")), 0);
        answer_is(fds[0], -ERR_CONFLICT);
    }
    assert_int_equal(end(pid, fds), 0);
}

/* A request that is about right, with something wrong in one place or none. */
static void draw_request(struct tape *tape, struct helper_request *request,
                         struct strbuf *payload)
{
    *request = (struct helper_request){
        .kind = (uint32_t)draw(tape, 0, HELPER_KINDS - 1),
        .run.v = {1, (uint64_t)pick(tape, 1, 3)},
        .job.v = {2, 1},
        .number = pick(tape, -2, 8),
        .limit = pick(tape, 0, 2),
    };
    if (!once_in(tape, 6)) {
        bool has_job =
            request->kind == HELPER_CREATE || helper_is_for_logs(request->kind);
        request->job = has_job ? request->job : (struct job_id){{0, 0}};
        request->run = request->kind == HELPER_OPEN ||
                               request->kind == HELPER_LIST ||
                               request->kind == HELPER_POLL ||
                               helper_is_for_logs(request->kind)
                           ? (struct run_id){{0, 0}}
                           : request->run;
        request->limit = helper_is_for_logs(request->kind);
        request->number = request->kind == HELPER_OPEN ||
                                  request->kind == HELPER_LIST ||
                                  request->kind == HELPER_CREATE ||
                                  request->kind == HELPER_FORGET ||
                                  request->kind == HELPER_POLL ||
                                  request->kind == HELPER_STATUS
                              ? 0
                              : pick(tape, 1, 3);
    }
    if (request->kind == HELPER_CREATE) {
        struct job job;
        job_make(&job, 3, (const char *const[]){"true", NULL});
        helper_put_run(payload, &job.run);
        job_free(&job);
    } else if (request->kind == HELPER_LOGS) {
        helper_put_str(payload, STR("main"));
        helper_put_str(payload, STR(""));
    } else if (request->kind == HELPER_FILES) {
        helper_put_files_query(
            payload, &(struct runtime_files_query){.path = STR("a/b"),
                                                   .is_read = once_in(tape, 2),
                                                   .byte_count_max = 1});
    }
    /* Bytes that are others, too few or too many. */
    for (int i = pick(tape, 0, 3); i > 0 && payload->byte_count > 0; i--) {
        size_t near = payload->byte_count < 64 ? payload->byte_count : 64;
        size_t end = once_in(tape, 2) ? near : payload->byte_count;
        payload->bytes[draw(tape, 0, end - 1)] =
            once_in(tape, 2) ? '\0' : (char)draw(tape, 0, 255);
    }
    if (once_in(tape, 4) && payload->byte_count > 0) {
        payload->byte_count = draw(tape, 0, payload->byte_count - 1);
    }
    request->byte_count = (uint32_t)payload->byte_count;
    if (once_in(tape, 8)) {
        request->byte_count = (uint32_t)draw(tape, 0, UINT32_MAX);
    }
    if (once_in(tape, 8)) {
        ((unsigned char *)request)[draw(tape, 0, sizeof(*request) - 1)] =
            (unsigned char)draw(tape, 0, 255);
    }
}

static bool no_front_end_breaks_the_helper(struct tape *tape)
{
    int fds[3];
    pid_t pid = serve(fds);
    const struct helper_request open = {.kind = HELPER_OPEN};
    int rc = once_in(tape, 8)
                 ? 0
                 : helper_send(fds[0], &open, sizeof(open), STR(""));

    for (int i = pick(tape, 1, REQUESTS_MAX); rc == 0 && i > 0; i--) {
        auto_strbuf payload = {0};
        struct helper_request request;
        draw_request(tape, &request, &payload);
        /* What it has no time for is lost when it ends. */
        rc = helper_send(fds[helper_is_for_logs(request.kind)], &request,
                         sizeof(request), strbuf_str(&payload));
    }
    int code = end(pid, fds);
    return code == 0 || code == HELPER_EXIT_REFUSED;
}

static void a_hostile_front_end_gets_nothing(void **state)
{
    (void)state;
    assert_true(prop_check("no_front_end_breaks_the_helper",
                           no_front_end_breaks_the_helper, FUZZ_RUNS, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_breaks_the_protocol_ends_the_helper),
        TEST(nothing_is_done_before_it_is_open),
        TEST(a_hostile_front_end_gets_nothing),
    };

    return RUN_TESTS(tests);
}
