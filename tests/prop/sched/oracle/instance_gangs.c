/* Gangs: their members, as they are drawn and as they come and go. */
#include "instance.h"

int instance_gang_count(const struct instance *instance, int first)
{
    int gang = instance->jobs[first].gang;
    int count = 1;

    while (gang && first + count < instance->job_count &&
           instance->jobs[first + count].gang == gang) {
        count++;
    }
    return count;
}

void instance_reset_gang(struct instance *instance, int first, int count)
{
    for (int j = first; j < first + count; j++) {
        struct instance_job *job = &instance->jobs[j];
        job->node = NO_NODE;
        job->was_leased = false;
        job->is_uniform = false;
        job->avoided = 0;
        job->cardinality = count;
    }
}

void instance_set_sub_group(struct instance *instance, int first, int count,
                            int sub_group, int minimum)
{
    const struct instance_job *head = &instance->jobs[first];

    for (int j = first; j < first + count; j++) {
        struct instance_job *job = &instance->jobs[j];
        job->has_terms = true;
        job->sub_group = sub_group;
        job->sub_minimum = minimum;
        job->sub_count = count;
        job->hops = NO_LIMIT;
        job->request[0] = head->request[0];
        job->request[1] = head->request[1];
        job->rack = head->rack;
        job->is_tolerant = head->is_tolerant;
    }
}

static bool is_of(const struct instance *instance, int gang, int job)
{
    return instance->jobs[job].is_there && instance->jobs[job].gang == gang;
}

/* Whether something of it waits, and all of it is there or once was; as to
 * minimums of sub-groups, see instance_forget_groups(). */
static bool is_ready(const struct instance *instance, int gang)
{
    const struct instance_job *head = &instance->jobs[gang - 1];
    int there = 0, waiting = 0;
    bool has_run = false;

    for (int j = 0; j < instance->job_count; j++) {
        if (is_of(instance, gang, j)) {
            there++;
            waiting += instance->jobs[j].node == NO_NODE;
            has_run |= instance->jobs[j].was_leased;
        }
    }
    return waiting > 0 &&
           (head->has_terms || has_run || there >= head->cardinality);
}

void instance_gang_changed(struct instance *instance, int gang)
{
    struct instance_job *first = NULL;
    bool stays = is_ready(instance, gang);

    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        if (job->gang == gang && job->admitted && !first) {
            first = job;
        }
    }
    for (int j = 0; first && j < instance->job_count; j++) {
        if (instance->jobs[j].gang == gang) {
            instance->jobs[j].admitted = stays ? first->admitted : 0;
            instance->jobs[j].promised = stays ? first->promised : INT_MAX;
            instance->jobs[j].admitted_pool = first->admitted_pool;
            instance->jobs[j].admitted_at = first->admitted_at;
        }
    }
}

bool instance_is_spare(const struct instance *instance, int index)
{
    const struct instance_job *job = &instance->jobs[index];
    int count = 0;

    for (int j = 0; job->has_terms && j < instance->job_count; j++) {
        const struct instance_job *other = &instance->jobs[j];
        bool is_kept =
            other->has_succeeded ||
            (other->is_there && (other->node != NO_NODE || j <= index));
        count += is_kept && other->gang == job->gang &&
                 other->sub_group == job->sub_group;
    }
    return count > job->sub_minimum && job->node == NO_NODE;
}
