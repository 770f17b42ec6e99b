/* The reservation of the first that has no room, and the backfill test
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

bool oracle_is_ripe(const struct oracle *o, int job)
{
    int lifetime = lifetime_of(o, job), started = o->in->jobs[job].started;

    return lifetime == 0 || (lifetime != INT_MAX && started != NOT_STARTED &&
                             later(started, lifetime) <= o->now);
}

/* The test. */

bool oracle_is_bounded(const struct oracle *o, int job)
{
    return o->hold.start < INT_MAX &&
           later(o->now, deadline_of(o, job)) <= o->hold.start;
}

enum pass oracle_pass(const struct oracle *o, int job, int node)
{
    const struct hold *hold = &o->hold;
    int lifetime = lifetime_of(o, job);

    if (!hold->is_made || !hold->is_reserved[node] ||
        oracle_level(o, job) > oracle_level(o, hold->unit)) {
        return PASS_BESIDE;
    }
    if (oracle_is_bounded(o, job)) {
        return PASS_BOUND;
    }
    if (hold->start == INT_MAX ? lifetime == 0
                               : later(o->now, lifetime) <= hold->start) {
        return PASS_YIELDS;
    }
    return oracle_fits(o, job, hold->extra[node]) ? PASS_BESIDE : PASS_NO;
}

/* Whether it would be evicted for the unit once it is old enough. */
static bool would_go(const struct oracle *o, int job, int unit)
{
    int queue = o->in->jobs[job].queue, amounts[INSTANCE_KINDS] = {0};

    if (o->in->jobs[job].yields_to && o->status[job] != PLACED &&
        o->in->jobs[job].yields_to == o->hold.serial) {
        return true;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        bool counts = o->in->jobs[j].is_there &&
                      o->in->jobs[j].queue == queue &&
                      o->in->jobs[j].node != NO_NODE;
        for (int k = 0; counts && k < INSTANCE_KINDS; k++) {
            amounts[k] += o->in->jobs[j].request[k];
        }
    }
    return !o->in->is_fair_share_off && o->is_over[queue] &&
           oracle_level(o, job) <= oracle_level(o, unit) &&
           oracle_compare(o, oracle_key(o, unit),
                          oracle_cost(o, queue, amounts)) < 0;
}

/* When what a run has is free, for a unit; INT_MAX: not known. */
static int bound_of(const struct oracle *o, int job, int unit)
{
    int started = o->in->jobs[job].started;
    int start =
        o->status[job] == PLACED || started == NOT_STARTED ? o->now : started;
    int bound = later(start, deadline_of(o, job));

    if (o->status[job] != PLACED && oracle_is_preemptible(o, job) &&
        oracle_level(o, job) < oracle_level(o, unit) &&
        !o->in->is_urgency_off) {
        return o->now; /* a more urgent one takes it as soon as it may */
    }
    bound = bound <= o->now ? o->now + 1 : bound; /* overdue */
    if (would_go(o, job, unit)) {
        int ripe = later(start, lifetime_of(o, job));
        bound = ripe < bound ? ripe : bound;
    }
    return bound;
}

/* What a node has when all bounds up to a time have passed. */
static void room_at(const struct oracle *o, int node, int unit, int at,
                    int room[INSTANCE_KINDS])
{
    for (int k = 0; k < INSTANCE_KINDS; k++) {
        room[k] = oracle_free(o, node, k);
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j) && o->node[j] == node) {
            int bound = bound_of(o, j, unit);
            for (int k = 0; k < INSTANCE_KINDS; k++) {
                room[k] += bound < INT_MAX && bound <= at
                               ? o->in->jobs[j].request[k]
                               : 0;
            }
        }
    }
}

static void reserve_on(struct oracle *o, int unit, int node, int at)
{
    o->hold.is_reserved[node] = true;
    room_at(o, node, unit, at, o->hold.extra[node]);
    for (int k = 0; k < INSTANCE_KINDS; k++) {
        o->hold.extra[node][k] -= o->in->jobs[unit].request[k];
        o->hold.extra[node][k] =
            o->hold.extra[node][k] > 0 ? o->hold.extra[node][k] : 0;
    }
    o->hold.start = at;
    o->hold.unit = unit;
    o->hold.is_made = true;
}

/* The best node that has room at a time; at INT_MAX that has most of it. */
static int best_at(const struct oracle *o, int unit, int at)
{
    int best = NO_NODE;
    uint64_t best_key = 0;

    for (int n = 0; n < o->in->node_count; n++) {
        int room[INSTANCE_KINDS];
        room_at(o, n, unit, at, room);
        uint64_t key = oracle_weigh(o, room);
        bool fits = at < INT_MAX
                        ? oracle_fits(o, unit, room)
                        : oracle_fits(o, unit, o->in->nodes[n].capacity);
        if (oracle_allows(o, unit, n) && fits &&
            (best == NO_NODE ||
             (at < INT_MAX ? key < best_key : key > best_key))) {
            best = n;
            best_key = key;
        }
    }
    return best;
}

/* The next bound after a time, or INT_MAX. */
static int next_bound(const struct oracle *o, int unit, int after)
{
    int next = INT_MAX;

    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j)) {
            int bound = bound_of(o, j, unit);
            next = bound > after && bound < next ? bound : next;
        }
    }
    return next;
}

bool oracle_reserve(struct oracle *o, int unit, int serial)
{
    o->hold.serial = serial;
    for (int at = o->now;; at = next_bound(o, unit, at)) {
        int node = best_at(o, unit, at);
        if (node != NO_NODE) {
            reserve_on(o, unit, node, at);
            return true;
        }
        if (at == INT_MAX) {
            return false;
        }
    }
}
