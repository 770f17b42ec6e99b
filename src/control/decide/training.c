/* Handles users' changes of TrainingJobs (model.md 4). */
#include "control/fold/training.h"

#include <stdio.h>

#include "control/decide/decide.h"
#include "control/state/inbox.h"
#include "control/state/state.h"
#include "job/table/named_groups.h"
#include "wire/message/message.h"

bool training_refuses(struct control *c, struct command *command)
{
    char text[ERR_TEXT_BYTES_MAX];
    struct str name = command->submit.training_name;

    if (named_group_find(c->jobs, command->scope.queue, name) != JOBS_NONE) {
        (void)snprintf(text, sizeof(text),
                       "there is a TrainingJob \"%.*s\" in queue \"%.*s\" "
                       "already; delete it first",
                       STR_ARG(name), STR_ARG(command->scope.queue));
        command_answer(command, COMMAND_EXISTS, text);
        return true;
    }
    if (!named_groups_have_room(c->jobs,
                                command->submit.training_event.byte_count)) {
        command_answer(command, COMMAND_OVERLOADED,
                       "the limit on the number or size of TrainingJobs is "
                       "reached; delete some that have ended");
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

    jobs_get(c->jobs, jobs_find(c->jobs, job), &view);
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
    auto_arena arena = {0};
    struct job_id *pods;
    uint32_t count = named_group_members(c->jobs, index, &arena, &pods);
    size_t byte_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct job_view view;
        jobs_get(c->jobs, jobs_find(c->jobs, pods[i]), &view);
        byte_count += view.class_key.byte_count + EVENT_BYTES;
    }
    return byte_count <= CONTROL_BATCH_BYTES_MAX / 2;
}

static void add_update(struct control *c, const struct command *command,
                       uint32_t index)
{
    struct str priority_class = command->training.priority_class;
    auto_arena arena = {0};
    struct named_group_view view;
    struct job_id *pods;
    struct event event;

    named_group_get(c->jobs, index, &view);
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
    uint32_t count = named_group_members(c->jobs, index, &arena, &pods);
    for (uint32_t i = 0; i < count; i++) {
        add_reclassified(c, pods[i], priority_class);
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
    struct named_group_view view;
    uint32_t index =
        named_group_find(c->jobs, command->scope.queue, command->training.name);

    if (index == JOBS_NONE) {
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
    named_group_get(c->jobs, index, &view);
    if (view.phase >= PHASE_SUCCEEDED) {
        command_answer(
            command, COMMAND_INVALID,
            "the TrainingJob has ended: its priority class cannot change");
        return;
    }
    if (!fits_in_record(c, index)) {
        command_answer(command, COMMAND_OVERLOADED,
                       "the request is larger than one record of the log may "
                       "be");
        return;
    }
    add_update(c, command, index);
    ASSERT(!c->batch.log.buf.is_over); /* there was room for its pods */
    batch_keep(&c->batch, command);
}
