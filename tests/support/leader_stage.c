#include "leader_stage.h"

enum { STEPS_MAX = 100000, NS_PER_MS = 1000000 };

static uint64_t stage_mono_ns(const struct clock *clock)
{
    return ((const struct stage *)(const void *)clock)->mono_ns;
}

static int64_t stage_wall_ms(const struct clock *clock)
{
    return ((const struct stage *)(const void *)clock)->wall_ms;
}

static void stage_fill(const struct rng *rng, void *bytes, size_t byte_count)
{
    (void)rng;
    memset(bytes, 42, byte_count);
}

struct event stage_event_make(enum event_type type)
{
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = type;
    return event;
}

void stage_init(struct stage *stage)
{
    *stage = (struct stage){
        .clock = {stage_mono_ns, stage_wall_ms},
        .mono_ns = 1000 * (uint64_t)NS_PER_MS,
        .wall_ms = 1700000000000,
        .rng = {stage_fill},
        .storage = elog_memory_storage_create(),
        .queues = queue_table_create(),
        .retry_policies = queue_table_create(),
    };
    policy_defaults(&stage->policy);
    stage->policy.pools[0].reservation_delay_ms = 0;
    /* Tests of preemption are not about what it costs. */
    stage->policy.pools[0].preemption_price_milli = 0;
    stage->policy.pools[0].over_share_price_milli = 0;
    stage->policy.pools[0].loss_protection_milli = 0;
    stage->policy.pools[0].loss_limit_milli = 0;
}

void stage_crash(struct stage *stage)
{
    control_destroy(stage->control);
    elog_close(stage->log);
    inbox_destroy(stage->inbox);
    stage->control = NULL;
    stage->log = NULL;
    stage->inbox = NULL;
}

void stage_fini(struct stage *stage)
{
    stage_crash(stage);
    command_destroy(stage->answer);
    queue_table_destroy(stage->queues);
    queue_table_destroy(stage->retry_policies);
    elog_memory_storage_destroy(stage->storage);
}

static void move_clock(struct stage *stage, int64_t ms)
{
    stage->mono_ns += (uint64_t)ms * NS_PER_MS;
    stage->wall_ms += ms;
}

static struct stage *lead(struct stage *stage, uint32_t node_count)
{
    stage_start(stage);
    stage_queue(stage, "q");
    stage_exchange(stage, "e", node_count, NULL, 0);
    return stage;
}

struct stage *stage_begin(uint32_t node_count)
{
    struct stage *stage = mem_alloc(sizeof(*stage));

    stage_init(stage);
    return lead(stage, node_count);
}

struct stage *stage_begin_unkept(uint32_t node_count)
{
    struct stage *stage = mem_alloc(sizeof(*stage));

    stage_init(stage);
    stage->policy.pools[0].starved_after_ms = 0;
    return lead(stage, node_count);
}

void stage_end(struct stage *stage)
{
    stage_settle(stage);
    control_assert_valid(stage->control);
    stage_fini(stage);
    mem_free(stage);
}

void stage_start(struct stage *stage)
{
    stage->log = elog_memory_open(stage->storage);
    stage->inbox = inbox_create(NULL, NULL);
    struct control_config config = {
        .log = stage->log,
        .clock = &stage->clock,
        .rng = &stage->rng,
        .inbox = stage->inbox,
        .policy = &stage->policy,
        .queues = stage->queues,
        .retry_policies = stage->retry_policies,
        .hooks = stage->hooks,
        .planner = stage->planner,
        .checkpoint_events = stage->checkpoint_events,
        .retention_ms = stage->retention_ms,
        .deduplication_ms = stage->deduplication_ms,
    };
    stage->control = control_create(&config);
    for (int i = 0; control_state(stage->control) != CONTROL_LEADING; i++) {
        ASSERT(i < STEPS_MAX);
        stage_step(stage);
        ASSERT(stage->step_rc >= 0);
        move_clock(stage, stage->step_rc);
    }
}

void stage_step(struct stage *stage)
{
    stage->step_rc = control_step(stage->control, &stage->err);
}

void stage_settle(struct stage *stage)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        stage_step(stage);
        if (stage->step_rc < 0 || stage->step_rc >= CONTROL_WAKE_MS_MAX) {
            return;
        }
        move_clock(stage, stage->step_rc);
    }
    ASSERT(!"the leader finds no rest");
}

