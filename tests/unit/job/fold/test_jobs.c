/* The job table and what is due, by example (armada-api.md 2.5). */
#include "job/due/job_action.h"
#include "table.h"
#include "unit.h"

/* One table, one job set, and what was said so far. */
struct scene {
    struct jobs *jobs;
    struct event_scope scope;
    enum event_type said[64];
    uint32_t said_count;
    struct event last; /* its strings live in `arena` */
    const struct retry_policy *retry;
    struct arena arena;
};

static struct scene scene_make(void)
{
    return (struct scene){.jobs = table_create(),
                          .scope = {STR("q"), STR("set"), STR("anna")}};
}

static void scene_end(struct scene *s)
{
    jobs_assert_valid(s->jobs);
    jobs_destroy(s->jobs);
    arena_fini(&s->arena);
}

static enum jobs_answer apply(struct scene *s, const struct event *event)
{
    struct jobs_change change;

    return jobs_apply(s->jobs, &s->scope, event, &change);
}

struct wish {
    const char *class_name;
    const char *gang;
    bool is_fail_fast, is_requeue_preempted, is_requeue_lost;
    const char *application;
};

static void submit(struct scene *s, uint32_t n, struct wish wish)
{
    struct table_submission submission = {
        .scope = s->scope,
        .class_name = wish.class_name ? wish.class_name : "armada-preemptible",
        .priority = 5,
        .digest = {.gang_id = str_of(wish.gang),
                   .gang_cardinality = wish.gang ? 2 : 1,
                   .gang_minimum = wish.gang ? 2 : 1,
                   .is_fail_fast = wish.is_fail_fast,
                   .on_preemption = wish.is_requeue_preempted,
                   .on_executor_lost = wish.is_requeue_lost,
                   .application_id = str_of(wish.application)},
    };

    table_submit(s->jobs, n, &submission);
}

static void lease(struct scene *s, uint32_t n)
{
    struct job_decisions decisions;
    struct job_run run = {.executor_id = STR("exec"),
                          .node_name = STR("node"),
                          .pool = STR("default"),
                          .priority = 1000};

    job_lease(s->jobs, table_find(s->jobs, n), &run, 7, &decisions);
    assert_int_equal(apply(s, &decisions.events[0]), JOBS_APPLIED);
}

static enum jobs_answer report(struct scene *s, uint32_t n,
                               enum event_type type)
{
    struct event event = table_about(s->jobs, n, type);

    return apply(s, &event);
}

static void give_back(struct scene *s, uint32_t n, bool is_attempted)
{
    struct event event = table_about(s->jobs, n, EVENT_RUN_ERRORS);

    event.error = (struct event_error){.kind = ERROR_LEASE_RETURNED,
                                       .is_terminal = true,
                                       .is_run_attempted = is_attempted,
                                       .message = STR("no luck")};
    assert_int_equal(apply(s, &event), JOBS_APPLIED);
}

/* Say all that is due, until nothing is. */
static void settle(struct scene *s)
{
    struct job_rules rules = {.retries_max = 3,
                              .retry = s->retry,
                              .policy_retries_max = 5,
                              .now_ms = 9};
    struct event_scope scope = s->scope;

    while (jobs_has_dirty(s->jobs)) {
        uint32_t count;
        auto_mem uint32_t *dirty = jobs_take_dirty(s->jobs, 0, &count);
        for (uint32_t i = 0; i < count; i++) {
            struct job_decisions decisions;
            job_due(s->jobs, dirty[i], &rules, &s->arena, &decisions);
            scope.user = decisions.scope.user;
            for (uint32_t k = 0; k < decisions.event_count; k++) {
                struct jobs_change change;
                s->said[s->said_count++] = decisions.events[k].type;
                s->last = decisions.events[k];
                if (s->last.type == EVENT_FAILED) {
                    s->last.error.message =
                        arena_str(&s->arena, s->last.error.message);
                    s->last.error.category =
                        arena_str(&s->arena, s->last.error.category);
                }
                jobs_apply(s->jobs, &scope, &decisions.events[k], &change);
            }
        }
    }
}

