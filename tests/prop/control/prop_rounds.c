/*
 * Plans that are made beside the leader, over random histories.
 *
 * Pools are planned each for itself, and plans are back late and in any order;
 * meanwhile jobs come, run and go, nodes and pools change, appends fail, and
 * leaders go in the middle of it all:
 *   - each round of the log is made again from the log alone, to the byte
 *   - fold(log) is the live state, whatever plans came to nothing
 *   - what shards keep up to date is what their jobs and nodes say
 */
#include <stdio.h>

#include "control/round/planner.h"
#include "control/what_if/what_if.h"
#include "leader_stage.h"
#include "prop.h"
#include "wire/kube/pool_codec.h"
#include "wire/message/message.h"

enum { JOBS = 40, NODES = 5, ACTS = 60, MILLI = 1000, POOLS = 2, PODS = 3 };

static const char *const pools[POOLS + 1] = {"a", "b", NULL};
static const char *const queues[] = {"q", "r"};
static const char *const orderings[] = {"", "cfs", "stateaware"};

struct world {
    struct planner planner; /* first member */
    struct tape *tape;
    bool is_let_go; /* plans are back at once */
    struct stage stage;
    struct job_id jobs[JOBS];
    uint32_t job_count;
    bool is_bad;
};

/* The planner: a plan is as of when it began, and back when the tape says. */

static void late_begin(struct planner *planner, struct planner_task *task)
{
    (void)planner;
    sched_plan(task->sched, task->now_ms, task->kind, task->decision_count_max,
               &task->plan);
}

static bool late_is_done(struct planner *planner,
                         const struct planner_task *task)
{
    struct world *world = (struct world *)planner;

    (void)task;
    return world->is_let_go || draw(world->tape, 0, 2) == 0;
}

static void late_wait(struct planner *planner, struct planner_task *task)
{
    (void)planner;
    (void)task;
}

/* Acts. */

static void put_pool(struct world *world, const char *name)
{
    auto_arena arena = {0};
    struct event event = stage_event_make(EVENT_POOL_SET);
    struct label label = {STR("pool"), str_of(name)};
    struct pool_record record = {
        .name = str_of(name),
        .has_selector = true,
        .labels = &label,
        .label_count = 1,
        .is_borrowing_off = draw(world->tape, 0, 3) == 3,
        .is_preemption_off = draw(world->tape, 0, 3) == 3,
        .preemption_order =
            draw(world->tape, 0, 1) ? BORROW_FIRST : PREEMPT_FIRST,
    };

    event.pool.encoded =
        wire_encode_arena(&pool_message_of(&record, &arena)->base, &arena);
    stage_post(&world->stage, stage_event_command("", "", "anna", &event));
}

static void delete_pool(struct world *world, const char *name)
{
    struct event event = stage_event_make(EVENT_POOL_DELETED);

    event.pool.record.name = str_of(name);
    stage_post(&world->stage, stage_event_command("", "", "anna", &event));
}

/* Nodes of 4 cpu, each of some pool, or not there. */
static void put_nodes(struct world *world)
{
    static const char *const names[NODES] = {"n0", "n1", "n2", "n3", "n4"};
    struct resource_amount cpu = {STR("cpu"), 4 * MILLI};
    struct node_record nodes[NODES];
    struct label labels[NODES][2];
    struct event event = stage_event_make(EVENT_EXECUTOR_NODES);

    for (uint32_t i = 0; i < NODES; i++) {
        uint64_t pool = draw(world->tape, 0, 5);
        pool = pool > 3 ? i % POOLS : pool;
        if (pool == 3) {
            continue;
        }
        labels[i][0] = (struct label){STR("leaf"), STR("even")};
        labels[i][0].value = i % 2 ? STR("odd") : STR("even");
        labels[i][1] = (struct label){STR("pool"), STR("")};
        labels[i][1].value = pool < POOLS ? str_of(pools[pool]) : STR("none");
        nodes[event.nodes.set_count++] = (struct node_record){
            .name = str_of(names[i]),
            .labels = labels[i],
            .label_count = 2,
            .total = {&cpu, 1},
        };
    }
    event.nodes.executor_id = STR("e");
    event.nodes.pool = STR("default");
    event.nodes.is_full = true;
    event.nodes.set = nodes;
    stage_post(&world->stage, stage_event_command("", "", "", &event));
}

static void add_jobs(struct world *world)
{
    const struct command *answer = world->stage.answer;

    for (uint32_t i = 0; i < answer->submit.item_count; i++) {
        if (answer->result == COMMAND_OK) {
            world->jobs[world->job_count++] = answer->submit.items[i].ret_job;
        }
    }
}

/* Of a gang that may have nodes whole, stay near together for a while, be
 * frozen when it was scaled, and wait for who dies. */
