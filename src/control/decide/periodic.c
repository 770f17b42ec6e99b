/* Which requests about periodic jobs are refused.  Several may come at once, so
 * the leader decides whether one exists, and each moment is answered once. */
#include <inttypes.h>
#include <stdio.h>

#include "control/decide/decide.h"
#include "control/decide/events.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

static int check_room(const struct control *c, const struct event_scope *scope,
                      const struct event *event,
                      const struct periodic_entry *old, struct err *err)
{
    const struct periodic_table *table = &c->periodic_table;
    struct str owner = event->periodic.owner.name;
    size_t byte_count = table->byte_count + event->periodic.encoded.byte_count -
                        (old ? old->encoded.byte_count : 0);

    if (byte_count > PERIODIC_ALL_BYTES_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "the limit of %d bytes of all periodic jobs is reached",
                       PERIODIC_ALL_BYTES_MAX);
    }
    if (!old && table->entries.count >= PERIODIC_JOBS_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "the limit of %d periodic jobs is reached",
                       PERIODIC_JOBS_MAX);
    }
    if (!old &&
        periodic_table_count(table, scope->queue) >= PERIODIC_OF_QUEUE_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "the limit of %d periodic jobs of a queue is reached",
                       PERIODIC_OF_QUEUE_MAX);
    }
    if ((!old || !str_equal(old->owner.name, owner)) &&
        periodic_table_owned(table, owner) >= PERIODIC_OF_OWNER_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "the limit of %d periodic jobs of a user is reached",
                       PERIODIC_OF_OWNER_MAX);
    }
    return 0;
}

/* Whether it is there that is to be new, or is not that is to be there. */
static bool is_wish_amiss(struct looking *l, const struct event_scope *scope,
                          struct str name, bool is_there)
{
    if (l->object_wish == OBJECT_WISH_NONE ||
        is_there == (l->object_wish == OBJECT_WISH_THERE)) {
        return false;
    }
    (void)err_set(&l->err, -ERR_INVALID,
                  is_there ? "periodic job \"%.*s\" exists already in queue "
                             "\"%.*s\""
                           : "could not find periodic job \"%.*s\" in queue "
                             "\"%.*s\"",
                  STR_ARG(name), STR_ARG(scope->queue));
    return events_refuse(l, is_there ? COMMAND_EXISTS : COMMAND_NOT_FOUND,
                         l->err.text);
}

/* Whether a periodic job waits for that moment. */
static bool is_due(const struct control *c, struct str queue, struct str name,
                   int64_t due_ms)
{
    const struct periodic_entry *entry =
        periodic_table_find(&c->periodic_table, queue, name);

    return entry && due_ms > 0 && entry->next_ms == due_ms;
}

static const char changed_text[] =
    "the periodic job was changed, or its moment is dealt with";

bool periodic_is_amiss(struct looking *l, const struct event_scope *scope,
                       const struct event *event)
{
    struct str name = event->periodic.name;
    const struct periodic_entry *entry =
        periodic_table_find(&l->c->periodic_table, scope->queue, name);

    if (event->type == EVENT_PERIODIC_RUN) {
        return is_due(l->c, scope->queue, name, event->periodic.due_ms)
                   ? false
                   : events_refuse(l, COMMAND_INVALID, changed_text);
    }
    if (is_wish_amiss(l, scope, name, entry != NULL)) {
        return true;
    }
    return event->type == EVENT_PERIODIC_SET &&
           check_room(l->c, scope, event, entry, &l->err) < 0 &&
           events_refuse(l, COMMAND_OVERLOADED, l->err.text);
}

bool periodic_refuses(struct control *c, struct command *command)
{
    if (is_due(c, command->scope.queue, command->submit.periodic_name,
               command->submit.periodic_due_ms)) {
        return false;
    }
    command_answer(command, COMMAND_INVALID, changed_text);
    return true;
}
