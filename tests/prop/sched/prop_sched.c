/* The invariants of plans, each stated as a sentence; the numbers are those
 * of the list that the design refers to (armada-scheduler.md 5.15). */
#include <string.h>

#include "instance.h"

enum { NOW = 100 };

/* An instance, its planner, and a plan made but not yet acted on. */
struct trial {
    struct instance instance;
    struct built built;
    struct sched_plan plan;
    enum round_kind kind;
};

typedef bool check_fn(struct trial *trial);

static int level(const struct trial *trial, uint32_t job)
{
    return CLASSES[trial->instance.jobs[job].priority_class].priority;
}

static void act(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        struct sched_decision decision = trial->plan.decisions[i];
        instance_apply(&trial->instance, &trial->built, &decision, NOW);
        built_apply(&trial->built, &decision, NOW);
    }
}

static void plan(struct trial *trial, enum round_kind kind)
{
    trial->kind = kind;
    sched_plan(trial->built.sched, NOW, kind, SCHED_DECISIONS_MAX,
               &trial->plan);
}

static bool holds_for(struct tape *tape, check_fn *check)
{
    struct trial trial;

    instance_draw(tape, &trial.instance);
    trial.kind = (enum round_kind)draw(tape, 0, 1);
    instance_build(&trial.instance, 0, &trial.built);
    plan(&trial, trial.kind);
    bool holds = check(&trial);
    built_fini(&trial.built);
    return holds;
}

/* Whether the job may be on the node at all, and would fit `room`. */
static bool is_place(const struct instance *instance, int index, int n,
                     const int room[INSTANCE_KINDS])
{
    const struct instance_job *job = &instance->jobs[index];
    const struct instance_node *node = &instance->nodes[n];

    return !node->is_unschedulable && (!node->is_tainted || job->is_tolerant) &&
           (job->rack == 0 || job->rack == node->rack) &&
           !(job->avoided >> n & 1) && job->request[0] <= room[0] &&
           job->request[1] <= room[1];
}

static bool is_limited(const struct instance *instance, int index)
{
    int used = instance->jobs[index].request[0], total = 0;

    if (!instance->limit_percent || instance->jobs[index].priority_class) {
        return false;
    }
    for (int n = 0; n < instance->node_count; n++) {
        total += instance->nodes[n].capacity[0];
    }
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        used += job->node != NO_NODE && job->priority_class == 0 &&
                        job->queue == instance->jobs[index].queue
                    ? job->request[0]
                    : 0;
    }
    return used * 100 > instance->limit_percent * total;
}

/* 1, 2. Nothing lands on a node where it does not fit. */
static bool capacity_holds(struct trial *trial)
{
    act(trial);
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

    act(trial);
    return holds && sched_is_consistent(trial->built.sched);
}

/* 4. Adjusted shares sum up to at most the pool, none exceeds its queue's
 * demand, and none is less than demand or fair share, whichever is less. */
static bool shares_hold(struct trial *trial)
{
    double sum = 0;

    for (int q = 0; q < trial->instance.queue_count; q++) {
        struct sched_queue_stats stats;
        sched_queue_stats(trial->built.sched, (uint32_t)q, 0, &stats);
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
             !is_place(&trial->instance, (int)decision->job,
                       built_node(&trial->built, decision->node), ALL))) {
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
    act(trial);
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

/* 8. Nobody gives way to a job that is less urgent, nor to an equal but for
 * fair shares. */
static bool urgency_is_never_inverted(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        const struct sched_decision *decision = &trial->plan.decisions[i];
        if (decision->action != SCHED_PREEMPT) {
            continue;
        }
        int victim = level(trial, decision->job);
        int taker = level(trial, decision->for_job);
        if (trial->kind == ROUND_FAST || victim > taker ||
            (decision->preemption == SCHED_PREEMPT_URGENCY &&
             victim == taker)) {
            return false;
        }
    }
    return true;
}

/* 8. After a round no job waits for whom preemptible work of lower classes
 * could make room. */
