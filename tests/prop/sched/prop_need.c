/*
 * What explain says that a job needs (section 3 of what explain must do: "all
 * else frozen, when it says needs 3 more of X on nodes like Y, adding 3 there
 * starts the job, and adding 2 does not").
 *
 * Instances run until nothing is left to do; then jobs that wait are asked
 * about, and what is said is done to the planner itself, for jobs alone and in
 * gangs, with limits, rates and, with profile `berth`, reservations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

enum { ROUNDS_MAX = 8, ASKED_MAX = 6, MILLI_CORES = 1000 };

/* What was asked, over all runs: so that the property says something. */
static struct tally {
    unsigned asked[SCHED_NEED_QUOTA + 1],
        exact[SCHED_NEED_QUOTA + 1]; /* by
                                       enum sched_need_kind */
} tally;

struct scene {
    struct trial trial;
    bool is_berth;
    uint32_t job; /* that is asked about */
    struct sched_explanation why;
    struct sched_need need;
    /* In cores and in GB; 0 cores: none. */
    int64_t quotas[INSTANCE_QUEUES_MAX][2];
};

/* Let a decision happen, with those about admission. */
static void act(struct trial *trial)
{
    struct sched *sched = trial->built.sched;

    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        struct sched_decision decision = trial->plan.decisions[i];
        if (decision.action == SCHED_ADMIT) {
            sched_job_admit(sched, decision.job, STR("default"),
                            decision.start_ms, decision.charge);
        } else if (decision.action == SCHED_DISMISS) {
            sched_job_dismiss(sched, decision.job);
        } else {
            instance_apply(&trial->instance, &decision,
                           built_node(&trial->built, decision.node),
                           trial->now);
            built_apply(&trial->built, &decision, trial->now);
        }
    }
}

static void settle(struct trial *trial)
{
    for (int i = 0; i < ROUNDS_MAX; i++) {
        trial_plan(trial, ROUND_BALANCE);
        if (trial->plan.decision_count == 0) {
            return;
        }
        act(trial);
    }
}

/* Whether the next balance round starts the job, or others of its gang. */
static bool starts(struct scene *scene, int64_t now_ms)
{
    const struct instance_job *jobs = scene->trial.instance.jobs;
    struct sched_plan plan;

    sched_plan(scene->trial.built.sched, now_ms, ROUND_BALANCE,
               SCHED_DECISIONS_MAX, &plan);
    for (uint32_t i = 0; i < plan.decision_count; i++) {
        uint32_t job = plan.decisions[i].job;
        bool is_mate = jobs[job].gang &&
                       jobs[job].gang == jobs[scene->job].gang &&
                       jobs[job].queue == jobs[scene->job].queue;
        if (plan.decisions[i].action == SCHED_LEASE &&
            (job == scene->job || is_mate)) {
            return true;
        }
    }
    return false;
}

/* Report a node with so much more. */
static void set_node(struct scene *scene, int index,
                     const struct resource_vec *more)
{
    const struct instance_node *node = &scene->trial.instance.nodes[index];
    static const char *const racks[] = {"", "r1", "r2"};
    const struct resource_schema *schema = &scene->trial.built.policy.schema;
    char name[8];
    struct resource_amount amounts[] = {
        {STR("cpu"), node->capacity[0] * (int64_t)1000},
        {STR("memory"), node->capacity[1] * (int64_t)1000000000000},
    };
    struct label label = {STR("rack"), str_of(racks[node->rack])};
    struct taint taint = {STR("t"), STR(""), TAINT_NO_SCHEDULE};
    struct node_record record = {
        .labels = &label,
        .label_count = node->rack != 0,
        .taints = &taint,
        .taint_count = node->is_tainted,
        .total = {amounts, 2},
        .is_unschedulable = node->is_unschedulable,
    };

    for (int i = 0; i < 2; i++) {
        int column = resource_column(schema, amounts[i].name);
        amounts[i].milli +=
            more->v[column] * schema->columns[column].unit_milli;
    }
    snprintf(name, sizeof(name), "n%d", index);
    record.name = str_of(name);
    (void)sched_node_set(scene->trial.built.sched, STR("e"), &record,
                         STR("default"));
}

