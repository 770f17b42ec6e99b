/* TrainingJobs: the table of them as the log has it, and what is asked about
 * them (model.md 4). */
#include "control/fold/training.h"

#include <stdio.h>

#include "berth/api.pb-c.h"
#include "control/answer/answers.h"
#include "control/decide/batch.h"
#include "control/state/state.h"
#include "wire/message/message.h"

/* What stands in the log was within bounds when it was made. */
static const struct wire_limits record_limits = {
    .byte_count_max = ELOG_PAYLOAD_BYTES_MAX,
    .field_count_max = 8 << 20,
    .memory_bytes_max = (size_t)1 << 30,
    .depth_max = WIRE_DEPTH_MAX,
};

Berth__Api__TrainingJob *training_message(struct str encoded,
                                          struct arena *arena)
{
    ProtobufCMessage *message;
    struct err err;

    if (wire_decode(&berth__api__training_job__descriptor, encoded,
                    &record_limits, arena, &message, &err) < 0) {
        return NULL; /* a foreign log */
    }
    return (Berth__Api__TrainingJob *)message;
}

/* The fold. */

/* The parts and pods of a record; false when they are none. */
static bool read_parts(const Berth__Api__TrainingJob *message,
                       struct training_record *record, struct arena *arena)
{
    struct job_id *members;
    size_t count = 0;

    if (message->n_components > TRAINING_PARTS_MAX) {
        return false;
    }
    for (size_t i = 0; i < message->n_components; i++) {
        count += message->components[i]->n_job_ids;
    }
    members = arena_alloc_array(arena, count + 1, sizeof(*members));
    record->members = members;
    for (size_t i = 0; i < message->n_components; i++) {
        const Berth__Api__TrainingComponent *from = message->components[i];
        record->parts[record->part_count++] = (struct training_part){
            .type = str_of(from->type),
            .min_count = from->min,
            .max_count = from->max,
            .is_trainer = strcmp(from->type, "TRAINER") == 0,
        };
        if (from->n_job_ids != 0 && from->n_job_ids != from->max) {
            return false;
        }
        for (size_t k = 0; k < from->n_job_ids; k++) {
            if (job_id_parse(str_of(from->job_ids[k]),
                             &members[record->member_count++]) < 0) {
                return false;
            }
        }
    }
    return record->member_count <= TRAINING_MEMBERS_MAX;
}

static void on_set(struct control *c, const struct log_item *item)
{
    const struct event *event = &item->event;
    auto_arena arena = {0};
    struct training_record record = {
        .queue = item->scope.queue,
        .name = event->training_job.name,
        .gang_id = event->training_job.gang_id,
        .created_ms = event->created_ms,
    };
    Berth__Api__TrainingJob *message =
        training_message(event->training_job.encoded, &arena);

    if (!message || !read_parts(message, &record, &arena)) {
        return;
    }
    record.reason = str_of(message->reason);
    record.is_fault_tolerant = message->fault_tolerant;
    /* These would be most of what is kept, and are in the log. */
    message->resource.len = 0;
    for (size_t i = 0; i < message->n_components; i++) {
        message->components[i]->n_job_ids = 0;
    }
    record.encoded = wire_encode_arena(&message->base, &arena);
    training_set(c->training, &record);
}

/* As if each of its pods were cancelled by whoever deletes it. */
static void cancel_pods(struct control *c, uint32_t index, struct str user)
{
    struct job_id job = {{0, 0}};

    while (training_next_live(c->training, index, job, &job)) {
        struct jobs_change change;
        struct job_view view;
        struct event event;
        uint32_t at = jobs_find(c->jobs, job);
        if (at == JOBS_NONE) {
            continue;
        }
        jobs_get(c->jobs, at, &view);
        struct event_scope scope = {view.queue, view.job_set, user};
        memset(&event, 0, sizeof(event));
        event.type = EVENT_CANCEL;
        event.job = job;
        event.cancel.reason = STR("its TrainingJob was deleted");
        (void)jobs_apply(c->jobs, &scope, &event, &change);
    }
}

