/* The table of TrainingJobs, as the log has it (model.md 4). */
#include "control/fold/training.h"

#include "berth/api.pb-c.h"
#include "control/state/state.h"
#include "job/table/named_groups.h"
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

static void on_set(struct control *c, const struct log_item *item)
{
    const struct event *event = &item->event;
    auto_arena arena = {0};
    struct named_group_record record = {
        .queue = item->scope.queue,
        .name = event->training_job.name,
        .gang_id = event->training_job.gang_id,
        .created_ms = event->created_ms,
    };
    Berth__Api__TrainingJob *message =
        training_message(event->training_job.encoded, &arena);

    if (!message) {
        return;
    }
    record.reason = str_of(message->reason);
    /* These would be most of what is kept, and are in the log. */
    message->resource.len = 0;
    for (size_t i = 0; i < message->n_components; i++) {
        message->components[i]->n_job_ids = 0;
    }
    record.encoded = wire_encode_arena(&message->base, &arena);
    named_group_set(c->jobs, &record);
}

/* As if each of its pods were cancelled by whoever deletes it. */
static void cancel_pods(struct control *c, uint32_t index, struct str user)
{
    auto_arena arena = {0};
    struct job_id *pods;
    uint32_t count = named_group_members(c->jobs, index, &arena, &pods);

    for (uint32_t i = 0; i < count; i++) {
        struct jobs_change change;
        struct job_view view;
        struct event event;
        jobs_get(c->jobs, jobs_find(c->jobs, pods[i]), &view);
        struct event_scope scope = {view.queue, view.job_set, user};
        memset(&event, 0, sizeof(event));
        event.type = EVENT_CANCEL;
        event.job = pods[i];
        event.cancel.reason = STR("its TrainingJob was deleted");
        (void)jobs_apply(c->jobs, &scope, &event, &change);
    }
}

static void on_deleted(struct control *c, const struct log_item *item)
{
    struct str name = item->event.training_job.name;
    uint32_t index = named_group_find(c->jobs, item->scope.queue, name);

    if (index != JOBS_NONE) {
        cancel_pods(c, index, item->scope.user);
        named_group_delete(c->jobs, item->scope.queue, name);
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
