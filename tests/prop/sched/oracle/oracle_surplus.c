/* What gangs with terms have above their minimums (model.md 2.11, and 6.6
 * rule c): as many of a sub-group may go one by one, and one more takes all of
 * the gang.  Surplus is a number, not certain pods: on each node it is those
 * with the highest ids, of those that may go. */
#include "oracle_private.h"

/* Members of the sub-group that a job is of that ran when the plan began and
 * were not preempted, or have succeeded. */
static int count_held(const struct oracle *o, int job)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *other = &o->in->jobs[j];
        bool runs = other->is_there && other->node != NO_NODE &&
                    o->status[j] != PREEMPTED;
        count += (runs || other->has_succeeded) &&
                 oracle_same_gang(o, job, j) &&
                 other->sub_group == o->in->jobs[job].sub_group;
    }
    return count;
}

bool oracle_is_base(const struct oracle *o, int job)
{
    const struct instance_job *record = &o->in->jobs[job];
    int before = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *other = &o->in->jobs[j];
        bool is_of = oracle_same_gang(o, job, j) &&
                     other->sub_group == record->sub_group;
        before +=
            is_of && (other->has_succeeded ||
                      (j < job && other->is_there && other->node != NO_NODE));
    }
    return !record->has_terms || before < record->sub_minimum;
}

bool oracle_is_surplus(const struct oracle *o, int job,
                       const bool goes_alone[INSTANCE_JOBS_MAX])
{
    const struct instance_job *record = &o->in->jobs[job];
    int left = count_held(o, job) - record->sub_minimum;

    for (int k = job + 1; k < o->in->job_count; k++) {
        left -= goes_alone[k] && oracle_same_gang(o, job, k) &&
                o->in->jobs[k].sub_group == record->sub_group;
    }
    return record->has_terms && !o->keeps_surplus && o->status[job] != PLACED &&
           left > 0;
}

bool oracle_is_joined(const struct oracle *o, int victim, int job)
{
    return o->in->jobs[victim].has_terms &&
           (oracle_same_gang(o, victim, job) ||
            oracle_gang_count(o, victim, PLACED) > 0);
}

/* The cost of all that a queue runs, or is to win again; by its weight. */
static struct number cost_of_all(const struct oracle *o, int queue)
{
    int amounts[INSTANCE_KINDS] = {0};

    for (int j = 0; j < o->in->job_count; j++) {
        bool counts = oracle_runs(o, j) && o->in->jobs[j].queue == queue;
        for (int k = 0; counts && k < INSTANCE_KINDS; k++) {
            amounts[k] += o->in->jobs[j].request[k];
        }
    }
    return oracle_cost(o, queue, amounts);
}

/* Whether the rules for all work let the whole gang go; then it may as well
 * lose surplus alone, also in its freezing window. */
static bool may_all_go(const struct oracle *o, int victim, int job,
                       const struct rules *rules)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] == EVICTED && oracle_same_gang(o, victim, j) &&
            oracle_may_go(o, j, job, o->node[j], rules)) {
            return true;
        }
    }
    return false;
}

bool oracle_may_shrink(const struct oracle *o, int victim, int job,
                       const struct rules *rules)
{
    int queue = o->in->jobs[victim].queue;
    int gap = oracle_level(o, job) - oracle_level(o, victim);

    if (rules->takes_surplus ||
        oracle_may_go(o, victim, job, o->node[victim], rules) ||
        may_all_go(o, victim, job, rules)) {
        return true;
    }
    if (o->in->jobs[job].is_borrowed || gap < 0 ||
        (gap == 0 && o->in->jobs[victim].frozen_until > o->now)) {
        return false;
    }
    /* It is like work of lifetime 0, whatever its class says. */
    if (queue == o->in->jobs[job].queue || o->in->is_preemption_off) {
        return queue == o->in->jobs[job].queue;
    }
    if ((gap > 0 && !o->in->is_urgency_off)) {
        return true;
    }
    return !o->in->is_fair_share_off &&
           !instance_has_cooldown(o->in, job, o->now) &&
           (o->is_over[queue] ||
            oracle_compare(o, o->key, cost_of_all(o, queue)) < 0);
}
