/* A queue's own reservation (model.md 3.5): under `stateaware`, what a later
 * stage of an older application has no room for is kept from applications that
 * would start after it, by a reservation that binds only those of the queue,
 * unless the pool's is that of its later stages. */
#include "oracle_private.h"

static bool is_accepted(const struct oracle *o, int unit)
{
    const struct instance_job *job = &o->in->jobs[unit];

    return oracle_app_state(o, job->queue, job->app) == SCHED_APP_ACCEPTED;
}

static bool reserves(const struct oracle *o, int queue)
{
    return o->in->window && o->in->has_backfill &&
           o->in->queues[queue].ordering == QUEUE_BY_STATEAWARE;
}

/* Whether a unit of later stages has found no room by another one's turn, or
 * would have had its own before, but was not even tried since no node has room
 * for its like. */
static bool is_unmet(const struct oracle *o, int unit, int other)
{
    bool is_left_out = o->is_hopeless[unit] && !o->is_passed_over[unit] &&
                       oracle_unit_before(o, unit, other) &&
                       (o->is_barred[unit] || !oracle_has_window(o, unit));

    return o->status[unit] == WAITING && oracle_is_head(o, unit) &&
           !o->admitted[unit] && !is_accepted(o, unit) &&
           (o->has_missed[unit] || is_left_out);
}

/* Whether a unit of an older application stands before one in their queue. */
static bool stands_before(const struct oracle *o, int older, int unit)
{
    int queue = o->in->jobs[unit].queue;
    int gap = oracle_level(o, older) - oracle_level(o, unit);

    return gap && !o->in->queues[queue].is_class_ignored
               ? gap > 0
               : oracle_app_is_earlier(o, queue, o->in->jobs[older].app,
                                       o->in->jobs[unit].app);
}

/* The first of them before a unit in its queue's order, or -1. */
static int first_unmet(const struct oracle *o, int unit)
{
    int first = -1;

    for (int j = 0; j < o->in->job_count; j++) {
        if (o->in->jobs[j].queue == o->in->jobs[unit].queue &&
            is_unmet(o, j, unit) && stands_before(o, j, unit) &&
            (first < 0 || oracle_unit_before(o, j, first))) {
            first = j;
        }
    }
    return first;
}

/* When the plan admitted a unit. */
static int admitted_at(const struct oracle *o, int unit)
{
    int at = 0;

    while (at < o->plan->count &&
           !(o->plan->decisions[at].action == SCHED_ADMIT &&
             oracle_is_member(o, unit, o->plan->decisions[at].job))) {
        at++;
    }
    return at;
}

static bool is_first_admitted(const struct oracle *o, int a, int b)
{
    int gap = oracle_level(o, a) - oracle_level(o, b);

    if (gap) {
        return gap > 0;
    }
    return o->admitted[a] != o->admitted[b]
               ? o->admitted[a] < o->admitted[b]
               : admitted_at(o, a) < admitted_at(o, b);
}

/* The queue's first that was admitted, of an application that goes on and
 * stands before a unit; or -1. */
static int first_admitted(const struct oracle *o, int unit)
{
    int first = -1;

    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] == WAITING && o->admitted[j] && oracle_is_head(o, j) &&
            o->in->jobs[j].queue == o->in->jobs[unit].queue &&
            !is_accepted(o, j) && stands_before(o, j, unit) &&
            (first < 0 || is_first_admitted(o, j, first))) {
            first = j;
        }
    }
    return first;
}

static void make(struct oracle *o, struct own *own, int unit)
{
    struct hold of_pool = o->hold;
    int serial = o->admitted[unit];

    o->hold.is_made = false;
    if (serial) {
        oracle_mark_admitted(o, unit, 0);
    }
    bool is_possible = oracle_reserve(o, unit, serial);
    if (serial) {
        oracle_mark_admitted(o, unit, serial);
    }
    own->hold = o->hold;
    own->hold.is_made = is_possible;
    own->hold.is_unlisted = !serial;
    own->is_made = true;
    o->hold = of_pool;
}

bool oracle_has_own(struct oracle *o, int unit)
{
    int queue = o->in->jobs[unit].queue;
    struct own *own = &o->own[queue];
    bool is_held_by_pool = o->hold.is_made &&
                           o->in->jobs[o->hold.unit].queue == queue &&
                           !is_accepted(o, o->hold.unit);

    if (!reserves(o, queue) || !is_accepted(o, unit)) {
        return false;
    }
    if (is_held_by_pool) {
        return false;
    }
    int first = first_admitted(o, unit);
    first = first < 0 ? first_unmet(o, unit) : first;
    if (first < 0) {
        return false;
    }
    if (!own->is_made) {
        make(o, own, first);
    }
    /* What is more urgent goes beside it anywhere. */
    return own->hold.is_made &&
           oracle_level(o, unit) <= oracle_level(o, own->hold.unit);
}
