/* berth.api.Berth: periodic jobs.  Who may submit to a queue may make them and
 * updates its own; others' are changed by who may also cancel jobs there. */
#include "api/core/message.h"
#include "api/core/sequence.h"
#include "api/core/state.h"
#include "api/core/view.h"
#include "api/handlers.h"
#include "api/periodic/message.h"
#include "api/submit/submit.h"
#include "wire/kube/manifest.h"
#include "wire/message/message.h"

/* A change of one that is there, while the leader is asked for it. */
struct change {
    struct event event;
    struct str queue, name;
    bool is_suspension, is_suspended; /* else the event is what is done */
};

static void post_event(struct api_call *call, const struct event *event,
                       struct str queue, enum object_wish wish)
{
    const struct event_scope scope = {.queue = queue,
                                      .user = call->principal.name};
    struct sequence sequence = {0};

    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, event);
    struct command *command = sequence_command(&sequence, &scope);
    command->events.object_wish = wish;
    command->events.is_periodic = true;
    api_call_post(call, command, api_call_done_empty);
}

static struct event event_of(const struct api_call *call, enum event_type type,
                             struct str name)
{
    const struct clock *clock = call->api->ports.clock;
    struct event event = {.type = type, .created_ms = clock->wall_ms(clock)};

    event.periodic.name = name;
    return event;
}

static struct periodic_owner owner_of(const struct api_call *call)
{
    const struct principal *caller = &call->principal;

    return (struct periodic_owner){
        .name = caller->name,
        .groups = caller->groups,
        .group_count = caller->group_count,
        .is_administrator = caller->is_administrator,
        .is_anonymous = caller->is_anonymous,
    };
}

/* Who is anonymous is told from others by its groups. */
static bool is_owner(const struct api_call *call,
                     const struct periodic_owner *owner)
{
    const struct principal *caller = &call->principal;

    if (!str_equal(caller->name, owner->name) ||
        caller->is_anonymous != owner->is_anonymous) {
        return false;
    }
    if (!caller->is_anonymous) {
        return true;
    }
    for (uint32_t i = 0; i < owner->group_count; i++) {
        if (caller->group_count != owner->group_count ||
            !str_equal(caller->groups[i], owner->groups[i])) {
            return false;
        }
    }
    return owner->group_count == caller->group_count && owner->group_count > 1;
}

static void fail_invalid(struct api_call *call, const struct err *err)
{
    api_call_fail(call, RPC_INVALID_ARGUMENT, "invalid periodic job: %s",
                  err->text);
}

/* Its next moment; false: the call is over. */
static bool find_next(struct api_call *call,
                      const Berth__Api__PeriodicJob *message,
                      int64_t *ret_next_ms)
{
    const struct clock *clock = call->api->ports.clock;
    struct periodic_times times;
    struct err err;

    int rc = periodic_times_open(message, &call->api->zones_lock, &times, &err);
    if (rc < 0) {
        fail_invalid(call, &err);
    } else {
        *ret_next_ms =
            message->suspend
                ? 0
                : periodic_next_ms(&times.terms, clock->wall_ms(clock));
    }
    periodic_times_close(&times);
    return rc == 0;
}

/* Whether its jobs may be submitted by who calls; false: the call is over. */
static bool can_be_submitted(struct api_call *call,
                             const Berth__Api__PeriodicJob *message,
                             int64_t next_ms)
{
    struct command *command = submit_command_check(
        call, periodic_submission(message, next_ms, &call->arena));

    if (command && command->submit.item_count > PERIODIC_RUN_JOBS_MAX) {
        api_call_fail(call, RPC_INVALID_ARGUMENT,
                      "invalid periodic job: jobs: %u with all members of "
                      "groups, more than the %d allowed",
                      command->submit.item_count, PERIODIC_RUN_JOBS_MAX);
        command_destroy(command);
        return false;
    }
    command_destroy(command);
    return command != NULL;
}

/* The event that makes one of a request; false: the call is over. */
static bool read_object(struct api_call *call, struct str request,
                        struct str *ret_queue, struct event *ret_event)
{
    Berth__Api__PeriodicJob *message;
    int64_t next_ms = 0;
    struct err err;

    if (!api_call_decode(call, &berth__api__periodic_job__descriptor, request,
                         &message)) {
        return false;
    }
    if (!api_call_authorize_queue(call, str_of(message->queue))) {
        return false;
    }
    if (periodic_check(message, &call->arena, &err) < 0) {
        fail_invalid(call, &err);
        return false;
    }
    if (!find_next(call, message, &next_ms) ||
        !can_be_submitted(call, message, next_ms)) {
        return false;
    }
    *ret_queue = str_of(message->queue);
    *ret_event = event_of(call, EVENT_PERIODIC_SET, str_of(message->name));
    ret_event->periodic.encoded =
        wire_encode_arena(&message->base, &call->arena);
    ret_event->periodic.owner = owner_of(call);
    ret_event->periodic.next_ms = next_ms;
    return true;
}

