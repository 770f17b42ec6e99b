/* The step in which gangs grow and shrink (model.md 4.5), after all minimums
 * had their turn: how they grow, and what is decided then. */
#include "oracle_step.h"

/* Load (TJ-14): what is asked for on nodes that count. */

/* GPUs may be filled to the last. */
bool oracle_step_is_overloaded(const struct step *step, int index, int more)
{
    const struct oracle *o = step->o;
    const struct grower *grower = &step->growers[index];
    int percent = o->in->load_percent ? o->in->load_percent : 100;

    for (int k = 0; k <= (o->in->has_gpus ? GPUS : 0); k++) {
        int load = more * grower->request[k];
        for (int j = 0; j < o->in->job_count; j++) {
            bool counts =
                oracle_runs(o, j) && !o->in->nodes[o->node[j]].is_unschedulable;
            load += counts ? o->in->jobs[j].request[k] : 0;
        }
        if (grower->request[k] &&
            load * 100 > instance_total(o->in, k) * (k == 0 ? percent : 100)) {
            return true;
        }
    }
    return false;
}

/* Whether what is left of a waiting job's gang once the plan is acted on may
 * start: plain jobs that lose their places do not wait again (model.md 2.11).
 */
static bool is_left_to_wait(const struct oracle *o, int job)
{
    const struct instance_job *record = &o->in->jobs[job];
    int left = 0;

    if (!record->gang) {
        return true;
    }
    if (record->has_terms) { /* theirs wait again */
        return oracle_gang_is_complete(o, job);
    }
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *other = &o->in->jobs[j];
        if (other->is_there && oracle_same_gang(o, job, j) &&
            o->status[j] != PREEMPTED) {
            left++;
            if (other->was_leased) {
                return true;
            }
        }
    }
    return left >= record->cardinality;
}

/* Whether work waits that asks for GPUs (TJ-17, TJ-19). */
static bool waits_for_gpus(const struct oracle *o)
{
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *job = &o->in->jobs[j];
        if (o->status[j] == WAITING && job->request[GPUS] &&
            !o->in->queues[job->queue].is_cordoned && is_left_to_wait(o, j)) {
            return o->in->has_gpus;
        }
    }
    return false;
}

/* Growing. */

void oracle_step_note(struct step *step, int grower, int job, bool is_lease)
{
    step->changes[step->change_count++] = (struct change){
        .grower = grower,
        .job = job,
        .node = step->o->node[job],
        .is_lease = is_lease,
    };
}

bool oracle_step_wants(const struct grower *grower)
{
    return grower->spare > 0 && !grower->is_held && !grower->is_frozen;
}

/* Whether load and limits allow a pod more. */
static bool may_grow(const struct step *step, int index, int job)
{
    struct oracle *o = step->o;
    const struct grower *grower = &step->growers[index];

    return !oracle_step_is_overloaded(step, index, 1) &&
           oracle_is_within_limit(o, job, grower->request) &&
           oracle_has_seats(o, grower->request) &&
           oracle_may_start_so(o, grower->queue, 1, grower->request[0]);
}

/* The nodes, as bits, of the cluster that a job's gang is in. */
static unsigned in_cluster(const struct oracle *o, int job)
{
    unsigned nodes = 0;

    for (int i = 0; i < oracle_group_count(o, job); i++) {
        nodes |= oracle_group(o, job, i);
    }
    return nodes ? nodes : 1u << INSTANCE_NODES_MAX; /* none that is open */
}

/* One pod more, of those that wait the one with the lowest id. */
bool oracle_step_grow(struct step *step, int index)
{
    struct oracle *o = step->o;
    struct grower *grower = &step->growers[index];
    int job = 0;

    while (o->status[job] != SPARE || o->in->jobs[job].gang != grower->gang ||
           o->in->jobs[job].sub_group != grower->sub_group) {
        job++;
    }
    o->only = o->in->has_clusters ? in_cluster(o, job) : 0;
    int node = !may_grow(step, index, job) ? NO_NODE
               : o->in->has_topology       ? oracle_find_near(o, job)
                                           : oracle_find_free(o, job, 0);
    o->only = 0;
    if (node == NO_NODE) {
        return false;
    }
    /* It passes what is reserved, to yield at once, unless it is more urgent.
     */
    bool is_beside = oracle_pass(o, job, node) == BACKFILL_BESIDE;
    for (int k = 0; k < INSTANCE_KINDS && is_beside; k++) {
        o->hold.extra[node][k] -= o->in->jobs[job].request[k];
    }
    o->status[job] = PLACED;
    o->node[job] = node;
    oracle_count_start(o, job);
    oracle_flows_rise(o, grower->queue);
    grower->count++;
    grower->spare--;
    oracle_step_note(step, index, job, true);
    return true;
}

