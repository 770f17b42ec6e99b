/*
 * The leader over random histories.
 *
 * Whatever users, executors and crashes do:
 *   - fold(log) is the live state, byte for byte, wherever it is stopped
 *   - the scheduler's incremental state is what a rebuild gives
 *   - what was acknowledged is in the log after a crash
 *   - an end is followed by no decision and no report, and each decision
 *     follows from what stands before it
 *   - no run id is leased twice
 *   - no decision leaves a group below its minimum: only what befalls pods,
 *     and what is not replaced in time goes
 *   - repeating a report changes nothing
 *   - left alone with an executor that works, every job comes to its end
 */
#include <stdio.h>

#include "berth/api.pb-c.h"
#include "job/table/job_state.h"
#include "leader_stage.h"
#include "prop.h"
#include "wire/message/message.h"

enum {
    JOBS = 24,
    EXECUTORS = 2,
    NODES = 2,
    ACTS = 40,
    ROUNDS = 200,
    PODS = 3, /* of a group */
    LATE_MS = 2000,
};

static const char *const queues[] = {"q", "r"};
static const char *const orderings[] = {"", "stateaware", "fifo", "fair",
                                        "cfs"};
static const char *const trainings[] = {"ctr", "ocr"};
static const char *const executors[EXECUTORS] = {"e0", "e1"};

struct world {
    struct stage stage;
    struct job_id jobs[JOBS];
    uint32_t job_count;
    struct group {
        uint32_t first; /* of its jobs: the auxiliary one, then workers */
        uint32_t minimum;
        int64_t replace_timeout_ms;
        bool is_tolerant;
    } groups[JOBS / PODS];
    uint32_t group_count;
    uint32_t asked_count; /* groups, of which no answer may have come */
    bool is_bad;          /* something did not hold */
    const char *what;
};

/* What the log says of each job, told in order. */
struct told {
    const struct world *world;
    bool is_ended[JOBS];
    bool is_submitted[JOBS];
    enum job_state state[JOBS];
    struct run_id run[JOBS]; /* the newest */
    struct run_id leased[JOBS * ACTS];
    uint32_t leased_count;
    char executor_text[JOBS][8];
    bool is_below[JOBS / PODS]; /* groups, after the last record */
    int64_t below_since_ms[JOBS / PODS];
    int64_t time_ms;       /* of the last record */
    int64_t begun_ms;      /* the leader did */
    bool has_mishap[JOBS]; /* in this record something befell it */
    bool is_hit[JOBS];     /* and what comes of that is not decided */
    bool is_bad;
};