static struct gang_terms draw_terms(struct tape *tape)
{
    struct gang_terms terms = {
        .kind = GANG_POD_GROUP,
        .has_exclusive_nodes = draw(tape, 0, 5) == 5,
        .freezing_window_ms = draw(tape, 0, 3) ? 0 : 700,
        .replace_timeout_ms = draw(tape, 0, 1) ? 1000 : 0,
        .sub_group_count = 1,
        .sub_groups = {{.name = STR("w"),
                        .min_count = (uint32_t)draw(tape, 1, PODS),
                        .max_count = PODS,
                        .hops_max = HOPS_ANY}},
    };

    if (draw(tape, 0, 2) == 2) {
        terms.sub_groups[0].hops_max = (uint32_t)draw(tape, 0, 1) * 2;
        terms.sub_groups[0].hops_wait_ms = draw(tape, 0, 1) ? 900 : 0;
    }
    return terms;
}

/* A job, or a gang that starts whole or with its minimum. */
static void submit(struct world *world)
{
    struct tape *tape = world->tape;
    uint32_t count = draw(tape, 0, 2) == 2 ? PODS : 1;
    struct stage_job jobs[PODS];
    struct gang_terms terms = draw_terms(tape);
    bool has_terms = draw(tape, 0, 1);
    const char *pool = pools[draw(tape, 0, POOLS)];
    const char *class_name = draw(tape, 0, 3) ? NULL : "armada-default";
    char gang[16];

    if (world->job_count + count > JOBS ||
        control_state(world->stage.control) == CONTROL_STOPPED) {
        return;
    }
    snprintf(gang, sizeof(gang), "g%u", world->job_count);
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = (struct stage_job){
            .pool = pool,
            .priority_class = class_name,
            .gang = count > 1 ? gang : NULL,
            .gang_cardinality = count > 1 ? count : 0,
            .gang_minimum = count > 1 ? terms.sub_groups[0].min_count : 0,
            .terms = count > 1 && has_terms ? &terms : NULL,
            .priority = (uint32_t)draw(tape, 0, 2),
            .cpu_milli = (int64_t)draw(tape, 1, 4) * MILLI,
            .is_requeue_preempted = draw(tape, 0, 1),
            .class_salt = (uint32_t)draw(tape, 0, 2),
        };
    }
    stage_do(&world->stage,
             stage_submit_command(&world->stage, queues[draw(tape, 0, 1)], jobs,
                                  count));
    add_jobs(world);
}

static void report(struct world *world)
{
    static const enum event_type types[] = {
        EVENT_RUN_RUNNING, EVENT_RUN_SUCCEEDED, EVENT_RUN_SUCCEEDED,
        EVENT_RUN_ERRORS, EVENT_CANCEL};
    struct event event =
        stage_event_make(types[draw(world->tape, 0, ARRAY_COUNT(types) - 1)]);

    if (world->job_count == 0) {
        return;
    }
    event.job = world->jobs[draw(world->tape, 0, world->job_count - 1)];
    event.created_ms = world->stage.wall_ms;
    if (event.type == EVENT_CANCEL) {
        event.cancel.reason = STR("why not");
    } else {
        event.run = stage_run(&world->stage, event.job);
    }
    if (event.type == EVENT_RUN_ERRORS) {
        event.error.is_terminal = true;
        event.error.kind =
            draw(world->tape, 0, 1) ? ERROR_LEASE_RETURNED : ERROR_POD;
        event.error.is_run_attempted = draw(world->tape, 0, 1);
        event.error.message = STR("no luck");
    }
    if (event.type == EVENT_CANCEL || !key128_is_none(event.run.v)) {
        stage_post(&world->stage,
                   stage_event_command("q", "set", "bob", &event));
    }
}

/* The state of a leader that has no plans out. */
static void put_state(struct world *world, struct strbuf *buf)
{
    struct err err;

    if (control_state(world->stage.control) != CONTROL_LEADING) {
        return;
    }
    int rc = control_checkpoint(world->stage.control, &err);
    ASSERT(rc == 0);
    control_encode_state(world->stage.control, buf);
}

/* A leader goes, and another comes: by the checkpoint, or the log alone. */
static void restart(struct world *world)
{
    auto_strbuf before = {0}, after = {0};
    int64_t wall_ms = world->stage.wall_ms;
    uint64_t how = draw(world->tape, 0, 2);

    elog_memory_inject(world->stage.storage, 0, ELOG_MEMORY_FULL);
    if (how > 0) {
        put_state(world, &before);
    }
    if (how > 1) {
        elog_memory_spoil_checkpoint(world->stage.storage);
    }
    world->stage.wall_ms = 0; /* nothing is due until it is compared */
    stage_crash(&world->stage);
    stage_start(&world->stage);
    world->stage.wall_ms += wall_ms;
    control_encode_state(world->stage.control, &after);
    if (before.byte_count &&
        !str_equal(strbuf_str(&before), strbuf_str(&after))) {
        fprintf(stderr, "  a replay gives another state\n");
        world->is_bad = true;
    }
}