void handle_create_periodic_job(struct api_call *call, struct str request)
{
    struct event event;
    struct str queue;

    if (read_object(call, request, &queue, &event)) {
        post_event(call, &event, queue, OBJECT_WISH_NEW);
    }
}

/* Changes of one that is there. */

/* Whether the caller may change what belongs to somebody; false: the call is
 * over. */
static bool may_change(struct api_call *call, const struct periodic_row *row)
{
    if (is_owner(call, &row->owner)) {
        return true;
    }
    if (call->method->verb == VERB_CANCEL) {
        return api_call_authorize_queue(call, row->queue);
    }
    const struct queue_entry *entry =
        queue_table_find(call->api->ports.queues, row->queue);
    bool is_allowed = auth_has_permission(&call->api->auth, &call->principal,
                                          PERMISSION_CANCEL_ANY_JOBS) ||
                      (entry && api_call_is_granted(call, entry, VERB_CANCEL));
    queue_entry_unref(entry);
    if (!is_allowed) {
        api_call_fail_denied(call,
                             "periodic job \"%.*s\" belongs to %.*s: to update "
                             "it needs the queue's verb cancel as well",
                             STR_ARG(row->name), STR_ARG(row->owner.name));
    }
    return is_allowed;
}

/* The same object, suspended or not; false: the call is over. */
static bool suspend_row(struct api_call *call, const struct periodic_row *row,
                        struct change *change)
{
    ProtobufCMessage *decoded;
    struct err err;

    if (wire_decode(&berth__api__periodic_job__descriptor, row->encoded,
                    &wire_request_limits, &call->arena, &decoded, &err) < 0) {
        fail_invalid(call, &err);
        return false;
    }
    Berth__Api__PeriodicJob *message = (void *)decoded;
    message->suspend = change->is_suspended;
    if (!find_next(call, message, &change->event.periodic.next_ms)) {
        return false;
    }
    change->event.periodic.encoded = wire_encode_arena(decoded, &call->arena);
    change->event.periodic.owner = row->owner;
    return true;
}

/* On the leader's thread. */
static void on_row(struct command *command, void *ctx)
{
    struct api_call *call = ctx;
    struct change *change = call->data;
    const struct periodic_row *row = command->periodic.rows;

    if (api_call_fail_command(call, command, "log")) {
        command_destroy(command);
        return;
    }
    if (command->periodic.row_count == 0) {
        if (api_call_authorize_queue(call, change->queue)) {
            api_call_fail(call, RPC_NOT_FOUND,
                          "could not find periodic job \"%.*s\" in queue "
                          "\"%.*s\"",
                          STR_ARG(change->name), STR_ARG(change->queue));
        }
    } else if (may_change(call, row) &&
               (!change->is_suspension || suspend_row(call, row, change))) {
        post_event(call, &change->event, change->queue, OBJECT_WISH_THERE);
    }
    command_destroy(command);
}

static void ask_for(struct api_call *call, struct change *change)
{
    struct command *command = command_create(COMMAND_QUERY_PERIODIC);

    command->scope.queue = arena_str(&command->arena, change->queue);
    command->periodic.name = arena_str(&command->arena, change->name);
    call->data = change;
    api_call_post(call, command, on_row);
}

/* A change of the one of that name; NULL: the call is over. */
static struct change *change_of(struct api_call *call, const char *queue,
                                const char *name)
{
    struct change *change = arena_alloc(&call->arena, sizeof(*change));

    if (!*queue || !*name) {
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s: must be given",
                      *queue ? "name" : "queue");
        return NULL;
    }
    *change = (struct change){.queue = str_of(queue), .name = str_of(name)};
    return change;
}

void handle_update_periodic_job(struct api_call *call, struct str request)
{
    struct change *change = arena_alloc(&call->arena, sizeof(*change));

    *change = (struct change){0};
    if (read_object(call, request, &change->queue, &change->event)) {
        change->name = change->event.periodic.name;
        ask_for(call, change);
    }
}

void handle_suspend_periodic_job(struct api_call *call, struct str request)
{
    Berth__Api__SuspendPeriodicJobRequest *message;

    if (!api_call_decode(call,
                         &berth__api__suspend_periodic_job_request__descriptor,
                         request, &message)) {
        return;
    }
    struct change *change = change_of(call, message->queue, message->name);
    if (change) {
        change->event = event_of(call, EVENT_PERIODIC_SET, change->name);
        change->is_suspension = true;
        change->is_suspended = message->suspend;
        ask_for(call, change);
    }
}

