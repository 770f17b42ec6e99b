/* Gangs with terms: how they end, and what is replaced (model.md 8, PG-08 and
 * PG-09, TJ-18). */
#include "job/due/job_action.h"
#include "job/table/groups.h"
#include "table.h"
#include "unit.h"

enum { PS = 0, WORKER = 1, TIMEOUT_MS = 300000, RETRIES = 2 };

/* One group: jobs 0 and 1 are its auxiliary `ps` (2..2), the rest `worker`
 * (4..`worker_max`).  All that is due is folded by settle(). */
struct scene {
    struct jobs *jobs;
    struct event_scope scope;
    int64_t now_ms;
    uint32_t job_count;
    struct str reason; /* of the last cancellation or preemption; in arena */
    struct arena arena;
};

static void apply(struct scene *s, const struct event *event)
{
    struct jobs_change change;

    assert_int_equal(jobs_apply(s->jobs, &s->scope, event, &change),
                     JOBS_APPLIED);
}

static void submit(struct scene *s, uint32_t n, struct str terms,
                   uint32_t cardinality)
{
    struct table_submission submission = {
        .scope = s->scope,
        .class_name = "armada-preemptible",
        .digest = {.gang_id = STR("g"),
                   .gang_cardinality = cardinality,
                   .gang_minimum = 6,
                   .on_preemption = ON_LOSS_REQUEUE,
                   .on_executor_lost = ON_LOSS_REQUEUE,
                   .gang_terms = terms,
                   .sub_group = n < 2 ? PS : WORKER},
    };

    table_submit(s->jobs, n, &submission);
}

static void scene_init(struct scene *s, enum gang_kind kind,
                       uint32_t worker_max)
{
    struct gang_terms terms = {
        .kind = kind,
        .replace_timeout_ms = TIMEOUT_MS,
        .sub_group_count = 2,
        .sub_groups = {{STR("ps"), 2, 2, HOPS_ANY, 0, true},
                       {STR("worker"), 4, worker_max, HOPS_ANY, 0, false}},
    };
    auto_strbuf packed = {0};

    *s = (struct scene){.jobs = table_create(),
                        .scope = {STR("q"), STR("set"), STR("anna")},
                        .now_ms = 5000,
                        .job_count = 2 + worker_max};
    gang_terms_pack(&packed, &terms);
    for (uint32_t i = 0; i < s->job_count; i++) {
        submit(s, i, strbuf_str(&packed), s->job_count);
    }
}

static void scene_fini(struct scene *s)
{
    jobs_assert_valid(s->jobs);
    jobs_destroy(s->jobs);
    arena_fini(&s->arena);
}

static enum job_state state_of(const struct scene *s, uint32_t n)
{
    uint32_t job = table_find(s->jobs, n);

    return job == JOBS_NONE ? JOB_NONE : jobs_state(s->jobs, job);
}

static void fold(struct scene *s, const struct job_decisions *decisions)
{
    for (uint32_t i = 0; i < decisions->event_count; i++) {
        const struct event *event = &decisions->events[i];
        struct jobs_change change;
        if (event->type == EVENT_CANCELLED) {
            s->reason = arena_str(&s->arena, event->cancel.reason);
        } else if (event->type == EVENT_RUN_PREEMPTED) {
            s->reason = arena_str(&s->arena, event->preempted.reason);
        }
        jobs_apply(s->jobs, &decisions->scope, event, &change);
    }
}

static void settle_groups(struct scene *s)
{
    uint32_t count;
    auto_mem uint32_t *gangs = jobs_take_groups(s->jobs, s->now_ms, &count);

    for (uint32_t i = 0; i < count; i++) {
        struct group_action action;
        struct job_decisions decisions;
        jobs_group_due(s->jobs, gangs[i], s->now_ms, &s->arena, &action);
        for (uint32_t m = 0; m < action.member_count; m++) {
            uint32_t job = action.members[m];
            if (action.kind == GROUP_CANCEL) {
                job_end(s->jobs, job, action.reason, s->now_ms, &decisions);
            } else if (jobs_state(s->jobs, job) != JOB_QUEUED) {
                job_preempt(s->jobs, job, action.reason, (struct job_id){0},
                            s->now_ms, &decisions);
            } else {
                continue;
            }
            fold(s, &decisions);
        }
    }
}