static void on_deleted(struct control *c, const struct log_item *item)
{
    struct str name = item->event.training_job.name;
    uint32_t index = training_find(c->training, item->scope.queue, name);

    if (index != TRAINING_NONE) {
        cancel_pods(c, index, item->scope.user);
        training_delete(c->training, item->scope.queue, name);
    }
}

void training_fold(struct control *c, const struct log_item *item)
{
    if (item->event.type == EVENT_TRAINING_JOB_SET) {
        on_set(c, item);
    } else {
        on_deleted(c, item);
    }
}

/* Commands. */

bool training_refuses(struct control *c, struct command *command)
{
    char text[ERR_TEXT_BYTES_MAX];
    struct str name = command->submit.training_name;

    if (training_find(c->training, command->scope.queue, name) !=
        TRAINING_NONE) {
        (void)snprintf(text, sizeof(text),
                       "there is a TrainingJob \"%.*s\" in queue \"%.*s\" "
                       "already; delete it first",
                       STR_ARG(name), STR_ARG(command->scope.queue));
        command_answer(command, COMMAND_EXISTS, text);
        return true;
    }
    if (!training_has_room(c->training,
                           command->submit.training_event.byte_count)) {
        command_answer(command, COMMAND_OVERLOADED,
                       "there are as many TrainingJobs as this server can "
                       "hold");
        return true;
    }
    return false;
}

static void add_event(struct control *c, const struct event_scope *scope,
                      const struct event *event)
{
    log_batch_add(&c->batch.log, scope, event);
}

/* A pod asks for its requirement with another class; one that has it, or
 * whose requirement cannot be read, is passed over. */
static void add_reclassified(struct control *c, struct job_id job,
                             struct str priority_class)
{
    auto_arena arena = {0};
    auto_strbuf packed = {0};
    struct requirement requirement;
    struct job_view view;
    struct event event;
    uint32_t at = jobs_find(c->jobs, job);

    if (at == JOBS_NONE) {
        return;
    }
    jobs_get(c->jobs, at, &view);
    if (requirement_unpack(view.class_key, &arena, &requirement) < 0 ||
        str_equal(requirement.priority_class, priority_class)) {
        return;
    }
    requirement.priority_class = priority_class;
    requirement_pack(&packed, &requirement);
    struct event_scope scope = {view.queue, view.job_set, {0}};
    memset(&event, 0, sizeof(event));
    event.type = EVENT_RECLASSIFIED;
    event.created_ms = c->batch.time_ms;
    event.job = job;
    event.reclassified.class_key = strbuf_str(&packed);
    add_event(c, &scope, &event);
}

/* Whether the change of its class fits in a record, with room for others. */
static bool fits_in_record(struct control *c, uint32_t index)
{
    enum { EVENT_BYTES = 64 }; /* beside the class */
    struct job_id job = {{0, 0}};
    size_t byte_count = 0;

    while (training_next_live(c->training, index, job, &job)) {
        uint32_t at = jobs_find(c->jobs, job);
        if (at != JOBS_NONE) {
            struct job_view view;
            jobs_get(c->jobs, at, &view);
            byte_count += view.class_key.byte_count + EVENT_BYTES;
        }
    }
    return byte_count <= CONTROL_BATCH_BYTES_MAX / 2;
}

