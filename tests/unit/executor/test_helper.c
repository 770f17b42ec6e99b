/*
 * helper: a runtime across two processes answers as it does in one; a helper
 * that dies is told of; and whatever a hostile front end sends, the helper does
 * what is within bounds, or ends.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "executor/fake/fake.h"
#include "executor/helper/helper_private.h"
#include "executor/port/node_set.h"
#include "prop.h"
#include "support.h"
#include "unit.h"

enum { FUZZ_RUNS = 150, REQUESTS_MAX = 12, EXIT_BELIEVED = 99 };

/* A fake runtime of one node in the helper. */
static int open_fake(void *ctx, struct runtime **ret_runtime,
                     struct err *ret_info, struct err *err)
{
    static struct resource_amount amounts[] = {{{"cpu", 3}, 8000}};
    static const struct label labels[] = {{{"a", 1}, {"b", 1}}};
    static const struct taint taints[] = {
        {{"gpu", 3}, {"yes", 3}, TAINT_NO_EXECUTE}};
    static const struct fake_group group = {
        .name = {"n", 1},
        .count = 1,
        .node = {.pool = {"default", 7},
                 .labels = labels,
                 .label_count = 1,
                 .taints = taints,
                 .taint_count = 1,
                 .total = {amounts, 1}},
    };
    struct fake_options options;

    if (ctx) {
        return err_set(err, -ERR_CONFLICT, "somebody has it: %s",
                       (const char *)ctx);
    }
    fake_options_default(&options);
    options.executor_id = STR("e");
    options.groups = &group;
    options.group_count = 1;
    options.distribution = FAKE_FIXED;
    options.run_a_ms = 1;
    (void)snprintf(ret_info->text, sizeof(ret_info->text), "made up");
    return fake_open(&options, &machine_clock, ret_runtime, err);
}

static void count_lost(void *count)
{
    ++*(int *)count;
}

struct fixture {
    struct helper *helper;
    struct runtime *runtime;
    struct err info;
    int lost_count;
};