/* Do what is due, as the leader does. */
static void settle(struct scene *s)
{
    struct job_rules rules = {.retries_max = RETRIES, .now_ms = s->now_ms};
    uint32_t count;

    for (int round = 0; round < 3; round++) {
        auto_mem uint32_t *dirty = jobs_take_dirty(s->jobs, 0, &count);
        for (uint32_t i = 0; i < count; i++) {
            struct job_decisions decisions;
            job_due(s->jobs, dirty[i], &rules, &s->arena, &decisions);
            fold(s, &decisions);
        }
        settle_groups(s);
    }
    jobs_assert_valid(s->jobs);
}

static void lease(struct scene *s, uint32_t n)
{
    struct job_decisions decisions;
    struct job_run run = {.executor_id = STR("exec"),
                          .node_name = STR("node"),
                          .pool = STR("default")};

    job_lease(s->jobs, table_find(s->jobs, n), &run, s->now_ms, &decisions);
    fold(s, &decisions);
}

static void start(struct scene *s, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        lease(s, i);
    }
    settle(s);
}

static void succeed(struct scene *s, uint32_t n)
{
    struct event event = table_about(s->jobs, n, EVENT_RUN_SUCCEEDED);

    apply(s, &event);
    settle(s);
}

/* It ends badly: by itself, or with `subcategory` by what was done to it. */
static void fail_run(struct scene *s, uint32_t n, const char *subcategory)
{
    struct event event = table_about(s->jobs, n, EVENT_RUN_ERRORS);

    event.error.kind = ERROR_POD;
    event.error.is_terminal = true;
    event.error.message = STR("boom");
    event.error.subcategory = str_of(subcategory);
    apply(s, &event);
    settle(s);
}

static void give_back(struct scene *s, uint32_t n)
{
    struct event event = table_about(s->jobs, n, EVENT_RUN_ERRORS);

    event.error.kind = ERROR_LEASE_RETURNED;
    event.error.is_terminal = true;
    apply(s, &event);
    settle(s);
}

static void assert_states(const struct scene *s, const char *expected)
{
    char text[32] = {0};

    for (uint32_t i = 0; i < s->job_count; i++) {
        enum job_state state = state_of(s, i);
        text[i] = state == JOB_NONE ? '-' : state == JOB_QUEUED ? 'w' : 'r';
    }
    assert_string_equal(text, expected);
}

/* Write the table and read it back, as a leader that starts does. */
static void restart(struct scene *s)
{
    auto_strbuf bytes = {0}, again = {0};
    struct jobs *jobs = table_create();

    jobs_encode(s->jobs, &bytes);
    assert_int_equal(jobs_decode(jobs, strbuf_str(&bytes), NULL), 0);
    jobs_encode(jobs, &again);
    assert_true(str_equal(strbuf_str(&bytes), strbuf_str(&again)));
    jobs_destroy(s->jobs);
    s->jobs = jobs;
    jobs_mark_all_dirty(jobs);
}

static void pg_09_workers_end_the_auxiliary_pods(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, GANG_POD_GROUP, 4);
    start(&s, 0, 6);
    for (uint32_t i = 2; i < 5; i++) {
        succeed(&s, i);
        restart(&s);
        settle(&s);
    }
    assert_states(&s, "rr---r");
    succeed(&s, 5);
    assert_states(&s, "------");
    assert_true(str_equal(s.reason, STR("The group has succeeded")));
    scene_fini(&s);
}

/* Members that wait to make the group larger go with it; but while a minimum
 * is not reached the group goes on. */
static void pg_09_surplus_that_waits_goes_too(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, GANG_POD_GROUP, 6);
    start(&s, 0, 7);
    fail_run(&s, 6, "pod-missing");
    for (uint32_t i = 2; i < 5; i++) {
        succeed(&s, i);
    }
    assert_states(&s, "rr---rww");
    fail_run(&s, 5, "pod-missing");
    assert_states(&s, "rr---www");
    start(&s, 7, 1);
    succeed(&s, 7);
    assert_states(&s, "--------");
    scene_fini(&s);
}

static void pg_09_an_auxiliary_pod_is_replaced(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, GANG_POD_GROUP, 4);
    start(&s, 0, 6);
    fail_run(&s, 0, "");
    assert_states(&s, "wrrrrr");
    s.now_ms += 2 * TIMEOUT_MS;
    settle(&s); /* no minimum of those that count is missed */
    assert_states(&s, "wrrrrr");
    start(&s, 0, 1);
    assert_states(&s, "rrrrrr");
    scene_fini(&s);
}