#define ASSERT_SAID(s, ...)                                             \
    do {                                                                \
        enum event_type want_[] = {__VA_ARGS__};                        \
        settle(s);                                                      \
        assert_int_equal((s)->said_count, sizeof(want_) / sizeof(int)); \
        assert_memory_equal((s)->said, want_, sizeof(want_));           \
        (s)->said_count = 0;                                            \
    } while (0)
#define ASSERT_SILENT(s)                      \
    do {                                      \
        settle(s);                            \
        assert_int_equal((s)->said_count, 0); \
    } while (0)

static void a_run_that_succeeds_makes_the_job_succeed(void **state)
{
    struct scene s = scene_make();

    (void)state;
    submit(&s, 1, (struct wish){0});
    ASSERT_SILENT(&s);
    lease(&s, 1);
    assert_int_equal(report(&s, 1, EVENT_RUN_ASSIGNED), JOBS_APPLIED);
    assert_int_equal(report(&s, 1, EVENT_RUN_RUNNING), JOBS_APPLIED);
    assert_int_equal(report(&s, 1, EVENT_RUN_RUNNING), JOBS_LATE);
    assert_int_equal(report(&s, 1, EVENT_RUN_ASSIGNED), JOBS_LATE);
    assert_int_equal(report(&s, 1, EVENT_RUN_SUCCEEDED), JOBS_APPLIED);
    ASSERT_SAID(&s, EVENT_SUCCEEDED);
    assert_int_equal(jobs_count(s.jobs), 0);
    assert_int_equal(report(&s, 1, EVENT_RUN_SUCCEEDED), JOBS_LATE);
    scene_end(&s);
}

static void assert_runs(const struct scene *s, const char *pool,
                        struct jobs_run_counts wanted)
{
    struct jobs_run_counts got =
        jobs_run_counts(s->jobs, STR("q"), str_of(pool));

    assert_int_equal(got.leased_count, wanted.leased_count);
    assert_int_equal(got.pending_count, wanted.pending_count);
    assert_int_equal(got.running_count, wanted.running_count);
}

static void runs_are_counted_by_queue_pool_and_state(void **state)
{
    struct scene s = scene_make();

    (void)state;
    for (uint32_t n = 1; n <= 3; n++) {
        submit(&s, n, (struct wish){0});
        assert_runs(&s, "default", (struct jobs_run_counts){n - 1, 0, 0});
        lease(&s, n);
    }
    assert_runs(&s, "default", (struct jobs_run_counts){3, 0, 0});
    assert_runs(&s, "other", (struct jobs_run_counts){0, 0, 0});
    (void)report(&s, 1, EVENT_RUN_ASSIGNED);
    (void)report(&s, 2, EVENT_RUN_RUNNING);
    assert_runs(&s, "default", (struct jobs_run_counts){1, 1, 1});
    (void)report(&s, 2, EVENT_RUN_SUCCEEDED);
    ASSERT_SAID(&s, EVENT_SUCCEEDED);
    assert_runs(&s, "default", (struct jobs_run_counts){1, 1, 0});
    scene_end(&s);
}

static void fail_with(struct scene *s, uint32_t n, int32_t exit_code)
{
    struct event event = table_about(s->jobs, n, EVENT_RUN_ERRORS);

    event.error = (struct event_error){.kind = ERROR_POD,
                                       .is_terminal = true,
                                       .exit_code = exit_code,
                                       .category = STR("infra"),
                                       .message = STR("it broke")};
    assert_int_equal(apply(s, &event), JOBS_APPLIED);
}

