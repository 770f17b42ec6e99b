/*
 * helper: answers that make no sense, do not fit or do not come.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "executor/helper/helper_private.h"
#include "helper_stub.h"
#include "support.h"
#include "unit.h"

/* A helper whose answers are made by hand, and are there before they are asked
 * for. */
struct forged {
    struct helper helper;
    int calls_fd, wake_fd; /* the helper's ends */
    struct runtime *runtime;
    int lost_count;
};

static void say_answer(struct forged *forged, int rc, const int64_t *numbers,
                       size_t count)
{
    struct helper_answer head = {
        .rc = rc, .byte_count = (uint32_t)(count * sizeof(*numbers))};

    assert_int_equal(
        helper_send(forged->calls_fd, &head, sizeof(head),
                    str_make((const char *)numbers, count * sizeof(*numbers))),
        0);
}

/* Opened, with no node. */
static void forge(struct forged *forged)
{
    static const int64_t opening[] = {0, 1, 0, 0, 0};
    int calls[2], wakes[2];
    struct err info = {""}, err;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, calls), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, wakes),
                     0);
    *forged = (struct forged){
        .helper = {.options = {.lost = count_lost,
                               .lost_ctx = &forged->lost_count},
                   .calls = {.fd = calls[0],
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .answer = strbuf_make(HELPER_ANSWER_BYTES_MAX)},
                   .logs = {.fd = -1},
                   .wake_fd = wakes[0],
                   .has_ended = true},
        .calls_fd = calls[1],
        .wake_fd = wakes[1],
    };
    say_answer(forged, 0, opening, ARRAY_COUNT(opening));
    assert_int_equal(
        helper_open(&forged->helper, &forged->runtime, &info, &err), 0);
}

static void forged_fini(struct forged *forged)
{
    runtime_close(forged->runtime);
    strbuf_fini(&forged->helper.calls.answer);
    close(forged->helper.calls.fd);
    close(forged->helper.wake_fd);
    close(forged->calls_fd);
    close(forged->wake_fd);
}

static void count_pod(void *count, const struct runtime_pod *pod)
{
    (void)pod;
    ++*(int *)count;
}

/* Answers that are no answer: cut short, too long, or refused. */
static const struct {
    int rc;
    int64_t numbers[39];
    size_t count;
} malformed[] = {
    {.numbers = {1}, .count = 1},
    {.numbers = {0}, .count = 39},
    {.numbers = {-1}, .count = 8},
    {.rc = -ERR_LIMIT},
};

static void an_answer_that_makes_no_sense_ends_the_helper(void **state)
{
    (void)state;
    auto_arena arena = {0};
    struct runtime_change change;
    struct runtime_status status;

    for (size_t i = 0; i < ARRAY_COUNT(malformed); i++) {
        struct forged list, poll, one;
        int count = 0;
        forge(&list);
        say_answer(&list, malformed[i].rc, malformed[i].numbers,
                   malformed[i].count);
        list.runtime->ops->list(list.runtime, count_pod, &count);
        assert_int_equal(list.lost_count, 1);
        forged_fini(&list);

        forge(&poll);
        say_answer(&poll, malformed[i].rc, malformed[i].numbers,
                   malformed[i].count);
        assert_int_equal(write(poll.wake_fd, "", 1), 1);
        (void)poll.runtime->ops->poll(poll.runtime, &change, 1);
        assert_int_equal(poll.lost_count, 1);
        forged_fini(&poll);

        forge(&one);
        say_answer(&one, malformed[i].rc, malformed[i].numbers,
                   malformed[i].count);
        assert_false(one.runtime->ops->status(
            one.runtime, (struct run_id){{1, 2}}, &arena, &status));
        assert_int_equal(one.lost_count, 1);
        /* Nothing more is asked, and it sees us go. */
        char bytes[1024];
        assert_true(recv(one.calls_fd, bytes, sizeof(bytes), 0) > 0);
        assert_int_equal(recv(one.calls_fd, bytes, sizeof(bytes), 0), 0);
        forged_fini(&one);
    }
}