/* One that fails again and again is no use: it fails, and the group has no
 * minimum any more. */
static void an_auxiliary_pod_has_so_many_tries(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, GANG_POD_GROUP, 4);
    start(&s, 0, 6);
    for (int i = 0; i < RETRIES; i++) {
        fail_run(&s, 0, "");
        assert_states(&s, "wrrrrr");
        start(&s, 0, 1);
    }
    fail_run(&s, 0, "");
    assert_states(&s, "------");
    scene_fini(&s);
}

static void pg_09_a_failed_worker_decides(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, GANG_POD_GROUP, 5);
    start(&s, 0, 6);
    succeed(&s, 2);
    char id[ID_TEXT_BYTES_MAX];
    job_id_format(table_id(3), id);
    fail_run(&s, 3, "");
    assert_states(&s, "-------");
    assert_non_null(memmem(s.reason.p, s.reason.byte_count, id, strlen(id)));
    scene_fini(&s);
}

/* TJ-05, the group's side: a fault tolerant training job goes on with what is
 * left. */
static void a_tolerant_group_survives_failures(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, GANG_TRAINING_TOLERANT, 4);
    start(&s, 0, 6);
    fail_run(&s, 2, "");
    s.now_ms += 2 * TIMEOUT_MS;
    settle(&s);
    assert_states(&s, "rr-rrr");
    succeed(&s, 3);
    fail_run(&s, 4, "");
    succeed(&s, 5);
    assert_states(&s, "------");
    assert_true(str_equal(s.reason, STR("The group has succeeded")));
    scene_fini(&s);
    scene_init(&s, GANG_TRAINING_TOLERANT, 4);
    start(&s, 0, 6);
    for (uint32_t i = 2; i < 6; i++) {
        assert_int_equal(state_of(&s, 0), JOB_LEASED);
        fail_run(&s, i, "");
    }
    assert_states(&s, "------");
    assert_true(str_equal(s.reason, STR("All of the group that started "
                                        "failed")));
    scene_fini(&s);
}

static void cancel(struct scene *s, uint32_t n)
{
    struct event event = table_event(EVENT_CANCEL);

    event.job = table_id(n);
    apply(s, &event);
    settle(s);
}

/* But for one that only waits to make the group larger. */
static void cancelling_one_cancels_all(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, GANG_POD_GROUP, 5);
    cancel(&s, 6);
    assert_states(&s, "-------");
    scene_fini(&s);
    scene_init(&s, GANG_POD_GROUP, 6);
    start(&s, 0, 7);
    cancel(&s, 7);
    assert_states(&s, "rrrrrrr-");
    cancel(&s, 6);
    assert_states(&s, "--------");
    scene_fini(&s);
}

static void reject(struct scene *s, uint32_t n)
{
    struct job_decisions decisions;

    job_refuse(s->jobs, table_find(s->jobs, n), ERROR_REJECTED,
               STR("one too many"), s->now_ms, &decisions);
    fold(s, &decisions);
    settle(s);
}

/* Who comes when all are there is rejected by itself. */
static void one_too_many_leaves_the_group_as_it_is(void **state)
{
    struct gang_terms terms = {
        .kind = GANG_POD_GROUP,
        .replace_timeout_ms = TIMEOUT_MS,
        .sub_group_count = 2,
        .sub_groups = {{STR("ps"), 2, 2, HOPS_ANY, 0, true},
                       {STR("worker"), 4, 5, HOPS_ANY, 0, false}},
    };
    auto_strbuf packed = {0};
    struct scene s;

    (void)state;
    gang_terms_pack(&packed, &terms);
    scene_init(&s, GANG_POD_GROUP, 5);
    submit(&s, 7, strbuf_str(&packed), 7);
    reject(&s, 7);
    assert_states(&s, "wwwwwww");
    start(&s, 0, 7);
    submit(&s, 8, strbuf_str(&packed), 7);
    reject(&s, 8);
    assert_states(&s, "rrrrrrr");
    scene_fini(&s);
    /* One of its own is not: then it never has all that it needs. */
    scene_init(&s, GANG_POD_GROUP, 5);
    reject(&s, 6);
    assert_states(&s, "-------");
    scene_fini(&s);
}

/* A worker dies, and nothing replaces it for the timeout: all wait again.
 * The time counts on through a restart. */
