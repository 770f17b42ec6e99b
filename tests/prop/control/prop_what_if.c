/*
 * What a what-if says is what comes of really doing it: a leader with random
 * queues, jobs and nodes is asked what a change would do, then the change is
 * made, and the executors behave as the what-if takes it.  The same jobs start,
 * on the same nodes, and the same are preempted, within a round's time of when
 * it was said.
 */
#include <stdio.h>

#include "control/state/state.h"
#include "control/what_if/what_if.h"
#include "job/table/jobs.h"
#include "leader_stage.h"
#include "prop.h"
#include "wire/policy/policy_codec.h"

enum {
    JOBS = 24,
    NODES = 4,
    ADDED_MAX = 3,
    SPAN_MS = 20000,
    SLACK_MS = 1500, /* between full rounds, and between steps */
    RUNS = 300,
};

static const char *const queues[] = {"q", "r"};
static const char *const classes[] = {"armada-default", "armada-preemptible",
                                      "normal", "production", "offline"};

struct world {
    struct stage stage;
    struct tape *tape;
    struct job_id jobs[JOBS + 1];
    uint32_t job_count;
    /* What the hook was given. */
    struct command *command;
    char *bytes;
    size_t byte_count;
    int64_t now_ms;
};

static void take_state(void *ctx, struct command *command, char *bytes,
                       size_t byte_count, int64_t now_ms)
{
    struct world *world = ctx;

    world->command = command;
    world->bytes = bytes;
    world->byte_count = byte_count;
    world->now_ms = now_ms;
}

/* Executors that say at once that a run runs. */
static bool report_running(struct world *world)
{
    const struct jobs *jobs = world->stage.control->jobs;
    bool has_news = false;

    for (uint32_t i = 0; i < world->job_count; i++) {
        uint32_t job = jobs_find(jobs, world->jobs[i]);
        if (job != JOBS_NONE && jobs_state(jobs, job) == JOB_LEASED) {
            stage_report(&world->stage, world->jobs[i], EVENT_RUN_RUNNING);
            has_news = true;
        }
    }
    return has_news;
}

static void live(struct world *world, int64_t ms)
{
    struct stage *stage = &world->stage;
    int64_t end_ms = stage->wall_ms + ms;

    while (stage->wall_ms < end_ms) {
        do {
            stage_step(stage);
            ASSERT(stage->step_rc >= 0);
        } while (stage->step_rc == 0);
        if (!report_running(world)) {
            int64_t by_ms = stage->step_rc;
            by_ms = stage->wall_ms + by_ms > end_ms ? end_ms - stage->wall_ms
                                                    : by_ms;
            stage->wall_ms += by_ms;
            stage->mono_ns += (uint64_t)by_ms * NS_PER_MS;
        }
    }
}

static struct stage_job draw_job(struct tape *tape)
{
    return (struct stage_job){
        .priority_class = classes[draw(tape, 0, ARRAY_COUNT(classes) - 1)],
        .cpu_milli = (int64_t)draw(tape, 1, 10) * 1000,
        .priority = (uint32_t)draw(tape, 0, 2),
        .is_requeue_preempted = draw(tape, 0, 1),
    };
}

static void submit(struct world *world)
{
    const char *queue = queues[draw(world->tape, 0, 1)];

    world->jobs[world->job_count++] =
        stage_submit(&world->stage, queue, draw_job(world->tape));
}

/* A change, and the same as the leader is told it. */
struct change {
    struct what_if_changes changes;
    struct what_if_weight weight;
    struct class_change class;
    struct what_if_nodes nodes;
    struct str drained;
    const char *queue; /* of a job */
    struct stage_job job;
    struct strbuf policy;
};

/* The place of a class's limit of cpu, made where there is none. */
static uint32_t cpu_limit_of(struct priority_class *class)
{
    for (uint32_t i = 0; i < class->queue_limit_count; i++) {
        if (str_equal(class->queue_limits[i].resource, STR("cpu"))) {
            return i;
        }
    }
    ASSERT(class->queue_limit_count < POLICY_FRACTIONS_MAX);
    return class->queue_limit_count++;
}

static void limit_all(struct policy *policy, int64_t fraction_ppm)
{
    for (uint32_t i = 0; i < policy->class_count; i++) {
        struct priority_class *class = &policy->classes[i];
        class->queue_limits[cpu_limit_of(class)] =
            (struct resource_fraction){STR("cpu"), fraction_ppm};
    }
}

static int64_t draw_fraction(struct tape *tape)
{
    return (int64_t)draw(tape, 1, 10) * 100000;
}

