#include "api/periodic/run.h"

#include "api/core/message.h"
#include "api/core/sequence.h"
#include "api/periodic/message.h"
#include "api/submit/submit.h"
#include "wire/log/log_codec.h"

/* Who waits for an answer. */
struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    struct command *answer;
};

static void on_answer(struct command *command, void *ctx)
{
    struct waiter *waiter = ctx;

    pthread_mutex_lock(&waiter->lock);
    waiter->answer = command;
    pthread_cond_signal(&waiter->answered);
    pthread_mutex_unlock(&waiter->lock);
}

struct command *periodic_ask(struct api *api, struct command *command)
{
    struct waiter waiter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                            NULL};

    command->done = on_answer;
    command->ctx = &waiter;
    if (inbox_post(api->ports.inbox, command) < 0) {
        command_destroy(command);
        return NULL;
    }
    /* Each command is answered, also when the leader stops. */
    pthread_mutex_lock(&waiter.lock);
    while (!waiter.answer) {
        pthread_cond_wait(&waiter.answered, &waiter.lock);
    }
    pthread_mutex_unlock(&waiter.lock);
    (void)pthread_cond_destroy(&waiter.answered);
    (void)pthread_mutex_destroy(&waiter.lock);
    return waiter.answer;
}

static struct event event_of(const struct api *api,
                             const struct periodic_row *row,
                             const struct periodic_step *step)
{
    const struct clock *clock = api->ports.clock;
    struct event event = {.type = EVENT_PERIODIC_RUN,
                          .created_ms = clock->wall_ms(clock)};

    event.periodic.name = row->name;
    event.periodic.due_ms = row->next_ms;
    event.periodic.next_ms = step->next_ms;
    event.periodic.run.moment_ms = step->moment_ms;
    event.periodic.run.outcome = step->outcome;
    event.periodic.run.text = str_of(step->text ? step->text : "");
    return event;
}

void periodic_pass(struct api *api, const struct periodic_row *row,
                   const struct periodic_step *step)
{
    const struct event event = event_of(api, row, step);
    const struct event_scope scope = {.queue = row->queue,
                                      .user = row->owner.name};
    struct sequence sequence = {0};

    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, &event);
    struct command *command = sequence_command(&sequence, &scope);
    command->events.is_periodic = true;
    /* What becomes of it is seen at the next step. */
    command_destroy(periodic_ask(api, command));
}

void periodic_cancel(struct api *api, const struct periodic_row *row,
                     const Berth__Api__PeriodicJob *message)
{
    const struct clock *clock = api->ports.clock;
    const struct event_scope scope = {.queue = row->queue,
                                      .job_set = str_of(message->job_set),
                                      .user = row->owner.name};
    struct event event = {.type = EVENT_CANCEL,
                          .created_ms = clock->wall_ms(clock)};
    struct sequence sequence = {0};

    event.cancel.reason =
        STR("a later run takes its place (concurrencyPolicy Replace)");
    sequence_begin(&sequence, &scope);
    for (uint32_t i = 0; i < row->run_count; i++) {
        for (uint32_t j = 0; j < row->runs[i].job_count; j++) {
            event.job = job_id_after(row->runs[i].first, j);
            sequence_add(&sequence, &event);
        }
    }
    command_destroy(periodic_ask(api, sequence_command(&sequence, &scope)));
}

/* The owner as it is now. */
static int recall_owner(struct api *api, const struct periodic_row *row,
                        struct arena *arena, struct principal *ret_owner,
                        struct err *err)
{
    const struct principal before = {
        .name = row->owner.name,
        .groups = row->owner.groups,
        .group_count = row->owner.group_count,
        .is_administrator = row->owner.is_administrator,
        .is_anonymous = row->owner.is_anonymous,
    };

    return auth_recall(&api->auth, &before, arena, ret_owner, err);
}

/* Say in the command of which run its jobs are. */
static void add_run(struct api *api, const struct periodic_row *row,
                    const struct periodic_step *step, struct command *command)
{
    struct event event = event_of(api, row, step);
    auto_strbuf encoded = {0};

    event.periodic.run.outcome = PERIODIC_SUBMITTED;
    event.periodic.run.first = command->submit.items[0].job;
    event.periodic.run.job_count = command->submit.item_count;
    log_encode_event(&encoded, &event);
    command->submit.periodic_name = arena_str(&command->arena, row->name);
    command->submit.periodic_due_ms = row->next_ms;
    command->submit.periodic_event =
        arena_str(&command->arena, strbuf_str(&encoded));
}

/* The command of the run; NULL with the reason. */
static struct command *make(struct api *api, const struct periodic_row *row,
                            const Berth__Api__PeriodicJob *message,
                            const struct periodic_step *step, struct err *err)
{
    auto_arena arena = {0};
    struct refusal refusal = {.item_number = 0};
    struct principal owner;

    if (recall_owner(api, row, &arena, &owner, err) < 0) {
        return NULL;
    }
    struct command *command = submit_command_as(
        api, &owner, periodic_submission(message, step->moment_ms, &arena),
        &arena, &refusal);
    if (!command) {
        (void)err_set(err, -ERR_INVALID, "%s", refusal.text);
        return NULL;
    }
    add_run(api, row, step, command);
    return command;
}

bool periodic_submit(struct api *api, const struct periodic_row *row,
                     const Berth__Api__PeriodicJob *message,
                     const struct periodic_step *step, struct err *err)
{
    struct spec_cache *specs = api->specs;
    struct command *command = make(api, row, message, step, err);
    bool is_refused = false;

    if (!command) {
        return false;
    }
    struct spec_hold *hold = spec_cache_hold(specs, command);
    if (!hold) {
        command_destroy(command);
        return true; /* the store is behind: at the next step */
    }
    struct command *answer = periodic_ask(api, command);
    if (!answer) {
        spec_cache_drop(specs, hold);
        return true;
    }
    if (answer->result == COMMAND_UNKNOWN_QUEUE) {
        is_refused = true;
        (void)err_set(err, -ERR_INVALID, "%.*s", STR_ARG(answer->result_text));
    }
    spec_cache_settle(specs, hold, answer);
    return !is_refused;
}
