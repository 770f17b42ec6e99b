/*
 * What pods of others ask for in vain, from an executor's word to what a gang
 * gives back (model.md 4.6, TJ-15).
 */
#include <stdio.h>

#include "leader_stage.h"
#include "unit.h"

enum { PODS = 9, CORE = 1000, MINUTE_MS = 60000 };

struct scene {
    struct stage stage;
    struct job_id jobs[PODS];
};

/* One node of ten cores, with the runs that it was given. */
static void exchange(struct scene *s, int64_t pending_milli)
{
    struct run_id runs[PODS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < PODS; i++) {
        struct run_id run = key128_is_none(s->jobs[i].v)
                                ? (struct run_id){{0}}
                                : stage_run(&s->stage, s->jobs[i]);
        if (!key128_is_none(run.v)) {
            runs[count++] = run;
        }
    }
    struct command *command = stage_exchange_command("east", 1, runs, count);
    struct exchange_request *request = &command->exchange.request;
    struct resource_amount *amount =
        arena_alloc(&command->arena, sizeof(*amount));
    *amount = (struct resource_amount){STR("cpu"), pending_milli};
    request->has_pending = pending_milli >= 0;
    request->pending = (struct resource_list){amount, pending_milli > 0};
    stage_do(&s->stage, command);
    assert_int_equal(s->stage.answer->result, COMMAND_OK);
    stage_pass(&s->stage, 1000);
    stage_settle(&s->stage);
}

/* Trainers 2..9 of one core. */
static void submit_frozen_for(struct scene *s, int64_t window_ms)
{
    struct gang_terms terms = {
        .kind = GANG_TRAINING_TOLERANT,
        .freezing_window_ms = window_ms,
        .sub_group_count = 1,
        .sub_groups = {{STR("trainer"), 2, PODS, HOPS_ANY, 0, false}},
    };
    struct stage_job jobs[PODS];

    for (uint32_t i = 0; i < PODS; i++) {
        jobs[i] = (struct stage_job){.gang = "g",
                                     .gang_cardinality = PODS,
                                     .gang_minimum = 2,
                                     .terms = &terms,
                                     .cpu_milli = CORE,
                                     .is_requeue_preempted = true};
    }
    stage_do(&s->stage, stage_submit_command(&s->stage, "q", jobs, PODS));
    assert_int_equal(s->stage.answer->result, COMMAND_OK);
    for (uint32_t i = 0; i < PODS; i++) {
        s->jobs[i] = s->stage.answer->submit.items[i].ret_job;
    }
    stage_pass(&s->stage, 1000);
    stage_settle(&s->stage);
}

/* The same, never frozen. */
static void submit(struct scene *s)
{
    submit_frozen_for(s, 0);
}

static uint32_t leased_count(struct scene *s)
{
    struct control_metrics metrics;

    control_metrics(s->stage.control, &metrics);
    return (uint32_t)(metrics.leased_count - metrics.requeued_count);
}

static void tj_15_a_gang_shrinks_for_a_service_that_wants_more(void **state)
{
    struct scene s = {0};

    (void)state;
    stage_init(&s.stage);
    stage_start(&s.stage);
    stage_queue(&s.stage, "q");
    exchange(&s, -1);
    submit(&s);
    assert_int_equal(leased_count(&s), PODS);
    exchange(&s, 5 * CORE);
    assert_int_equal(leased_count(&s), 5);
    /* It stays so while the executor says nothing else, ... */
    exchange(&s, -1);
    exchange(&s, 5 * CORE);
    assert_int_equal(leased_count(&s), 5);
    /* ... or says something else. */
    exchange(&s, 4 * CORE);
    assert_int_equal(leased_count(&s), 6);
    exchange(&s, 0);
    assert_int_equal(leased_count(&s), PODS);
    control_assert_valid(s.stage.control);
    stage_fini(&s.stage);
}

static void what_is_pending_survives_a_checkpoint(void **state)
{
    struct scene s = {0};
    auto_strbuf before = {0}, after = {0};

    (void)state;
    stage_init(&s.stage);
    stage_start(&s.stage);
    stage_queue(&s.stage, "q");
    exchange(&s, 8 * CORE);
    control_encode_state(s.stage.control, &before);
    stage_crash(&s.stage);
    stage_start(&s.stage);
    control_encode_state(s.stage.control, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, before.byte_count);
    exchange(&s, -1);
    submit(&s);
    assert_int_equal(leased_count(&s), 2);
    stage_fini(&s.stage);
}

/* An answer is as of now, though nothing was logged for long. */
static void a_freeze_that_has_ended_is_no_reason(void **state)
{
    struct scene s = {0};
    const char *const growth[] = {"frozen", "load"};

    (void)state;
    stage_init(&s.stage);
    stage_start(&s.stage);
    stage_queue(&s.stage, "q");
    exchange(&s, -1);
    submit_frozen_for(&s, MINUTE_MS);
    stage_pass(&s.stage, 10000); /* its start is over */
    exchange(&s, 5 * CORE);
    assert_int_equal(leased_count(&s), 5);
    for (size_t i = 0; i < ARRAY_COUNT(growth); i++) {
        char said[64];
        auto_mem char *json =
            str_dup(stage_explain(&s.stage, s.jobs[PODS - 1])->explain.json);
        snprintf(said, sizeof(said), "\"growth\":\"%s\"", growth[i]);
        if (!strstr(json, said)) {
            fail_msg("%s is not in %s", said, json);
        }
        stage_pass(&s.stage, MINUTE_MS);
    }
    stage_fini(&s.stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tj_15_a_gang_shrinks_for_a_service_that_wants_more),
        TEST(a_freeze_that_has_ended_is_no_reason),
        TEST(what_is_pending_survives_a_checkpoint),
    };
    return RUN_TESTS(tests);
}