static void a_retry_policy_decides_about_failures(void **state)
{
    static const int32_t code = 3;
    const struct retry_rule rule = {.is_retry = true,
                                    .avoids_node = true,
                                    .exit_codes = &code,
                                    .exit_code_count = 1};
    struct retry_policy policy = {
        .name = STR("p"), .limit = 1, .rules = &rule, .rule_count = 1};
    struct job_tried tried[JOBS_TRIED_MAX];
    struct scene s = scene_make();

    (void)state;
    s.retry = &policy;
    submit(&s, 1, (struct wish){0});
    lease(&s, 1);
    fail_with(&s, 1, 3);
    ASSERT_SAID(&s, EVENT_FAILED, EVENT_REQUEUED);
    assert_int_equal(jobs_tried(s.jobs, table_find(s.jobs, 1), tried), 1);
    assert_true(str_equal(tried[0].node_name, STR("node")));
    lease(&s, 1);
    fail_with(&s, 1, 3);
    ASSERT_SAID(&s, EVENT_FAILED);
    assert_true(s.last.error.is_terminal);
    assert_true(str_equal(
        s.last.error.message,
        STR("Retry policy: the limit of policy p (1) is reached\n\nFinal run "
            "error:\nit broke")));
    assert_true(str_equal(s.last.error.category, STR("infra")));
    submit(&s, 2, (struct wish){0});
    lease(&s, 2);
    fail_with(&s, 2, 4);
    ASSERT_SAID(&s, EVENT_FAILED);
    policy.backoff_ms = policy.backoff_max_ms = 500;
    submit(&s, 4, (struct wish){0});
    lease(&s, 4);
    fail_with(&s, 4, 3);
    ASSERT_SAID(&s, EVENT_FAILED, EVENT_REQUEUED, EVENT_HOLD_CHANGED);
    assert_true(jobs_is_held(s.jobs, table_find(s.jobs, 4)));
    assert_int_equal(jobs_expire_due_ms(s.jobs), 9 + 500);
    submit(&s, 3, (struct wish){.gang = "g"}); /* policies pass gangs over */
    lease(&s, 3);
    fail_with(&s, 3, 3);
    ASSERT_SAID(&s, EVENT_FAILED);
    assert_true(str_equal(s.last.error.message, STR("it broke")));
    scene_end(&s);
}

static enum jobs_answer hold(struct scene *s, uint32_t n, uint32_t set,
                             uint32_t cleared)
{
    struct event event = table_about(s->jobs, n, EVENT_HOLD_CHANGED);

    event.hold.set = set;
    event.hold.cleared = cleared;
    event.hold.begin_ms = 9;
    event.hold.user = STR("bert");
    return apply(s, &event);
}

static void a_job_is_held_while_anything_holds_it(void **state)
{
    struct scene s = scene_make();
    auto_strbuf bytes = {0}, again = {0};
    struct job_held held;

    (void)state;
    submit(&s, 1, (struct wish){0});
    uint32_t job = table_find(s.jobs, 1);
    assert_int_equal(hold(&s, 1, JOB_HOLD_BY_USER | JOB_HOLD_UNTIL, 0),
                     JOBS_APPLIED);
    assert_true(jobs_is_held(s.jobs, job));
    jobs_held(s.jobs, job, &held);
    assert_true(str_equal(held.user, STR("bert")));
    jobs_encode(s.jobs, &bytes);
    auto_ptr(jobs) copy = jobs_create();
    struct err err;
    assert_int_equal(jobs_decode(copy, strbuf_str(&bytes), &err), 0);
    jobs_encode(copy, &again);
    assert_true(str_equal(strbuf_str(&bytes), strbuf_str(&again)));
    assert_int_equal(jobs_expire_due_ms(copy), 9);
    jobs_expire(s.jobs, 8);
    ASSERT_SILENT(&s);
    jobs_expire(s.jobs, 9); /* its time has come, and the user still holds it */
    ASSERT_SAID(&s, EVENT_HOLD_CHANGED);
    assert_true(jobs_is_held(s.jobs, job));
    assert_int_equal(hold(&s, 1, 0, JOB_HOLD_BY_USER), JOBS_APPLIED);
    assert_false(jobs_is_held(s.jobs, job));
    lease(&s, 1);
    assert_int_equal(hold(&s, 1, JOB_HOLD_BY_USER, 0), JOBS_LATE);
    submit(&s, 2, (struct wish){.gang = "g"});
    assert_int_equal(hold(&s, 2, JOB_HOLD_BY_USER, 0), JOBS_LATE);
    submit(&s, 3, (struct wish){0});
    s.scope.queue = STR("other"); /* another queue's right is not enough */
    assert_int_equal(hold(&s, 3, JOB_HOLD_BY_USER, 0), JOBS_LATE);
    scene_end(&s);
}

