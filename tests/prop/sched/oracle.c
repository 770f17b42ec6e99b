#include "oracle_private.h"

void oracle_decide(struct oracle *o, enum sched_action action,
                   enum sched_preemption why, int job, int node, int for_job)
{
    o->plan->decisions[o->plan->count++] =
        (struct oracle_decision){action, why, job, node, for_job};
}

void oracle_lease(struct oracle *o, int job, int node)
{
    oracle_book(o, job);
    o->status[job] = PLACED;
    o->node[job] = node;
    oracle_flows_rise(o, o->in->jobs[job].queue);
    oracle_decide(o, SCHED_LEASE, SCHED_PREEMPT_NONE, job, node, NO_NODE);
}

static void pass_over_likes(struct oracle *o, int job, bool is_queue_only)
{
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *a = &o->in->jobs[j], *b = &o->in->jobs[job];
        if (o->status[j] == WAITING && !a->gang && oracle_is_like(a, b) &&
            (!is_queue_only || a->queue == b->queue)) {
            o->is_passed_over[j] = true;
        }
    }
}

static void place_job(struct oracle *o, int job)
{
    int node = oracle_find_free(o, job, 0);

    if (node == NO_NODE && o->kind == ROUND_BALANCE && !o->is_filling) {
        node = oracle_find_with_victims(o, job, 0);
    }
    if (node != NO_NODE) {
        oracle_lease(o, job, node);
    } else if (o->in->jobs[job].avoided) {
        o->is_passed_over[job] = true;
    } else {
        pass_over_likes(o, job, false);
    }
}

static void decide_new(struct oracle *o, int unit)
{
    int request[INSTANCE_KINDS] = {0};
    bool is_gang = o->in->jobs[unit].gang != 0;

    oracle_unit_sum(o, unit, request);
    if (!oracle_is_within_limit(o, unit, request)) {
        for (int j = 0; is_gang && j < o->in->job_count; j++) {
            o->is_passed_over[j] |= oracle_same_gang(o, unit, j);
        }
        if (!is_gang) {
            pass_over_likes(o, unit, true);
        }
    } else if (!oracle_is_within_rights(o, unit)) {
        o->is_blocked[o->in->jobs[unit].queue] = true;
    } else if (is_gang) {
        oracle_place_gang(o, unit);
    } else {
        place_job(o, unit);
    }
}

static void run_pass(struct oracle *o)
{
    for (int unit; (unit = oracle_next_unit(o, false)) >= 0;) {
        if (o->status[unit] == EVICTED) {
            oracle_mark_unit(o, unit, RETURNED, -1);
        } else {
            decide_new(o, unit);
        }
    }
}

void oracle_plan(const struct instance *instance, enum round_kind kind,
                 struct oracle_plan *ret_plan)
{
    struct oracle o = {.in = instance, .kind = kind, .plan = ret_plan};
    bool has_waiting = false;

    ret_plan->count = 0;
    ret_plan->is_close = false;
    for (int q = 0; q < instance->queue_count; q++) {
        o.spent[q] = (struct fraction){0, 1};
    }
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        o.node[j] = job->node;
        o.status[j] = !job->is_there         ? GONE
                      : job->node == NO_NODE ? WAITING
                                             : STEADY;
    }
    oracle_flows_begin(&o);
    for (int j = 0; j < instance->job_count; j++) {
        has_waiting |= o.status[j] == WAITING && oracle_is_candidate(&o, j);
    }
    if (kind == ROUND_BALANCE && !instance->is_fair_share_off && has_waiting) {
        oracle_evict(&o);
    }
    run_pass(&o);
    if (o.has_growth) {
        o.is_filling = true;
        memset(o.is_passed_over, 0, sizeof(o.is_passed_over));
        run_pass(&o);
    }
}
