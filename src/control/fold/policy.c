/* The policy in force, and the retry policies. */
#include "control/fold/executors.h"
#include "control/fold/fold.h"
#include "control/state/state.h"
#include "wire/policy/policy_codec.h"

typedef int read_fn(struct str yaml, const char *file_name, struct arena *arena,
                    struct policy *ret_policy, struct err *err);

static struct policy_box *make_box(struct str text, const char *file_name,
                                   read_fn *read, struct err *err)
{
    struct policy_box *box = mem_alloc(sizeof(*box));

    box->text = str_dup(text);
    if (read(str_of(box->text), file_name, &box->arena, &box->policy, err) <
        0) {
        policy_box_destroy(box);
        return NULL;
    }
    return box;
}

struct policy_box *policy_box_read(struct str text, struct err *err)
{
    return make_box(text, "policy", policy_read, err);
}

struct policy_box *
policy_box_read_written(struct str text, const char *file_name, struct err *err)
{
    return make_box(text, file_name, policy_read_written, err);
}

void policy_box_destroy(struct policy_box *box)
{
    if (box) {
        arena_fini(&box->arena);
        mem_free(box->text);
        mem_free(box);
    }
}

void policy_apply(struct control *c, struct str text)
{
    struct err err;
    struct policy_box *fresh = policy_box_read(text, &err);

    if (!fresh) {
        return; /* refused before it was appended; a foreign log */
    }
    struct policy_box *old = c->policy;
    c->policy = fresh;
    c->is_policy_logged = true;
    jobs_set_policy(c->jobs, &fresh->policy);
    pools_policy_set(c->pools, &fresh->policy);
    policy_box_destroy(old);
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            executor_sync(c, c->executors.items[i]);
        }
    }
    pending_sync(c);
    c->has_lost_nodes = true;
    c->node_generation++;
    c->is_plan_wanted = c->is_balance_wanted = true;
}

void retry_policy_fold(struct control *c, const struct event *event)
{
    struct queue_record record = {.name = event->retry_policy.name};

    if (event->type == EVENT_RETRY_POLICY_SET) {
        int rc = queue_table_put(c->config.retry_policies, &record,
                                 event->retry_policy.encoded);
        (void)rc; /* QUEUES_MAX: as with queues */
    } else {
        queue_table_remove(c->config.retry_policies, event->retry_policy.name);
    }
}
