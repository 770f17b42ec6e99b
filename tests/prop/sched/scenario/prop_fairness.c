/*
 * What Armada's README promises of its scheduler (spec/seeds/003), and 16 to
 * 18 of armada-scheduler.md 5.15, in the regimes of regime.h, after balance
 * rounds until nothing is left to do.  docs/fairness.md says why each holds
 * there only, with a counterexample outside.
 */
#include <string.h>

#include "regime.h"

static const double SLACK = 1e-9;

typedef bool fair_fn(const struct instance *after,
                     const struct outcome outcomes[INSTANCE_QUEUES_MAX]);

static bool holds_settled(const struct instance *instance, fair_fn *check)
{
    struct outcome outcomes[INSTANCE_QUEUES_MAX];
    struct instance after;

    if (!regime_settle(instance, &after)) {
        return false;
    }
    regime_measure(&after, outcomes);
    return check(&after, outcomes);
}

static bool holds_like(struct tape *tape, fair_fn *check)
{
    struct instance instance;

    regime_draw_like(tape, &instance);
    return holds_settled(&instance, check);
}

static bool holds_pooled(struct tape *tape, fair_fn *check)
{
    struct instance instance;

    regime_draw_pooled(tape, &instance);
    return holds_settled(&instance, check);
}

/* Sharing incentive, like jobs: a queue that still wants more has what its
 * weight is worth, but for less than one job. */
static bool shares_are_had(const struct instance *after,
                           const struct outcome outcomes[INSTANCE_QUEUES_MAX])
{
    for (int q = 0; q < after->queue_count; q++) {
        const struct outcome *of = &outcomes[q];
        if (of->waiting && of->share + of->job < of->due + SLACK) {
            return false;
        }
    }
    return true;
}

/* Sharing incentive, pooled: likewise but for 1 + its share jobs; the second
 * part is what its own next job leaves of the resource that ran out. */
static bool
shares_are_nearly_had(const struct instance *after,
                      const struct outcome outcomes[INSTANCE_QUEUES_MAX])
{
    for (int q = 0; q < after->queue_count; q++) {
        const struct outcome *of = &outcomes[q];
        if (of->waiting &&
            of->share + of->job * (1 + of->due) < of->due - SLACK) {
            return false;
        }
    }
    return true;
}

/* How many jobs like its own a queue could run with another's amounts, by
 * weight. */
static int worth_of(const struct instance *after, int queue,
                    const struct outcome *mine, const struct outcome *other)
{
    int count = INSTANCE_JOBS_MAX;

    for (int j = 0; j < after->job_count; j++) {
        const struct instance_job *job = &after->jobs[j];
        for (int k = 0; k < INSTANCE_KINDS && job->queue == queue; k++) {
            double has = other->amounts[k] * mine->weight / other->weight;
            int fit = job->request[k] ? (int)(has / job->request[k] + SLACK)
                                      : INSTANCE_JOBS_MAX;
            count = fit < count ? fit : count;
        }
    }
    return count;
}

/* Envy-freeness: with what another has, by weight, a queue
 * that wants more could run at most one job more. */
static bool nobody_envies(const struct instance *after,
                          const struct outcome outcomes[INSTANCE_QUEUES_MAX])
{
    for (int q = 0; q < after->queue_count; q++) {
        for (int r = 0; r < after->queue_count; r++) {
            if (outcomes[q].waiting &&
                worth_of(after, q, &outcomes[q], &outcomes[r]) >
                    outcomes[q].running + 1) {
                return false;
            }
        }
    }
    return true;
}

/* Pareto efficiency: nobody's waiting job fits beside what runs. */
static bool nothing_is_left(const struct instance *after,
                            const struct outcome outcomes[INSTANCE_QUEUES_MAX])
{
    (void)outcomes;
    for (int j = 0; j < after->job_count; j++) {
        const struct instance_job *job = &after->jobs[j];
        for (int n = 0; n < after->node_count; n++) {
            int room[INSTANCE_KINDS] = {instance_free(after, n, 0),
                                        instance_free(after, n, 1)};
            if (job->is_there && job->node == NO_NODE &&
                instance_is_place(after, j, n, room)) {
                return false;
            }
        }
    }
    return true;
}

/* Preemption stability: nobody who lost its place takes another's when it
 * asks again, as the newest of its queue. */
static bool holds_stable(const struct instance *instance)
{
    struct trial trial = {.instance = *instance, .now = TRIAL_NOW};
    bool is_again[INSTANCE_JOBS_MAX] = {0};
    bool holds = true;

    built_init(&trial.built, instance, 0);
    trial_plan(&trial, ROUND_BALANCE);
    for (uint32_t i = 0; i < trial.plan.decision_count; i++) {
        const struct sched_decision *decision = &trial.plan.decisions[i];
        if (decision->action == SCHED_PREEMPT) {
            is_again[decision->job] = true;
            trial.instance.jobs[decision->job].submitted = TRIAL_NOW;
        }
    }
    trial_act_again(&trial);
    trial_plan(&trial, ROUND_BALANCE);
    for (uint32_t i = 0; i < trial.plan.decision_count; i++) {
        const struct sched_decision *decision = &trial.plan.decisions[i];
        holds = holds && !(decision->action == SCHED_PREEMPT &&
                           is_again[decision->for_job]);
    }
    built_fini(&trial.built);
    return holds;
}