/* The quota of a queue, in milli; `ret_amounts` hold it. */
static struct resource_list quota_of(const struct scene *scene, int queue,
                                     struct resource_amount ret_amounts[2])
{
    const int64_t *quota = scene->quotas[queue];

    ret_amounts[0] = (struct resource_amount){STR("cpu"), quota[0] * 1000};
    ret_amounts[1] =
        (struct resource_amount){STR("memory"), quota[1] * 1000000000000};
    return (struct resource_list){ret_amounts, quota[0] ? 2 : 0};
}

/* Give the queue a limit of so many milli-cores of the class, all else of it
 * as it is. */
static void set_limit(struct scene *scene, int64_t limit)
{
    const struct instance *instance = &scene->trial.instance;
    int queue = instance->jobs[scene->job].queue;
    int64_t total = instance_total(instance, 0) * (int64_t)MILLI_CORES;
    struct resource_amount amounts[2];
    char name[8];

    struct queue_limit own = {
        .resource = STR("cpu"),
        .priority_class = str_of(CLASSES[0].name),
        .fraction_ppm = (limit * 1000000 + total - 1) / total,
    };
    struct queue_record record = {
        .priority_factor_micro = instance->queues[queue].factor_halves *
                                 (int64_t)(PRIORITY_FACTOR_ONE_MICRO / 2),
        .is_cordoned = instance->queues[queue].is_cordoned,
        .over_share_ppm = QUEUE_LIMIT_BY_POOL,
        .excess_budget_milli = QUEUE_LIMIT_BY_POOL,
        .limits = &own,
        .limit_count = 1,
        .quota = quota_of(scene, queue, amounts),
    };

    snprintf(name, sizeof(name), "q%d", queue);
    record.name = str_of(name);
    sched_queue_set(scene->trial.built.sched, (uint32_t)queue, &record);
}

typedef void set_fn(struct scene *scene, const struct resource_vec *more);

/* Give a queue its quota and so much more. */
static void set_quota(struct scene *scene, int queue,
                      const struct resource_vec *more)
{
    const struct resource_schema *schema = &scene->trial.built.policy.schema;
    const struct instance *instance = &scene->trial.instance;
    struct resource_amount amounts[2];
    char name[8];
    struct queue_record record = {
        .priority_factor_micro = instance->queues[queue].factor_halves *
                                 (int64_t)(PRIORITY_FACTOR_ONE_MICRO / 2),
        .is_cordoned = instance->queues[queue].is_cordoned,
        .over_share_ppm = QUEUE_LIMIT_BY_POOL,
        .excess_budget_milli = QUEUE_LIMIT_BY_POOL,
        .quota = quota_of(scene, queue, amounts),
    };

    for (int i = 0; i < 2; i++) {
        int column = resource_column(schema, amounts[i].name);
        amounts[i].milli +=
            more->v[column] * schema->columns[column].unit_milli;
    }
    snprintf(name, sizeof(name), "q%d", queue);
    record.name = str_of(name);
    sched_queue_set(scene->trial.built.sched, (uint32_t)queue, &record);
}

static void give_quota(struct scene *scene, const struct resource_vec *more)
{
    set_quota(scene, scene->trial.instance.jobs[scene->job].queue, more);
}

static void give_room(struct scene *scene, const struct resource_vec *more)
{
    set_node(scene, built_node(&scene->trial.built, scene->need.node), more);
}

static int64_t limit_before;

static void give_limit(struct scene *scene, const struct resource_vec *more)
{
    int cpu = resource_column(&scene->trial.built.policy.schema, STR("cpu"));

    set_limit(scene, limit_before + more->v[cpu]);
}

/* With what is missing it starts, with any less of any of it it does not. */
static bool is_just_enough(struct scene *scene, set_fn *give)
{
    struct resource_vec more = scene->need.missing;
    static const struct resource_vec nothing;
    bool holds = true;

    give(scene, &more);
    holds &= starts(scene, scene->trial.now);
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (more.v[r] > 0) {
            more.v[r]--;
            give(scene, &more);
            holds &= !starts(scene, scene->trial.now);
            more.v[r]++;
        }
    }
    give(scene, &nothing);
    return holds;
}

