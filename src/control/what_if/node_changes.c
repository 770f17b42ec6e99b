/* Adds nodes to the copy, and drains nodes of it. */
#include <stdio.h>

#include "control/fold/executors.h"
#include "control/state/state.h"
#include "control/what_if/private.h"
#include "job/table/jobs.h"
#include "wire/log/log_codec.h"

enum { PREEMPT_BYTES = 4 << 20 }; /* in one command */

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

static int add_nodes(struct what_if *what_if, const struct what_if_nodes *asked,
                     struct str like, uint32_t *number, struct err *err)
{
    auto_arena arena = {0};
    const struct control_node *node = NULL;
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
    /* What is kept of a node is the record that told of it alone. */
    ASSERT(event.nodes.set_count == 1);
    event.created_ms = what_if->now_ms;
    event.nodes.set = set;
    event.nodes.set_count = asked->count;
    return what_if_post_event(what_if, &event, err);
}

int what_if_add_nodes(struct what_if *what_if,
                      const struct what_if_changes *changes, struct err *err)
{
    auto_arena arena = {0};
    struct str first = {0};
    uint32_t number = 0;
    int rc = 0;

    for (uint32_t i = 0; i < changes->nodes_count && rc == 0; i++) {
        struct str like = changes->nodes[i].like;
        if (!like.byte_count && !first.byte_count) {
            first = arena_str(&arena, first_node(what_if->control));
        }
        rc = add_nodes(what_if, &changes->nodes[i],
                       like.byte_count ? like : first, &number, err);
    }
    return rc;
}

/* Nodes to drain: names, each of one executor. */
struct drained {
    struct intern names;
    VEC(struct str) executors; /* by index in `names`, borrowed */
};

static int cordon(struct what_if *what_if, struct str name,
                  struct drained *drained, struct err *err)
{
    const struct control_node *node;
    const struct control_executor *executor =
        find_node(what_if->control, name, &node);
    struct event event;

    if (!executor) {
        return no_node(name, err);
    }
    if (intern_find(&drained->names, name) != INTERN_NONE) {
        return 0;
    }
    ASSERT(drained->executors.count == intern_count(&drained->names));
    (void)intern_add(&drained->names, name);
    VEC_PUSH(&drained->executors, executor->id);
    struct what_if_kept kept = {intern_add(&what_if->names, name),
                                intern_add(&what_if->names, executor->id), 0};
    VEC_PUSH(&what_if->drained, kept);
    memset(&event, 0, sizeof(event));
    event.type = EVENT_EXECUTOR_SETTINGS;
    event.created_ms = what_if->now_ms;
    event.settings.name = executor->id;
    event.settings.node_name = name;
    event.settings.is_cordoned = true;
    return what_if_post_event(what_if, &event, err);
}

/* The index of the drained node that a job is on; INTERN_NONE: of none. */
static uint32_t find_drained(const struct drained *drained,
                             const struct job_view *view)
{
    uint32_t index = view->has_run
                         ? intern_find(&drained->names, view->run.node_name)
                         : INTERN_NONE;

    return index != INTERN_NONE && str_equal(drained->executors.items[index],
                                             view->run.executor_id)
               ? index
               : INTERN_NONE;
}

static void add_preempt(const struct what_if *what_if,
                        const struct job_view *view, struct log_batch *batch)
{
    struct event_scope scope = {view->queue, view->job_set, STR("operator")};
    struct event event;

    memset(&event, 0, sizeof(event));
    event.type = EVENT_PREEMPT;
    event.created_ms = what_if->now_ms;
    event.job = view->id;
    event.cancel.reason = STR("the node is drained");
    log_batch_add(batch, &scope, &event);
}

/* One by one: a selection of jobs by node would look at all of them for each
 * node. */
static int preempt_all(struct what_if *what_if, const struct drained *drained,
                       struct err *err)
{
    const struct jobs *jobs = what_if->control->jobs;
    auto_log_batch batch = {0};
    int rc = 0;

    for (uint32_t i = 0; i < jobs_index_end(jobs) && rc == 0; i++) {
        struct job_view view;
        if (i % WHAT_IF_JOBS_AT_ONCE == 0) {
            rc = what_if_check(what_if, err);
        }
        if (!jobs_is_live(jobs, i)) {
            continue;
        }
        jobs_get(jobs, i, &view);
        uint32_t node = find_drained(drained, &view);
        if (node != INTERN_NONE && !jobs_is_preemptible(jobs, i)) {
            what_if->drained.items[node].job_count++;
        } else if (node != INTERN_NONE) {
            add_preempt(what_if, &view, &batch);
        }
        if (log_batch_bytes(&batch) > PREEMPT_BYTES) {
            rc = what_if_post_batch(what_if, &batch, err);
            log_batch_clear(&batch);
        }
    }
    return rc == 0 && batch.event_count
               ? what_if_post_batch(what_if, &batch, err)
               : rc;
}

int what_if_drain(struct what_if *what_if,
                  const struct what_if_changes *changes, struct err *err)
{
    struct drained drained = {.executors = {0}};
    int rc = 0;

    for (uint32_t i = 0; i < changes->drained_count && rc == 0; i++) {
        rc = cordon(what_if, changes->drained[i], &drained, err);
    }
    if (rc == 0 && changes->drained_count) {
        rc = preempt_all(what_if, &drained, err);
    }
    intern_fini(&drained.names);
    VEC_FREE(&drained.executors);
    return rc;
}