/* A higher or lower limit of a class. */
static void draw_limit(struct tape *tape, struct change *change)
{
    change->class = (struct class_change){
        .name = str_of(classes[draw(tape, 0, ARRAY_COUNT(classes) - 1)]),
        .resource = STR("cpu"),
        .fraction_ppm = draw_fraction(tape),
    };
    change->changes.classes = &change->class;
    change->changes.class_count = 1;
}

/* All of another policy, as --scheduling names it. */
static void draw_policy(struct tape *tape, const struct policy *is,
                        struct change *change)
{
    struct policy policy = *is;

    pool_policy_apply(&policy.pools[0],
                      (enum pool_profile)draw(tape, 0, PROFILE_FLOW));
    limit_all(&policy, draw_fraction(tape));
    policy_print(&policy, &change->policy);
    change->changes.policy = strbuf_str(&change->policy);
}

static void draw_change(struct tape *tape, const struct policy *policy,
                        struct change *change)
{
    switch (draw(tape, 0, 6)) {
    case 0:
        change->weight = (struct what_if_weight){
            str_of(queues[draw(tape, 0, 1)]), 1 / (double)draw(tape, 2, 9)};
        change->changes.weights = &change->weight;
        change->changes.weight_count = 1;
        break;
    case 1:
        change->class = (struct class_change){
            .name = str_of(classes[draw(tape, 2, ARRAY_COUNT(classes) - 1)]),
            .has_priority = true,
            .priority = (int32_t)draw(tape, 1, 30000),
        };
        change->changes.classes = &change->class;
        change->changes.class_count = 1;
        break;
    case 2:
        change->nodes = (struct what_if_nodes){
            STR("n0"), (uint32_t)draw(tape, 1, ADDED_MAX)};
        change->changes.nodes = &change->nodes;
        change->changes.nodes_count = 1;
        break;
    case 3:
        change->drained = STR("n1");
        change->changes.drained = &change->drained;
        change->changes.drained_count = 1;
        break;
    case 4:
        draw_limit(tape, change);
        break;
    case 5:
        draw_policy(tape, policy, change);
        break;
    default:
        change->queue = queues[draw(tape, 0, 1)];
        change->job = draw_job(tape);
        break;
    }
}

static void really_set_weight(struct world *world, const struct change *change)
{
    auto_strbuf encoded = {0};
    struct event event = stage_event_make(EVENT_QUEUE_SET);
    double factor = 1 / change->weight.weight;

    /* api.Queue: 1 name, 2 priority_factor */
    strbuf_add_char(&encoded, 0x0a);
    pack_str(&encoded, change->weight.queue);
    strbuf_add_char(&encoded, 0x11);
    strbuf_add(&encoded, &factor, sizeof(factor));
    event.queue.record.name = change->weight.queue;
    event.queue.encoded = strbuf_str(&encoded);
    stage_event(&world->stage, "", "", "operator", &event);
}

static void really_set_class(struct world *world, const struct change *change)
{
    auto_strbuf text = {0};
    struct policy policy = world->stage.policy;
    struct event event = stage_event_make(EVENT_POLICY_SET);

    for (uint32_t i = 0; i < policy.class_count; i++) {
        struct priority_class *class = &policy.classes[i];
        if (!str_equal(class->name, change->class.name)) {
            continue;
        }
        if (change->class.has_priority) {
            class->priority = change->class.priority;
        } else {
            class->queue_limits[cpu_limit_of(class)] =
                (struct resource_fraction){STR("cpu"),
                                           change->class.fraction_ppm};
        }
    }
    policy_print(&policy, &text);
    event.policy.text = strbuf_str(&text);
    stage_event(&world->stage, "", "", "operator", &event);
}

static void really_set_policy(struct world *world, const struct change *change)
{
    struct event event = stage_event_make(EVENT_POLICY_SET);

    event.policy.text = change->changes.policy;
    stage_event(&world->stage, "", "", "operator", &event);
}

static void really_add_nodes(struct world *world, const struct change *change)
{
    struct resource_amount amounts[] = {{STR("cpu"), 10000},
                                        {STR("memory"), (int64_t)1 << 50}};
    struct node_record set[ADDED_MAX];
    struct event event = stage_event_make(EVENT_EXECUTOR_NODES);
    char names[ADDED_MAX][32];

    for (uint32_t i = 0; i < change->nodes.count; i++) {
        snprintf(names[i], sizeof(names[i]), "what-if-%u", i + 1);
        set[i] = (struct node_record){
            .name = str_of(names[i]),
            .total = {amounts, ARRAY_COUNT(amounts)},
        };
    }
    event.nodes.executor_id = STR("e");
    event.nodes.pool = STR("default");
    event.nodes.set = set;
    event.nodes.set_count = change->nodes.count;
    stage_event(&world->stage, "", "", "operator", &event);
}

