/* The planner against the oracle, and the invariants of a plan. */
#include <stdio.h>
#include <stdlib.h>

#include "built.h"
#include "oracle.h"

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
            a->preemption != b->preemption || for_job != b->for_job) {
            return false;
        }
    }
    return plan->decision_count == (uint32_t)want->count;
}

static void show(const struct built *built, const struct instance *instance,
                 const struct sched_plan *plan, const struct oracle_plan *want)
{
    if (!getenv("PROP_SHOW")) {
        return;
    }
    fprintf(stderr, "protected %d%% limit %d%% off %d %d\n",
            instance->protected_percent, instance->limit_percent,
            instance->is_fair_share_off, instance->is_urgency_off);
    for (int i = 0; i < instance->node_count; i++) {
        const struct instance_node *n = &instance->nodes[i];
        fprintf(stderr, "node %d: %d/%d rack %d taint %d off %d\n", i,
                n->capacity[0], n->capacity[1], n->rack, n->is_tainted,
                n->is_unschedulable);
    }
    for (int i = 0; i < instance->queue_count; i++) {
        fprintf(stderr, "queue %d: factor %d/2 cordoned %d\n", i,
                instance->queues[i].factor_halves,
                instance->queues[i].is_cordoned);
    }
    for (int i = 0; i < instance->job_count; i++) {
        const struct instance_job *j = &instance->jobs[i];
        fprintf(stderr,
                "job %d%s: q%d %s %d/%d rack %d tol %d prio %d sub %d gang %d "
                "(%d min %d uni %d) was %d avoid %x node %d at %d\n",
                i, j->is_there ? "" : " gone", j->queue,
                CLASSES[j->priority_class].name, j->request[0], j->request[1],
                j->rack, j->is_tolerant, j->priority, j->submitted, j->gang,
                j->cardinality, j->minimum, j->is_uniform, j->was_leased,
                j->avoided, j->node, j->leased);
    }
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        const struct sched_decision *d = &plan->decisions[i];
        fprintf(stderr, "core   %d %d job %d node %d for %d\n", d->action,
                d->preemption, (int)d->job, built_node(built, d->node),
                (int)d->for_job);
    }
    for (int i = 0; i < want->count; i++) {
        const struct oracle_decision *d = &want->decisions[i];
        fprintf(stderr, "oracle %d %d job %d node %d for %d\n", d->action,
                d->preemption, d->job, d->node, d->for_job);
    }
}

/* A plan is what the oracle says, and making it changes nothing. */
static bool plan_is_oracles(const struct instance *instance,
                            struct built *built, enum round_kind kind,
                            struct sched_plan *plan)
{
    struct oracle_plan want;

    oracle_plan(instance, kind, &want);
    sched_plan(built->sched, 100, kind, SCHED_DECISIONS_MAX, plan);
    if (!same(built, plan, &want)) {
        show(built, instance, plan, &want);
        return false;
    }
    return sched_is_consistent(built->sched);
}

/* Two rounds of either kind agree with the oracle. */
static bool agrees_with_the_oracle(struct tape *tape)
{
    struct instance instance;
    struct built built;
    struct sched_plan plan;

    instance_draw(tape, &instance);
    enum round_kind kind = (enum round_kind)draw(tape, 0, 1);
    built_init(&built, &instance, 0);
    bool holds = plan_is_oracles(&instance, &built, kind, &plan);
    for (uint32_t i = 0; holds && i < plan.decision_count; i++) {
        struct sched_decision decision = plan.decisions[i];
        instance_apply(&instance, &decision, built_node(&built, decision.node),
                       5);
        built_apply(&built, &decision, 5);
    }
    holds = holds && sched_is_consistent(built.sched) &&
            plan_is_oracles(&instance, &built, ROUND_BALANCE, &plan);
    built_fini(&built);
    return holds;
}

int main(void)
{
    bool holds =
        prop_check("agrees_with_the_oracle", agrees_with_the_oracle, 3000, 0);

    return holds ? 0 : 1;
}
