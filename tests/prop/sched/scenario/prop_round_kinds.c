/* The kinds of rounds agree with each other, and come to rest. */
#include <stdlib.h>
#include <string.h>

#include "trial.h"

enum { ROUNDS_MAX = 20 };

/* 19. The order in which the state was told does not matter. */
static bool order_does_not_matter(struct trial *trial)
{
    struct trial other = *trial;

    built_init(&other.built, &trial->instance, 88172645463325252u);
    trial_plan(&other, trial->kind);
    bool holds = trial_same_plan(trial, &other);
    built_fini(&other.built);
    return holds;
}

/* A batch takes whole groups, and what it takes is how the plan begins. */
static bool a_cut_plan_is_a_prefix(struct trial *trial)
{
    struct sched_decision whole[INSTANCE_JOBS_MAX * 2];
    uint32_t count = trial->plan.decision_count;
    struct sched_plan cut;

    if (count == 0) {
        return true;
    }
    memcpy(whole, trial->plan.decisions, count * sizeof(*whole));
    sched_plan(trial->built.sched, TRIAL_NOW, trial->kind, 3, &cut);
    uint32_t n = cut.decision_count;
    return n > 0 && n <= count && cut.is_truncated == (n < count) &&
           memcmp(whole, cut.decisions, n * sizeof(*whole)) == 0 &&
           (n == count || whole[n].group != whole[n - 1].group) &&
           (n <= 3 || whole[n - 1].group == 0) &&
           sched_is_consistent(trial->built.sched);
}

/* 15. With jobs of one size a second round, forced, changes nothing, also when
 * the preempted come again. */
static bool a_second_round_changes_nothing(struct trial *trial)
{
    trial_act_again(trial);
    trial_force(trial);
    trial_plan(trial, ROUND_BALANCE);
    return trial->plan.decision_count == 0;
}

/* A planner that is told the state, in an order, and what a checkpoint says of
 * the rest: limits on starts, cooldowns. */
static void rebuild(const struct trial *trial, uint64_t order,
                    struct trial *ret_fresh)
{
    auto_strbuf buf = {0};

    *ret_fresh = *trial;
    built_init(&ret_fresh->built, &trial->instance, order);
    ret_fresh->built.policy = trial->built.policy;
    trial_force(ret_fresh);
    sched_history_pack(trial->built.sched, &buf);
    int rc = sched_history_unpack(ret_fresh->built.sched, strbuf_str(&buf));
    ASSERT(rc == 0);
}

/* Forced full rounds until nothing is left to do; all who lose their place
 * ask again at once. */
static bool settle(struct trial *trial)
{
    for (int i = 0; i < ROUNDS_MAX; i++) {
        trial_force(trial);
        trial_plan(trial, ROUND_BALANCE);
        if (trial->plan.decision_count == 0) {
            return true;
        }
        trial_act_again(trial);
    }
    return false;
}

/* With no new input preemptions come to an end; and what is quiet stays so
 * when it is built anew in another order, from the state and what a checkpoint
 * says: cooldowns (docs/decisions/0010). */
static bool preemptions_come_to_an_end(struct trial *trial)
{
    struct trial other;
    bool holds = settle(trial);

    rebuild(trial, 2862933555777941757u, &other);
    trial_plan(&other, ROUND_BALANCE);
    holds = holds && other.plan.decision_count == 0;
    built_fini(&other.built);
    return holds;
}

static void count_running(const struct trial *trial,
                          int counts[INSTANCE_QUEUES_MAX])
{
    memset(counts, 0, INSTANCE_QUEUES_MAX * sizeof(*counts));
    for (int j = 0; j < trial->instance.job_count; j++) {
        const struct instance_job *job = &trial->instance.jobs[j];
        counts[job->queue] += job->is_there && job->node != NO_NODE;
    }
}

/* A job that is there ends, or one that is not is submitted. */
static void come_or_go(struct trial *trial, int index)
{
    struct instance_job *job = &trial->instance.jobs[index];

    if (job->is_there) {
        sched_job_remove(trial->built.sched, (uint32_t)index);
        job->is_there = false;
        job->node = NO_NODE;
    } else {
        job->is_there = true;
        built_add_job(&trial->built, &trial->instance, index);
    }
}

/* 20. With jobs of one size the fast path on every event and then the balance
 * round end in an allocation that differs from the full round's alone by
 * at most one job per queue, where it may preempt for fairness. */
static bool the_fast_path_ends_like_balance(struct tape *tape)
{
    struct trial hasty = {.now = TRIAL_NOW}, calm = {.now = TRIAL_NOW};
    int a[INSTANCE_QUEUES_MAX], b[INSTANCE_QUEUES_MAX];

    instance_draw(tape, &hasty.instance);
    instance_make_uniform(&hasty.instance);
    hasty.instance.is_fair_share_off = false;
    calm.instance = hasty.instance;
    built_init(&hasty.built, &hasty.instance, 0);
    built_init(&calm.built, &calm.instance, 0);
    uint64_t events = hasty.instance.job_count ? draw(tape, 0, 20) : 0;
    for (; events > 0; events--) {
        int last = hasty.instance.job_count - 1;
        int index = (int)draw(tape, 0, (uint64_t)last);
        come_or_go(&hasty, index);
        come_or_go(&calm, index);
        if (draw(tape, 0, 1)) {
            trial_plan(&hasty, ROUND_FAST);
            trial_act(&hasty);
        }
    }
    bool holds = settle(&hasty) && settle(&calm);
    count_running(&hasty, a);
    count_running(&calm, b);
    for (int q = 0; q < INSTANCE_QUEUES_MAX; q++) {
        holds = holds && abs(a[q] - b[q]) <= 1;
    }
    built_fini(&hasty.built);
    built_fini(&calm.built);
    return holds;
}

