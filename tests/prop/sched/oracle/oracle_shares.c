/* What a queue has, what it is due, and who is evicted for it. */
#include "oracle_private.h"

struct number oracle_cost(const struct oracle *o, int queue,
                          const int amounts[INSTANCE_KINDS])
{
    int factor = o->in->queues[queue].factor_halves;

    return oracle_number(
        fraction_times(instance_cost(o->in, amounts), fraction_of(factor, 1)));
}

void oracle_usage(const struct oracle *o, int queue,
                  int amounts[INSTANCE_KINDS])
{
    memset(amounts, 0, INSTANCE_KINDS * sizeof(*amounts));
    for (int j = 0; j < o->in->job_count; j++) {
        if (oracle_runs(o, j) && o->in->jobs[j].queue == queue &&
            o->status[j] != EVICTED) {
            for (int k = 0; k < INSTANCE_KINDS; k++) {
                amounts[k] += o->in->jobs[j].request[k];
            }
        }
    }
}

/* Of what a pool admitted whose turn comes later: what starts here, or would,
 * and does not count there then. */
static bool starts_here(const struct oracle *o, int unit, int job)
{
    return o->in->jobs[job].is_admitted_later &&
           !instance_is_spare(o->in, job) &&
           (o->status[job] == PLACED || o->status[job] == FAILED ||
            oracle_is_member(o, unit, job));
}

/* Admitted, and counted in the quota: not what is tried later, nor what the
 * queue's limits are kept for, unless a gang would grow. */
static bool counts_admitted(const struct oracle *o, int job)
{
    const struct held *held = &o->kept[o->in->jobs[job].queue];
    int level = oracle_level(o, job);
    bool is_later =
        o->turn_serial &&
        (level < o->turn_level ||
         (level == o->turn_level && o->admitted[job] > o->turn_serial));
    bool is_held = held->is_made && !o->is_growing &&
                   (job == held->unit || oracle_same_gang(o, held->unit, job));

    return o->status[job] == WAITING && o->admitted[job] && !is_later &&
           !is_held;
}

int oracle_quota_elsewhere(const struct oracle *o, int unit)
{
    int queue = o->in->jobs[unit].queue;
    int used = o->in->queues[queue].cores_elsewhere;

    for (int j = 0; j < o->in->job_count; j++) {
        used -= o->in->jobs[j].queue == queue && starts_here(o, unit, j)
                    ? o->in->jobs[j].request[0]
                    : 0;
    }
    return used;
}

/* What is admitted counts too, as in a queue's usage. */
int oracle_quota_used(const struct oracle *o, int unit)
{
    int queue = o->in->jobs[unit].queue;
    int used = oracle_quota_elsewhere(o, unit);

    for (int j = 0; j < o->in->job_count; j++) {
        if (o->in->jobs[j].queue == queue &&
            (oracle_runs(o, j) || counts_admitted(o, j))) {
            used += o->in->jobs[j].request[0];
        }
    }
    return used;
}

bool oracle_is_within_limit(const struct oracle *o, int job,
                            const int request[INSTANCE_KINDS])
{
    int used = 0, quota = o->in->queues[o->in->jobs[job].queue].quota;

    if ((quota && request[0] + oracle_quota_used(o, job) > quota) ||
        !oracle_held_allows(o, job, request[0])) {
        return false;
    }
    if (!o->in->limit_percent || o->in->jobs[job].priority_class != 0) {
        return true;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        /* What may be taken back does not keep a queue's own from a place. */
        if (oracle_runs(o, j) && o->in->jobs[j].priority_class == 0 &&
            o->in->jobs[j].queue == o->in->jobs[job].queue &&
            !oracle_may_recall(o, j)) {
            used += o->in->jobs[j].request[0];
        }
    }
    return (used + request[0]) * 100 <=
           o->in->limit_percent * instance_total(o->in, 0);
}

bool oracle_has_seats(const struct oracle *o, const int request[INSTANCE_KINDS])
{
    int used = request[SEATS];

    for (int j = 0; j < o->in->job_count; j++) {
        used += oracle_runs(o, j) ? o->in->jobs[j].request[SEATS] : 0;
    }
    return !request[SEATS] || used <= o->in->seats;
}

struct share {
    double weight, demand, actual, adjusted;
    bool is_active, is_settled;
};

