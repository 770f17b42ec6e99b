/* TrainingJobs: the table of them as the log has it (model.md 4). */
#include "control/fold/training.h"

#include "berth/api.pb-c.h"
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
