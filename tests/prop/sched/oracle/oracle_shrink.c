/* How gangs shrink in the step in which they grow: for the load (TJ-14), and
 * to even out how much they have run (TJ-10). */
#include "oracle_step.h"

/* The pod of a sub-group that goes first of its surplus, or -1.  What the plan
 * itself started stays, and so does what is on nodes that are no part of the
 * pool: that it goes would be of use to nobody. */
static int last_of(const struct step *step, const struct grower *grower)
{
    const struct oracle *o = step->o;
    int last = -1;

    for (int j = 0; j < o->in->job_count; j++) {
        bool is_of = o->in->jobs[j].gang == grower->gang &&
                     o->in->jobs[j].sub_group == grower->sub_group &&
                     oracle_runs(o, j) && o->status[j] != PLACED &&
                     !o->in->nodes[o->node[j]].is_unschedulable;
        last = is_of ? j : last;
    }
    return grower->count > grower->min ? last : -1;
}

static void shrink(struct step *step, int index)
{
    struct oracle *o = step->o;
    struct grower *grower = &step->growers[index];
    int job = last_of(step, grower);

    oracle_step_note(step, index, job, false);
    o->status[job] = PREEMPTED;
    oracle_flows_rise(o, grower->queue);
    grower->count--;
}

/* Whether `a` gives before `b`: of the last queue the rightmost. */
static bool gives_before(const struct step *step, int a, int b)
{
    const struct grower *x = &step->growers[a], *y = &step->growers[b];

    return x->queue != y->queue
               ? oracle_step_compare_queues(step->o, x->queue, y->queue) > 0
               : oracle_score_compare(step->o, x, y) > 0;
}

/* Freezing does not protect against the load. */
void oracle_step_shed(struct step *step)
{
    for (;;) {
        int best = -1;
        for (int i = 0; i < step->count; i++) {
            if (oracle_step_is_overloaded(step, i, 0) &&
                last_of(step, &step->growers[i]) >= 0 &&
                (best < 0 || gives_before(step, i, best))) {
                best = i;
            }
        }
        if (best < 0) {
            return;
        }
        shrink(step, best);
    }
}

/* Evening out. */

/* Whether a gang has run more than 1.2 times the mean of its queue. */
static bool is_far_ahead(const struct step *step, int index)
{
    const struct oracle *o = step->o;
    struct fraction sum = {0, 1};
    int count = 0;

    for (int i = 0; i < step->count; i++) {
        if (step->growers[i].queue == step->growers[index].queue) {
            sum = fraction_add(sum, oracle_score(o, &step->growers[i]));
            count++;
        }
    }
    struct fraction score = oracle_score(o, &step->growers[index]);
    return fraction_compare(fraction_times(score, fraction_of(count * 10, 12)),
                            sum) > 0;
}

/* Move one pod from the right to the left of a queue. */
bool oracle_step_even_out(struct step *step, int queue)
{
    const struct oracle *o = step->o;
    int from = -1, to = -1;

    for (int i = 0; i < step->count; i++) {
        const struct grower *grower = &step->growers[i];
        if (grower->queue != queue) {
            continue;
        }
        if (!grower->is_frozen && grower->count > grower->min &&
            (from < 0 ||
             oracle_score_compare(o, grower, &step->growers[from]) > 0)) {
            from = i;
        }
        if (oracle_step_wants(grower) &&
            (to < 0 ||
             oracle_score_compare(o, grower, &step->growers[to]) < 0)) {
            to = i;
        }
    }
    if (from < 0 || to < 0 || last_of(step, &step->growers[from]) < 0 ||
        oracle_score_compare(o, &step->growers[to], &step->growers[from]) >=
            0 ||
        !is_far_ahead(step, from)) {
        return false;
    }
    const struct step saved = *step;
    const struct oracle saved_oracle = *o;
    shrink(step, from);
    if (oracle_step_grow(step, to)) {
        return true;
    }
    *step->o = saved_oracle;
    *step = saved;
    return false;
}
