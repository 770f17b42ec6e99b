/* Commands as the API makes them: what a stage is told to do. */
#include <stdio.h>

#include "berth/api.pb-c.h"
#include "leader_stage.h"
#include "wire/message/message.h"

enum { SUBMIT_TAG_ID = 0x72 };

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

static void pack_class(struct strbuf *key, const struct stage_job *job)
{
    struct resource_amount amounts[] = {
        {STR("cpu"), job->cpu_milli ? job->cpu_milli : 1000},
        {str_of(job->also ? job->also : ""), 1000},
    };
    char salt[16];
    struct toleration toleration = {.key = STR("salt")};
    struct host_port port = {.protocol = HOST_TCP, .port = job->host_port};
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = str_of(job->priority_class ? job->priority_class
                                                     : "armada-preemptible"),
        .requests = {amounts, job->also ? 2 : 1},
        .tolerations = &toleration,
        .toleration_count = job->class_salt > 0,
        .ports = &port,
        .port_count = job->host_port > 0,
    };

    snprintf(salt, sizeof(salt), "%u", job->class_salt);
    toleration.value = str_of(salt);
    requirement.deadline_ms = job->deadline_ms;
    requirement_pack(key, &requirement);
}

static void pack_digest(struct strbuf *packed, const struct stage_job *job)
{
    auto_strbuf key = {0}, terms = {0}, waits = {0};

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
        .turn_group = str_of(job->turn_group),
        .turn_limit = job->turn_limit,
    };
    if (job->wait) {
        job_waits_pack(&waits, job->wait, 1);
        digest.waits = strbuf_str(&waits);
    }
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
        if (jobs[i].wait) {
            struct submit_wait *wait =
                arena_alloc(&command->arena, sizeof(*wait));
            *wait =
                (struct submit_wait){jobs[i].wait->on, jobs[i].is_wait_known};
            item->waits = wait;
            item->wait_count = 1;
        }
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

    object.name = arena_strdup(arena, str_of(name));
    object.gang_id = arena_strdup(arena, str_of(jobs[0].gang));
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