static void really_drain(struct world *world, const struct change *change)
{
    static const struct str names[] = {{"q", 1}, {"r", 1}};
    struct event event = stage_event_make(EVENT_EXECUTOR_SETTINGS);

    event.settings.name = STR("e");
    event.settings.node_name = change->drained;
    event.settings.is_cordoned = true;
    stage_post(&world->stage, stage_event_command("", "", "operator", &event));
    event = stage_event_make(EVENT_SELECTION);
    event.selection.action = SELECTION_PREEMPT;
    event.selection.executor_id = STR("e");
    event.selection.node_name = change->drained;
    event.selection.queues = names;
    event.selection.queue_count = 2;
    event.selection.states = STATE_SET_ALL;
    stage_event(&world->stage, "", "", "operator", &event);
}

static void really_do(struct world *world, const struct change *change,
                      struct command *submission)
{
    if (change->changes.weight_count) {
        really_set_weight(world, change);
    } else if (change->changes.class_count) {
        really_set_class(world, change);
    } else if (change->changes.policy.byte_count) {
        really_set_policy(world, change);
    } else if (change->changes.nodes_count) {
        really_add_nodes(world, change);
    } else if (change->changes.drained_count) {
        really_drain(world, change);
    } else {
        stage_do(&world->stage, submission);
        world->jobs[world->job_count++] =
            world->stage.answer->submit.items[0].ret_job;
    }
}

/* What really became of jobs, from a record on. */
struct truth {
    struct world *world;
    int64_t began_ms, time_ms;
    struct what_if_outcome outcomes[JOBS + 1];
    bool had_run[JOBS + 1];
    char nodes[JOBS + 1][32];
};

static int tell(const struct log_item *item, void *ctx)
{
    struct truth *truth = ctx;
    const struct event *event = &item->event;
    int64_t at_ms = truth->time_ms - truth->began_ms;

    for (uint32_t i = 0; i < truth->world->job_count; i++) {
        struct what_if_outcome *outcome = &truth->outcomes[i];
        if (key128_compare(truth->world->jobs[i].v, event->job.v) != 0) {
            continue;
        }
        if (event->type == EVENT_LEASED && !truth->had_run[i] &&
            outcome->started_ms < 0) {
            outcome->started_ms = at_ms;
            snprintf(truth->nodes[i], sizeof(truth->nodes[i]), "%.*s",
                     STR_ARG(event->leased.node_name));
        }
        if (event->type == EVENT_RUN_PREEMPTED) {
            outcome->preempted_ms =
                outcome->preempted_ms < 0 ? at_ms : outcome->preempted_ms;
            outcome->preempted_count++;
        }
        outcome->is_refused |=
            event->type == EVENT_FAILED && event->error.kind == ERROR_REJECTED;
    }
    return 0;
}

static int tell_record(void *ctx, const struct elog_record *record)
{
    struct truth *truth = ctx;
    auto_arena arena = {0};

    truth->time_ms = record->time_ms;
    return log_decode(record->payload, &arena, tell, truth, NULL);
}

static bool is_near(int64_t said_ms, int64_t true_ms)
{
    return (said_ms < 0) == (true_ms < 0) && said_ms - true_ms <= SLACK_MS &&
           true_ms - said_ms <= SLACK_MS;
}

/* A place that a fast round gives and the next full round takes back is none:
 * which of the two comes first is a matter of the moment. */
static void pass_over_brief(struct what_if_outcome *outcome)
{
    if (outcome->started_ms >= 0 &&
        outcome->preempted_ms >= outcome->started_ms &&
        outcome->preempted_ms - outcome->started_ms <= SLACK_MS) {
        outcome->started_ms = outcome->preempted_ms = -1;
    }
}

static bool is_told_truly(struct truth *truth, uint32_t i,
                          const struct what_if *what_if)
{
    struct what_if_outcome *outcome = &truth->outcomes[i];
    struct what_if_outcome said;

    (void)what_if_outcome_of(what_if, truth->world->jobs[i], &said);
    pass_over_brief(outcome);
    pass_over_brief(&said);
    bool is_true = is_near(said.started_ms, outcome->started_ms) &&
                   is_near(said.preempted_ms, outcome->preempted_ms) &&
                   said.is_refused == outcome->is_refused &&
                   (outcome->started_ms < 0 ||
                    str_equal(said.node, str_of(truth->nodes[i])));
    if (!is_true) {
        fprintf(stderr,
                "  job %u: said %lld %lld %u %d %.*s, is %lld %lld %u %d %s\n",
                i, (long long)said.started_ms, (long long)said.preempted_ms,
                said.preempted_count, said.is_refused, STR_ARG(said.node),
                (long long)outcome->started_ms,
                (long long)outcome->preempted_ms, outcome->preempted_count,
                outcome->is_refused, truth->nodes[i]);
    }
    return is_true;
}

