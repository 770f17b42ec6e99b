/* Invariants of what a plan leaves behind (armada-scheduler.md 5.15). */
#include <string.h>

#include "trial.h"

/* 1, 2. Nothing lands on a node where it does not fit. */
static bool capacity_holds(struct trial *trial)
{
    trial_act(trial);
    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        const struct sched_decision *decision = &trial->plan.decisions[i];
        int node = built_node(&trial->built, decision->node);
        if (decision->action == SCHED_LEASE &&
            (instance_free(&trial->instance, node, 0) < 0 ||
             instance_free(&trial->instance, node, 1) < 0)) {
            return false;
        }
    }
    return true;
}

/* 3, 5. Sums and indexes are right after the deltas, after a plan that was
 * not acted on, and after one that was. */
static bool sums_hold(struct trial *trial)
{
    bool holds = sched_is_consistent(trial->built.sched);

    trial_act(trial);
    return holds && sched_is_consistent(trial->built.sched);
}

/* 4. Adjusted shares sum up to at most the pool, none exceeds its queue's
 * demand, and none is less than demand or fair share, whichever is less.  What
 * is said of a queue by itself is what is said of it among all. */
static bool shares_hold(struct trial *trial)
{
    uint32_t queues[INSTANCE_QUEUES_MAX] = {0};
    struct sched_queue_stats all[INSTANCE_QUEUES_MAX];
    uint32_t count = (uint32_t)trial->instance.queue_count;
    double sum = 0;

    for (uint32_t q = 0; q < count; q++) {
        queues[q] = count - 1 - q;
    }
    sched_queues_stats(trial->built.sched, queues, count, 0, all);
    for (uint32_t q = 0; q < count; q++) {
        struct sched_queue_stats stats;
        sched_queue_stats(trial->built.sched, q, 0, &stats);
        if (all[count - 1 - q].adjusted_share != stats.adjusted_share ||
            all[count - 1 - q].actual_share != stats.actual_share ||
            all[count - 1 - q].queued_count != stats.queued_count) {
            return false;
        }
        double due = stats.demand_share < stats.fair_share ? stats.demand_share
                                                           : stats.fair_share;
        if (stats.adjusted_share > stats.demand_share + 1e-9 ||
            stats.adjusted_share < due - 1e-9) {
            return false;
        }
        sum += stats.adjusted_share;
    }
    return sum < 1 + 1e-9;
}

/* 6, 12. Only waiting jobs of queues that are not cordoned start, and only on
 * nodes that take new work, tolerate them and are not avoided. */
static bool starts_are_allowed(struct trial *trial)
{
    static const int ALL[INSTANCE_KINDS] = {1000, 1000};

    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        const struct sched_decision *decision = &trial->plan.decisions[i];
        const struct instance_job *job = &trial->instance.jobs[decision->job];
        bool is_running = job->node != NO_NODE;
        if (decision->action == SCHED_PREEMPT ? !is_running : is_running) {
            return false;
        }
        if (decision->action == SCHED_LEASE &&
            (trial->instance.queues[job->queue].is_cordoned ||
             !instance_is_place(&trial->instance, (int)decision->job,
                                built_node(&trial->built, decision->node),
                                ALL))) {
            return false;
        }
    }
    return true;
}

/* 7. A gang starts with its minimum or not at all, in one rack if it is
 * uniform, and within one group; it loses its place whole. */
static bool gangs_hold(struct trial *trial)
{
    uint32_t groups[INSTANCE_JOBS_MAX];
    struct instance before = trial->instance;

    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        groups[trial->plan.decisions[i].job] = trial->plan.decisions[i].group;
    }
    trial_act(trial);
    for (int g = 1; g <= trial->instance.job_count; g++) {
        int running = 0, ran = 0, started = 0, lost = 0, minimum = 0;
        unsigned racks = 0;
        uint32_t group = 0;
        for (int j = 0; j < trial->instance.job_count; j++) {
            const struct instance_job *job = &trial->instance.jobs[j];
            const struct instance_job *was = &before.jobs[j];
            if (job->gang != g) {
                continue;
            }
            minimum = job->minimum;
            ran += was->node != NO_NODE;
            running += job->node != NO_NODE;
            lost += was->node != NO_NODE && job->node == NO_NODE;
            if (was->node == NO_NODE && job->node != NO_NODE) {
                if (started++ > 0 && groups[j] != group) {
                    return false;
                }
                group = groups[j];
                racks |= job->is_uniform
                             ? 1u << trial->instance.nodes[job->node].rack
                             : 2;
            }
        }
        if ((lost && running) || (racks & (racks - 1)) || (racks & 1)) {
            return false;
        }
        int short_by = minimum - running;
        if (started && ran == 0 && short_by > 0) {
            return false;
        }
    }
    return true;
}

/* 14. After a round whatever waits fits in no free space, unless a limit, a
 * cordon or its gang holds it back. */
static bool no_room_is_left(struct trial *trial)
{
    const struct instance *in = &trial->instance;

    trial_act(trial);
    for (int j = 0; j < in->job_count; j++) {
        const struct instance_job *job = &in->jobs[j];
        for (int n = 0; n < in->node_count; n++) {
            int room[INSTANCE_KINDS] = {instance_free(in, n, 0),
                                        instance_free(in, n, 1)};
            if (job->is_there && job->node == NO_NODE && !job->gang &&
                !in->queues[job->queue].is_cordoned &&
                !instance_is_limited(in, j) &&
                instance_is_place(in, j, n, room)) {
                return false;
            }
        }
    }
    return true;
}

/* 11. In no stretch of time do more jobs start than the buckets give. */
static bool rates_hold(struct tape *tape)
{
    struct trial trial;
    int64_t times[INSTANCE_JOBS_MAX], rate = (int64_t)draw(tape, 1, 20);
    int64_t burst = (int64_t)draw(tape, 1, 6), now = 0;
    int count = 0;

    instance_draw(tape, &trial.instance);
    instance_make_uniform(&trial.instance);
    built_init(&trial.built, &trial.instance, 0);
    trial.built.policy.rate_global = (struct rate_limit){rate * 1000, burst};
    sched_policy_set(trial.built.sched, &trial.built.policy);
    for (int i = 0; i < 20; i++) {
        now += (int64_t)draw(tape, 0, 400);
        sched_plan(trial.built.sched, now, ROUND_FAST, SCHED_DECISIONS_MAX,
                   &trial.plan);
        for (uint32_t d = 0; d < trial.plan.decision_count; d++) {
            struct sched_decision decision = trial.plan.decisions[d];
            built_apply(&trial.built, &decision, (int)now);
            times[count++] = now;
        }
    }
    built_fini(&trial.built);
    for (int a = 0; a < count; a++) {
        for (int b = a; b < count; b++) {
            if ((b - a + 1 - burst) * 1000 > (times[b] - times[a]) * rate) {
                return false;
            }
        }
    }
    return true;
}

OF_PLANS(capacity_holds)
OF_PLANS(sums_hold)
OF_PLANS(shares_hold)
OF_PLANS(starts_are_allowed)
OF_PLANS(gangs_hold)
OF_PLANS(no_room_is_left)

int main(void)
{
    static const struct property properties[] = {
        PLAN_PROPERTY(capacity_holds), PLAN_PROPERTY(sums_hold),
        PLAN_PROPERTY(shares_hold),    PLAN_PROPERTY(starts_are_allowed),
        PLAN_PROPERTY(gangs_hold),     PLAN_PROPERTY(no_room_is_left),
        PROPERTY(rates_hold),
    };

    return trial_check_all(properties, sizeof(properties) / sizeof(*properties),
                           500);
}