/* 21. One more empty node never means fewer jobs running. */
static bool a_node_more_does_not_hurt(struct trial *trial)
{
    struct trial other = *trial;
    int running[2] = {0};

    if (trial->instance.node_count == INSTANCE_NODES_MAX) {
        return true;
    }
    other.instance.nodes[other.instance.node_count++] =
        (struct instance_node){.capacity = {4, 8}};
    built_init(&other.built, &other.instance, 0);
    trial_plan(&other, ROUND_BALANCE);
    trial_act(trial);
    trial_act(&other);
    for (int j = 0; j < trial->instance.job_count; j++) {
        running[0] += trial->instance.jobs[j].node != NO_NODE;
        running[1] += other.instance.jobs[j].node != NO_NODE;
    }
    built_fini(&other.built);
    return running[1] >= running[0];
}

/* One random event, in the instance and in its planner. */
static void happen(struct tape *tape, struct trial *trial)
{
    struct instance *in = &trial->instance;
    uint32_t index = (uint32_t)draw(tape, 0, (uint64_t)in->job_count - 1);
    struct instance_job *job = &in->jobs[index];
    struct sched *sched = trial->built.sched;

    switch (draw(tape, 0, 6)) {
    case 0:
        if (job->is_there) {
            sched_job_remove(sched, index);
            job->is_there = false;
            job->node = NO_NODE;
        } else {
            job->is_there = true;
            job->was_leased = false;
            built_add_job(&trial->built, in, (int)index);
        }
        break;
    case 1:
        if (job->is_there && job->node != NO_NODE) {
            sched_job_requeue(sched, index, trial->built.handles[job->node]);
            job->avoided |= 1u << job->node;
            job->node = NO_NODE;
        }
        break;
    case 2:
        job->priority = (int)draw(tape, 0, 3);
        if (job->is_there) {
            sched_job_reprioritise(sched, index, (uint32_t)job->priority);
        }
        break;
    case 3:
        in->nodes[0].capacity[0] = (int)draw(tape, 1, 8);
        in->nodes[0].is_unschedulable = draw(tape, 0, 3) == 3;
        built_set_node(&trial->built, in, 0);
        break;
    case 4:
        in->queues[0].is_cordoned = draw(tape, 0, 1);
        in->queues[0].factor_halves = (int)draw(tape, 2, 5);
        built_set_queue(&trial->built, in, 0);
        break;
    case 5:
        sched_executor_set(sched, STR("e"), draw(tape, 0, 3) > 0);
        sched_executor_set(sched, STR("e"), true);
        break;
    default:
        sched_policy_set(sched, &trial->built.policy);
        break;
    }
}

static void limit_rates(struct tape *tape, struct trial *trial)
{
    struct policy *policy = &trial->built.policy;

    policy->rate_global =
        (struct rate_limit){(int64_t)draw(tape, 1, 20) * 1000, 5};
    policy->rate_per_queue =
        (struct rate_limit){(int64_t)draw(tape, 1, 20) * 1000, 3};
    trial_force(trial);
}

/* 3, 19, 20. A state kept up to date by deltas plans like one built anew from
 * a checkpoint. */
static bool deltas_equal_a_restart(struct tape *tape)
{
    struct trial trial = {.now = TRIAL_NOW}, fresh;
    bool holds = true;

    instance_draw(tape, &trial.instance);
    built_init(&trial.built, &trial.instance, 0);
    if (draw(tape, 0, 1)) {
        limit_rates(tape, &trial);
    }
    uint64_t rounds = draw(tape, 1, 4);
    for (uint64_t i = 0; i < rounds && holds; i++) {
        uint64_t events = draw(tape, 0, 8);
        for (; events > 0 && trial.instance.job_count > 0; events--) {
            happen(tape, &trial);
        }
        trial.now += (int)draw(tape, 0, 300);
        rebuild(&trial, 0, &fresh);
        enum round_kind kind = (enum round_kind)draw(tape, 0, 1);
        trial_plan(&trial, kind);
        trial_plan(&fresh, kind);
        holds = trial_same_plan(&trial, &fresh) &&
                sched_is_consistent(trial.built.sched);
        built_fini(&fresh.built);
        trial_act(&trial);
    }
    built_fini(&trial.built);
    return holds;
}

OF_PLANS(order_does_not_matter)
OF_PLANS(a_cut_plan_is_a_prefix)
OF_UNIFORM_PLANS(a_second_round_changes_nothing)
OF_PLANS(preemptions_come_to_an_end)
OF_UNIFORM_PLANS(a_node_more_does_not_hurt)

int main(void)
{
    static const struct property properties[] = {
        PLAN_PROPERTY(order_does_not_matter),
        PLAN_PROPERTY(a_cut_plan_is_a_prefix),
        PLAN_PROPERTY(a_second_round_changes_nothing),
        PLAN_PROPERTY(preemptions_come_to_an_end),
        PROPERTY(the_fast_path_ends_like_balance),
        PLAN_PROPERTY(a_node_more_does_not_hurt),
        PROPERTY(deltas_equal_a_restart),
    };

    return trial_check_all(properties, sizeof(properties) / sizeof(*properties),
                           500);
}
