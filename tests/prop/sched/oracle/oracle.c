#include "oracle_private.h"

/* It may yield to what its queue keeps for later stages. */
static void note_own(const struct oracle *o, struct oracle_decision *decision)
{
    const struct hold *own = &o->own[o->own_of ? o->own_of - 1 : 0].hold;

    if (o->own_of && decision->revocable_for == NO_NODE &&
        oracle_pass_by(o, own, decision->job, decision->node) ==
            BACKFILL_REVOCABLE) {
        decision->is_backfilled = true;
        decision->revocable_for = own->unit;
    }
}

void oracle_decide(struct oracle *o, enum sched_action action,
                   enum sched_preemption why, int job, int node, int for_job)
{
    struct oracle_decision *decision = &o->plan->decisions[o->plan->count++];

    *decision = (struct oracle_decision){
        .action = action,
        .preemption = why,
        .job = job,
        .node = node,
        .for_job = for_job,
        .revocable_for = NO_NODE,
    };
    if (action == SCHED_LEASE) {
        decision->level = oracle_level(o, job);
        enum pass pass = oracle_pass(o, job, node);
        decision->is_backfilled =
            pass == BACKFILL_ENDS_IN_TIME || pass == BACKFILL_REVOCABLE;
        decision->revocable_for =
            pass == BACKFILL_REVOCABLE ? o->hold.unit : NO_NODE;
        note_own(o, decision);
        decision->yields_at_once = pass == BACKFILL_REVOCABLE && o->is_growing;
    }
}

/* Who is not gone in time uses what is left beside the one reserved for. */
static void use_extra(const struct oracle *o, struct hold *hold, int job,
                      int node)
{
    enum pass pass = oracle_pass_by(o, hold, job, node);
    bool is_in_time = pass == BACKFILL_ENDS_IN_TIME ||
                      pass == BACKFILL_REVOCABLE ||
                      oracle_is_bounded(o, hold, job);

    for (int k = 0; k < INSTANCE_KINDS && !is_in_time; k++) {
        hold->extra[node][k] -= o->in->jobs[job].request[k];
    }
}

void oracle_lease(struct oracle *o, int job, int node)
{
    double charge = o->asking ? oracle_rebook(o, job)
                              : oracle_book(o, job, o->in->jobs[job].request);

    o->status[job] = PLACED;
    o->node[job] = node;
    oracle_count_start(o, job);
    oracle_flows_rise(o, o->in->jobs[job].queue);
    oracle_decide(o, SCHED_LEASE, SCHED_PREEMPT_NONE, job, node, NO_NODE);
    o->plan->decisions[o->plan->count - 1].charge = charge;
    oracle_held_charge(o, job);
    use_extra(o, &o->hold, job, node);
    if (o->own_of) {
        use_extra(o, &o->own[o->own_of - 1].hold, job, node);
    }
}

/* A limit keeps all such work of the queue back that is for the same pools, or
 * of the application where the queue goes by them. */
static void pass_over_likes(struct oracle *o, int job)
{
    const struct instance_job *b = &o->in->jobs[job];
    const struct instance_queue *queue = &o->in->queues[b->queue];
    bool is_by_apps = oracle_goes_by_apps(queue) || queue->running_apps_max;

    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *a = &o->in->jobs[j];
        if (o->status[j] == WAITING && !a->gang && oracle_is_like(a, b) &&
            a->queue == b->queue && a->pool == b->pool &&
            (!is_by_apps || a->app == b->app)) {
            o->is_passed_over[j] = true;
        }
    }
}

/* What was decided since `first` starts a unit: it says so in its first lease
 * when others that are as urgent go for it since they have more. */
static void note_share(struct oracle *o, int first)
{
    struct oracle_decision *lease = NULL;
    bool is_by_share = false;

    for (int i = first; i < o->plan->count; i++) {
        struct oracle_decision *d = &o->plan->decisions[i];
        lease = !lease && d->action == SCHED_LEASE ? d : lease;
        is_by_share |=
            (d->preemption == SCHED_PREEMPT_FAIR_SHARE ||
             d->preemption == SCHED_PREEMPT_SURPLUS) &&
            o->in->jobs[d->job].queue != o->in->jobs[d->for_job].queue &&
            oracle_level(o, d->job) >= oracle_level(o, d->for_job);
    }
    lease->is_by_share = is_by_share;
    for (int i = first; is_by_share && i < o->plan->count; i++) {
        struct oracle_decision *d = &o->plan->decisions[i];
        if (d->action == SCHED_LEASE && o->hold.is_made &&
            d->revocable_for == o->hold.unit) {
            d->yields_from = oracle_fair_from(o);
        }
    }
}

