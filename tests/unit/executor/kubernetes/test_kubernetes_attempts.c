/*
 * kubernetes: jobs that crash the executor while their pods are built.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "executor/kubernetes/kubernetes.h"
#include "kube/fake/fake_api.h"
#include "server.h"
#include "support.h"
#include "unit.h"

enum { TURN_MS = 10, TURNS_MAX = 1000 };

struct fixture {
    struct test_clock clock;
    struct fake_api *api;
    struct runtime *runtime;
    char *dir;
    int attempts_fd;
};

static void open_runtime(struct fixture *f)
{
    struct kubernetes_options options;
    struct err err;

    kubernetes_options_default(&options);
    options.executor_id = STR("one");
    options.attempts_fd = f->attempts_fd;
    assert_int_equal(kubernetes_open(&options, fake_api_port(f->api),
                                     &f->clock.clock, &machine_rng, &f->runtime,
                                     &err),
                     0);
}

/* How the creation of a job's pod ends; its text, in the buffer. */
static enum runtime_change_kind create(struct fixture *f, struct job *job,
                                       struct strbuf *text)
{
    struct runtime_change change;
    bool is_asked = false;

    job->run.pod_name = STR("armada-job-0");
    job->run.node_name = STR("n1");
    for (int i = 0; i < TURNS_MAX; i++, f->clock.now_ms += TURN_MS) {
        while (f->runtime->ops->poll(f->runtime, &change, 1) == 1) {
            if (change.kind == RUNTIME_LISTED && !is_asked) {
                is_asked = true;
                f->runtime->ops->create(f->runtime, &job->run);
            } else if (is_asked) {
                strbuf_add_str(text, change.text);
                return change.kind;
            }
        }
    }
    fail();
    return RUNTIME_LISTED;
}

/* In a process of its own: open the runtime, and crash over the job. */
static void crash_over(struct fixture *f, struct job *job)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct rlimit no_core = {0, 0};
        auto_strbuf text = {0};
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(SIGSEGV, SIG_DFL);
        open_runtime(f);
        job->pod->n_nodeselector = 1;
        job->pod->nodeselector = (void *)(uintptr_t)8;
        (void)create(f, job, &text);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *f = *state = &fixture;

    test_clock_init(&f->clock);
    f->api = fake_api_create(&f->clock.clock);
    fake_api_put_node(f->api, "n1", true);
    f->dir = make_dir();
    f->attempts_fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(f->attempts_fd >= 0);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    runtime_close(f->runtime);
    fake_api_destroy(f->api);
    close(f->attempts_fd);
    remove_dir(f->dir);
    return 0;
}

static void a_job_that_crashed_the_executor_twice_is_refused(void **state)
{
    struct fixture *f = *state;
    auto_strbuf text = {0};
    struct job job, other;
    job_make(&job, 1, (const char *const[]){"program", NULL});
    job_make(&other, 2, (const char *const[]){"program", NULL});

    crash_over(f, &job);
    crash_over(f, &job);
    open_runtime(f);

    assert_int_equal(create(f, &job, &text), RUNTIME_REFUSED);
    assert_non_null(strstr(strbuf_text(&text), "crashed the executor 2 times"));
    runtime_close(f->runtime);
    open_runtime(f);
    assert_int_equal(create(f, &other, &text), RUNTIME_CREATED);
    job_free(&other);
    job_free(&job);
}

static void one_crash_is_forgiven_once_the_pod_was_built(void **state)
{
    struct fixture *f = *state;
    auto_strbuf text = {0};
    struct job job;
    job_make(&job, 3, (const char *const[]){"program", NULL});

    crash_over(f, &job);
    open_runtime(f);

    assert_int_equal(create(f, &job, &text), RUNTIME_CREATED);
    assert_int_equal(rmdir(f->dir), 0); /* nothing is noted any more */
    job_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_job_that_crashed_the_executor_twice_is_refused, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            one_crash_is_forgiven_once_the_pod_was_built, set_up, tear_down),
    };

    return RUN_TESTS(tests);
}