static bool is_true(struct scene *scene)
{
    switch (scene->need.kind) {
    case SCHED_NEED_ROOM:
        return is_just_enough(scene, give_room);
    case SCHED_NEED_LIMIT:
        limit_before = scene->why.limit;
        return is_just_enough(scene, give_limit);
    case SCHED_NEED_QUOTA:
        return is_just_enough(scene, give_quota);
    case SCHED_NEED_TIME:
        return starts(scene, scene->need.until_ms) &&
               !starts(scene, scene->need.until_ms - 1);
    case SCHED_NEED_NONE:
    case SCHED_NEED_MEMBERS:
        break;
    }
    return true;
}

static void show(const struct scene *scene)
{
    printf("job %u (gang %d) waits %d: kind %d node %d missing", scene->job,
           scene->trial.instance.jobs[scene->job].gang, (int)scene->why.wait,
           (int)scene->need.kind,
           built_node(&scene->trial.built, scene->need.node));
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        printf(" %lld", (long long)scene->need.missing.v[r]);
    }
    printf("\n");
}

static bool needs_are_true(struct scene *scene)
{
    const struct instance *instance = &scene->trial.instance;
    int asked = 0;

    for (int j = 0; j < instance->job_count && asked < ASKED_MAX; j++) {
        if (!instance->jobs[j].is_there || instance->jobs[j].node != NO_NODE) {
            continue;
        }
        asked++;
        scene->job = (uint32_t)j;
        sched_explain_need(scene->trial.built.sched, scene->job,
                           scene->trial.now, &scene->why, &scene->need);
        tally.asked[scene->need.kind]++;
        tally.exact[scene->need.kind] += scene->need.is_exact;
        if (scene->need.is_exact && !is_true(scene)) {
            if (getenv("PROP_SHOW")) {
                show(scene);
            }
            return false;
        }
    }
    return true;
}

static void begin(struct tape *tape, struct scene *scene)
{
    *scene = (struct scene){.trial = {.now = TRIAL_NOW}};
    instance_draw(tape, &scene->trial.instance);
}