/* TRAP-14: attempts count only if the run was tried. */
static void a_returned_lease_is_tried_four_times(void **state)
{
    struct scene s = scene_make();

    (void)state;
    submit(&s, 1, (struct wish){0});
    for (int i = 0; i < 5; i++) {
        lease(&s, 1);
        give_back(&s, 1, false);
        ASSERT_SAID(&s, EVENT_REQUEUED);
    }
    for (int i = 0; i < 3; i++) {
        lease(&s, 1);
        give_back(&s, 1, true);
        ASSERT_SAID(&s, EVENT_REQUEUED);
    }
    struct job_tried tried[JOBS_TRIED_MAX];
    assert_int_equal(jobs_tried(s.jobs, table_find(s.jobs, 1), tried), 3);
    lease(&s, 1);
    give_back(&s, 1, true);
    ASSERT_SAID(&s, EVENT_FAILED);
    assert_true(str_equal(
        s.last.error.message,
        STR("Maximum number of attempts (4) reached - this job will no longer "
            "be retried\n\nFinal run error:\nno luck")));
    scene_end(&s);
}

static void a_fail_fast_job_is_not_tried_again(void **state)
{
    struct scene s = scene_make();

    (void)state;
    submit(&s, 1, (struct wish){.is_fail_fast = true});
    lease(&s, 1);
    give_back(&s, 1, false);
    ASSERT_SAID(&s, EVENT_FAILED);
    assert_true(str_starts_with(s.last.error.message,
                                STR("Job has fail fast flag set")));
    scene_end(&s);
}

static void cancelling_ends_a_job_in_every_state(void **state)
{
    struct scene s = scene_make();
    struct event cancel;

    (void)state;
    submit(&s, 1, (struct wish){0});
    cancel = table_about(s.jobs, 1, EVENT_CANCEL);
    apply(&s, &cancel);
    ASSERT_SAID(&s, EVENT_CANCELLED);
    submit(&s, 2, (struct wish){0});
    lease(&s, 2);
    cancel = table_about(s.jobs, 2, EVENT_CANCEL);
    apply(&s, &cancel);
    assert_int_equal(apply(&s, &cancel), JOBS_APPLIED);
    ASSERT_SAID(&s, EVENT_RUN_CANCELLED, EVENT_CANCELLED);
    assert_int_equal(apply(&s, &cancel), JOBS_LATE);
    assert_int_equal(report(&s, 2, EVENT_RUN_SUCCEEDED), JOBS_LATE);
    ASSERT_SILENT(&s);
    scene_end(&s);
}

/* The right to cancel was checked for the queue that the command names. */
static void a_command_for_another_queue_does_nothing(void **state)
{
    struct scene s = scene_make();

    (void)state;
    submit(&s, 1, (struct wish){0});
    s.scope.queue = STR("other");
    assert_int_equal(report(&s, 1, EVENT_CANCEL), JOBS_LATE);
    assert_int_equal(report(&s, 1, EVENT_REPRIORITISE), JOBS_LATE);
    ASSERT_SILENT(&s);
    scene_end(&s);
}

/* TRAP-05: `cancelling` comes from the leader; states filter. */
static void a_job_set_is_cancelled_by_state(void **state)
{
    struct scene s = scene_make();
    struct event cancel = table_event(EVENT_CANCEL_SET);

    (void)state;
    submit(&s, 1, (struct wish){0});
    submit(&s, 2, (struct wish){0});
    lease(&s, 2);
    cancel.cancel.states = STATE_SET_QUEUED;
    apply(&s, &cancel);
    ASSERT_SAID(&s, EVENT_CANCEL, EVENT_CANCELLED);
    cancel.cancel.states = STATE_SET_ALL;
    apply(&s, &cancel);
    ASSERT_SAID(&s, EVENT_CANCEL, EVENT_RUN_CANCELLED, EVENT_CANCELLED);
    assert_int_equal(apply(&s, &cancel), JOBS_LATE);
    scene_end(&s);
}

static void reprioritised_is_said_only_of_a_change(void **state)
{
    struct scene s = scene_make();
    struct event event;

    (void)state;
    submit(&s, 1, (struct wish){0});
    event = table_about(s.jobs, 1, EVENT_REPRIORITISE);
    event.reprioritise.priority = 5;
    apply(&s, &event);
    ASSERT_SILENT(&s);
    event.reprioritise.priority = 6;
    apply(&s, &event);
    ASSERT_SAID(&s, EVENT_REPRIORITISED);
    assert_true(str_equal(s.last.reprioritise.requestor, STR("anna")));
    event = table_event(EVENT_REPRIORITISE_SET);
    event.reprioritise.priority = 7;
    apply(&s, &event);
    ASSERT_SAID(&s, EVENT_REPRIORITISED);
    apply(&s, &event);
    ASSERT_SILENT(&s);
    scene_end(&s);
}

