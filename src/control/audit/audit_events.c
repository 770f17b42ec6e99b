/* Compares the events of a record with the repeated ones. */
#include <stdio.h>

#include "control/audit/audit_private.h"

static void list_clear(struct audit_list *list)
{
    list->events.count = 0;
    arena_reset(&list->arena);
}

void audit_list_fini(struct audit_list *list)
{
    VEC_FREE(&list->events);
    arena_fini(&list->arena);
}

enum role {
    ROLE_SAID,    /* by others; or time that passed */
    ROLE_DECIDED, /* by the leader */
    ROLE_EITHER,
};

static enum role role_of(enum event_type type)
{
    switch ((int)type) {
    case EVENT_REPRIORITISED:
    case EVENT_CANCELLED:
    case EVENT_SUCCEEDED:
    case EVENT_FAILED:
    case EVENT_LEASED:
    case EVENT_REQUEUED:
    case EVENT_ADMITTED:
    case EVENT_DISMISSED:
    case EVENT_ROUND_DONE:
    case EVENT_ROUND_BEGUN:
    case EVENT_ROUND_BACK:
    case EVENT_ROUND_DROPPED:
        return ROLE_DECIDED;
    case EVENT_CANCEL: /* decided: a job of a set that is cancelled */
    case EVENT_RUN_ERRORS:
    case EVENT_RUN_PREEMPTED:
    case EVENT_RUN_CANCELLED:
    case EVENT_NODE_HEALTH:
    case EVENT_HOLD_CHANGED: /* decided: its time has come */
        return ROLE_EITHER;
    default:
        return ROLE_SAID;
    }
}

static const char *name_of(enum event_type type)
{
    switch ((int)type) {
    case EVENT_CANCEL:
        return "cancel";
    case EVENT_REPRIORITISED:
        return "reprioritised";
    case EVENT_CANCELLED:
        return "cancelled";
    case EVENT_SUCCEEDED:
        return "succeeded";
    case EVENT_FAILED:
        return "failed";
    case EVENT_LEASED:
        return "leased";
    case EVENT_REQUEUED:
        return "requeued";
    case EVENT_ADMITTED:
        return "admitted";
    case EVENT_DISMISSED:
        return "dismissed";
    case EVENT_ROUND_DONE:
        return "round done";
    case EVENT_ROUND_BEGUN:
        return "round begun";
    case EVENT_ROUND_BACK:
        return "round back";
    case EVENT_ROUND_DROPPED:
        return "round dropped";
    case EVENT_RUN_ERRORS:
        return "run errors";
    case EVENT_RUN_PREEMPTED:
        return "run preempted";
    case EVENT_RUN_CANCELLED:
        return "run cancelled";
    case EVENT_NODE_HEALTH:
        return "node health";
    case EVENT_HOLD_CHANGED:
        return "hold changed";
    default:
        return "event";
    }
}

/* Say what an event is, for people. */
static void describe(const struct audit_event *of, char text[512])
{
    char id[ID_TEXT_BYTES_MAX];
    size_t at = 0;

    if (!of) {
        snprintf(text, 512, "nothing");
        return;
    }
    const struct event *event = &of->event;
    at += (size_t)snprintf(text, 512, "%s (type %d)", name_of(event->type),
                           (int)event->type);
    if (!key128_is_none(event->job.v)) {
        at += (size_t)snprintf(text + at, 512 - at, " job %s",
                               job_id_format(event->job, id));
    }
    if (event->type == EVENT_LEASED) {
        snprintf(text + at, 512 - at, " to %.*s/%.*s priority %d attempt %u",
                 (int)(event->leased.executor_id.byte_count % 128),
                 event->leased.executor_id.p,
                 (int)(event->leased.node_name.byte_count % 128),
                 event->leased.node_name.p, event->leased.priority,
                 event->leased.attempt);
    } else if (event->type == EVENT_FAILED) {
        snprintf(text + at, 512 - at, ": %.*s",
                 (int)(event->error.message.byte_count % 256),
                 event->error.message.p ? event->error.message.p : "");
    }
}

static int take_item(const struct log_item *item, void *ctx)
{
    struct audit_list *list = ctx;

    VEC_PUSH(&list->events, (struct audit_event){
                                .scope = item->scope,
                                .event = item->event,
                                .encoded = item->encoded,
                            });
    return 0;
}

int audit_list_read(struct audit_list *list, struct str payload,
                    struct err *err)
{
    list_clear(list);
    return log_decode(payload, &list->arena, take_item, list, err);
}

bool audit_is_same(const struct audit_event *a, const struct audit_event *b)
{
    return str_equal(a->scope.queue, b->scope.queue) &&
           str_equal(a->scope.job_set, b->scope.job_set) &&
           str_equal(a->scope.user, b->scope.user) &&
           str_equal(a->encoded, b->encoded);
}

void audit_bound(const struct audit_list *record, size_t from,
                 size_t *ret_least, size_t *ret_most)
{
    size_t count = record->events.count;

    *ret_least = from;
    *ret_most = count;
    for (size_t i = from; i < count; i++) {
        enum role role = role_of(record->events.items[i].event.type);
        if (role == ROLE_SAID) {
            *ret_least = i + 1;
        } else if (role == ROLE_DECIDED && *ret_most == count) {
            *ret_most = i;
        }
    }
}

const struct audit_event *audit_event_at(const struct audit_list *list,
                                         size_t at)
{
    return at < list->events.count ? &list->events.items[at] : NULL;
}

bool audit_differ(struct control_audit *audit, size_t at,
                  const struct audit_event *expected)
{
    const struct audit_event *got = audit_event_at(&audit->record, at);

    audit->difference->index = (uint32_t)at;
    describe(expected, audit->difference->expected);
    describe(got, audit->difference->got);
    if (expected && got && expected->event.type == got->event.type) {
        size_t length = strlen(audit->difference->got);
        snprintf(audit->difference->got + length,
                 sizeof(audit->difference->got) - length, ", with other bytes");
    }
    return false;
}

bool audit_compare(struct control_audit *audit, size_t *at)
{
    struct log_batch *log = &audit->control->batch.log;
    struct audit_list *made = &audit->answers;
    bool is_equal = true;

    int rc = audit_list_read(made, log_batch_finish(log), audit->err);
    ASSERT(rc == 0); /* we encoded it */
    for (size_t i = 0; i < made->events.count && is_equal; i++) {
        const struct audit_event *got = audit_event_at(&audit->record, *at);
        is_equal = got && audit_is_same(&made->events.items[i], got);
        if (!is_equal) {
            audit_differ(audit, *at, &made->events.items[i]);
        }
        *at += is_equal;
    }
    log_batch_clear(log);
    return is_equal;
}