static int job_number(const struct world *world, struct job_id id)
{
    for (uint32_t i = 0; i < world->job_count; i++) {
        if (key128_compare(world->jobs[i].v, id.v) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool is_of_user(enum event_type type)
{
    return type == EVENT_HOLD_CHANGED || type == EVENT_CANCEL ||
           type == EVENT_PREEMPT || type == EVENT_REPRIORITISE;
}

static bool is_decision(enum event_type type)
{
    return type == EVENT_LEASED || type == EVENT_RUN_PREEMPTED ||
           type == EVENT_RUN_CANCELLED || type == EVENT_REQUEUED ||
           type == EVENT_SUCCEEDED || type == EVENT_FAILED ||
           type == EVENT_CANCELLED;
}

static void tell_lease(struct told *told, int n, const struct event *event)
{
    for (uint32_t i = 0; i < told->leased_count; i++) {
        told->is_bad |= key128_compare(told->leased[i].v, event->run.v) == 0;
    }
    told->leased[told->leased_count++] = event->run;
    told->run[n] = event->run;
    snprintf(told->executor_text[n], sizeof(told->executor_text[n]), "%.*s",
             STR_ARG(event->leased.executor_id));
}

/* What befalls a pod: its run ends by itself, and then that is decided; or a
 * user has had enough of it. */
static void note_mishap(struct told *told, int n, const struct event *event)
{
    bool is_hit = event->type == EVENT_RUN_CANCELLED ||
                  event->type == EVENT_CANCELLED ||
                  (event->type == EVENT_RUN_ERRORS &&
                   event->error.kind != ERROR_PREEMPTED);
    bool is_decided =
        event->type == EVENT_FAILED || event->type == EVENT_REQUEUED;

    told->has_mishap[n] |= is_hit || (is_decided && told->is_hit[n]);
    told->is_hit[n] = is_hit || (told->is_hit[n] && !is_decided);
}

static int tell(const struct log_item *item, void *ctx)
{
    struct told *told = ctx;
    const struct event *event = &item->event;
    int n =
        key128_is_none(event->job.v) ? -1 : job_number(told->world, event->job);

    if (event->type == EVENT_LEADER_STARTED) {
        told->begun_ms = told->time_ms;
    }
    if (n < 0) {
        return 0;
    }
    enum job_happening happening = job_happening_of(event);
    if (event->type == EVENT_SUBMIT) {
        told->is_bad |= told->is_submitted[n];
        told->is_submitted[n] = true;
    } else if (told->is_ended[n] && !is_of_user(event->type)) {
        told->is_bad = true;
    }
    if (event->type == EVENT_LEASED) {
        tell_lease(told, n, event);
    }
    note_mishap(told, n, event);
    if (happening != JOB_ON_OTHER) {
        enum job_state next = job_state_next(told->state[n], happening);
        /* Two reports of the same in one batch may both be there; a decision
         * always follows from what stands before it. */
        if (next != JOB_NONE) {
            told->state[n] = next;
        } else if (is_decision(event->type)) {
            told->is_bad = true;
        }
        told->is_ended[n] = job_state_is_ended(told->state[n]);
    }
    return 0;
}

/* Whether some of a group run, and fewer than its minimum: what has ended well
 * counts, or has ended at all where failures are tolerated. */
static bool is_below(const struct told *told, const struct group *group)
{
    uint32_t running = 0, present = 0;

    for (uint32_t i = group->first; i < group->first + PODS; i++) {
        enum job_state state = told->state[i];
        bool is_worker = i > group->first;
        bool has_failed = state == JOB_RUN_FAILED || state == JOB_FAILED;
        running += job_state_has_run(state);
        present +=
            is_worker &&
            (job_state_has_run(state) || state == JOB_RUN_SUCCEEDED ||
             state == JOB_SUCCEEDED || (has_failed && group->is_tolerant));
    }
    return running > 0 && present < group->minimum;
}

/* What is below its minimum for longer than it may be goes soon after: a leader
 * does not wait for another reason to look at it, if there is one. */
static void check_overdue(struct told *told)
{
    for (uint32_t g = 0; g < told->world->group_count; g++) {
        int64_t due_ms =
            told->below_since_ms[g] + told->world->groups[g].replace_timeout_ms;
        due_ms = due_ms > told->begun_ms ? due_ms : told->begun_ms;
        told->is_bad |= told->is_below[g] && told->time_ms > due_ms + LATE_MS;
    }
}

static void check_groups(struct told *told)
{
    for (uint32_t g = 0; g < told->world->group_count; g++) {
        const struct group *group = &told->world->groups[g];
        bool is_below_now = is_below(told, group), has_mishap = false;
        for (uint32_t i = group->first; i < group->first + PODS; i++) {
            has_mishap |= told->has_mishap[i];
        }
        if (is_below_now && !told->is_below[g]) {
            told->is_bad |= !has_mishap;
            told->below_since_ms[g] = told->time_ms;
        }
        told->is_below[g] = is_below_now;
    }
    memset(told->has_mishap, 0, sizeof(told->has_mishap));
}

static int tell_record(void *ctx, const struct elog_record *record)
{
    struct told *told = ctx;
    auto_arena arena = {0};
    struct err err;

    told->time_ms = record->time_ms;
    int rc = log_decode(record->payload, &arena, tell, told, &err);
    check_overdue(told);
    check_groups(told);
    return rc;
}

static struct told *read_log(struct world *world)
{
    struct told *told = mem_alloc(sizeof(*told));
    struct elog_range range = {.from_seq = 1};
    struct elog_reader *reader;
    struct err err;
    struct elog *log = elog_memory_open(world->stage.storage);

    told->world = world;
    if (elog_reader_open(log, &reader, &err) < 0 ||
        elog_read(reader, &range, tell_record, told, &err) < 0) {
        told->is_bad = true;
    }
    elog_reader_close(reader);
    elog_close(log);
    return told;
}

static bool fail(struct world *world, const char *what)
{
    if (!world->is_bad) {
        world->what = what;
        fprintf(stderr, "  %s\n", what);
    }
    world->is_bad = true;
    return false;
}

/* Acts. */

static void add_jobs(struct world *world)
{
    const struct command *answer = world->stage.answer;

    for (uint32_t i = 0; i < answer->submit.item_count; i++) {
        struct job_id job = answer->submit.items[i].ret_job;
        if (answer->result == COMMAND_OK && job_number(world, job) < 0) {
            world->jobs[world->job_count++] = job;
        }
    }
}

/* A group of an auxiliary pod and two workers, of which one or both must
 * run; or a TrainingJob of such. */
static void submit_group(struct world *world, struct tape *tape)
{
    static const enum gang_kind kinds[] = {GANG_POD_GROUP, GANG_POD_GROUP,
                                           GANG_TRAINING_TOLERANT};
    uint32_t minimum = (uint32_t)draw(tape, 1, 2);
    struct gang_terms terms = {
        .kind = kinds[draw(tape, 0, 2)],
        .has_exclusive_nodes = draw(tape, 0, 1),
        .replace_timeout_ms = (int64_t)draw(tape, 0, 4) * 1000,
        .sub_group_count = 2,
        .sub_groups = {{STR("ps"), 1, 1, HOPS_ANY, 0, true},
                       {STR("worker"), minimum, 2, HOPS_ANY, 0, false}},
    };
    struct stage_job jobs[PODS];
    uint32_t first = world->job_count;
    char gang[16];

    if (world->job_count + PODS > JOBS) {
        return;
    }
    /* One that was lost may be there: this is another. */
    snprintf(gang, sizeof(gang), "group%u", world->asked_count++);
    for (uint32_t i = 0; i < PODS; i++) {
        jobs[i] = (struct stage_job){
            .gang = gang,
            .gang_cardinality = PODS,
            .gang_minimum = minimum + 1,
            .terms = &terms,
            .sub_group = i > 0,
            .cpu_milli = (int64_t)draw(tape, 1, 10) * 1000,
            .is_requeue_preempted = true,
            .is_requeue_lost = draw(tape, 0, 1),
            .client_id = i == 0 && draw(tape, 0, 1) ? "z" : NULL,
        };
    }
    const char *queue = queues[draw(tape, 0, 1)];
    stage_do(&world->stage,
             draw(tape, 0, 1)
                 ? stage_submit_command(&world->stage, queue, jobs, PODS)
                 : stage_training_command(&world->stage, queue,
                                          trainings[draw(tape, 0, 1)], jobs,
                                          &terms));
    add_jobs(world);
    if (world->job_count == first + PODS) { /* else it was refused, or known */
        world->groups[world->group_count++] = (struct group){
            .first = first,
            .minimum = minimum,
            .replace_timeout_ms = terms.replace_timeout_ms,
            .is_tolerant = terms.kind == GANG_TRAINING_TOLERANT,
        };
    }
}

/* Delete a TrainingJob, or change its class. */
static void change_training(struct world *world, struct tape *tape)
{
    static const char *const classes[] = {"normal", "experiment", "production"};
    bool is_update = draw(tape, 0, 2) > 0;
    struct command *command = stage_training_about(
        is_update ? COMMAND_TRAINING_UPDATE : COMMAND_TRAINING_DELETE,
        queues[draw(tape, 0, 1)], trainings[draw(tape, 0, 1)]);

    command->training.priority_class = str_of(classes[draw(tape, 0, 2)]);
    stage_do(&world->stage, command);
}

static struct job_id any_job(struct world *world, struct tape *tape)
{
    struct job_id none = {{1, 1}};

    return world->job_count ? world->jobs[draw(tape, 0, world->job_count - 1)]
                            : none;
}

static void submit(struct world *world, struct tape *tape)
{
    static const char *const gangs[] = {NULL, NULL, NULL, "g", "h"};
    static const char *const applications[] = {NULL, "a", "b"};
    static const char *const clients[] = {NULL, "x", "y"};
    const char *queue = queues[draw(tape, 0, 1)];
    struct stage_job job = {
        .priority_class = draw(tape, 0, 2) ? NULL : "armada-default",
        .client_id = clients[draw(tape, 0, 2)],
        .gang = gangs[draw(tape, 0, 4)],
        .priority = (uint32_t)draw(tape, 0, 3),
        .cpu_milli = (int64_t)draw(tape, 1, 12) * 1000,
        .is_fail_fast = draw(tape, 0, 3) == 1,
        .is_requeue_preempted = draw(tape, 0, 1),
        .is_requeue_lost = draw(tape, 0, 1),
        .class_salt = (uint32_t)draw(tape, 0, 2),
        .application = applications[draw(tape, 0, 2)],
        .has_stateaware_off = draw(tape, 0, 3) == 3,
    };

    if (job.gang) {
        job.gang_cardinality = 2;
        job.gang_minimum = (uint32_t)draw(tape, 1, 2);
        job.client_id = NULL;
    }
    struct job_wait wait = {any_job(world, tape),
                            (enum job_want)draw(tape, 1, 3)};
    if (!job.gang && draw(tape, 0, 4) == 4) {
        job.wait = &wait; /* refused if that has ended, or is of a queue more */
    }
    if (world->job_count == JOBS) {
        return;
    }
    stage_do(&world->stage,
             stage_submit_command(&world->stage, queue, &job, 1));
    add_jobs(world);
}

static void post_event(struct world *world, const char *queue,
                       const struct event *event)
{
    stage_do(&world->stage, stage_event_command(queue, "set", "bob", event));
}

/* What an executor may say of a run at any time, in any order. */
static void report(struct world *world, struct tape *tape)
{
    static const enum event_type types[] = {
        EVENT_RUN_ASSIGNED, EVENT_RUN_RUNNING, EVENT_RUN_SUCCEEDED,
        EVENT_RUN_ERRORS,   EVENT_RUN_ERRORS,
    };
    struct event event = stage_event_make(types[draw(tape, 0, 4)]);
    auto_mem struct told *told = read_log(world);

    event.job = any_job(world, tape);
    event.created_ms = world->stage.wall_ms;
    if (told->leased_count == 0) {
        return;
    }
    int n = job_number(world, event.job);
    event.run = draw(tape, 0, 4)
                    ? told->run[n]
                    : told->leased[draw(tape, 0, told->leased_count - 1)];
    if (event.type == EVENT_RUN_ERRORS) {
        event.error.is_terminal = true;
        event.error.kind = draw(tape, 0, 2) ? ERROR_LEASE_RETURNED : ERROR_POD;
        event.error.is_run_attempted = draw(tape, 0, 1);
        event.error.message = STR("no luck");
    }
    /* Posted without a step, it shares a batch with what comes next. */
    bool is_posted_only = draw(tape, 0, 1);
    for (uint64_t times = draw(tape, 1, 2); times > 0; times--) {
        if (is_posted_only) {
            stage_post(&world->stage,
                       stage_event_command("q", "set", "", &event));
        } else {
            post_event(world, "q", &event);
        }
    }
}

static void command(struct world *world, struct tape *tape)
{
    static const enum event_type types[] = {
        EVENT_CANCEL,       EVENT_PREEMPT,          EVENT_REPRIORITISE,
        EVENT_CANCEL_SET,   EVENT_REPRIORITISE_SET, EVENT_SELECTION,
        EVENT_HOLD_CHANGED,
    };
    struct event event = stage_event_make(types[draw(tape, 0, 6)]);
    struct str queue = str_of(queues[draw(tape, 0, 1)]);

    event.job = any_job(world, tape);
    if (event.type == EVENT_REPRIORITISE ||
        event.type == EVENT_REPRIORITISE_SET) {
        event.reprioritise.priority = (uint32_t)draw(tape, 0, 3);
    } else if (event.type == EVENT_HOLD_CHANGED) {
        event.hold.set = (uint32_t)draw(tape, 0, 3); /* user, time */
        event.hold.cleared = (uint32_t)draw(tape, 0, 3);
        event.hold.begin_ms =
            world->stage.wall_ms + (int64_t)draw(tape, 0, 9) * 500;
        event.hold.user = STR("bob");
    } else if (event.type == EVENT_SELECTION) {
        event.selection.action =
            draw(tape, 0, 1) ? SELECTION_PREEMPT : SELECTION_CANCEL;
        event.selection.executor_id = str_of(executors[draw(tape, 0, 1)]);
        event.selection.queues = &queue;
        event.selection.queue_count = 1;
        event.selection.states = STATE_SET_ALL;
    } else {
        event.cancel.states = (enum state_set)draw(tape, 0, STATE_SET_ALL);
        event.cancel.reason = STR("why not");
    }
    post_event(world, queues[draw(tape, 0, 1)], &event);
}

static void set_queue(struct world *world, const char *name,
                      const char *ordering)
{
    stage_do(&world->stage, stage_ordered_queue_command(name, ordering));
}

static void delete_queue(struct world *world, const char *name)
{
    struct event event = stage_event_make(EVENT_QUEUE_DELETED);

    event.queue.record.name = str_of(name);
    post_event(world, "", &event);
}

static void cordon(struct world *world, const char *executor, bool is_cordoned)
{
    struct event event = stage_event_make(EVENT_EXECUTOR_SETTINGS);

    event.settings.name = str_of(executor);
    event.settings.is_cordoned = is_cordoned;
    event.settings.reason = STR("repairs");
    post_event(world, "", &event);
}

/* A maintenance window of a few seconds, about to come or open. */
static void set_window(struct world *world, struct tape *tape)
{
    static char names[][2] = {"a", "b"};
    struct event event = stage_event_make(EVENT_WINDOW_SET);
    Google__Protobuf__Timestamp begin = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Google__Protobuf__Timestamp end = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    Berth__Api__MaintenanceWindow window = BERTH__API__MAINTENANCE_WINDOW__INIT;
    char node[] = "n0";
    char *nodes[] = {node};
    auto_arena arena = {0};

    begin.seconds = world->stage.wall_ms / 1000 + pick(tape, 0, 8) - 2;
    end.seconds = begin.seconds + pick(tape, 1, 6);
    window.name = names[draw(tape, 0, 1)];
    window.begin = &begin;
    window.end = &end;
    window.lead_seconds = pick(tape, 0, 3);
    window.all_nodes = once_in(tape, 2);
    window.repeat_seconds = once_in(tape, 3) ? pick(tape, 7, 20) : 0;
    window.nodes = nodes;
    window.n_nodes = !window.all_nodes;
    event.window.encoded = wire_encode_arena(&window.base, &arena);
    post_event(world, "", &event);
}

/* A periodic job comes, goes, or answers for a moment; what does not answer for
 * the moment that it waits for is refused. */
static void change_periodic(struct world *world, struct tape *tape)
{
    static const char *const names[] = {"a", "b"};
    struct event event = stage_event_make(
        (enum event_type)draw(tape, EVENT_PERIODIC_SET, EVENT_PERIODIC_RUN));
    struct periodic_run *run = &event.periodic.run;

    event.periodic.name = str_of(names[draw(tape, 0, 1)]);
    event.periodic.next_ms = pick(tape, 0, 2) * 1000;
    if (event.type == EVENT_PERIODIC_SET) {
        event.periodic.encoded = STR("bytes");
        event.periodic.owner.name = STR("anna");
    } else if (event.type == EVENT_PERIODIC_RUN) {
        event.periodic.due_ms = pick(tape, 0, 2) * 1000;
        run->moment_ms = event.periodic.due_ms;
        run->outcome = (enum periodic_outcome)draw(tape, PERIODIC_SUBMITTED,
                                                   PERIODIC_REFUSED);
        run->text = STR("why");
        if (world->job_count > 0 && run->outcome == PERIODIC_SUBMITTED) {
            run->first = world->jobs[draw(tape, 0, world->job_count - 1)];
            run->job_count = 1;
        }
    }
    post_event(world, queues[draw(tape, 0, 1)], &event);
}

/* An executor says truly which runs it should have. */
static void exchange(struct world *world, const char *executor,
                     uint32_t node_count)
{
    auto_mem struct told *told = read_log(world);
    struct run_id runs[JOBS];
    uint32_t run_count = 0;

    for (uint32_t n = 0; n < world->job_count; n++) {
        if (job_state_has_run(told->state[n]) &&
            strcmp(told->executor_text[n], executor) == 0) {
            runs[run_count++] = told->run[n];
        }
    }
    stage_do(&world->stage,
             stage_exchange_command(executor, node_count, runs, run_count));
}

/* fold(log) is the live state. */
static void crash(struct world *world)
{
    auto_strbuf before = {0}, after = {0};

    if (control_state(world->stage.control) == CONTROL_STOPPED) {
        /* The log broke: what was in flight is there, or is not. */
        stage_crash(&world->stage);
        stage_start(&world->stage);
        control_assert_valid(world->stage.control);
        return;
    }
    control_assert_valid(world->stage.control);
    control_encode_state(world->stage.control, &before);
    /* The time stands still too: what is due since the last record would
     * happen with the first of the new leader. */
    int64_t wall_ms = world->stage.wall_ms;
    world->stage.wall_ms = 0;
    stage_crash(&world->stage);
    stage_start(&world->stage);
    world->stage.wall_ms += wall_ms;
    control_encode_state(world->stage.control, &after);
    control_assert_valid(world->stage.control);
    if (before.byte_count != after.byte_count ||
        memcmp(before.bytes, after.bytes, after.byte_count) != 0) {
        fail(world, "a replay gives another state");
    }
}

static void act(struct world *world, struct tape *tape)
{
    struct stage *stage = &world->stage;

    switch (draw(tape, 0, 17)) {
    case 0:
    case 1:
        submit(world, tape);
        break;
    case 2:
        submit_group(world, tape);
        break;
    case 3:
        stage_settle(stage);
        break;
    case 4:
    case 5:
        report(world, tape);
        break;
    case 6:
        command(world, tape);
        break;
    case 7:
        exchange(world, executors[draw(tape, 0, 1)],
                 (uint32_t)draw(tape, 0, NODES));
        break;
    case 8:
        cordon(world, executors[draw(tape, 0, 1)], draw(tape, 0, 1));
        break;
    case 9:
        stage_pass(stage, (int64_t)draw(tape, 1, 8) * 500);
        break;
    case 10:
        elog_memory_inject(stage->storage, (uint32_t)draw(tape, 1, 3),
                           (enum elog_memory_fault)draw(tape, ELOG_MEMORY_FULL,
                                                        ELOG_MEMORY_DROP_ACK));
        break;
    case 11:
        stage_step(stage);
        break;
    case 12:
        delete_queue(world, queues[draw(tape, 0, 1)]);
        break;
    case 13:
        set_queue(world, queues[draw(tape, 0, 1)], orderings[draw(tape, 0, 4)]);
        break;
    case 14:
        change_training(world, tape);
        break;
    case 15:
        set_window(world, tape);
        break;
    case 16:
        change_periodic(world, tape);
        break;
    default:
        /* A fault that is still to come would break the start. */
        elog_memory_inject(stage->storage, 0, ELOG_MEMORY_FULL);
        crash(world);
        break;
    }
}

/* Everything works from now on: all that can run runs, the rest is cancelled
 * in the end. */
static void live_happily(struct world *world, uint64_t ordering)
{
    struct control_metrics metrics;
    struct event cancel = stage_event_make(EVENT_CANCEL_SET);

    elog_memory_inject(world->stage.storage, 0, ELOG_MEMORY_FULL);
    cancel.cancel.states = STATE_SET_ALL;
    crash(world);
    for (int e = 0; e < EXECUTORS; e++) {
        set_queue(world, queues[e], orderings[ordering]);
        cordon(world, executors[e], false);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int e = 0; e < EXECUTORS; e++) {
            exchange(world, executors[e], NODES);
        }
        stage_settle(&world->stage);
        auto_mem struct told *told = read_log(world);
        for (uint32_t n = 0; n < world->job_count; n++) {
            struct event event = stage_event_make(EVENT_RUN_SUCCEEDED);
            event.job = world->jobs[n];
            event.run = told->run[n];
            if (job_state_has_run(told->state[n])) {
                post_event(world, "q", &event);
            }
        }
        if (round == JOBS) { /* what still waits waits for gang-mates */
            post_event(world, "q", &cancel);
            post_event(world, "r", &cancel);
        }
        stage_settle(&world->stage);
        control_metrics(world->stage.control, &metrics);
        if (metrics.job_count == 0) {
            return;
        }
    }
    fail(world, "a job never ends");
}

/* A profile; in that of flow little is allowed above a share, and what has
 * been used is forgotten within the history. */
static void choose_policy(struct policy *policy, struct tape *tape)
{
    struct pool_policy *pool = &policy->pools[0];

    pool_policy_apply(pool, (enum pool_profile)draw(tape, 0, PROFILE_FLOW));
    pool->reservation_delay_ms = draw(tape, 0, 1) * INT64_C(2000);
    if (pool->profile == PROFILE_FLOW) {
        int cpu = resource_column(&policy->schema, STR("cpu"));
        pool->cost_weights_ppm[cpu] = FRACTION_ONE_PPM;
        pool->half_time_ms = 4000;
        pool->excess_budget_minutes = 1;
        policy->classes[1].default_lifetime_ms = 60000;
    }
    policy->executor_timeout_ms = 3000;
    policy->executor_lost_timeout_ms = 5000;
}

static bool histories(struct tape *tape)
{
    struct world world = {0};

    stage_init(&world.stage);
    world.stage.checkpoint_events = draw(tape, 0, 1) ? 10 : 0;
    choose_policy(&world.stage.policy, tape);
    stage_start(&world.stage);
    for (int q = 0; q < 2; q++) {
        stage_queue(&world.stage, queues[q]);
    }
    for (int e = 0; e < EXECUTORS; e++) {
        stage_exchange(&world.stage, executors[e], NODES, NULL, 0);
    }
    for (uint64_t left = draw(tape, 0, ACTS); left > 0 && !world.is_bad;
         left--) {
        act(&world, tape);
    }
    if (!world.is_bad) {
        live_happily(&world, draw(tape, 0, 4));
        crash(&world);
    }
    auto_mem struct told *told = read_log(&world);
    if (told->is_bad) {
        fail(&world, "the log tells what cannot be");
        for (uint32_t n = 0; n < world.job_count; n++) {
            auto_mem char *history = stage_history(&world.stage, world.jobs[n]);
            fprintf(stderr, "    job %u: %s\n", n, history);
        }
    }
    for (uint32_t n = 0; n < world.job_count; n++) {
        if (!told->is_submitted[n]) {
            fail(&world, "what was acknowledged is lost");
        }
    }
    stage_fini(&world.stage);
    return !world.is_bad;
}

int main(void)
{
    return prop_check("histories", histories, 800, 0) ? 0 : 1;
}
