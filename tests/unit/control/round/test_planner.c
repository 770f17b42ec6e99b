/* Plans beside the leader: pools are planned each for itself, and one that is
 * slow holds no other up. */

#include "control/round/planner.h"
#include "leader_stage.h"
#include "unit.h"
#include "wire/kube/pool_codec.h"
#include "wire/message/message.h"

/* Plans at once, but for one pool: its plans are back when they are let go. */
struct slow_planner {
    struct planner planner; /* first member */
    struct str slow;
    bool is_let_go;
    uint32_t spared_count;            /* of its plans are not slow */
    uint32_t slow_count, other_count; /* plans begun */
};

static struct slow_planner *slow_of(struct planner *planner)
{
    return (struct slow_planner *)planner;
}

static void slow_begin(struct planner *planner, struct planner_task *task)
{
    struct slow_planner *slow = slow_of(planner);
    bool is_slow = str_equal(task->pool, slow->slow);

    slow->slow_count += is_slow;
    slow->other_count += !is_slow;
    sched_plan(task->sched, task->now_ms, task->kind, task->decision_count_max,
               &task->plan);
}

static bool slow_is_done(struct planner *planner,
                         const struct planner_task *task)
{
    struct slow_planner *slow = slow_of(planner);

    return slow->is_let_go || !str_equal(task->pool, slow->slow) ||
           slow->slow_count <= slow->spared_count;
}

static void slow_wait(struct planner *planner, struct planner_task *task)
{
    (void)planner;
    (void)task;
}

struct planned {
    struct stage stage;
    struct slow_planner slow;
};

static void put_record(struct stage *s, const char *name,
                       struct pool_record record)
{
    auto_arena arena = {0};
    struct event event = stage_event_make(EVENT_POOL_SET);
    struct label label = {STR("pool"), str_of(name)};

    record.name = str_of(name);
    record.has_selector = true;
    record.labels = &label;
    record.label_count = 1;
    event.pool.encoded =
        wire_encode_arena(&pool_message_of(&record, &arena)->base, &arena);
    stage_do(s, stage_event_command("", "", "anna", &event));
    assert_int_equal(s->answer->result, COMMAND_OK);
}

static void put_pool(struct stage *s, const char *name, bool is_borrowing_off)
{
    put_record(s, name,
               (struct pool_record){.is_borrowing_off = is_borrowing_off});
}

/* Nodes na of pool a and nb of pool b, of 4 cpu each. */
static void put_nodes(struct stage *s)
{
    static const char *const names[] = {"na", "nb"};
    struct resource_amount cpu = {STR("cpu"), 4000};
    struct label labels[] = {{STR("pool"), STR("a")}, {STR("pool"), STR("b")}};
    struct node_record nodes[2];
    struct event event = stage_event_make(EVENT_EXECUTOR_NODES);

    for (uint32_t i = 0; i < 2; i++) {
        nodes[i] = (struct node_record){
            .name = str_of(names[i]),
            .labels = &labels[i],
            .label_count = 1,
            .total = {&cpu, 1},
        };
    }
    event.nodes.executor_id = STR("e");
    event.nodes.pool = STR("default");
    event.nodes.is_full = true;
    event.nodes.set = nodes;
    event.nodes.set_count = 2;
    stage_event(s, "", "", "", &event);
}

/* Let so much time go by, with a step every 10 ms. */
static void pass(struct stage *s, int64_t ms)
{
    for (; ms > 0; ms -= 10) {
        stage_pass(s, 10);
    }
}

static int setup(void **state)
{
    struct planned *p = mem_alloc(sizeof(*p));

    stage_init(&p->stage);
    p->slow.planner = (struct planner){slow_begin, slow_is_done, slow_wait};
    p->slow.slow = STR("nobody");
    p->stage.planner = &p->slow.planner;
    stage_start(&p->stage);
    stage_queue(&p->stage, "q");
    put_pool(&p->stage, "a", true);
    put_pool(&p->stage, "b", true);
    put_nodes(&p->stage);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct planned *p = *state;

    p->slow.is_let_go = true;
    pass(&p->stage, 3000);
    control_assert_valid(p->stage.control);
    stage_fini(&p->stage);
    mem_free(p);
    return 0;
}