static bool who_was_preempted_preempts_nobody_like(struct tape *tape)
{
    struct instance instance;

    regime_draw_like(tape, &instance);
    return holds_stable(&instance);
}

/* Jobs of queue 0 that run in the end. */
static int useful(const struct instance *instance)
{
    struct outcome outcomes[INSTANCE_QUEUES_MAX];
    struct instance after;

    regime_settle(instance, &after);
    regime_measure(&after, outcomes);
    return outcomes[0].running;
}

/* Nothing runs at first, so that the lie is about all that a queue has. */
static void draw_waiting(struct tape *tape, struct instance *instance)
{
    regime_draw_pooled(tape, instance);
    for (int j = 0; j < instance->job_count; j++) {
        instance->jobs[j].node = NO_NODE;
        instance->jobs[j].was_leased = false;
    }
}

/* How many jobs of queue 0 one job of each other queue makes room for, at least
 * one: what scraps that a lie takes can keep out. */
static int scraps_of(const struct instance *instance)
{
    int requests[INSTANCE_QUEUES_MAX][INSTANCE_KINDS] = {0};
    int sum = 0;

    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        memcpy(requests[job->queue], job->request, sizeof(job->request));
    }
    for (int q = 1; q < instance->queue_count; q++) {
        int count = INSTANCE_JOBS_MAX;
        for (int k = 0; k < INSTANCE_KINDS; k++) {
            int fit = requests[0][k] ? requests[q][k] / requests[0][k]
                                     : INSTANCE_JOBS_MAX;
            count = fit < count ? fit : count;
        }
        sum += count;
    }
    return sum > 1 ? sum : 1;
}

/* Strategy-proofness: who asks for more than it needs runs no more but for
 * what one job of each other queue is worth to it. */
static bool asking_for_more_does_not_help(struct tape *tape)
{
    struct instance instance;

    draw_waiting(tape, &instance);
    int most = useful(&instance) + scraps_of(&instance);
    int more[INSTANCE_KINDS] = {(int)draw(tape, 0, 3), (int)draw(tape, 0, 3)};
    for (int j = 0; j < instance.job_count; j++) {
        for (int k = 0; k < INSTANCE_KINDS && !instance.jobs[j].queue; k++) {
            instance.jobs[j].request[k] += more[k];
        }
    }
    return useful(&instance) <= most;
}

/* Likewise who sends pairs of jobs as one. */
static bool merging_does_not_help(struct tape *tape)
{
    struct instance instance;
    int pair = -1;

    draw_waiting(tape, &instance);
    for (int j = 0; j < instance.job_count; j++) {
        instance.jobs[j].submitted = 0; /* pairs stand where they stood */
    }
    int honest = useful(&instance);
    for (int j = 0; j < instance.job_count; j++) {
        struct instance_job *job = &instance.jobs[j];
        if (job->queue != 0) {
            continue;
        }
        if (pair < 0) {
            pair = j;
            continue;
        }
        job->is_there = false;
        instance.jobs[pair].request[0] *= 2;
        instance.jobs[pair].request[1] *= 2;
        pair = -1;
    }
    if (pair >= 0) {
        instance.jobs[pair].is_there = false;
    }
    return 2 * useful(&instance) <= honest + 1;
}

/* 18. Nobody gives way to a queue that then has more by weight than its own
 * had before. */
static bool takers_have_less(struct tape *tape)
{
    struct trial trial = {.now = TRIAL_NOW};
    struct outcome before[INSTANCE_QUEUES_MAX], after[INSTANCE_QUEUES_MAX];
    bool is_taken[INSTANCE_QUEUES_MAX][INSTANCE_QUEUES_MAX] = {0};
    bool holds = true;

    regime_draw_like(tape, &trial.instance);
    built_init(&trial.built, &trial.instance, 0);
    regime_measure(&trial.instance, before);
    trial_plan(&trial, ROUND_BALANCE);
    for (uint32_t i = 0; i < trial.plan.decision_count; i++) {
        const struct sched_decision *decision = &trial.plan.decisions[i];
        if (decision->action == SCHED_PREEMPT) {
            is_taken[trial.instance.jobs[decision->job].queue]
                    [trial.instance.jobs[decision->for_job].queue] = true;
        }
    }
    trial_act(&trial);
    regime_measure(&trial.instance, after);
    for (int v = 0; v < INSTANCE_QUEUES_MAX; v++) {
        for (int q = 0; q < INSTANCE_QUEUES_MAX; q++) {
            holds = holds && (!is_taken[v][q] ||
                              after[q].share / after[q].weight <=
                                  before[v].share / before[v].weight + SLACK);
        }
    }
    built_fini(&trial.built);
    return holds;
}

