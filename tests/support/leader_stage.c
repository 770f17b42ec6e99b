#include "leader_stage.h"

#include <stdio.h>

#include "berth/api.pb-c.h"
#include "wire/message.h"

enum { SUBMIT_TAG_ID = 0x72, STEPS_MAX = 100000, NS_PER_MS = 1000000 };

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

struct stage *stage_begin(uint32_t node_count)
{
    struct stage *stage = mem_alloc(sizeof(*stage));

    stage_init(stage);
    stage_start(stage);
    stage_queue(stage, "q");
    stage_exchange(stage, "e", node_count, NULL, 0);
    return stage;
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

struct command *stage_event_command(const char *queue, const char *job_set,
                                    const char *user, const struct event *event)
{
    struct command *command = command_create(COMMAND_EVENTS);
    struct log_batch batch = {0};
    struct event_scope scope = {str_of(queue), str_of(job_set), str_of(user)};

    log_batch_add(&batch, &scope, event);
    struct str payload = log_batch_finish(&batch);
    /* Of a payload with one sequence: take its tag and length off. */
    size_t at = 1;
    while ((uint8_t)payload.p[at++] & 0x80) {
    }
    command->events.sequences =
        arena_alloc(&command->arena, sizeof(*command->events.sequences));
    command->events.sequence_count = 1;
    command->events.sequences[0].bytes = arena_str(
        &command->arena, str_make(payload.p + at, payload.byte_count - at));
    log_batch_fini(&batch);
    return command;
}

void stage_event(struct stage *stage, const char *queue, const char *job_set,
                 const char *user, const struct event *event)
{
    stage_do(stage, stage_event_command(queue, job_set, user, event));
    ASSERT(stage->answer->result == COMMAND_OK);
}

struct command *stage_queue_command(const char *name)
{
    return stage_ordered_queue_command(name, "");
}

struct command *stage_ordered_queue_command(const char *name,
                                            const char *ordering)
{
    struct event event = stage_event_make(EVENT_QUEUE_SET);
    auto_strbuf encoded = {0};

    /* api.Queue: 1 name, 2 priority_factor 1.0 */
    strbuf_add_char(&encoded, 0x0a);
    strbuf_add_char(&encoded, (char)strlen(name));
    strbuf_add_text(&encoded, name);
    strbuf_add(&encoded, "\x11\0\0\0\0\0\0\xf0\x3f", 9);
    if (*ordering) {
        /* 1000 scheduling: 1 ordering, 3 allow_stateaware_disable */
        strbuf_add(&encoded, "\xc2\x3e", 2);
        strbuf_add_char(&encoded, (char)(strlen(ordering) + 4));
        strbuf_add_char(&encoded, 0x0a);
        strbuf_add_char(&encoded, (char)strlen(ordering));
        strbuf_add_text(&encoded, ordering);
        strbuf_add(&encoded, "\x18\x01", 2);
    }
    event.queue.record.name = str_of(name);
    event.queue.encoded = strbuf_str(&encoded);
    return stage_event_command("", "", "root", &event);
}

void stage_queue(struct stage *stage, const char *name)
{
    stage_do(stage, stage_queue_command(name));
    ASSERT(stage->answer->result == COMMAND_OK);
}

static void pack_class(struct strbuf *key, const struct stage_job *job)
{
    struct resource_amount amounts[] = {
        {STR("cpu"), job->cpu_milli ? job->cpu_milli : 1000},
        {str_of(job->also ? job->also : ""), 1000},
    };
    char salt[16];
    struct toleration toleration = {.key = STR("salt")};
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = str_of(job->priority_class ? job->priority_class
                                                     : "armada-preemptible"),
        .requests = {amounts, job->also ? 2 : 1},
        .tolerations = &toleration,
        .toleration_count = job->class_salt > 0,
    };

    snprintf(salt, sizeof(salt), "%u", job->class_salt);
    toleration.value = str_of(salt);
    requirement_pack(key, &requirement);
}