static int set_up(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof(*fixture));
    const struct helper_options options = {.open = open_fake,
                                           .lost = count_lost,
                                           .lost_ctx = &fixture->lost_count};
    struct err err = {""};

    fixture->helper = helper_start(&options, &err);
    if (!fixture->helper || helper_open(fixture->helper, &fixture->runtime,
                                        &fixture->info, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    runtime_close(fixture->runtime);
    helper_stop(fixture->helper);
    mem_free(fixture);
    return 0;
}

/* Wait for the next change. */
static struct runtime_change next_change(struct runtime *runtime)
{
    struct runtime_change change = {0};
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;

    while (runtime->ops->poll(runtime, &change, 1) == 0) {
        struct pollfd wait = {.fd = runtime->wake_fd, .events = POLLIN};
        assert_true(machine_ms() < until_ms);
        (void)poll(&wait, 1, (int)WAIT_MS_MAX);
    }
    return change;
}

static void a_pod_runs_as_in_one_process(void **state)
{
    struct fixture *fixture = *state;
    struct runtime *runtime = fixture->runtime;
    struct runtime_status status;
    struct job job;

    job_make(&job, 1, (const char *const[]){"true", NULL});
    job.run.node_name = STR("e-n-0");
    assert_int_equal(next_change(runtime).kind, RUNTIME_LISTED);
    runtime->ops->create(runtime, &job.run);
    struct runtime_change change = next_change(runtime);
    assert_int_equal(key128_compare(change.run.v, job.run.run.v), 0);
    assert_int_equal(change.kind, RUNTIME_CREATED);
    assert_int_equal(next_change(runtime).phase, RECONCILE_RUNNING);
    assert_int_equal(next_change(runtime).phase, RECONCILE_SUCCEEDED);
    assert_true(
        runtime->ops->status(runtime, job.run.run, &job.arena, &status));
    assert_true(status.ended_ms >= status.started_ms);
    runtime->ops->ack(runtime, job.run.run, RECONCILE_SUCCEEDED);
    runtime->ops->stop(runtime, job.run.run, -1);
    runtime->ops->forget(runtime, job.run.run);
    assert_int_equal(next_change(runtime).kind, RUNTIME_FORGOTTEN);
    assert_false(
        runtime->ops->status(runtime, job.run.run, &job.arena, &status));
    assert_int_equal(fixture->lost_count, 0);
    job_free(&job);
}

static void what_opening_says_arrives(void **state)
{
    struct fixture *fixture = *state;
    const struct node_record *node = node_set_find(
        fixture->runtime->ops->nodes(fixture->runtime), STR("e-n-0"));

    assert_string_equal(fixture->info.text, "made up");
    assert_non_null(node);
    assert_true(str_equal(node->pool, STR("default")));
    assert_int_equal(resource_list_get(&node->total, STR("cpu")), 8000);
    assert_true(node->label_count >= 1);
    assert_int_equal(node->taint_count, 1);
    assert_true(str_equal(node->taints[0].key, STR("gpu")));
    assert_true(str_equal(node->taints[0].value, STR("yes")));
    assert_int_equal(node->taints[0].effect, TAINT_NO_EXECUTE);
}

static void logs_that_are_not_there_are_not_found(void **state)
{
    struct fixture *fixture = *state;
    auto_strbuf text = {0};
    struct err err = {""};
    struct runtime_log_query query = {.job.v = {1, 2},
                                      .container = STR(""),
                                      .since = STR(""),
                                      .line_count_max = -1,
                                      .byte_count_max = 100};

    assert_int_equal(helper_logs(fixture->helper, &query, &text, &err),
                     -ERR_NOT_FOUND);
    assert_true(err.text[0]);
}

static void a_query_of_logs_beyond_its_bound_says_so(void **state)
{
    struct fixture *fixture = *state;
    char name[HELPER_LOGS_BYTES_MAX];
    auto_strbuf text = {0};
    struct err err = {""};
    struct runtime_log_query query = {.job.v = {1, 2},
                                      .container = str_make(name, 1009),
                                      .since = STR(""),
                                      .line_count_max = -1,
                                      .byte_count_max = 100};

    memset(name, 'c', sizeof(name));
    assert_int_equal(helper_logs(fixture->helper, &query, &text, &err),
                     -ERR_INVALID);
    assert_string_equal(err.text, "container and time are too long (together "
                                  "at most 1008 bytes)");
    query.container.byte_count = 1008;
    assert_int_equal(helper_logs(fixture->helper, &query, &text, &err),
                     -ERR_NOT_FOUND);
}

static void an_opening_that_fails_says_why(void **state)
{
    (void)state;
    static char who[] = "the other";
    const struct helper_options options = {
        .open = open_fake, .open_ctx = who, .lost = count_lost};
    struct runtime *runtime;
    struct err info, err;
    struct helper *helper = helper_start(&options, &err);

    assert_non_null(helper);
    assert_int_equal(helper_open(helper, &runtime, &info, &err), -ERR_CONFLICT);
    assert_string_equal(err.text, "somebody has it: the other");
    helper_stop(helper);
}

static void a_helper_that_is_killed_is_told_of_once(void **state)
{
    struct fixture *fixture = *state;
    struct runtime *runtime = fixture->runtime;
    struct pollfd wait = {.fd = runtime->wake_fd, .events = POLLIN};
    struct runtime_change change;
    struct job job;

    job_make(&job, 2, (const char *const[]){"true", NULL});
    assert_int_equal(kill(helper_pid(fixture->helper), SIGKILL), 0);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    while (fixture->lost_count == 0 && machine_ms() < until_ms) {
        (void)poll(&wait, 1, (int)WAIT_MS_MAX);
        (void)runtime->ops->poll(runtime, &change, 1);
    }
    assert_int_equal(fixture->lost_count, 1);
    runtime->ops->create(runtime, &job.run);
    runtime->ops->stop(runtime, job.run.run, 0);
    assert_int_equal(fixture->lost_count, 1);
    job_free(&job);
}

/* A runtime that only looks at what it is given; what it should not have been
 * given ends it. */

static void believe(bool is_right)
{
    if (!is_right) {
        _exit(EXIT_BELIEVED);
    }
}

static bool is_clean(struct str text)
{
    return text.byte_count < 4096 && strlen(text.p) == text.byte_count;
}

static void stub_list(struct runtime *runtime,
                      void (*each)(void *, const struct runtime_pod *),
                      void *ctx)
{
    (void)runtime;
    each(ctx, &(struct runtime_pod){.run.v = {1, 2}, .queue = STR("q")});
}

static void stub_create(struct runtime *runtime, const struct runtime_run *run)
{
    (void)runtime;
    believe(!key128_is_none(run->run.v) && !key128_is_none(run->job.v));
    believe(is_clean(run->queue) && is_clean(run->job_set) &&
            is_clean(run->user) && is_clean(run->namespace_) &&
            is_clean(run->pod_name) && is_clean(run->node_name));
    believe(run->submit && run->submit->base.descriptor ==
                               &armadaevents__submit_job__descriptor);
}

static void stub_stop(struct runtime *runtime, struct run_id run,
                      int64_t grace_ms)
{
    (void)runtime;
    believe(!key128_is_none(run.v) && grace_ms >= -1 &&
            grace_ms <= HELPER_GRACE_MS_MAX);
}

static void stub_ack(struct runtime *runtime, struct run_id run,
                     enum reconcile_phase phase)
{
    (void)runtime;
    believe(!key128_is_none(run.v) && phase >= RECONCILE_PENDING &&
            phase <= RECONCILE_LOST);
}

static void stub_forget(struct runtime *runtime, struct run_id run)
{
    (void)runtime;
    believe(!key128_is_none(run.v));
}

static uint32_t stub_poll(struct runtime *runtime,
                          struct runtime_change *ret_changes,
                          uint32_t change_max)
{
    (void)runtime;
    (void)ret_changes;
    (void)change_max;
    return 0;
}

static int64_t stub_next_wake_ms(struct runtime *runtime)
{
    (void)runtime;
    return INT64_MAX;
}

static bool stub_status(struct runtime *runtime, struct run_id run,
                        struct arena *arena, struct runtime_status *ret_status)
{
    (void)runtime;
    (void)arena;
    believe(!key128_is_none(run.v));
    *ret_status = (struct runtime_status){.message = STR("m")};
    return true;
}

static const struct node_set *stub_nodes(struct runtime *runtime)
{
    static struct node_set *nodes;

    (void)runtime;
    nodes = nodes ? nodes : node_set_create();
    return nodes;
}

static int stub_logs(struct runtime *runtime,
                     const struct runtime_log_query *query, struct strbuf *buf,
                     struct err *err)
{
    (void)runtime;
    (void)err;
    believe(!key128_is_none(query->job.v) && query->byte_count_max > 0 &&
            query->byte_count_max <= RUNTIME_LOG_BYTES_MAX);
    strbuf_add_text(buf, "line\n");
    return 0;
}

static void stub_close(struct runtime *runtime)
{
    (void)runtime;
}

static int open_stub(void *ctx, struct runtime **ret_runtime,
                     struct err *ret_info, struct err *err)
{
    static const struct runtime_ops ops = {
        .list = stub_list,
        .create = stub_create,
        .stop = stub_stop,
        .ack = stub_ack,
        .forget = stub_forget,
        .poll = stub_poll,
        .next_wake_ms = stub_next_wake_ms,
        .status = stub_status,
        .nodes = stub_nodes,
        .logs = stub_logs,
        .close = stub_close,
    };
    static struct runtime runtime = {&ops, -1, 1};

    (void)ctx;
    (void)ret_info;
    (void)err;
    *ret_runtime = &runtime;
    return 0;
}

/* A runtime that has something to say at once, but not when it is opened. */
static uint32_t late_poll(struct runtime *runtime,
                          struct runtime_change *ret_changes,
                          uint32_t change_max)
{
    static int count;

    (void)runtime;
    (void)change_max;
    *ret_changes = (struct runtime_change){.kind = RUNTIME_LISTED};
    return ++count == 2;
}

static int64_t late_next_wake_ms(struct runtime *runtime)
{
    (void)runtime;
    return INT64_MIN;
}

static int open_late(void *ctx, struct runtime **ret_runtime,
                     struct err *ret_info, struct err *err)
{
    static struct runtime_ops ops;
    int rc = open_stub(ctx, ret_runtime, ret_info, err);

    ops = *(*ret_runtime)->ops;
    ops.poll = late_poll;
    ops.next_wake_ms = late_next_wake_ms;
    (*ret_runtime)->ops = &ops;
    return rc;
}

static void a_runtime_that_wants_no_pause_gets_none(void **state)
{
    (void)state;
    const struct helper_options options = {.open = open_late,
                                           .lost = count_lost};
    struct runtime *runtime;
    struct err info, err;
    struct helper *helper = helper_start(&options, &err);

    assert_non_null(helper);
    assert_int_equal(helper_open(helper, &runtime, &info, &err), 0);
    assert_int_equal(next_change(runtime).kind, RUNTIME_LISTED);
    runtime_close(runtime);
    helper_stop(helper);
}

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

/* A front end that is told of a pod. */
struct told {
    struct runtime *runtime;
    int count;
};

static void ask_more(void *of, const struct runtime_pod *pod)
{
    struct told *told = of;
    auto_arena arena = {0};
    struct runtime_status status;

    told->count +=
        told->runtime->ops->status(told->runtime, pod->run, &arena, &status) &&
        str_equal(pod->queue, STR("q"));
}

static void who_is_told_of_a_pod_may_ask_for_more(void **state)
{
    (void)state;
    const struct helper_options options = {.open = open_stub,
                                           .lost = count_lost};
    struct told told = {0};
    struct err info, err;
    struct helper *helper = helper_start(&options, &err);

    assert_non_null(helper);
    assert_int_equal(helper_open(helper, &told.runtime, &info, &err), 0);
    told.runtime->ops->list(told.runtime, ask_more, &told);
    assert_int_equal(told.count, 1);
    runtime_close(told.runtime);
    helper_stop(helper);
}

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

static void names_have_no_nul_and_an_end(void **state)
{
    (void)state;
    auto_strbuf good = {0};
    struct runtime_run run = {.run.v = {1, 2}};
    struct job job;
    struct err err;

    job_make(&job, 4, (const char *const[]){"true", NULL});
    helper_put_run(&good, &job.run);
    assert_int_equal(helper_take_run(strbuf_str(&good), &job.arena, &run, &err),
                     0);
    assert_true(str_equal(run.queue, job.run.queue));
    for (size_t n = 0; n < good.byte_count; n++) {
        assert_int_equal(
            helper_take_run(str_make(good.bytes, n), &job.arena, &run, &err),
            -ERR_INVALID);
    }
    /* The first name, behind its length. */
    good.bytes[sizeof(int64_t)] = '\0';
    assert_int_equal(helper_take_run(strbuf_str(&good), &job.arena, &run, &err),
                     -ERR_INVALID);
    job_free(&job);
}

static void a_status_arrives_whole(void **state)
{
    (void)state;
    auto_arena arena = {0};
    auto_strbuf buf = {0};
    struct runtime_ended ended = {.name = STR("main"),
                                  .reason = STR("Error"),
                                  .message = STR("oh"),
                                  .exit_code = 3,
                                  .cause = RUNTIME_CAUSE_ERROR};
    const struct runtime_address address = {80, STR("1.2.3.4:5")};
    struct resource_amount most = {STR("cpu"), 1500};
    struct resource_amount sum = {STR("memory"), 7};
    const struct runtime_status told = {
        .cause = RUNTIME_CAUSE_OOM,
        .message = STR("why"),
        .ended = &ended,
        .ended_count = 1,
        .created_ms = 1,
        .started_ms = 2,
        .ended_ms = 3,
        .addresses = &address,
        .address_count = 1,
        .used_max = {&most, 1},
        .used_sum = {&sum, 1},
    };
    struct runtime_status status;

    helper_put_status(&buf, &told);
    struct helper_reader reader = {.rest = strbuf_str(&buf)};
    helper_take_status(&reader, &arena, &status);

    assert_true(helper_is_whole(&reader));
    assert_int_equal(status.cause, RUNTIME_CAUSE_OOM);
    assert_true(str_equal(status.message, STR("why")));
    assert_int_equal(status.created_ms * 100 + status.started_ms * 10 +
                         status.ended_ms,
                     123);
    assert_int_equal(status.ended_count, 1);
    assert_true(str_equal(status.ended[0].message, STR("oh")));
    assert_int_equal(status.ended[0].exit_code, 3);
    assert_int_equal(status.address_count, 1);
    assert_int_equal(status.addresses[0].port, 80);
    assert_true(str_equal(status.addresses[0].address, STR("1.2.3.4:5")));
    assert_int_equal(resource_list_get(&status.used_max, STR("cpu")), 1500);
    assert_int_equal(resource_list_get(&status.used_sum, STR("memory")), 7);
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
            request->kind == HELPER_CREATE || request->kind == HELPER_LOGS;
        request->job = has_job ? request->job : (struct job_id){{0, 0}};
        request->run =
            request->kind == HELPER_OPEN || request->kind == HELPER_LIST ||
                    request->kind == HELPER_POLL || request->kind == HELPER_LOGS
                ? (struct run_id){{0, 0}}
                : request->run;
        request->limit = request->kind == HELPER_LOGS;
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
        rc = helper_send(fds[request.kind == HELPER_LOGS], &request,
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

#define WITH_HELPER(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_HELPER(a_pod_runs_as_in_one_process),
        WITH_HELPER(what_opening_says_arrives),
        WITH_HELPER(logs_that_are_not_there_are_not_found),
        WITH_HELPER(a_query_of_logs_beyond_its_bound_says_so),
        WITH_HELPER(a_helper_that_is_killed_is_told_of_once),
        TEST(an_opening_that_fails_says_why),
        TEST(what_breaks_the_protocol_ends_the_helper),
        TEST(names_have_no_nul_and_an_end),
        TEST(a_runtime_that_wants_no_pause_gets_none),
        TEST(an_answer_that_makes_no_sense_ends_the_helper),
        TEST(an_answer_that_does_not_fit_is_not_sent_in_part),
        TEST(a_helper_that_stands_still_is_waited_for_no_longer),
        TEST(who_is_told_of_a_pod_may_ask_for_more),
        TEST(a_status_arrives_whole),
        TEST(nothing_is_done_before_it_is_open),
        TEST(a_hostile_front_end_gets_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
