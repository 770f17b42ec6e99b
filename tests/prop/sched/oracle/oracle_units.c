/* What is decided as one: a job, or the members of a gang of one status. */
#include "oracle_private.h"

bool oracle_runs(const struct oracle *o, int job)
{
    return o->status[job] == STEADY || o->status[job] == EVICTED ||
           o->status[job] == RETURNED || o->status[job] == PLACED;
}

int oracle_level(const struct oracle *o, int job)
{
    return o->is_away[job] ? o->in->away_level
                           : CLASSES[o->in->jobs[job].priority_class].priority;
}

int oracle_unit_level(const struct oracle *o, int unit)
{
    int level = oracle_level(o, unit);

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_is_member(o, unit, j) && oracle_level(o, j) < level) {
            level = oracle_level(o, j);
        }
    }
    return level;
}

bool oracle_is_urgency_preemptible(const struct oracle *o, int job)
{
    return !instance_is_kept(o->in, o->in->jobs[job].priority_class);
}

bool oracle_job_before(const struct oracle *o, int a, int b)
{
    const struct instance_job *x = &o->in->jobs[a], *y = &o->in->jobs[b];

    if (x->priority != y->priority) {
        return x->priority < y->priority;
    }
    return x->submitted != y->submitted ? x->submitted < y->submitted : a < b;
}

bool oracle_is_like(const struct instance_job *a, const struct instance_job *b)
{
    return a->priority_class == b->priority_class &&
           a->request[0] == b->request[0] && a->request[1] == b->request[1] &&
           a->request[SEATS] == b->request[SEATS] && a->rack == b->rack &&
           a->is_tolerant == b->is_tolerant && a->lifetime == b->lifetime &&
           a->deadline == b->deadline;
}

bool oracle_is_member(const struct oracle *o, int unit, int job)
{
    const struct instance_job *a = &o->in->jobs[unit], *b = &o->in->jobs[job];

    return unit == job ||
           (a->gang && a->gang == b->gang && a->queue == b->queue &&
            o->status[unit] == o->status[job]);
}

bool oracle_same_gang(const struct oracle *o, int a, int b)
{
    return o->in->jobs[a].gang && o->in->jobs[a].gang == o->in->jobs[b].gang;
}

bool oracle_is_head(const struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (j != job && oracle_is_member(o, job, j) &&
            oracle_job_before(o, job, j)) {
            return false;
        }
    }
    return true;
}

void oracle_unit_sum(const struct oracle *o, int unit,
                     int amounts[INSTANCE_KINDS])
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_is_member(o, unit, j)) {
            for (int k = 0; k < INSTANCE_KINDS; k++) {
                amounts[k] += o->in->jobs[j].request[k];
            }
        }
    }
}

int oracle_unit_leased(const struct oracle *o, int unit)
{
    int latest = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_is_member(o, unit, j) && o->in->jobs[j].leased > latest) {
            latest = o->in->jobs[j].leased;
        }
    }
    return latest;
}

void oracle_mark_unit(struct oracle *o, int unit, enum status status,
                      int ordinal)
{
    bool is_of[INSTANCE_JOBS_MAX];

    for (int j = 0; j < o->in->job_count; j++) {
        is_of[j] = oracle_is_member(o, unit, j);
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (is_of[j]) {
            o->status[j] = status;
            o->ordinal[j] = ordinal >= 0 ? ordinal : o->ordinal[j];
        }
    }
}

int oracle_gang_count(const struct oracle *o, int job, enum status status)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->status[j] == status && oracle_same_gang(o, job, j);
    }
    return count;
}

static bool gang_ran(const struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->in->jobs[j].is_there && oracle_same_gang(o, job, j) &&
            o->in->jobs[j].was_leased) {
            return true;
        }
    }
    return false;
}

int oracle_gang_running(const struct oracle *o, int job)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->in->jobs[j].is_there && oracle_same_gang(o, job, j) &&
                 o->in->jobs[j].node != NO_NODE;
    }
    return count;
}

/* How many of a job's sub-group have succeeded. */
static int sub_succeeded(const struct oracle *o, int job)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->in->jobs[j].has_succeeded && oracle_same_gang(o, job, j) &&
                 o->in->jobs[j].sub_group == o->in->jobs[job].sub_group;
    }
    return count;
}

/* How many of a job's sub-group have a status. */
static int count_sub(const struct oracle *o, int job, enum status status)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->status[j] == status && oracle_same_gang(o, job, j) &&
                 o->in->jobs[j].sub_group == o->in->jobs[job].sub_group;
    }
    return count;
}

void oracle_spare(struct oracle *o)
{
    for (int j = o->in->job_count - 1; j >= 0; j--) {
        const struct instance_job *job = &o->in->jobs[j];
        if (job->has_terms && o->status[j] == WAITING &&
            count_sub(o, j, WAITING) + count_sub(o, j, STEADY) +
                    sub_succeeded(o, j) >
                job->sub_minimum) {
            o->status[j] = SPARE;
        }
    }
}

/* Members of a job's sub-group that ran when the plan began. */
static int sub_running(const struct oracle *o, int job)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->in->jobs[j].is_there && oracle_same_gang(o, job, j) &&
                 o->in->jobs[j].sub_group == o->in->jobs[job].sub_group &&
                 o->in->jobs[j].node != NO_NODE;
    }
    return count;
}

/* Whether all that its minimums lack is asked for. */
static bool has_minimums(const struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_same_gang(o, job, j) && o->in->jobs[j].has_terms &&
            count_sub(o, j, WAITING) + sub_running(o, j) + sub_succeeded(o, j) <
                o->in->jobs[j].sub_minimum) {
            return false;
        }
    }
    return true;
}

bool oracle_gang_is_complete(const struct oracle *o, int job)
{
    int there = 0;

    if (o->in->jobs[job].has_terms) {
        return has_minimums(o, job);
    }
    for (int j = 0; j < o->in->job_count; j++) {
        there += o->in->jobs[j].is_there && oracle_same_gang(o, job, j);
    }
    return gang_ran(o, job) || there >= o->in->jobs[job].cardinality;
}
