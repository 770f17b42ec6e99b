/* The admitted list: what had no room when its turn came (model.md 2.2, 2.9,
 * 6.5). */
#include "oracle_private.h"

/* Units in the list that are of at least this class; of one queue, or -1. */
static int count_admitted(const struct oracle *o, int level, int queue)
{
    int count = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        count += o->status[j] == WAITING && o->admitted[j] &&
                 oracle_is_head(o, j) && oracle_level(o, j) >= level &&
                 (queue < 0 || o->in->jobs[j].queue == queue);
    }
    return count;
}

static bool has_room(const struct oracle *o, int unit)
{
    int level = oracle_level(o, unit);

    return count_admitted(o, level, -1) < o->in->window &&
           count_admitted(o, level, o->in->jobs[unit].queue) <
               o->in->window_per_queue;
}

bool oracle_has_window(const struct oracle *o, int unit)
{
    return !o->is_filling && has_room(o, unit);
}

bool oracle_is_closed(const struct oracle *o, int unit)
{
    if (!o->in->window || count_admitted(o, INT_MIN, -1) == 0) {
        return false;
    }
    return o->in->is_strict
               ? !has_room(o, unit)
               : !o->in->has_backfill &&
                     count_admitted(o, oracle_level(o, unit), -1) > 0;
}

void oracle_mark_admitted(struct oracle *o, int unit, int serial)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_is_member(o, unit, j)) {
            o->admitted[j] = serial;
        }
    }
    oracle_flows_rise(o, o->in->jobs[unit].queue);
}

bool oracle_could_reserve(struct oracle *o, int unit)
{
    struct hold hold = o->hold;

    o->hold.is_made = false;
    bool could = oracle_reserve(o, unit, 0);
    o->hold = hold;
    return could;
}

bool oracle_admit(struct oracle *o, int unit)
{
    bool is_first = !o->hold.is_made && o->in->has_backfill;

    if (!oracle_has_window(o, unit) || o->in->jobs[unit].admitted ||
        o->in->jobs[unit].is_admitted_elsewhere) {
        return false;
    }
    if (is_first ? !oracle_hold_for(o, unit, 0)
                 : o->in->has_backfill && !oracle_could_reserve(o, unit)) {
        return false;
    }
    int request[INSTANCE_KINDS] = {0};
    oracle_unit_sum(o, unit, request);
    double charge = oracle_book(o, unit, request);
    oracle_mark_admitted(o, unit, INT_MAX);
    oracle_decide(o, SCHED_ADMIT, SCHED_PREEMPT_NONE, unit, NO_NODE, NO_NODE);
    o->plan->decisions[o->plan->count - 1].start =
        is_first && o->hold.is_made ? o->hold.start : INT_MAX;
    o->plan->decisions[o->plan->count - 1].charge = charge;
    return true;
}

/* The first of the admitted that was not tried yet. */
static int next_admitted(const struct oracle *o, const bool *is_tried)
{
    int best = -1;

    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] != WAITING || !o->admitted[j] ||
            !oracle_is_head(o, j) || is_tried[j]) {
            continue;
        }
        int gap = best < 0 ? -1 : oracle_level(o, best) - oracle_level(o, j);
        if (gap < 0 || (gap == 0 && o->admitted[j] < o->admitted[best])) {
            best = j;
        }
    }
    return best;
}

/* How many of the evicted would have won their places back before the unit's
 * turn, as they stood when the round began. */
static int turn_of(const struct oracle *o, int unit)
{
    struct number key = oracle_key(o, unit);
    int turn = 0;

    for (int i = 0; i < o->turn_count; i++) {
        const struct turn *other = &o->turns[i];
        int gap = other->level - oracle_level(o, unit);
        bool is_later =
            gap < 0 || (gap == 0 && oracle_compare(o, key, other->key) < 0);
        turn += !is_later;
    }
    return turn;
}

static bool may_ever(const struct oracle *o, int unit)
{
    int request[INSTANCE_KINDS] = {0};

    oracle_least(o, unit, request);
    return !o->in->queues[o->in->jobs[unit].queue].is_cordoned &&
           oracle_app_allows(o, unit) &&
           (oracle_is_within_limit(o, unit, request) ||
            oracle_limits_could(o, unit, request));
}

static bool is_let(const struct oracle *o, int unit)
{
    int request[INSTANCE_KINDS] = {0};

    oracle_least(o, unit, request);
    return oracle_is_within_limit(o, unit, request);
}

static bool has_seats(const struct oracle *o, int unit)
{
    int request[INSTANCE_KINDS] = {0};

    oracle_least(o, unit, request);
    return oracle_has_seats(o, request);
}

static bool has_closed_nodes(const struct oracle *o)
{
    for (int n = 0; n < o->in->node_count; n++) {
        if (o->in->nodes[n].pool == o->in->pool &&
            !instance_is_open(o->in, n)) {
            return true;
        }
    }
    return false;
}

static void try_admitted(struct oracle *o, int unit)
{
    int serial = o->admitted[unit];
    bool is_placed = false;

    /* Its own admission does not count against it. */
    oracle_mark_admitted(o, unit, 0);
    o->turn_serial = serial;
    o->turn_level = oracle_level(o, unit);
    oracle_leave_out(o, unit);
    bool is_possible = may_ever(o, unit);
    /* A gang that lost members to those before it starts nobody now. */
    if (is_possible && is_let(o, unit) && !o->is_settled[unit] &&
        oracle_may_start(o, unit) && has_seats(o, unit)) {
        o->asking = serial;
        oracle_share_charge(o, unit);
        o->turn = turn_of(o, unit);
        o->own_of = oracle_has_own(o, unit) ? o->in->jobs[unit].queue + 1 : 0;
        is_placed = oracle_place(o, unit);
        o->asking = o->turn = o->own_of = 0;
    }
    if (!is_placed && is_possible && !o->hold.is_made && o->in->has_backfill) {
        is_possible = oracle_hold_for(o, unit, serial) || has_closed_nodes(o);
    }
    o->turn_serial = 0;
    oracle_put_back(o, unit);
    if (is_placed) {
        return;
    }
    if (is_possible) {
        oracle_mark_admitted(o, unit, serial);
        return;
    }
    oracle_mark_admitted(o, unit, 0);
    for (int j = 0; j < o->in->job_count; j++) {
        o->is_settled[j] |= oracle_is_member(o, unit, j);
    }
    oracle_decide(o, SCHED_DISMISS, SCHED_PREEMPT_NONE, unit, NO_NODE, NO_NODE);
    o->plan->decisions[o->plan->count - 1].start = INT_MAX;
}

void oracle_head(struct oracle *o)
{
    bool is_tried[INSTANCE_JOBS_MAX] = {0};

    for (int unit; (unit = next_admitted(o, is_tried)) >= 0;) {
        is_tried[unit] = true;
        try_admitted(o, unit);
    }
}

void oracle_promise(struct oracle *o)
{
    int unit = o->hold.unit;

    if (!o->hold.is_made || o->hold.serial == 0 || o->hold.serial == INT_MAX ||
        o->status[unit] != WAITING ||
        o->hold.start >= o->in->jobs[unit].promised ||
        (o->kind == ROUND_FAST && o->in->jobs[unit].promised < INT_MAX)) {
        return;
    }
    oracle_decide(o, SCHED_ADMIT, SCHED_PREEMPT_NONE, unit, NO_NODE, NO_NODE);
    o->plan->decisions[o->plan->count - 1].start = o->hold.start;
}
