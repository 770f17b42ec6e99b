/* When what runs is gone at the latest, and the backfill test that goes by it
 * (model.md 2.8, 2.9). */
#include "oracle_private.h"

static int later(int at, int by)
{
    return by > INT_MAX - at ? INT_MAX : at + by;
}

static int lifetime_of(const struct oracle *o, int job)
{
    int lifetime = instance_lifetime(o->in, job);

    return lifetime == ENDLESS ? INT_MAX : lifetime;
}

static int deadline_of(const struct oracle *o, int job)
{
    int deadline = o->in->jobs[job].deadline;

    return deadline ? deadline : INT_MAX;
}

int oracle_run_max(const struct oracle *o, int job)
{
    int lifetime = lifetime_of(o, job), deadline = deadline_of(o, job);

    return lifetime < deadline ? lifetime : deadline;
}

bool oracle_is_evictable(const struct oracle *o, int job)
{
    int lifetime = lifetime_of(o, job), started = o->in->jobs[job].started;

    return lifetime == 0 || (lifetime != INT_MAX && started != NOT_STARTED &&
                             later(started, lifetime) <= o->now);
}

bool oracle_is_bounded(const struct oracle *o, const struct hold *hold, int job)
{
    return hold->start < INT_MAX &&
           later(o->now, deadline_of(o, job)) <= hold->start;
}

enum pass oracle_pass_by(const struct oracle *o, const struct hold *hold,
                         int job, int node)
{
    int lifetime = o->is_growing ? 0 : lifetime_of(o, job);

    /* A class counts for nothing away from home. */
    bool is_above = oracle_level(o, job) > oracle_level(o, hold->unit) &&
                    !o->in->jobs[job].is_borrowed;

    if (!hold->is_made || !hold->is_reserved[node] || is_above) {
        return BACKFILL_BESIDE;
    }
    if (oracle_is_bounded(o, hold, job)) {
        return BACKFILL_ENDS_IN_TIME;
    }
    if (!hold->is_unlisted &&
        (hold->start == INT_MAX ? lifetime == 0
                                : later(o->now, lifetime) <= hold->start)) {
        return BACKFILL_REVOCABLE;
    }
    /* Who has the node to itself leaves nothing beside it. */
    return !o->in->jobs[job].is_whole && oracle_fits(o, job, hold->extra[node])
               ? BACKFILL_BESIDE
               : BACKFILL_NO;
}

int oracle_fair_from(const struct oracle *o)
{
    int promised = o->in->jobs[o->hold.unit].promised;

    return promised > o->now && promised < o->hold.start ? promised
                                                         : o->hold.start;
}

bool oracle_is_soon(const struct oracle *o, int job, int node)
{
    return oracle_pass_by(o, &o->hold, job, node) == BACKFILL_REVOCABLE &&
           later(o->now, instance_cooldown_ms(o->in)) > oracle_fair_from(o);
}

enum pass oracle_pass(const struct oracle *o, int job, int node)
{
    if (o->own_of && oracle_pass_by(o, &o->own[o->own_of - 1].hold, job,
                                    node) == BACKFILL_NO) {
        return BACKFILL_NO;
    }
    return oracle_pass_by(o, &o->hold, job, node);
}

static bool revocable_for_hold(const struct oracle *o, int job)
{
    return o->in->jobs[job].revocable_for && o->status[job] != PLACED &&
           o->in->jobs[job].revocable_for == o->hold.serial;
}

/* Whether it would be evicted for the unit once it is old enough. */
static bool would_go(const struct oracle *o, int job, int unit)
{
    int queue = o->in->jobs[job].queue, amounts[INSTANCE_KINDS] = {0};

    for (int j = 0; j < o->in->job_count; j++) {
        bool counts = o->in->jobs[j].is_there &&
                      o->in->jobs[j].queue == queue &&
                      o->in->jobs[j].node != NO_NODE;
        for (int k = 0; counts && k < INSTANCE_KINDS; k++) {
            amounts[k] += o->in->jobs[j].request[k];
        }
    }
    return !o->is_without_shares && !o->in->is_fair_share_off &&
           !o->in->is_preemption_off && o->is_over[queue] &&
           !instance_has_cooldown(o->in, unit, o->now) &&
           oracle_level(o, job) <= oracle_level(o, unit) &&
           oracle_compare(o, oracle_key(o, unit),
                          oracle_cost(o, queue, amounts)) < 0;
}

int oracle_bound(const struct oracle *o, int job, int unit)
{
    int started = o->in->jobs[job].started;
    int start =
        o->status[job] == PLACED || started == NOT_STARTED ? o->now : started;
    int bound = later(start, deadline_of(o, job));

    if (o->status[job] != PLACED && oracle_is_urgency_preemptible(o, job) &&
        oracle_level(o, job) < oracle_level(o, unit) &&
        !o->in->is_urgency_off && !o->in->is_preemption_off) {
        return o->now; /* a more urgent one takes it as soon as it may */
    }
    if (oracle_may_recall(o, job) && !o->in->jobs[unit].is_borrowed) {
        return o->now; /* so does any of the pool's own a borrower's */
    }
    bound = bound <= o->now ? o->now + 1 : bound; /* overdue */
    int evictable = later(start, lifetime_of(o, job));
    if (revocable_for_hold(o, job)) {
        int at = o->in->jobs[job].yields_at_once ? start : evictable;
        int from = o->in->jobs[job].yields_from;
        at = from > at ? from : at;
        bound = at < bound ? at : bound;
    }
    if (would_go(o, job, unit)) {
        bound = evictable < bound ? evictable : bound;
    }
    return bound;
}

/* When all that is on a node is gone; INT_MAX: that is not known. */
static int open_at(const struct oracle *o, int node, int unit)
{
    int last = o->now;

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j) && o->node[j] == node) {
            int bound = oracle_bound(o, j, unit);
            last = bound > last ? bound : last;
        }
    }
    return last;
}

/* Whether a node has no room for a unit before all that is there is gone. */
static bool opens_whole(const struct oracle *o, int node, int unit)
{
    int holder = oracle_holder(o, node);

    return holder ? holder != o->in->jobs[unit].gang
                  : o->in->jobs[unit].is_whole && oracle_is_used(o, node);
}

void oracle_room_at(const struct oracle *o, int node, int unit, int at,
                    int room[INSTANCE_KINDS])
{
    if (opens_whole(o, node, unit)) {
        int open = open_at(o, node, unit);
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            room[k] = open < INT_MAX && open <= at
                          ? o->in->nodes[node].capacity[k]
                          : 0;
        }
        return;
    }
    for (int k = 0; k < INSTANCE_KINDS; k++) {
        room[k] = oracle_free(o, node, k);
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j) && o->node[j] == node) {
            int bound = oracle_bound(o, j, unit);
            for (int k = 0; k < INSTANCE_KINDS; k++) {
                room[k] += bound < INT_MAX && bound <= at
                               ? o->in->jobs[j].request[k]
                               : 0;
            }
        }
    }
}
