/* Adds the events that are due for jobs to the batch. */
#include "control/decide/decide.h"
#include "control/state/state.h"

void batch_add_decisions(struct batch *batch,
                         const struct job_decisions *decisions)
{
    ASSERT(!batch->is_in_flight); /* what is in flight is decided */
    for (uint32_t i = 0; i < decisions->event_count; i++) {
        ASSERT(decisions->events[i].created_ms == batch->time_ms);
        log_batch_add(&batch->log, &decisions->scope, &decisions->events[i]);
    }
    batch->decision_count += decisions->event_count > 0;
}

/* A copy of what a table has under a name; "": nothing. */
static struct str copy_of(struct control *c, struct queue_table *table,
                          struct str name)
{
    const struct queue_entry *entry = queue_table_find(table, name);
    struct str copy =
        entry ? arena_str(&c->batch.arena, entry->encoded) : (struct str){0};

    queue_entry_unref(entry);
    return copy;
}

/* The retry policy of a job: the one that it names, else its queue's; or NULL.
 * Failures are few: it is looked up for each. */
static const struct retry_policy *find_policy(struct control *c, uint32_t job,
                                              struct str queue)
{
    struct retry_policy *policy = arena_alloc(&c->batch.arena, sizeof(*policy));
    struct str name = jobs_retry_policy(c->jobs, job);

    if (name.byte_count == 0) {
        name = log_queue_retry_policy(copy_of(c, c->config.queues, queue));
    }
    if (name.byte_count == 0) {
        return NULL;
    }
    struct str encoded = copy_of(c, c->config.retry_policies, name);
    if (encoded.byte_count == 0 ||
        log_decode_retry_policy(encoded, &c->batch.arena, policy, NULL) < 0) {
        return NULL;
    }
    return policy;
}

struct job_rules batch_job_rules(struct control *c, uint32_t job)
{
    const struct policy *policy = &c->policy->policy;
    struct job_rules rules = {
        .retries_max = policy->retries_max,
        .policy_retries_max = policy->policy_retries_max,
        .now_ms = c->batch.time_ms,
    };
    struct job_view view;

    jobs_get(c->jobs, job, &view);
    if (policy->has_retry_policies &&
        (view.state == JOB_RUN_FAILED || view.state == JOB_RUN_EXPIRED ||
         (view.flags & JOB_FLAG_LOST))) {
        rules.retry = find_policy(c, job, view.queue);
    }
    return rules;
}

bool batch_add_due(struct control *c, uint32_t job)
{
    struct job_rules rules = batch_job_rules(c, job);
    struct job_decisions decisions;

    /* A run that ends in the batch decides first. */
    ASSERT(!batch_is_touched(&c->batch, job));
    job_due(c->jobs, job, &rules, &c->batch.arena, &decisions);
    if (decisions.event_count == 0) {
        return false;
    }
    batch_add_decisions(&c->batch, &decisions);
    VEC_PUSH(&c->batch.due, job);
    if (decisions.events[decisions.event_count - 1].type !=
        EVENT_REPRIORITISED) {
        batch_touch(&c->batch, job);
    }
    if (decisions.events[0].type == EVENT_RUN_PREEMPTED) {
        struct job_view view;
        jobs_get(c->jobs, job, &view);
        batch_leave(c, view.gang_index);
    }
    return true;
}