static bool place(struct oracle *o, int unit)
{
    o->key = oracle_key(o, unit);
    if (o->in->jobs[unit].gang) {
        return oracle_place_gang(o, unit);
    }
    int node = oracle_find_free(o, unit, 0);
    node = node == NO_NODE ? oracle_find_free_away(o, unit, 0) : node;
    if (node == NO_NODE && o->kind == ROUND_BALANCE && !o->is_filling) {
        node = oracle_find_with_victims(o, unit, 0);
        node = node == NO_NODE ? oracle_find_victims_away(o, unit, 0) : node;
    }
    if (node != NO_NODE) {
        oracle_lease(o, unit, node);
    }
    return node != NO_NODE;
}

bool oracle_place(struct oracle *o, int unit)
{
    int first = o->plan->count;
    bool is_placed = place(o, unit);

    if (is_placed) {
        note_share(o, first);
    }
    return is_placed;
}

/* There is no free room for a job that a cooldown binds.  Where nobody makes
 * way, that is all there is to know for its like in all queues. */
static void note_roomless(struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (!o->in->jobs[j].gang &&
            oracle_is_like(&o->in->jobs[j], &o->in->jobs[job])) {
            o->is_roomless[j] = true;
            o->roomless_at[j] = o->growth_count;
            o->is_hopeless[j] |= o->kind == ROUND_FAST || o->is_filling;
        }
    }
}

/* A unit has no room: it is admitted, or passed over.  Its like need not be
 * tried either, but may be admitted. */
static void pass_over(struct oracle *o, int unit)
{
    const struct instance_job *job = &o->in->jobs[unit];
    o->has_missed[unit] = true;
    bool had_window = oracle_has_window(o, unit);
    bool is_alone = job->gang || job->avoided;
    bool is_bound = !is_alone && instance_has_cooldown(o->in, unit, o->now);
    /* As it was tried, and not beside what is reserved for it now. */
    bool is_of_queue = !is_alone && oracle_might_find_set(o, unit);
    bool is_admitted = oracle_admit(o, unit);

    o->is_passed_over[unit] |= job->is_admitted_elsewhere;
    if (is_bound) {
        pass_over_likes(o, unit); /* they do not take in its stead */
        note_roomless(o, unit);
        return;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *other = &o->in->jobs[j];
        if (!is_alone && !other->gang && oracle_is_like(other, job)) {
            o->is_roomless[j] = true;
            o->roomless_at[j] = o->growth_count;
        }
        if (is_alone && (j == unit || oracle_same_gang(o, unit, j))) {
            o->is_passed_over[j] = true;
        } else if (is_of_queue && !other->gang && oracle_is_like(other, job)) {
            /* They are tried again, if they may be admitted too: that this one
             * is in another pool says nothing about them. */
            bool may_be_too = (is_admitted || job->is_admitted_elsewhere) &&
                              oracle_has_window(o, j);
            o->is_passed_over[j] |= other->queue == job->queue &&
                                    other->pool == job->pool && !may_be_too;
        } else if (!is_alone && !other->gang && oracle_is_like(other, job)) {
            o->is_hopeless[j] = true;
            o->is_barred[j] |=
                had_window && !is_admitted && !job->is_admitted_elsewhere;
        }
    }
}

/* Try a unit; what finds no room beside what its queue keeps for others waits,
 * and so does its like. */
static void try_new(struct oracle *o, int unit)
{
    bool has_own = oracle_has_own(o, unit);

    o->own_of = has_own ? o->in->jobs[unit].queue + 1 : 0;
    bool is_placed = oracle_place(o, unit);
    o->own_of = 0;
    if (is_placed) {
        return;
    }
    if (!has_own) {
        pass_over(o, unit);
        return;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        o->is_passed_over[j] |= j == unit || oracle_same_gang(o, unit, j);
    }
    if (!o->in->jobs[unit].gang) {
        pass_over_likes(o, unit);
    }
}