static void pg_08_below_its_minimum_it_goes_as_a_whole(void **state)
{
    struct scene s;
    struct group_view view;

    (void)state;
    scene_init(&s, GANG_POD_GROUP, 5);
    start(&s, 0, 7);
    fail_run(&s, 6, "externally-deleted");
    s.now_ms += 2 * TIMEOUT_MS;
    settle(&s); /* that one was surplus */
    assert_states(&s, "rrrrrrw");
    give_back(&s, 2);
    assert_states(&s, "rrwrrrw");
    s.now_ms += TIMEOUT_MS - 1;
    restart(&s);
    settle(&s);
    assert_states(&s, "rrwrrrw");
    assert_int_equal(jobs_groups_due_ms(s.jobs), s.now_ms + 1);
    s.now_ms++;
    settle(&s);
    assert_states(&s, "wwwwwww");
    assert_non_null(strstr(s.reason.p, "below its minimum for 300 s"));
    assert_true(jobs_group(s.jobs, 0, &view));
    assert_int_equal(view.below_since_ms, 0);
    assert_int_equal(view.counts[WORKER].waiting, 5);
    assert_int_equal(jobs_groups_due_ms(s.jobs), INT64_MAX);
    scene_fini(&s);
}

static void pg_08_a_replacement_in_time_is_all(void **state)
{
    struct scene s;

    (void)state;
    scene_init(&s, GANG_POD_GROUP, 4);
    start(&s, 0, 6);
    fail_run(&s, 4, "pod-missing");
    assert_states(&s, "rrrrwr");
    s.now_ms += 120000;
    start(&s, 4, 1);
    assert_int_equal(jobs_groups_due_ms(s.jobs), INT64_MAX);
    s.now_ms += TIMEOUT_MS;
    settle(&s);
    assert_states(&s, "rrrrrr");
    scene_fini(&s);
}

/* What the leader takes away is no failure: it costs no try, however often. */
static void tj_18_removals_do_not_cost_tries(void **state)
{
    struct scene s;
    struct job_decisions decisions;
    struct job_view view;

    (void)state;
    scene_init(&s, GANG_TRAINING_TOLERANT, 6);
    start(&s, 0, 8);
    for (int i = 0; i < 3 * RETRIES; i++) {
        for (uint32_t n = 6; n < 8; n++) {
            job_preempt(s.jobs, table_find(s.jobs, n), STR("ScaledDown"),
                        (struct job_id){0}, s.now_ms, &decisions);
            fold(&s, &decisions);
        }
        settle(&s);
        assert_states(&s, "rrrrrrww");
        start(&s, 6, 2);
    }
    jobs_get(s.jobs, table_find(s.jobs, 6), &view);
    assert_int_equal(view.attempted_count, 0);
    give_back(&s, 6);
    assert_states(&s, "rrrrrrwr");
    scene_fini(&s);
}

/* A snapshot has each group as it was when it was begun. */
static void a_snapshot_has_the_counts_of_its_moment(void **state)
{
    struct scene s;
    auto_strbuf before = {0}, written = {0}, read = {0};
    struct jobs *jobs = table_create();

    (void)state;
    scene_init(&s, GANG_TRAINING_TOLERANT, 8);
    start(&s, 0, 8);
    succeed(&s, 3);
    jobs_encode(s.jobs, &before);
    jobs_snapshot_begin(s.jobs, &written);
    succeed(&s, 4);
    fail_run(&s, 5, "pod-missing");
    while (!jobs_snapshot_write(s.jobs, 1)) {
    }
    jobs_snapshot_end(s.jobs);
    assert_int_equal(jobs_decode(jobs, strbuf_str(&written), NULL), 0);
    jobs_encode(jobs, &read);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&read)));
    jobs_destroy(jobs);
    scene_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pg_09_workers_end_the_auxiliary_pods),
        TEST(pg_09_surplus_that_waits_goes_too),
        TEST(pg_09_an_auxiliary_pod_is_replaced),
        TEST(an_auxiliary_pod_has_so_many_tries),
        TEST(pg_09_a_failed_worker_decides),
        TEST(a_tolerant_group_survives_failures),
        TEST(cancelling_one_cancels_all),
        TEST(one_too_many_leaves_the_group_as_it_is),
        TEST(pg_08_below_its_minimum_it_goes_as_a_whole),
        TEST(pg_08_a_replacement_in_time_is_all),
        TEST(tj_18_removals_do_not_cost_tries),
        TEST(a_snapshot_has_the_counts_of_its_moment),
    };

    return RUN_TESTS(tests);
}
