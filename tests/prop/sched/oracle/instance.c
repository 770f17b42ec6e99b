#include "instance.h"

const struct instance_class CLASSES[CLASS_COUNT] = {
    {"mid", 1000, true, 1000},
    {"low", 500, true, 100},
    {"high", 10000, true, 10000},
    {"fixed", 1000, false, 100},
};

int instance_free(const struct instance *instance, int node, int kind)
{
    int left = instance->nodes[node].capacity[kind];

    for (int i = 0; i < instance->job_count; i++) {
        const struct instance_job *job = &instance->jobs[i];
        left -= job->is_there && job->node == node ? job->request[kind] : 0;
    }
    return left;
}

/* A gang is admitted, and leaves the list, as a whole; those that wait on then
 * are charged for nothing. */
static void admit(struct instance *instance, int index, int serial,
                  int promised, int pool, int now)
{
    int gang = instance->jobs[index].gang;

    for (int j = 0; j < instance->job_count; j++) {
        if (j == index || (gang && instance->jobs[j].gang == gang)) {
            if (!instance->jobs[j].admitted) {
                instance->jobs[j].admitted_at = now;
            }
            instance->jobs[j].admitted = serial;
            instance->jobs[j].admitted_pool = pool;
            instance->jobs[j].promised = promised;
            if (!serial && instance->jobs[j].node == NO_NODE) {
                instance->jobs[j].charge = (struct fraction){0, 1};
            }
        }
    }
}

static void come(struct instance *instance, int index, int now)
{
    instance_advance(instance, now);
    instance->jobs[index].is_there = true;
    if (instance->jobs[index].gang) {
        instance_gang_changed(instance, instance->jobs[index].gang);
    }
    instance_app_event(instance, index, APP_ASKS, now);
}

/* It is not there; its gang does not notice when it comes back at once. */
static void leave(struct instance *instance, int index, int now, bool returns)
{
    struct instance_job *job = &instance->jobs[index];

    instance_advance(instance, now);
    job->is_there = false;
    job->is_away = false;
    job->node = NO_NODE;
    if (!job->gang) {
        admit(instance, index, 0, INT_MAX, 0, now);
    } else if (!returns) {
        instance_gang_changed(instance, job->gang);
    }
    job->charge = (struct fraction){0, 1};
    instance_advance(instance, now);
    instance_app_event(instance, index, APP_LOSES, now);
}

void instance_submit(struct instance *instance, int index, int now)
{
    instance_news(instance);
    come(instance, index, now);
}

void instance_remove(struct instance *instance, int index, int now)
{
    instance_news(instance);
    leave(instance, index, now, false);
    instance_forget_cooldown(instance, index);
}

void instance_requeue(struct instance *instance, int index, int now)
{
    struct instance_job *job = &instance->jobs[index];

    leave(instance, index, now, true);
    job->started = NOT_STARTED;
    come(instance, index, now);
}

/* None of what runs of it has been leased for an elastic period. */
static bool is_starting(const struct instance *instance, int gang, int now)
{
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        if (job->is_there && job->gang == gang && job->node != NO_NODE &&
            now - job->leased >= ELASTIC_PERIOD_MS) {
            return false;
        }
    }
    return true;
}

void instance_scale(struct instance *instance, int index, int now)
{
    if (is_starting(instance, instance->jobs[index].gang, now)) {
        return;
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        if (job->gang == instance->jobs[index].gang && job->freezing) {
            job->frozen_until = now + job->freezing;
        }
    }
}

void instance_start(struct instance *instance, int index, int now)
{
    struct instance_job *job = &instance->jobs[index];

    job->started = job->started == NOT_STARTED ? now : job->started;
}

static void apply_lease(struct instance *instance,
                        const struct sched_decision *decision, int node,
                        int now)
{
    int index = (int)decision->job;
    struct instance_job *job = &instance->jobs[index];

    instance_advance(instance, now);
    admit(instance, index, 0, INT_MAX, 0, now);
    start_limit_take(&instance->starts, 1, now);
    start_limit_take(&instance->queues[job->queue].starts, 1, now);
    start_limit_take(&instance->start_cores[instance->nodes[node].pool],
                     job->request[0] * 1000, now);
    job->node = node;
    job->is_away = decision->priority != CLASSES[job->priority_class].priority;
    job->leased = now;
    job->was_leased = true;
    job->charge = fraction_of(decision->charge, 1000000);
    job->started = decision->is_backfilled ? now : NOT_STARTED;
    job->revocable_for = decision->revocable_for == SCHED_NONE
                             ? 0
                             : instance->jobs[decision->revocable_for].admitted;
    job->yields_at_once = decision->yields_at_once;
    job->yields_from = decision->yields_from_ms > INT_MAX
                           ? INT_MAX
                           : (int)decision->yields_from_ms;
    if (decision->is_by_share) {
        instance_cooldown(instance, index, now);
    }
    /* At once up to what is used now. */
    instance_advance(instance, now);
    instance_app_event(instance, index, APP_GETS, now);
}

void instance_apply(struct instance *instance,
                    const struct sched_decision *decision, int node, int now)
{
    int index = (int)decision->job;
    int serial = instance->jobs[index].admitted;

    instance_advance(instance, now);
    switch (decision->action) {
    case SCHED_LEASE:
        apply_lease(instance, decision, node, now);
        break;
    case SCHED_ADMIT:
        if (!serial) {
            instance->jobs[index].charge =
                fraction_of(decision->charge, 1000000);
        }
        admit(instance, index, serial ? serial : ++instance->admission_count,
              decision->start_ms < INT_MAX ? (int)decision->start_ms : INT_MAX,
              (int)decision->pool_index, now);
        if (instance->jobs[index].gang) {
            /* The plan may have taken some of it since it promised more. */
            instance_gang_changed(instance, instance->jobs[index].gang);
        }
        break;
    case SCHED_DISMISS:
        instance->jobs[index].charge = (struct fraction){0, 1};
        admit(instance, index, 0, INT_MAX, 0, now);
        break;
    case SCHED_PREEMPT:
    case SCHED_FAIL:
        instance_remove(instance, index, now);
        break;
    }
    instance_advance(instance, now);
}

bool instance_is_place(const struct instance *instance, int index, int n,
                       const int room[INSTANCE_KINDS])
{
    const struct instance_job *job = &instance->jobs[index];
    const struct instance_node *node = &instance->nodes[n];

    return !node->is_unschedulable && (!node->is_tainted || job->is_tolerant) &&
           (job->rack == 0 || job->rack == node->rack) &&
           !(job->avoided >> n & 1) && job->request[0] <= room[0] &&
           job->request[1] <= room[1];
}

bool instance_is_limited(const struct instance *instance, int index)
{
    int used = instance->jobs[index].request[0], total = 0;

    if (!instance->limit_percent || instance->jobs[index].priority_class) {
        return false;
    }
    for (int n = 0; n < instance->node_count; n++) {
        total += instance->nodes[n].is_unschedulable
                     ? 0
                     : instance->nodes[n].capacity[0];
    }
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        used += job->node != NO_NODE && job->priority_class == 0 &&
                        job->queue == instance->jobs[index].queue
                    ? job->request[0]
                    : 0;
    }
    return used * 100 > instance->limit_percent * total;
}