/* Whether limits refuse a unit only because work of its queue runs. */
static bool waits_for_limit(const struct oracle *o, int unit,
                            const int request[INSTANCE_KINDS])
{
    return o->in->has_backfill && !o->kept[o->in->jobs[unit].queue].is_made &&
           oracle_has_seats(o, request) &&
           !(instance_lifetime(o->in, unit) == ENDLESS &&
             o->in->over_share_percent != NO_LIMIT) &&
           oracle_limits_could(o, unit, request) &&
           oracle_is_within_rights(o, unit);
}

static void decide_new(struct oracle *o, int unit)
{
    int request[INSTANCE_KINDS] = {0};
    bool is_gang = o->in->jobs[unit].gang != 0;

    oracle_least(o, unit, request);
    if (!oracle_may_start(o, unit)) {
        return;
    }
    if (!oracle_is_within_limit(o, unit, request) ||
        !oracle_has_seats(o, request)) {
        if (waits_for_limit(o, unit, request)) {
            (void)oracle_admit(o, unit);
        }
        for (int j = 0; is_gang && j < o->in->job_count; j++) {
            o->is_passed_over[j] |= oracle_same_gang(o, unit, j);
        }
        if (!is_gang) {
            pass_over_likes(o, unit);
        }
    } else if (!oracle_is_within_rights(o, unit)) {
        o->is_blocked[o->in->jobs[unit].queue] = true;
    } else {
        try_new(o, unit);
    }
}

void oracle_run(struct oracle *o)
{
    for (int unit; (unit = oracle_next_unit(o, false)) >= 0;) {
        if (o->status[unit] == EVICTED) {
            oracle_mark_unit(o, unit, RETURNED, -1);
        } else {
            decide_new(o, unit);
        }
    }
}

void oracle_plan(const struct instance *instance, enum round_kind kind, int now,
                 struct oracle_plan *ret_plan)
{
    struct oracle o = {
        .in = instance,
        .kind = kind,
        .now = now,
        .starts = instance->starts,
        .start_cores = instance->start_cores[0],
        .compares_sets = instance->is_object,
        .plan = ret_plan,
    };
    bool has_waiting = false;

    ret_plan->count = 0;
    ret_plan->is_close = false;
    for (int q = 0; q < instance->queue_count; q++) {
        o.spent[q] = (struct fraction){0, 1};
        o.queue_starts[q] = instance->queues[q].starts;
    }
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        o.node[j] = job->node;
        o.is_away[j] = job->is_away;
        o.admitted[j] = job->admitted;
        o.status[j] = !job->is_there || job->is_elsewhere ? GONE
                      : job->node == NO_NODE              ? WAITING
                                                          : STEADY;
        o.has_groups |= o.status[j] == STEADY && job->has_terms;
    }
    oracle_spare(&o);
    oracle_flows_begin(&o);
    oracle_measure(&o);
    oracle_gpus_begin(&o);
    for (int j = 0; j < instance->job_count; j++) {
        has_waiting |= o.admitted[j] ||
                       (o.status[j] == WAITING && oracle_is_candidate(&o, j));
    }
    if (kind == ROUND_BALANCE && !instance->is_fair_share_off &&
        !instance->is_preemption_off && has_waiting) {
        oracle_evict(&o);
    }
    oracle_head(&o);
    oracle_run(&o);
    if (o.growth_count) {
        o.is_filling = true;
        memset(o.is_passed_over, 0, sizeof(o.is_passed_over));
        for (int j = 0; j < instance->job_count; j++) {
            /* What had no free room has none as long as nobody leaves any, so
             * no limit on starts is asked for it. */
            o.is_hopeless[j] =
                o.is_roomless[j] && o.roomless_at[j] == o.growth_count;
        }
        oracle_run(&o);
    }
    /* Room that preemptions left is for the admitted first, in the next round.
     */
    bool is_for_head = false;
    for (int j = 0; j < instance->job_count; j++) {
        is_for_head |=
            o.growth_count && o.admitted[j] && o.status[j] == WAITING;
    }
    if (kind == ROUND_BALANCE && !is_for_head) {
        oracle_grow(&o);
    }
    oracle_lend(&o);
    oracle_promise(&o);
}