/* TRAP-06. */
static void only_a_preemptible_run_is_preempted(void **state)
{
    struct scene s = scene_make();
    struct event event;

    (void)state;
    submit(&s, 1, (struct wish){0});
    event = table_about(s.jobs, 1, EVENT_PREEMPT);
    event.cancel.reason = STR("because");
    apply(&s, &event);
    ASSERT_SILENT(&s);
    lease(&s, 1);
    apply(&s, &event);
    ASSERT_SAID(&s, EVENT_RUN_PREEMPTED, EVENT_RUN_ERRORS, EVENT_FAILED);
    assert_true(
        str_equal(s.last.error.message, STR("Preempted by anna - because")));
    submit(&s, 2, (struct wish){.class_name = "armada-default"});
    lease(&s, 2);
    event = table_about(s.jobs, 2, EVENT_PREEMPT);
    apply(&s, &event);
    ASSERT_SILENT(&s);
    scene_end(&s);
}

static void a_preempted_job_may_go_back_to_its_queue(void **state)
{
    struct scene s = scene_make();
    struct event event;

    (void)state;
    submit(&s, 1, (struct wish){.is_requeue_preempted = true});
    lease(&s, 1);
    event = table_about(s.jobs, 1, EVENT_PREEMPT);
    apply(&s, &event);
    ASSERT_SAID(&s, EVENT_RUN_PREEMPTED, EVENT_RUN_ERRORS, EVENT_REQUEUED);
    assert_int_equal(jobs_state(s.jobs, 0), JOB_QUEUED);
    lease(&s, 1);
    ASSERT_SILENT(&s);
    scene_end(&s);
}

static void a_gang_is_preempted_with_its_member(void **state)
{
    struct scene s = scene_make();
    struct event event;

    (void)state;
    submit(&s, 1, (struct wish){.gang = "g"});
    submit(&s, 2, (struct wish){.gang = "g"});
    lease(&s, 1);
    lease(&s, 2);
    event = table_about(s.jobs, 1, EVENT_PREEMPT);
    apply(&s, &event);
    ASSERT_SAID(&s, EVENT_RUN_PREEMPTED, EVENT_RUN_ERRORS, EVENT_FAILED,
                EVENT_RUN_PREEMPTED, EVENT_RUN_ERRORS, EVENT_FAILED);
    scene_end(&s);
}

static void lose_executor(struct scene *s)
{
    struct event lost = table_event(EVENT_EXECUTOR_STATE);

    lost.executor.name = STR("exec");
    lost.executor.state = EXECUTOR_LOST;
    assert_int_equal(apply(s, &lost), JOBS_APPLIED);
}

/* LS-07, the job's half. */
static void a_lost_executor_fails_or_requeues_its_runs(void **state)
{
    struct scene s = scene_make();

    (void)state;
    submit(&s, 1, (struct wish){0});
    submit(&s, 2, (struct wish){.is_requeue_lost = true});
    lease(&s, 1);
    lease(&s, 2);
    struct event old = table_about(s.jobs, 2, EVENT_RUN_SUCCEEDED);
    lose_executor(&s);
    ASSERT_SAID(&s, EVENT_RUN_ERRORS, EVENT_FAILED, EVENT_RUN_ERRORS,
                EVENT_REQUEUED);
    assert_int_equal(apply(&s, &old), JOBS_LATE);
    lease(&s, 2);
    assert_int_equal(apply(&s, &old), JOBS_LATE);
    scene_end(&s);
}

/* Job by job, to the end or not, it is the same as at once. */
static void assert_read_in_steps(struct str bytes)
{
    auto_strbuf again = {0};
    auto_ptr(jobs) copy = jobs_create();
    auto_ptr(jobs) half = jobs_create();
    auto_ptr(jobs_decoder) decoder = jobs_decode_begin(copy, bytes);
    auto_ptr(jobs_decoder) dropped = jobs_decode_begin(half, bytes);
    struct err err;
    int rc = 0, step_count = 0;

    for (; rc == 0; step_count++) {
        rc = jobs_decode_some(decoder, 1, &err);
    }
    assert_int_equal(rc, 1);
    assert_true(step_count > 1);
    jobs_encode(copy, &again);
    assert_true(str_equal(strbuf_str(&again), bytes));
    assert_int_equal(jobs_decode_some(dropped, 1, &err), 0);
}