static void measure(struct oracle *o, int queue, struct share *share)
{
    int used[INSTANCE_KINDS] = {0}, wanted[INSTANCE_KINDS] = {0};
    int limited = 0;

    *share = (struct share){.weight = 2.0 / o->in->queues[queue].factor_halves};
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *job = &o->in->jobs[j];
        if (!job->is_there || job->queue != queue ||
            (job->node == NO_NODE && o->in->queues[queue].is_cordoned)) {
            continue;
        }
        share->is_active = true;
        if (o->status[j] == SPARE || job->is_spare_elsewhere) {
            continue; /* it waits, but is nothing that must be served */
        }
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            used[k] += job->node != NO_NODE ? job->request[k] : 0;
            bool is_limited =
                k == 0 && o->in->limit_percent && job->priority_class == 0;
            limited += is_limited ? job->request[k] * 1000 : 0;
            wanted[k] += is_limited ? 0 : job->request[k] * 1000;
        }
    }
    int limit = instance_total(o->in, 0) * o->in->limit_percent * 10;
    wanted[0] += limited < limit ? limited : limit;
    o->held[queue] = oracle_cost(o, queue, used).exact;
    share->actual = fraction_value(instance_cost(o->in, used));
    share->demand = fraction_value(instance_cost(o->in, wanted)) / 1000;
}

/* Pour the pool over the queues until each is full or the pool is empty. */
static void pour(struct share *shares, int count)
{
    for (;;) {
        double rest = 1, weight = 0;
        bool has_settled = false;
        for (int i = 0; i < count; i++) {
            if (shares[i].is_active && shares[i].is_settled) {
                rest -= shares[i].demand;
            } else if (shares[i].is_active) {
                weight += shares[i].weight;
            }
        }
        for (int i = 0; i < count; i++) {
            struct share *share = &shares[i];
            if (!share->is_active || share->is_settled) {
                continue;
            }
            share->adjusted = rest * share->weight / weight;
            if (share->demand <= share->adjusted * (1 + 1e-12)) {
                share->adjusted = share->demand;
                share->is_settled = true;
                has_settled = true;
                break;
            }
        }
        if (!has_settled) {
            return;
        }
    }
}

void oracle_measure(struct oracle *o)
{
    struct share shares[INSTANCE_QUEUES_MAX];
    double weight = 0;
    int count = o->in->queue_count;

    for (int q = 0; q < count; q++) {
        measure(o, q, &shares[q]);
        weight += shares[q].is_active ? shares[q].weight : 0;
    }
    pour(shares, count);
    for (int q = 0; q < count; q++) {
        const struct share *share = &shares[q];
        double fair = share->weight / weight;
        double due = fair > share->adjusted ? fair : share->adjusted;
        o->due[q] = due * o->in->protected_percent / 100.0;
        o->actual[q] = share->actual;
        o->is_over[q] = share->actual > o->due[q] * (1 + 1e-9);
        double most = share->demand < o->due[q] ? share->demand : o->due[q];
        o->is_any_poor |=
            share->is_active && share->actual * 2 < most * (1 - 1e-9);
    }
}

/* A gang goes whole or not at all; what it has above its minimums has no
 * lifetime. */
static bool may_all_go(const struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if ((j == job || oracle_same_gang(o, job, j)) && oracle_runs(o, j) &&
            oracle_is_base(o, j) && !oracle_is_evictable(o, j)) {
            return false;
        }
    }
    return true;
}

/* Whether a gang stays, since without it its queue would be as far below its
 * share as it is above; not where another has less than half of its own, and
 * all of the gang is old. */
static bool is_kept(const struct oracle *o, int job)
{
    int queue = o->in->jobs[job].queue, rest[INSTANCE_KINDS] = {0}, count = 0;
    bool is_young = false;

    if (!o->in->keeps_ms || !o->in->jobs[job].gang) {
        return false;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *record = &o->in->jobs[j];
        bool is_of_gang = oracle_same_gang(o, job, j);
        if (!record->is_there || record->node == NO_NODE ||
            record->queue != queue) {
            continue;
        }
        count += is_of_gang;
        is_young |=
            is_of_gang && (record->started == NOT_STARTED || o->in->window ||
                           record->started + o->in->keeps_ms > o->now);
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            rest[k] += is_of_gang ? 0 : record->request[k];
        }
    }
    double without = fraction_value(instance_cost(o->in, rest));
    return count > 1 && (is_young || !o->is_any_poor) &&
           o->actual[queue] + without <= 2 * o->due[queue] * (1 + 1e-9);
}

void oracle_evict(struct oracle *o)
{
    for (int j = 0; j < o->in->job_count; j++) {
        if (o->status[j] == STEADY && !o->in->jobs[j].is_borrowed &&
            o->is_over[o->in->jobs[j].queue] && oracle_is_base(o, j) &&
            may_all_go(o, j) && !is_kept(o, j)) {
            o->status[j] = EVICTED;
        }
    }
    /* In which order would they win their places back, new work aside? */
    struct oracle dry = *o;
    int ordinal = 0;
    for (int unit; (unit = oracle_next_unit(&dry, true)) >= 0; ordinal++) {
        o->turns[ordinal] =
            (struct turn){oracle_unit_level(o, unit), oracle_key(&dry, unit)};
        oracle_mark_unit(&dry, unit, RETURNED, ordinal);
    }
    o->turn_count = ordinal;
    memcpy(o->ordinal, dry.ordinal, sizeof(o->ordinal));
}
