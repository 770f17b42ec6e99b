/* Makes the changes on the copy, as commands and events that do the same on the
 * leader. */
#include "armada/queue.pb-c.h"
#include "control/fold/fold.h"
#include "control/state/state.h"
#include "control/what_if/private.h"
#include "wire/message/message.h"
#include "wire/policy/policy_codec.h"

/* Weights. */

/* What a queue is to weigh; 0: it was not spoken of. */
static double asked_weight(const struct what_if_changes *changes,
                           struct str queue)
{
    double weight = 0;

    for (uint32_t i = 0; i < changes->weight_count; i++) {
        if (str_equal(changes->weights[i].queue, queue)) {
            weight = changes->weights[i].weight;
        }
    }
    return weight;
}

static double weight_of(const struct what_if_changes *changes,
                        const struct queue_entry *entry)
{
    double weight = asked_weight(changes, entry->name);

    return weight > 0 ? weight
                      : (double)PRIORITY_FACTOR_ONE_MICRO /
                            (double)entry->record.priority_factor_micro;
}

static int set_factor(struct what_if *what_if, const struct queue_entry *entry,
                      double factor, struct err *err)
{
    auto_arena arena = {0};
    ProtobufCMessage *message;
    struct event event;

    int rc = wire_decode(&api__queue__descriptor, entry->encoded,
                         &wire_request_limits, &arena, &message, err);
    if (rc < 0) {
        return rc;
    }
    Api__Queue *queue = (Api__Queue *)(void *)message;
    queue->priority_factor = factor;
    memset(&event, 0, sizeof(event));
    event.type = EVENT_QUEUE_SET;
    event.created_ms = what_if->now_ms;
    event.queue.record.name = entry->name;
    event.queue.encoded = wire_encode_arena(&queue->base, &arena);
    return what_if_post_event(what_if, &event, err);
}

/* Shares go by what weights are to each other, and a factor is at least 1: if a
 * weight is more than 1 all factors grow by as much. */
static int set_weights(struct what_if *what_if,
                       const struct what_if_changes *changes, struct err *err)
{
    double largest = 1;
    uint32_t count;
    int rc = 0;

    for (uint32_t i = 0; i < changes->weight_count && rc == 0; i++) {
        const struct what_if_weight *asked = &changes->weights[i];
        const struct queue_entry *entry =
            queue_table_find(what_if->queues, asked->queue);
        ASSERT(asked->weight > 0);
        largest = asked->weight > largest ? asked->weight : largest;
        rc = entry ? 0
                   : err_set(err, -ERR_NOT_FOUND, "there is no queue \"%.*s\"",
                             STR_ARG(asked->queue));
        queue_entry_unref(entry);
    }
    const struct queue_entry **list = queue_table_list(what_if->queues, &count);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        if (largest > 1 || asked_weight(changes, list[i]->name) > 0) {
            rc = set_factor(what_if, list[i],
                            largest / weight_of(changes, list[i]), err);
        }
    }
    queue_list_free(list, count);
    return rc;
}

/* The policy. */

static int set_limit(struct priority_class *class,
                     const struct what_if_class *asked, struct err *err)
{
    uint32_t at = 0;

    while (at < class->queue_limit_count &&
           !str_equal(class->queue_limits[at].resource, asked->resource)) {
        at++;
    }
    if (at == POLICY_FRACTIONS_MAX) {
        return err_set(err, -ERR_INVALID,
                       "class \"%.*s\" has limits of %d resources already",
                       STR_ARG(class->name), POLICY_FRACTIONS_MAX);
    }
    class->queue_limits[at] =
        (struct resource_fraction){asked->resource, asked->fraction_ppm};
    class->queue_limit_count += at == class->queue_limit_count;
    return 0;
}

static int set_class(struct policy *policy, const struct what_if_class *asked,
                     struct err *err)
{
    for (uint32_t i = 0; i < policy->class_count; i++) {
        struct priority_class *class = &policy->classes[i];
        if (str_equal(class->name, asked->name)) {
            class->priority =
                asked->has_priority ? asked->priority : class->priority;
            return asked->resource.byte_count ? set_limit(class, asked, err)
                                              : 0;
        }
    }
    return err_set(err, -ERR_NOT_FOUND, "there is no priority class \"%.*s\"",
                   STR_ARG(asked->name));
}

static int set_policy(struct what_if *what_if,
                      const struct what_if_changes *changes, struct err *err)
{
    struct str text = changes->policy.byte_count
                          ? changes->policy
                          : str_of(what_if->control->policy->text);
    auto_strbuf printed = {0};
    struct event event;
    int rc = 0;

    if (!changes->policy.byte_count && !changes->class_count) {
        return 0;
    }
    struct policy_box *box = policy_box_read(text, err);
    if (!box) {
        return -ERR_INVALID;
    }
    for (uint32_t i = 0; i < changes->class_count && rc == 0; i++) {
        rc = set_class(&box->policy, &changes->classes[i], err);
    }
    if (rc == 0) {
        policy_print(&box->policy, &printed);
        memset(&event, 0, sizeof(event));
        event.type = EVENT_POLICY_SET;
        event.created_ms = what_if->now_ms;
        event.policy.text = strbuf_str(&printed);
        rc = what_if_post_event(what_if, &event, err);
    }
    policy_box_destroy(box);
    return rc;
}

int what_if_change(struct what_if *what_if, struct what_if_changes *changes,
                   struct err *err)
{
    uint32_t number = 0;
    int rc = set_policy(what_if, changes, err);

    if (rc == 0 && changes->weight_count) {
        rc = set_weights(what_if, changes, err);
    }
    for (uint32_t i = 0; i < changes->nodes_count && rc == 0; i++) {
        rc = what_if_add_nodes(what_if, &changes->nodes[i], &number, err);
    }
    for (uint32_t i = 0; i < changes->drained_count && rc == 0; i++) {
        rc = what_if_drain(what_if, changes->drained[i], err);
    }
    if (rc == 0 && changes->submission) {
        rc = what_if_post(what_if, steal_ptr(changes->submission), err);
    }
    return rc;
}
