/* Who takes part in a step of growth: the sub-groups that may grow, of gangs
 * that have their minimums (model.md 4.5). */
#include "oracle_private.h"

/* Members of a sub-group that run once the plan is acted on, or succeeded. */
static int count_of(const struct oracle *o, int gang, int sub_group)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *job = &o->in->jobs[j];
        count += oracle_same_gang(o, gang, j) && job->sub_group == sub_group &&
                 (oracle_runs(o, j) || job->has_succeeded);
    }
    return count;
}

static bool is_whole(const struct oracle *o, int gang)
{
    bool runs = false;

    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *job = &o->in->jobs[j];
        if (!oracle_same_gang(o, gang, j)) {
            continue;
        }
        runs |= oracle_runs(o, j);
        if (count_of(o, j, job->sub_group) < job->sub_minimum) {
            return false;
        }
    }
    return runs;
}

bool oracle_is_elastic(const struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *other = &o->in->jobs[j];
        if (oracle_same_gang(o, job, j) && other->has_terms &&
            other->sub_minimum < other->sub_count) {
            return true;
        }
    }
    return false;
}

/* Members of a sub-group of a status. */
static int count_status(const struct oracle *o, int gang, int sub_group,
                        enum status status)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += oracle_same_gang(o, gang, j) && o->status[j] == status &&
                 o->in->jobs[j].sub_group == sub_group;
    }
    return count;
}

/* Members of a sub-group that have succeeded. */
static int count_ended(const struct oracle *o, int gang, int sub_group)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += oracle_same_gang(o, gang, j) && o->in->jobs[j].has_succeeded &&
                 o->in->jobs[j].sub_group == sub_group;
    }
    return count;
}

/* The sub-group that a job is of. */
static struct grower grower_of(const struct oracle *o, int job)
{
    const struct instance_job *record = &o->in->jobs[job];
    int sub_group = record->sub_group;

    struct grower grower = {
        .gang = record->gang,
        .sub_group = sub_group,
        .first = -1,
        .queue = record->queue,
        .request = {record->request[0], record->request[1],
                    record->request[SEATS]},
        .min = record->sub_minimum,
        .count = count_of(o, job, sub_group),
        .is_held = o->in->queues[record->queue].is_cordoned ||
                   oracle_gang_count(o, job, PREEMPTED) > 0,
        .is_frozen = record->frozen_until > o->now,
    };
    for (int j = o->in->job_count - 1; j >= 0; j--) {
        bool is_of = oracle_same_gang(o, job, j) && o->in->jobs[j].is_there;
        grower.first = is_of ? j : grower.first;
    }
    grower.spare = count_status(o, job, sub_group, SPARE);
    /* What has succeeded cannot go. */
    int ended = count_ended(o, job, sub_group);
    grower.min = grower.min > ended ? grower.min : ended;
    return grower;
}

int oracle_growers(const struct oracle *o, struct grower *growers)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *job = &o->in->jobs[j];
        bool is_first = job->has_terms && !job->is_borrowed; /* UM-06 */
        for (int k = 0; k < j; k++) {
            is_first &= !oracle_same_gang(o, j, k) ||
                        o->in->jobs[k].sub_group != job->sub_group;
        }
        if (is_first && job->sub_minimum < job->sub_count && is_whole(o, j)) {
            growers[count] = grower_of(o, j);
            count += growers[count].spare > 0 ||
                     growers[count].count > growers[count].min;
        }
    }
    return count;
}
