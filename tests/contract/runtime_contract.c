/*
 * runtime: the contract of the port, by example.
 */
#include "runtime_contract.h"

#include <poll.h>

#include "executor/files/exec_io.h"
#include "executor/port/node_set.h"
#include "unit.h"

enum { CHANGES_MAX = 64 };

struct fixture {
    const struct runtime_contract *contract;
    void *place;
    struct runtime *runtime;
    struct job job;
    struct runtime_change seen[CHANGES_MAX]; /* texts and pods cut off */
    uint32_t seen_count;
};

static int set_up(void **state)
{
    struct fixture *f = *state;

    f->place = f->contract->place_create();
    f->runtime = f->contract->open(f->place);
    f->seen_count = 0;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    runtime_close(f->runtime);
    f->contract->place_destroy(f->place);
    job_free(&f->job);
    return 0;
}

static void reopen(struct fixture *f)
{
    runtime_close(f->runtime);
    f->runtime = f->contract->open(f->place);
    f->seen_count = 0;
}

/* Take all there is now. */
static void look(struct fixture *f)
{
    struct runtime_change change;

    while (f->runtime->ops->poll(f->runtime, &change, 1) == 1) {
        assert_true((change.kind == RUNTIME_APPEARED) == (change.pod != NULL));
        change.text = STR("");
        change.pod = NULL;
        assert_true(f->seen_count < CHANGES_MAX);
        f->seen[f->seen_count++] = change;
    }
}

static const struct runtime_change *find(const struct fixture *f,
                                         enum runtime_change_kind kind)
{
    for (uint32_t i = 0; i < f->seen_count; i++) {
        if (f->seen[i].kind == kind) {
            return &f->seen[i];
        }
    }
    return NULL;
}

/* Wait for a change of this kind. */
static const struct runtime_change *await(struct fixture *f,
                                          enum runtime_change_kind kind)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;

    for (look(f); !find(f, kind); look(f)) {
        assert_true(machine_ms() < until_ms);
        f->contract->wait(f->place, f->runtime);
    }
    return find(f, kind);
}

/* Wait until the pod is at least as far; its phase. */
static enum reconcile_phase await_rank(struct fixture *f,
                                       enum reconcile_phase phase)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    int rank = reconcile_rank(phase);

    for (;;) {
        look(f);
        for (uint32_t i = 0; i < f->seen_count; i++) {
            if (f->seen[i].kind == RUNTIME_PHASE &&
                reconcile_rank(f->seen[i].phase) >= rank) {
                return f->seen[i].phase;
            }
        }
        assert_true(machine_ms() < until_ms);
        f->contract->wait(f->place, f->runtime);
    }
}

static void create(struct fixture *f, int number, enum contract_program program)
{
    f->contract->make_job(&f->job, number, program);
    (void)await(f, RUNTIME_LISTED);
    f->runtime->ops->create(f->runtime, &f->job.run);
    (void)await(f, RUNTIME_CREATED);
}

static uint32_t count_kind(const struct fixture *f,
                           enum runtime_change_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < f->seen_count; i++) {
        count += f->seen[i].kind == kind;
    }
    return count;
}

static struct runtime_status status_of(struct fixture *f)
{
    struct runtime_status status;

    assert_true(f->runtime->ops->status(f->runtime, f->job.run.run,
                                        &f->job.arena, &status));
    return status;
}

struct listed {
    uint32_t count;
    struct run_id run;
    enum reconcile_phase phase, acked;
    bool has_name;
};

static void note_pod(void *ctx, const struct runtime_pod *pod)
{
    struct listed *listed = ctx;

    listed->count++;
    listed->run = pod->run;
    listed->phase = pod->phase;
    listed->acked = pod->acked;
    listed->has_name = pod->pod_name.byte_count > 0;
}

static struct listed list(struct fixture *f)
{
    struct listed listed = {0};

    (void)await(f, RUNTIME_LISTED);
    f->runtime->ops->list(f->runtime, note_pod, &listed);
    return listed;
}

/* The tests. */

static void an_empty_runtime_says_that_it_is_listed_once(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(list(f).count, 0);
    create(f, 1, CONTRACT_SUCCEEDS);
    (void)await_rank(f, RECONCILE_SUCCEEDED);

    assert_int_equal(count_kind(f, RUNTIME_LISTED), 1);
}

static void phases_rise_after_the_end_of_the_creation(void **state)
{
    struct fixture *f = *state;
    int rank = -1;
    create(f, 2, CONTRACT_SUCCEEDS);

    assert_int_equal(await_rank(f, RECONCILE_SUCCEEDED), RECONCILE_SUCCEEDED);

    for (uint32_t i = 0; i < f->seen_count; i++) {
        if (f->seen[i].kind != RUNTIME_LISTED) {
            int now = f->seen[i].kind == RUNTIME_CREATED
                          ? 0
                          : reconcile_rank(f->seen[i].phase);
            assert_true(now > rank);
            rank = now;
        }
    }
    assert_int_equal(count_kind(f, RUNTIME_CREATED), 1);
    assert_int_equal(status_of(f).cause, RUNTIME_CAUSE_NONE);
    assert_true(status_of(f).ended_ms >= status_of(f).created_ms);
}

