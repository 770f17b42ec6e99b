#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"

/* Charges are rounded, those of gangs for each member. */
enum { CHARGE_ERROR_MAX = 8 };

static bool same(const struct built *built, const struct sched_plan *plan,
                 const struct oracle_plan *want)
{
    for (int i = 0; i < want->count; i++) {
        const struct oracle_decision *b = &want->decisions[i];
        if ((uint32_t)i >= plan->decision_count) {
            return false;
        }
        const struct sched_decision *a = &plan->decisions[i];
        int for_job = a->for_job == SCHED_NONE ? NO_NODE : (int)a->for_job;
        if (a->action != b->action || (int)a->job != b->job ||
            built_node(built, a->node) != b->node ||
            a->preemption != b->preemption || for_job != b->for_job ||
            a->is_backfilled != b->is_backfilled ||
            (a->action == SCHED_LEASE && a->is_by_share != b->is_by_share) ||
            (a->action == SCHED_LEASE && a->priority != b->level) ||
            a->is_scaling != b->is_scaling ||
            a->yields_at_once != b->yields_at_once ||
            (a->yields_from_ms > INT_MAX ? INT_MAX : a->yields_from_ms) !=
                b->yields_from ||
            (double)a->charge > b->charge + CHARGE_ERROR_MAX ||
            (double)a->charge < b->charge - CHARGE_ERROR_MAX ||
            (a->revocable_for == SCHED_NONE
                 ? NO_NODE
                 : (int)a->revocable_for) != b->revocable_for ||
            (a->action == SCHED_ADMIT && (int)a->pool_index != b->pool) ||
            (a->action == SCHED_ADMIT && b->start < INT_MAX &&
             a->start_ms != b->start) ||
            (a->action == SCHED_ADMIT && b->start == INT_MAX &&
             a->start_ms != SCHED_START_UNKNOWN)) {
            return false;
        }
    }
    return plan->decision_count == (uint32_t)want->count;
}

static void show_knobs(const struct instance *instance)
{
    fprintf(stderr,
            "protected %d%% object %d %d load %d limit %d%% off %d %d kept %x "
            "weighted %d half %d over %d "
            "budget %d window %d %d strict %d backfill %d%s cooldown %d\n",
            instance->protected_percent, instance->is_object,
            instance->is_preemption_off, instance->load_percent,
            instance->limit_percent, instance->is_fair_share_off,
            instance->is_urgency_off, instance->kept_classes,
            instance->is_weighted, instance->half_ms,
            instance->over_share_percent, instance->budget_minutes,
            instance->window, instance->window_per_queue, instance->is_strict,
            instance->has_backfill,
            instance->is_bounded          ? " shortest bounded"
            : instance->is_aged           ? " shortest aged"
            : instance->is_shortest_first ? " shortest first"
                                          : "",
            instance->short_cooldown);
    fprintf(stderr,
            "gpus %d kept %d seats %d away %d starts %d/%d (missing %lld at "
            "%d) queue "
            "%d/%d "
            "cores %d%% (missing %lld at %d)\n",
            instance->has_gpus, instance->gpu_keeping, instance->seats,
            instance->away_level, (int)instance->starts.size,
            (int)instance->starts.refill, (long long)instance->starts.missing,
            instance->starts.at, (int)instance->starts_per_queue.size,
            (int)instance->starts_per_queue.refill, instance->start_percent,
            (long long)instance->start_cores[0].missing,
            instance->start_cores[0].at);
}

static void show_nodes(const struct instance *instance)
{
    for (int i = 0; i < instance->node_count; i++) {
        const struct instance_node *n = &instance->nodes[i];
        fprintf(stderr,
                "node %d: %d/%d rack %d row %d cluster %d taint %d off %d "
                "health %d pool %d\n",
                i, n->capacity[0], n->capacity[1], n->rack, n->row, n->cluster,
                n->is_tainted, n->is_unschedulable, (int)n->health, n->pool);
    }
}