void handle_delete_periodic_job(struct api_call *call, struct str request)
{
    Berth__Api__DeletePeriodicJobRequest *message;

    if (!api_call_decode(call,
                         &berth__api__delete_periodic_job_request__descriptor,
                         request, &message)) {
        return;
    }
    struct change *change = change_of(call, message->queue, message->name);
    if (change) {
        change->event = event_of(call, EVENT_PERIODIC_DELETED, change->name);
        ask_for(call, change);
    }
}

/* Lists. */

static void put_last(const struct periodic_row *row, struct arena *arena,
                     Berth__Api__PeriodicJobStatus *status)
{
    const struct periodic_run *last = &row->last;
    char id[ID_TEXT_BYTES_MAX];

    if (last->outcome == PERIODIC_NONE) {
        return;
    }
    status->last_run = message_time(arena, last->moment_ms);
    status->last_outcome =
        message_copy(arena, str_of(periodic_outcome_name(last->outcome)));
    status->last_message = message_copy(arena, last->text);
    if (!key128_is_none(last->first.v)) {
        status->last_job_id =
            message_copy(arena, str_of(job_id_format(last->first, id)));
    }
}

/* What secrets say is told to nobody, as where a run's jobs are told of. */
static void withhold_secrets(const Api__JobSubmitRequestItem *job,
                             struct arena *arena)
{
    for (size_t i = 0; i < job->n_objects; i++) {
        ProtobufCBinaryData *raw = &job->objects[i]->raw;
        struct str told = manifest_withhold(
            str_make((const char *)raw->data, raw->len), arena);
        raw->data = (uint8_t *)(uintptr_t)told.p;
        raw->len = told.byte_count;
    }
}

static Berth__Api__PeriodicJobStatus *
status_message(const struct periodic_row *row, bool has_jobs,
               struct arena *arena)
{
    Berth__Api__PeriodicJobStatus *status =
        message_new(arena, &berth__api__periodic_job_status__descriptor);
    ProtobufCMessage *decoded;
    struct err err;

    if (wire_decode(&berth__api__periodic_job__descriptor, row->encoded,
                    &wire_request_limits, arena, &decoded, &err) == 0) {
        status->periodic_job = (void *)decoded;
        status->job_count = (uint32_t)status->periodic_job->n_jobs;
        if (!has_jobs) {
            status->periodic_job->n_jobs = 0;
        }
        for (size_t i = 0; i < status->periodic_job->n_jobs; i++) {
            withhold_secrets(status->periodic_job->jobs[i], arena);
        }
    }
    status->owner = message_copy(arena, row->owner.name);
    if (row->next_ms > 0) {
        status->next_run = message_time(arena, row->next_ms);
    }
    status->active_runs = row->run_count;
    put_last(row, arena, status);
    return status;
}

/* Whom a row may be shown to, as if it were a job. */
static enum view view_of_row(struct api_call *call,
                             const struct periodic_row *row)
{
    return view_of_job(call, row->queue,
                       row->owner.is_anonymous ? STR("") : row->owner.name);
}

static void on_rows(struct command *command, void *ctx)
{
    Berth__Api__ListPeriodicJobsResponse response =
        BERTH__API__LIST_PERIODIC_JOBS_RESPONSE__INIT;
    struct api_call *call = ctx;
    bool is_named = command->periodic.name.byte_count > 0;

    if (!api_call_fail_command(call, command, "log")) {
        response.periodic_jobs =
            arena_alloc_array(&command->arena, command->periodic.row_count,
                              sizeof(*response.periodic_jobs));
        for (uint32_t i = 0; i < command->periodic.row_count; i++) {
            const struct periodic_row *row = &command->periodic.rows[i];
            enum view view = view_of_row(call, row);
            if (view != VIEW_NOTHING) {
                response.periodic_jobs[response.n_periodic_jobs++] =
                    status_message(row, is_named && view == VIEW_ALL,
                                   &command->arena);
            }
        }
        api_call_reply(call, &response.base);
    }
    command_destroy(command);
}

void handle_list_periodic_jobs(struct api_call *call, struct str request)
{
    Berth__Api__ListPeriodicJobsRequest *message;

    if (!api_call_decode(call,
                         &berth__api__list_periodic_jobs_request__descriptor,
                         request, &message)) {
        return;
    }
    /* Of all queues those are shown that the caller may see. */
    if (*message->queue && !view_check_queue(call, str_of(message->queue))) {
        return;
    }
    struct command *command = command_create(COMMAND_QUERY_PERIODIC);
    command->scope.queue = arena_str(&command->arena, str_of(message->queue));
    command->periodic.name = arena_str(&command->arena, str_of(message->name));
    api_call_post(call, command, on_rows);
}