/* The flow that a queue would have with one job more, by weight. */
static double flow_with_one(const struct instance *instance, int queue)
{
    static const int ONE[INSTANCE_KINDS] = {1, 1};
    struct outcome outcomes[INSTANCE_QUEUES_MAX];

    regime_measure(instance, outcomes);
    double flow = instance->queues[queue].flow[0].all;
    double more =
        outcomes[queue].share + fraction_value(instance_cost(instance, ONE));
    return (more > flow ? more : flow) / outcomes[queue].weight;
}

/* Whether no queue that was just given work has more flow, by weight, than
 * one that still waits would have with a job more. */
static bool is_max_min(const struct instance *instance, const bool *has_started)
{
    for (int i = 0; i < instance->queue_count; i++) {
        for (int j = 0; j < instance->job_count; j++) {
            const struct instance_job *job = &instance->jobs[j];
            bool waits = job->is_there && job->node == NO_NODE;
            double flow = instance->queues[i].flow[0].all *
                          instance->queues[i].factor_halves / 2;
            if (has_started[i] && waits &&
                flow > flow_with_one(instance, job->queue) * (1 + SLACK)) {
                return false;
            }
        }
    }
    return true;
}

/* Jobs come, end, and the clock goes on. */
static void pass_time(struct tape *tape, struct trial *trial)
{
    trial->now += (int)draw(tape, 0, 60000);
    sched_set_time(trial->built.sched, trial->now);
    for (int j = 0; j < trial->instance.job_count; j++) {
        struct instance_job *job = &trial->instance.jobs[j];
        if (job->node != NO_NODE && draw(tape, 0, 2) == 2) {
            instance_remove(&trial->instance, j, trial->now);
            sched_job_remove(trial->built.sched, (uint32_t)j);
        } else if (!job->is_there && draw(tape, 0, 1)) {
            instance_submit(&trial->instance, j, trial->now);
            built_add_job(&trial->built, &trial->instance, j);
        }
    }
    instance_advance(&trial->instance, trial->now);
}

/* Max-min fairness of flow (spec/seeds/000), like jobs of lifetime 0: to give
 * a waiting queue more, a round would have to take from one whose flow, by
 * weight, would then be less. */
static bool flows_are_max_min(struct tape *tape)
{
    struct trial trial = {.now = 0};
    bool holds = true;

    regime_draw_like(tape, &trial.instance);
    trial.instance.half_ms = (int)draw(tape, 1, 120) * 1000;
    trial.instance.is_weighted = draw(tape, 0, 1);
    for (int j = 0; j < trial.instance.job_count; j++) {
        trial.instance.jobs[j].node = NO_NODE;
    }
    built_init(&trial.built, &trial.instance, 0);
    for (uint64_t rounds = draw(tape, 1, 6); rounds > 0 && holds; rounds--) {
        bool has_started[INSTANCE_QUEUES_MAX] = {0};
        pass_time(tape, &trial);
        trial_plan(&trial, (enum round_kind)draw(tape, 0, 1));
        for (uint32_t i = 0; i < trial.plan.decision_count; i++) {
            const struct sched_decision *decision = &trial.plan.decisions[i];
            has_started[trial.instance.jobs[decision->job].queue] |=
                decision->action == SCHED_LEASE;
        }
        trial_act_again(&trial);
        holds = is_max_min(&trial.instance, has_started);
    }
    built_fini(&trial.built);
    return holds;
}

#define IN_BOTH(name)                            \
    static bool name##_like(struct tape *tape)   \
    {                                            \
        return holds_like(tape, name);           \
    }                                            \
    static bool name##_pooled(struct tape *tape) \
    {                                            \
        return holds_pooled(tape, name);         \
    }
IN_BOTH(nothing_is_left)

static bool shares_are_had_like(struct tape *tape)
{
    return holds_like(tape, shares_are_had);
}

static bool shares_are_nearly_had_pooled(struct tape *tape)
{
    return holds_pooled(tape, shares_are_nearly_had);
}

static bool nobody_envies_like(struct tape *tape)
{
    return holds_like(tape, nobody_envies);
}

int main(void)
{
    static const struct property properties[] = {
        PROPERTY(shares_are_had_like),
        PROPERTY(shares_are_nearly_had_pooled),
        PROPERTY(nobody_envies_like),
        PROPERTY(nothing_is_left_like),
        PROPERTY(nothing_is_left_pooled),
        PROPERTY(who_was_preempted_preempts_nobody_like),
        PROPERTY(asking_for_more_does_not_help),
        PROPERTY(merging_does_not_help),
        PROPERTY(takers_have_less),
        PROPERTY(flows_are_max_min),
    };

    return trial_check_all(properties, sizeof(properties) / sizeof(*properties),
                           1000);
}