static bool what_is_needed_is_just_enough(struct tape *tape)
{
    struct scene scene;

    begin(tape, &scene);
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    settle(&scene.trial);
    bool holds = needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* Nodes are kept for the first that has no room, and others backfill. */
static bool what_is_needed_beside_reservations(struct tape *tape)
{
    struct scene scene;

    begin(tape, &scene);
    for (int j = 0; j < scene.trial.instance.job_count; j++) {
        scene.trial.instance.jobs[j].deadline = (int)draw(tape, 0, 3) * 1000;
    }
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    pool_policy_apply(&scene.trial.built.policy.pools[0], PROFILE_BERTH);
    sched_policy_set(scene.trial.built.sched, &scene.trial.built.policy);
    settle(&scene.trial);
    bool holds = needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* Starts are limited: the rest waits for its time. */
static bool what_is_needed_of_time(struct tape *tape)
{
    struct scene scene;

    begin(tape, &scene);
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    scene.trial.built.policy.rate_per_queue =
        (struct rate_limit){.rate_milli_per_s = (int64_t)draw(tape, 100, 5000),
                            .burst = (int64_t)draw(tape, 1, 3)};
    sched_policy_set(scene.trial.built.sched, &scene.trial.built.policy);
    settle(&scene.trial);
    bool holds = needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* Queues have quotas of a few cores. */
static bool what_is_needed_of_quotas(struct tape *tape)
{
    static const struct resource_vec nothing;
    struct scene scene;

    begin(tape, &scene);
    struct instance *instance = &scene.trial.instance;
    for (int q = 0; q < instance->queue_count; q++) {
        instance->queues[q].ordering = QUEUE_BY_PRIORITY;
        instance->queues[q].running_apps_max = 0;
    }
    built_init(&scene.trial.built, instance, 0);
    for (int q = 0; q < instance->queue_count; q++) {
        int64_t *quota = scene.quotas[q];
        quota[0] = draw(tape, 0, 3) ? (int64_t)draw(tape, 1, 12) : 0;
        quota[1] = (int64_t)draw(tape, 1, 30);
        set_quota(&scene, q, &nothing);
    }
    settle(&scene.trial);
    bool holds = needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* Flows, over-share limits and budgets: time may help, room as ever. */
static bool what_is_needed_beside_flows(struct tape *tape)
{
    struct scene scene = {.trial = {.now = TRIAL_NOW}};

    instance_draw_flow(tape, &scene.trial.instance);
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    sched_set_time(scene.trial.built.sched, scene.trial.now);
    settle(&scene.trial);
    scene.trial.now += (int)draw(tape, 0, 100000);
    sched_set_time(scene.trial.built.sched, scene.trial.now);
    bool holds = needs_are_true(&scene);
    built_fini(&scene.trial.built);
    return holds;
}

/* A profile and limits on starts, drawn. */
static void set_policy(struct built *built, bool is_berth, bool is_rated)
{
    if (is_berth) {
        pool_policy_apply(&built->policy.pools[0], PROFILE_BERTH);
    }
    if (is_rated) {
        built->policy.rate_per_queue =
            (struct rate_limit){.rate_milli_per_s = 700, .burst = 2};
    }
    sched_policy_set(built->sched, &built->policy);
}

/* Asking changes nothing: the state stays sound, and plans what they were. */
static bool asking_changes_nothing(struct tape *tape)
{
    struct scene scene;
    struct trial asked;
    bool holds = true;

    begin(tape, &scene);
    bool is_berth = draw(tape, 0, 1), is_rated = draw(tape, 0, 3) == 3;
    int rounds = (int)draw(tape, 0, 4);
    for (int j = 0; j < scene.trial.instance.job_count; j++) {
        scene.trial.instance.jobs[j].deadline = (int)draw(tape, 0, 3) * 1000;
    }
    asked = scene.trial;
    built_init(&scene.trial.built, &scene.trial.instance, 0);
    built_init(&asked.built, &asked.instance, 0);
    set_policy(&scene.trial.built, is_berth, is_rated);
    set_policy(&asked.built, is_berth, is_rated);
    for (int i = 0; i <= rounds && holds; i++) {
        for (int j = 0; j < asked.instance.job_count; j++) {
            if (asked.instance.jobs[j].is_there &&
                asked.instance.jobs[j].node == NO_NODE && j % 3 == 0) {
                sched_explain_need(asked.built.sched, (uint32_t)j, asked.now,
                                   &scene.why, &scene.need);
            }
        }
        trial_plan(&scene.trial, ROUND_BALANCE);
        trial_plan(&asked, ROUND_BALANCE);
        holds = trial_same_plan(&scene.trial, &asked) &&
                sched_is_consistent(asked.built.sched);
        act(&scene.trial);
        act(&asked);
        scene.trial.now = asked.now = asked.now + (int)draw(tape, 0, 900);
    }
    built_fini(&scene.trial.built);
    built_fini(&asked.built);
    return holds;
}

/* Enough of what is said is exact for the property to mean something. */
static bool is_telling(void)
{
    static const char *const names[] = {"none",    "room", "limit",
                                        "members", "time", "quota"};
    bool is = true;

    for (int k = SCHED_NEED_NONE; k <= SCHED_NEED_QUOTA; k++) {
        printf("%s: %u asked, %u exact\n", names[k], tally.asked[k],
               tally.exact[k]);
    }
    is &= tally.exact[SCHED_NEED_ROOM] * 4 >= tally.asked[SCHED_NEED_ROOM];
    is &= tally.exact[SCHED_NEED_LIMIT] > 0 && tally.exact[SCHED_NEED_TIME] > 0;
    is &= tally.exact[SCHED_NEED_QUOTA] * 8 >= tally.asked[SCHED_NEED_QUOTA];
    return is;
}

int main(void)
{
    static const struct property properties[] = {
        PROPERTY(what_is_needed_is_just_enough),
        PROPERTY(what_is_needed_beside_reservations),
        PROPERTY(what_is_needed_of_time),
        PROPERTY(what_is_needed_of_quotas),
        PROPERTY(what_is_needed_beside_flows),
        PROPERTY(asking_changes_nothing),
    };

    int failures = trial_check_all(properties, ARRAY_COUNT(properties), 500);
    if (!is_telling()) {
        printf("too little of what is said is exact\n");
        failures++;
    }
    return failures != 0;
}
