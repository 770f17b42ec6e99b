/* Who may lose its place, and who may not (armada-scheduler.md 5.15). */
#include <string.h>

#include "trial.h"

/* 8. Nobody gives way to a job that is less urgent, nor to an equal but for
 * fair shares. */
static bool urgency_is_never_inverted(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        const struct sched_decision *decision = &trial->plan.decisions[i];
        if (decision->action != SCHED_PREEMPT) {
            continue;
        }
        int victim = trial_level(trial, decision->job);
        int taker = trial_level(trial, decision->for_job);
        if (trial->kind == ROUND_FAST || victim > taker ||
            (decision->preemption == SCHED_PREEMPT_URGENCY &&
             victim == taker)) {
            return false;
        }
    }
    return true;
}

/* 8. After a round no job waits for whom work of lower classes could make
 * room, preemptible or not, that is not kept from it. */
static bool urgency_is_served(struct trial *trial)
{
    const struct instance *in = &trial->instance;

    trial_plan(trial, ROUND_BALANCE);
    trial_act(trial);
    for (int j = 0; j < in->job_count && !in->is_urgency_off; j++) {
        const struct instance_job *job = &in->jobs[j];
        if (!job->is_there || job->node != NO_NODE || job->gang ||
            in->queues[job->queue].is_cordoned || instance_is_limited(in, j)) {
            continue;
        }
        for (int n = 0; n < in->node_count; n++) {
            int room[INSTANCE_KINDS] = {instance_free(in, n, 0),
                                        instance_free(in, n, 1)};
            for (int v = 0; v < in->job_count; v++) {
                const struct instance_job *victim = &in->jobs[v];
                if (victim->node == n &&
                    !instance_is_kept(in, victim->priority_class) &&
                    trial_level(trial, (uint32_t)v) <
                        trial_level(trial, (uint32_t)j)) {
                    room[0] += victim->request[0];
                    room[1] += victim->request[1];
                }
            }
            if (instance_is_place(in, j, n, room)) {
                return false;
            }
        }
    }
    return true;
}

/* 9. A queue within its protected share loses nothing to fair shares. */
static bool protected_shares_are_kept(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        const struct sched_decision *decision = &trial->plan.decisions[i];
        struct sched_queue_stats stats;
        if (decision->preemption != SCHED_PREEMPT_FAIR_SHARE) {
            continue;
        }
        const struct instance_job *job = &trial->instance.jobs[decision->job];
        sched_queue_stats(trial->built.sched, (uint32_t)job->queue, 0, &stats);
        double due = stats.fair_share > stats.adjusted_share
                         ? stats.fair_share
                         : stats.adjusted_share;
        if (!CLASSES[job->priority_class].is_preemptible ||
            stats.actual_share <=
                due * trial->instance.protected_percent / 100) {
            return false;
        }
    }
    return true;
}

/* Whether the node has room for the job once victim `v` (and what goes with
 * it there) is back. */
static bool fits_with(const struct instance *instance, int job, int node,
                      const struct instance *before, int v)
{
    int room[INSTANCE_KINDS] = {instance_free(instance, node, 0),
                                instance_free(instance, node, 1)};

    for (int j = 0; j < before->job_count; j++) {
        const struct instance_job *other = &before->jobs[j];
        bool is_back = j == v || (other->gang && other->node == node &&
                                  other->gang == before->jobs[v].gang);
        for (int k = 0; is_back && k < INSTANCE_KINDS; k++) {
            room[k] -= other->request[k];
        }
    }
    return instance_is_place(instance, job, node, room);
}

/* 10. Of the victims that a single job takes, none could have stayed. */
static bool victims_are_minimal(struct trial *trial)
{
    const struct instance before = trial->instance;
    uint32_t first = 0;

    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        const struct sched_decision *decision = &trial->plan.decisions[i];
        int node = built_node(&trial->built, decision->node);
        if (i > 0 && decision->group != trial->plan.decisions[i - 1].group) {
            first = i;
        }
        bool is_single = decision->action == SCHED_LEASE &&
                         !trial->instance.jobs[decision->job].gang;
        for (uint32_t v = first; is_single && v < i; v++) {
            const struct sched_decision *victim = &trial->plan.decisions[v];
            if (victim->preemption != SCHED_PREEMPT_GANG &&
                fits_with(&trial->instance, (int)decision->job, node, &before,
                          (int)victim->job)) {
                return false;
            }
        }
        instance_apply(&trial->instance, decision,
                       built_node(&trial->built, decision->node), TRIAL_NOW);
    }
    return true;
}

OF_PLANS(urgency_is_never_inverted)
OF_PLANS(urgency_is_served)
OF_PLANS(protected_shares_are_kept)
OF_PLANS(victims_are_minimal)

int main(void)
{
    static const struct property properties[] = {
        PLAN_PROPERTY(urgency_is_never_inverted),
        PLAN_PROPERTY(urgency_is_served),
        PLAN_PROPERTY(protected_shares_are_kept),
        PLAN_PROPERTY(victims_are_minimal),
    };

    return trial_check_all(properties, sizeof(properties) / sizeof(*properties),
                           500);
}