void stage_pass(struct stage *stage, int64_t ms)
{
    while (ms > 0) {
        int64_t part = ms < CONTROL_WAKE_MS_MAX ? ms : CONTROL_WAKE_MS_MAX;
        move_clock(stage, part);
        ms -= part;
        stage_step(stage);
    }
}

/* Commands. */

static void on_done(struct command *command, void *ctx)
{
    struct stage *stage = ctx;

    stage->answer_count++;
    if (command != stage->wanted) {
        command_destroy(command);
        return;
    }
    command_destroy(stage->answer);
    stage->answer = command;
    stage->wanted = NULL;
}

void stage_post(struct stage *stage, struct command *command)
{
    command->done = on_done;
    command->ctx = stage;
    int rc = inbox_post(stage->inbox, command);
    ASSERT(rc == 0);
}

void stage_do(struct stage *stage, struct command *command)
{
    stage->wanted = command;
    stage_post(stage, command);
    for (int i = 0; stage->wanted; i++) {
        ASSERT(i < STEPS_MAX);
        stage_step(stage);
        if (stage->wanted) {
            move_clock(stage, stage->step_rc > 0 ? stage->step_rc : 1);
        }
    }
}

const struct command *stage_explain(struct stage *stage, struct job_id job)
{
    struct command *command = command_create(COMMAND_EXPLAIN);

    command->explain.job = job;
    stage_do(stage, command);
    ASSERT(stage->answer->result == COMMAND_OK);
    return stage->answer;
}

void stage_event(struct stage *stage, const char *queue, const char *job_set,
                 const char *user, const struct event *event)
{
    stage_do(stage, stage_event_command(queue, job_set, user, event));
    ASSERT(stage->answer->result == COMMAND_OK);
}

void stage_queue(struct stage *stage, const char *name)
{
    stage_do(stage, stage_queue_command(name));
    ASSERT(stage->answer->result == COMMAND_OK);
}

struct job_id stage_submit(struct stage *stage, const char *queue,
                           struct stage_job job)
{
    stage_do(stage, stage_submit_command(stage, queue, &job, 1));
    ASSERT(stage->answer->result == COMMAND_OK);
    return stage->answer->submit.items[0].ret_job;
}

struct job_id stage_leased(struct stage *stage, struct stage_job job)
{
    struct job_id id = stage_submit(stage, "q", job);

    stage_settle(stage);
    return id;
}

void stage_cancel(struct stage *stage, struct job_id job)
{
    struct event event = stage_event_make(EVENT_CANCEL);

    event.job = job;
    stage_event(stage, "q", "set", "bob", &event);
}

void stage_exchange(struct stage *stage, const char *executor,
                    uint32_t node_count, const struct run_id *runs,
                    uint32_t run_count)
{
    stage_do(stage,
             stage_exchange_command(executor, node_count, runs, run_count));
    ASSERT(stage->answer->result == COMMAND_OK);
}

static struct event about(struct stage *stage, struct job_id job,
                          enum event_type type)
{
    struct event event = stage_event_make(type);

    event.created_ms = stage->wall_ms;
    event.job = job;
    event.run = stage_run(stage, job);
    return event;
}

void stage_report(struct stage *stage, struct job_id job, enum event_type type)
{
    struct event event = about(stage, job, type);

    stage_event(stage, "q", "set", "", &event);
}

void stage_give_back(struct stage *stage, struct job_id job,
                     bool is_run_attempted)
{
    struct event event = about(stage, job, EVENT_RUN_ERRORS);

    event.error = (struct event_error){.kind = ERROR_LEASE_RETURNED,
                                       .is_terminal = true,
                                       .is_run_attempted = is_run_attempted,
                                       .message = STR("no luck")};
    stage_event(stage, "q", "set", "", &event);
}

void stage_fail(struct stage *stage, struct job_id job)
{
    struct event event = about(stage, job, EVENT_RUN_ERRORS);

    event.error = (struct event_error){
        .kind = ERROR_POD, .is_terminal = true, .message = STR("exit 1")};
    stage_event(stage, "q", "set", "", &event);
}
