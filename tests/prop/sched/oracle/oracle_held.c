/* What limits of its queue refuse only because work of the queue runs waits as
 * the head, and the limits are kept for it (model.md 2.2, 2.9). */
#include "oracle_private.h"

/* What a queue has, and may have, of a limit that counts cores. */
struct limit {
    bool is_one;
    int most, used;
};

/* When a run ends by its deadline, for the limits of its own queue. */
static int end_of(const struct oracle *o, int job)
{
    int deadline = o->in->jobs[job].deadline;
    int started = o->in->jobs[job].started;
    int start =
        o->status[job] == PLACED || started == NOT_STARTED ? o->now : started;

    if (!deadline || deadline > INT_MAX - start) {
        return INT_MAX;
    }
    return start + deadline > o->now ? start + deadline : o->now + 1;
}

static bool is_of_class(const struct oracle *o, int job)
{
    return o->in->jobs[job].priority_class == 0;
}

/* The limit on the first class, where it is less than the pool: what of the
 * queue has not ended by a time. */
static struct limit class_at(const struct oracle *o, int unit, int at)
{
    struct limit limit = {
        .is_one = o->in->limit_percent && o->in->limit_percent < 100 &&
                  is_of_class(o, unit),
        .most = o->in->limit_percent * instance_total(o->in, 0) / 100,
    };

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j) && is_of_class(o, j) &&
            o->in->jobs[j].queue == o->in->jobs[unit].queue &&
            !oracle_may_recall(o, j) && !(end_of(o, j) <= at && at < INT_MAX)) {
            limit.used += o->in->jobs[j].request[0];
        }
    }
    return limit;
}

static struct limit quota_at(const struct oracle *o, int unit, int at)
{
    const struct instance_queue *queue =
        &o->in->queues[o->in->jobs[unit].queue];
    struct limit limit = {
        .is_one = queue->quota,
        .most = queue->quota,
        .used = oracle_quota_used(o, unit),
    };

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j) &&
            o->in->jobs[j].queue == o->in->jobs[unit].queue &&
            end_of(o, j) <= at && at < INT_MAX) {
            limit.used -= o->in->jobs[j].request[0];
        }
    }
    return limit;
}

static bool lets(struct limit limit, int cores)
{
    return !limit.is_one || !cores || limit.used + cores <= limit.most;
}

bool oracle_limits_could(const struct oracle *o, int unit,
                         const int request[INSTANCE_KINDS])
{
    const struct instance_queue *queue =
        &o->in->queues[o->in->jobs[unit].queue];
    bool is_in_class =
        !o->in->limit_percent || !is_of_class(o, unit) ||
        request[0] * 100 <= o->in->limit_percent * instance_total(o->in, 0);

    return is_in_class &&
           (!queue->quota ||
            request[0] + oracle_quota_elsewhere(o, unit) <= queue->quota);
}

/* The first time at which ends of its queue's runs let a unit go. */
static int let_at(const struct oracle *o, int unit, int cores)
{
    for (int at = o->now;;) {
        if (lets(class_at(o, unit, at), cores) &&
            lets(quota_at(o, unit, at), cores)) {
            return at;
        }
        int next = INT_MAX;
        for (int j = 0; j < o->in->job_count; j++) {
            int end = oracle_runs(o, j) &&
                              o->in->jobs[j].queue == o->in->jobs[unit].queue
                          ? end_of(o, j)
                          : INT_MAX;
            next = end > at && end < next ? end : next;
        }
        if (next == INT_MAX) {
            return INT_MAX;
        }
        at = next;
    }
}

/* Keep the limits for a unit from a time on. */
static void hold_limits(struct oracle *o, int unit, int cores, int at)
{
    struct limit of_class = class_at(o, unit, at);
    struct limit quota = quota_at(o, unit, at);

    if (of_class.is_one || quota.is_one) {
        o->kept[o->in->jobs[unit].queue] = (struct held){
            .is_made = true,
            .unit = unit,
            .at = at,
            .has_class = of_class.is_one,
            .has_quota = quota.is_one,
            .class_left = of_class.most - of_class.used - cores,
            .quota_left = quota.most - quota.used - cores,
        };
    }
}

/* Whether a unit that could have a reservation waits for it: its start is far
 * away, nobody was told of one, and it has not waited long enough. */
static bool is_put_off(const struct oracle *o, int unit, int serial)
{
    const struct instance_job *job = &o->in->jobs[unit];
    int since = serial && serial < INT_MAX ? job->admitted_at : o->now;

    return o->in->delay_ms && job->promised == INT_MAX &&
           o->now - since < o->in->delay_ms &&
           (o->hold.start == INT_MAX ||
            o->hold.start - o->now > o->in->delay_ms);
}

bool oracle_hold_for(struct oracle *o, int unit, int serial)
{
    int least[INSTANCE_KINDS] = {0};

    oracle_least(o, unit, least);
    if (o->is_put_off || o->kept[o->in->jobs[unit].queue].is_made) {
        return oracle_could_reserve(o, unit);
    }
    int at = let_at(o, unit, least[0]);
    if (at == INT_MAX) {
        if (!oracle_could_reserve(o, unit)) {
            return false;
        }
        hold_limits(o, unit, least[0], at);
        return true;
    }
    if (!oracle_reserve(o, unit, serial)) {
        return false;
    }
    o->hold.start = at > o->hold.start ? at : o->hold.start;
    if (is_put_off(o, unit, serial)) {
        o->is_put_off = true;
        o->hold.is_made = false;
        return true;
    }
    hold_limits(o, unit, least[0], o->hold.start);
    return true;
}

/* Whether a job that starts now ends before the limits are needed. */
static bool ends_in_time(const struct oracle *o, const struct held *held,
                         int job)
{
    int deadline = o->in->jobs[job].deadline;

    return held->at < INT_MAX && deadline && deadline <= held->at - o->now;
}

bool oracle_held_allows(const struct oracle *o, int job, int cores)
{
    const struct held *held = &o->kept[o->in->jobs[job].queue];

    return !held->is_made || o->is_lending || o->is_growing ||
           ends_in_time(o, held, job) || !cores ||
           ((!held->has_quota || cores <= held->quota_left) &&
            (!held->has_class || !is_of_class(o, job) ||
             cores <= held->class_left));
}

void oracle_held_charge(struct oracle *o, int job)
{
    struct held *held = &o->kept[o->in->jobs[job].queue];

    if (!held->is_made || o->is_lending || ends_in_time(o, held, job)) {
        return;
    }
    held->quota_left -= o->in->jobs[job].request[0];
    held->class_left -= is_of_class(o, job) ? o->in->jobs[job].request[0] : 0;
}