/* Whether a queue's growth comes before another's. */
int oracle_step_compare_queues(const struct oracle *o, int a, int b)
{
    int c = oracle_compare(o, oracle_flow_now(o, a), oracle_flow_now(o, b));

    return c ? c : (a > b) - (a < b);
}

/* The leftmost of a queue that wants to grow and was not yet asked in this
 * pass, or -1. */
static int next_of(const struct step *step, int queue)
{
    int best = -1;

    for (int i = 0; i < step->count; i++) {
        const struct grower *grower = &step->growers[i];
        if (grower->queue == queue && oracle_step_wants(grower) &&
            !grower->is_out && !grower->is_asked &&
            (best < 0 ||
             oracle_score_compare(step->o, grower, &step->growers[best]) < 0)) {
            best = i;
        }
    }
    return best;
}

/* Pod by pod for the queue that has least; in it the gangs by turns. */
static void grow_all(struct step *step)
{
    for (;;) {
        int best = -1;
        for (int q = 0; q < step->o->in->queue_count; q++) {
            int next = next_of(step, q);
            for (int i = 0; next < 0 && i < step->count; i++) {
                step->growers[i].is_asked &= step->growers[i].queue != q;
            }
            next = next < 0 ? next_of(step, q) : next;
            if (next >= 0 &&
                (best < 0 || oracle_step_compare_queues(
                                 step->o, q, step->growers[best].queue) < 0)) {
                best = next;
            }
        }
        if (best < 0) {
            return;
        }
        step->growers[best].is_asked = true;
        step->growers[best].is_out = !oracle_step_grow(step, best);
    }
}

/* Decisions: who shrinks, then who grows, gang by gang. */

static void decide(struct step *step, const struct change *change, int for_job)
{
    struct oracle *o = step->o;
    bool is_scaling = oracle_gang_running(o, change->job) > 0;

    if (change->is_lease) {
        oracle_decide(o, SCHED_LEASE, SCHED_PREEMPT_NONE, change->job,
                      change->node, NO_NODE);
    } else {
        oracle_decide(o, SCHED_PREEMPT, SCHED_PREEMPT_SCALED, change->job,
                      change->node, for_job);
    }
    o->plan->decisions[o->plan->count - 1].is_scaling = is_scaling;
}

/* The next of the growers by queue and score, or -1. */
static int next_in_order(const struct step *step, const bool *is_done)
{
    int best = -1;

    for (int i = 0; i < step->count; i++) {
        const struct grower *grower = &step->growers[i];
        if (!is_done[i] &&
            (best < 0 || grower->queue < step->growers[best].queue ||
             (grower->queue == step->growers[best].queue &&
              oracle_score_compare(step->o, grower, &step->growers[best]) <
                  0))) {
            best = i;
        }
    }
    return best;
}

static void decide_all(struct step *step, int for_job)
{
    for (int is_lease = 0; is_lease < 2; is_lease++) {
        bool is_done[GROWERS_MAX] = {0};
        for (int i; (i = next_in_order(step, is_done)) >= 0;) {
            is_done[i] = true;
            for (int c = 0; c < step->change_count; c++) {
                const struct change *change = &step->changes[c];
                if (change->grower == i && change->is_lease == is_lease) {
                    decide(step, change, for_job);
                }
            }
        }
    }
}

/* Whether the plan starts or takes some of what might grow. */
static bool has_changed(const struct step *step)
{
    const struct oracle_plan *plan = step->o->plan;

    for (int i = 0; i < plan->count; i++) {
        if (oracle_is_elastic(step->o, plan->decisions[i].job)) {
            return true;
        }
    }
    return step->change_count > 0;
}

void oracle_grow(struct oracle *o)
{
    struct step step = {.o = o};
    int for_job = NO_NODE;

    step.count = oracle_growers(o, step.growers);
    o->keeps_gpus = waits_for_gpus(o);
    o->is_growing = true;
    grow_all(&step);
    oracle_step_shed(&step);
    for (int q = 0; q < o->in->queue_count && !has_changed(&step); q++) {
        for_job =
            oracle_step_even_out(&step, q) ? step.changes[1].job : NO_NODE;
    }
    o->keeps_gpus = false;
    decide_all(&step, for_job);
    o->is_growing = false;
}