static void a_failure_has_a_cause_and_an_exit_code(void **state)
{
    struct fixture *f = *state;
    create(f, 3, CONTRACT_FAILS);

    assert_int_equal(await_rank(f, RECONCILE_SUCCEEDED), RECONCILE_FAILED);

    struct runtime_status status = status_of(f);
    assert_int_equal(status.cause, RUNTIME_CAUSE_ERROR);
    assert_int_equal(status.ended_count, 1);
    assert_int_equal(status.ended[0].exit_code, 3);
}

static void a_run_that_has_a_pod_is_known(void **state)
{
    struct fixture *f = *state;
    create(f, 4, CONTRACT_SUCCEEDS);

    f->runtime->ops->create(f->runtime, &f->job.run);
    (void)await(f, RUNTIME_KNOWN);
    (void)await_rank(f, RECONCILE_SUCCEEDED);
    f->runtime->ops->create(f->runtime, &f->job.run);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    for (look(f); count_kind(f, RUNTIME_KNOWN) < 2; look(f)) {
        assert_true(machine_ms() < until_ms);
        f->contract->wait(f->place, f->runtime);
    }

    assert_int_equal(count_kind(f, RUNTIME_CREATED), 1);
}

static void a_stop_ends_the_pod_once_however_often_it_is_asked(void **state)
{
    struct fixture *f = *state;
    create(f, 5, CONTRACT_RUNS_ON);
    (void)await_rank(f, RECONCILE_RUNNING);

    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    assert_int_equal(await_rank(f, RECONCILE_SUCCEEDED), RECONCILE_FAILED);
    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    look(f);

    assert_int_equal(status_of(f).cause, RUNTIME_CAUSE_STOPPED);
    assert_int_equal(count_kind(f, RUNTIME_PHASE), 2);
}

static void unknown_runs_are_passed_over_or_forgotten(void **state)
{
    struct fixture *f = *state;
    struct runtime_status status;
    f->contract->make_job(&f->job, 6, CONTRACT_SUCCEEDS);

    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    f->runtime->ops->ack(f->runtime, f->job.run.run, RECONCILE_RUNNING);
    f->runtime->ops->forget(f->runtime, f->job.run.run);
    (void)await(f, RUNTIME_FORGOTTEN);

    assert_int_equal(count_kind(f, RUNTIME_PHASE), 0);
    assert_false(f->runtime->ops->status(f->runtime, f->job.run.run,
                                         &f->job.arena, &status));
}

static void what_is_forgotten_has_no_status(void **state)
{
    struct fixture *f = *state;
    struct runtime_status status;
    create(f, 7, CONTRACT_SUCCEEDS);
    (void)await_rank(f, RECONCILE_SUCCEEDED);

    f->runtime->ops->forget(f->runtime, f->job.run.run);
    const struct runtime_change *change = await(f, RUNTIME_FORGOTTEN);

    assert_int_equal(key128_compare(change->run.v, f->job.run.run.v), 0);
    assert_false(f->runtime->ops->status(f->runtime, f->job.run.run,
                                         &f->job.arena, &status));
}

static void what_is_to_be_taken_needs_no_waiting(void **state)
{
    struct fixture *f = *state;
    create(f, 8, CONTRACT_RUNS_ON);
    (void)await_rank(f, RECONCILE_RUNNING);

    f->runtime->ops->forget(f->runtime, (struct run_id){{0, 1}});

    struct pollfd wake = {.fd = f->runtime->wake_fd, .events = POLLIN};
    assert_true(f->runtime->ops->next_wake_ms(f->runtime) <= 0 ||
                poll(&wake, 1, (int)WAIT_MS_MAX) == 1);
    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    (void)await_rank(f, RECONCILE_SUCCEEDED);
}

static void nodes_have_names_and_a_version_that_stays(void **state)
{
    struct fixture *f = *state;
    (void)await(f, RUNTIME_LISTED);
    const struct node_set *nodes = f->runtime->ops->nodes(f->runtime);
    uint32_t count;
    const struct node_record *all = node_set_all(nodes, &count);
    uint64_t version = node_set_version(nodes);

    look(f);

    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(all[i].name.byte_count > 0);
        assert_ptr_equal(node_set_find(nodes, all[i].name), &all[i]);
    }
    assert_true(f->runtime->ops->nodes(f->runtime) == nodes);
    assert_true(node_set_version(nodes) == version);
}

static void a_restart_lists_what_runs_with_what_was_acknowledged(void **state)
{
    struct fixture *f = *state;
    if (!f->contract->remembers) {
        skip();
    }
    create(f, 9, CONTRACT_RUNS_ON);
    (void)await_rank(f, RECONCILE_RUNNING);
    f->runtime->ops->ack(f->runtime, f->job.run.run, RECONCILE_PENDING);

    reopen(f);
    struct listed listed = list(f);

    assert_int_equal(listed.count, 1);
    assert_int_equal(key128_compare(listed.run.v, f->job.run.run.v), 0);
    assert_int_equal(listed.phase, RECONCILE_RUNNING);
    assert_int_equal(listed.acked, f->contract->remembers_forgotten
                                       ? RECONCILE_PENDING
                                       : RECONCILE_NEVER);
    assert_true(listed.has_name);
    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    (void)await_rank(f, RECONCILE_SUCCEEDED);
}

