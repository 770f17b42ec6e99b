/* What the model books per queue: costs, flows, charges (model.md 2.3 to
 * 2.7), as it words them. */
#include <math.h>

#include "instance.h"

int instance_total(const struct instance *instance, int kind)
{
    int sum = kind == SEATS ? instance->seats : 0;

    for (int n = 0; n < instance->node_count; n++) {
        sum += instance->nodes[n].is_unschedulable
                   ? 0
                   : instance->nodes[n].capacity[kind];
    }
    return sum;
}

bool instance_is_kept(const struct instance *instance, int priority_class)
{
    return instance->kept_classes >> priority_class & 1;
}

int instance_lifetime(const struct instance *instance, int job)
{
    const struct instance_job *record = &instance->jobs[job];

    if (record->lifetime != BY_CLASS) {
        return record->lifetime;
    }
    return CLASSES[record->priority_class].is_preemptible ? 0 : ENDLESS;
}

struct fraction instance_cost(const struct instance *instance,
                              const int amounts[INSTANCE_KINDS])
{
    struct fraction best = {0, 1}, sum = {0, 1};
    int count = 0;

    for (int k = 0; k < INSTANCE_KINDS; k++) {
        int total = instance_total(instance, k);
        struct fraction part = fraction_of(amounts[k], total ? total : 1);
        if (total == 0) {
            continue;
        }
        /* By scarcity all of any resource weighs as much. */
        sum = fraction_add(sum, part);
        best = fraction_compare(part, best) > 0 ? part : best;
        count++;
    }
    return !instance->is_weighted || count == 0
               ? best
               : fraction_times(sum, fraction_of(1, count));
}

struct fraction instance_share(const struct instance *instance, int queue,
                               bool is_any)
{
    struct fraction all = {0, 1};
    int factor = instance->queues[queue].factor_halves;

    for (int q = 0; q < instance->queue_count; q++) {
        bool is_active = is_any || q == queue;
        for (int j = 0; j < instance->job_count; j++) {
            const struct instance_job *job = &instance->jobs[j];
            is_active |=
                job->is_there && job->queue == q &&
                (job->node != NO_NODE || !instance->queues[q].is_cordoned);
        }
        if (is_active) {
            all = fraction_add(
                all, fraction_of(1, instance->queues[q].factor_halves));
        }
    }
    return fraction_times(fraction_of(1, factor),
                          fraction_of(all.down, all.up));
}

struct fraction instance_charge(const struct instance *instance, int queue,
                                struct fraction before, struct fraction after,
                                int lifetime_ms)
{
    struct fraction share = instance_share(instance, queue, false);
    struct fraction excess = fraction_less(fraction_less(after, share),
                                           fraction_less(before, share));

    return fraction_times(excess, fraction_of(lifetime_ms, 1));
}

static double usage_of(const struct instance *instance, int queue,
                       bool is_endless)
{
    int amounts[INSTANCE_KINDS] = {0};

    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        bool counts =
            job->is_there && job->queue == queue &&
            (job->node != NO_NODE ||
             (job->admitted && !instance_is_spare(instance, j))) &&
            (!is_endless ||
             (instance_lifetime(instance, j) == ENDLESS && !job->is_borrowed));
        for (int k = 0; counts && k < INSTANCE_KINDS; k++) {
            amounts[k] += job->request[k];
        }
    }
    return fraction_value(instance_cost(instance, amounts));
}

static void advance(double *flow, double usage, int ms, int half_ms)
{
    double beta = half_ms > 0 ? exp2(-(double)ms / half_ms) : 0;
    double over = *flow > usage ? *flow - usage : 0;

    *flow = usage + over * beta;
}

static void advance_pool(struct instance *instance, int pool, int now)
{
    struct instance part;

    instance_project(instance, pool, &part);
    for (int q = 0; q < instance->queue_count; q++) {
        struct flow_note *flow = &instance->queues[q].flow[pool];
        int ms = now > flow->at ? now - flow->at : 0;
        advance(&flow->all, usage_of(&part, q, false), ms, instance->half_ms);
        advance(&flow->endless, usage_of(&part, q, true), ms,
                instance->half_ms);
        flow->at = now > flow->at ? now : flow->at;
    }
}

void instance_advance(struct instance *instance, int now)
{
    for (int p = 0; p < (instance->has_second_pool ? 2 : 1); p++) {
        advance_pool(instance, p, now);
    }
}
