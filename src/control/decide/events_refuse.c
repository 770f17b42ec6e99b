/* Which events from outside could not be applied, and so are not appended. */
#include "control/decide/events.h"
#include "control/fold/fold.h"
#include "control/fold/pools.h"
#include "control/state/state.h"

bool events_refuse(struct looking *l, enum command_result result,
                   const char *text)
{
    l->result = result;
    l->text = text;
    return true;
}

/* Whether a table takes an entry of that name: a full table only takes changes
 * of its entries. */
static bool has_room(struct queue_table *table, struct str name)
{
    if (queue_table_count(table) < QUEUES_MAX) {
        return true;
    }
    const struct queue_entry *entry = queue_table_find(table, name);
    queue_entry_unref(entry);
    return entry != NULL;
}

/* Whether the queue as it is has that amount in its quota. */
static bool has_quota(const struct queue_entry *entry,
                      const struct resource_amount *amount)
{
    const struct resource_list *quota = entry ? &entry->record.quota : NULL;

    for (uint32_t i = 0; quota && i < quota->count; i++) {
        if (str_equal(quota->items[i].name, amount->name)) {
            return quota->items[i].milli == amount->milli;
        }
    }
    return false;
}

/* The first amount of a quota that is of no resource and that the queue did not
 * have before, from an older release or an older policy; or NULL. */
static const struct resource_amount *
unknown_amount(struct looking *l, const struct queue_record *record)
{
    const struct resource_schema *schema = &l->c->policy->policy.schema;
    const struct queue_entry *entry =
        queue_table_find(l->c->config.queues, record->name);
    const struct resource_amount *unknown = NULL;

    for (uint32_t i = 0; i < record->quota.count && !unknown; i++) {
        const struct resource_amount *amount = &record->quota.items[i];
        if (resource_column(schema, amount->name) < 0 &&
            !has_quota(entry, amount)) {
            unknown = amount;
        }
    }
    queue_entry_unref(entry);
    return unknown;
}

/* A quota of what no job can ask for would never hold anything: most often it
 * is a name misspelt. */
static bool has_unknown_quota(struct looking *l,
                              const struct queue_record *record)
{
    const struct resource_schema *schema = &l->c->policy->policy.schema;
    const struct resource_amount *unknown = unknown_amount(l, record);
    auto_strbuf names = {0};

    if (unknown) {
        for (uint32_t r = 0; r < schema->column_count; r++) {
            strbuf_addf(&names, "%s%.*s", r ? ", " : "",
                        STR_ARG(schema->columns[r].name));
        }
        (void)err_set(&l->err, -ERR_INVALID,
                      "scheduling.quota: \"%.*s\" is no resource that jobs are "
                      "scheduled by; these are: %.*s",
                      STR_ARG(unknown->name), STR_ARG(strbuf_str(&names)));
    }
    return unknown != NULL;
}

/* Whether a pool is there that is to be new, or is not that is to be there. */
static bool is_pool_amiss(struct looking *l, const struct event *event)
{
    struct str name = event->pool.record.name;
    bool is_there = pool_table_find(&l->c->pool_table, name) != NULL;

    if (l->object_wish == OBJECT_WISH_NONE ||
        is_there == (l->object_wish == OBJECT_WISH_THERE)) {
        return false;
    }
    (void)err_set(&l->err, -ERR_INVALID,
                  is_there ? "pool \"%.*s\" exists already"
                           : "could not find pool \"%.*s\"",
                  STR_ARG(name));
    return events_refuse(l, is_there ? COMMAND_EXISTS : COMMAND_NOT_FOUND,
                         l->err.text);
}

/* The same of a maintenance window; and a new one must find room. */
static bool is_window_amiss(struct looking *l, const struct event *event)
{
    const struct window_table *table = &l->c->window_table;
    struct str name = event->window.record.name;
    bool is_there = window_table_find(table, name) != NULL;

    if (event->type == EVENT_WINDOW_SET && !is_there &&
        table->entries.count >= WINDOWS_MAX) {
        (void)err_set(&l->err, -ERR_LIMIT,
                      "the limit of %d maintenance windows is reached",
                      WINDOWS_MAX);
        return events_refuse(l, COMMAND_OVERLOADED, l->err.text);
    }
    if (l->object_wish == OBJECT_WISH_NONE ||
        is_there == (l->object_wish == OBJECT_WISH_THERE)) {
        return false;
    }
    (void)err_set(&l->err, -ERR_INVALID,
                  is_there ? "maintenance window \"%.*s\" exists already"
                           : "could not find maintenance window \"%.*s\"",
                  STR_ARG(name));
    return events_refuse(l, is_there ? COMMAND_EXISTS : COMMAND_NOT_FOUND,
                         l->err.text);
}

bool events_is_refused(struct looking *l, const struct event_scope *scope,
                       const struct event *event)
{
    if (event->type >= EVENT_PERIODIC_SET &&
        event->type <= EVENT_PERIODIC_RUN &&
        periodic_is_amiss(l, scope, event)) {
        return true;
    }
    if ((event->type == EVENT_WINDOW_SET ||
         event->type == EVENT_WINDOW_DELETED) &&
        is_window_amiss(l, event)) {
        return true;
    }
    if ((event->type == EVENT_POOL_SET || event->type == EVENT_POOL_DELETED) &&
        is_pool_amiss(l, event)) {
        return true;
    }
    if (event->type == EVENT_POLICY_SET) {
        struct policy_box *box = policy_box_read(event->policy.text, &l->err);
        if (!box) {
            return events_refuse(l, COMMAND_INVALID, l->err.text);
        }
        policy_box_destroy(box);
    }
    if ((event->type == EVENT_QUEUE_SET &&
         !has_room(l->c->config.queues, event->queue.record.name)) ||
        (event->type == EVENT_RETRY_POLICY_SET &&
         !has_room(l->c->config.retry_policies, event->retry_policy.name))) {
        return events_refuse(
            l, COMMAND_OVERLOADED,
            "the limit of queues, or of retry policies, is reached");
    }
    if (event->type == EVENT_QUEUE_SET &&
        has_unknown_quota(l, &event->queue.record)) {
        return events_refuse(l, COMMAND_INVALID, l->err.text);
    }
    const char *why =
        event->type == EVENT_POOL_SET ? pool_refusal(l->c, event) : NULL;
    return why ? events_refuse(l, COMMAND_INVALID, why) : false;
}
