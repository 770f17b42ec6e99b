/* Moves waiting commands into a batch, in order, while there is room and their
 * answer does not depend on the rest of the batch. */
#include "control/answer/answers.h"
#include "control/checkpoint/checkpoint.h"
#include "control/decide/decide.h"
#include "control/exchange/exchange.h"
#include "control/leader/leader.h"
#include "control/round/rounds.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

_Static_assert(COMMAND_BYTES_MAX <= CONTROL_BATCH_BYTES_MAX / 2,
               "a command fits into a record beside others");

/* A command is for a later batch. */
static void put_back(struct control *c, struct command *command)
{
    if (c->waiting_last) {
        c->waiting_last->next = command;
    } else {
        c->waiting_first = command;
    }
    ASSERT(!command->next); /* each is put back by itself */
    c->waiting_last = command;
    c->waiting_byte_count += command->byte_count;
}

/* What changes pools waits until no plan is being made; none begins until
 * then. */
static void add_events(struct control *c, struct command *command)
{
    bool must_wait = false;

    if (batch_add_events(c, command, &must_wait)) {
        batch_keep(&c->batch, command);
    } else if (must_wait) {
        c->holds_plans = true;
        put_back(c, command);
    }
}

static void take_command(struct control *c, struct command *command)
{
    switch (command->kind) {
    case COMMAND_SUBMIT:
        batch_take_submit(c, command);
        break;
    case COMMAND_EVENTS:
        add_events(c, command);
        break;
    case COMMAND_EXCHANGE:
        if (exchange_take(c, command)) {
            batch_keep(&c->batch, command);
        }
        break;
    case COMMAND_SESSION_END:
        session_end(c, command);
        break;
    case COMMAND_TRAINING_UPDATE:
    case COMMAND_TRAINING_DELETE:
        c->batch.has_training = true;
        training_take(c, command);
        break;
    case COMMAND_WHAT_IF:
        what_if_take(c, command);
        break;
    case COMMAND_QUERY_REPORT:
    case COMMAND_QUERY_QUEUES:
    case COMMAND_QUERY_APPS:
    case COMMAND_QUERY_NODES:
    case COMMAND_QUERY_EXECUTORS:
    case COMMAND_QUERY_POOLS:
    case COMMAND_POOL_METRICS:
    case COMMAND_EXPLAIN:
    case COMMAND_QUERY_ADMISSIONS:
    case COMMAND_QUERY_TRAINING:
    case COMMAND_QUERY_GANGS:
    case COMMAND_QUERY_WINDOWS:
    case COMMAND_QUERY_PERIODIC:
        report_answer(c, command);
        break;
    }
}

/* Whether a command is about a TrainingJob, which one in this batch may be
 * about too. */
static bool is_about_training(const struct command *command)
{
    return command->kind == COMMAND_TRAINING_UPDATE ||
           command->kind == COMMAND_TRAINING_DELETE ||
           (command->kind == COMMAND_SUBMIT &&
            command->submit.training_name.byte_count > 0);
}

/* The same of periodic jobs. */
static bool is_about_periodic(const struct command *command)
{
    return (command->kind == COMMAND_EVENTS && command->events.is_periodic) ||
           (command->kind == COMMAND_SUBMIT &&
            command->submit.periodic_name.byte_count > 0);
}

/* Whether a command is for the batch after this one: for want of room, or
 * since what is in this one decides how it is to be answered. */
static bool belongs_to_next(struct control *c, const struct command *command)
{
    if ((command->kind == COMMAND_EXCHANGE && exchange_must_wait(c, command)) ||
        (command->kind == COMMAND_SUBMIT && c->batch.deletes_a_queue) ||
        (is_about_training(command) && c->batch.has_training) ||
        (is_about_periodic(command) && c->batch.has_periodic) ||
        (command->kind == COMMAND_EVENTS && command->events.object_wish &&
         (c->batch.changes_pools || c->batch.changes_windows)) ||
        rounds_must_wait(c, command)) {
        return true;
    }
    return log_batch_bytes(&c->batch.log) > CONTROL_BATCH_BYTES &&
           (command->kind == COMMAND_SUBMIT ||
            command->kind == COMMAND_EVENTS ||
            command->kind == COMMAND_EXCHANGE);
}

void batch_take_commands(struct control *c)
{
    struct command *command = c->waiting_first;

    c->waiting_first = c->waiting_last = NULL;
    c->waiting_byte_count = 0;
    while (command) {
        struct command *next = command->next;
        command->next = NULL;
        if (belongs_to_next(c, command)) {
            put_back(c, command);
        } else if (command->kind != COMMAND_EXCHANGE &&
                   command->byte_count > COMMAND_BYTES_MAX) {
            /* Of an exchange only what is news gets into the record. */
            command_answer(command, COMMAND_OVERLOADED,
                           "the request is larger than one record of the "
                           "log may be");
        } else {
            take_command(c, command);
        }
        command = next;
    }
    ASSERT(c->waiting_first || c->waiting_byte_count == 0);
}
