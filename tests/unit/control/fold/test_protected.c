/*
 * What disruption budgets protect, from an executor's word to who loses its
 * place (model.md 6.6, PO-15).
 */
#include "leader_stage.h"
#include "unit.h"

enum { NODES = 2, CORES = 10000 };

struct scene {
    struct stage stage;
    struct job_id jobs[NODES]; /* each has a node for itself */
};

/* All runs are held; `protected` is the job that a budget protects, NODES:
 * none, -1: nothing is said of budgets. */
static void exchange(struct scene *s, int protected)
{
    struct run_id runs[NODES];

    for (uint32_t i = 0; i < NODES; i++) {
        runs[i] = stage_run(&s->stage, s->jobs[i]);
    }
    struct command *command =
        stage_exchange_command("east", NODES, runs, NODES);
    struct exchange_request *request = &command->exchange.request;
    struct run_id *run = arena_alloc(&command->arena, sizeof(*run));
    *run = protected >= 0 && protected < NODES ? runs[protected]
                                               : (struct run_id){{0}};
    request->has_protected = protected >= 0;
    request->protected_runs = run;
    request->protected_count = protected >= 0 && protected < NODES;
    stage_do(&s->stage, command);
    assert_int_equal(s->stage.answer->result, COMMAND_OK);
    stage_settle(&s->stage);
}

static void begin(struct scene *s)
{
    stage_init(&s->stage);
    s->stage.policy.classes[s->stage.policy.class_count++] =
        (struct priority_class){
            .name = STR("urgent"),
            .priority = 2000,
            .default_lifetime_ms = LIFETIME_INFINITE,
            .cfs_weight = POLICY_CFS_WEIGHT,
        };
    stage_start(&s->stage);
    stage_queue(&s->stage, "q");
    stage_exchange(&s->stage, "east", NODES, NULL, 0);
    for (uint32_t i = 0; i < NODES; i++) {
        s->jobs[i] = stage_submit(&s->stage, "q",
                                  (struct stage_job){.cpu_milli = CORES});
    }
    stage_pass(&s->stage, 1000);
    stage_settle(&s->stage);
}

/* Drop the leader and start another; what both know is the same. */
static void restart(struct scene *s, bool has_checkpoint)
{
    auto_strbuf before = {0}, after = {0};

    control_encode_state(s->stage.control, &before);
    if (has_checkpoint) {
        assert_int_equal(control_checkpoint(s->stage.control, NULL), 0);
    }
    stage_crash(&s->stage);
    stage_start(&s->stage);
    control_encode_state(s->stage.control, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, before.byte_count);
}

/* More urgent work comes, and takes the place of one of the two. */
static uint32_t victim_of(struct scene *s)
{
    uint32_t victim = NODES;

    (void)stage_submit(
        &s->stage, "q",
        (struct stage_job){.priority_class = "urgent", .cpu_milli = CORES});
    stage_pass(&s->stage, 1000);
    stage_settle(&s->stage);
    for (uint32_t i = 0; i < NODES; i++) {
        char *reason = stage_preemption(&s->stage, s->jobs[i]);
        if (*reason) {
            assert_int_equal(victim, NODES);
            victim = i;
        }
        mem_free(reason);
    }
    control_assert_valid(s->stage.control);
    return victim;
}

static void po_15_whom_a_budget_protects_keeps_its_place(void **state)
{
    (void)state;
    for (int i = 0; i < NODES; i++) {
        struct scene s = {0};
        begin(&s);
        exchange(&s, i);
        exchange(&s, -1); /* as before */
        assert_int_equal(victim_of(&s), 1 - i);
        stage_fini(&s.stage);
    }
}

static void what_is_protected_survives_the_leader(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * NODES; i++) {
        struct scene s = {0};
        begin(&s);
        exchange(&s, i % NODES);
        restart(&s, i < NODES);
        exchange(&s, -1);
        assert_int_equal(victim_of(&s), 1 - i % NODES);
        stage_fini(&s.stage);
    }
}

static void only_news_of_budgets_is_logged(void **state)
{
    struct scene s = {0};

    (void)state;
    begin(&s);
    exchange(&s, NODES);
    uint32_t count = stage_count(&s.stage, EVENT_EXECUTOR_NODES);
    exchange(&s, NODES);
    exchange(&s, -1);
    assert_int_equal(stage_count(&s.stage, EVENT_EXECUTOR_NODES), count);
    exchange(&s, 0);
    exchange(&s, 0);
    assert_int_equal(stage_count(&s.stage, EVENT_EXECUTOR_NODES), count + 1);
    exchange(&s, NODES); /* the budget allows a disruption again */
    exchange(&s, 1);
    assert_int_equal(stage_count(&s.stage, EVENT_EXECUTOR_NODES), count + 3);
    restart(&s, false);
    assert_int_equal(victim_of(&s), 0);
    stage_fini(&s.stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(po_15_whom_a_budget_protects_keeps_its_place),
        TEST(what_is_protected_survives_the_leader),
        TEST(only_news_of_budgets_is_logged),
    };
    return RUN_TESTS(tests);
}