static struct job_id submit(struct stage *s, const char *pool)
{
    return stage_submit(s, "q", (struct stage_job){.pool = pool});
}

static void assert_history(struct stage *s, struct job_id job, const char *text)
{
    auto_mem char *history = stage_history(s, job);

    assert_string_equal(history, text);
}

static bool has_lease(struct stage *s, struct job_id job)
{
    auto_mem char *history = stage_history(s, job);

    return strstr(history, "leased") != NULL;
}

static void both_pools_are_planned(void **state)
{
    struct planned *p = *state;
    struct job_id a = submit(&p->stage, "a"), b = submit(&p->stage, "b");

    pass(&p->stage, 2000);
    assert_history(&p->stage, a, "submit leased");
    assert_history(&p->stage, b, "submit leased");
}

static void po_21_a_slow_pool_holds_no_other_up(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;

    pass(s, 2000);
    p->slow.slow = STR("a");
    struct job_id first = submit(s, "a");
    pass(s, 1000); /* a's plan is out from here on */
    uint32_t slow_count = p->slow.slow_count;
    assert_true(slow_count > 0);
    assert_history(s, first, "submit");
    for (int second = 0; second < 5; second++) {
        uint32_t other_count = p->slow.other_count;
        struct job_id b = submit(s, "b");
        (void)submit(s, "a");
        pass(s, 1000);
        assert_true(p->slow.other_count > other_count);
        assert_int_equal(has_lease(s, b), second < 4);
    }
    assert_int_equal(p->slow.slow_count, slow_count);
    /* What came for a in the meantime is not lost. */
    struct event cancel = stage_event_make(EVENT_CANCEL);
    cancel.job = first;
    stage_event(s, "q", "set", "anna", &cancel);
    pass(s, 100);
    p->slow.is_let_go = true;
    pass(s, 3000);
    assert_true(p->slow.slow_count > slow_count);
    assert_false(has_lease(s, first)); /* its plan had given it a place */
    struct control_metrics metrics;
    control_metrics(s->control, &metrics);
    assert_int_equal(metrics.leased_now_count, 8); /* 4 of a, 4 of b */
    assert_int_equal(metrics.queued_count, 2);
}

/* One that borrows first waits for what its lenders make of that; but not for
 * one that takes its own time. */
static void po_21_nor_one_that_has_lent_to_it(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;
    struct job_id running[4];

    put_record(s, "a", (struct pool_record){.preemption_order = BORROW_FIRST});
    for (int i = 0; i < 4; i++) {
        running[i] = submit(s, "a");
    }
    pass(s, 2000);
    p->slow.slow = STR("b");
    p->slow.spared_count = 1; /* then the borrower is there */
    struct job_id borrower = submit(s, "a");
    pass(s, 1000);
    assert_int_equal(p->slow.slow_count, 2);
    assert_false(has_lease(s, borrower));
    for (int second = 0; second < 8; second++) {
        struct job_id *place = &running[second % 4];
        stage_report(s, *place, EVENT_RUN_SUCCEEDED);
        *place = submit(s, "a");
        pass(s, 1000);
        assert_true(has_lease(s, *place));
    }
    p->slow.is_let_go = true;
    pass(s, 2000);
    assert_true(has_lease(s, borrower));
}