static void pack_digest(struct strbuf *packed, const struct stage_job *job)
{
    auto_strbuf key = {0}, terms = {0};

    pack_class(&key, job);
    if (job->terms) {
        gang_terms_pack(&terms, job->terms);
    }
    struct job_digest digest = {
        .class_key = strbuf_str(&key),
        .client_id = str_of(job->client_id),
        .gang_id = str_of(job->gang),
        .gang_cardinality = job->gang_cardinality ? job->gang_cardinality : 1,
        .gang_minimum = job->gang_minimum       ? job->gang_minimum
                        : job->gang_cardinality ? job->gang_cardinality
                                                : 1,
        .gang_uniformity = str_of(job->gang_uniformity),
        .is_fail_fast = job->is_fail_fast,
        .on_preemption = job->is_requeue_preempted,
        .on_executor_lost = job->is_requeue_lost,
        .application_id = str_of(job->application),
        .pool = str_of(job->pool),
        .has_stateaware_off = job->has_stateaware_off,
        .gang_terms = strbuf_str(&terms),
        .sub_group = job->sub_group,
    };
    digest_pack(packed, &digest);
}

struct command *stage_submit_command(struct stage *stage, const char *queue,
                                     const struct stage_job *jobs,
                                     uint32_t count)
{
    struct command *command = command_create(COMMAND_SUBMIT);

    command->scope.queue = arena_str(&command->arena, str_of(queue));
    command->scope.job_set = STR("set");
    command->scope.user = STR("anna");
    command->submit.items =
        arena_alloc_array(&command->arena, count, sizeof(struct submit_item));
    command->submit.item_count = count;
    for (uint32_t i = 0; i < count; i++) {
        auto_strbuf submit_job = {0}, digest = {0}, event = {0};
        struct submit_item *item = &command->submit.items[i];
        uint8_t random[10] = {0};
        uint32_t number = ++stage->job_count;
        char id[ID_TEXT_BYTES_MAX];
        memcpy(random, &(uint32_t){__builtin_bswap32(number)}, 4);
        item->job = job_id_make(stage->wall_ms, random);
        strbuf_add_char(&submit_job, SUBMIT_TAG_ID);
        strbuf_add_char(&submit_job, JOB_ID_TEXT_BYTES);
        strbuf_add_text(&submit_job, job_id_format(item->job, id));
        if (jobs[i].priority) {
            strbuf_add_char(&submit_job, 0x18);
            pack_u64(&submit_job, jobs[i].priority);
        }
        pack_digest(&digest, &jobs[i]);
        log_put_submit(&event, stage->wall_ms, strbuf_str(&submit_job),
                       strbuf_str(&digest));
        item->event = arena_str(&command->arena, strbuf_str(&event));
        item->client_id = arena_str(&command->arena, str_of(jobs[i].client_id));
        item->is_further = i > 0 && jobs[i].terms;
    }
    return command;
}

static Berth__Api__TrainingComponent *
training_component(struct arena *arena, const struct sub_group *group,
                   const struct submit_item *items)
{
    Berth__Api__TrainingComponent *part =
        wire_new(&berth__api__training_component__descriptor, arena);
    char id[ID_TEXT_BYTES_MAX];

    part->type = arena_strdup(
        arena, str_of(group->is_auxiliary ? "PSERVER" : "TRAINER"));
    part->min = group->min_count;
    part->max = group->max_count;
    part->job_ids = arena_alloc_array(arena, part->max, sizeof(char *));
    for (uint32_t i = 0; i < part->max; i++) {
        part->job_ids[part->n_job_ids++] =
            arena_strdup(arena, str_of(job_id_format(items[i].job, id)));
    }
    return part;
}

