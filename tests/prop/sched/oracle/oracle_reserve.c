/* The reservation of the first that has no room (model.md 2.9). */
#include "oracle_private.h"

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
    return oracle_is_place(o, job, node) && oracle_fits(o, job, left);
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
    if (o->in->jobs[unit].has_terms) {
        return waiting;
    }
    if (o->in->jobs[unit].gang) {
        lacking = o->in->jobs[unit].minimum - oracle_gang_running(o, unit);
        lacking = lacking < 1 ? 1 : lacking;
    }
    return lacking < waiting ? lacking : waiting;
}

/* The member to go next: those that are like the last one stand together. */
static int next_member(const struct oracle *o, int unit, int last,
                       const bool *is_done)
{
    int next = -1;
    bool is_like = false;

    for (int j = 0; j < o->in->job_count; j++) {
        if (!oracle_is_member(o, unit, j) || is_done[j]) {
            continue;
        }
        bool is_same =
            last >= 0 && oracle_is_like(&o->in->jobs[last], &o->in->jobs[j]);
        if (next < 0 || is_same > is_like ||
            (is_same == is_like && oracle_job_before(o, j, next))) {
            next = j;
            is_like = is_same;
        }
    }
    return next;
}

static bool fits_in_rack(const struct oracle *o, int unit, int rack, int at,
                         struct fitting *ret_fitting)
{
    int last = -1, node = NO_NODE, needed = needed_of(o, unit);
    bool is_done[INSTANCE_JOBS_MAX] = {0};

    memset(ret_fitting, 0, sizeof(*ret_fitting));
    for (int n = 0; n < o->in->node_count; n++) {
        oracle_room_at(o, n, unit, at, ret_fitting->room[n]);
    }
    if (o->in->jobs[unit].is_whole && at < INT_MAX) {
        return oracle_fits_whole(o, unit, ret_fitting->room,
                                 ret_fitting->taken);
    }
    for (;;) {
        int job = next_member(o, unit, last, is_done);
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

/* Whether a gang is near together then: as what has ended leaves free space. */
static bool fits_near(const struct oracle *o, int unit, int at,
                      struct fitting *ret_fitting)
{
    struct oracle later = *o;
    struct oracle_plan plan = {0};

    later.plan = &plan;
    memset(ret_fitting, 0, sizeof(*ret_fitting));
    for (int n = 0; n < o->in->node_count; n++) {
        oracle_room_at(o, n, unit, at, ret_fitting->room[n]);
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j) && oracle_bound(o, j, unit) <= at) {
            later.status[j] = ENDED;
        }
    }
    if (!oracle_place_near(&later, unit)) {
        return false;
    }
    for (int i = 0; i < plan.count; i++) {
        const struct oracle_decision *lease = &plan.decisions[i];
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            int amount = o->in->jobs[lease->job].request[k];
            ret_fitting->room[lease->node][k] -= amount;
            ret_fitting->taken[lease->node][k] += amount;
        }
    }
    return true;
}

/* The same cluster after cluster. */
static bool fits_near_in_one(const struct oracle *o, int unit, int at,
                             struct fitting *ret_fitting)
{
    struct oracle there = *o;

    if (oracle_group_count(o, unit) == 1) {
        return fits_near(o, unit, at, ret_fitting);
    }
    for (int i = 0; i < oracle_group_count(o, unit); i++) {
        there.only = oracle_group(o, unit, i);
        if (there.only && fits_near(&there, unit, at, ret_fitting)) {
            return true;
        }
    }
    return false;
}

/* The highest domains that the cap of a gang's only sub-group that asks
 * allows, one after the other: on empty nodes. */
static bool fits_in_domain(const struct oracle *o, int unit,
                           struct fitting *ret_fitting)
{
    struct oracle there = *o;

    unsigned domains[ORACLE_DOMAINS_MAX];
    int count = oracle_domains(o, unit, domains);

    for (int i = 0; i < count; i++) {
        there.only = domains[i];
        if (fits_in_rack(&there, unit, 0, INT_MAX, ret_fitting)) {
            return true;
        }
    }
    return false;
}

static bool fits_at(const struct oracle *o, int unit, int at,
                    struct fitting *ret_fitting)
{
    if (o->in->jobs[unit].has_terms && o->in->has_topology) {
        return at < INT_MAX ? fits_near_in_one(o, unit, at, ret_fitting)
                            : fits_in_domain(o, unit, ret_fitting);
    }
    if (!o->in->jobs[unit].gang || oracle_group_count(o, unit) == 1) {
        return fits_in_rack(o, unit, 0, at, ret_fitting);
    }
    struct oracle there = *o;
    for (int i = 0; i < oracle_group_count(o, unit); i++) {
        there.only = oracle_group(o, unit, i);
        if (there.only && fits_in_rack(&there, unit, 0, at, ret_fitting)) {
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
            /* Of a node that it has whole nothing is left. */
            int left = o->in->jobs[unit].is_whole ? 0 : fitting->room[n][k];
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
            int bound = oracle_bound(o, j, unit);
            next = bound > after && bound < next ? bound : next;
        }
    }
    return next;
}

/* At the first time at which it fits. */
static bool reserve_first(struct oracle *o, int unit)
{
    struct fitting fitting;

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

bool oracle_reserve(struct oracle *o, int unit, int serial)
{
    o->hold.serial = serial;
    if (o->in->jobs[unit].has_terms && o->in->has_topology &&
        !oracle_may_be_near(o, unit)) {
        return false;
    }
    struct hold before = o->hold;
    o->is_without_shares = false;
    bool is_made = reserve_first(o, unit);
    if (is_made && o->hold.start <= o->now) {
        /* It has no room now: what is over its share was not enough. */
        o->hold = before;
        o->is_without_shares = true;
        is_made = reserve_first(o, unit);
    }
    return is_made;
}
