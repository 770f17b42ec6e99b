/*
 * How far from fair plans are where no property holds exactly: the figures of
 * docs/fairness.md, as its table.  usage: report_fairness [INSTANCES]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regime.h"

enum { INSTANCES = 2000, ROUNDS_MAX = 40 };

static const double SLACK = 1e-9;

/* What was seen of one kind of instances. */
struct tally {
    unsigned instances, queues_wanting, short_of_share, pairs, envious;
    unsigned preempting, unstable, unquiet, wasteful, lies, lies_paid;
    double lack_sum, lack_max; /* of those short of their share */
    int rounds_max, gain_max;
};

static struct tally tally;
static void (*draw_instance)(struct tape *tape, struct instance *instance);

static void measure_shares(const struct instance *after)
{
    struct outcome outcomes[INSTANCE_QUEUES_MAX];

    regime_measure(after, outcomes);
    for (int q = 0; q < after->queue_count; q++) {
        const struct outcome *of = &outcomes[q];
        if (!of->waiting || after->queues[q].is_cordoned) {
            continue;
        }
        double lack = of->due - of->share - of->job;
        tally.queues_wanting++;
        if (lack > SLACK) {
            tally.short_of_share++;
            tally.lack_sum += lack;
            tally.lack_max = lack > tally.lack_max ? lack : tally.lack_max;
        }
        for (int r = 0; r < after->queue_count; r++) {
            tally.pairs += r != q;
            tally.envious += outcomes[r].share / outcomes[r].weight >
                             (of->share + of->job) / of->weight + SLACK;
        }
    }
}

/* Whether a waiting job of no gang fits in free space and may start. */
static bool is_wasteful(const struct instance *after)
{
    for (int j = 0; j < after->job_count; j++) {
        const struct instance_job *job = &after->jobs[j];
        bool may_start = job->is_there && job->node == NO_NODE && !job->gang &&
                         !after->queues[job->queue].is_cordoned &&
                         !instance_is_limited(after, j);
        for (int n = 0; n < after->node_count && may_start; n++) {
            int room[INSTANCE_KINDS] = {instance_free(after, n, 0),
                                        instance_free(after, n, 1)};
            if (instance_is_place(after, j, n, room)) {
                return true;
            }
        }
    }
    return false;
}

/* The newest of its queue, every preempted job asks again: does it preempt? */
static void measure_stability(const struct instance *instance)
{
    struct trial trial = {.instance = *instance, .now = TRIAL_NOW};
    bool is_again[INSTANCE_JOBS_MAX] = {0};
    bool has_preempted = false, is_stable = true;

    built_init(&trial.built, instance, 0);
    trial_plan(&trial, ROUND_BALANCE);
    for (uint32_t i = 0; i < trial.plan.decision_count; i++) {
        const struct sched_decision *decision = &trial.plan.decisions[i];
        if (decision->action == SCHED_PREEMPT) {
            has_preempted = is_again[decision->job] = true;
            trial.instance.jobs[decision->job].submitted = TRIAL_NOW;
        }
    }
    trial_act_again(&trial);
    trial_plan(&trial, ROUND_BALANCE);
    for (uint32_t i = 0; i < trial.plan.decision_count; i++) {
        const struct sched_decision *decision = &trial.plan.decisions[i];
        is_stable &=
            decision->action != SCHED_PREEMPT || !is_again[decision->for_job];
    }
    tally.preempting += has_preempted;
    tally.unstable += !is_stable;
    tally.unquiet += trial.plan.decision_count > 0;
    built_fini(&trial.built);
}

static int count_rounds(const struct instance *instance)
{
    struct trial trial = {.instance = *instance, .now = TRIAL_NOW};
    int rounds = 0;

    built_init(&trial.built, instance, 0);
    for (; rounds < ROUNDS_MAX; rounds++) {
        trial_force(&trial);
        trial_plan(&trial, ROUND_BALANCE);
        if (trial.plan.decision_count == 0) {
            break;
        }
        trial_act_again(&trial);
    }
    built_fini(&trial.built);
    return rounds;
}

static int useful(const struct instance *instance)
{
    struct outcome outcomes[INSTANCE_QUEUES_MAX];
    struct instance after;

    regime_settle(instance, &after);
    regime_measure(&after, outcomes);
    return outcomes[0].running;
}

/* Queue 0 asks for more than it needs. */
static void measure_lie(struct tape *tape, const struct instance *instance)
{
    struct instance lie = *instance;

    for (int j = 0; j < lie.job_count; j++) {
        lie.jobs[j].node = NO_NODE;
        lie.jobs[j].was_leased = false;
    }
    int honest = useful(&lie);
    int more[INSTANCE_KINDS] = {(int)draw(tape, 0, 3), (int)draw(tape, 0, 3)};
    for (int j = 0; j < lie.job_count; j++) {
        for (int k = 0; k < INSTANCE_KINDS && !lie.jobs[j].queue; k++) {
            lie.jobs[j].request[k] += more[k];
        }
    }
    int gain = useful(&lie) - honest;
    tally.lies++;
    tally.lies_paid += gain > 0;
    tally.gain_max = gain > tally.gain_max ? gain : tally.gain_max;
}

static bool measure(struct tape *tape)
{
    struct instance instance, after;

    draw_instance(tape, &instance);
    regime_settle(&instance, &after);
    tally.instances++;
    measure_shares(&after);
    tally.wasteful += is_wasteful(&after);
    measure_stability(&instance);
    int rounds = count_rounds(&instance);
    tally.rounds_max = rounds > tally.rounds_max ? rounds : tally.rounds_max;
    measure_lie(tape, &instance);
    return true;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static void report(const char *name, unsigned instances,
                   void (*drawer)(struct tape *, struct instance *))
{
    memset(&tally, 0, sizeof(tally));
    draw_instance = drawer;
    prop_check(name, measure, instances, 1);
    printf("| %s | %.2f %% | %.1f %% | %.1f %% | %.2f %% | %.2f %% | %.2f %% "
           "| %.2f %% | %.2f %% | +%d | %d |\n",
           name, percent(tally.short_of_share, tally.queues_wanting),
           percent(tally.lack_sum, tally.short_of_share), 100 * tally.lack_max,
           percent(tally.envious, tally.pairs),
           percent(tally.wasteful, tally.instances),
           percent(tally.unstable, tally.preempting),
           percent(tally.unquiet, tally.instances),
           percent(tally.lies_paid, tally.lies), tally.gain_max,
           tally.rounds_max);
}

int main(int argc, char **argv)
{
    unsigned instances =
        argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : INSTANCES;

    printf("| instances | short of its share by more than a job | then by, "
           "mean | most | envies by more than a job | waits beside room | "
           "preempts on return | a second round acts | a lie pays | at most, "
           "jobs | rounds, most |\n|---|---|---|---|---|---|---|---|---|---|"
           "---|\n");
    report("like jobs", instances, regime_draw_like);
    report("pooled", instances, regime_draw_pooled);
    report("general", instances, instance_draw);
    return 0;
}