static void pools_change_when_all_plans_are_back(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;
    auto_arena arena = {0};
    struct event event = stage_event_make(EVENT_POOL_DELETED);

    pass(s, 2000);
    p->slow.slow = STR("a");
    struct job_id a = submit(s, "a");
    pass(s, 1000);
    event.pool.record.name = STR("a");
    uint32_t answer_count = s->answer_count;
    stage_post(s, stage_event_command("", "", "anna", &event));
    pass(s, 1000);
    assert_int_equal(s->answer_count, answer_count);
    p->slow.is_let_go = true;
    pass(s, 3000);
    assert_int_equal(s->answer_count, answer_count + 1);
    auto_mem char *history = stage_history(s, a);
    assert_string_equal(history, "submit leased");
}

/* A job that would fit nowhere is not refused as long as this pool's plan is
 * out. */
static void assert_big_waits_for(struct planned *p, const char *slow)
{
    struct stage *s = &p->stage;

    p->slow.slow = str_of(slow);
    (void)submit(s, slow);
    pass(s, 1000); /* its plan is out from here on */
    struct job_id big = stage_submit(
        s, "q", (struct stage_job){.pool = "a", .cpu_milli = 5000});
    pass(s, 1000);
    assert_history(s, big, "submit");
    p->slow.is_let_go = true;
    pass(s, 3000);
    assert_history(s, big, "submit failed");
}

static void what_fits_nowhere_is_refused_when_its_pool_is_back(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;

    pass(s, 2000);
    assert_big_waits_for(p, "a");
}

static void po_21_nor_does_a_question_while_one_is_slow(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;

    pass(s, 2000);
    p->slow.slow = STR("a");
    (void)submit(s, "a");
    pass(s, 1000); /* a's plan is out from here on */
    uint32_t answer_count = s->answer_count;
    s->wanted = command_create(COMMAND_QUERY_POOLS);
    stage_post(s, s->wanted);
    pass(s, 1000);
    assert_int_equal(s->answer_count, answer_count + 1);
    /* Of the slow one what it was when it was begun. */
    const struct pool_row *rows = s->answer->pools.rows;
    assert_true(str_equal(rows[1].name, STR("a")) && rows[1].age_ms > 0);
    assert_int_equal(rows[1].node_count, 1);
    assert_int_equal(rows[2].age_ms, 0);
    struct job_id b = submit(s, "b");
    pass(s, 1000);
    assert_true(has_lease(s, b));
}

static void and_when_all_are_that_might_lend_it_nodes(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;

    put_pool(s, "a", false);
    pass(s, 2000);
    assert_big_waits_for(p, "b");
}

static void a_borrower_that_is_recalled_waits_again(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;
    struct job_id jobs[6];
    struct control_metrics metrics;
    uint32_t requeued_count = 0;

    put_pool(s, "a", false);
    stage_queue(s, "r");
    for (int i = 0; i < 6; i++) {
        jobs[i] = submit(s, "a");
    }
    pass(s, 3000);
    for (int i = 0; i < 6; i++) {
        assert_true(has_lease(s, jobs[i])); /* two of them in b */
    }
    for (int i = 0; i < 4; i++) {
        (void)stage_submit(s, "r", (struct stage_job){.pool = "b"});
    }
    pass(s, 3000);
    for (int i = 0; i < 6; i++) {
        auto_mem char *history = stage_history(s, jobs[i]);
        requeued_count += strstr(history, "requeued") != NULL;
        assert_null(strstr(history, "failed"));
    }
    assert_int_equal(requeued_count, 2);
    control_metrics(s->control, &metrics);
    assert_int_equal(metrics.leased_now_count, 8);
    assert_int_equal(metrics.queued_count, 2);
}

/* Whoever lends is often being planned just when work at home is handed out:
 * that is not the end of it. */
static void a_lender_that_was_being_planned_is_asked_again(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;
    struct job_id jobs[6];

    put_pool(s, "a", false);
    pass(s, 3000);
    p->slow.slow = STR("b");
    for (int i = 0; i < 6; i++) {
        jobs[i] = submit(s, "a");
    }
    pass(s, 4000); /* b's plan is out all the time */
    p->slow.is_let_go = true;
    pass(s, 9000);
    for (int i = 0; i < 6; i++) {
        assert_true(has_lease(s, jobs[i]));
    }
}

