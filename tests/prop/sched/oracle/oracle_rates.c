/* Limits on starts (model.md 6.10b).  One that is reached stops all that it
 * covers for the plan, also smaller work behind: so that large work gets its
 * turn. */
#include "oracle_private.h"

bool oracle_is_held(const struct oracle *o, int job)
{
    return o->are_starts_over || o->are_cores_over ||
           o->is_queue_over[o->in->jobs[job].queue];
}

bool oracle_may_start_so(struct oracle *o, int queue, int count, int cores)
{
    if (!start_limit_has(&o->starts, count, o->now)) {
        o->are_starts_over = true;
    } else if (!start_limit_has(&o->queue_starts[queue], count, o->now)) {
        o->is_queue_over[queue] = true;
    } else if (!start_limit_has(&o->start_cores, cores * 1000, o->now)) {
        o->are_cores_over = true;
    }
    return !o->are_starts_over && !o->are_cores_over &&
           !o->is_queue_over[queue];
}

bool oracle_may_start(struct oracle *o, int unit)
{
    int count = 0, request[INSTANCE_KINDS] = {0};

    for (int j = 0; j < o->in->job_count; j++) {
        count += oracle_is_member(o, unit, j);
    }
    oracle_unit_sum(o, unit, request);
    return oracle_may_start_so(o, o->in->jobs[unit].queue, count, request[0]);
}

void oracle_count_start(struct oracle *o, int job)
{
    start_limit_take(&o->starts, 1, o->now);
    start_limit_take(&o->queue_starts[o->in->jobs[job].queue], 1, o->now);
    start_limit_take(&o->start_cores, o->in->jobs[job].request[0] * 1000,
                     o->now);
}
