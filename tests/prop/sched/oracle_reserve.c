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

/* Where a unit's members would go, one after the other. */
struct fitting {
    int room[INSTANCE_NODES_MAX][INSTANCE_KINDS];  /* at the time in question */
    int taken[INSTANCE_NODES_MAX][INSTANCE_KINDS]; /* by the unit */
};

static bool has_room_for(const struct oracle *o, const struct fitting *fitting,
                         int job, int node, bool is_on_empty)
{
    int left[INSTANCE_KINDS];

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        left[k] = is_on_empty
                      ? o->in->nodes[node].capacity[k] - fitting->taken[node][k]
                      : fitting->room[node][k];
    }
    return oracle_allows(o, job, node) && oracle_fits(o, job, left);
}

/* The fullest node that has room; on empty ones that with the most. */
static int best_node(const struct oracle *o, const struct fitting *fitting,
                     int job, int rack, bool is_on_empty)
{
    int best = NO_NODE;
    uint64_t best_key = 0;

    for (int n = 0; n < o->in->node_count; n++) {
        uint64_t key = oracle_weigh(o, fitting->room[n]);
        if ((!rack || o->in->nodes[n].rack == rack) &&
            has_room_for(o, fitting, job, n, is_on_empty) &&
            (best == NO_NODE ||
             (is_on_empty ? key > best_key : key < best_key))) {
            best = n;
            best_key = key;
        }
    }
    return best;
}

/* How many of a unit's members must have a place: of a gang those that its
 * minimum lacks. */
static int needed_of(const struct oracle *o, int unit)
{
    int waiting = 0, lacking = 1;

    for (int j = 0; j < o->in->job_count; j++) {
        waiting += oracle_is_member(o, unit, j);
    }
    if (o->in->jobs[unit].gang) {
        lacking = o->in->jobs[unit].minimum - oracle_gang_running(o, unit);
        lacking = lacking < 1 ? 1 : lacking;
    }
    return lacking < waiting ? lacking : waiting;
}

static bool fits_in_rack(const struct oracle *o, int unit, int rack, int at,
                         struct fitting *ret_fitting)
{
    int last = -1, node = NO_NODE, needed = needed_of(o, unit);
    bool is_done[INSTANCE_JOBS_MAX] = {0};

    memset(ret_fitting, 0, sizeof(*ret_fitting));
    for (int n = 0; n < o->in->node_count; n++) {
        room_at(o, n, unit, at, ret_fitting->room[n]);
    }
    for (;;) {
        int job = -1;
        for (int j = 0; j < o->in->job_count; j++) {
            if (oracle_is_member(o, unit, j) && !is_done[j] &&
                (job < 0 || oracle_job_before(o, j, job))) {
                job = j;
            }
        }
        if (job < 0 || needed == 0) {
            return needed == 0;
        }
        /* The like of the one before goes on where that one went. */
        bool goes_on = node != NO_NODE && !o->in->jobs[job].avoided &&
                       !o->in->jobs[last].avoided &&
                       oracle_is_like(&o->in->jobs[last], &o->in->jobs[job]) &&
                       has_room_for(o, ret_fitting, job, node, at == INT_MAX);
        node = goes_on ? node
                       : best_node(o, ret_fitting, job, rack, at == INT_MAX);
        is_done[job] = true;
        last = job;
        if (node == NO_NODE) {
            continue;
        }
        needed--;
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            ret_fitting->room[node][k] -= o->in->jobs[job].request[k];
            ret_fitting->taken[node][k] += o->in->jobs[job].request[k];
        }
    }
}

static bool fits_at(const struct oracle *o, int unit, int at,
                    struct fitting *ret_fitting)
{
    if (!o->in->jobs[unit].gang || !o->in->jobs[unit].is_uniform) {
        return fits_in_rack(o, unit, 0, at, ret_fitting);
    }
    for (int rack = 1; rack <= 2; rack++) {
        int only = oracle_running_rack(o, unit);
        if ((!only || only == rack) &&
            fits_in_rack(o, unit, rack, at, ret_fitting)) {
            return true;
        }
    }
    return false;
}

static void hold_places(struct oracle *o, int unit, int at,
                        const struct fitting *fitting)
{
    for (int n = 0; n < o->in->node_count; n++) {
        o->hold.is_reserved[n] = fitting->taken[n][0] || fitting->taken[n][1];
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            int left = fitting->room[n][k];
            o->hold.extra[n][k] = left > 0 ? left : 0;
        }
    }
    o->hold.start = at;
    o->hold.unit = unit;
    o->hold.is_made = true;
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
    struct fitting fitting;

    o->hold.serial = serial;
    for (int at = o->now;; at = next_bound(o, unit, at)) {
        if (fits_at(o, unit, at, &fitting)) {
            hold_places(o, unit, at, &fitting);
            return true;
        }
        if (at == INT_MAX) {
            return false;
        }
    }
}