static void the_encoding_gives_the_same_state_back(void **state)
{
    struct scene s = scene_make();
    auto_strbuf first = {0}, second = {0};
    struct err err;
    struct event event;

    (void)state;
    submit(&s, 3, (struct wish){.gang = "g"});
    submit(&s, 1, (struct wish){.is_requeue_lost = true});
    submit(&s, 2,
           (struct wish){.class_name = "armada-default", .application = "a"});
    lease(&s, 1);
    give_back(&s, 1, true);
    settle(&s);
    lease(&s, 2);
    lease(&s, 1);
    give_back(&s, 1, true);
    event = table_about(s.jobs, 2, EVENT_CANCEL);
    apply(&s, &event);
    jobs_encode(s.jobs, &first);
    auto_ptr(jobs) copy = jobs_create();
    assert_int_equal(jobs_decode(copy, strbuf_str(&first), &err), 0);
    jobs_assert_valid(copy);
    jobs_encode(copy, &second);
    assert_int_equal(first.byte_count, second.byte_count);
    assert_memory_equal(first.bytes, second.bytes, first.byte_count);
    assert_read_in_steps(strbuf_str(&first));
    for (size_t cut = 0; cut < first.byte_count; cut++) {
        auto_ptr(jobs) broken = jobs_create();
        struct str part = {first.bytes, cut};
        assert_true(jobs_decode(broken, part, &err) < 0);
    }
    scene_end(&s);
}

/* What was submitted is given back, however little room it takes. */
static void a_digest_keeps_pool_and_application(void **state)
{
    static const char *const pools[] = {"", "p"};
    static const char *const applications[] = {"", "a"};
    struct scene s = scene_make();

    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        auto_strbuf packed = {0};
        struct event event = table_event(EVENT_SUBMIT);
        struct job_digest digest = {
            .gang_cardinality = 1,
            .gang_minimum = 1,
            .pool = str_of(pools[i & 1]),
            .application_id = str_of(applications[i >> 1 & 1]),
            .has_stateaware_off = i & 1,
            .sub_group = i >> 2 ? 15 : 0,
        };
        digest_pack(&packed, &digest);
        event.job = table_id(i);
        event.submit.digest = strbuf_str(&packed);
        assert_int_equal(apply(&s, &event), JOBS_APPLIED);
    }
    for (uint32_t i = 0; i < 8; i++) {
        struct job_digest digest;
        jobs_digest(s.jobs, table_find(s.jobs, i), &digest);
        assert_true(str_equal(digest.pool, str_of(pools[i & 1])));
        assert_true(
            str_equal(digest.application_id, str_of(applications[i >> 1 & 1])));
        assert_int_equal(digest.has_stateaware_off, i & 1);
        assert_int_equal(digest.sub_group, i >> 2 ? 15 : 0);
    }
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_that_succeeds_makes_the_job_succeed),
        TEST(runs_are_counted_by_queue_pool_and_state),
        TEST(a_retry_policy_decides_about_failures),
        TEST(a_job_is_held_while_anything_holds_it),
        TEST(a_returned_lease_is_tried_four_times),
        TEST(a_fail_fast_job_is_not_tried_again),
        TEST(cancelling_ends_a_job_in_every_state),
        TEST(a_command_for_another_queue_does_nothing),
        TEST(a_job_set_is_cancelled_by_state),
        TEST(reprioritised_is_said_only_of_a_change),
        TEST(only_a_preemptible_run_is_preempted),
        TEST(a_preempted_job_may_go_back_to_its_queue),
        TEST(a_gang_is_preempted_with_its_member),
        TEST(a_lost_executor_fails_or_requeues_its_runs),
        TEST(the_encoding_gives_the_same_state_back),
        TEST(a_digest_keeps_pool_and_application),
    };
    return RUN_TESTS(tests);
}