static void pass(struct world *world)
{
    for (uint64_t left = draw(world->tape, 1, 20); left > 0; left--) {
        stage_pass(&world->stage, 10);
    }
}

/* A copy of the leader begins with its state, however plans are made, and comes
 * to rest. */
static void take_state(void *ctx, struct command *command, char *bytes,
                       size_t byte_count, int64_t now_ms)
{
    struct what_if_state state = {str_make(bytes, byte_count), now_ms,
                                  WHAT_IF_P50};
    struct what_if_bounds bounds = {.clock = NULL};
    struct what_if *what_if;
    struct err err;

    (void)ctx;
    int rc = what_if_create(&state, NULL, &bounds, &what_if, &err);
    ASSERT(rc == 0);
    rc = what_if_play(what_if, 0, &err);
    ASSERT(rc == 0);
    what_if_destroy(what_if);
    command->done(command, command->ctx);
    mem_free(bytes);
}

static void act(struct world *world)
{
    struct stage *stage = &world->stage;
    struct tape *tape = world->tape;

    switch (draw(tape, 0, 14)) {
    case 0:
    case 1:
    case 2:
        submit(world);
        break;
    case 3:
    case 4:
    case 5:
        pass(world);
        break;
    case 6:
    case 7:
        report(world);
        break;
    case 8:
        put_nodes(world);
        break;
    case 9:
        put_pool(world, pools[draw(tape, 0, POOLS - 1)]);
        break;
    case 10:
        stage_pass(stage, (int64_t)draw(tape, 1, 4) * 500);
        break;
    case 11:
        elog_memory_inject(stage->storage, (uint32_t)draw(tape, 1, 3),
                           ELOG_MEMORY_FULL);
        break;
    case 12:
        if (draw(tape, 0, 1)) {
            delete_pool(world, pools[draw(tape, 0, POOLS - 1)]);
        } else {
            stage_post(
                stage,
                stage_ordered_queue_command(
                    queues[draw(tape, 0, 1)],
                    orderings[draw(tape, 0, ARRAY_COUNT(orderings) - 1)]));
        }
        break;
    case 13:
        stage_post(stage, command_create(COMMAND_WHAT_IF));
        break;
    default:
        restart(world);
        break;
    }
}

/* Make the whole log again. */
static bool is_made_again(struct world *world)
{
    struct control_audit_counts counts;
    bool is_same = stage_is_made_again(&world->stage, &counts);

    if (counts.unseen_round_count) {
        fprintf(stderr, "  rounds were not made again\n");
    }
    return is_same && counts.unseen_round_count == 0;
}

static void choose_policy(struct policy *policy, struct tape *tape)
{
    pool_policy_apply(&policy->pools[0],
                      (enum pool_profile)draw(tape, 0, PROFILE_FLOW));
    policy->round_work_max = draw(tape, 0, 1) ? (int64_t)draw(tape, 1, 4) * 32
                                              : policy->round_work_max;
    policy->balance_period_ms = 100;
    if (draw(tape, 0, 1)) {
        policy->pools[0].topology[0] = STR("leaf");
        policy->pools[0].level_count = 1;
    }
}

static bool histories(struct tape *tape)
{
    struct world *world = mem_alloc(sizeof(*world));

    world->planner = (struct planner){late_begin, late_is_done, late_wait};
    world->tape = tape;
    stage_init(&world->stage);
    world->stage.hooks = (struct control_hooks){.what_if = take_state};
    choose_policy(&world->stage.policy, tape);
    world->stage.planner = draw(tape, 0, 4) ? &world->planner : NULL;
    stage_start(&world->stage);
    for (int i = 0; i < 2; i++) {
        stage_queue(&world->stage, queues[i]);
        put_pool(world, pools[i]);
    }
    put_nodes(world);
    for (uint64_t left = draw(tape, 0, ACTS); left > 0 && !world->is_bad;
         left--) {
        act(world);
        if (control_state(world->stage.control) == CONTROL_LEADING) {
            control_assert_valid(world->stage.control);
        }
    }
    elog_memory_inject(world->stage.storage, 0, ELOG_MEMORY_FULL);
    world->is_let_go = true;
    pass(world);
    restart(world);
    bool holds = !world->is_bad && is_made_again(world);
    stage_fini(&world->stage);
    mem_free(world);
    return holds;
}

int main(void)
{
    return prop_check("histories", histories, 1500, 0) ? 0 : 1;
}
