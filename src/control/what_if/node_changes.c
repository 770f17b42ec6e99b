/* Adds nodes to the copy, and drains nodes of it. */
#include <stdio.h>

#include "control/fold/executors.h"
#include "control/state/state.h"
#include "control/what_if/private.h"
#include "wire/log/log_codec.h"

/* The first executor that has a node of that name; NULL: none has. */
static struct control_executor *find_node(const struct control *c,
                                          struct str name,
                                          const struct control_node **ret_node)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        struct control_executor *executor = c->executors.items[i];
        uint32_t index =
            executor ? intern_find(&executor->node_names, name) : INTERN_NONE;
        if (index != INTERN_NONE && executor->nodes.items[index].bytes) {
            *ret_node = &executor->nodes.items[index];
            return executor;
        }
    }
    return NULL;
}

/* The first node by its executor's name and its own, if it is to get work. */
static struct str first_node(const struct control *c)
{
    struct str first = {0}, of = {0};

    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        for (uint32_t n = 0; executor && n < executor->nodes.count; n++) {
            struct str name = intern_get(&executor->node_names, n);
            int order = of.p ? str_compare(executor->id, of) : -1;
            if (executor->nodes.items[n].bytes &&
                !executor->nodes.items[n].is_cordoned &&
                (order < 0 || (order == 0 && str_compare(name, first) < 0))) {
                first = name;
                of = executor->id;
            }
        }
    }
    return first;
}

static int no_node(struct str name, struct err *err)
{
    return err_set(err, -ERR_NOT_FOUND, "there is no node \"%.*s\"",
                   STR_ARG(name));
}

/* The name of the `number`th of them, which no node has. */
static struct str new_name(const struct control *c, uint32_t *number,
                           struct arena *arena)
{
    const struct control_node *node;
    char text[64];

    do {
        (void)snprintf(text, sizeof(text), "what-if-%u", ++*number);
    } while (find_node(c, str_of(text), &node));
    return arena_str(arena, str_of(text));
}

int what_if_add_nodes(struct what_if *what_if,
                      const struct what_if_nodes *asked, uint32_t *number,
                      struct err *err)
{
    auto_arena arena = {0};
    const struct control_node *node = NULL;
    struct str like =
        asked->like.byte_count ? asked->like : first_node(what_if->control);
    const struct control_executor *executor =
        find_node(what_if->control, like, &node);
    struct event event;

    if (!executor) {
        return no_node(like, err);
    }
    int rc = log_decode_event(str_make(node->bytes, node->byte_count), &arena,
                              &event, err);
    if (rc < 0) {
        return rc;
    }
    struct node_record *set =
        arena_alloc_array(&arena, asked->count, sizeof(*set));
    for (uint32_t i = 0; i < asked->count; i++) {
        set[i] = event.nodes.set[0];
        set[i].name = new_name(what_if->control, number, &arena);
        set[i].is_unschedulable = false;
        set[i].foreign = (struct resource_list){0};
    }
    event.created_ms = what_if->now_ms;
    event.nodes.set = set;
    event.nodes.set_count = asked->count;
    return what_if_post_event(what_if, &event, err);
}

/* The names of all queues, in the arena. */
static const struct str *queue_names(struct what_if *what_if,
                                     struct arena *arena, uint32_t *ret_count)
{
    const struct queue_entry **list =
        queue_table_list(what_if->queues, ret_count);
    struct str *names = arena_alloc_array(arena, *ret_count, sizeof(*names));

    for (uint32_t i = 0; i < *ret_count; i++) {
        names[i] = arena_str(arena, list[i]->name);
    }
    queue_list_free(list, *ret_count);
    return names;
}

int what_if_drain(struct what_if *what_if, struct str name, struct err *err)
{
    auto_arena arena = {0};
    const struct control_node *node;
    struct control_executor *executor =
        find_node(what_if->control, name, &node);
    struct event event;

    if (!executor) {
        return no_node(name, err);
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_EXECUTOR_SETTINGS;
    event.created_ms = what_if->now_ms;
    event.settings.name = executor->id;
    event.settings.node_name = name;
    event.settings.is_cordoned = true;
    int rc = what_if_post_event(what_if, &event, err);
    if (rc < 0) {
        return rc;
    }
    memset(&event, 0, sizeof(event));
    event.type = EVENT_SELECTION;
    event.created_ms = what_if->now_ms;
    event.selection.action = SELECTION_PREEMPT;
    event.selection.executor_id = executor->id;
    event.selection.node_name = name;
    event.selection.queues =
        queue_names(what_if, &arena, &event.selection.queue_count);
    event.selection.states = STATE_SET_ALL;
    event.selection.reason = STR("the node is drained");
    return what_if_post_event(what_if, &event, err);
}