struct command *stage_training_command(struct stage *stage, const char *queue,
                                       const char *name,
                                       const struct stage_job *jobs,
                                       const struct gang_terms *terms)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < terms->sub_group_count; i++) {
        count += terms->sub_groups[i].max_count;
    }
    struct command *command = stage_submit_command(stage, queue, jobs, count);
    const struct submit_item *items = command->submit.items;
    struct arena *arena = &command->arena;
    Berth__Api__TrainingJob object = BERTH__API__TRAINING_JOB__INIT;
    struct event event = stage_event_make(EVENT_TRAINING_JOB_SET);
    auto_strbuf encoded = {0};

    object.name = object.gang_id = arena_strdup(arena, str_of(name));
    object.fault_tolerant = terms->kind == GANG_TRAINING_TOLERANT;
    object.components =
        arena_alloc_array(arena, SUB_GROUPS_MAX, sizeof(*object.components));
    for (uint32_t i = 0; i < terms->sub_group_count; i++) {
        object.components[object.n_components++] =
            training_component(arena, &terms->sub_groups[i], items);
        items += terms->sub_groups[i].max_count;
    }
    event.created_ms = stage->wall_ms;
    event.training_job.name = str_of(object.name);
    event.training_job.gang_id = str_of(object.gang_id);
    event.training_job.encoded = wire_encode_arena(&object.base, arena);
    log_encode_event(&encoded, &event);
    command->submit.training_name = str_of(object.name);
    command->submit.training_event = arena_str(arena, strbuf_str(&encoded));
    return command;
}