static void what_was_forgotten_is_known_for_ever(void **state)
{
    struct fixture *f = *state;
    if (!f->contract->remembers_forgotten) {
        skip();
    }
    create(f, 10, CONTRACT_SUCCEEDS);
    (void)await_rank(f, RECONCILE_SUCCEEDED);
    f->runtime->ops->forget(f->runtime, f->job.run.run);
    (void)await(f, RUNTIME_FORGOTTEN);

    reopen(f);
    assert_int_equal(list(f).phase, RECONCILE_FORGOTTEN);
    f->runtime->ops->create(f->runtime, &f->job.run);

    (void)await(f, RUNTIME_KNOWN);
}

/* Run `script` in the job, and give the code of its end. */
static int run_in(struct fixture *f, const char *script)
{
    char *args[] = {strdup("sh"), strdup("-c"), strdup(script)};
    struct exec_start start = {.container = "",
                               .args = {.items = args, .count = 3},
                               .term = "",
                               .time_ms_max = WAIT_MS_MAX};
    auto_strbuf frames = {0}, in = strbuf_make(EXEC_IO_BYTES_MAX);
    struct exec_frame frame = {.kind = EXEC_STARTED};
    struct exec_end end = {.code = -1};
    struct err err;
    int fd = -1;

    assert_int_equal(
        f->runtime->ops->exec(f->runtime, f->job.run.job, &fd, &err), 0);
    assert_int_equal(exec_start_put(&frames, &start), 0);
    assert_int_equal(write(fd, frames.bytes, frames.byte_count),
                     frames.byte_count);
    while (frame.kind != EXEC_END) {
        size_t byte_count = 0;
        while (exec_frame_take(strbuf_str(&in), false, &frame, &byte_count) ==
               0) {
            assert_int_equal(exec_io_receive(&in, fd, true), EXEC_IO_SOME);
        }
        assert_true(byte_count > 0);
        if (frame.kind == EXEC_END) {
            assert_int_equal(exec_end_take(frame.payload, &end), 0);
            assert_int_equal(end.ending, EXEC_EXITED);
        }
        exec_io_drop(&in, byte_count);
    }
    close(fd);
    for (int i = 0; i < 3; i++) {
        free(args[i]);
    }
    return end.code;
}

/* Or it says who cannot. */
static void a_pod_that_runs_lets_users_in(void **state)
{
    struct fixture *f = *state;
    struct err err;
    int fd = -1;

    assert_true(strlen(f->runtime->ops->name) > 0);
    create(f, 12, CONTRACT_RUNS_ON);
    (void)await_rank(f, RECONCILE_RUNNING);
    if (f->contract->lets_users_in) {
        assert_int_equal(run_in(f, "exit 3"), 3);
    } else {
        assert_int_equal(runtime_exec(f->runtime, f->job.run.job, &fd, &err),
                         -ERR_INVALID);
        assert_non_null(strstr(err.text, "cannot exec"));
    }
    f->runtime->ops->stop(f->runtime, f->job.run.run, 0);
    (void)await_rank(f, RECONCILE_FAILED);
    if (f->contract->lets_users_in) {
        assert_int_equal(
            f->runtime->ops->exec(f->runtime, f->job.run.job, &fd, &err),
            -ERR_NOT_FOUND);
        f->job.run.job.v.lo++;
        assert_int_equal(
            f->runtime->ops->exec(f->runtime, f->job.run.job, &fd, &err),
            -ERR_NOT_FOUND);
    }
    assert_int_equal(fd, -1);
}

#define CONTRACT_TEST(name)                      \
    {                                            \
        #name, name, set_up, tear_down, &fixture \
    }

int runtime_contract_run(const struct runtime_contract *contract)
{
    static struct fixture fixture;
    const struct CMUnitTest tests[] = {
        CONTRACT_TEST(an_empty_runtime_says_that_it_is_listed_once),
        CONTRACT_TEST(phases_rise_after_the_end_of_the_creation),
        CONTRACT_TEST(a_failure_has_a_cause_and_an_exit_code),
        CONTRACT_TEST(a_run_that_has_a_pod_is_known),
        CONTRACT_TEST(a_stop_ends_the_pod_once_however_often_it_is_asked),
        CONTRACT_TEST(unknown_runs_are_passed_over_or_forgotten),
        CONTRACT_TEST(what_is_forgotten_has_no_status),
        CONTRACT_TEST(what_is_to_be_taken_needs_no_waiting),
        CONTRACT_TEST(nodes_have_names_and_a_version_that_stays),
        CONTRACT_TEST(a_restart_lists_what_runs_with_what_was_acknowledged),
        CONTRACT_TEST(what_was_forgotten_is_known_for_ever),
        CONTRACT_TEST(a_pod_that_runs_lets_users_in),
    };

    fixture.contract = contract;
    return cmocka_run_group_tests_name(contract->name, tests, NULL, NULL);
}