static void show_queues(const struct instance *instance)
{
    for (int i = 0; i < instance->queue_count; i++) {
        const struct instance_queue *q = &instance->queues[i];
        fprintf(
            stderr,
            "queue %d: factor %d/2 cordoned %d flow %.17g %.17g ordering %d "
            "(class ignored %d, off %d, running %d) quota %d\n",
            i, q->factor_halves, q->is_cordoned, q->flow[0].all,
            q->flow[0].endless, (int)q->ordering, q->is_class_ignored,
            q->allows_off, q->running_apps_max, q->quota);
        for (int a = 0; a < INSTANCE_APPS_MAX; a++) {
            fprintf(stderr, "    app %d: state %d since %d first %d off %d\n",
                    a, (int)q->apps[a].state, q->apps[a].since,
                    q->apps[a].first, q->apps[a].is_off);
        }
    }
}

static void show_jobs(const struct instance *instance)
{
    for (int i = 0; i < instance->job_count; i++) {
        const struct instance_job *j = &instance->jobs[i];
        fprintf(
            stderr,
            "job %d%s: pool %d q%d %s %d/%d/%d rack %d tol %d prio %d sub %d "
            "gang %d "
            "(%d min %d uni %d terms %d whole %d: sub %d min %d of %d hops %d "
            "succeeded %d frozen %d) foreign %d was %d%s "
            "avoid %x node %d at %d app %d off %d "
            "life %d deadline %d charge %g started %d admitted %d promised %d "
            "yields %d %d from %d\n",
            i, j->is_there ? "" : " gone", j->pool, j->queue,
            CLASSES[j->priority_class].name, j->request[0], j->request[1],
            j->request[SEATS], j->rack, j->is_tolerant, j->priority,
            j->submitted, j->gang, j->cardinality, j->minimum, j->is_uniform,
            j->has_terms, j->is_whole, j->sub_group, j->sub_minimum,
            j->sub_count, j->hops, j->has_succeeded, j->frozen_until,
            j->is_borrowed, j->was_leased, j->is_away ? " away" : "",
            j->avoided, j->node, j->leased, j->app, j->is_off, j->lifetime,
            j->deadline, fraction_value(j->charge), j->started, j->admitted,
            j->promised, j->revocable_for, j->yields_at_once, j->yields_from);
    }
}

static void show_decisions(const struct built *built,
                           const struct sched_plan *plan,
                           const struct oracle_plan *want)
{
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        const struct sched_decision *d = &plan->decisions[i];
        fprintf(stderr,
                "core   %d %d job %d level %d node %d for %d scale %d back %d "
                "yields %d from %lld start %lld\n",
                d->action, d->preemption, (int)d->job, d->priority,
                built_node(built, d->node), (int)d->for_job, d->is_scaling,
                d->is_backfilled, (int)d->revocable_for,
                (long long)d->yields_from_ms, (long long)d->start_ms);
    }
    for (int i = 0; i < want->count; i++) {
        const struct oracle_decision *d = &want->decisions[i];
        fprintf(stderr,
                "oracle %d %d job %d level %d node %d for %d scale %d back %d "
                "yields %d from %d start %d\n",
                d->action, d->preemption, d->job, d->level, d->node, d->for_job,
                d->is_scaling, d->is_backfilled, d->revocable_for,
                d->yields_from, d->start);
    }
}

static void show(const struct instance *instance, int kind, int now)
{
    show_knobs(instance);
    fprintf(stderr, "kind %d now %d\n", kind, now);
    show_nodes(instance);
    show_queues(instance);
    show_jobs(instance);
}

bool verdict_is_same(struct tape *tape, const struct instance *instance,
                     struct built *built, enum round_kind kind, int now,
                     struct sched_plan *plan)
{
    struct oracle_plan want;

    oracle_plan_pools(instance, kind, now, &want);
    sched_plan(built->sched, now, kind, SCHED_DECISIONS_MAX, plan);
    bool is_same = same(built, plan, &want);
    if (!is_same && getenv("PROP_SHOW")) {
        show(instance, (int)kind, now);
        show_decisions(built, plan, &want);
    }
    if (!is_same && want.is_close) {
        prop_note_open(tape);
        is_same = true;
    }
    return is_same && sched_is_consistent(built->sched);
}
