/* Makes the changes on the copy, as commands and events that do the same on the
 * leader. */
#include "armada/queue.pb-c.h"
#include "control/fold/fold.h"
#include "control/state/state.h"
#include "control/what_if/private.h"
#include "model/weights.h"
#include "wire/message/message.h"
#include "wire/policy/policy_codec.h"

/* Weights. */

/* The queues that are spoken of, and what each is to weigh. */
struct asked_weights {
    struct intern queues;
    double *weights; /* owned, by index in `queues` */
};

static void asked_fini(struct asked_weights *asked)
{
    intern_fini(&asked->queues);
    mem_free(asked->weights);
}

static int read_weights(struct what_if *what_if,
                        const struct what_if_changes *changes,
                        struct asked_weights *asked, struct err *err)
{
    asked->weights =
        mem_alloc_array(changes->weight_count, sizeof(*asked->weights));
    for (uint32_t i = 0; i < changes->weight_count; i++) {
        const struct what_if_weight *one = &changes->weights[i];
        const struct queue_entry *entry =
            queue_table_find(what_if->queues, one->queue);
        ASSERT(one->weight > 0);
        if (!entry) {
            return err_set(err, -ERR_NOT_FOUND, "there is no queue \"%.*s\"",
                           STR_ARG(one->queue));
        }
        queue_entry_unref(entry);
        asked->weights[intern_add(&asked->queues, one->queue)] = one->weight;
    }
    return 0;
}

static double weight_of(const struct asked_weights *asked,
                        const struct queue_entry *entry)
{
    uint32_t index = intern_find(&asked->queues, entry->name);

    return index == INTERN_NONE
               ? (double)PRIORITY_FACTOR_ONE_MICRO /
                     (double)entry->record.priority_factor_micro
               : asked->weights[index];
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

/* The queues that are not spoken of have factors, so weights of at most 1. */
static int set_weights(struct what_if *what_if,
                       const struct what_if_changes *changes, struct err *err)
{
    struct asked_weights asked = {.weights = NULL};
    uint32_t count;

    int rc = read_weights(what_if, changes, &asked, err);
    double scale = weights_scale(asked.weights, intern_count(&asked.queues));
    const struct queue_entry **list = queue_table_list(what_if->queues, &count);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        if (scale > 1 ||
            intern_find(&asked.queues, list[i]->name) != INTERN_NONE) {
            rc = set_factor(what_if, list[i],
                            scale / weight_of(&asked, list[i]), err);
        }
    }
    queue_list_free(list, count);
    asked_fini(&asked);
    return rc;
}

/* The policy. */

static int set_policy(struct what_if *what_if,
                      const struct what_if_changes *changes, struct err *err)
{
    auto_strbuf printed = {0};
    struct event event;
    int rc = 0;

    if (!changes->policy.byte_count && !changes->class_count) {
        return 0;
    }
    struct policy_box *box =
        changes->policy.byte_count
            ? policy_box_read_written(
                  changes->policy,
                  changes->policy_name ? changes->policy_name : "policy", err)
            : policy_box_read(str_of(what_if->control->policy->text), err);
    if (!box) {
        return -ERR_INVALID;
    }
    for (uint32_t i = 0; i < changes->class_count && rc == 0; i++) {
        rc = policy_change_class(&box->policy, &changes->classes[i], err);
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
    int rc = set_policy(what_if, changes, err);

    if (rc == 0 && changes->weight_count) {
        rc = set_weights(what_if, changes, err);
    }
    if (rc == 0) {
        rc = what_if_add_nodes(what_if, changes, err);
    }
    if (rc == 0) {
        rc = what_if_drain(what_if, changes, err);
    }
    if (rc == 0 && changes->submission) {
        what_if_note_submission(what_if, changes->submission);
        rc = what_if_post(what_if, steal_ptr(changes->submission), err);
    }
    return rc;
}