static void add_update(struct control *c, const struct command *command,
                       uint32_t index)
{
    struct str priority_class = command->training.priority_class;
    auto_arena arena = {0};
    struct training_view view;
    struct job_id job = {{0, 0}};
    struct event event;

    training_get(c->training, index, &view);
    Berth__Api__TrainingJob *message = training_message(view.encoded, &arena);
    ASSERT(message); /* it was when it came into the table */
    message->priority_class_name =
        arena_strdup(&arena, command->training.priority_class);
    memset(&event, 0, sizeof(event));
    event.type = EVENT_TRAINING_JOB_SET;
    event.created_ms = c->batch.time_ms;
    event.training_job.name = view.name;
    event.training_job.gang_id = str_of(message->gang_id);
    event.training_job.encoded = wire_encode_arena(&message->base, &arena);
    add_event(c, &command->scope, &event);
    while (training_next_live(c->training, index, job, &job)) {
        add_reclassified(c, job, priority_class);
    }
}

static void add_deletion(struct control *c, const struct command *command)
{
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = EVENT_TRAINING_JOB_DELETED;
    event.created_ms = c->batch.time_ms;
    event.training_job.name = command->training.name;
    add_event(c, &command->scope, &event);
}

void training_take(struct control *c, struct command *command)
{
    char text[ERR_TEXT_BYTES_MAX];
    struct training_view view;
    uint32_t index = training_find(c->training, command->scope.queue,
                                   command->training.name);

    if (index == TRAINING_NONE) {
        (void)snprintf(text, sizeof(text),
                       "there is no TrainingJob \"%.*s\" in queue \"%.*s\"",
                       STR_ARG(command->training.name),
                       STR_ARG(command->scope.queue));
        command_answer(command, COMMAND_NOT_FOUND, text);
        return;
    }
    if (command->kind == COMMAND_TRAINING_DELETE) {
        add_deletion(c, command);
        batch_keep(&c->batch, command);
        return;
    }
    training_get(c->training, index, &view);
    if (view.phase >= TRAINING_SUCCEEDED) {
        command_answer(command, COMMAND_INVALID,
                       "the TrainingJob has ended: its class can no longer "
                       "change");
        return;
    }
    if (!fits_in_record(c, index)) {
        command_answer(command, COMMAND_OVERLOADED,
                       "the request is larger than one record of the log may "
                       "be");
        return;
    }
    add_update(c, command, index);
    batch_keep(&c->batch, command);
}

/* Questions. */

static void fill_row(const struct training_view *view, struct arena *arena,
                     struct training_row *ret_row)
{
    *ret_row = (struct training_row){
        .encoded = arena_str(arena, view->encoded),
        .phase = training_phase_name(view->phase),
        .reason = arena_str(arena, view->reason),
        .created_ms = view->created_ms,
        .started_ms = view->started_ms,
        .completed_ms = view->completed_ms,
        .part_count = view->part_count,
    };
    for (uint32_t i = 0; i < view->part_count; i++) {
        ret_row->parts[i].type = arena_str(arena, view->parts[i].type);
        ret_row->parts[i].min_count = view->parts[i].min_count;
        memcpy(ret_row->parts[i].counts, view->parts[i].counts,
               sizeof(ret_row->parts[i].counts));
    }
}

void training_answer(struct control *c, struct command *command)
{
    struct training_query query = {
        .queue = command->scope.queue,
        .name = command->training.name,
        .after_queue = command->training.after_queue,
        .after_name = command->training.after_name,
        .count_max = command->training.count_max,
    };
    auto_mem uint32_t *indexes =
        mem_alloc_array(query.count_max, sizeof(*indexes));
    uint32_t count = training_page(c->training, &query, indexes,
                                   &command->training.has_more);

    _Static_assert(TRAINING_ROW_PARTS_MAX == (int)TRAINING_PARTS_MAX &&
                       TRAINING_POD_KINDS == (int)TRAINING_POD_STATES,
                   "the rows that are answered are those of the table");
    command->training.rows = arena_alloc_array(
        &command->arena, (size_t)count + 1, sizeof(struct training_row));
    for (uint32_t i = 0; i < count; i++) {
        struct training_view view;
        training_get(c->training, indexes[i], &view);
        fill_row(&view, &command->arena,
                 &command->training.rows[command->training.row_count++]);
    }
    command_answer(command, COMMAND_OK, "");
}