static void note_runs(struct truth *truth)
{
    const struct jobs *jobs = truth->world->stage.control->jobs;

    for (uint32_t i = 0; i < ARRAY_COUNT(truth->outcomes); i++) {
        truth->outcomes[i].started_ms = truth->outcomes[i].preempted_ms = -1;
    }
    for (uint32_t i = 0; i < truth->world->job_count; i++) {
        uint32_t job = jobs_find(jobs, truth->world->jobs[i]);
        struct job_view view = {.has_run = false};
        if (job != JOBS_NONE) {
            jobs_get(jobs, job, &view);
        }
        truth->had_run[i] = view.has_run;
    }
}

static bool is_true(struct world *world, struct what_if *what_if,
                    const struct change *change, struct command *submission)
{
    struct truth truth = {.world = world, .began_ms = world->stage.wall_ms};
    struct elog_range range = {.from_seq = world->stage.control->seq + 1};
    auto_ptr(elog_reader) reader = NULL;
    struct err err;
    bool is_true = true;

    note_runs(&truth);
    really_do(world, change, submission);
    live(world, SPAN_MS);
    int rc = elog_reader_open(world->stage.log, &reader, &err);
    ASSERT(rc == 0);
    rc = elog_read(reader, &range, tell_record, &truth, &err);
    ASSERT(rc >= 0);
    for (uint32_t i = 0; i < world->job_count; i++) {
        is_true &= is_told_truly(&truth, i, what_if);
    }
    return is_true;
}

static void ask(struct world *world)
{
    struct command *command = command_create(COMMAND_WHAT_IF);

    stage_post(&world->stage, command);
    while (!world->command) {
        stage_step(&world->stage);
    }
}

static bool comes_true(struct tape *tape)
{
    struct world *world = mem_alloc(sizeof(*world));
    struct change change = {.queue = NULL};
    struct command *twin = NULL, *submission = NULL;
    struct err err;

    world->tape = tape;
    stage_init(&world->stage);
    pool_policy_apply(&world->stage.policy.pools[0],
                      (enum pool_profile)draw(tape, 0, PROFILE_FLOW));
    world->stage.policy.pools[0].reservation_delay_ms =
        draw(tape, 0, 1) * INT64_C(2000);
    world->stage.policy.balance_period_ms = 500;
    limit_all(&world->stage.policy, draw_fraction(tape));
    world->stage.hooks =
        (struct control_hooks){.ctx = world, .what_if = take_state};
    stage_start(&world->stage);
    stage_queue(&world->stage, "q");
    stage_queue(&world->stage, "r");
    stage_exchange(&world->stage, "e", (uint32_t)draw(tape, 2, NODES), NULL, 0);
    for (uint64_t left = draw(tape, 0, JOBS); left > 0; left--) {
        submit(world);
        if (draw(tape, 0, 3) == 0) {
            live(world, (int64_t)draw(tape, 0, 3000));
        }
    }
    live(world, SPAN_MS);
    draw_change(tape, &world->stage.policy, &change);
    if (change.queue) {
        uint32_t count = world->stage.job_count;
        twin =
            stage_submit_command(&world->stage, change.queue, &change.job, 1);
        world->stage.job_count = count;
        submission =
            stage_submit_command(&world->stage, change.queue, &change.job, 1);
        change.changes.submission = twin;
    }
    ask(world);
    struct what_if_state state = {str_make(world->bytes, world->byte_count),
                                  world->now_ms, WHAT_IF_P50};
    struct what_if_bounds bounds = {.clock = NULL};
    struct what_if *what_if;
    int rc = what_if_create(&state, &change.changes, &bounds, &what_if, &err);
    ASSERT(rc == 0);
    rc = what_if_play(what_if, SPAN_MS, &err);
    ASSERT(rc == 0);
    /* The leader's next round may be a fast one where the copy's is a full one,
     * and then once in thousands another job is the first. */
    if (!is_true(world, what_if, &change, submission)) {
        prop_note_open(tape);
    }
    what_if_destroy(what_if);
    strbuf_fini(&change.policy);
    command_destroy(world->command);
    mem_free(world->bytes);
    stage_fini(&world->stage);
    mem_free(world);
    return true;
}

int main(void)
{
    return prop_check("comes_true", comes_true, RUNS, 0) ? 0 : 1;
}