struct command *stage_training_about(enum command_kind kind, const char *queue,
                                     const char *name)
{
    struct command *command = command_create(kind);

    command->scope.queue = arena_str(&command->arena, str_of(queue));
    command->scope.user = STR("anna");
    command->training.name = arena_str(&command->arena, str_of(name));
    command->training.count_max = 100;
    return command;
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

/* Executors. */

struct command *stage_exchange_command(const char *executor,
                                       uint32_t node_count,
                                       const struct run_id *runs,
                                       uint32_t run_count)
{
    struct command *command = command_create(COMMAND_EXCHANGE);
    struct exchange_request *request = &command->exchange.request;
    struct arena *arena = &command->arena;
    struct node_record *nodes =
        arena_alloc_array(arena, node_count, sizeof(*nodes));
    struct resource_amount *total = arena_alloc_array(arena, 2, sizeof(*total));

    total[0] = (struct resource_amount){STR("cpu"), 10000};
    total[1] = (struct resource_amount){STR("memory"), (int64_t)1 << 50};
    request->executor_id = arena_str(arena, str_of(executor));
    request->pool = STR("default");
    request->has_nodes = node_count > 0;
    request->is_full = true;
    request->nodes = nodes;
    request->node_count = node_count;
    for (uint32_t i = 0; i < node_count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%u", i);
        nodes[i] = (struct node_record){
            .name = arena_str(arena, str_of(name)),
            .pool = STR("default"),
            .total = {total, 2},
        };
    }
    struct run_id *copy = arena_alloc_array(arena, run_count, sizeof(*copy));
    if (run_count) {
        memcpy(copy, runs, run_count * sizeof(*copy));
    }
    request->runs = copy;
    request->run_count = run_count;
    request->lease_max = 100;
    return command;
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

/* Reading the log. */

struct reading {
    struct job_id job;
    enum event_type type;
    uint32_t count;
    struct strbuf text;
    struct run_id run;
};

static const char *type_text(enum event_type type)
{
    switch ((int)type) {
    case EVENT_SUBMIT:
        return "submit";
    case EVENT_REPRIORITISE:
        return "reprioritise";
    case EVENT_REPRIORITISED:
        return "reprioritised";
    case EVENT_CANCEL:
        return "cancel";
    case EVENT_CANCELLED:
        return "cancelled";
    case EVENT_PREEMPT:
        return "preempt";
    case EVENT_SUCCEEDED:
        return "succeeded";
    case EVENT_FAILED:
        return "failed";
    case EVENT_LEASED:
        return "leased";
    case EVENT_RUN_PREEMPTED:
        return "run-preempted";
    case EVENT_REQUEUED:
        return "requeued";
    case EVENT_RUN_CANCELLED:
        return "run-cancelled";
    case EVENT_RUN_ASSIGNED:
        return "assigned";
    case EVENT_RUN_RUNNING:
        return "running";
    case EVENT_RUN_SUCCEEDED:
        return "run-succeeded";
    case EVENT_RUN_ERRORS:
        return "run-errors";
    case EVENT_ADMITTED:
        return "admitted";
    case EVENT_DISMISSED:
        return "dismissed";
    default:
        return "other";
    }
}

static int read_item(const struct log_item *item, void *ctx)
{
    struct reading *r = ctx;
    const struct event *event = &item->event;

    r->count += event->type == r->type;
    if (key128_is_none(r->job.v) ||
        key128_compare(event->job.v, r->job.v) != 0) {
        return 0;
    }
    if (r->type == EVENT_NONE) {
        strbuf_addf(&r->text, "%s%s", r->text.byte_count ? " " : "",
                    type_text(event->type));
    } else if (event->type == EVENT_FAILED && r->type == EVENT_FAILED) {
        strbuf_clear(&r->text);
        strbuf_add_str(&r->text, event->error.message);
    } else if (event->type == EVENT_RUN_PREEMPTED && r->type == event->type) {
        strbuf_clear(&r->text);
        strbuf_add_str(&r->text, event->preempted.reason);
    }
    if (event->type == EVENT_LEASED) {
        r->run = event->run;
    }
    return 0;
}

static int read_record(void *ctx, const struct elog_record *record)
{
    auto_arena arena = {0};
    struct err err;

    return log_decode(record->payload, &arena, read_item, ctx, &err);
}

static struct reading read_log(struct stage *stage, struct job_id job,
                               enum event_type type)
{
    struct reading r = {.job = job, .type = type};
    struct elog_reader *reader;
    struct elog_bounds bounds;
    struct err err;
    struct elog *log = elog_memory_open(stage->storage);

    int rc = elog_reader_open(log, &reader, &err);
    ASSERT(rc == 0);
    rc = elog_bounds(reader, &bounds, &err);
    ASSERT(rc == 0);
    struct elog_range range = {.from_seq = bounds.first_seq};
    rc = elog_read(reader, &range, read_record, &r, &err);
    ASSERT(rc >= 0);
    elog_reader_close(reader);
    elog_close(log);
    return r;
}

char *stage_history(struct stage *stage, struct job_id job)
{
    struct reading r = read_log(stage, job, EVENT_NONE);

    return strbuf_steal(&r.text);
}

char *stage_failure(struct stage *stage, struct job_id job)
{
    struct reading r = read_log(stage, job, EVENT_FAILED);

    return strbuf_steal(&r.text);
}

char *stage_preemption(struct stage *stage, struct job_id job)
{
    struct reading r = read_log(stage, job, EVENT_RUN_PREEMPTED);

    return strbuf_steal(&r.text);
}

struct run_id stage_run(struct stage *stage, struct job_id job)
{
    struct reading r = read_log(stage, job, EVENT_LEASED);

    return r.run;
}

bool stage_is_made_again(struct stage *stage,
                         struct control_audit_counts *ret_counts)
{
    struct elog *log = elog_memory_open(stage->storage);
    struct elog_reader *reader = NULL;
    struct control_audit *audit = control_audit_create();
    struct control_difference difference = {0};
    struct err err;
    int rc = elog_reader_open(log, &reader, &err);

    rc = rc < 0 ? rc : control_audit_begin(audit, reader, &err);
    while (rc >= 0 && (rc = control_audit_read(audit, reader, 100, &difference,
                                               &err)) > 0) {
    }
    if (rc < 0) {
        fprintf(stderr, "  %s: expected %s, got %s\n", err.text,
                difference.expected, difference.got);
    }
    if (ret_counts) {
        *ret_counts = control_audit_counts(audit);
    }
    control_audit_destroy(audit);
    elog_reader_close(reader);
    elog_close(log);
    return rc == 0;
}

uint32_t stage_count(struct stage *stage, enum event_type type)
{
    struct job_id none = {{0, 0}};

    return read_log(stage, none, type).count;
}