static bool urgency_is_served(struct trial *trial)
{
    const struct instance *in = &trial->instance;

    plan(trial, ROUND_BALANCE);
    act(trial);
    for (int j = 0; j < in->job_count && !in->is_urgency_off; j++) {
        const struct instance_job *job = &in->jobs[j];
        if (!job->is_there || job->node != NO_NODE || job->gang ||
            in->queues[job->queue].is_cordoned || is_limited(in, j)) {
            continue;
        }
        for (int n = 0; n < in->node_count; n++) {
            int room[INSTANCE_KINDS] = {instance_free(in, n, 0),
                                        instance_free(in, n, 1)};
            for (int v = 0; v < in->job_count; v++) {
                const struct instance_job *victim = &in->jobs[v];
                if (victim->node == n &&
                    CLASSES[victim->priority_class].is_preemptible &&
                    level(trial, (uint32_t)v) < level(trial, (uint32_t)j)) {
                    room[0] += victim->request[0];
                    room[1] += victim->request[1];
                }
            }
            if (is_place(in, j, n, room)) {
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
    return is_place(instance, job, node, room);
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
        instance_apply(&trial->instance, &trial->built, decision, NOW);
    }
    return true;
}

/* 14. After a round whatever waits fits in no free space, unless a limit, a
 * cordon or its gang holds it back. */
static bool no_room_is_left(struct trial *trial)
{
    const struct instance *in = &trial->instance;

    act(trial);
    for (int j = 0; j < in->job_count; j++) {
        const struct instance_job *job = &in->jobs[j];
        for (int n = 0; n < in->node_count; n++) {
            int room[INSTANCE_KINDS] = {instance_free(in, n, 0),
                                        instance_free(in, n, 1)};
            if (job->is_there && job->node == NO_NODE && !job->gang &&
                !in->queues[job->queue].is_cordoned && !is_limited(in, j) &&
                is_place(in, j, n, room)) {
                return false;
            }
        }
    }
    return true;
}

static bool same_plan(const struct trial *a, const struct trial *b)
{
    for (uint32_t i = 0; i < a->plan.decision_count &&
                         a->plan.decision_count == b->plan.decision_count;
         i++) {
        const struct sched_decision *x = &a->plan.decisions[i];
        const struct sched_decision *y = &b->plan.decisions[i];
        if (x->action != y->action || x->job != y->job ||
            x->for_job != y->for_job || x->group != y->group ||
            built_node(&a->built, x->node) != built_node(&b->built, y->node)) {
            return false;
        }
    }
    return a->plan.decision_count == b->plan.decision_count;
}

/* 19. The order in which the state was told does not matter. */
static bool order_does_not_matter(struct trial *trial)
{
    struct trial other = *trial;

    instance_build(&trial->instance, 88172645463325252u, &other.built);
    plan(&other, trial->kind);
    bool holds = same_plan(trial, &other);
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
    sched_plan(trial->built.sched, NOW, trial->kind, 3, &cut);
    uint32_t n = cut.decision_count;
    return n > 0 && n <= count && cut.is_cut == (n < count) &&
           memcmp(whole, cut.decisions, n * sizeof(*whole)) == 0 &&
           (n == count || whole[n].group != whole[n - 1].group) &&
           (n <= 3 || whole[n - 1].group == 0) &&
           sched_is_consistent(trial->built.sched);
}

/* Make it a workload of like jobs on like nodes. */
static void make_uniform(struct instance *instance)
{
    instance->limit_percent = 0;
    for (int n = 0; n < instance->node_count; n++) {
        instance->nodes[n] = (struct instance_node){.capacity = {4, 8}};
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        *job = (struct instance_job){
            .is_there = true,
            .queue = job->queue,
            .request = {1, 1},
            .cardinality = 1,
            .minimum = 1,
            .submitted = job->submitted,
            .node = job->node,
            .leased = job->leased,
        };
        if (job->node != NO_NODE && instance_free(instance, job->node, 0) < 0) {
            job->node = NO_NODE;
        }
    }
}

static bool holds_for_uniform(struct tape *tape, check_fn *check)
{
    struct trial trial = {.kind = ROUND_BALANCE};

    instance_draw(tape, &trial.instance);
    make_uniform(&trial.instance);
    instance_build(&trial.instance, 0, &trial.built);
    plan(&trial, ROUND_BALANCE);
    bool holds = check(&trial);
    built_fini(&trial.built);
    return holds;
}

/* 15. A second round changes nothing, also when the preempted come again. */
static bool rounds_settle(struct trial *trial)
{
    struct sched_decision first[INSTANCE_JOBS_MAX * 2];
    uint32_t count = trial->plan.decision_count;

    for (uint32_t i = 0; i < count; i++) {
        first[i] = trial->plan.decisions[i];
    }
    act(trial);
    for (uint32_t i = 0; i < count; i++) {
        if (first[i].action == SCHED_PREEMPT) {
            struct instance_job *job = &trial->instance.jobs[first[i].job];
            job->is_there = true;
            built_add_job(&trial->built, &trial->instance, (int)first[i].job);
        }
    }
    plan(trial, ROUND_BALANCE);
    return trial->plan.decision_count == 0;
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
    instance_build(&other.instance, 0, &other.built);
    plan(&other, ROUND_BALANCE);
    act(trial);
    act(&other);
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

/* 3, 19. A state kept up to date by deltas plans like one built anew. */
static bool deltas_equal_a_rebuild(struct tape *tape)
{
    struct trial trial, fresh;
    bool holds = true;

    instance_draw(tape, &trial.instance);
    instance_build(&trial.instance, 0, &trial.built);
    uint64_t rounds = draw(tape, 1, 4);
    for (uint64_t i = 0; i < rounds && holds; i++) {
        uint64_t events = draw(tape, 0, 8);
        for (; events > 0 && trial.instance.job_count > 0; events--) {
            happen(tape, &trial);
        }
        fresh = trial;
        instance_build(&trial.instance, 0, &fresh.built);
        enum round_kind kind = (enum round_kind)draw(tape, 0, 1);
        plan(&trial, kind);
        plan(&fresh, kind);
        holds =
            same_plan(&trial, &fresh) && sched_is_consistent(trial.built.sched);
        built_fini(&fresh.built);
        act(&trial);
    }
    built_fini(&trial.built);
    return holds;
}

/* 11. In no stretch of time do more jobs start than the buckets give. */
static bool rates_hold(struct tape *tape)
{
    struct trial trial;
    int64_t times[INSTANCE_JOBS_MAX], rate = (int64_t)draw(tape, 1, 20);
    int64_t burst = (int64_t)draw(tape, 1, 6), now = 0;
    int count = 0;

    instance_draw(tape, &trial.instance);
    make_uniform(&trial.instance);
    instance_build(&trial.instance, 0, &trial.built);
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

#define OF_PLANS(name)                           \
    static bool name##_always(struct tape *tape) \
    {                                            \
        return holds_for(tape, name);            \
    }
#define OF_UNIFORM_PLANS(name)                   \
    static bool name##_always(struct tape *tape) \
    {                                            \
        return holds_for_uniform(tape, name);    \
    }
OF_PLANS(capacity_holds)
OF_PLANS(sums_hold)
OF_PLANS(shares_hold)
OF_PLANS(starts_are_allowed)
OF_PLANS(gangs_hold)
OF_PLANS(urgency_is_never_inverted)
OF_PLANS(urgency_is_served)
OF_PLANS(protected_shares_are_kept)
OF_PLANS(victims_are_minimal)
OF_PLANS(no_room_is_left)
OF_PLANS(order_does_not_matter)
OF_PLANS(a_cut_plan_is_a_prefix)
OF_UNIFORM_PLANS(rounds_settle)
OF_UNIFORM_PLANS(a_node_more_does_not_hurt)

int main(void)
{
#define PROPERTY(name, f) \
    {                     \
        #name, f          \
    }
    static const struct {
        const char *name;
        prop_fn *property;
    } properties[] = {
        PROPERTY(capacity_holds, capacity_holds_always),
        PROPERTY(sums_hold, sums_hold_always),
        PROPERTY(shares_hold, shares_hold_always),
        PROPERTY(starts_are_allowed, starts_are_allowed_always),
        PROPERTY(gangs_hold, gangs_hold_always),
        PROPERTY(urgency_is_never_inverted, urgency_is_never_inverted_always),
        PROPERTY(urgency_is_served, urgency_is_served_always),
        PROPERTY(protected_shares_are_kept, protected_shares_are_kept_always),
        PROPERTY(victims_are_minimal, victims_are_minimal_always),
        PROPERTY(no_room_is_left, no_room_is_left_always),
        PROPERTY(order_does_not_matter, order_does_not_matter_always),
        PROPERTY(a_cut_plan_is_a_prefix, a_cut_plan_is_a_prefix_always),
        PROPERTY(rounds_settle, rounds_settle_always),
        PROPERTY(a_node_more_does_not_hurt, a_node_more_does_not_hurt_always),
        PROPERTY(deltas_equal_a_rebuild, deltas_equal_a_rebuild),
        PROPERTY(rates_hold, rates_hold),
    };
    int failures = 0;

    for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
        failures +=
            !prop_check(properties[i].name, properties[i].property, 500, 0);
    }
    return failures;
}