/* Work of a lender's own keeps others out only until it has its place, and
 * nobody says so. */
static void a_lender_whose_own_work_has_its_place_is_asked_again(void **state)
{
    struct planned *p = *state;
    struct stage *s = &p->stage;
    struct job_id jobs[6];

    put_pool(s, "a", false);
    pass(s, 3000);
    for (int i = 0; i < 6; i++) {
        jobs[i] = submit(s, "a");
        (void)(i < 2 ? submit(s, "b") : jobs[i]);
    }
    pass(s, 9000);
    for (int i = 0; i < 6; i++) {
        assert_true(has_lease(s, jobs[i]));
    }
}

/* The threads themselves. */

enum { TASKS = 24 };

static void threads_make_all_plans(void **state)
{
    struct policy *policy = mem_alloc(sizeof(*policy));
    struct planner_task *tasks = mem_alloc_array(TASKS, sizeof(*tasks));
    struct err err;

    (void)state;
    policy_defaults(policy);
    struct planner *planner = planner_threads_start(3, NULL, NULL, &err);
    assert_non_null(planner);
    for (uint32_t i = 0; i < TASKS; i++) {
        tasks[i].sched = sched_create(policy);
        tasks[i].decision_count_max = 16;
        tasks[i].kind = ROUND_BALANCE;
        planner->begin(planner, &tasks[i]);
    }
    for (uint32_t i = TASKS; i > 0; i--) {
        planner->wait(planner, &tasks[i - 1]);
        assert_true(planner->is_done(planner, &tasks[i - 1]));
        assert_int_equal(tasks[i - 1].plan.decision_count, 0);
        sched_destroy(tasks[i - 1].sched);
    }
    planner_threads_stop(planner);
    mem_free(tasks);
    mem_free(policy);
}

static void a_leader_with_threads_leases_all(void **state)
{
    struct stage *s = mem_alloc(sizeof(*s));
    struct control_metrics metrics = {0};
    struct err err;

    (void)state;
    stage_init(s);
    s->planner = planner_threads_start(2, NULL, NULL, &err);
    assert_non_null(s->planner);
    stage_start(s);
    stage_queue(s, "q");
    put_pool(s, "a", true);
    put_pool(s, "b", true);
    put_nodes(s);
    for (int i = 0; i < 4; i++) {
        (void)submit(s, "a");
        (void)submit(s, "b");
    }
    /* The planner is real, so the clock of the leader moves on meanwhile. */
    for (int i = 0; i < 100000 && metrics.leased_now_count < 8; i++) {
        pass(s, 10);
        control_metrics(s->control, &metrics);
    }
    assert_int_equal(metrics.leased_now_count, 8);
    struct planner *planner = s->planner;
    stage_fini(s);
    planner_threads_stop(planner);
    mem_free(s);
}

int main(void)
{
#define SCENARIO(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(both_pools_are_planned),
        SCENARIO(po_21_a_slow_pool_holds_no_other_up),
        SCENARIO(po_21_nor_one_that_has_lent_to_it),
        SCENARIO(pools_change_when_all_plans_are_back),
        SCENARIO(what_fits_nowhere_is_refused_when_its_pool_is_back),
        SCENARIO(po_21_nor_does_a_question_while_one_is_slow),
        SCENARIO(and_when_all_are_that_might_lend_it_nodes),
        SCENARIO(a_borrower_that_is_recalled_waits_again),
        SCENARIO(a_lender_that_was_being_planned_is_asked_again),
        SCENARIO(a_lender_whose_own_work_has_its_place_is_asked_again),
        TEST(threads_make_all_plans),
        TEST(a_leader_with_threads_leases_all),
    };

    return RUN_TESTS(tests);
}