/* A runtime with more to say of a run than an answer holds. */
static bool large_status(struct runtime *runtime, struct run_id run,
                         struct arena *arena, struct runtime_status *ret_status)
{
    size_t byte_count = (size_t)HELPER_ANSWER_BYTES_MAX + 1;
    const char *text = mmap(NULL, byte_count, PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)runtime;
    (void)run;
    (void)arena;
    believe(text != MAP_FAILED);
    *ret_status =
        (struct runtime_status){.message = str_make(text, byte_count)};
    return true;
}

static int open_large(void *ctx, struct runtime **ret_runtime,
                      struct err *ret_info, struct err *err)
{
    static struct runtime_ops ops;
    int rc = open_stub(ctx, ret_runtime, ret_info, err);

    ops = *(*ret_runtime)->ops;
    ops.status = large_status;
    (*ret_runtime)->ops = &ops;
    return rc;
}

static void an_answer_that_does_not_fit_is_not_sent_in_part(void **state)
{
    (void)state;
    int lost_count = 0;
    const struct helper_options options = {
        .open = open_large, .lost = count_lost, .lost_ctx = &lost_count};
    auto_arena arena = {0};
    struct runtime *runtime;
    struct runtime_status status;
    struct err info, err;
    struct helper *helper = helper_start(&options, &err);

    assert_non_null(helper);
    assert_int_equal(helper_open(helper, &runtime, &info, &err), 0);
    assert_false(runtime->ops->status(runtime, (struct run_id){{1, 2}}, &arena,
                                      &status));
    assert_int_equal(lost_count, 1);
    runtime_close(runtime);
    helper_stop(helper);
}

/* What is asked of a helper that stands still. */
static void ask_status(struct helper *helper, struct runtime *runtime)
{
    auto_arena arena = {0};
    struct runtime_status status;

    (void)helper;
    assert_false(runtime->ops->status(runtime, (struct run_id){{1, 2}}, &arena,
                                      &status));
}

static void ask_logs(struct helper *helper, struct runtime *runtime)
{
    auto_strbuf text = {0};
    struct runtime_change change;
    struct err err;
    struct runtime_log_query query = {.job.v = {1, 2},
                                      .container = STR(""),
                                      .since = STR(""),
                                      .line_count_max = -1,
                                      .byte_count_max = 100};

    for (int i = 0; i < 2; i++) {
        assert_int_equal(helper_logs(helper, &query, &text, &err),
                         -ERR_UNAVAILABLE);
    }
    (void)runtime->ops->poll(runtime, &change, 1);
}

static void ask_nothing(struct helper *helper, struct runtime *runtime)
{
    (void)helper;
    (void)runtime;
}

static void a_helper_that_stands_still_is_waited_for_no_longer(void **state)
{
    static const struct {
        void (*ask)(struct helper *, struct runtime *);
        int lost_count;
    } rows[] = {{ask_status, 1}, {ask_logs, 1}, {ask_nothing, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        int lost_count = 0;
        const struct helper_options options = {.open = open_stub,
                                               .lost = count_lost,
                                               .lost_ctx = &lost_count,
                                               .answer_ms_max = 20,
                                               .end_ms_max = 20};
        struct runtime *runtime;
        struct err info, err;
        struct helper *helper = helper_start(&options, &err);
        assert_non_null(helper);
        assert_int_equal(helper_open(helper, &runtime, &info, &err), 0);
        pid_t pid = helper_pid(helper);
        assert_int_equal(kill(pid, SIGSTOP), 0);
        assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
        rows[i].ask(helper, runtime);
        assert_int_equal(lost_count, rows[i].lost_count);
        runtime_close(runtime);
        helper_stop(helper);
        assert_int_equal(kill(pid, 0), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_that_makes_no_sense_ends_the_helper),
        TEST(an_answer_that_does_not_fit_is_not_sent_in_part),
        TEST(a_helper_that_stands_still_is_waited_for_no_longer),
    };

    return RUN_TESTS(tests);
}
